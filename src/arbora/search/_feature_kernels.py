"""Prune-and-regraft for inner-product features, under Dasgupta's cost.

A branch is not entered when the least that any place in it can cost (`_bound_kernels.least_cost`) is no better than the
best place known, and branches are entered by that least: none that a better place could have spared.
"""

from __future__ import annotations

import numpy as np

from arbora._base.jit import inlined, kernel
from arbora.search._bound_kernels import add_upwards, copy_row, least_cost, product, update_gaps
from arbora.search._graph_kernels import RELATIVE_GAIN, mark_dirty, sibling_of
from arbora.search._open_kernels import forget_places, next_place, note_place, open_place
from arbora.search._state import NO_NODE, attach, detach


@inlined
def take_out_on_paper(state, features, work, subtree):
    """Mark the ancestors of a subtree with their weights, sizes and crosses as they are without it.

    Sizes and crosses of unmarked nodes are the stored ones: nothing else changes when the subtree leaves.
    """
    work.clock[0] += 1
    row = features.sums[subtree]
    own, moved_size = product(row, row), state.nodes[subtree].size
    inner_weight = 0.0
    node = state.nodes[subtree].parent
    while node >= 0:
        weight = product(row, features.sums[node]) - own
        work.nodes[node].mark = work.clock[0]
        work.nodes[node].weight = weight
        work.nodes[node].size = state.nodes[node].size - moved_size
        work.nodes[node].cross = state.nodes[node].cross - (weight - inner_weight)
        inner_weight = weight
        node = state.nodes[node].parent


@inlined
def descend(state, features, work, stack, row, moved_size, home, gives_back, on_edges, root, known_cost):
    """Best place for a row of this size: (target, as_child, cost), cutting branches that cost `known_cost` or more.

    `home`, when the subtree's parent is to be given back, is skipped: its other child stands in its place.
    """
    best, best_as_child, best_cost = -1, False, known_cost
    root_is_marked = work.nodes[root].mark == work.clock[0]
    root_weight = work.nodes[root].weight if root_is_marked else product(row, features.sums[root])
    forget_places(stack)
    open_place(stack, note_place(stack, root, -1, 0.0, 0.0, root_weight))
    while stack.counts[1] > 0:
        entry = next_place(stack, NO_NODE)
        node, above, weight = stack.node[entry], stack.above[entry], stack.weight[entry]
        # all others cost at least as much
        if stack.least[entry] >= best_cost:
            break
        marked = work.nodes[node].mark == work.clock[0]
        size = work.nodes[node].size if marked else state.nodes[node].size
        cross = work.nodes[node].cross if marked else state.nodes[node].cross
        if on_edges and not (gives_back and node == home):
            cost = above + (size + moved_size) * weight + features.price
            if cost < best_cost:
                best, best_as_child, best_cost = node, False, cost
        if node < state.numbers[1]:
            continue
        is_gone = gives_back and node == home
        if not on_edges or (features.price > 0.0 and not is_gone):
            cost = above + moved_size * cross + (size + moved_size) * weight
            if cost < best_cost:
                best, best_as_child, best_cost = node, True, cost
        child = state.nodes[node].first
        while child >= 0:
            if work.nodes[child].inside != work.clock[0]:
                child_marked = work.nodes[child].mark == work.clock[0]
                child_weight = (
                    work.nodes[child].weight if child_marked else product(row, features.sums[child])
                )
                child_above = above
                if not is_gone:
                    child_above += moved_size * cross + (size + moved_size) * (weight - child_weight)
                least = child_above + least_cost(
                    work.nodes[child].size if child_marked else state.nodes[child].size,
                    work.nodes[child].cross if child_marked else state.nodes[child].cross,
                    np.inf if child_marked else features.bounds[child].gap,
                    child_weight,
                    moved_size,
                    features.steepness,
                )
                if least < best_cost:
                    open_place(stack, note_place(stack, child, entry, child_above, least, child_weight))
            child = state.nodes[child].after
    return best, best_as_child, best_cost


@inlined
def cost_where_it_is(state, work, subtree, gives_back):
    """Cost of a subtree at its present place, from the marked ancestors."""
    moved_size = state.nodes[subtree].size
    home = state.nodes[subtree].parent
    cost = (work.nodes[home].size + moved_size) * work.nodes[home].weight
    if not gives_back:
        cost += moved_size * work.nodes[home].cross
    inner_weight = work.nodes[home].weight
    node = state.nodes[home].parent
    while node >= 0:
        cost += moved_size * work.nodes[node].cross + (work.nodes[node].size + moved_size) * (
            work.nodes[node].weight - inner_weight
        )
        inner_weight = work.nodes[node].weight
        node = state.nodes[node].parent
    return cost


@inlined
def weigh_path(state, features, work, row, node):
    """Set the weights of the unmarked nodes from one upwards."""
    while node >= 0:
        if work.nodes[node].mark != work.clock[0]:
            work.nodes[node].mark = work.clock[0]
            work.nodes[node].weight = product(row, features.sums[node])
        node = state.nodes[node].parent


@kernel()
def find_root(state, node):
    """The root, from any node in the tree."""
    while state.nodes[node].parent >= 0:
        node = state.nodes[node].parent
    return node


@kernel(nogil=True)
def regraft(state, features, work, stack, subtrees, max_size):
    """Move each of the given subtrees that is dirty to its best place. Returns (moves, gain)."""
    n_moves, gained = 0, 0.0
    for subtree in subtrees:
        if not work.dirty[subtree] or state.nodes[subtree].parent < 0 or state.nodes[subtree].size > max_size:
            continue
        work.dirty[subtree] = False
        home = state.nodes[subtree].parent
        gives_back = state.nodes[home].n_children == 2
        take_out_on_paper(state, features, work, subtree)
        work.nodes[subtree].inside = work.clock[0]
        cost_now = cost_where_it_is(state, work, subtree, gives_back)
        if gives_back:
            cost_now += features.price
        row, moved_size = features.sums[subtree].copy(), state.nodes[subtree].size
        on_edges = gives_back or state.numbers[2] > 0
        bar = cost_now - RELATIVE_GAIN * abs(cost_now)
        target, as_child, cost = descend(
            state,
            features,
            work,
            stack,
            row,
            moved_size,
            home,
            gives_back,
            on_edges,
            find_root(state, home),
            bar,
        )
        if target < 0:
            continue
        sibling = sibling_of(state.nodes, subtree) if gives_back else home
        weigh_path(state, features, work, row, target)
        add_upwards(state, features, home, row, -1.0)
        detach(state, subtree, work.nodes, -1)
        joint = attach(state, subtree, target, as_child, work.nodes, -1)
        if not as_child:
            copy_row(features.sums[joint], features.sums[target])
        add_upwards(state, features, joint, row, 1.0)
        update_gaps(state, features, state.nodes[sibling].parent if gives_back else home)
        update_gaps(state, features, joint)
        mark_dirty(state.nodes, work, sibling, joint, -1)
        n_moves += 1
        gained += cost_now - cost
    return n_moves, gained


@kernel(nogil=True)
def regraft_online(state, features, work, stack, root, subtrees, leaf):
    """Move the dirty ones of the subtrees to their best places; returns the number of moves. `leaf` is any leaf."""
    n_moves = regraft(state, features, work, stack, subtrees, np.inf)[0]
    root[0] = find_root(state, leaf)
    return n_moves
