"""Principal components that stand out of noise."""

from __future__ import annotations

from typing import Any

import numpy as np

from arbora._base.threads import limited_libraries
from arbora._base.types import AnyFloats, Floats
from arbora._base.units import in_safe_units

# Rows that directions are found on; with twice as many columns than rows that takes a second.
_MOST_ROWS = 2000
# Fewer components are found even in noise.
FEWEST = 3
# Where more than this share of all components stands out, there is no noise to speak of.
_MOST_SHARE = 0.6
# A component smaller than this times the largest is rounding.
_SMALLEST = 1e-9


def find_axes(rows: AnyFloats) -> tuple[Floats, Floats]:
    """Center of the columns and directions of the components that stand out of noise: float64[d], float64[d, r].

    At least two, where there are as many. Found on evenly spaced rows if there are many; missing values count as the
    mean of their column.
    """
    step = max(1, -(-len(rows) // _MOST_ROWS))
    sample = np.asarray(rows[::step], dtype=np.float64)
    safe, unit = in_safe_units(sample.reshape(-1, 1))
    safe = safe.reshape(sample.shape)
    center = np.nanmean(safe, axis=0)
    centered = np.nan_to_num(safe - center)
    with limited_libraries(1, "blas"):
        if centered.shape[1] <= len(centered):
            square, directions = _decomposed(centered.T @ centered)
        else:
            square, directions = _decomposed(centered @ centered.T)
            length = np.sqrt(np.maximum(square, 0))
            directions = centered.T @ (directions / np.where(length > 0, length, np.inf))
    n_kept = max(count_above_noise(np.sqrt(np.maximum(square, 0)), centered.shape), min(2, len(square)))
    return center * float(unit.ravel()[0]), np.ascontiguousarray(directions[:, :n_kept])


def count_above_noise(singular_values: Floats, shape: tuple[int, ...]) -> int:
    """How many of the falling singular values of centered rows stand out of noise of unknown strength.

    The median is that of noise; values above a multiple of it, which depends on the shape only, would lose more than
    they gain by being left out (Gavish and Donoho 2014).
    """
    values = singular_values[singular_values > _SMALLEST * singular_values.max(initial=0.0)]
    if len(values) == 0:
        return 0
    ratio = min(shape) / max(shape)
    threshold = 0.56 * ratio**3 - 0.95 * ratio**2 + 1.82 * ratio + 1.43
    return int((values > threshold * np.median(values)).sum())


def rows_of_components(centered: Floats) -> Floats | None:
    """Rows along the components that stand out of noise, given centered rows.

    None where too few or most components do: then there is no noise to be left out.
    """
    n, n_columns = centered.shape
    if n_columns <= n:
        square, axes = _decomposed(centered.T @ centered)
        values = np.sqrt(np.maximum(square, 0))
        along = centered @ axes
    else:
        square, points = _decomposed(centered @ centered.T)
        values = np.sqrt(np.maximum(square, 0))
        along = points * values
    n_kept = count_above_noise(values, centered.shape)
    n_all = int((values > _SMALLEST * values[0]).sum())
    return along[:, :n_kept] if FEWEST <= n_kept <= _MOST_SHARE * n_all else None


def _decomposed(symmetric: Any) -> tuple[Floats, Floats]:
    """Eigenvalues, the largest first, and eigenvectors."""
    values, vectors = np.linalg.eigh(symmetric)
    return values[::-1], vectors[:, ::-1]
