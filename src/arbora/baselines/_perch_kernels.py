"""PERCH's tree while it grows: boxes around the points below each node, nearest leaf, insertion, rotations."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from arbora._base.jit import inner, kernel
from arbora.tree.edit_kernels import pop, push

# the distance to up to this many points is exact; for more of them it is that to their box
FEW = 10


class Growing(NamedTuple):
    """Arrays of a growing binary tree: points are nodes 0..n-1, internal nodes come after them."""

    points: np.ndarray  # float64[n, d]
    parent: np.ndarray  # int64[2n - 1], -1 for the root
    children: np.ndarray  # int64[2n - 1, 2], -1 for points
    size: np.ndarray  # int64[2n - 1]
    low: np.ndarray  # float64[2n - 1, d]
    high: np.ndarray  # float64[2n - 1, d]


@kernel(nogil=True)
def grow(points, order, rotate_for_balance):
    """Insert the points in the given order; returns parents: int64[2n - 1]."""
    n, d = points.shape
    tree = Growing(
        points,
        np.full(2 * n - 1, -1),
        np.full((2 * n - 1, 2), -1),
        np.ones(2 * n - 1, dtype=np.int64),
        np.empty((2 * n - 1, d)),
        np.empty((2 * n - 1, d)),
    )
    for point in range(n):
        for f in range(d):
            tree.low[point, f] = tree.high[point, f] = points[point, f]
    key, queue = np.empty(2 * n), np.empty(2 * n, dtype=np.int64)
    root = order[0]
    for k in range(1, n):
        new = order[k]
        beside = _nearest_leaf(tree, root, new, key, queue)
        inserted = n + k - 1
        _split(tree, beside, new, inserted)
        if beside == root:
            root = inserted
        _rotate_masked(tree, beside, root)
        if rotate_for_balance:
            _rotate_unbalanced(tree, _sibling(tree, new), root)
    return tree.parent


# ---- nearest leaf --------------------------------------------------------------------------------------------


@inner
def _nearest_leaf(tree, root, new, key, queue):
    """Best first by the distance to the boxes, which never exceeds that to a point inside: exact."""
    key[0], queue[0] = 0.0, root
    n_queued = np.int64(1)
    while True:
        _, node, n_queued = pop(key, queue, n_queued)
        if tree.children[node, 0] < 0:
            return node
        for side in range(2):
            child = tree.children[node, side]
            distance = _square_to_box(tree, tree.points[new], child, False)
            key, queue, n_queued = push(key, queue, n_queued, distance, child)


# ---- changes -------------------------------------------------------------------------------------------------


@inner
def _sibling(tree, node):
    family = tree.children[tree.parent[node]]
    return family[1] if family[0] == node else family[0]


@inner
def _replace_child(tree, above, old, new):
    side = 0 if tree.children[above, 0] == old else 1
    tree.children[above, side] = new
    tree.parent[new] = above


@inner
def _update(tree, node):
    """Size and box of a node from its children."""
    a, b = tree.children[node]
    tree.size[node] = tree.size[a] + tree.size[b]
    for c in range(tree.points.shape[1]):
        tree.low[node, c] = min(tree.low[a, c], tree.low[b, c])
        tree.high[node, c] = max(tree.high[a, c], tree.high[b, c])


@inner
def _split(tree, beside, new, inserted):
    """Put a new point beside a leaf, below an internal node of their own."""
    above = tree.parent[beside]
    if above >= 0:
        _replace_child(tree, above, beside, inserted)
    tree.children[inserted, 0], tree.children[inserted, 1] = beside, new
    tree.parent[beside] = tree.parent[new] = inserted
    node = inserted
    while node >= 0:
        _update(tree, node)
        node = tree.parent[node]


@inner
def _rotate(tree, node):
    """Exchange the sibling of a node with its aunt."""
    above = tree.parent[node]
    sibling, aunt, top = _sibling(tree, node), _sibling(tree, above), tree.parent[above]
    _replace_child(tree, above, sibling, aunt)
    _replace_child(tree, top, aunt, sibling)
    _update(tree, above)


@inner
def _rotate_masked(tree, node, root):
    """From a leaf upwards: a node nearer to all of its aunt than to any part of its sibling moves to the aunt."""
    while node != root:
        above = tree.parent[node]
        if above != root and _is_masked(tree, node):
            _rotate(tree, node)
        elif tree.children[node, 0] >= 0:
            return
        node = tree.parent[node]


@inner
def _is_masked(tree, node):
    aunt = _sibling(tree, tree.parent[node])
    return _square_between(tree, node, aunt, True) < _square_between(tree, node, _sibling(tree, node), False)


@inner
def _rotate_unbalanced(tree, node, root):
    """From a leaf upwards: rotate where that evens out sizes and no node leaves what it is certainly nearest to."""
    while node != root:
        if tree.parent[node] == root:
            return
        sibling = _sibling(tree, node)
        first, second = (sibling, node) if tree.size[sibling] <= tree.size[node] else (node, sibling)
        if _can_rotate_for_balance(tree, first):
            _rotate(tree, first)
            node = tree.parent[first]
        elif _can_rotate_for_balance(tree, second):
            _rotate(tree, second)
            node = tree.parent[second]
        else:
            node = tree.parent[node]


@inner
def _can_rotate_for_balance(tree, node):
    sibling, above = _sibling(tree, node), tree.parent[node]
    aunt = _sibling(tree, above)
    s, t, a = tree.size[node], tree.size[sibling], tree.size[aunt]
    now = min(s, t) / max(s, t) + min(a, s + t) / max(a, s + t)
    then = min(s, a) / max(s, a) + min(t, s + a) / max(t, s + a)
    if then <= now:
        return False
    return _square_between(tree, node, sibling, True) > _square_between(tree, node, aunt, False)


# ---- distances between nodes ---------------------------------------------------------------------------------


@inner
def _square_between(tree, a, b, is_largest):
    """Squared smallest or largest distance between two nodes, as the authors estimate it.

    The two extreme corners of one node's box stand for its points; of both ways round, the tighter estimate counts.
    """
    first, second = _square_from_corners(tree, a, b, is_largest), _square_from_corners(tree, b, a, is_largest)
    return min(first, second) if is_largest else max(first, second)


@inner
def _square_from_corners(tree, a, b, is_largest):
    from_low = _square_to_node(tree, tree.low[a], b, is_largest)
    from_high = _square_to_node(tree, tree.high[a], b, is_largest)
    return max(from_low, from_high) if is_largest else min(from_low, from_high)


@inner
def _square_to_node(tree, place, node, is_largest):
    """Squared smallest or largest distance from a place to a node's points, or to their box if they are many."""
    if tree.size[node] > FEW:
        return _square_to_box(tree, place, node, is_largest)
    found = 0.0 if is_largest else math.inf
    todo = np.empty(FEW + 1, dtype=np.int64)
    todo[0] = node
    n_todo = 1
    while n_todo:
        n_todo -= 1
        one = todo[n_todo]
        if tree.children[one, 0] < 0:
            total = _square_to_box(tree, place, one, is_largest)
            found = max(found, total) if is_largest else min(found, total)
        else:
            todo[n_todo], todo[n_todo + 1] = tree.children[one]
            n_todo += 2
    return found


@inner
def _square_to_box(tree, place, node, is_largest):
    total = 0.0
    for c in range(place.shape[0]):
        below, above = tree.low[node, c] - place[c], place[c] - tree.high[node, c]
        gap = max(-below, -above) if is_largest else max(below, above, 0.0)
        total += gap * gap
    return total
