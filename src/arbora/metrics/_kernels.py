"""Loops of the metrics: plain arrays in, arrays or numbers out."""

from __future__ import annotations

import numpy as np
from numba import prange

from arbora._base.jit import kernel


@kernel()
def purity_of_pairs(class_offsets, leaf, count, joined, n_points_below):
    """Sum, over the pairs of points of one class, of that class's share below their LCA.

    Items (class, leaf) come class by class in leaf order, `count` points each; `joined[k]` is the LCA of the
    leaves of items k and k+1. A stack holds the open LCAs of the class, lowest on top: the virtual tree of
    its leaves is walked without being built. O(number of items).
    """
    node = np.empty(leaf.shape[0] + 1, dtype=np.int64)
    gathered = np.empty(leaf.shape[0] + 1, dtype=np.int64)
    pairs = np.empty(leaf.shape[0] + 1, dtype=np.int64)
    total = 0.0
    for k in range(class_offsets.shape[0] - 1):
        top = -1
        for item in range(class_offsets[k], class_offsets[k + 1]):
            points = count[item]
            # pairs inside one leaf: their LCA is the leaf itself
            total += (points * (points - 1) // 2) * (points / n_points_below[leaf[item]])
            is_last = item + 1 == class_offsets[k + 1]
            # close what lies below the next LCA
            while top >= 0 and (is_last or node[top] < joined[item]):
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


@kernel()
def log_distance_of_pairs(first, last, class_end, leaf, count, joined, depth, log_distance, total):
    """Sum over pairs of items of one class of count * count * log_distance[edges between their leaves].

    Adds the pairs whose earlier item is among first .. last-1 to a `total`.

    Items as in `purity_of_pairs`; class_end[k] is where the class of item k ends. Walking right, the LCA is a
    running maximum of `joined`. O(pairs of items of one class).
    """
    for a in range(first, last):
        above = np.int64(-1)
        to_later = 0.0
        for b in range(a + 1, class_end[a]):
            above = max(above, joined[b - 1])
            edges = depth[leaf[a]] + depth[leaf[b]] - 2 * depth[above]
            to_later += count[b] * log_distance[edges]
        total += count[a] * to_later
    return total


# Sums may be reordered (what lets them vectorize); NaN and infinity are refused before a kernel is called.
_REORDER = {"reassoc", "nsz", "nnan", "ninf"}

# Rows i that share one pass over a row j, so that memory is not what limits the speed.
ROWS_AT_ONCE = 4


@kernel(parallel=True, fastmath=_REORDER)
def minimum_of_triples(matrix, first_task, last_task):
    """Sum over triples i < j < k of the smallest of matrix[i, j], matrix[i, k], matrix[j, k]. O(n^3).

    In parts, so that a caller can be interrupted: the tasks 0 to n / ROWS_AT_ONCE (rounded up) make up all of it.
    """
    n = matrix.shape[0]
    n_blocks = (n + ROWS_AT_ONCE - 1) // ROWS_AT_ONCE
    per_block = np.zeros(n_blocks)
    for task in prange(first_task, last_task):
        # Early blocks have the most triples: pair a long one with a short one to keep threads equally busy.
        block = task // 2 if task % 2 == 0 else n_blocks - 1 - task // 2
        first = block * ROWS_AT_ONCE
        total = 0.0
        # triples with two members in the block
        for i in range(first, min(first + ROWS_AT_ONCE, n)):
            for j in range(i + 1, min(first + ROWS_AT_ONCE, n)):
                total += _minimum_of_rows(matrix[i, j], matrix[i, j + 1 :], matrix[j, j + 1 :])
        if first + ROWS_AT_ONCE <= n:
            a, b, c, d = matrix[first], matrix[first + 1], matrix[first + 2], matrix[first + 3]
            for j in range(first + ROWS_AT_ONCE, n):
                rest = slice(j + 1, n)
                total += _minimum_with_four_rows(
                    matrix[j, rest], a[rest], b[rest], c[rest], d[rest], a[j], b[j], c[j], d[j]
                )
        per_block[block] = total
    return per_block.sum()


@kernel(fastmath=_REORDER)
def _minimum_of_rows(w, left, right):
    total = 0.0
    for k in range(left.shape[0]):
        total += min(w, min(left[k], right[k]))
    return total


@kernel(fastmath=_REORDER)
def _minimum_with_four_rows(row, a, b, c, d, aj, bj, cj, dj):
    total = 0.0
    # from 0, over slices: a loop from j + 1 does not vectorize
    for k in range(row.shape[0]):
        w = row[k]
        total += (min(w, min(aj, a[k])) + min(w, min(bj, b[k]))) + (
            min(w, min(cj, c[k])) + min(w, min(dj, d[k]))
        )
    return total


@kernel()
def minimum_of_wedges(matrix):
    """Sum over centers i and unordered pairs {j, k} of other points of min(matrix[i, j], matrix[i, k])."""
    n = matrix.shape[0]
    total = 0.0
    others = np.empty(n - 1)
    for i in range(n):
        for j in range(n - 1):
            others[j] = matrix[i, j if j < i else j + 1]
        others.sort()
        # smallest first: it is the minimum with all that follow
        for rank in range(n - 1):
            total += others[rank] * (n - 2 - rank)
    return total


@kernel()
def minimum_of_graph_wedges(indptr, weights):
    """`minimum_of_wedges` of a graph: pairs with a missing edge have minimum 0."""
    total = 0.0
    for i in range(indptr.shape[0] - 1):
        edges = np.sort(weights[indptr[i] : indptr[i + 1]])
        for rank in range(edges.shape[0]):
            total += edges[rank] * np.float64(edges.shape[0] - 1 - rank)
    return total


@kernel()
def minimum_of_triangles(indptr, indices, weights):
    """Sum over the triangles of a symmetric graph of their smallest weight.

    Each edge points to the end of larger degree, which leaves O(sqrt(m)) edges out of any node; a triangle is
    then found once, from its lowest node, in O(m sqrt(m)) altogether.
    """
    n = indptr.shape[0] - 1
    degree = np.diff(indptr)
    # weight of the edge from the current node, where marked
    weight_to = np.zeros(n)
    is_marked = np.zeros(n, dtype=np.bool_)
    total = 0.0
    for i in range(n):
        for e in range(indptr[i], indptr[i + 1]):
            if _points_up(degree, i, indices[e]):
                is_marked[indices[e]] = True
                weight_to[indices[e]] = weights[e]
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if not is_marked[j]:
                continue
            for f in range(indptr[j], indptr[j + 1]):
                k = indices[f]
                if is_marked[k] and _points_up(degree, j, k):
                    total += min(weights[e], min(weights[f], weight_to[k]))
        for e in range(indptr[i], indptr[i + 1]):
            is_marked[indices[e]] = False
    return total


@kernel()
def _points_up(degree, i, j):
    return degree[i] < degree[j] or (degree[i] == degree[j] and i < j)
