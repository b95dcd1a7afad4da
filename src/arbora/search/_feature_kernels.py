"""Best insertion and prune-and-regraft for inner-product features, under Dasgupta's cost.

The similarity between two leaf sets is the product of their summed features, so any node can be weighed in
O(d). A branch is not entered when the least that any place in it can cost (`least_cost`) is no better than the
best place known.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arbora._base.jit import inner, kernel
from arbora.search._graph_kernels import RELATIVE_GAIN, SCANNED_CHILDREN, mark_dirty, sibling_of
from arbora.search._state import attach, detach

# share by which equal similarities may differ by rounding
TIE = 1e-9


class Features(NamedTuple):
    """Summed features below each node (rows of leaves are their own features), and what bounds need to know."""

    sums: np.ndarray  # float64[n_nodes, n_features]
    gap: np.ndarray  # float64[n_nodes], 0 at leaves: see `least_cost`
    largest: (
        float  # no two leaves are more similar; inf where leaves are not all of size 1: then gaps say nothing
    )
    steepness: float  # see `steepness_of`
    price: float = 0.0  # of an internal node


def largest_similarity(rows: np.ndarray) -> float:
    """No two of the rows are more similar than this (Cauchy and Schwarz)."""
    return float(np.einsum("ij,ij->i", rows, rows).max(initial=0.0))


def steepness_of(largest: float, least_size: float) -> float:
    """What `least_cost` must know of the leaves: (least size)^2 / (2 * largest similarity)."""
    return least_size**2 / (2 * largest) if largest > 0 else 0.0


def make_features(leaf_rows: np.ndarray, leaf_size: np.ndarray, parent: np.ndarray, n_nodes: int) -> Features:
    """Summed features of all nodes of a tree, with room for `n_nodes`."""
    sums = np.zeros((n_nodes, leaf_rows.shape[1]))
    sums[: len(leaf_rows)] = leaf_rows
    fill_sums(sums, parent)
    largest, is_even = largest_similarity(leaf_rows), bool((leaf_size == 1).all())
    steepness = steepness_of(largest, float(leaf_size.min()))
    return Features(sums, np.zeros(n_nodes), largest if is_even else np.inf, steepness)


class Stack(NamedTuple):
    """Places still to try: a node, what is paid above it, at least in all, and its weight to the moved subtree."""

    node: np.ndarray
    above: np.ndarray
    least: np.ndarray
    weight: np.ndarray


def make_stack(n_nodes: int) -> Stack:
    """Room for every node."""
    return Stack(np.empty(n_nodes, dtype=np.int64), *(np.empty(n_nodes) for _ in range(3)))


@inner
def product(a, b):
    """Inner product of two rows."""
    result = 0.0
    for f in range(a.shape[0]):
        result += a[f] * b[f]
    return result


@kernel()
def fill_sums(sums, parent):
    """Sum the leaves' rows into all internal ones; needs the node order of `Tree`."""
    for node in range(parent.shape[0] - 1):
        above = parent[node]
        for f in range(sums.shape[1]):
            sums[above, f] += sums[node, f]


@inner
def add_upwards(state, sums, node, row, sign):
    """Add a row, or take it away, from a node to the root."""
    while node >= 0:
        for f in range(row.shape[0]):
            sums[node, f] += sign * row[f]
        node = state.nodes[node].parent


@inner
def take_out_on_paper(state, features, work, subtree):
    """Mark the ancestors of a subtree with their weights, sizes and crosses as they are without it.

    Sizes and crosses of unmarked nodes are the stored ones: nothing else changes when the subtree leaves.
    """
    work.clock[0] += 1
    row = features.sums[subtree]
    own, moved_size = product(row, row), state.nodes[subtree].size
    inner_weight = 0.0
    node = state.nodes[subtree].parent
    while node >= 0:
        weight = product(row, features.sums[node]) - own
        work.nodes[node].mark = work.clock[0]
        work.nodes[node].weight = weight
        work.nodes[node].size = state.nodes[node].size - moved_size
        work.nodes[node].cross = state.nodes[node].cross - (weight - inner_weight)
        inner_weight = weight
        node = state.nodes[node].parent


@inner
def least_cost(size, cross, gap, weight, moved_size, steepness):
    """What a subtree pays at least, at this node and below, on the edge above the node or anywhere below it.

    On the edge all its weight to the node pays for the whole. Below, two bounds hold.

    Few leaves are met in small clusters: the pairs that meet at the node pay for the moved leaves, and the weight pays
    for more and more leaves. Of those it meets, at most k are in a cluster k times as large as the smallest, and none
    is more similar to it than its own leaves times the largest similarity w. Filling the smallest clusters first
    gives weight^2 * least_size^2 / (2 w moved_size), the curve of `steepness`.

    Where all similarities are w, every place costs the same (as all trees of a clique do). What the weights fall short
    of w by saves no more than on the edge; what cross weights on the way down fall short by, `gap` at most, is saved.
    """
    on_edge = (size + moved_size) * weight
    by_size = moved_size * (cross + weight) + steepness / moved_size * weight * weight
    return min(on_edge, max(by_size, on_edge - moved_size * gap))


@inner
def set_gap(state, features, node):
    """The largest sum, on a way down from the node, of what cross weights fall short by."""
    below = 0.0 if state.nodes[node].n_children <= SCANNED_CHILDREN else np.inf
    child = state.nodes[node].first
    while child >= 0 and below < np.inf:
        if features.gap[child] > below:
            below = features.gap[child]
        child = state.nodes[child].after
    features.gap[node] = below + features.largest * state.nodes[node].spread - state.nodes[node].cross


@inner
def update_gaps(state, features, node):
    """Set the gaps from a node to the root."""
    while node >= 0:
        set_gap(state, features, node)
        node = state.nodes[node].parent


@kernel()
def set_gaps(state, features, nodes):
    """Set the gaps of internal nodes, given children first."""
    for node in nodes:
        set_gap(state, features, node)


def fill_gaps(state, features, n_leaves, n_nodes):
    """Set the gaps of all nodes; needs the node order of `Tree`."""
    set_gaps(state, features, np.arange(n_leaves, n_nodes))


@inner
def descend(state, features, work, stack, row, moved_size, home, gives_back, on_edges, root, known_cost):
    """Best place for a row of this size: (target, as_child, cost), cutting branches that cost `known_cost` or more.

    `home`, when the subtree's parent is to be given back, is skipped: its other child stands in its place.
    """
    best, best_as_child, best_cost = -1, False, known_cost
    root_is_marked = work.nodes[root].mark == work.clock[0]
    stack.node[0], stack.above[0], stack.least[0] = root, 0.0, 0.0
    stack.weight[0] = work.nodes[root].weight if root_is_marked else product(row, features.sums[root])
    n_open = 1
    while n_open > 0:
        n_open -= 1
        node, above, weight = stack.node[n_open], stack.above[n_open], stack.weight[n_open]
        if stack.least[n_open] >= best_cost:
            continue
        marked = work.nodes[node].mark == work.clock[0]
        size = work.nodes[node].size if marked else state.nodes[node].size
        cross = work.nodes[node].cross if marked else state.nodes[node].cross
        if on_edges and not (gives_back and node == home):
            cost = above + (size + moved_size) * weight + features.price
            if cost < best_cost:
                best, best_as_child, best_cost = node, False, cost
        if node < state.numbers[1]:
            continue
        is_gone = gives_back and node == home
        if not on_edges or (features.price > 0.0 and not is_gone):
            cost = above + moved_size * cross + (size + moved_size) * weight
            if cost < best_cost:
                best, best_as_child, best_cost = node, True, cost
        first_pushed = n_open
        child = state.nodes[node].first
        while child >= 0:
            if work.nodes[child].inside != work.clock[0]:
                child_marked = work.nodes[child].mark == work.clock[0]
                child_weight = (
                    work.nodes[child].weight if child_marked else product(row, features.sums[child])
                )
                child_above = above
                if not is_gone:
                    child_above += moved_size * cross + (size + moved_size) * (weight - child_weight)
                least = child_above + least_cost(
                    work.nodes[child].size if child_marked else state.nodes[child].size,
                    work.nodes[child].cross if child_marked else state.nodes[child].cross,
                    np.inf if child_marked else features.gap[child],
                    child_weight,
                    moved_size,
                    features.steepness,
                )
                if least < best_cost:
                    stack.node[n_open], stack.above[n_open] = child, child_above
                    stack.least[n_open], stack.weight[n_open] = least, child_weight
                    n_open += 1
            child = state.nodes[child].after
        keep_cheapest_on_top(stack, first_pushed, n_open)
    return best, best_as_child, best_cost


@inner
def keep_cheapest_on_top(stack, low, high):
    """Swap the cheapest of the places just pushed to the top, so that a good place is found early."""
    if high - low < 2:
        return
    chosen = low
    for k in range(low + 1, high):
        if stack.least[k] < stack.least[chosen]:
            chosen = k
    last = high - 1
    stack.node[chosen], stack.node[last] = stack.node[last], stack.node[chosen]
    stack.above[chosen], stack.above[last] = stack.above[last], stack.above[chosen]
    stack.least[chosen], stack.least[last] = stack.least[last], stack.least[chosen]
    stack.weight[chosen], stack.weight[last] = stack.weight[last], stack.weight[chosen]


@inner
def cost_where_it_is(state, work, subtree, gives_back):
    """Cost of a subtree at its present place, from the marked ancestors."""
    moved_size = state.nodes[subtree].size
    home = state.nodes[subtree].parent
    cost = (work.nodes[home].size + moved_size) * work.nodes[home].weight
    if not gives_back:
        cost += moved_size * work.nodes[home].cross
    inner_weight = work.nodes[home].weight
    node = state.nodes[home].parent
    while node >= 0:
        cost += moved_size * work.nodes[node].cross + (work.nodes[node].size + moved_size) * (
            work.nodes[node].weight - inner_weight
        )
        inner_weight = work.nodes[node].weight
        node = state.nodes[node].parent
    return cost


@inner
def weigh_path(state, features, work, row, node):
    """Set the weights of the unmarked nodes from one upwards."""
    while node >= 0:
        if work.nodes[node].mark != work.clock[0]:
            work.nodes[node].mark = work.clock[0]
            work.nodes[node].weight = product(row, features.sums[node])
        node = state.nodes[node].parent


@kernel()
def find_root(state, node):
    """The root, from any node in the tree."""
    while state.nodes[node].parent >= 0:
        node = state.nodes[node].parent
    return node


@kernel(nogil=True)
def regraft(state, features, work, stack, subtrees, max_size):
    """Move each of the given subtrees that is dirty to its best place. Returns (moves, gain)."""
    n_moves, gained = 0, 0.0
    for subtree in subtrees:
        if not work.dirty[subtree] or state.nodes[subtree].parent < 0 or state.nodes[subtree].size > max_size:
            continue
        work.dirty[subtree] = False
        home = state.nodes[subtree].parent
        gives_back = state.nodes[home].n_children == 2
        take_out_on_paper(state, features, work, subtree)
        work.nodes[subtree].inside = work.clock[0]
        cost_now = cost_where_it_is(state, work, subtree, gives_back)
        if gives_back:
            cost_now += features.price
        row, moved_size = features.sums[subtree].copy(), state.nodes[subtree].size
        on_edges = gives_back or state.numbers[2] > 0
        bar = cost_now - RELATIVE_GAIN * abs(cost_now)
        target, as_child, cost = descend(
            state,
            features,
            work,
            stack,
            row,
            moved_size,
            home,
            gives_back,
            on_edges,
            find_root(state, home),
            bar,
        )
        if target < 0:
            continue
        sibling = sibling_of(state.nodes, subtree) if gives_back else home
        weigh_path(state, features, work, row, target)
        add_upwards(state, features.sums, home, row, -1.0)
        detach(state, subtree, work.nodes, -1)
        joint = attach(state, subtree, target, as_child, work.nodes, -1)
        if not as_child:
            features.sums[joint] = features.sums[target]
        add_upwards(state, features.sums, joint, row, 1.0)
        update_gaps(state, features, state.nodes[sibling].parent if gives_back else home)
        update_gaps(state, features, joint)
        mark_dirty(state.nodes, work, sibling, joint, -1)
        n_moves += 1
        gained += cost_now - cost
    return n_moves, gained


@kernel(nogil=True)
def place_rows(state, features, work, stack, root, rows, first, last, targets):
    """Best edge for each new point (rows first .. last-1)."""
    for k in range(first, last):
        work.clock[0] += 1
        targets[k] = descend(state, features, work, stack, rows[k], 1.0, -1, False, True, root, np.inf)[0]


@inner
def smallest_child(state, node):
    """The child with the fewest leaves."""
    child = state.nodes[node].first
    best = child
    while child >= 0:
        if state.nodes[child].size < state.nodes[best].size:
            best = child
        child = state.nodes[child].after
    return best


@inner
def balanced_place(state, features, row, target):
    """A place as good as `target`: where all points below are as similar as can be, that is anywhere in there.

    Going down to the smaller child each time keeps the tree of equal points balanced.
    """
    size = state.nodes[target].size
    tolerance = TIE * features.largest * size
    is_clique = (
        features.largest < np.inf
        and features.gap[target] <= tolerance
        and product(row, features.sums[target]) >= features.largest * size - tolerance
    )
    if is_clique:
        while target >= state.numbers[1]:
            target = smallest_child(state, target)
    return target


@kernel(nogil=True)
def insert_rows(state, features, work, stack, root, leaves, present):
    """Insert leaves, whose rows and sizes are set, one after the other; notes them in `present` and the root in `root`.

    Whatever interrupts Python comes before or after the call: the tree is whole at any time.
    """
    for leaf in leaves:
        present[leaf] = True
        if root[0] < 0:
            root[0] = leaf
            continue
        work.clock[0] += 1
        row, size = features.sums[leaf], state.nodes[leaf].size
        target = descend(state, features, work, stack, row, size, -1, False, True, root[0], np.inf)[0]
        target = balanced_place(state, features, row, root[0] if target < 0 else target)
        weigh_path(state, features, work, row, target)
        joint = attach(state, leaf, target, False, work.nodes, -1)
        features.sums[joint] = features.sums[target]
        add_upwards(state, features.sums, joint, row, 1.0)
        update_gaps(state, features, joint)
        work.dirty[leaf] = True
        work.dirty[target] = True
        work.dirty[joint] = True
        if state.nodes[joint].parent < 0:
            root[0] = joint


@kernel()
def remove_leaf(state, features, work, root, leaf, present):
    """Take a leaf out for good; there must be another."""
    take_out_on_paper(state, features, work, leaf)
    home = state.nodes[leaf].parent
    add_upwards(state, features.sums, home, features.sums[leaf].copy(), -1.0)
    sibling = sibling_of(state.nodes, leaf)
    detach(state, leaf, work.nodes, -1)
    update_gaps(state, features, state.nodes[sibling].parent)
    work.dirty[leaf] = False
    work.dirty[sibling] = True
    if state.nodes[sibling].parent >= 0:
        work.dirty[state.nodes[sibling].parent] = True
    present[leaf] = False
    root[0] = find_root(state, sibling)


@kernel(nogil=True)
def regraft_online(state, features, work, stack, root, subtrees, leaf):
    """Move the dirty ones of the subtrees to their best places; returns the number of moves. `leaf` is any leaf."""
    n_moves = regraft(state, features, work, stack, subtrees, np.inf)[0]
    root[0] = find_root(state, leaf)
    return n_moves
