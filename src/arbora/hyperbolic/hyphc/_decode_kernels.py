"""From embeddings to merges: nearest neighbors on a circle, and a spanning tree of deepest ancestors."""

from __future__ import annotations

import numpy as np

from arbora._base.jit import kernel


@kernel()
def merge_path(order, by_gap):
    """Parents when neighbors on a line merge by ascending gap: int64[2n - 1].

    `order` lists the leaves along the line, `by_gap` the positions before the gaps, smallest gap first (sorted outside:
    numba's own sort takes seconds to compile). A cluster is an interval of positions, known by its two ends.
    """
    n = order.shape[0]
    parent = np.full(2 * n - 1, -1, dtype=np.int64)
    start = np.arange(n)  # of the interval that ends here
    end = np.arange(n)  # of the interval that starts here
    top = order.copy()  # node of the interval that starts here
    for step in range(n - 1):
        left_end = by_gap[step]
        left, right = start[left_end], left_end + 1
        node = n + step
        parent[top[left]] = node
        parent[top[right]] = node
        top[left] = node
        end[left] = end[right]
        start[end[right]] = left
    return parent


@kernel()
def ancestor_gap(points, gaps, i, j):
    """sech² of the depth of the LCA of two points: the smaller, the deeper.

    The nearest point to the center of the chord between them in the Klein model; `gaps` are 1 - |x|². See
    arbora.hyperbolic.lca.
    """
    above_i, above_j = 2.0 - gaps[i], 2.0 - gaps[j]
    growth = 0.0
    for f in range(points.shape[1]):
        growth += (points[j, f] - points[i, f]) * (points[j, f] + points[i, f])
    square = 0.0
    for f in range(points.shape[1]):
        chord = 2.0 * (above_i * (points[j, f] - points[i, f]) - growth * points[i, f]) / (above_i * above_j)
        square += chord * chord
    klein_i, klein_j = (gaps[i] / above_i) ** 2, (gaps[j] / above_j) ** 2
    if square == 0.0:
        return 0.5 * (klein_i + klein_j)
    t = min(max((square + klein_j - klein_i) / (2.0 * square), 0.0), 1.0)
    return (1.0 - t) * klein_i + t * klein_j + t * (1.0 - t) * square


@kernel()
def deepest_spanning_tree(points, gaps):
    """Prim's algorithm on all pairs, each visited once: edges (n - 1, 2), their `ancestor_gap`."""
    n = points.shape[0]
    edges = np.empty((n - 1, 2), dtype=np.int64)
    lengths = np.empty(n - 1)
    waiting = np.arange(1, n)
    best = np.full(n, np.inf)
    link = np.zeros(n, dtype=np.int64)
    added = 0
    for step in range(n - 1):
        nearest, nearest_slot = np.inf, 0
        for slot in range(n - 1 - step):
            j = waiting[slot]
            length = ancestor_gap(points, gaps, added, j)
            if length < best[j]:
                best[j] = length
                link[j] = added
            if best[j] < nearest:
                nearest, nearest_slot = best[j], slot
        added = waiting[nearest_slot]
        waiting[nearest_slot] = waiting[n - 2 - step]
        edges[step, 0], edges[step, 1] = link[added], added
        lengths[step] = best[added]
    return edges, lengths


@kernel()
def _climb(above, node):
    """Topmost node above `node`; the way there is shortened for the next climb."""
    top = node
    while above[top] >= 0:
        top = above[top]
    while above[node] >= 0:
        above[node], node = top, above[node]
    return top


@kernel()
def merge_edges(edges, ranking):
    """Parents when the two sides of each edge merge, edges taken in the order of `ranking`: int64[2n - 1]."""
    n = edges.shape[0] + 1
    parent = np.full(2 * n - 1, -1, dtype=np.int64)
    above = np.full(2 * n - 1, -1, dtype=np.int64)
    for step in range(n - 1):
        edge = ranking[step]
        for side in range(2):
            top = _climb(above, edges[edge, side])
            parent[top] = n + step
            above[top] = n + step
    return parent


@kernel()
def ancestor_gaps(points, gaps, i, j):
    """`ancestor_gap` of many pairs: float64[count]."""
    out = np.empty(i.shape[0])
    for pair in range(i.shape[0]):
        out[pair] = ancestor_gap(points, gaps, i[pair], j[pair])
    return out
