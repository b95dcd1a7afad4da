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

from arbora._base.jit import inner

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
def walk_up(nodes, heap, n_walked, start, clock, max_walked):
    """List the nodes from a leaf up to the first that has been visited, or `max_walked` in all; returns how many."""
    at = np.int64(start)
    while n_walked < max_walked:
        node = nodes[at]
        if node.mark == clock:
            break
        node.mark, node.weight, node.best = clock, 0.0, np.inf
        heap.node[n_walked] = at
        n_walked += 1
        at = np.int64(node.parent)
    return n_walked


@inner
def walk_from_neighbors(nodes, edges, heap, moved, low, high, clock, root, max_walked):
    """Walk from the neighbors of a subtree to nodes visited before: (paths, nodes, similarity with all others).

    The ancestors of the subtree are visited first. With `max_walked` nodes the walk is given up.
    """
    n_listed = list_leaves(nodes, moved, heap.leaves)
    at, n_walked = np.int64(moved), 0
    while at != root and n_walked < max_walked:
        at = np.int64(nodes[at].parent)
        node = nodes[at]
        node.mark, node.weight, node.best = clock, 0.0, np.inf
        heap.node[n_walked] = at
        n_walked += 1
    for k in range(n_listed):
        nodes[heap.leaves[k]].mark = -clock
    n_paths, total = 0, 0.0
    heap.paths[0] = n_walked
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
                n_walked = walk_up(nodes, heap, n_walked, other, clock, max_walked)
                if n_walked >= max_walked:
                    return n_paths, n_walked, total
                n_paths += 1
                heap.paths[n_paths] = n_walked
            node.weight += weight
    return n_paths, n_walked, total


@inner
def offer_to_parent(nodes, node, home):
    """Add a settled node's weight to its parent, and its best place if it is the parent's best so far."""
    parent = nodes[node.parent]
    parent.weight += node.weight
    # home is gone: the sibling stands for it
    lower = 0.0 if node.parent == home else (parent.size - node.size) * node.weight
    if node.best - lower < parent.best:
        parent.best, parent.place = node.best - lower, node.place


@inner
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


@inner
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


@inner
def is_better(node, here, gain):
    """Whether the best place below a node gains more than another, by more than rounding."""
    return here - node.best > gain + RELATIVE_GAIN * (node.size * node.weight + abs(here)) + 1e-300


@inner
def find_place_along_paths(nodes, edges, heap, moved, low, high, clock, root, max_walked):
    """As `find_place`, with all nodes between the neighbors and the ancestors visited: (..., done).

    Later paths end at earlier ones, so that in reverse order children are settled before parents, without a heap. Where
    paths are long it is not done: a climb by size may end before it visits most of them.
    """
    n_paths, n_walked, outside = walk_from_neighbors(
        nodes, edges, heap, moved, low, high, clock, root, max_walked
    )
    moved_size = nodes[moved].size
    home = np.int64(nodes[moved].parent)
    if n_walked >= max_walked:
        for k in range(n_walked):
            nodes[heap.node[k]].mark = 0
        return NO_NODE, home, False, False
    for path in range(n_paths - 1, -1, -1):
        for k in range(heap.paths[path], heap.paths[path + 1]):
            at = heap.node[k]
            node = nodes[at]
            settle(node, at, moved_size * node.cross)
            offer_to_parent(nodes, node, home)
    at, below = home, np.int64(NO_NODE)
    place, gain, meeting, here = NO_NODE, 0.0, home, 0.0
    while True:
        node = nodes[at]
        here, outside = settle_ancestor(nodes, at, below, moved_size, here, outside)
        if is_better(node, here, gain):
            place, gain, meeting = node.place, here - node.best, at
        is_certain = nothing_above(nodes, at, moved_size, here, outside)
        if is_certain or at == root:
            return place, meeting, is_certain, True
        below, at = at, np.int64(node.parent)
        nodes[at].weight += node.weight


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
    place, gain, meeting, n_visits = NO_NODE, 0.0, home, 0
    # of the present place, relative to the ancestor
    here = 0.0
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
