"""Loops of the metrics: plain arrays in, arrays or numbers out."""

from __future__ import annotations

import numpy as np
from numba import njit, prange


@njit(cache=True)
def independent_meeting(parent, leaf_law):
    """Law of the LCA of two leaves drawn independently: float64[n_internal]; one leaf twice meets at its parent.

    Siblings are added one after the other, 2 * mass * (mass of those before): every term is positive, so
    nothing cancels as it would in mass(v)^2 minus the squares of the children.
    """
    n_leaves = leaf_law.shape[0]
    mass = np.zeros(parent.shape[0])
    mass[:n_leaves] = leaf_law
    meeting = np.zeros(parent.shape[0] - n_leaves)
    for node in range(parent.shape[0] - 1):  # children come before parents: mass[node] is complete
        above = parent[node]
        meeting[above - n_leaves] += 2 * mass[node] * mass[above]
        if node < n_leaves:
            meeting[above - n_leaves] += mass[node] * mass[node]
        mass[above] += mass[node]
    return meeting


@njit(cache=True)
def purity_of_pairs(class_offsets, leaf, count, joined, n_points_below):
    """Sum, over the pairs of points of one class, of that class's share below their LCA.

    Items (class, leaf) come class by class in leaf order, `count` points each; `joined[k]` is the LCA of the
    leaves of items k and k+1. A stack holds the open LCAs of the class, lowest on top: the virtual tree of its
    leaves is walked without being built. O(number of items).
    """
    node = np.empty(leaf.shape[0] + 1, dtype=np.int64)
    gathered = np.empty(leaf.shape[0] + 1, dtype=np.int64)
    pairs = np.empty(leaf.shape[0] + 1, dtype=np.int64)
    total = 0.0
    for k in range(class_offsets.shape[0] - 1):
        top = -1
        for item in range(class_offsets[k], class_offsets[k + 1]):
            points = count[item]
            total += (points * (points - 1) // 2) * (
                points / n_points_below[leaf[item]]
            )  # LCA: the leaf itself
            is_last = item + 1 == class_offsets[k + 1]
            while top >= 0 and (is_last or node[top] < joined[item]):  # close what lies below the next LCA
                pairs[top] += gathered[top] * points
                gathered[top] += points
                points = gathered[top]
                total += pairs[top] * (points / n_points_below[node[top]])
                top -= 1
            if is_last:
                break
            if top >= 0 and node[top] == joined[item]:
                pairs[top] += gathered[top] * points
                gathered[top] += points
            else:
                top += 1
                node[top], gathered[top], pairs[top] = joined[item], points, 0
    return total


@njit(cache=True, parallel=True)
def log_distance_of_pairs(class_end, leaf, count, joined, depth, log_distance):
    """Per item, the sum over later items of its class of count * count * log_distance[edges between the leaves].

    Items as in `purity_of_pairs`; class_end[k] is where the class of item k ends. Walking right, the LCA is a
    running maximum of `joined`. O(pairs of items of one class).
    """
    per_item = np.zeros(leaf.shape[0])
    for a in prange(leaf.shape[0]):
        above = np.int64(-1)
        total = 0.0
        for b in range(a + 1, class_end[a]):
            above = max(above, joined[b - 1])
            edges = depth[leaf[a]] + depth[leaf[b]] - 2 * depth[above]
            total += count[b] * log_distance[edges]
        per_item[a] = count[a] * total
    return per_item
