"""Which nodes matter to a subtree in a sparse graph, and how similar it is to what lies below them.

To move a subtree only the ancestors of its neighbors matter: anywhere else it meets nothing. They are
collected once each (a climb from a neighbor ends at the first node another climb has passed), so a move costs
the size of that union, not the number of neighbors times the depth of the tree.

Under Dasgupta's cost the climbs go up together, smallest node first, and end where no place higher up can
be better (`nothing_gained_above`): then a move costs what its surroundings do, however deep the tree is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arbora._base.jit import inner, kernel

ZERO = np.int64(0)  # a plain 0 is a type of its own to the compiler, which compiles a callee again for it


class Graph(NamedTuple):
    """CSR arrays of a symmetric graph, the total weight of its edges, and what an internal node costs."""

    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    total: float
    price: float


# What is known of a node while one subtree is in hand, valid where `mark` equals the clock.
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


@inner
def next_leaf(state, leaf, top):
    """The leaf after this one below `top`, in depth-first order; -1 after the last."""
    node = leaf
    while node != top:
        if state.nodes[node].after >= 0:
            node = state.nodes[node].after
            while state.nodes[node].first >= 0:
                node = state.nodes[node].first
            return node
        node = state.nodes[node].parent
    return -1


@inner
def first_leaf(state, node):
    """The first leaf below a node."""
    while state.nodes[node].first >= 0:
        node = state.nodes[node].first
    return node


@inner
def climb_from(state, work, node, filled):
    """Mark the unmarked nodes from here upwards; returns the number of path entries in use."""
    clock = work.clock[0]
    while node >= 0 and work.nodes[node].mark != clock:
        note(state, work, node)
        work.path[filled] = node
        filled += 1
        node = state.nodes[node].parent
    return filled


@inner
def note(state, work, node):
    """Start a marked node's scratch entries from the stored ones."""
    work.nodes[node].mark = work.clock[0]
    work.nodes[node].weight = 0.0
    work.nodes[node].size = state.nodes[node].size
    work.nodes[node].cross = state.nodes[node].cross
    work.nodes[node].spread = state.nodes[node].spread
    work.nodes[node].above = np.inf


@inner
def mark_inside(state, work, moved):
    """Start a new clock and mark the leaves of the subtree."""
    work.clock[0] += 1
    leaf = first_leaf(state, moved)
    while leaf >= 0:
        work.nodes[leaf].inside = work.clock[0]
        leaf = next_leaf(state, leaf, moved)


@inner
def push(heap, filled, nodes, node):
    """Add a node to a heap ordered by size; returns the number of entries."""
    k = filled
    while k > 0:
        up = (k - 1) // 2
        if nodes[heap[up]].size <= nodes[node].size:
            break
        heap[k] = heap[up]
        k = up
    heap[k] = node
    return filled + 1


@inner
def drop_smallest(heap, filled, nodes):
    """Remove the first entry of a heap; returns the number of entries left."""
    filled -= 1
    last = heap[filled]
    k = 0
    while True:
        child = 2 * k + 1
        if child >= filled:
            break
        if child + 1 < filled and nodes[heap[child + 1]].size < nodes[heap[child]].size:
            child += 1
        if nodes[last].size <= nodes[heap[child]].size:
            break
        heap[k] = heap[child]
        k = child
    heap[k] = last
    return filled


@inner
def slope_of(gathered, growth):
    """Similarity per added leaf; infinite where the sizes are too far apart to show any growth."""
    if growth > 0.0:
        return gathered / growth
    return np.inf if gathered > 0.0 else 0.0


@inner
def steepest_rise(state, work, root, gathered, corner, stack):
    """For each node, the most similarity per added leaf gathered by going up some way from it.

    With g(v) the cross weights summed over v's strict ancestors, this is the largest slope
    (g(v) - g(u)) / (size(u) - size(v)) over ancestors u. `corner` remembers the best u, so that the next search
    walks along the concave hull of the path above instead of the path itself.
    """
    work.nodes[root].rise, gathered[root], corner[root] = 0.0, 0.0, root
    stack[0] = root
    n_open = 1
    while n_open > 0:
        n_open -= 1
        node = stack[n_open]
        child = state.nodes[node].first
        while child >= 0:
            gathered[child] = gathered[node] + state.nodes[node].cross
            best = node
            slope = slope_of(state.nodes[node].cross, state.nodes[node].size - state.nodes[child].size)
            while corner[best] != best:
                further = corner[best]
                other = slope_of(
                    gathered[child] - gathered[further], state.nodes[further].size - state.nodes[child].size
                )
                if other < slope:
                    break
                best, slope = further, other
            corner[child], work.nodes[child].rise = best, slope
            if state.nodes[child].first >= 0:
                stack[n_open] = child
                n_open += 1
            child = state.nodes[child].after


@kernel()
def update_rise(state, work):
    """Set `work.rise` for the tree as it is now."""
    root = 0
    while state.nodes[root].parent >= 0:
        root = state.nodes[root].parent
    n_nodes = state.nodes.shape[0]
    # heap and path are not in use between subtrees
    steepest_rise(state, work, root, np.empty(n_nodes, np.float64), work.heap, work.path)


@inner
def nothing_gained_above(cost_now, size, inside_weight, outside_weight, moved_size, rise):
    """Whether no place outside the ancestor of this size can be better than the present one.

    A place that meets the old one at a higher ancestor u pays size(u) for all weight inside, saves at most
    size(u) for the weight outside, and is spared moved_size times the cross weights on the way, at most
    `rise` for each leaf that u has more.
    """
    certain = inside_weight - outside_weight
    return certain >= moved_size * rise and size * certain >= cost_now


@inner
def mark_near(state, graph, work, moved, max_visits):
    """Mark and weigh the ancestors of a subtree and its neighbors as far up as a better place can be.

    Leaves one climb whose nodes grow in size, and returns its last: the top of the region searched. Past
    `max_visits` nodes it ends at the next ancestor, sure or not.
    """
    mark_inside(state, work, moved)
    clock = work.clock[0]
    n_open, outside = ZERO, 0.0
    leaf = first_leaf(state, moved)
    while leaf >= 0:
        for k in range(graph.indptr[leaf], graph.indptr[leaf + 1]):
            other = np.int64(graph.indices[k])
            if work.nodes[other].inside == clock:
                continue
            if work.nodes[other].mark != clock:
                note(state, work, other)
                n_open = push(work.heap, n_open, state.nodes, other)
            work.nodes[other].weight += graph.data[k]
            outside += graph.data[k]
        leaf = next_leaf(state, leaf, moved)
    moved_size = state.nodes[moved].size
    home = state.nodes[moved].parent
    keeps_home = state.nodes[home].n_children > 2
    ancestor, inner_weight, cost_now, filled = home, 0.0, 0.0, 0
    if work.nodes[home].mark != clock:
        note(state, work, home)
        n_open = push(work.heap, n_open, state.nodes, home)
    while n_open > 0:
        node = work.heap[0]
        n_open = drop_smallest(work.heap, n_open, state.nodes)
        work.path[filled] = node
        filled += 1
        above = state.nodes[node].parent
        if node == ancestor:
            met = work.nodes[node].weight - inner_weight
            outside -= met
            cost_now += state.nodes[node].size * met
            if node != home or keeps_home:
                cost_now += moved_size * (state.nodes[node].cross - met)
            inner_weight = work.nodes[node].weight
            if above < 0 or filled > max_visits:
                break
            if nothing_gained_above(
                cost_now if keeps_home else cost_now + graph.price,
                state.nodes[node].size,
                inner_weight,
                max(outside, 0.0),
                moved_size,
                work.nodes[node].rise,
            ):
                break
            ancestor = above
        if work.nodes[above].mark != clock:
            note(state, work, above)
            n_open = push(work.heap, n_open, state.nodes, above)
        work.nodes[above].weight += work.nodes[node].weight
    work.climb[0], work.climb[1] = 0, filled
    return node


@inner
def mark_neighborhood(state, graph, work, moved):
    """Mark the ancestors of a subtree and of its neighbors, and weigh them. Returns the number of climbs."""
    mark_inside(state, work, moved)
    clock = work.clock[0]
    work.climb[0] = 0
    filled = climb_from(state, work, state.nodes[moved].parent, ZERO)
    n_climbs = ZERO + 1
    work.climb[1] = filled
    leaf = first_leaf(state, moved)
    while leaf >= 0:
        for k in range(graph.indptr[leaf], graph.indptr[leaf + 1]):
            other = np.int64(graph.indices[k])
            if work.nodes[other].inside == clock:
                continue
            if work.nodes[other].mark != clock:
                filled = climb_from(state, work, other, filled)
                n_climbs += 1
                work.climb[n_climbs] = filled
            work.nodes[other].weight += graph.data[k]
        leaf = next_leaf(state, leaf, moved)
    weigh_climbs(state, work, n_climbs)
    return n_climbs


@inner
def mark_row(state, work, root, indices, data):
    """Mark and weigh the ancestors of a new point's neighbors. Returns the number of climbs."""
    work.clock[0] += 1
    work.climb[0] = 0
    filled = climb_from(state, work, root, ZERO)
    work.climb[1] = filled
    n_climbs = ZERO + 1
    for k in range(indices.shape[0]):
        other = np.int64(indices[k])
        if work.nodes[other].mark != work.clock[0]:
            filled = climb_from(state, work, other, filled)
            n_climbs += 1
            work.climb[n_climbs] = filled
        work.nodes[other].weight += data[k]
    weigh_climbs(state, work, n_climbs)
    return n_climbs


@inner
def weigh_climbs(state, work, n_climbs):
    """Sum the weights of marked leaves upwards.

    Later climbs end on earlier ones: taken last to first, every node is met after all that flows into it.
    """
    for c in range(n_climbs - 1, -1, -1):
        for k in range(work.climb[c], work.climb[c + 1]):
            node = work.path[k]
            above = state.nodes[node].parent
            if above >= 0:
                work.nodes[above].weight += work.nodes[node].weight
