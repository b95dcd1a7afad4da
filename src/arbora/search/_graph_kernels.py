"""Prune and regraft on a sparse graph.

To move a subtree only the ancestors of its neighbours matter: anywhere else it meets nothing. They are
collected once each (a climb from a neighbour ends at the first node another climb has passed), so a move costs
the size of that union, not the number of neighbours times the depth of the tree.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from arbora.search._state import TSD, attach, detach, loop_of, node_cost, own_of

SCANNED_CHILDREN = 64  # unmarked children of one node that the TSD search looks at
RELATIVE_GAIN = 1e-9  # a move must gain this share of what the subtree costs: below is rounding


class Graph(NamedTuple):
    """CSR arrays of a symmetric graph, and the total weight of its edges."""

    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    total: float


class Work(NamedTuple):
    """Scratch arrays over nodes, valid where `mark` equals the clock."""

    mark: np.ndarray  # int64
    inside: np.ndarray  # int64, leaves of the moved subtree
    weight: np.ndarray  # similarity between the moved subtree and the other leaves below
    size: np.ndarray  # size, cross, spread as they are once the subtree is out
    cross: np.ndarray
    spread: np.ndarray
    above: np.ndarray  # cost the subtree adds at the strict ancestors when it is put below here
    path: np.ndarray  # marked nodes, climb after climb
    climb: np.ndarray  # where each climb starts in `path`
    dirty: np.ndarray  # bool, subtrees whose surroundings changed
    clock: np.ndarray  # int64[1]


def make_work(n_leaves: int, n_nodes: int) -> Work:
    """Scratch space for a tree of this size."""
    floats = [np.zeros(n_nodes) for _ in range(5)]
    return Work(
        np.zeros(n_nodes, dtype=np.int64),
        np.zeros(n_leaves, dtype=np.int64),
        *floats,
        np.empty(n_nodes, dtype=np.int32),
        np.empty(n_leaves + 2, dtype=np.int32),
        np.ones(n_nodes, dtype=np.bool_),
        np.zeros(1, dtype=np.int64),
    )


@njit(cache=True)
def next_leaf(state, leaf, top):
    """The leaf after this one below `top`, in depth-first order; -1 after the last."""
    node = leaf
    while node != top:
        if state.after[node] >= 0:
            node = state.after[node]
            while state.first[node] >= 0:
                node = state.first[node]
            return node
        node = state.parent[node]
    return -1


@njit(cache=True)
def first_leaf(state, node):
    """The first leaf below a node."""
    while state.first[node] >= 0:
        node = state.first[node]
    return node


@njit(cache=True)
def climb_from(state, work, node, filled):
    """Mark the unmarked nodes from here upwards; returns the number of path entries in use."""
    clock = work.clock[0]
    while node >= 0 and work.mark[node] != clock:
        work.mark[node] = clock
        work.weight[node] = 0.0
        work.size[node] = state.size[node]
        work.cross[node] = state.cross[node]
        work.spread[node] = state.spread[node]
        work.path[filled] = node
        filled += 1
        node = state.parent[node]
    return filled


@njit(cache=True)
def mark_neighbourhood(state, graph, work, moved):
    """Mark the ancestors of a subtree and of its neighbours, and weigh them. Returns the number of climbs."""
    work.clock[0] += 1
    clock = work.clock[0]
    leaf = first_leaf(state, moved)
    while leaf >= 0:
        work.inside[leaf] = clock
        leaf = next_leaf(state, leaf, moved)
    work.climb[0] = 0
    filled = climb_from(state, work, state.parent[moved], 0)
    n_climbs = 1
    work.climb[1] = filled
    leaf = first_leaf(state, moved)
    while leaf >= 0:
        for k in range(graph.indptr[leaf], graph.indptr[leaf + 1]):
            other = graph.indices[k]
            if work.inside[other] == clock:
                continue
            if work.mark[other] != clock:
                filled = climb_from(state, work, other, filled)
                n_climbs += 1
                work.climb[n_climbs] = filled
            work.weight[other] += graph.data[k]
        leaf = next_leaf(state, leaf, moved)
    weigh_climbs(state, work, n_climbs)
    return n_climbs


@njit(cache=True)
def mark_row(state, work, root, indices, data):
    """Mark and weigh the ancestors of a new point's neighbours. Returns the number of climbs."""
    work.clock[0] += 1
    work.climb[0] = 0
    filled = climb_from(state, work, root, 0)
    work.climb[1] = filled
    n_climbs = 1
    for k in range(indices.shape[0]):
        other = indices[k]
        if work.mark[other] != work.clock[0]:
            filled = climb_from(state, work, other, filled)
            n_climbs += 1
            work.climb[n_climbs] = filled
        work.weight[other] += data[k]
    weigh_climbs(state, work, n_climbs)
    return n_climbs


@njit(cache=True)
def weigh_climbs(state, work, n_climbs):
    """Sum the weights of marked leaves upwards.

    Later climbs end on earlier ones: taken last to first, every node is met after all that flows into it.
    """
    for c in range(n_climbs - 1, -1, -1):
        for k in range(work.climb[c], work.climb[c + 1]):
            node = work.path[k]
            above = state.parent[node]
            if above >= 0:
                work.weight[above] += work.weight[node]


@njit(cache=True)
def take_out_on_paper(state, work, moved, gives_back):
    """Sizes, crosses and spreads of the ancestors as they would be without the subtree."""
    moved_size = state.size[moved]
    inner_weight, inner_size = 0.0, 0.0
    for k in range(work.climb[1]):
        node = work.path[k]
        work.size[node] -= moved_size
        work.cross[node] -= work.weight[node] - inner_weight
        work.spread[node] -= moved_size * (work.size[node] - inner_size)
        inner_weight, inner_size = work.weight[node], work.size[node]
    above = state.parent[moved]
    work.cross[above] -= loop_of(state, moved)
    work.spread[above] -= own_of(state, moved)
    if gives_back and state.parent[above] >= 0:
        sibling = sibling_of(state, moved)
        work.cross[state.parent[above]] += loop_of(state, sibling)
        work.spread[state.parent[above]] += own_of(state, sibling)


@njit(cache=True)
def sibling_of(state, node):
    """The other child of a node's parent, which must have two."""
    return state.after[node] if state.after[node] >= 0 else state.before[node]


class Moved(NamedTuple):
    """The subtree in hand, and the objective it is weighed by."""

    size: float
    loop: float
    own: float
    objective: int
    total: float


@njit(cache=True)
def added_at(work, moved, node, child_weight, child_size, child_own):
    """What a node costs more when the subtree is put somewhere below the given child.

    `child_weight` and `child_own` may include a leaf's pair with itself where that leaves the node.
    """
    size, cross, spread = work.size[node], work.cross[node], work.spread[node]
    return node_cost(
        moved.objective,
        size + moved.size,
        cross + work.weight[node] - child_weight,
        spread + moved.size * (size - child_size) - child_own,
        moved.total,
    ) - node_cost(moved.objective, size, cross, spread, moved.total)


@njit(cache=True)
def cost_on_edge(work, moved, parent, weight, size, loop, own):
    """Cost at the edge's upper end and at the new node when the subtree goes on the edge above a node.

    The node has this weight to the subtree, size, and (for a leaf) pair with itself, which moves to the new node.
    """
    cost = node_cost(
        moved.objective,
        size + moved.size,
        weight + loop + moved.loop,
        size * moved.size + own + moved.own,
        moved.total,
    )
    if parent >= 0:
        cost += added_at(work, moved, parent, weight + loop, size, own)
    return cost


@njit(cache=True)
def best_unmarked_child(state, work, moved, node, subtree):
    """Cheapest edge above a child that the subtree has no similarity with: (child, cost)."""
    best, best_cost, looked = -1, np.inf, 0
    child = state.first[node]
    while child >= 0 and looked < SCANNED_CHILDREN:
        if child != subtree and work.mark[child] != work.clock[0]:
            cost = work.above[node] + cost_on_edge(
                work, moved, node, 0.0, state.size[child], loop_of(state, child), own_of(state, child)
            )
            if cost < best_cost:
                best, best_cost = child, cost
        looked += 1
        child = state.after[child]
    return best, best_cost


@njit(cache=True)
def find_best_place(state, graph, work, subtree, objective):
    """Best place for a subtree: (target, as_child, cost there, cost where it is)."""
    n_climbs = mark_neighbourhood(state, graph, work, subtree)
    moved = Moved(state.size[subtree], loop_of(state, subtree), own_of(state, subtree), objective, graph.total)
    home = state.parent[subtree]
    gives_back = state.n_children[home] == 2
    take_out_on_paper(state, work, subtree, gives_back)
    on_edges = gives_back or state.count[2] > 0
    return look_at_places(state, work, moved, n_climbs, subtree, home, gives_back, on_edges)


@njit(cache=True)
def look_at_places(state, work, moved, n_climbs, subtree, home, gives_back, on_edges):
    """The cheapest of the marked places: (target, as_child, cost there, cost at home).

    Walks every climb from its top. `work.above[v]` is what the subtree adds at the strict ancestors of v when
    it is put below v; in Dasgupta's cost that only grows downwards, so a climb dearer than the best is dropped.
    A new point has no home (-1).
    """
    best, best_as_child, best_cost, cost_now = -1, False, np.inf, np.inf
    for c in range(n_climbs):
        for k in range(work.climb[c + 1] - 1, work.climb[c] - 1, -1):
            node = work.path[k]
            parent = state.parent[node]
            if (
                gives_back and parent == home
            ):  # home is gone and was looked at: the sibling stands in its place
                work.above[node] = work.above[home]
                parent = -2
            elif parent < 0:
                work.above[node] = 0.0
            elif work.above[parent] < np.inf:
                work.above[node] = work.above[parent] + added_at(
                    work, moved, parent, work.weight[node], work.size[node], 0.0
                )
            else:
                work.above[node] = np.inf
            if moved.objective != TSD and c > 0 and work.above[node] >= best_cost:
                work.above[node] = np.inf
            if work.above[node] == np.inf:
                continue
            is_gone = gives_back and node == home
            if on_edges and parent != -2:
                standing = sibling_of(state, subtree) if is_gone else node
                cost = cost_on_edge(
                    work,
                    moved,
                    parent,
                    work.weight[node],
                    work.size[node],
                    loop_of(state, standing),
                    own_of(state, standing),
                )
                if parent >= 0:
                    cost += work.above[parent]
                if is_gone:
                    cost_now = cost
                if cost < best_cost:
                    best, best_as_child, best_cost = node, False, cost
            if node < state.count[1] or is_gone:
                continue
            if node == home or not on_edges:
                cost = work.above[node] + added_at(work, moved, node, -moved.loop, 0.0, -moved.own)
                if node == home:
                    cost_now = cost
                if cost < best_cost:
                    best, best_as_child, best_cost = node, True, cost
            if moved.objective == TSD and on_edges:
                child, cost = best_unmarked_child(state, work, moved, node, subtree)
                if cost < best_cost:
                    best, best_as_child, best_cost = child, False, cost
    return best, best_as_child, best_cost, cost_now


@njit(cache=True)
def mark_dirty(state, work, sibling, joint):
    """Note the nodes whose surroundings a move changed: both paths up to where they meet, and what hangs there."""
    work.clock[0] += 1
    clock = work.clock[0]
    node = joint
    while node >= 0:
        work.mark[node] = clock
        node = state.parent[node]
    meeting = sibling
    while meeting >= 0 and work.mark[meeting] != clock:
        meeting = state.parent[meeting]
    mark_dirty_up_to(state, work, sibling, meeting)
    mark_dirty_up_to(state, work, joint, meeting)


@njit(cache=True)
def mark_dirty_up_to(state, work, node, last):
    """Mark the nodes from one upwards to `last`, with their children."""
    while node >= 0:
        work.dirty[node] = True
        child = state.first[node]
        looked = 0
        while child >= 0 and looked < SCANNED_CHILDREN:
            work.dirty[child] = True
            child = state.after[child]
            looked += 1
        if node == last:
            break
        node = state.parent[node]


@njit(cache=True, nogil=True)
def regraft(state, graph, work, subtrees, max_size, objective):
    """Move each of the given subtrees that is dirty to its best place. Returns (moves, gain)."""
    n_moves, gained = 0, 0.0
    for moved in subtrees:
        if not work.dirty[moved] or state.parent[moved] < 0 or state.size[moved] > max_size:
            continue
        work.dirty[moved] = False
        target, as_child, cost, cost_now = find_best_place(state, graph, work, moved, objective)
        if target < 0 or not cost < cost_now - RELATIVE_GAIN * abs(cost_now) - 1e-300:
            continue
        home = state.parent[moved]
        if state.n_children[home] == 2:
            sibling = sibling_of(state, moved)
        else:
            sibling = home
        if work.mark[target] != work.clock[0]:
            work.weight[target] = 0.0
        detach(state, moved, work.weight)
        joint = attach(state, moved, target, as_child, work.weight)
        mark_dirty(state, work, sibling, joint)
        n_moves += 1
        gained += cost_now - cost
    return n_moves, gained


@njit(cache=True, nogil=True)
def place_rows(state, work, root, indptr, indices, data, first, last, size, objective, total, targets):
    """Best edge for each new point (rows first .. last-1 of a CSR matrix of similarities to the leaves)."""
    for row in range(first, last):
        low, high = indptr[row], indptr[row + 1]
        n_climbs = mark_row(state, work, root, indices[low:high], data[low:high])
        moved = Moved(size, 0.0, 0.0, objective, total)
        targets[row] = look_at_places(state, work, moved, n_climbs, -1, -1, False, True)[0]
