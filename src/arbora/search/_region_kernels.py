"""Prune and regraft inside regions of a large binary tree, by Dasgupta's cost on a graph without self-loops.

A region is a subtree. What happens inside changes neither sizes nor cross weights above it, and a neighbor outside is
met above it wherever a subtree goes inside: so threads work on different regions of the same arrays, and find what
one thread would.

One climb finds the best place. Let the subtree s in hand have n_s leaves, and W(v) similarity with what lies below v.
On the edge above t, a child of u, it costs ``n_s cross(u) - (size(u) - size(t)) W(t)`` more than above u (sizes and
crosses without s). So each node needs to know only the best place below it, relative to itself; it is known once its
children are, and nodes are visited by ascending size. Where nothing above can be better, the climb ends.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arbora._base.jit import inner, kernel

NO_NODE = np.int32(-1)
# leaves of a moved subtree whose neighbors are noted
NOTED_LEAVES = 64
# of what a subtree costs, that a move must gain: anything less is rounding
RELATIVE_GAIN = 1e-9

# One cache line holds everything that a visit to a node reads and writes.
NODE = np.dtype(
    [
        ("parent", np.int32),
        ("left", np.int32),
        ("right", np.int32),
        # the clock where the node is visited, its negative for leaves of the subtree in hand
        ("mark", np.int32),
        ("size", np.float64),
        ("cross", np.float64),
        # most similarity per leaf that a path upwards gathers
        ("rise", np.float64),
        # of a visited node: similarity with the subtree in hand, best place below and what it costs more than here
        ("weight", np.float64),
        ("best", np.float64),
        ("place", np.int32),
    ],
    align=True,
)


class Edges(NamedTuple):
    """CSR arrays of a symmetric graph."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    data: NDArray[np.float32]


class Flags(NamedTuple):
    """What is still to be done, one value per node."""

    # its surroundings changed since it was last tried
    dirty: NDArray[np.bool_]
    # a place outside its region may be better
    pending: NDArray[np.bool_]
    # leaves outside the region that have a neighbor which moved; only ever set
    later: NDArray[np.bool_]


class Reach(NamedTuple):
    """Which subtrees are moved, of more than `min_size` up to `max_size`, and how many nodes are visited for one."""

    min_size: float = 0.0
    max_size: float = np.inf
    max_visits: int = 2**62


class Heap(NamedTuple):
    """Room for the nodes that a climb has yet to visit, by size, and for the leaves of a subtree."""

    size: NDArray[np.float64]
    node: NDArray[np.int32]
    leaves: NDArray[np.int32]


@kernel()
def fill_nodes(nodes, parent, number, size, cross):
    """Link the nodes of a binary tree, children before parents, under their new numbers; sizes are those of leaves."""
    for old in range(parent.shape[0]):
        node = nodes[number[old]]
        node.parent = node.left = node.right = NO_NODE
        node.size, node.cross = size[old], cross[old]
    for old in range(parent.shape[0] - 1):
        here, above = np.int32(number[old]), np.int32(number[parent[old]])
        nodes[here].parent = above
        nodes[above].size += nodes[here].size
        if nodes[above].left < 0:
            nodes[above].left = here
        else:
            nodes[above].right = here


@inner
def push(heap, filled, size, node):
    """Add a node; returns the number of entries."""
    k = filled
    while k > 0:
        up = (k - 1) >> 1
        if heap.size[up] <= size:
            break
        heap.size[k], heap.node[k] = heap.size[up], heap.node[up]
        k = up
    heap.size[k], heap.node[k] = size, node
    return filled + 1


@inner
def drop_smallest(heap, filled):
    """Remove the first entry; returns the number of entries left."""
    filled -= 1
    size, node = heap.size[filled], heap.node[filled]
    k = np.int64(0)
    while True:
        child = 2 * k + 1
        if child >= filled:
            break
        if child + 1 < filled and heap.size[child + 1] < heap.size[child]:
            child += 1
        if size <= heap.size[child]:
            break
        heap.size[k], heap.node[k] = heap.size[child], heap.node[child]
        k = child
    heap.size[k], heap.node[k] = size, node
    return filled


@inner
def list_leaves(nodes, top, leaves):
    """Write the leaves below a node; returns how many. Needs room for one more than there are."""
    n_listed, n_open = 0, 1
    last = leaves.shape[0] - 1
    leaves[last] = top
    while n_open > 0:
        node = leaves[last - n_open + 1]
        n_open -= 1
        if nodes[node].left < 0:
            leaves[n_listed] = node
            n_listed += 1
        else:
            leaves[last - n_open] = nodes[node].left
            leaves[last - n_open - 1] = nodes[node].right
            n_open += 2
    return n_listed


@inner
def visit(heap, filled, node, number, clock):
    """Put a node on the heap unless it is, or was, there; returns the number of entries."""
    if node.mark == clock:
        return filled
    node.mark, node.weight, node.best = clock, 0.0, np.inf
    return push(heap, filled, node.size, number)


@inner
def settle(node, number, rest):
    """The best place at or below a node, whose `best` is that of its children less `rest`."""
    node.best += rest
    if not node.best < 0.0:
        node.best, node.place = 0.0, number


@inner
def meet_neighbors(nodes, edges, heap, n_listed, low, high, clock):
    """Visit the neighbors of the listed leaves first: (entries of the heap, similarity with all others)."""
    filled, total = np.int64(0), 0.0
    for k in range(n_listed):
        nodes[heap.leaves[k]].mark = -clock
    for k in range(n_listed):
        leaf = heap.leaves[k]
        for e in range(edges.indptr[leaf], edges.indptr[leaf + 1]):
            other = edges.indices[e]
            weight = np.float64(edges.data[e])
            if other < low or other >= high:
                total += weight
                continue
            node = nodes[other]
            if node.mark == -clock:
                continue
            total += weight
            filled = visit(heap, filled, node, other, clock)
            node.weight += weight
    return filled, total


@inner
def find_place(nodes, edges, heap, moved, low, high, clock, root, max_visits):
    """Best place in the region: (node above which to put the subtree, lowest node above both places, certain).

    Without a better place the first is NO_NODE. `certain` says that no place outside the region is better.
    """
    n_listed = list_leaves(nodes, moved, heap.leaves)
    n_open, outside = meet_neighbors(nodes, edges, heap, n_listed, low, high, clock)
    moved_size = nodes[moved].size
    home = np.int64(nodes[moved].parent)
    n_open = visit(heap, n_open, nodes[home], np.int32(home), clock)
    ancestor, below = home, np.int64(NO_NODE)
    place, gain, meeting, is_certain, n_visits = NO_NODE, 0.0, home, False, 0
    # of the present place, relative to the ancestor
    here = 0.0
    while True:
        at = np.int64(heap.node[0])
        n_open = drop_smallest(heap, n_open)
        n_visits += 1
        node = nodes[at]
        if at != ancestor:
            settle(node, np.int32(at), moved_size * node.cross)
            parent = nodes[node.parent]
            n_open = visit(heap, n_open, parent, node.parent, clock)
            parent.weight += node.weight
            # home is gone: the sibling stands for it
            lower = 0.0 if node.parent == home else (parent.size - node.size) * node.weight
            if node.best - lower < parent.best:
                parent.best, parent.place = node.best - lower, node.place
            continue
        if below < 0:
            settle(node, np.int32(at), 0.0)
            outside -= node.weight
        else:
            lower_node = nodes[below]
            met = node.weight - lower_node.weight
            outside -= met
            # sizes and crosses without the subtree; the sizes of two ancestors differ by as much as with it
            rest = moved_size * (node.cross - met)
            lower = (node.size - lower_node.size) * lower_node.weight
            here += rest - lower
            node.best += moved_size * met
            if lower_node.best - lower <= node.best:
                node.best, node.place = lower_node.best - lower, lower_node.place
            settle(node, np.int32(at), rest)
        if here - node.best > gain + RELATIVE_GAIN * (node.size * node.weight + abs(here)) + 1e-300:
            place, gain, meeting = node.place, here - node.best, at
        above = np.int64(node.parent)
        is_certain = above < 0 or n_visits > max_visits
        if not is_certain:
            # a place that meets this one at u, with more leaves: u pays for all weight inside, saves at most the weight
            # outside, and is spared the crosses on the way
            certain = node.weight - max(outside, 0.0) - moved_size * node.rise
            growth = nodes[above].size - node.size
            is_certain = certain >= 0.0 and here + node.size * max(outside, 0.0) <= growth * certain
        if is_certain or at == root:
            return place, meeting, is_certain
        n_open = visit(heap, n_open, nodes[above], np.int32(above), clock)
        nodes[above].weight += node.weight
        below, ancestor = at, above


@inner
def hang(nodes, above, old, new):
    """Put `new` in the place of `old` below a node, which may be NO_NODE."""
    nodes[new].parent = above
    if above >= 0:
        if nodes[above].left == old:
            nodes[above].left = new
        else:
            nodes[above].right = new


@inner
def regraft(nodes, moved, place, meeting, numbers):
    """Move a subtree with the node above it to the edge above `place`.

    Returns its former sibling, and the lowest node that is above both places now.
    """
    moved_size = nodes[moved].size
    home = nodes[moved].parent
    sibling = nodes[home].right if nodes[home].left == moved else nodes[home].left
    above, inner_weight = nodes[home].parent, nodes[home].weight
    node = np.int64(home)
    while node != meeting:
        node = np.int64(nodes[node].parent)
        nodes[node].cross -= nodes[node].weight - inner_weight
        nodes[node].size -= moved_size
        inner_weight = nodes[node].weight
    hang(nodes, above, home, sibling)
    if numbers[1] == home:
        numbers[1] = sibling
    # home stands for the sibling while it has no place of its own
    if place == home:
        place = sibling
    target = nodes[place]
    joined_size, joined_weight = target.size, target.weight
    meeting = np.int64(sibling) if meeting == home else meeting
    node = np.int64(place)
    inner_weight = joined_weight
    while node != meeting:
        node = np.int64(nodes[node].parent)
        nodes[node].cross += nodes[node].weight - inner_weight
        nodes[node].size += moved_size
        inner_weight = nodes[node].weight
    hang(nodes, target.parent, place, home)
    if numbers[1] == place:
        numbers[1] = home
    nodes[home].left, nodes[home].right = place, moved
    nodes[home].size, nodes[home].cross = joined_size + moved_size, joined_weight
    nodes[home].rise = target.rise
    target.parent = home
    return np.int64(sibling), np.int64(home) if meeting == place else meeting


@inner
def note_change(nodes, dirty, start, last):
    """Mark the nodes from one up to another, and their children, as to be tried again."""
    node = np.int64(start)
    while True:
        dirty[node] = True
        if nodes[node].left >= 0:
            dirty[nodes[node].left] = True
            dirty[nodes[node].right] = True
        if node == last or nodes[node].parent < 0:
            break
        node = np.int64(nodes[node].parent)


@inner
def note_neighbors(nodes, edges, flags, leaves, n_listed, low, high):
    """Mark the neighbors of leaves that moved: they meet them elsewhere now."""
    for k in range(min(n_listed, NOTED_LEAVES)):
        for e in range(edges.indptr[leaves[k]], edges.indptr[leaves[k] + 1]):
            other = edges.indices[e]
            if low <= other < high:
                flags.dirty[other] = True
                flags.dirty[nodes[other].parent] = True
            else:
                flags.later[other] = True


@kernel(nogil=True)
def sweep_region(nodes, edges, flags, heap, numbers, candidates, low, high, reach):
    """Move those candidates that are dirty or pending to their best places in the region of leaves low .. high-1.

    `numbers` are the clock and the node at the top of the region. Returns the number of moves.
    """
    n_moves = 0
    for moved in candidates:
        size = nodes[moved].size
        if moved == numbers[1] or size <= reach.min_size or size > reach.max_size:
            continue
        if not (flags.dirty[moved] or flags.pending[moved]):
            continue
        numbers[0] += 1
        place, meeting, is_certain = find_place(
            nodes, edges, heap, moved, low, high, np.int32(numbers[0]), numbers[1], reach.max_visits
        )
        flags.dirty[moved] = False
        flags.pending[moved] = not is_certain
        if place == NO_NODE:
            continue
        sibling, last = regraft(nodes, moved, place, meeting, numbers)
        note_change(nodes, flags.dirty, np.int64(nodes[moved].parent), last)
        note_change(nodes, flags.dirty, sibling, last)
        n_listed = list_leaves(nodes, moved, heap.leaves)
        note_neighbors(nodes, edges, flags, heap.leaves, n_listed, low, high)
        n_moves += 1
    return n_moves


@inner
def slope_of(gathered, growth):
    """Similarity per added leaf; infinite where the sizes are too far apart to show any growth."""
    if growth > 0.0:
        return gathered / growth
    return np.inf if gathered > 0.0 else 0.0


@kernel(nogil=True)
def set_rise(nodes, root, gathered, corner, stack):
    """Set the most similarity per added leaf that is gathered by going up some way from each node.

    With g(v) the cross weights summed over v's strict ancestors, this is the largest slope
    (g(v) - g(u)) / (size(u) - size(v)) over ancestors u. `corner` remembers the best u, so that the next search walks
    along the concave hull of the path above instead of the path itself.
    """
    nodes[root].rise, gathered[root], corner[root] = 0.0, 0.0, root
    stack[0] = root
    n_open = 1
    while n_open > 0:
        n_open -= 1
        node = np.int64(stack[n_open])
        if nodes[node].left < 0:
            continue
        for child in (np.int64(nodes[node].left), np.int64(nodes[node].right)):
            gathered[child] = gathered[node] + nodes[node].cross
            best, size = node, nodes[child].size
            slope = slope_of(nodes[node].cross, nodes[node].size - size)
            while corner[best] != best:
                further = np.int64(corner[best])
                other = slope_of(gathered[child] - gathered[further], nodes[further].size - size)
                if other < slope:
                    break
                best, slope = further, other
            corner[child], nodes[child].rise = best, slope
            stack[n_open] = child
            n_open += 1
