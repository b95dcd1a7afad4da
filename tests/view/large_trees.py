"""Trees of any size in a moment: joins of neighbors along a line, in random order."""

from __future__ import annotations

import numpy as np
from numba import njit

from arbora import Tree


@njit(cache=True)
def _join_neighbors(order, n):
    parent = np.full(2 * n - 1, -1, np.int64)
    node_at_left, node_at_right = np.arange(n), np.arange(n)
    first, last = np.arange(2 * n - 1), np.arange(2 * n - 1)
    for step in range(n - 1):
        gap = order[step]
        a, b = node_at_right[gap], node_at_left[gap + 1]
        made = n + step
        parent[a] = made
        parent[b] = made
        first[made], last[made] = first[a], last[b]
        node_at_left[first[made]] = made
        node_at_right[last[made]] = made
    return parent


def line_tree(n_leaves, seed=0):
    """A random binary tree over 0..n-1 whose subtrees are runs of numbers, with growing heights."""
    rng = np.random.default_rng(seed)
    parent = _join_neighbors(rng.permutation(n_leaves - 1), n_leaves)
    height = np.concatenate([np.zeros(n_leaves), np.sort(rng.random(n_leaves - 1)) ** 3 + 1e-3])
    return Tree(parent, n_leaves, height=height)
