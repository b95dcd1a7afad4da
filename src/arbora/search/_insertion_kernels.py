"""Best insertion of single rows, under Dasgupta's cost: what `OnlineTree` does for every point.

Time goes into waiting for memory: each level of the tree that a search passes lies elsewhere. So a visit reads one row
of sums, not one for each child (the weight of the last child is what the others leave of its parent's), and one way up
along the places noted does all that an insertion changes.
"""

from __future__ import annotations

import numpy as np

from arbora._base.jit import inlined, kernel
from arbora.search._bound_kernels import (
    add_row,
    copy_row,
    least_cost,
    measure_row,
    measure_sum,
    product,
    set_gap,
)
from arbora.search._feature_kernels import find_root
from arbora.search._gather_kernels import first_leaf
from arbora.search._graph_kernels import sibling_of
from arbora.search._open_kernels import forget_places, next_place, note_place, open_place
from arbora.search._state import count_in, cut_off, graft, link, unlink

# share by which equal similarities may differ by rounding
TIE = 1e-9
# share of the root's weight below which what siblings leave is rounding: no weight at all stays none
NOTHING = 1e-13
# a first child that is so many times larger than the last one takes its place: rarely, since it costs a walk down
MUCH_LARGER = 1.5


@inlined
def least_below(state, features, child, above, cost, weight, moved_size):
    """The least that a place at a child or below it costs, given what is paid above it and on its edge in all."""
    if child < state.numbers[1]:
        return cost
    here, gap = state.nodes[child], features.bounds[child].gap
    return above + least_cost(here.size, here.cross, gap, weight, moved_size, features.steepness)


@inlined
def find_edge(state, features, stack, row, moved_size, root):
    """The best edge for a row of this size, as an entry of `stack`; the places above it are noted, too."""
    forget_places(stack)
    nodes, sums = state.nodes, features.sums
    weight = product(row, sums[root])
    nothing = NOTHING * weight
    best, best_cost = note_place(stack, root, -1, 0.0, 0.0, weight), (nodes[root].size + moved_size) * weight
    entry = best if best_cost > 0.0 else -1
    while entry >= 0:
        here, weight = nodes[stack.node[entry]], stack.weight[entry]
        size, left = here.size + moved_size, weight
        above = stack.above[entry] + moved_size * here.cross
        child, ahead = here.first, -1
        while child >= 0:
            below = nodes[child]
            if below.after >= 0:
                child_weight = product(row, sums[child])
                left -= child_weight
            else:
                child_weight = left if left > nothing else 0.0
            child_above = above + size * (weight - child_weight)
            cost = child_above + (below.size + moved_size) * child_weight
            least = least_below(state, features, child, child_above, cost, child_weight, moved_size)
            is_open = least < min(cost, best_cost)
            if is_open or cost < best_cost:
                noted = note_place(stack, child, entry, child_above, least, child_weight)
                if cost < best_cost:
                    best, best_cost = noted, cost
                if is_open:
                    if ahead >= 0:
                        open_place(stack, ahead)
                    ahead = noted
            child = below.after
        entry = next_place(stack, ahead)
        # all others cost at least as much
        if entry >= 0 and stack.least[entry] >= best_cost:
            break
    return best


@inlined
def weight_below(state, features, row, weight, child):
    """A row's weight to a child, given that to its parent."""
    if state.nodes[child].after >= 0:
        return product(row, features.sums[child])
    other = state.nodes[child].before
    while other >= 0:
        weight -= product(row, features.sums[other])
        other = state.nodes[other].before
    return weight


@kernel(nogil=True, allocates=False)
def place_rows(state, features, stack, root, rows, first, last, targets):
    """Best edge for each new point (rows first .. last-1)."""
    for k in range(first, last):
        targets[k] = stack.node[find_edge(state, features, stack, rows[k], 1.0, root)]


@inlined
def smallest_child(state, node):
    """The child with the fewest leaves."""
    child = state.nodes[node].first
    best = child
    while child >= 0:
        if state.nodes[child].size < state.nodes[best].size:
            best = child
        child = state.nodes[child].after
    return best


@inlined
def balanced_place(state, features, stack, row, entry):
    """A place as good as one noted: where all points below are as similar as can be, that is anywhere in there.

    Going down to the smaller child each time keeps the tree of equal points balanced.
    """
    node, weight = stack.node[entry], stack.weight[entry]
    size, largest = state.nodes[node].size, features.extent.largest
    if largest < np.inf and weight >= largest * size * (1 - TIE):
        while node >= state.numbers[1]:
            node = smallest_child(state, node)
            weight = weight_below(state, features, row, weight, node)
            entry = note_place(stack, node, entry, 0.0, 0.0, weight)
    return entry


@inlined
def has_row(state, node):
    """Whether insertion keeps a node's row of sums up to date, see `Features`."""
    return state.nodes[node].after >= 0 or state.nodes[node].parent < 0


@inlined
def sum_row(state, features, node):
    """Set the row of an internal node from those that insertion keeps up to date."""
    row = features.sums[node]
    for f in range(row.shape[0]):
        row[f] = 0.0
    child = state.nodes[node].first
    while child >= 0:
        if has_row(state, child) or child < state.numbers[1]:
            add_row(row, features.sums[child], 1.0)
        after = state.nodes[child].after
        child = after if after >= 0 else state.nodes[child].first


@inlined
def put_larger_last(state, features, node):
    """Let the first of two children take the last one's place if it is much larger, see `Features`."""
    nodes = state.nodes
    first = nodes[node].first
    last = nodes[first].after
    if nodes[node].n_children == 2 and nodes[first].size > MUCH_LARGER * nodes[last].size:
        if last >= state.numbers[1]:
            sum_row(state, features, last)
        unlink(nodes, last)
        link(nodes, last, node)


@inlined
def update_path(state, features, stack, entry, row, moved_size, sign, inner_weight, inner_size):
    """Add a row to the node of an entry and those above it, or take it away.

    The way there comes from a child that has this weight and size without the row.
    """
    last = row[row.shape[0] - 1]
    rest = product(row, row) - last * last
    while entry >= 0:
        node, weight = stack.node[entry], stack.weight[entry]
        here = state.nodes[node]
        size = here.size if sign > 0 else here.size - moved_size
        count_in(here, sign * moved_size, sign * (weight - inner_weight), size - inner_size)
        if has_row(state, node):
            add_row(features.sums[node], row, sign)
        measure_sum(features, node, weight, last, rest, sign)
        set_gap(state, features, node)
        put_larger_last(state, features, node)
        inner_weight, inner_size = weight, size
        entry = stack.came[entry]


@inlined
def insert_leaf(state, features, stack, leaf, entry):
    """Put a leaf on the edge above the node of an entry. Returns the new node."""
    target, weight = stack.node[entry], stack.weight[entry]
    row, size = features.sums[leaf], state.nodes[leaf].size
    joint = graft(state, leaf, target, False, weight)
    if has_row(state, joint):
        copy_row(features.sums[joint], features.sums[target])
        add_row(features.sums[joint], row, 1.0)
    features.bounds[joint].last, features.bounds[joint].rest = (
        features.bounds[target].last,
        features.bounds[target].rest,
    )
    own = features.bounds[leaf]
    measure_sum(features, joint, weight, own.last, own.rest, 1.0)
    set_gap(state, features, joint)
    put_larger_last(state, features, joint)
    above = stack.came[entry]
    update_path(state, features, stack, above, row, size, 1.0, weight, state.nodes[target].size)
    return joint


@kernel(nogil=True, allocates=False)
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
        row = features.sums[leaf]
        entry = find_edge(state, features, stack, row, state.nodes[leaf].size, root[0])
        entry = balanced_place(state, features, stack, row, entry)
        joint = insert_leaf(state, features, stack, leaf, entry)
        work.dirty[leaf] = True
        work.dirty[stack.node[entry]] = True
        work.dirty[joint] = True
        if state.nodes[joint].parent < 0:
            root[0] = joint


@inlined
def note_path(state, features, stack, row, node):
    """Note the places from the root to a node that has the row below it, with their weights to all but the row."""
    forget_places(stack)
    depth = 0
    above = state.nodes[node].parent
    while above >= 0:
        depth += 1
        above = state.nodes[above].parent
    stack.counts[0] = depth + 1
    for entry in range(depth, -1, -1):
        stack.node[entry], stack.came[entry] = node, entry - 1
        node = state.nodes[node].parent
    own = product(row, row)
    weight = product(row, features.sums[stack.node[0]])
    stack.weight[0] = weight - own
    for entry in range(1, depth + 1):
        weight = weight_below(state, features, row, weight, stack.node[entry])
        stack.weight[entry] = weight - own


@kernel(allocates=False)
def remove_leaf(state, features, work, stack, root, leaf, present):
    """Remove a leaf of a binary tree for good; it must not be the only one."""
    work.clock[0] += 1
    row, size = features.sums[leaf], state.nodes[leaf].size
    home = state.nodes[leaf].parent
    note_path(state, features, stack, row, home)
    entry = stack.counts[0] - 1
    sibling = sibling_of(state.nodes, leaf)
    if has_row(state, home) and sibling >= state.numbers[1]:
        copy_row(features.sums[sibling], features.sums[home])
        add_row(features.sums[sibling], row, -1.0)
    cut_off(state, leaf)
    above, weight = stack.came[entry], stack.weight[entry]
    update_path(state, features, stack, above, row, size, -1.0, weight, state.nodes[sibling].size)
    work.dirty[leaf] = False
    work.dirty[sibling] = True
    if state.nodes[sibling].parent >= 0:
        work.dirty[state.nodes[sibling].parent] = True
    present[leaf] = False
    root[0] = find_root(state, sibling)


@kernel(nogil=True, allocates=False)
def sum_rows_again(state, features, root):
    """Set the rows of all internal nodes, those that insertion leaves out of date as well, see `Features`."""
    node = first_leaf(state.nodes, root)
    while node != root:
        if state.nodes[node].after >= 0:
            node = first_leaf(state.nodes, state.nodes[node].after)
            continue
        node = state.nodes[node].parent
        row = features.sums[node]
        for f in range(row.shape[0]):
            row[f] = 0.0
        child = state.nodes[node].first
        while child >= 0:
            add_row(row, features.sums[child], 1.0)
            child = state.nodes[child].after
        measure_row(features, node)
