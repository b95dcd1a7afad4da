"""Prune and regraft on a sparse graph: the best of the places that `_gather_kernels` marks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arbora._base.jit import inlined, kernel
from arbora.search._gather_kernels import (
    first_leaf,
    mark_neighborhood,
    mark_row,
    next_leaf,
)
from arbora.search._state import DASGUPTA, TSD, attach, detach, loop_of, node_cost, own_of

# children of one node that are tried, or noted as changed, one by one
SCANNED_CHILDREN = 64
RELATIVE_GAIN = 1e-9  # a move must gain this share of what the subtree costs: anything less is rounding


@inlined
def take_out_on_paper(nodes, scratch, pairs, moved, gives_back):
    """Sizes, crosses and spreads of the ancestors as they would be without the subtree."""
    moved_size, home = nodes[moved].size, nodes[moved].parent
    inner_weight, inner_size = 0.0, 0.0
    node = home
    while node >= 0:
        entry = scratch[node]
        entry.size -= moved_size
        entry.cross -= entry.weight - inner_weight
        entry.spread -= moved_size * (entry.size - inner_size)
        inner_weight, inner_size = entry.weight, entry.size
        node = nodes[node].parent
    scratch[home].cross -= loop_of(pairs, moved)
    scratch[home].spread -= own_of(pairs, moved)
    above = nodes[home].parent
    if gives_back and above >= 0:
        sibling = sibling_of(nodes, moved)
        scratch[above].cross += loop_of(pairs, sibling)
        scratch[above].spread += own_of(pairs, sibling)


@inlined
def sibling_of(nodes, node):
    """The other child of a node's parent, which must have two."""
    return nodes[node].after if nodes[node].after >= 0 else nodes[node].before


class Moved(NamedTuple):
    """The subtree in hand, and the objective it is weighed by."""

    size: float
    loop: float
    own: float
    objective: int
    total: float
    price: float  # of the node that a place on an edge takes


@inlined
def added_at(entry, moved, child_weight, child_size, child_own):
    """How much more a node costs when the subtree is put somewhere below the given child.

    `child_weight` and `child_own` may include a leaf's pair with itself where that leaves the node.
    """
    size, cross, spread = entry.size, entry.cross, entry.spread
    return node_cost(
        moved.objective,
        size + moved.size,
        cross + entry.weight - child_weight,
        spread + moved.size * (size - child_size) - child_own,
        moved.total,
    ) - node_cost(moved.objective, size, cross, spread, moved.total)


@inlined
def cost_on_edge(moved, weight, size, loop, own):
    """Cost of the new node when the subtree is put on the edge above a node, and of having one more node.

    The node has this weight to the subtree, size, and (for a leaf) pair with itself, which moves to the new node.
    """
    return moved.price + node_cost(
        moved.objective,
        size + moved.size,
        weight + loop + moved.loop,
        size * moved.size + own + moved.own,
        moved.total,
    )


@inlined
def best_unmarked_child(state, scratch, clock, moved, node, subtree):
    """Cheapest edge above a child that the subtree has no similarity with: (child, cost)."""
    nodes, pairs, entry = state.nodes, state.self_pairs, scratch[node]
    best, best_cost, scanned = -1, np.inf, 0
    child = nodes[node].first
    while child >= 0 and scanned < SCANNED_CHILDREN:
        if child != subtree and scratch[child].mark != clock:
            size, loop, own = nodes[child].size, loop_of(pairs, child), own_of(pairs, child)
            cost = entry.above + cost_on_edge(moved, 0.0, size, loop, own)
            cost += added_at(entry, moved, loop, size, own)
            if cost < best_cost:
                best, best_cost = child, cost
        scanned += 1
        child = nodes[child].after
    return best, best_cost


@inlined
def find_best_place(state, graph, work, subtree, objective):
    """Best place for a subtree: (target, as_child, cost there, cost where it is, root)."""
    nodes, pairs = state.nodes, state.self_pairs
    n_climbs = mark_neighborhood(nodes, graph, work, subtree)
    root = work.path[work.climb[1] - 1]
    home = nodes[subtree].parent
    gives_back = nodes[home].n_children == 2
    take_out_on_paper(nodes, work.nodes, pairs, subtree, gives_back)
    loop, own = loop_of(pairs, subtree), own_of(pairs, subtree)
    moved = Moved(nodes[subtree].size, loop, own, objective, graph.total, graph.price)
    on_edges = gives_back or state.numbers[2] > 0
    target, as_child, cost, cost_now = best_of_marked(
        state, work, moved, n_climbs, root, subtree, home, gives_back, on_edges
    )
    return target, as_child, cost, cost_now, root


@inlined
def best_of_marked(state, work, moved, n_climbs, root, subtree, home, gives_back, on_edges):
    """The cheapest of the marked places: (target, as_child, cost there, cost at home).

    Walks every climb from its top. `work.nodes[v].above` is what the subtree adds at the ancestors of v when it
    is put below v; under Dasgupta's cost it only grows downwards, so what lies below a node more expensive
    than the best place is dropped. A new point has no home (-1).
    """
    nodes, pairs, scratch, clock = state.nodes, state.self_pairs, work.nodes, work.clock[0]
    best, best_as_child, best_cost, cost_now = -1, False, np.inf, np.inf
    for c in range(n_climbs):
        for k in range(work.climb[c + 1] - 1, work.climb[c] - 1, -1):
            node = work.path[k]
            entry, parent = scratch[node], nodes[node].parent
            is_root, is_home = node == root, node == home
            over = entry if is_root else scratch[parent]
            if not is_root and over.above == np.inf:
                continue  # below a place that is too expensive
            is_gone = gives_back and is_home
            # home is gone: its other child takes its place, which was tried
            stands_for_home = gives_back and parent == home and not is_root
            loop, own = 0.0, 0.0
            if on_edges and (is_gone or node < pairs.shape[0]):
                standing = sibling_of(nodes, subtree) if is_gone else node
                loop, own = loop_of(pairs, standing), own_of(pairs, standing)
            above, at_edge = 0.0, 0.0
            if not is_root:
                above = over.above
                if not stands_for_home:
                    at_edge = above + added_at(over, moved, entry.weight + loop, entry.size, own)
                    above += added_at(over, moved, entry.weight, entry.size, 0.0)
            entry.above = above
            if moved.objective != TSD and cost_now < np.inf and above >= best_cost:
                entry.above = np.inf
                continue
            if on_edges and not stands_for_home:
                cost = at_edge + cost_on_edge(moved, entry.weight, entry.size, loop, own)
                if is_gone:
                    cost_now = cost
                if cost < best_cost:
                    best, best_as_child, best_cost = node, False, cost
            if node < pairs.shape[0] or is_gone:
                continue
            if is_home or not on_edges or moved.price > 0.0:
                cost = above + added_at(entry, moved, -moved.loop, 0.0, -moved.own)
                if is_home:
                    cost_now = cost
                if cost < best_cost:
                    best, best_as_child, best_cost = node, True, cost
            if moved.objective == TSD and on_edges:
                child, cost = best_unmarked_child(state, scratch, clock, moved, node, subtree)
                if cost < best_cost:
                    best, best_as_child, best_cost = child, False, cost
    return best, best_as_child, best_cost, cost_now


@inlined
def mark_dirty(nodes, work, sibling, joint, beyond):
    """Note the nodes whose surroundings a move changed: both paths up to where they meet, and what hangs there.

    The paths meet below `beyond` (-1 when they may meet anywhere).
    """
    scratch, dirty = work.nodes, work.dirty
    work.clock[0] += 1
    clock = work.clock[0]
    node = joint
    while node != beyond:
        scratch[node].mark = clock
        node = nodes[node].parent
    meeting = sibling
    while meeting != beyond and scratch[meeting].mark != clock:
        meeting = nodes[meeting].parent
    mark_dirty_up_to(nodes, dirty, sibling, meeting)
    mark_dirty_up_to(nodes, dirty, joint, meeting)


@inlined
def mark_neighbors_dirty(nodes, graph, dirty, moved):
    """Note the neighbors of a small subtree that moved: they meet it elsewhere now."""
    leaf, scanned = first_leaf(nodes, moved), 0
    while leaf >= 0 and scanned < SCANNED_CHILDREN:
        for k in range(graph.indptr[leaf], graph.indptr[leaf + 1]):
            other = np.int64(graph.indices[k])
            dirty[other] = True
            dirty[nodes[other].parent] = True
        leaf = next_leaf(nodes, leaf, moved)
        scanned += 1


@inlined
def mark_dirty_up_to(nodes, dirty, node, last):
    """Mark the nodes from one upwards to `last`, with their children."""
    while node >= 0:
        dirty[node] = True
        child = nodes[node].first
        scanned = 0
        while child >= 0 and scanned < SCANNED_CHILDREN:
            dirty[child] = True
            child = nodes[child].after
            scanned += 1
        if node == last:
            break
        node = nodes[node].parent


@inlined
def is_better(cost, cost_now):
    """Whether a move gains more than rounding does."""
    return cost < cost_now - RELATIVE_GAIN * abs(cost_now) - 1e-300


@inlined
def move_subtree(state, graph, work, moved, target, as_child, top):
    """Take a subtree out and put it back on the edge above `target`, or (`as_child`) below it; `top` is above both."""
    nodes, scratch = state.nodes, work.nodes
    home, beyond = nodes[moved].parent, nodes[top].parent
    sibling = sibling_of(nodes, moved) if nodes[home].n_children == 2 else home
    if scratch[target].mark != work.clock[0]:
        scratch[target].weight = 0.0
    detach(state, moved, scratch, beyond)
    joint = attach(state, moved, target, as_child, scratch, beyond)
    if not as_child:
        scratch[joint].rise = scratch[target].rise
    mark_dirty(nodes, work, sibling, joint, beyond)
    mark_neighbors_dirty(nodes, graph, work.dirty, moved)


@kernel(nogil=True, allocates=False)
def regraft(state, graph, work, subtrees, max_size, objective):
    """Move each of the given subtrees that is dirty to its best place. Returns (moves, gain)."""
    nodes, dirty = state.nodes, work.dirty
    n_moves, gained = 0, 0.0
    for moved in subtrees:
        if not dirty[moved] or nodes[moved].parent < 0 or nodes[moved].size > max_size:
            continue
        dirty[moved] = False
        target, as_child, cost, cost_now, root = find_best_place(state, graph, work, moved, objective)
        if target >= 0 and is_better(cost, cost_now):
            move_subtree(state, graph, work, moved, target, as_child, root)
            n_moves += 1
            gained += cost_now - cost
    return n_moves, gained


@kernel(nogil=True, allocates=False)
def insert_leaves(state, graph, work, root, leaves):
    """Insert leaves, whose sizes are set, each at its best place in the tree so far, by Dasgupta's cost.

    Returns the root.
    """
    for leaf in leaves:
        first, last = np.int64(graph.indptr[leaf]), np.int64(graph.indptr[leaf + 1])
        n_climbs = mark_row(state.nodes, work, root, graph.indices, graph.data, first, last)
        moved = Moved(state.nodes[leaf].size, loop_of(state.self_pairs, leaf), 0.0, DASGUPTA, 1.0, 0.0)
        target = best_of_marked(state, work, moved, n_climbs, root, -1, -1, False, True)[0]
        if target < 0:
            target = root
        joint = attach(state, leaf, target, False, work.nodes, -1)
        if state.nodes[joint].parent < 0:
            root = joint
    return root


@kernel(nogil=True, allocates=False)
def place_rows(state, work, root, indptr, indices, data, first, last, size, objective, total, targets):
    """Best edge for each new point (rows first .. last-1 of a CSR matrix of similarities to the leaves)."""
    for row in range(first, last):
        low, high = np.int64(indptr[row]), np.int64(indptr[row + 1])
        n_climbs = mark_row(state.nodes, work, root, indices, data, low, high)
        moved = Moved(size, 0.0, 0.0, objective, total, 0.0)
        targets[row] = best_of_marked(state, work, moved, n_climbs, root, -1, -1, False, True)[0]
