"""Orders of things, and back."""

from __future__ import annotations

import numpy as np

from arbora._base.types import Ints


def inverse_permutation(order: Ints) -> Ints:
    """Where each of 0..n-1 stands in an order of them.

    Examples
    --------
    >>> import numpy as np
    >>> from arbora._base.permutations import inverse_permutation
    >>> inverse_permutation(np.array([2, 0, 1]))
    array([1, 2, 0])
    """
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return place
