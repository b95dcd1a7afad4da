"""Kernels of `_knn_kernels` in plain NumPy, for too few rows for compiling to pay: identical to the last bit."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arbora._base.types import Floats
from arbora.similarity._knn_kernels import SMALLEST_SCALE, SMOOTHING_STEPS, mixed

# rows that are few
FEW = 10_000


def hash_few(bits: NDArray[np.int64]) -> NDArray[np.uint64]:
    """`hash_rows` of all rows at once, column by column."""
    keys = np.zeros(len(bits), np.uint64)
    for column in np.ascontiguousarray(bits.T).astype(np.uint64):
        keys = mixed.py_func(keys ^ column)
    return keys


def scales_of_few(distance: Floats) -> tuple[Floats, Floats]:
    """`smooth_local_scales` of all rows at once."""
    n_points, n_neighbors = distance.shape
    is_apart = distance > 0
    first = distance[np.arange(n_points), is_apart.argmax(axis=1)]
    nearest = np.where(is_apart.any(axis=1), first, 0.0)
    mean = np.zeros(n_points)
    for column in distance.T:
        mean += column
    mean /= n_neighbors
    # infinite distances, and those that overflow, have weight 0
    with np.errstate(all="ignore"):
        gap = np.where(distance > nearest[:, None], distance - nearest[:, None], 0.0)
        scale = _solved(np.ascontiguousarray(-gap.T), np.maximum(mean, 1e-300))
    mean_of_all = max(float(np.cumsum(mean / n_points)[-1]), 1e-300)
    return nearest, np.maximum(scale, SMALLEST_SCALE * np.where(nearest > 0, mean, mean_of_all))


def _solved(exponents: Floats, start: Floats) -> Floats:
    """Scale s of each column at which exp(exponents / s) sums to log2 of its length, by bisection from `start`."""
    n_neighbors, n_points = exponents.shape
    target = np.log2(n_neighbors) if n_neighbors > 1 else 1.0
    scale, active = start.copy(), np.arange(n_points)
    low, high = np.zeros(n_points), np.full(n_points, np.inf)
    for _ in range(SMOOTHING_STEPS):
        middle, total = scale[active], np.zeros(len(active))
        for row in exponents:
            total += np.exp(row / middle)
        is_open = np.abs(total - target) >= 1e-5
        active, middle, total, exponents = (
            active[is_open],
            middle[is_open],
            total[is_open],
            exponents[:, is_open],
        )
        if len(active) == 0:
            break
        is_wide = total > target
        high[active[is_wide]] = middle[is_wide]
        low[active[~is_wide]] = middle[~is_wide]
        top = high[active]
        scale[active] = np.where(top == np.inf, 2 * middle, (low[active] + top) / 2)
    return scale
