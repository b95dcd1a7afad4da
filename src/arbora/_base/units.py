"""Units in which sums of squares are numbers, for data however large or small."""

from __future__ import annotations

import numpy as np

from arbora._base.types import Floats

# Powers of two below which the fourth powers of numbers, and sums of them, are numbers too.
_SAFE_EXPONENT = 200


def in_safe_units(values: Floats) -> tuple[Floats, Floats]:
    """Columns in units in which squares and sums are within the range of numbers, and these units: nearly always 1.

    They are powers of two, so that dividing by them rounds nothing. Missing values stay.

    Examples
    --------
    >>> import numpy as np
    >>> from arbora._base.units import in_safe_units
    >>> safe, unit = in_safe_units(np.array([[3e200, 1.0], [1e200, 2.0]]))
    >>> float(safe[:, 0].std() * unit[0])
    1e+200
    """
    largest = np.fmax(np.fmax.reduce(values, axis=0), -np.fmin.reduce(values, axis=0))
    exponent = np.clip(np.frexp(largest)[1], -1021, 1023)
    unit = np.where(np.abs(exponent) > _SAFE_EXPONENT, np.ldexp(1.0, exponent), 1.0)
    return values if (unit == 1).all() else values / unit, unit
