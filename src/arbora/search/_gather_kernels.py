"""Which nodes matter to a subtree in a sparse graph, and how similar it is to what lies below them.

To move a subtree only the ancestors of its neighbors matter: anywhere else it meets nothing. They are
collected once each (a climb from a neighbor ends at the first node another climb has passed), so a move costs
the size of that union, not the number of neighbors times the depth of the tree.

`_near_kernels` has a quicker way, for Dasgupta's cost.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arbora._base.jit import inlined

ZERO = np.int64(0)  # a plain 0 is a type of its own to the compiler, which compiles a callee again for it


class Graph(NamedTuple):
    """CSR arrays of a symmetric graph, the total weight of its edges, and what an internal node costs."""

    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    total: float
    price: float


# What is known of a node while one subtree is being moved, valid where `mark` equals the clock.
SCRATCH = np.dtype(
    [
        ("mark", np.int64),
        ("inside", np.int64),  # equals the clock at the leaves of the moved subtree
        ("weight", np.float64),  # similarity between the moved subtree and the other leaves below
        ("size", np.float64),  # size, cross, spread as they are once the subtree is out
        ("cross", np.float64),
        ("spread", np.float64),
        (
            "above",
            np.float64,
        ),  # cost the subtree adds at the strict ancestors when put below here; inf: not reached
        ("rise", np.float64),  # most similarity per leaf that a path upwards gathers (see `steepest_rise`)
    ],
    align=True,
)


class Work(NamedTuple):
    """Scratch space of a search."""

    nodes: np.ndarray  # records of SCRATCH
    heap: np.ndarray  # nodes yet to be passed by the climbs
    path: np.ndarray  # marked nodes, climb after climb
    climb: np.ndarray  # where each climb starts in `path`
    dirty: np.ndarray  # bool, subtrees whose surroundings changed
    clock: np.ndarray  # int64[1]


def make_work(n_leaves: int, n_nodes: int) -> Work:
    """Scratch space for a tree of this size."""
    nodes = np.zeros(n_nodes, dtype=SCRATCH)
    nodes["rise"] = np.inf
    return Work(
        nodes,
        np.empty(n_nodes, dtype=np.int64),
        np.empty(n_nodes, dtype=np.int64),
        np.empty(n_leaves + 2, dtype=np.int64),
        np.ones(n_nodes, dtype=np.bool_),
        np.zeros(1, dtype=np.int64),
    )


@inlined
def next_leaf(nodes, leaf, top):
    """The leaf after this one below `top`, in depth-first order; -1 after the last."""
    node = leaf
    while node != top:
        here = nodes[node]
        if here.after >= 0:
            return first_leaf(nodes, here.after)
        node = here.parent
    return -1


@inlined
def first_leaf(nodes, node):
    """The first leaf below a node."""
    while nodes[node].first >= 0:
        node = nodes[node].first
    return node


@inlined
def climb_from(nodes, work, node, filled):
    """Mark the unmarked nodes from here upwards; returns the number of path entries in use."""
    scratch, path, clock = work.nodes, work.path, work.clock[0]
    while node >= 0 and scratch[node].mark != clock:
        note(nodes[node], scratch[node], clock)
        path[filled] = node
        filled += 1
        node = nodes[node].parent
    return filled


@inlined
def note(node, entry, clock):
    """Start a marked node's scratch entry from what is stored of it."""
    entry.mark = clock
    entry.weight = 0.0
    entry.size, entry.cross, entry.spread = node.size, node.cross, node.spread
    entry.above = np.inf


@inlined
def mark_inside(nodes, scratch, clock, moved):
    """Mark the leaves of the subtree."""
    leaf = first_leaf(nodes, moved)
    while leaf >= 0:
        scratch[leaf].inside = clock
        leaf = next_leaf(nodes, leaf, moved)


@inlined
def mark_neighborhood(nodes, graph, work, moved):
    """Mark the ancestors of a subtree and of its neighbors, and weigh them. Returns the number of climbs."""
    scratch, climb = work.nodes, work.climb
    work.clock[0] += 1
    clock = work.clock[0]
    mark_inside(nodes, scratch, clock, moved)
    climb[0] = 0
    climb[1] = climb_from(nodes, work, nodes[moved].parent, ZERO)
    n_climbs = ZERO + 1
    leaf = first_leaf(nodes, moved)
    while leaf >= 0:
        first, last = np.int64(graph.indptr[leaf]), np.int64(graph.indptr[leaf + 1])
        n_climbs = add_climbs(nodes, work, graph.indices, graph.data, first, last, n_climbs)
        leaf = next_leaf(nodes, leaf, moved)
    weigh_climbs(nodes, work, n_climbs)
    return n_climbs


@inlined
def mark_row(nodes, work, root, indices, data, first, last):
    """Mark and weigh the ancestors of a new point's neighbors, entries `first` to `last` of a CSR matrix.

    Neighbors that are not in the tree do not count. Returns the number of climbs.
    """
    work.clock[0] += 1
    work.climb[0] = 0
    work.climb[1] = climb_from(nodes, work, root, ZERO)
    n_climbs = add_climbs(nodes, work, indices, data, first, last, ZERO + 1)
    weigh_climbs(nodes, work, n_climbs)
    return n_climbs


@inlined
def add_climbs(nodes, work, indices, data, first, last, n_climbs):
    """Climb from each neighbor that is in the tree and not in the subtree in hand. Returns the number of climbs."""
    scratch, climb, clock = work.nodes, work.climb, work.clock[0]
    for k in range(first, last):
        other = np.int64(indices[k])
        entry = scratch[other]
        if entry.inside == clock:
            continue
        if entry.mark != clock:
            # a leaf without a parent is not in the tree, unless it is the root, which is marked
            if nodes[other].parent < 0:
                continue
            climb[n_climbs + 1] = climb_from(nodes, work, other, climb[n_climbs])
            n_climbs += 1
        entry.weight += data[k]
    return n_climbs


@inlined
def weigh_climbs(nodes, work, n_climbs):
    """Sum the weights of marked leaves upwards.

    Later climbs end on earlier ones: taken last to first, every node is met after all that flows into it.
    """
    scratch, path, climb = work.nodes, work.path, work.climb
    for c in range(n_climbs - 1, -1, -1):
        for k in range(climb[c], climb[c + 1]):
            node = path[k]
            above = nodes[node].parent
            if above >= 0:
                scratch[above].weight += scratch[node].weight
