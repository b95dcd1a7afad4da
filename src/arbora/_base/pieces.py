"""Long work of compiled loops in pieces, between which Python notices Ctrl-C."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from arbora._base.types import Ints


def pieces_of(work_before: Ints, at_once: int) -> Iterator[tuple[int, int]]:
    """Ranges of consecutive items that together are all, each of about this much work, and at least one item long.

    ``work_before[k]`` is the work of the items before k; its last entry is the whole.

    Examples
    --------
    >>> from arbora._base.pieces import pieces_of
    >>> list(pieces_of([0, 5, 6, 7, 30, 31], at_once=7))
    [(0, 3), (3, 4), (4, 5)]
    """
    n_items, whole = len(work_before) - 1, int(work_before[-1])
    starts = np.searchsorted(work_before[:-1], np.arange(0, whole, at_once))
    yield from pairwise([*np.unique(starts[starts < n_items]).tolist(), n_items])


__all__ = ["pieces_of"]
