"""The best place of a subtree in a region of a large binary tree, by Dasgupta's cost on a graph without self-loops.

Let the subtree s in hand have n_s leaves, and W(v) similarity with what lies below v. On the edge above t, a child of
u, it costs ``n_s cross(u) - (size(u) - size(t)) W(t)`` more than above u (sizes and crosses without s). So each node
needs to know only the best place below it, relative to itself; it is known once its children are. Where nothing above
can be better, the climb ends. Usually all paths between the neighbors of s and its ancestors are short, and are
walked first; where they are long, nodes are visited by ascending size instead.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arbora._base.jit import inlined

NO_NODE = np.int32(-1)
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


class Heap(NamedTuple):
    """Room for the nodes that a climb has yet to visit, by size, for where its paths begin, and for leaves."""

    size: NDArray[np.float64]
    node: NDArray[np.int32]
    paths: NDArray[np.int32]
    leaves: NDArray[np.int32]


@inlined
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


@inlined
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


@inlined
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


@inlined
def visit(heap, filled, node, number, clock):
    """Put a node on the heap unless it is, or was, there; returns the number of entries."""
    if node.mark == clock:
        return filled
    node.mark, node.weight, node.best = clock, 0.0, np.inf
    return push(heap, filled, node.size, number)


@inlined
def settle(node, number, rest):
    """The best place at or below a node, whose `best` is that of its children less `rest`."""
    node.best += rest
    if not node.best < 0.0:
        node.best, node.place = 0.0, number


@inlined
def offer_to_parent(nodes, node, home):
    """Add a settled node's weight to its parent, and its best place if it is the parent's best so far."""
    parent = nodes[node.parent]
    parent.weight += node.weight
    # home is gone: the sibling stands for it
    lower = 0.0 if node.parent == home else (parent.size - node.size) * node.weight
    if node.best - lower < parent.best:
        parent.best, parent.place = node.best - lower, node.place


@inlined
def meet_neighbors(nodes, edges, heap, moved, low, high, clock):
    """List the neighbors of a subtree in the region as `heap.node`: (how many, similarity with all others)."""
    n_listed, n_met, total = list_leaves(nodes, moved, heap.leaves), 0, 0.0
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
            if node.mark != clock:
                node.mark, node.weight, node.best = clock, 0.0, np.inf
                heap.node[n_met] = other
                n_met += 1
            node.weight += weight
    return n_met, total


@inlined
def walk_up(nodes, heap, n_listed, start, last, clock, most):
    """List the nodes above one, up to the last or the first that was visited; returns how many are listed then."""
    at = np.int64(start)
    while at != last and n_listed < most:
        at = np.int64(nodes[at].parent)
        node = nodes[at]
        if node.mark == clock:
            break
        node.mark, node.weight, node.best = clock, 0.0, np.inf
        heap.node[n_listed] = at
        n_listed += 1
    return n_listed


@inlined
def walk_from_neighbors(nodes, heap, moved, n_met, root, clock, most):
    """List the ancestors of a subtree after its neighbors, then what is between these and nodes that are listed.

    The path above neighbor k ends before `heap.paths[k + 1]`. Returns how many are listed; `most` means too many.
    """
    n_listed = walk_up(nodes, heap, n_met, moved, root, clock, most)
    heap.paths[0] = n_listed
    for k in range(n_met):
        if n_listed >= most:
            break
        n_listed = walk_up(nodes, heap, n_listed, heap.node[k], root, clock, most)
        heap.paths[k + 1] = n_listed
    return n_listed


@inlined
def settle_paths(nodes, heap, n_met, moved_size, home):
    """Settle what is below the ancestors. Later paths end at earlier ones, so the last one is settled first."""
    for path in range(n_met - 1, -1, -1):
        leaf = nodes[heap.node[path]]
        settle(leaf, heap.node[path], 0.0)
        offer_to_parent(nodes, leaf, home)
        for k in range(heap.paths[path], heap.paths[path + 1]):
            node = nodes[heap.node[k]]
            settle(node, heap.node[k], moved_size * node.cross)
            offer_to_parent(nodes, node, home)


@inlined
def settle_ancestor(nodes, at, below, moved_size, here, outside):
    """Settle an ancestor, `below` being the one before: what the present place costs more, similarity outside."""
    node = nodes[at]
    if below < 0:
        settle(node, np.int32(at), 0.0)
        return here, outside - node.weight
    lower_node = nodes[below]
    met = node.weight - lower_node.weight
    # sizes and crosses without the subtree; the sizes of two ancestors differ by as much as with it
    rest = moved_size * (node.cross - met)
    lower = (node.size - lower_node.size) * lower_node.weight
    node.best += moved_size * met
    if lower_node.best - lower <= node.best:
        node.best, node.place = lower_node.best - lower, lower_node.place
    settle(node, np.int32(at), rest)
    return here + rest - lower, outside - met


@inlined
def nothing_above(nodes, at, moved_size, here, outside):
    """Whether no place above an ancestor can be better.

    A place that meets this one at u, with more leaves: u pays for all weight inside, saves at most the weight outside,
    and is spared the crosses on the way.
    """
    node = nodes[at]
    if node.parent < 0:
        return True
    certain = node.weight - max(outside, 0.0) - moved_size * node.rise
    growth = nodes[node.parent].size - node.size
    return certain >= 0.0 and here + node.size * max(outside, 0.0) <= growth * certain


@inlined
def is_better(node, here, gain):
    """Whether the best place below a node gains more than another, by more than rounding."""
    return here - node.best > gain + RELATIVE_GAIN * (node.size * node.weight + abs(here)) + 1e-300


@inlined
def climb_settled(nodes, moved_size, home, root, outside):
    """The best place where everything below the ancestors is settled; returns what `find_place` does."""
    at, below = home, np.int64(NO_NODE)
    place, gain, meeting, here = NO_NODE, 0.0, home, 0.0
    while True:
        node = nodes[at]
        here, outside = settle_ancestor(nodes, at, below, moved_size, here, outside)
        if is_better(node, here, gain):
            place, gain, meeting = node.place, here - node.best, at
        is_certain = nothing_above(nodes, at, moved_size, here, outside)
        if is_certain or at == root:
            return place, meeting, is_certain
        below, at = at, np.int64(node.parent)
        nodes[at].weight += node.weight


@inlined
def climb_by_size(nodes, heap, n_met, moved_size, home, root, outside, clock, max_visits):
    """The best place, with nodes visited by ascending size, so that no more of a long path is than has to be."""
    n_open = np.int64(0)
    for k in range(n_met):
        n_open = push(heap, n_open, nodes[heap.node[k]].size, heap.node[k])
    n_open = visit(heap, n_open, nodes[home], np.int32(home), clock)
    ancestor, below = home, np.int64(NO_NODE)
    place, gain, meeting, n_visits, here = NO_NODE, 0.0, home, 0, 0.0
    while True:
        at = np.int64(heap.node[0])
        n_open = drop_smallest(heap, n_open)
        n_visits += 1
        node = nodes[at]
        if at != ancestor:
            settle(node, np.int32(at), moved_size * node.cross)
            n_open = visit(heap, n_open, nodes[node.parent], node.parent, clock)
            offer_to_parent(nodes, node, home)
            continue
        here, outside = settle_ancestor(nodes, at, below, moved_size, here, outside)
        if is_better(node, here, gain):
            place, gain, meeting = node.place, here - node.best, at
        is_certain = n_visits > max_visits or nothing_above(nodes, at, moved_size, here, outside)
        if is_certain or at == root:
            return place, meeting, is_certain
        above = np.int64(node.parent)
        n_open = visit(heap, n_open, nodes[above], np.int32(above), clock)
        nodes[above].weight += node.weight
        below, ancestor = at, above


@inlined
def find_place(nodes, edges, heap, moved, low, high, clock, root, reach):
    """Best place in the region: (node above which to put the subtree, lowest node above both places, certain).

    Without a better place the first is NO_NODE. `certain` says that no place outside the region is better.
    """
    n_met, outside = meet_neighbors(nodes, edges, heap, moved, low, high, clock)
    moved_size, home = nodes[moved].size, np.int64(nodes[moved].parent)
    most = n_met + reach.max_walked
    n_listed = walk_from_neighbors(nodes, heap, moved, n_met, root, clock, most)
    if n_listed < most:
        settle_paths(nodes, heap, n_met, moved_size, home)
        return climb_settled(nodes, moved_size, home, root, outside)
    for k in range(n_met, n_listed):
        nodes[heap.node[k]].mark = 0
    return climb_by_size(nodes, heap, n_met, moved_size, home, root, outside, clock, reach.max_visits)
