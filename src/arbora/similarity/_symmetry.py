"""Whether a matrix equals its mirror, up to rounding relative to the values themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# of two values that should be equal, relative to the larger of them
_RELATIVE = 1e-6
# the same for values that are differences of larger ones, in units of the last place of the largest
_LAST_PLACES = 64


def is_rounding(gap: NDArray[Any], larger: Any, values: Any) -> bool:
    """Whether the gaps between values and their mirrors, of which `larger` are the larger ones, are only rounding."""
    if len(gap) == 0:
        return True
    largest = float(abs(values).max())
    noise = _LAST_PLACES * float(np.finfo(values.dtype).eps) * largest
    return bool((np.asarray(gap).ravel() <= _RELATIVE * np.abs(np.asarray(larger)).ravel() + noise).all())


def check_symmetric(matrix: NDArray[Any], argument: str) -> None:
    """Raise, with the worst pair, unless a square matrix is symmetric. In blocks: no second matrix."""
    noise = _LAST_PLACES * float(np.finfo(matrix.dtype).eps) * float(np.abs(matrix).max())
    step = max(1, 4_000_000 // len(matrix))
    worst, where = 0.0, (0, 0)
    for first in range(0, len(matrix), step):
        here, there = matrix[first : first + step], matrix[:, first : first + step].T
        excess = np.abs(here - there) - (_RELATIVE * np.maximum(np.abs(here), np.abs(there)) + noise)
        if excess.max() > worst:
            at = np.unravel_index(int(np.argmax(excess)), excess.shape)
            worst, where = float(excess.max()), (first + int(at[0]), int(at[1]))
    if worst > 0:
        i, j = where
        raise ValueError(
            f"{argument} must be symmetric: {argument}[{i}, {j}] is {matrix[i, j]:.6g} and {argument}[{j}, {i}] is "
            f"{matrix[j, i]:.6g}. Use ({argument} + {argument}.T) / 2 if that is what you mean."
        )
