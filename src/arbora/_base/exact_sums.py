"""Sums of floats that do not depend on the order of their terms.

Adding ``1.5 * 2**52 * g`` to a float and subtracting it again rounds it to a multiple of g, a power of two. Sums of
such multiples are exact as long as they stay below ``2**53 * g``: in any order, in any chunks, on any number of
machines. What rounding cut off is rounded to a finer grid in turn, and so on, until nothing that matters is left.
"""

from __future__ import annotations

import math
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from arbora._base.types import Floats

_SMALLEST_EXPONENT = -900


def rounders(n_terms: int, largest: float = 1.0, n_levels: int = 2) -> Floats:
    """What rounds each level: float64[n_levels], for sums of at most `n_terms` values of at most `largest` each.

    Two levels keep 2 * (53 - log2(n_terms)) bits below the largest value: for up to 67 million terms, as many as a
    float has.

    Examples
    --------
    >>> from arbora._base.exact_sums import in_levels, rounders
    >>> by = rounders(n_terms=1000)
    >>> import numpy as np
    >>> values = np.array([0.1, 0.2, 0.3])
    >>> np.array_equal(in_levels(values, by).sum(axis=0), values)
    True
    """
    bits = max(2, math.ceil(math.log2(max(2, n_terms))))
    exponent = math.frexp(largest)[1] if largest > 0 else 0
    found = []
    for _ in range(n_levels):
        # values below 2**exponent: their sum stays below 2**53 times the grid
        grid = max(_SMALLEST_EXPONENT, exponent + bits - 53)
        found.append(math.ldexp(1.5, 52 + grid))
        # at most half of the grid is cut off
        exponent = grid
    return np.array(found)


def in_levels(values: Floats, by: Floats) -> Floats:
    """Each value as a sum of multiples of ever finer grids: float64[n_levels, *values.shape]."""
    rest = np.asarray(values, np.float64)
    levels = np.empty((len(by), *rest.shape))
    for number, rounder in enumerate(by):
        levels[number] = (rest + rounder) - rounder
        rest = rest - levels[number]
    return levels


def sum_by_key(keys: NDArray[np.integer], levels: Floats, n_keys: int) -> Floats:
    """Sum of the levels of the values of each key: float64[n_levels, n_keys]."""
    return np.array([np.bincount(keys, level, minlength=n_keys) for level in levels])


def joined(levels: Floats) -> Floats:
    """The sums that levels stand for, from the finest up: rounded once for all but the last digits."""
    return np.asarray(reduce(np.add, levels[::-1]))


def exact_sum_by_key(
    keys: NDArray[np.integer], values: Floats, n_keys: int, by: Floats, times: Floats | None = None
) -> Floats:
    """Sum of the values of each key, each of them `times` (whole numbers) where given: float64[n_keys]."""
    levels = in_levels(values, by)
    if times is not None:
        levels *= times
    return joined(sum_by_key(keys, levels, n_keys))
