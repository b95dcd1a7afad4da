"""Prune and regraft under Dasgupta's cost, on a graph without self-loops: only what is near is visited.

The climbs from a subtree's neighbors (`_gather_kernels`) go up together, smallest node first, and end where no place
higher up can be better (`nothing_gained_above`): then a move costs what its surroundings do, however deep the tree is.
"""

from __future__ import annotations

import numpy as np

from arbora._base.jit import inlined, kernel
from arbora.search._gather_kernels import ZERO, first_leaf, mark_inside, next_leaf, note
from arbora.search._graph_kernels import is_better, move_subtree


@inlined
def push(heap, filled, nodes, node):
    """Add a node to a heap ordered by size; returns the number of entries."""
    k, size = filled, nodes[node].size
    while k > 0:
        up = (k - 1) >> 1
        if nodes[heap[up]].size <= size:
            break
        heap[k] = heap[up]
        k = up
    heap[k] = node
    return filled + 1


@inlined
def drop_smallest(heap, filled, nodes):
    """Remove the first entry of a heap; returns the number of entries left."""
    filled -= 1
    last = heap[filled]
    k, size = 0, nodes[last].size
    while True:
        child = 2 * k + 1
        if child >= filled:
            break
        child_size = nodes[heap[child]].size
        if child + 1 < filled:
            other_size = nodes[heap[child + 1]].size
            if other_size < child_size:
                child, child_size = child + 1, other_size
        if size <= child_size:
            break
        heap[k] = heap[child]
        k = child
    heap[k] = last
    return filled


@inlined
def slope_of(gathered, growth):
    """Similarity per added leaf; infinite where the sizes are too far apart to show any growth."""
    if growth > 0.0:
        return gathered / growth
    return np.inf if gathered > 0.0 else 0.0


@kernel(nogil=True, allocates=False)
def steepest_rise(nodes, scratch, root, gathered, corner, stack):
    """Set `rise` of each node: the most similarity per added leaf gathered by going up some way from it.

    With g(v) the cross weights summed over v's strict ancestors, this is the largest slope
    (g(v) - g(u)) / (size(u) - size(v)) over ancestors u. `corner` remembers the best u, so that the next search
    walks along the concave hull of the path above instead of the path itself.
    """
    scratch[root].rise, gathered[root], corner[root] = 0.0, 0.0, root
    stack[0] = root
    n_open = 1
    while n_open > 0:
        n_open -= 1
        node = stack[n_open]
        here = nodes[node]
        child = here.first
        while child >= 0:
            below = nodes[child]
            total = gathered[node] + here.cross
            gathered[child] = total
            best = node
            slope = slope_of(here.cross, here.size - below.size)
            while corner[best] != best:
                further = corner[best]
                other = slope_of(total - gathered[further], nodes[further].size - below.size)
                if other < slope:
                    break
                best, slope = further, other
            corner[child], scratch[child].rise = best, slope
            if below.first >= 0:
                stack[n_open] = child
                n_open += 1
            child = below.after


def update_rise(state, work):
    """Set `work.rise` for the tree as it is now."""
    parent, root = state.nodes["parent"], 0
    while parent[root] >= 0:
        root = int(parent[root])
    # heap and path are not in use between subtrees
    steepest_rise(state.nodes, work.nodes, root, np.empty(len(state.nodes)), work.heap, work.path)


@inlined
def nothing_gained_above(cost_now, size, inside_weight, outside_weight, moved_size, rise):
    """Whether no place outside the ancestor of this size can be better than the present one.

    A place that meets the old one at a higher ancestor u pays size(u) for all weight inside, saves at most
    size(u) for the weight outside, and is spared moved_size times the cross weights on the way, at most
    `rise` for each additional leaf of u.
    """
    certain = inside_weight - outside_weight
    return certain >= moved_size * rise and size * certain >= cost_now


@inlined
def open_neighbors(nodes, graph, scratch, heap, clock, moved):
    """Mark the neighbors of a subtree, weigh them, and put them on the heap: (how many, similarity to them all)."""
    indptr, indices, data = graph.indptr, graph.indices, graph.data
    n_open, outside = ZERO, 0.0
    leaf = first_leaf(nodes, moved)
    while leaf >= 0:
        for k in range(indptr[leaf], indptr[leaf + 1]):
            other = np.int64(indices[k])
            entry = scratch[other]
            if entry.inside == clock:
                continue
            if entry.mark != clock:
                note(nodes[other], entry, clock)
                n_open = push(heap, n_open, nodes, other)
            entry.weight += data[k]
            outside += data[k]
        leaf = next_leaf(nodes, leaf, moved)
    return n_open, outside


@inlined
def mark_near(nodes, graph, work, moved, max_visits):
    """Mark and weigh the ancestors of a subtree and its neighbors as far up as a better place can be.

    Leaves one climb whose nodes grow in size; sizes and crosses are those without the subtree. Returns the length of
    the climb. Past `max_visits` nodes it ends at the next ancestor, sure or not.
    """
    scratch, heap, path = work.nodes, work.heap, work.path
    work.clock[0] += 1
    clock = work.clock[0]
    mark_inside(nodes, scratch, clock, moved)
    n_open, outside = open_neighbors(nodes, graph, scratch, heap, clock, moved)
    moved_size, home = nodes[moved].size, nodes[moved].parent
    keeps_home = nodes[home].n_children > 2
    node, above, ancestor, inner_weight, cost_now, filled = moved, home, home, 0.0, 0.0, 0
    while True:
        if scratch[above].mark != clock:
            note(nodes[above], scratch[above], clock)
            n_open = push(heap, n_open, nodes, above)
        if node != moved:
            scratch[above].weight += scratch[node].weight
        node = heap[0]
        n_open = drop_smallest(heap, n_open, nodes)
        path[filled] = node
        filled += 1
        here, entry = nodes[node], scratch[node]
        above = here.parent
        if node == ancestor:
            met = entry.weight - inner_weight
            outside -= met
            cost_now += here.size * met
            entry.size -= moved_size
            entry.cross -= met
            if node != home or keeps_home:
                cost_now += moved_size * entry.cross
            inner_weight = entry.weight
            if above < 0 or filled > max_visits:
                break
            if nothing_gained_above(
                cost_now if keeps_home else cost_now + graph.price,
                here.size,
                inner_weight,
                max(outside, 0.0),
                moved_size,
                entry.rise,
            ):
                break
            ancestor = above
    return filled


@inlined
def added_below(entry, moved_size, child_weight):
    """How much more a node costs when the subtree is put below a child that has this weight to it."""
    size, cross = entry.size, entry.cross
    return (size + moved_size) * (cross + entry.weight - child_weight) - size * cross


@inlined
def best_of_climb(state, work, n_marked, subtree, price):
    """The cheapest of the places that `mark_near` marked: (target, as_child, cost there, cost where it is).

    Walks the climb from its top. `above` of a node is what the subtree adds at its ancestors, from the top down, when
    it is put below the node; it only grows downwards, so what lies below a node that costs more than the best place
    is dropped.
    """
    nodes, scratch, path = state.nodes, work.nodes, work.path
    n_leaves, moved_size, home = state.numbers[1], nodes[subtree].size, nodes[subtree].parent
    gives_back = nodes[home].n_children == 2
    on_edges = gives_back or state.numbers[2] > 0
    best, best_as_child, best_cost, cost_now = -1, False, np.inf, np.inf
    for k in range(n_marked - 1, -1, -1):
        node = path[k]
        entry, parent = scratch[node], nodes[node].parent
        above, stands_for_home = 0.0, False
        if k < n_marked - 1:
            over = scratch[parent]
            if over.above == np.inf:
                continue  # not reached by the climb, or below a place that is too expensive
            above = over.above
            # home is gone: its other child takes its place, which was tried
            stands_for_home = gives_back and parent == home
            if not stands_for_home:
                above += added_below(over, moved_size, entry.weight)
        if cost_now < np.inf and above >= best_cost:
            continue
        entry.above = above
        is_home = node == home
        if on_edges and not stands_for_home:
            cost = above + (entry.size + moved_size) * entry.weight + price
            if is_home and gives_back:
                cost_now = cost
            if cost < best_cost:
                best, best_as_child, best_cost = node, False, cost
        if node < n_leaves or (is_home and gives_back):
            continue
        if is_home or not on_edges or price > 0.0:
            cost = above + added_below(entry, moved_size, 0.0)
            if is_home:
                cost_now = cost
            if cost < best_cost:
                best, best_as_child, best_cost = node, True, cost
    return best, best_as_child, best_cost, cost_now


@kernel(nogil=True, allocates=False)
def regraft_near(state, graph, work, subtrees, max_size, max_visits):
    """Move each of the given subtrees that is dirty to its best place. Returns (moves, gain)."""
    nodes, dirty = state.nodes, work.dirty
    n_moves, gained = 0, 0.0
    for moved in subtrees:
        if not dirty[moved] or nodes[moved].parent < 0 or nodes[moved].size > max_size:
            continue
        dirty[moved] = False
        n_marked = mark_near(nodes, graph, work, moved, max_visits)
        target, as_child, cost, cost_now = best_of_climb(state, work, n_marked, moved, graph.price)
        if is_better(cost, cost_now):
            move_subtree(state, graph, work, moved, target, as_child, work.path[n_marked - 1])
            n_moves += 1
            gained += cost_now - cost
    return n_moves, gained
