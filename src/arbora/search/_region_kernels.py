"""Prune and regraft inside regions of a large binary tree, by Dasgupta's cost on a graph without self-loops.

A region is a subtree. What happens inside changes neither sizes nor cross weights above it, and a neighbor outside is
met above it wherever a subtree goes inside: so threads work on different regions of the same arrays, and find what
one thread would. Where a subtree goes is found in `arbora.search._place_kernels`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arbora._base.jit import inlined, kernel
from arbora.search._place_kernels import NO_NODE, find_place, list_leaves

# leaves of a moved subtree whose neighbors are noted
NOTED_LEAVES = 64


class Flags(NamedTuple):
    """What is still to be done, one value per node."""

    # its surroundings changed since it was last tried
    dirty: NDArray[np.bool_]
    # a place outside its region may be better
    pending: NDArray[np.bool_]
    # leaves outside the region that have a neighbor which moved; only ever set
    later: NDArray[np.bool_]


class Reach(NamedTuple):
    """Which subtrees are moved, of more than `min_size` up to `max_size`, and how many nodes are visited for one."""

    min_size: float = 0.0
    max_size: float = np.inf
    max_visits: int = 2**62
    # nodes between a subtree's neighbors and its ancestors; where there are more, not all are visited
    max_walked: int = 1000


@kernel()
def fill_nodes(nodes, parent, number, size, cross):
    """Link the nodes of a binary tree, children before parents, under their new numbers; sizes are those of leaves."""
    for old in range(parent.shape[0]):
        node = nodes[number[old]]
        node.parent = node.left = node.right = NO_NODE
        node.size, node.cross = size[old], cross[old]
    for old in range(parent.shape[0] - 1):
        here, above = np.int32(number[old]), np.int32(number[parent[old]])
        nodes[here].parent = above
        nodes[above].size += nodes[here].size
        if nodes[above].left < 0:
            nodes[above].left = here
        else:
            nodes[above].right = here


@inlined
def hang(nodes, above, old, new):
    """Put `new` in the place of `old` below a node, which may be NO_NODE."""
    nodes[new].parent = above
    if above >= 0:
        if nodes[above].left == old:
            nodes[above].left = new
        else:
            nodes[above].right = new


@inlined
def regraft(nodes, moved, place, meeting, numbers):
    """Move a subtree with the node above it to the edge above `place`.

    Returns its former sibling, and the lowest node that is above both places now.
    """
    moved_size = nodes[moved].size
    home = nodes[moved].parent
    sibling = nodes[home].right if nodes[home].left == moved else nodes[home].left
    above, inner_weight = nodes[home].parent, nodes[home].weight
    node = np.int64(home)
    while node != meeting:
        node = np.int64(nodes[node].parent)
        nodes[node].cross -= nodes[node].weight - inner_weight
        nodes[node].size -= moved_size
        inner_weight = nodes[node].weight
    hang(nodes, above, home, sibling)
    if numbers[1] == home:
        numbers[1] = sibling
    # home stands for the sibling while it has no place of its own
    if place == home:
        place = sibling
    target = nodes[place]
    joined_size, joined_weight = target.size, target.weight
    meeting = np.int64(sibling) if meeting == home else meeting
    node = np.int64(place)
    inner_weight = joined_weight
    while node != meeting:
        node = np.int64(nodes[node].parent)
        nodes[node].cross += nodes[node].weight - inner_weight
        nodes[node].size += moved_size
        inner_weight = nodes[node].weight
    hang(nodes, target.parent, place, home)
    if numbers[1] == place:
        numbers[1] = home
    nodes[home].left, nodes[home].right = place, moved
    nodes[home].size, nodes[home].cross = joined_size + moved_size, joined_weight
    nodes[home].rise = target.rise
    target.parent = home
    return np.int64(sibling), np.int64(home) if meeting == place else meeting


@inlined
def note_change(nodes, dirty, start, last):
    """Mark the nodes from one up to another, and their children, as to be tried again."""
    node = np.int64(start)
    while True:
        dirty[node] = True
        if nodes[node].left >= 0:
            dirty[nodes[node].left] = True
            dirty[nodes[node].right] = True
        if node == last or nodes[node].parent < 0:
            break
        node = np.int64(nodes[node].parent)


@inlined
def note_neighbors(nodes, edges, flags, leaves, n_listed, low, high):
    """Mark the neighbors of leaves that moved: they meet them elsewhere now."""
    for k in range(min(n_listed, NOTED_LEAVES)):
        for e in range(edges.indptr[leaves[k]], edges.indptr[leaves[k] + 1]):
            other = edges.indices[e]
            if low <= other < high:
                flags.dirty[other] = True
                flags.dirty[nodes[other].parent] = True
            else:
                flags.later[other] = True


@kernel(nogil=True, allocates=False)
def sweep_region(nodes, edges, flags, heap, numbers, candidates, low, high, reach):
    """Move those candidates that are dirty or pending to their best places in the region of leaves low .. high-1.

    `numbers` are the clock and the node at the top of the region. Returns the number of moves.
    """
    n_moves = 0
    for moved in candidates:
        size = nodes[moved].size
        if moved == numbers[1] or size <= reach.min_size or size > reach.max_size:
            continue
        if not (flags.dirty[moved] or flags.pending[moved]):
            continue
        numbers[0] += 1
        place, meeting, is_certain = find_place(
            nodes, edges, heap, moved, low, high, np.int32(numbers[0]), numbers[1], reach
        )
        flags.dirty[moved] = False
        flags.pending[moved] = not is_certain
        if place == NO_NODE:
            continue
        sibling, last = regraft(nodes, moved, place, meeting, numbers)
        note_change(nodes, flags.dirty, np.int64(nodes[moved].parent), last)
        note_change(nodes, flags.dirty, sibling, last)
        n_listed = list_leaves(nodes, moved, heap.leaves)
        note_neighbors(nodes, edges, flags, heap.leaves, n_listed, low, high)
        n_moves += 1
    return n_moves


@inlined
def slope_of(gathered, growth):
    """Similarity per added leaf; infinite where the sizes are too far apart to show any growth."""
    if growth > 0.0:
        return gathered / growth
    return np.inf if gathered > 0.0 else 0.0


@kernel(nogil=True, allocates=False)
def set_rise(nodes, top, small, gathered, corner, stack, tops):
    """Set the most similarity per added leaf that is gathered by going up some way, for each node below `top`.

    Those of `top` are set already. Where a subtree's size is at most `small`, only its own is set, and it is listed in
    `tops`. Returns how many are.

    With g(v) the cross weights summed over v's strict ancestors, this is the largest slope
    (g(v) - g(u)) / (size(u) - size(v)) over ancestors u. `corner` remembers the best u, so that the next search walks
    along the concave hull of the path above instead of the path itself.
    """
    stack[0] = top
    n_open, n_tops = 1, 0
    while n_open > 0:
        n_open -= 1
        node = np.int64(stack[n_open])
        if nodes[node].left < 0:
            continue
        for child in (np.int64(nodes[node].left), np.int64(nodes[node].right)):
            gathered[child] = gathered[node] + nodes[node].cross
            best, size = node, nodes[child].size
            slope = slope_of(nodes[node].cross, nodes[node].size - size)
            while corner[best] != best:
                further = np.int64(corner[best])
                other = slope_of(gathered[child] - gathered[further], nodes[further].size - size)
                if other < slope:
                    break
                best, slope = further, other
            corner[child], nodes[child].rise = best, slope
            if size <= small:
                tops[n_tops] = child
                n_tops += 1
            else:
                stack[n_open] = child
                n_open += 1
    return n_tops
