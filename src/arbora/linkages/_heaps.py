"""Edges of a shrinking graph: pairing heaps of half-edges and a hash from pairs of clusters to edges.

Edge e has two half-edges, 2e and 2e + 1; ``graph.end[h]`` is the cluster that half-edge h starts from and
``graph.end[h ^ 1]`` the one it leads to. All memory is allocated once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from arbora.tree._kernels import inner

NOTHING = -1
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FULL = 0.7  # share of used slots at which the hash is rebuilt from the edges still alive


class ShrinkingGraph(NamedTuple):
    """Arrays over half-edges, edges and clusters (a cluster goes by the number of one of its leaves)."""

    end: NDArray[np.int32]  # cluster a half-edge starts from; NOTHING once the edge is gone
    key: NDArray[np.float64]  # priority in the heap, never below the true one
    rank: NDArray[
        np.int32
    ]  # breaks ties, smaller first: the node of the far cluster, never above the true one
    child: NDArray[np.int32]
    sibling: NDArray[np.int32]
    before: NDArray[np.int32]  # previous sibling, or the parent of a first child
    weight: NDArray[np.float64]  # per edge
    top: NDArray[np.int32]  # per cluster: best half-edge
    label: NDArray[np.int32]  # per cluster: its node in the tree
    slots: NDArray[np.int32]  # open addressing: edges by their two clusters
    used: NDArray[np.int64]  # one number: slots in use


@inner
def comes_first(graph, x, y):
    """Whether half-edge x beats y: larger key, then the older cluster at its far end."""
    return graph.key[x] > graph.key[y] or (graph.key[x] == graph.key[y] and graph.rank[x] < graph.rank[y])


@inner
def meld(graph, x, y):
    """Join two heaps, either may be NOTHING; returns the top."""
    if x == NOTHING:
        return y
    if y == NOTHING:
        return x
    if comes_first(graph, y, x):
        x, y = y, x
    first = graph.child[x]
    graph.sibling[y] = first
    if first != NOTHING:
        graph.before[first] = y
    graph.before[y] = x
    graph.child[x] = y
    return x


@inner
def meld_siblings(graph, first):
    """Join a list of sibling heaps in the two passes of a pairing heap; returns the top."""
    paired = NOTHING  # results of the first pass, chained backwards through `sibling`
    while first != NOTHING:
        x = first
        y = graph.sibling[x]
        first = NOTHING if y == NOTHING else graph.sibling[y]
        graph.sibling[x] = NOTHING
        graph.before[x] = NOTHING
        if y != NOTHING:
            graph.sibling[y] = NOTHING
            graph.before[y] = NOTHING
        joined = meld(graph, x, y)
        graph.sibling[joined] = paired
        paired = joined
    top = NOTHING
    while paired != NOTHING:
        rest = graph.sibling[paired]
        graph.sibling[paired] = NOTHING
        top = meld(graph, top, paired)
        paired = rest
    return top


@njit(cache=True)
def pop(graph, cluster):
    """Remove the best half-edge of a cluster from its heap; it becomes a heap of its own."""
    best = graph.top[cluster]
    graph.top[cluster] = meld_siblings(graph, graph.child[best])
    graph.child[best] = NOTHING
    return best


@njit(cache=True)
def raise_key(graph, half, key):
    """Give a half-edge a larger key."""
    graph.key[half] = key
    graph.rank[half] = graph.label[graph.end[half ^ 1]]
    cluster = graph.end[half]
    above = graph.before[half]
    if above == NOTHING:
        return
    after = graph.sibling[half]
    if graph.child[above] == half:
        graph.child[above] = after
    else:
        graph.sibling[above] = after
    if after != NOTHING:
        graph.before[after] = above
    graph.sibling[half] = NOTHING
    graph.before[half] = NOTHING
    graph.top[cluster] = meld(graph, graph.top[cluster], half)


@inner
def first_slot(slots, a, b):
    """Where the search for the pair {a, b} starts."""
    low, high = (a, b) if a < b else (b, a)
    mixed = ((np.uint64(low) << np.uint64(32)) | np.uint64(high)) * _GOLDEN
    mixed ^= mixed >> np.uint64(29)
    return np.int64((mixed * _GOLDEN) >> np.uint64(34)) & np.int64(slots.shape[0] - 1)


@njit(cache=True)
def find_edge(graph, a, b):
    """The edge between clusters a and b, or NOTHING."""
    slots, end = graph.slots, graph.end
    place = first_slot(slots, a, b)
    while slots[place] != NOTHING:
        half = 2 * slots[place]
        if (end[half] == a and end[half + 1] == b) or (end[half] == b and end[half + 1] == a):
            return slots[place]
        place = (place + 1) & (slots.shape[0] - 1)
    return NOTHING


@njit(cache=True)
def file_edge(graph, edge):
    """Enter an edge under its two present clusters. Older entries stay: they lead to the same edge."""
    slots, end = graph.slots, graph.end
    place = first_slot(slots, end[2 * edge], end[2 * edge + 1])
    while slots[place] != NOTHING and end[2 * slots[place]] != NOTHING:
        place = (place + 1) & (slots.shape[0] - 1)
    if slots[place] == NOTHING:
        graph.used[0] += 1
    slots[place] = edge
    if graph.used[0] > _FULL * slots.shape[0]:
        file_all_edges(graph)


@inner
def file_all_edges(graph):
    """Rebuild the hash from the edges that are alive."""
    slots, end = graph.slots, graph.end
    slots[:] = NOTHING
    graph.used[0] = 0
    for edge in range(graph.weight.shape[0]):
        if end[2 * edge] != NOTHING:
            place = first_slot(slots, end[2 * edge], end[2 * edge + 1])
            while slots[place] != NOTHING:
                place = (place + 1) & (slots.shape[0] - 1)
            slots[place] = edge
            graph.used[0] += 1
