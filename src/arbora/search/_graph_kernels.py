"""Prune and regraft on a sparse graph: the best of the places that `_gather_kernels` marks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arbora._base.jit import inner, kernel
from arbora.search._gather_kernels import (
    ZERO,
    climb_from,
    first_leaf,
    mark_near,
    mark_neighborhood,
    mark_row,
    next_leaf,
    weigh_climbs,
)
from arbora.search._state import DASGUPTA, TSD, attach, detach, loop_of, node_cost, own_of

# children of one node that are tried, or noted as changed, one by one
SCANNED_CHILDREN = 64
RELATIVE_GAIN = 1e-9  # a move must gain this share of what the subtree costs: below is rounding


@inner
def take_out_on_paper(state, work, moved, gives_back, top):
    """Sizes, crosses and spreads of the ancestors up to `top` as they would be without the subtree."""
    moved_size = state.nodes[moved].size
    inner_weight, inner_size = 0.0, 0.0
    beyond = state.nodes[top].parent
    node = state.nodes[moved].parent
    while node != beyond:
        work.nodes[node].size -= moved_size
        work.nodes[node].cross -= work.nodes[node].weight - inner_weight
        work.nodes[node].spread -= moved_size * (work.nodes[node].size - inner_size)
        inner_weight, inner_size = work.nodes[node].weight, work.nodes[node].size
        node = state.nodes[node].parent
    above = state.nodes[moved].parent
    work.nodes[above].cross -= loop_of(state, moved)
    work.nodes[above].spread -= own_of(state, moved)
    if gives_back and state.nodes[above].parent >= 0:
        sibling = sibling_of(state, moved)
        work.nodes[state.nodes[above].parent].cross += loop_of(state, sibling)
        work.nodes[state.nodes[above].parent].spread += own_of(state, sibling)


@inner
def sibling_of(state, node):
    """The other child of a node's parent, which must have two."""
    return state.nodes[node].after if state.nodes[node].after >= 0 else state.nodes[node].before


class Moved(NamedTuple):
    """The subtree in hand, and the objective it is weighed by."""

    size: float
    loop: float
    own: float
    objective: int
    total: float
    price: float  # of the node that a place on an edge takes


@inner
def added_at(work, moved, node, child_weight, child_size, child_own):
    """What a node costs more when the subtree is put somewhere below the given child.

    `child_weight` and `child_own` may include a leaf's pair with itself where that leaves the node.
    """
    size, cross, spread = work.nodes[node].size, work.nodes[node].cross, work.nodes[node].spread
    return node_cost(
        moved.objective,
        size + moved.size,
        cross + work.nodes[node].weight - child_weight,
        spread + moved.size * (size - child_size) - child_own,
        moved.total,
    ) - node_cost(moved.objective, size, cross, spread, moved.total)


@inner
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
    return cost + moved.price


@inner
def best_unmarked_child(state, work, moved, node, subtree):
    """Cheapest edge above a child that the subtree has no similarity with: (child, cost)."""
    best, best_cost, scanned = -1, np.inf, 0
    child = state.nodes[node].first
    while child >= 0 and scanned < SCANNED_CHILDREN:
        if child != subtree and work.nodes[child].mark != work.clock[0]:
            cost = work.nodes[node].above + cost_on_edge(
                work, moved, node, 0.0, state.nodes[child].size, loop_of(state, child), own_of(state, child)
            )
            if cost < best_cost:
                best, best_cost = child, cost
        scanned += 1
        child = state.nodes[child].after
    return best, best_cost


@inner
def find_best_place(state, graph, work, subtree, objective, max_visits):
    """Best place for a subtree: (target, as_child, cost there, cost where it is, top of the region searched).

    `max_visits` is for `mark_near`; 0 climbs to the root instead, which other objectives and self-loops need.
    """
    if max_visits > 0:
        top, n_climbs = mark_near(state, graph, work, subtree, max_visits), 1
    else:
        n_climbs = mark_neighborhood(state, graph, work, subtree)
        top = work.path[work.climb[1] - 1]
    moved = Moved(
        state.nodes[subtree].size,
        loop_of(state, subtree),
        own_of(state, subtree),
        objective,
        graph.total,
        graph.price,
    )
    home = state.nodes[subtree].parent
    gives_back = state.nodes[home].n_children == 2
    take_out_on_paper(state, work, subtree, gives_back, top)
    on_edges = gives_back or state.numbers[2] > 0
    target, as_child, cost, cost_now = best_of_marked(
        state, work, moved, n_climbs, top, subtree, home, gives_back, on_edges
    )
    return target, as_child, cost, cost_now, top


@inner
def best_of_marked(state, work, moved, n_climbs, top, subtree, home, gives_back, on_edges):
    """The cheapest of the marked places below `top`: (target, as_child, cost there, cost at home).

    Walks every climb from its top. `work.nodes[v].above` is what the subtree adds at the ancestors of v, from `top`
    down, when it is put below v; under Dasgupta's cost it only grows downwards, so what lies below a node dearer
    than the best place is dropped. A new point has no home (-1).
    """
    best, best_as_child, best_cost, cost_now = -1, False, np.inf, np.inf
    for c in range(n_climbs):
        for k in range(work.climb[c + 1] - 1, work.climb[c] - 1, -1):
            node = work.path[k]
            parent = state.nodes[node].parent if node != top else -1
            stands_for_home = gives_back and parent == home and home >= 0
            if node == top:
                work.nodes[node].above = 0.0
            elif work.nodes[parent].mark != work.clock[0] or work.nodes[parent].above == np.inf:
                continue  # outside the region, or below a place that is too dear
            elif stands_for_home:  # home is gone: its other child takes its place, which was tried
                work.nodes[node].above = work.nodes[parent].above
            else:
                work.nodes[node].above = work.nodes[parent].above + added_at(
                    work, moved, parent, work.nodes[node].weight, work.nodes[node].size, 0.0
                )
            if moved.objective != TSD and cost_now < np.inf and work.nodes[node].above >= best_cost:
                work.nodes[node].above = np.inf
                continue
            is_gone = gives_back and node == home
            if on_edges and not stands_for_home:
                standing = sibling_of(state, subtree) if is_gone else node
                loop, own = loop_of(state, standing), own_of(state, standing)
                cost = cost_on_edge(
                    work, moved, parent, work.nodes[node].weight, work.nodes[node].size, loop, own
                )
                if parent >= 0:
                    cost += work.nodes[parent].above
                if is_gone:
                    cost_now = cost
                if cost < best_cost:
                    best, best_as_child, best_cost = node, False, cost
            if node < state.numbers[1] or is_gone:
                continue
            if node == home or not on_edges or moved.price > 0.0:
                cost = work.nodes[node].above + added_at(work, moved, node, -moved.loop, 0.0, -moved.own)
                if node == home:
                    cost_now = cost
                if cost < best_cost:
                    best, best_as_child, best_cost = node, True, cost
            if moved.objective == TSD and on_edges:
                child, cost = best_unmarked_child(state, work, moved, node, subtree)
                if cost < best_cost:
                    best, best_as_child, best_cost = child, False, cost
    return best, best_as_child, best_cost, cost_now


@inner
def mark_dirty(state, work, sibling, joint, beyond):
    """Note the nodes whose surroundings a move changed: both paths up to where they meet, and what hangs there.

    The paths meet below `beyond` (-1 when they may meet anywhere).
    """
    work.clock[0] += 1
    clock = work.clock[0]
    node = joint
    while node != beyond:
        work.nodes[node].mark = clock
        node = state.nodes[node].parent
    meeting = sibling
    while meeting != beyond and work.nodes[meeting].mark != clock:
        meeting = state.nodes[meeting].parent
    mark_dirty_up_to(state, work, sibling, meeting)
    mark_dirty_up_to(state, work, joint, meeting)


@inner
def mark_neighbors_dirty(state, graph, work, moved):
    """Note the neighbors of a small subtree that moved: they meet it elsewhere now."""
    leaf, scanned = first_leaf(state, moved), 0
    while leaf >= 0 and scanned < SCANNED_CHILDREN:
        for k in range(graph.indptr[leaf], graph.indptr[leaf + 1]):
            other = np.int64(graph.indices[k])
            work.dirty[other] = True
            work.dirty[state.nodes[other].parent] = True
        leaf = next_leaf(state, leaf, moved)
        scanned += 1


@inner
def mark_dirty_up_to(state, work, node, last):
    """Mark the nodes from one upwards to `last`, with their children."""
    while node >= 0:
        work.dirty[node] = True
        child = state.nodes[node].first
        scanned = 0
        while child >= 0 and scanned < SCANNED_CHILDREN:
            work.dirty[child] = True
            child = state.nodes[child].after
            scanned += 1
        if node == last:
            break
        node = state.nodes[node].parent


@kernel(nogil=True)
def regraft(state, graph, work, subtrees, max_size, objective, max_visits):
    """Move each of the given subtrees that is dirty to its best place. Returns (moves, gain)."""
    n_moves, gained = 0, 0.0
    for moved in subtrees:
        if not work.dirty[moved] or state.nodes[moved].parent < 0 or state.nodes[moved].size > max_size:
            continue
        work.dirty[moved] = False
        target, as_child, cost, cost_now, top = find_best_place(
            state, graph, work, moved, objective, max_visits
        )
        if target < 0 or not cost < cost_now - RELATIVE_GAIN * abs(cost_now) - 1e-300:
            continue
        home = state.nodes[moved].parent
        sibling = sibling_of(state, moved) if state.nodes[home].n_children == 2 else home
        if work.nodes[target].mark != work.clock[0]:
            work.nodes[target].weight = 0.0
        beyond = state.nodes[top].parent
        detach(state, moved, work.nodes, beyond)
        joint = attach(state, moved, target, as_child, work.nodes, beyond)
        if not as_child:
            work.nodes[joint].rise = work.nodes[target].rise
        mark_dirty(state, work, sibling, joint, beyond)
        mark_neighbors_dirty(state, graph, work, moved)
        n_moves += 1
        gained += cost_now - cost
    return n_moves, gained


@inner
def mark_neighbors_present(state, graph, work, root, leaf):
    """Mark and weigh the ancestors of a leaf's neighbors that are in the tree. Returns the number of climbs."""
    work.clock[0] += 1
    work.climb[0] = 0
    filled = climb_from(state, work, root, ZERO)
    work.climb[1] = filled
    n_climbs = ZERO + 1
    for k in range(graph.indptr[leaf], graph.indptr[leaf + 1]):
        other = np.int64(graph.indices[k])
        if other != root and state.nodes[other].parent < 0:
            continue
        if work.nodes[other].mark != work.clock[0]:
            filled = climb_from(state, work, other, filled)
            n_climbs += 1
            work.climb[n_climbs] = filled
        work.nodes[other].weight += graph.data[k]
    weigh_climbs(state, work, n_climbs)
    return n_climbs


@kernel(nogil=True)
def insert_leaves(state, graph, work, root, leaves):
    """Insert leaves, whose sizes are set, each at its best place in the tree so far, by Dasgupta's cost.

    Returns the root.
    """
    for leaf in leaves:
        n_climbs = mark_neighbors_present(state, graph, work, root, leaf)
        moved = Moved(state.nodes[leaf].size, loop_of(state, leaf), 0.0, DASGUPTA, 1.0, 0.0)
        target = best_of_marked(state, work, moved, n_climbs, root, -1, -1, False, True)[0]
        if target < 0:
            target = root
        joint = attach(state, leaf, target, False, work.nodes, -1)
        if state.nodes[joint].parent < 0:
            root = joint
    return root


@kernel(nogil=True)
def place_rows(state, work, root, indptr, indices, data, first, last, size, objective, total, targets):
    """Best edge for each new point (rows first .. last-1 of a CSR matrix of similarities to the leaves)."""
    for row in range(first, last):
        low, high = indptr[row], indptr[row + 1]
        n_climbs = mark_row(state, work, root, indices[low:high], data[low:high])
        moved = Moved(size, 0.0, 0.0, objective, total, 0.0)
        targets[row] = best_of_marked(state, work, moved, n_climbs, root, -1, -1, False, True)[0]
