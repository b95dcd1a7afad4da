"""Rows of a Dask array: functions of chunks run where the chunks are, and only their results come back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from arbora._base.arrays import refuse_mask
from arbora._base.distributed import Workers, array_of, checked_array, row_blocks, workers_for
from arbora._base.memory import refuse_if_too_large
from arbora._base.optional import require
from arbora._base.row_parts import DaskPart, check_finite_rows
from arbora._base.rows import PartRows

Result = TypeVar("Result")


class DaskRows(PartRows):
    """Rows of a Dask array or frame whose chunks hold whole rows.

    Attributes
    ----------
    workers : Workers
        Where tasks run.
    """

    def __init__(self, X: Any, argument: str = "X") -> None:
        array, names = array_of(X, argument=argument)
        self.workers: Workers = workers_for(array)
        self._array = checked_array(array, self.workers, argument=argument)
        super().__init__(argument, [DaskPart(self._array, argument)], names)

    def in_memory(self, purpose: str) -> NDArray[Any]:
        """All rows on this machine; TooLargeError, saying what needs them, if they do not fit."""
        assert self.n_bytes is not None
        refuse_if_too_large(
            2 * self.n_bytes,
            f"All rows of {self._argument}, which {purpose} at once on one machine,",
            f"Take a sample: {self._argument}[rows].",
        )
        blocks = self.workers.gather(row_blocks(self._array))
        return np.concatenate([np.asarray(block, self.dtype) for block in blocks])

    def mapped(
        self, function: Callable[[NDArray[Any]], Result], size: int | None = None
    ) -> Iterator[tuple[slice, Result]]:
        """As `Rows.mapped`; whole chunks of the array are worked on at the same time."""
        delayed = require("dask", "A Dask array").delayed
        starts = np.concatenate([[0], np.cumsum(self._array.chunks[0])]).tolist()
        work = delayed(
            partial(_of_block, function, size, self.dtype, self._argument), pure=False, traverse=False
        )
        found = self.workers.gather(
            [work(block, start) for block, start in zip(row_blocks(self._array), starts)]
        )
        for start, pieces in zip(starts, found):
            for (first, last), result in pieces:
                yield slice(start + first, start + last), result


def _of_block(
    function: Callable[[NDArray[Any]], Result],
    size: int | None,
    dtype: np.dtype[Any],
    argument: str,
    block: NDArray[Any],
    start: int,
) -> list[tuple[tuple[int, int], Result]]:
    """Results of the pieces of one chunk, each with its place in it."""
    step = max(1, len(block)) if size is None else size
    found = []
    for first in range(0, len(block), step):
        refuse_mask(block[first : first + step], argument)
        piece = np.asarray(block[first : first + step], dtype)
        check_finite_rows(piece, start + first, argument)
        found.append(((first, first + len(piece)), function(piece)))
    return found
