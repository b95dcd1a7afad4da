"""Selecting, improving and weighting nearest neighbors."""

from __future__ import annotations

import numpy as np

from arbora._base.jit import inlined, inner, kernel

SMOOTHING_STEPS = 64
# of a local scale, relative to the mean distance: keeps ties of distances finite
SMALLEST_SCALE = 1e-3
# points compared before any of them is taken
RUN = 64
# in single precision, so that single products are not compared in double
TWO = np.float32(2)


@inner
def mixed(key):
    """All bits of a key spread over all bits: the finalizer of SplitMix64 (Steele, Lea and Flood 2014)."""
    key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return key ^ (key >> np.uint64(31))


@kernel(nogil=True)
def hash_rows(bits):
    """A key of each row of whole numbers, equal for equal rows: uint64[n_rows]."""
    keys = np.empty(bits.shape[0], np.uint64)
    for r in range(bits.shape[0]):
        key = np.uint64(0)
        for f in range(bits.shape[1]):
            key = mixed(key ^ np.uint64(bits[r, f]))
        keys[r] = key
    return keys


@kernel()
def hash_sparse_rows(indptr, indices, bits):
    """The same for sparse rows with sorted indices and no stored zeros."""
    keys = np.empty(indptr.shape[0] - 1, np.uint64)
    for r in range(keys.shape[0]):
        key = np.uint64(0)
        for at in range(indptr[r], indptr[r + 1]):
            key = mixed(mixed(key ^ np.uint64(indices[at] + 1)) ^ bits[at])
        keys[r] = key
    return keys


@inlined
def insert_neighbor(best, who, value, point):
    """Insert a point into one row's ascending list of neighbors, pushing out the last."""
    place = best.shape[0] - 1
    while place > 0 and best[place - 1] > value:
        best[place] = best[place - 1]
        who[place] = who[place - 1]
        place -= 1
    best[place] = value
    who[place] = point


@inlined
def count_nearer(squares, products, worst):
    """How many points are nearer than `worst`. From 0 on and without branches, as vector registers need it."""
    n_nearer = 0
    for c in range(products.shape[0]):
        n_nearer += squares[c] - TWO * products[c] < worst
    return n_nearer


@kernel(nogil=True, allocates=False)
def select_nearest(products, squares, first, own, rows, best, who):
    """Offer points first, first + 1, ... to the rows `rows`; products[r, c] is the inner product with first + c.

    Compares |y|^2 - 2 x.y, which orders the points y as their distance to x does. `own[row]` is never taken. Points are
    counted in runs first: most runs hold none that is near enough.
    """
    n_points = products.shape[1]
    offered = squares[first : first + n_points]
    for r in range(products.shape[0]):
        row = rows[r]
        worst = best[row, best.shape[1] - 1]
        for start in range(0, n_points, RUN):
            stop = min(start + RUN, n_points)
            values, lengths = products[r, start:stop], offered[start:stop]
            if count_nearer(lengths, values, worst) == 0:
                continue
            for c in range(stop - start):
                value = lengths[c] - TWO * values[c]
                if value < worst and first + start + c != own[row]:
                    insert_neighbor(best[row], who[row], value, first + start + c)
                    worst = best[row, best.shape[1] - 1]


@inlined
def square_distance(x, y):
    """Squared Euclidean distance of two rows, without cancellation."""
    total = 0.0
    for f in range(x.shape[0]):
        gap = x[f] - y[f]
        total += gap * gap
    return total


@kernel(nogil=True, fastmath=True, allocates=False)
def quick_square_distance(x, y):
    """The same in the precision of the rows, summed in any order: several times faster."""
    total = x[0] - x[0]
    for f in range(x.shape[0]):
        gap = x[f] - y[f]
        total += gap * gap
    return total


@kernel()
def add_reverse_neighbors(who):
    """Each row's neighbors, then up to as many rows that have it as theirs, closest first; -1 fills up."""
    n_points, n_neighbors = who.shape
    both = np.full((n_points, 2 * n_neighbors), -1, dtype=np.int32)
    for point in range(n_points):
        for k in range(n_neighbors):
            both[point, k] = who[point, k]
    filled = np.full(n_points, n_neighbors, dtype=np.int32)
    for k in range(n_neighbors):
        for point in range(n_points):
            near = who[point, k]
            if near >= 0 and filled[near] < 2 * n_neighbors:
                both[near, filled[near]] = point
                filled[near] += 1
    return both


@kernel(nogil=True, allocates=False)
def offer_point(X, q, point, seen, best, row):
    """Take a point into the list of row q if it is new there and near enough."""
    if point < 0 or seen[point] == q:
        return
    seen[point] = q
    value = quick_square_distance(X[q], X[point])
    if value < best[best.shape[0] - 1]:
        insert_neighbor(best, row, value, point)


@kernel(nogil=True)
def try_neighbors_of_neighbors(X, who, both, first, last, improved):
    """Write to improved[first:last] the nearest among each row's neighbors in `both` and theirs in `who`."""
    seen = np.full(X.shape[0], -1, dtype=np.int32)
    best = np.empty(who.shape[1], dtype=X.dtype)
    for q in range(first, last):
        row = improved[q]
        row[:] = -1
        # rows that were not asked for, and rows that are searched everywhere later
        if who[q, 0] < 0:
            continue
        best[:] = np.inf
        seen[q] = q
        for near in both[q]:
            offer_point(X, q, near, seen, best, row)
        for near in both[q]:
            if near >= 0:
                for far in who[near]:
                    offer_point(X, q, far, seen, best, row)


@kernel(nogil=True)
def measure_and_sort(queries, points, who):
    """Exact distances float64[rows, n_neighbors]; sorts rows of `who` by them in place, ties by number."""
    distance = np.empty(who.shape, np.float64)
    for r in range(who.shape[0]):
        row, near = distance[r], who[r]
        for k in range(near.shape[0]):
            point = near[k]
            value = np.sqrt(square_distance(queries[r], points[point])) if point >= 0 else np.inf
            place = k
            while place > 0 and (
                row[place - 1] > value or (row[place - 1] == value and near[place - 1] > point)
            ):
                row[place] = row[place - 1]
                near[place] = near[place - 1]
                place -= 1
            row[place] = value
            near[place] = point
    return distance


@kernel(nogil=True)
def nearest_linked(indptr, groups, length, n_neighbors):
    """The nearest groups that each group has an edge to: (int64, float64)[n_groups, n_neighbors], ties by number.

    Row g of the graph has edges to `groups[indptr[g] : indptr[g + 1]]`, itself and repetitions among them, at
    distances `length`. Fewer groups than wanted are followed by -1 at an infinite distance.
    """
    n_groups = indptr.shape[0] - 1
    near = np.full((n_groups, n_neighbors), -1, dtype=np.int64)
    distance = np.full((n_groups, n_neighbors), np.inf)
    for g in range(n_groups):
        row, best = near[g], distance[g]
        for at in range(indptr[g], indptr[g + 1]):
            group, value = groups[at], length[at]
            is_known = group == g
            for known in row:
                is_known = is_known or known == group
            place = n_neighbors
            while place > 0 and (
                best[place - 1] > value or (best[place - 1] == value and row[place - 1] > group)
            ):
                place -= 1
            if is_known or place == n_neighbors:
                continue
            for k in range(n_neighbors - 1, place, -1):
                best[k] = best[k - 1]
                row[k] = row[k - 1]
            best[place] = value
            row[place] = group
    return near, distance


@inner
def mean_of_row(row):
    """The mean (numba's own takes longer to compile)."""
    total = 0.0
    for value in row:
        total += value
    return total / row.shape[0]


@kernel(nogil=True)
def smooth_local_scales(distance):
    """Distance to the nearest other place, and the scale at which a row's weights sum to log2(n_neighbors).

    The weight of a neighbor is exp(-(d - nearest) / scale), as in UMAP. Duplicates (d = 0) do not count as
    the nearest other place. Returns (nearest, scale).
    """
    n_points, n_neighbors = distance.shape
    target = np.log2(n_neighbors) if n_neighbors > 1 else 1.0
    nearest = np.zeros(n_points, np.float64)
    scale = np.empty(n_points, np.float64)
    mean_of_all = 0.0
    for i in range(n_points):
        mean_of_all += mean_of_row(distance[i]) / n_points
    mean_of_all = max(mean_of_all, 1e-300)
    for i in range(n_points):
        row = distance[i]
        for d in row:
            if d > 0:
                nearest[i] = d
                break
        low, high, middle = 0.0, np.inf, max(mean_of_row(row), 1e-300)
        for _ in range(SMOOTHING_STEPS):
            total = 0.0
            for d in row:
                total += np.exp(-(d - nearest[i]) / middle) if d > nearest[i] else 1.0
            if abs(total - target) < 1e-5:
                break
            if total > target:
                high = middle
                middle = (low + high) / 2
            else:
                low = middle
                middle = 2 * middle if high == np.inf else (low + high) / 2
        mean = mean_of_row(row) if nearest[i] > 0 else mean_of_all
        scale[i] = max(middle, SMALLEST_SCALE * mean)
    return nearest, scale


def fuzzy_weights(distance, nearest, scale):
    """exp(-(d - nearest) / scale), at most 1: float32 of the shape of `distance`."""
    gap = np.maximum(distance - nearest[:, None], 0)
    gap /= -scale[:, None]
    return np.exp(gap, out=gap).astype(np.float32)
