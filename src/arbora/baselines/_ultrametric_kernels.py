"""Single linkage of weighted edges as a forest with times, and the soft sizes of its nodes."""

from __future__ import annotations

import math

import numpy as np

from arbora._base.jit import inner, kernel

# a time after all merges: roots of the forest are linked to nothing
NEVER = 2**62


@inner
def _root(above, point):
    while above[point] != point:
        point = above[point]
    return point


@kernel()
def merge_in_order(i, j, order, n_points):
    """Merge the ends of edges in the given order.

    The smaller side is linked below the larger one, at the time of the merge, so that every way up is short.

    Returns above int64[n], linked_at int64[n], edge_of_merge, left and right int64[n_merges] (nodes: points, then
    merges), size int64[n_points + n_merges].
    """
    above = np.arange(n_points)
    linked_at = np.full(n_points, NEVER)
    node = np.arange(n_points)
    size = np.ones(2 * n_points, dtype=np.int64)
    edge = np.empty(max(n_points - 1, 0), dtype=np.int64)
    left = np.empty_like(edge)
    right = np.empty_like(edge)
    n_merges = 0
    for e in order:
        a, b = _root(above, i[e]), _root(above, j[e])
        if a == b:
            continue
        left[n_merges], right[n_merges] = node[a], node[b]
        merged = n_points + n_merges
        size[merged] = size[node[a]] + size[node[b]]
        if size[node[a]] < size[node[b]]:
            a, b = b, a
        above[b] = a
        linked_at[b] = n_merges
        node[a] = merged
        edge[n_merges] = e
        n_merges += 1
    return above, linked_at, edge[:n_merges], left[:n_merges], right[:n_merges], size[: n_points + n_merges]


@kernel()
def meeting_merges(above, linked_at, i, j):
    """Merge at which the points of each pair meet: int64[n_pairs]. They must be different and connected.

    Times grow on the way up, so the end that was linked earlier climbs until both are the same.
    """
    found = np.empty(i.shape[0], dtype=np.int64)
    for pair in range(i.shape[0]):
        a, b = i[pair], j[pair]
        last = -1
        while a != b:
            if linked_at[a] < linked_at[b]:
                last = linked_at[a]
                a = above[a]
            else:
                last = linked_at[b]
                b = above[b]
        found[pair] = last
    return found


@kernel()
def soft_sizes(i, j, height, left, right, size, slope):
    """Soft number of leaves below every merge: float64[n_merges].

    Of merge t with the edge (x, y): the mean over v = x, y of the sum over all points z of
    sigmoid(slope * (height[t] - u(v, z))), u the height at which v and z meet, 0 for v itself.
    """
    n_points = size.shape[0] - height.shape[0]
    parent, sibling = _family(left, right, n_points)
    soft = np.zeros(height.shape[0])
    for t in range(height.shape[0]):
        for start in (i[t], j[t]):
            total = 1.0 / (1.0 + math.exp(-slope * height[t]))
            node = start
            while parent[node] >= 0:
                gap = height[t] - height[parent[node] - n_points]
                total += size[sibling[node]] / (1.0 + math.exp(-slope * gap))
                node = parent[node]
            soft[t] += 0.5 * total
    return soft


@kernel()
def soft_sizes_gradient(weight, i, j, height, left, right, size, slope):
    """Gradient of sum(weight * soft_sizes) with respect to the heights: float64[n_merges]."""
    n_points = size.shape[0] - height.shape[0]
    parent, sibling = _family(left, right, n_points)
    gradient = np.zeros(height.shape[0])
    for t in range(height.shape[0]):
        if weight[t] == 0:
            continue
        for start in (i[t], j[t]):
            value = 1.0 / (1.0 + math.exp(-slope * height[t]))
            gradient[t] += 0.5 * weight[t] * slope * value * (1 - value)
            node = start
            while parent[node] >= 0:
                meet = parent[node] - n_points
                value = 1.0 / (1.0 + math.exp(-slope * (height[t] - height[meet])))
                step = 0.5 * weight[t] * slope * value * (1 - value) * size[sibling[node]]
                gradient[t] += step
                gradient[meet] -= step
                node = parent[node]
    return gradient


@inner
def _family(left, right, n_points):
    parent = np.full(n_points + left.shape[0], -1)
    sibling = np.full(n_points + left.shape[0], -1)
    for t in range(left.shape[0]):
        parent[left[t]] = parent[right[t]] = n_points + t
        sibling[left[t]], sibling[right[t]] = right[t], left[t]
    return parent, sibling
