"""Blocks of sparse rows worked on apart, in threads or on other machines, and joined to one matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from arbora._base.sharing import Shares, share_bounds
from arbora._base.threads import in_turns

# entries of every row, their columns and their values
CsrParts: TypeAlias = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]
# Rows below which sending them to other machines takes longer than working on them.
WORTH_SENDING = 1 << 15

_shares_of_rows: ContextVar[Shares] = ContextVar("shares_of_rows", default=Shares(None))  # noqa: B039 (it has no state)


@contextmanager
def rows_on(shares: Shares) -> Iterator[None]:
    """Let the rows of large steps be worked on where `shares` are. Rows are independent: no digit changes."""
    token = _shares_of_rows.set(shares)
    try:
        yield
    finally:
        _shares_of_rows.reset(token)


def _call(function: Callable[[int, int], CsrParts], start: int, stop: int) -> CsrParts:
    return function(start, stop)


def in_row_blocks(function: Callable[[int, int], CsrParts], n_rows: int, n_threads: int) -> CsrParts:
    """Call ``function(start, stop)`` on blocks of rows and join the CSR pieces it returns."""
    bounds = np.linspace(0, n_rows, n_threads + 1).astype(np.int64)
    blocks = list(pairwise(bounds))
    shares = _shares_of_rows.get()
    if shares.are_spread and n_rows >= WORTH_SENDING:
        pieces = shares.run(_call, (function,), share_bounds(n_rows), here=False)
    else:
        pieces = in_turns(lambda block: function(*block), blocks, n_threads)
    counts, columns, values = (np.concatenate(parts) for parts in zip(*pieces))
    ptr = np.concatenate(([0], np.cumsum(counts)))
    return ptr, columns, values


def csr_from_parts(
    ptr: NDArray[Any], col: NDArray[Any], val: NDArray[Any], shape: tuple[int, int]
) -> sp.csr_array:
    """CSR array around given parts, without SciPy's checks of every entry."""
    out = sp.csr_array(shape, dtype=val.dtype)
    # SciPy wants one kind for both
    kind = np.int32 if len(val) < 2**31 - 1 else np.int64
    out.indptr, out.indices, out.data = ptr.astype(kind, copy=False), col.astype(kind, copy=False), val
    return out
