"""Numbers of internal nodes by which nodes that are visited one after the other lie side by side in memory.

Nodes get their numbers as they come, so each level of a large tree lies elsewhere, and most of the time of a descent
goes into waiting for it. Most steps of a descent go to a last child, which insertion keeps the largest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arbora._base.jit import inlined, kernel
from arbora.search._bound_kernels import copy_row


class Known(NamedTuple):
    """All that is stored of each node."""

    nodes: np.ndarray
    bounds: np.ndarray
    sums: np.ndarray
    dirty: np.ndarray


@inlined
def follow_last_children(nodes, n_leaves, root, order, heads):
    """Set `order` to the internal nodes, counted from the first one; returns how many there are.

    Children come side by side, and after them those of the last one. Subtrees left aside follow, the last one first.
    """
    order[0], heads[0] = root - n_leaves, root
    n_ordered, n_heads = 1, 1
    while n_heads > 0:
        n_heads -= 1
        node = heads[n_heads]
        while node >= n_leaves:
            child, last = nodes[node].first, -1
            while child >= 0:
                if child >= n_leaves:
                    order[n_ordered] = child - n_leaves
                    n_ordered += 1
                    if nodes[child].after >= 0:
                        heads[n_heads] = child
                        n_heads += 1
                last = child
                child = nodes[child].after
            node = last
    return n_ordered


@inlined
def renumber_links(state, place):
    """Let all links point to where nodes will be: `place` of an internal node, counted from the first one."""
    n_leaves = state.numbers[1]
    for node in range(state.nodes.shape[0]):
        here = state.nodes[node]
        if here.parent >= n_leaves:
            here.parent = n_leaves + place[here.parent - n_leaves]
        if here.first >= n_leaves:
            here.first = n_leaves + place[here.first - n_leaves]
        if here.after >= n_leaves:
            here.after = n_leaves + place[here.after - n_leaves]
        if here.before >= n_leaves:
            here.before = n_leaves + place[here.before - n_leaves]


@inlined
def copy_node(into, at, source, node):
    """Write all that is known of a node over another one."""
    into.nodes[at] = source.nodes[node]
    into.bounds[at] = source.bounds[node]
    into.dirty[at] = source.dirty[node]
    copy_row(into.sums[at], source.sums[node])


@inlined
def put_in_order(known, spare, order, n_leaves):
    """Let internal node k be what ``order[k]`` was, cycle by cycle, so that one spare node is room enough."""
    for start in range(order.shape[0]):
        if order[start] == start:
            continue
        copy_node(spare, 0, known, n_leaves + start)
        at = start
        while order[at] != start:
            source = order[at]
            copy_node(known, n_leaves + at, known, n_leaves + source)
            order[at] = at
            at = source
        copy_node(known, n_leaves + at, spare, 0)
        order[at] = at


@kernel(nogil=True, allocates=False)
def number_by_visits(state, known, spare, order, place, root):
    """Renumber the internal nodes in the order in which descents visit them, and note the new number of the root.

    `order` and `place` are scratch, as long as there are internal nodes. Nothing interrupts the call.
    """
    n_leaves = state.numbers[1]
    if root[0] < n_leaves:
        return
    n_used = follow_last_children(state.nodes, n_leaves, root[0], order, place)
    n_free = order.shape[0] - n_used
    for k in range(n_free):
        order[n_used + k] = state.free[k] - n_leaves
    for k in range(order.shape[0]):
        place[order[k]] = k
    renumber_links(state, place)
    put_in_order(known, spare, order, n_leaves)
    # the lowest on top
    for k in range(n_free):
        state.free[k] = state.nodes.shape[0] - 1 - k
    root[0] = n_leaves
