"""Best insertion and prune-and-regraft for inner-product features, under Dasgupta's cost.

A branch is not entered when the least that any place in it can cost (`_bound_kernels.least_cost`) is no better than the
best place known, and branches are entered by that least: none that a better place could have spared.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arbora._base.jit import inner, kernel
from arbora.search._bound_kernels import add_upwards, copy_row, least_cost, product, update_gaps
from arbora.search._graph_kernels import RELATIVE_GAIN, mark_dirty, sibling_of
from arbora.search._state import attach, detach

# share by which equal similarities may differ by rounding
TIE = 1e-9


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
