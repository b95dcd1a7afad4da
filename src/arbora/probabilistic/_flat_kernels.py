"""The best cut of a binary tree into a given number of clusters, by dynamic programming."""

from __future__ import annotations

import numpy as np

from arbora._base.jit import kernel
from arbora.probabilistic._tree_kernels import xlogy_ratio


@kernel()
def child_towards(parent, node, ancestor):
    """Child of ``ancestor[e]`` on the way down to ``node[e]``."""
    out = node.copy()
    for e in range(out.shape[0]):
        while parent[out[e]] != ancestor[e]:
            out[e] = parent[out[e]]
    return out


@kernel()
def children_and_sizes(parent, n_leaves):
    """Two children of every node of a binary tree (-1 for leaves), and the number of leaves below."""
    size = np.zeros(parent.shape[0], dtype=np.int64)
    child = np.full((parent.shape[0], 2), -1, dtype=np.int64)
    for node in range(parent.shape[0]):
        size[node] += node < n_leaves
        above = parent[node]
        if above >= 0:
            size[above] += size[node]
            child[above, 1 if child[above, 0] >= 0 else 0] = node
    return child, size


@kernel()
def best_cut(parent, n_leaves, p_meet, q_meet, p_below, q_below, n_clusters, smallest):
    """Node that stands for each leaf's cluster (-1: left out), in the best cut into exactly n_clusters.

    Clusters have at least `smallest` leaves; all -1 if there is no such cut.

    ``best[v, j]`` is the divergence below v with j clusters: v is one cluster; or its children share them, and
    what meets at v stands for itself; or one child has them all, and the other is lumped with what meets at v.
    """
    n_nodes = parent.shape[0]
    child, size = children_and_sizes(parent, n_leaves)
    best = np.full((n_nodes, n_clusters + 1), -np.inf)
    share = np.zeros((n_nodes, n_clusters + 1), dtype=np.int64)
    for node in range(n_nodes):
        if size[node] >= smallest:
            best[node, 1] = xlogy_ratio(p_below[node], q_below[node])
        if node < n_leaves:
            continue
        left, right = child[node]
        here = xlogy_ratio(p_meet[node], q_meet[node])
        for a in range(1, min(size[left], n_clusters - 1) + 1):
            for b in range(1, min(size[right], n_clusters - a) + 1):
                value = here + best[left, a] + best[right, b]
                if value > best[node, a + b]:
                    best[node, a + b] = value
                    share[node, a + b] = a
        for side in range(2):
            kept, dropped = child[node, side], child[node, 1 - side]
            lump = xlogy_ratio(p_meet[node] + p_below[dropped], q_meet[node] + q_below[dropped])
            for j in range(2, min(size[kept], n_clusters) + 1):
                if lump + best[kept, j] > best[node, j]:
                    best[node, j] = lump + best[kept, j]
                    share[node, j] = -1 - side
    wanted = np.zeros(n_nodes, dtype=np.int64)
    cluster = np.full(n_nodes, -1, dtype=np.int64)
    if best[n_nodes - 1, n_clusters] == -np.inf:
        return cluster[:n_leaves]
    wanted[n_nodes - 1] = n_clusters
    for node in range(n_nodes - 1, -1, -1):
        if node < n_nodes - 1 and cluster[parent[node]] >= 0:
            cluster[node] = cluster[parent[node]]
        elif wanted[node] == 1:
            cluster[node] = node
        elif wanted[node] > 1:
            a = share[node, wanted[node]]
            if a < 0:
                wanted[child[node, -1 - a]] = wanted[node]
            else:
                wanted[child[node, 0]] = a
                wanted[child[node, 1]] = wanted[node] - a
    return cluster[:n_leaves]
