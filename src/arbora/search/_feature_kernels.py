"""Best insertion and prune-and-regraft for inner-product features, under Dasgupta's cost.

The similarity between two leaf sets is the product of their summed features, so any node can be weighed in
O(d). A branch is not entered when the least that any place in it can cost (`least_cost`) is no better than the
best place known, and branches are entered by that least: none that a better place could have spared.
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
    reach: np.ndarray  # float64[n_nodes]: see `set_reach`
    extent: Extent
    steepness: float  # see `steepness_of`
    price: float = 0.0  # of an internal node


class Extent(NamedTuple):
    """Bounds that no row exceeds; the last feature, which cosines have in common, is bounded apart from the others."""

    # no two leaves are more similar; inf where leaves are not all of size 1, where gaps are of no use
    largest: float
    last: float
    rest: float

    def joined(self, other: Extent) -> Extent:
        """Of the rows of both."""
        return Extent(*map(max, self, other))

    def if_even(self, is_even: bool) -> Extent:
        """With a largest similarity only where all leaves have size 1."""
        return self if is_even else self._replace(largest=np.inf)


# of rows (v, 1) / sqrt(2), v of length 1, whose products are (1 + cos) / 2; beyond rounding
COSINES = Extent(1.0, *[np.sqrt(0.5) * (1 + 1e-12)] * 2)


NO_EXTENT = Extent(0.0, 0.0, 0.0)


def extent_of(rows: np.ndarray) -> Extent:
    """What none of the rows exceeds; two of them are no more similar than the longest with itself."""
    squares = np.einsum("ij,ij->i", rows, rows)
    last = np.abs(rows[:, -1])
    rest = np.einsum("ij,ij->i", rows[:, :-1], rows[:, :-1])
    return Extent(*(float(values.max(initial=0.0)) for values in (squares, last, np.sqrt(rest))))


def steepness_of(largest: float, least_size: float) -> float:
    """What `least_cost` must know of the leaves: (least size)^2 / (2 * largest similarity)."""
    return least_size**2 / (2 * largest) if largest > 0 else 0.0


def make_features(leaf_rows: np.ndarray, leaf_size: np.ndarray, parent: np.ndarray, n_nodes: int) -> Features:
    """Summed features of all nodes of a tree, with room for `n_nodes`."""
    sums = np.zeros((n_nodes, leaf_rows.shape[1]))
    sums[: len(leaf_rows)] = leaf_rows
    fill_sums(sums, parent)
    extent, is_even = extent_of(leaf_rows), bool((leaf_size == 1).all())
    steepness = steepness_of(extent.largest, float(leaf_size.min()))
    return Features(sums, np.zeros(n_nodes), np.zeros(n_nodes), extent.if_even(is_even), steepness)


class Stack(NamedTuple):
    """Places still to try: a node, what is paid above it, at least in all, and its weight to the moved subtree.

    They form a heap, the place with the smallest `least` first.
    """

    node: np.ndarray
    above: np.ndarray
    least: np.ndarray
    weight: np.ndarray


def make_stack(n_nodes: int) -> Stack:
    """Room for every node."""
    return Stack(np.empty(n_nodes, dtype=np.int64), *(np.empty(n_nodes) for _ in range(3)))


@inner
def product(a, b):
    """Inner product of two rows, in four sums, which do not wait for each other."""
    n_features = a.shape[0]
    first, second, third, fourth = 0.0, 0.0, 0.0, 0.0
    for f in range(0, n_features - 3, 4):
        first += a[f] * b[f]
        second += a[f + 1] * b[f + 1]
        third += a[f + 2] * b[f + 2]
        fourth += a[f + 3] * b[f + 3]
    for f in range(n_features - n_features % 4, n_features):
        first += a[f] * b[f]
    return (first + second) + (third + fourth)


@kernel()
def fill_sums(sums, parent):
    """Sum the leaves' rows into all internal ones; needs the node order of `Tree`."""
    for node in range(parent.shape[0] - 1):
        above = parent[node]
        for f in range(sums.shape[1]):
            sums[above, f] += sums[node, f]


@inner
def copy_row(into, row):
    """Write a row over another."""
    for f in range(row.shape[0]):
        into[f] = row[f]


@inner
def set_reach(features, node):
    """The most similarity that a row can have with the leaves of a node (Cauchy and Schwarz).

    What all rows have in common is in the last feature: only the others can point away from the leaves.
    """
    row = features.sums[node]
    last = row[row.shape[0] - 1]
    rest = np.sqrt(max(product(row, row) - last * last, 0.0))
    features.reach[node] = features.extent.last * abs(last) + features.extent.rest * rest


@inner
def add_upwards(state, features, node, row, sign):
    """Add a row, or take it away, from a node to the root."""
    while node >= 0:
        for f in range(row.shape[0]):
            features.sums[node, f] += sign * row[f]
        set_reach(features, node)
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

    Going from the edge above u to that above its child t saves weight(t) times the leaves of u outside t, and costs the
    moved leaves times cross(u). A weight is no more than the node's `reach` for each moved leaf, so that on all the way
    down at most `gap` is saved for each. (Where all similarities are w, no way down saves anything: a clique is flat.)
    """
    on_edge = (size + moved_size) * weight
    by_size = moved_size * (cross + weight) + steepness / moved_size * weight * weight
    return min(on_edge, max(by_size, on_edge - moved_size * gap))


@inner
def set_gap(state, features, node):
    """The most that a row can save on a way down from the edge above the node, see `least_cost`."""
    if features.extent.largest == np.inf or state.nodes[node].n_children > SCANNED_CHILDREN:
        features.gap[node] = np.inf
        return
    size, saved = state.nodes[node].size, 0.0
    child = state.nodes[node].first
    while child >= 0:
        child_size = state.nodes[child].size
        reach = min(features.reach[child], features.extent.largest * child_size)
        saved = max(saved, (size - child_size) * reach + features.gap[child] - state.nodes[node].cross)
        child = state.nodes[child].after
    features.gap[node] = saved


@inner
def update_gaps(state, features, node):
    """Set the gaps from a node to the root."""
    while node >= 0:
        set_gap(state, features, node)
        node = state.nodes[node].parent


@kernel()
def set_bounds(state, features, leaves, nodes):
    """Set reach and gap of leaves and internal nodes, the latter given children first."""
    for leaf in leaves:
        set_reach(features, leaf)
    for node in nodes:
        set_reach(features, node)
        set_gap(state, features, node)


def fill_bounds(state, features, n_leaves, n_nodes):
    """Set reach and gap of all nodes; needs the node order of `Tree`."""
    set_bounds(state, features, np.arange(n_leaves), np.arange(n_leaves, n_nodes))


@inner
def swap_places(stack, one, other):
    """Exchange two places."""
    stack.node[one], stack.node[other] = stack.node[other], stack.node[one]
    stack.above[one], stack.above[other] = stack.above[other], stack.above[one]
    stack.least[one], stack.least[other] = stack.least[other], stack.least[one]
    stack.weight[one], stack.weight[other] = stack.weight[other], stack.weight[one]


@inner
def push_place(stack, n_open, node, above, least, weight):
    """Add a place; returns how many are open."""
    at = n_open
    stack.node[at], stack.above[at], stack.least[at], stack.weight[at] = node, above, least, weight
    while at > 0 and stack.least[(at - 1) >> 1] > stack.least[at]:
        swap_places(stack, at, (at - 1) >> 1)
        at = (at - 1) >> 1
    return n_open + 1


@inner
def pop_place(stack, n_open):
    """Move the place that may cost least behind the open ones; returns how many are open, which is where it is."""
    n_open -= 1
    swap_places(stack, 0, n_open)
    at, child = 0, 1
    while child < n_open:
        if child + 1 < n_open and stack.least[child + 1] < stack.least[child]:
            child += 1
        if stack.least[at] <= stack.least[child]:
            break
        swap_places(stack, at, child)
        at, child = child, 2 * child + 1
    return n_open


@inner
def descend(state, features, work, stack, row, moved_size, home, gives_back, on_edges, root, known_cost):
    """Best place for a row of this size: (target, as_child, cost), cutting branches that cost `known_cost` or more.

    `home`, when the subtree's parent is to be given back, is skipped: its other child stands in its place.
    """
    best, best_as_child, best_cost = -1, False, known_cost
    root_is_marked = work.nodes[root].mark == work.clock[0]
    root_weight = work.nodes[root].weight if root_is_marked else product(row, features.sums[root])
    n_open = push_place(stack, 0, root, 0.0, 0.0, root_weight)
    while n_open > 0:
        n_open = pop_place(stack, n_open)
        node, above, weight = stack.node[n_open], stack.above[n_open], stack.weight[n_open]
        # all others cost at least as much
        if stack.least[n_open] >= best_cost:
            break
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
                    n_open = push_place(stack, n_open, child, child_above, least, child_weight)
            child = state.nodes[child].after
    return best, best_as_child, best_cost


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
        add_upwards(state, features, home, row, -1.0)
        detach(state, subtree, work.nodes, -1)
        joint = attach(state, subtree, target, as_child, work.nodes, -1)
        if not as_child:
            copy_row(features.sums[joint], features.sums[target])
        add_upwards(state, features, joint, row, 1.0)
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
    tolerance = TIE * features.extent.largest * size
    is_clique = (
        features.extent.largest < np.inf
        and product(row, features.sums[target]) >= features.extent.largest * size - tolerance
    )
    if is_clique:
        while target >= state.numbers[1]:
            target = smallest_child(state, target)
    return target


@kernel(nogil=True)
def insert_rows(state, features, work, stack, root, leaves, present):
    """Insert leaves, whose rows and sizes are set, one after the other; notes them in `present` and the root in `root`.

    Whatever interrupts Python comes before or after the call: the tree is valid at all times.
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
        copy_row(features.sums[joint], features.sums[target])
        add_upwards(state, features, joint, row, 1.0)
        update_gaps(state, features, joint)
        work.dirty[leaf] = True
        work.dirty[target] = True
        work.dirty[joint] = True
        if state.nodes[joint].parent < 0:
            root[0] = joint


@kernel()
def remove_leaf(state, features, work, root, leaf, present):
    """Remove a leaf for good; it must not be the only one."""
    take_out_on_paper(state, features, work, leaf)
    home = state.nodes[leaf].parent
    add_upwards(state, features, home, features.sums[leaf].copy(), -1.0)
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
