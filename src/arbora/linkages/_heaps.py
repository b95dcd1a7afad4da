"""Edges of a shrinking graph: pairing heaps of half-edges and a hash from pairs of clusters to edges.

Edge e has two half-edges, 2e and 2e + 1; ``graph.half[h].end`` is the cluster that half-edge h starts from and
``graph.half[h ^ 1].end`` the one it leads to. All memory is allocated once. Numbers are kept in 32 bits and widened
where they are read: a kernel is compiled once for every combination of widths it is called with.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arbora._base.jit import inlined

NOTHING = np.int64(-1)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
# share of used slots at which the hash is rebuilt from the edges still alive
_FULL = 0.7

# Two half-edges fill a cache line: a step of a heap reads most of one.
HALF = np.dtype(
    [
        # priority in the heap, never below the true one
        ("key", np.float64),
        # cluster it starts from; NOTHING once the edge is gone
        ("end", np.int32),
        # breaks ties, smaller first: the node of the far cluster, never above the true one
        ("rank", np.int32),
        ("child", np.int32),
        ("sibling", np.int32),
        # previous sibling, or the parent of a first child
        ("before", np.int32),
    ],
    align=True,
)


class ShrinkingGraph(NamedTuple):
    """Arrays over half-edges, edges and clusters (a cluster goes by the number of one of its leaves)."""

    # records of HALF
    half: NDArray[Any]
    # per edge
    weight: NDArray[np.float64]
    # per cluster: best half-edge
    top: NDArray[np.int32]
    # per cluster: its node in the tree
    label: NDArray[np.int32]
    # open addressing: edges by their two clusters
    slots: NDArray[np.int32]
    # one number: slots in use
    used: NDArray[np.int64]


@inlined
def comes_first(graph, x, y):
    """Whether half-edge x beats y: larger key, then the older cluster at its far end."""
    one, other = graph.half[x], graph.half[y]
    return one.key > other.key or (one.key == other.key and one.rank < other.rank)


@inlined
def meld(graph, x, y):
    """Join two heaps, either may be NOTHING; returns the top."""
    if x == NOTHING:
        return y
    if y == NOTHING:
        return x
    if comes_first(graph, y, x):
        x, y = y, x
    first = graph.half[x].child
    graph.half[y].sibling = first
    if first != NOTHING:
        graph.half[first].before = y
    graph.half[y].before = x
    graph.half[x].child = y
    return x


@inlined
def meld_siblings(graph, first):
    """Join a list of sibling heaps in the two passes of a pairing heap; returns the top."""
    # results of the first pass, chained backwards through `sibling`
    paired = NOTHING
    while first != NOTHING:
        x = first
        y = np.int64(graph.half[x].sibling)
        first = NOTHING if y == NOTHING else np.int64(graph.half[y].sibling)
        graph.half[x].sibling = NOTHING
        graph.half[x].before = NOTHING
        if y != NOTHING:
            graph.half[y].sibling = NOTHING
            graph.half[y].before = NOTHING
        joined = meld(graph, x, y)
        graph.half[joined].sibling = paired
        paired = joined
    top = NOTHING
    while paired != NOTHING:
        rest = np.int64(graph.half[paired].sibling)
        graph.half[paired].sibling = NOTHING
        top = meld(graph, top, paired)
        paired = rest
    return top


@inlined
def pop(graph, cluster):
    """Remove the best half-edge of a cluster from its heap; it becomes a heap of its own."""
    best = np.int64(graph.top[cluster])
    graph.top[cluster] = meld_siblings(graph, np.int64(graph.half[best].child))
    graph.half[best].child = NOTHING
    return best


@inlined
def raise_key(graph, half, key):
    """Give a half-edge a larger key."""
    graph.half[half].key = key
    graph.half[half].rank = graph.label[graph.half[half ^ 1].end]
    cluster = graph.half[half].end
    above = graph.half[half].before
    if above == NOTHING:
        return
    after = graph.half[half].sibling
    if graph.half[above].child == half:
        graph.half[above].child = after
    else:
        graph.half[above].sibling = after
    if after != NOTHING:
        graph.half[after].before = above
    graph.half[half].sibling = NOTHING
    graph.half[half].before = NOTHING
    graph.top[cluster] = meld(graph, np.int64(graph.top[cluster]), half)


@inlined
def first_slot(graph, a, b):
    """Where the search for the pair {a, b} starts."""
    low, high = (a, b) if a < b else (b, a)
    mixed = ((np.uint64(low) << np.uint64(32)) | np.uint64(high)) * _GOLDEN
    mixed ^= mixed >> np.uint64(29)
    return np.int64((mixed * _GOLDEN) >> np.uint64(34)) & np.int64(graph.slots.shape[0] - 1)


@inlined
def slot_of_edge(graph, edge):
    """Where the search for an edge starts."""
    return first_slot(graph, np.int64(graph.half[2 * edge].end), np.int64(graph.half[2 * edge + 1].end))


@inlined
def find_edge(graph, a, b):
    """The edge between clusters a and b, or NOTHING."""
    slots = graph.slots
    place = first_slot(graph, a, b)
    while slots[place] != NOTHING:
        edge = np.int64(slots[place])
        one, other = graph.half[2 * edge].end, graph.half[2 * edge + 1].end
        if (one == a and other == b) or (one == b and other == a):
            return edge
        place = (place + 1) & (slots.shape[0] - 1)
    return NOTHING


@inlined
def file_edge(graph, edge):
    """Enter an edge under its two present clusters. Older entries stay: they lead to the same edge."""
    slots = graph.slots
    place = slot_of_edge(graph, edge)
    while slots[place] != NOTHING and graph.half[2 * np.int64(slots[place])].end != NOTHING:
        place = (place + 1) & (slots.shape[0] - 1)
    if slots[place] == NOTHING:
        graph.used[0] += 1
    slots[place] = edge
    if graph.used[0] > _FULL * slots.shape[0]:
        file_all_edges(graph)


@inlined
def file_all_edges(graph):
    """Rebuild the hash from the edges that are alive."""
    slots = graph.slots
    for place in range(slots.shape[0]):
        slots[place] = NOTHING
    graph.used[0] = 0
    for edge in range(graph.weight.shape[0]):
        if graph.half[2 * edge].end != NOTHING:
            place = slot_of_edge(graph, edge)
            while slots[place] != NOTHING:
                place = (place + 1) & (slots.shape[0] - 1)
            slots[place] = edge
            graph.used[0] += 1
