"""Rows of a matrix that may be larger than memory: what can be asked of them, and the two kinds that answer.

Matrices that give any of their rows (`PartRows`), and iterators that give all of them in order (`StreamedRows`).
`arbora._base.rows.open_rows` makes one of anything that has rows.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from copy import copy
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from arbora._base.arrays import as_matrix
from arbora._base.params import check_whole
from arbora._base.row_parts import ArrayPart, Part, as_stored, check_finite_rows, natural_dtype
from arbora._base.types import Ints

Result = TypeVar("Result")

# Numbers in a chunk of the default size: 64 MB of float32.
_NUMBERS_PER_CHUNK = 1 << 24
_ROWS_OF_HEAD = 1000

_HOW_TO_READ_TWICE = "Pass a path, an array, a list of chunks, or a function that returns the iterator."


class Rows(ABC):
    """Rows of a matrix that may be larger than memory.

    Attributes
    ----------
    shape : tuple (n_rows, n_columns)
        `n_rows` is None where it is only known after reading everything; see `count_rows`.
    dtype : dtype
        Of the chunks: float16, float32 or float64.
    column_names : list of str or None
    is_repeatable : bool
        Whether the rows can be read more than once.
    n_bytes : int or None
        Size of all rows as they are handed out; None where `n_rows` is.
    in_place : ndarray or None
        The rows as one array that can be used where it is, in memory or mapped from a file, if that is what they are.

    Examples
    --------
    >>> import numpy as np
    >>> from arbora._base.rows import open_rows
    >>> rows = open_rows([np.zeros((2, 3)), np.ones((2, 3))])
    >>> rows.shape, rows.take(np.array([0, 3]))[:, 0]
    ((4, 3), array([0., 1.]))
    >>> [place for place, chunk in rows.chunks(size=2)]
    [slice(0, 2, None), slice(2, 4, None)]
    """

    in_place: NDArray[Any] | None = None

    def __init__(
        self,
        argument: str,
        n_rows: int | None,
        n_columns: int,
        dtype: np.dtype[Any],
        column_names: list[str] | None = None,
        is_repeatable: bool = True,
    ) -> None:
        self._argument, self._n_rows, self._n_columns = argument, n_rows, n_columns
        self.dtype, self.column_names, self.is_repeatable = dtype, column_names, is_repeatable

    @property
    def shape(self) -> tuple[int | None, int]:
        """Number of rows, if known, and of columns."""
        return self._n_rows, self._n_columns

    @property
    def n_bytes(self) -> int | None:
        """Size of all rows."""
        return None if self._n_rows is None else self._n_rows * self._n_columns * self.dtype.itemsize

    def as_type(self, dtype: DTypeLike) -> Rows:
        """The same rows, converted to another type of numbers as they are read."""
        other = copy(self)
        other.dtype = np.dtype(dtype)
        if self.in_place is not None and self.in_place.dtype != other.dtype:
            other.in_place = None
        return other

    @abstractmethod
    def head(self) -> NDArray[Any]:
        """Up to 1,000 of the first rows. This does not use up a source that can be read only once."""

    def count_rows(self) -> int:
        """Number of rows; reads them all, once, if it is not known yet."""
        if self._n_rows is None:
            if not self.is_repeatable:
                raise ValueError(
                    f"{self._argument} can be read only once, so its rows cannot be counted first. "
                    f"{_HOW_TO_READ_TWICE}"
                )
            for _ in self.chunks():
                pass
        assert self._n_rows is not None
        return self._n_rows

    def chunks(
        self, size: int | None = None, *, finite: bool = False
    ) -> Iterator[tuple[slice, NDArray[Any]]]:
        """All rows in order, at most `size` at a time, each chunk with its place.

        Parameters
        ----------
        size : int, optional
            By default as the source has them, at most 16 million numbers.
        finite : bool
            Refuse NaN and infinity, naming the row.
        """
        most = _NUMBERS_PER_CHUNK // max(1, self._n_columns) if size is None else check_whole(size, "size")
        start = 0
        for piece in self._pieces(max(1, most)):
            stop = start + len(piece)
            if self._n_rows is not None and stop > self._n_rows:
                raise self._changed(f"more than {self._n_rows:,}")
            chunk = np.asarray(piece, self.dtype)
            if finite:
                check_finite_rows(chunk, start, self._argument)
            yield slice(start, stop), chunk
            start = stop
        if self._n_rows is not None and start != self._n_rows:
            raise self._changed(f"{start:,}")
        self._n_rows = start

    def mapped(
        self, function: Callable[[NDArray[Any]], Result], size: int | None = None
    ) -> Iterator[tuple[slice, Result]]:
        """``function(chunk)`` of all chunks in order, at most `size` rows at a time, each with its place.

        Refuses NaN and infinity. Rows on other machines are worked on there.
        """
        for place, chunk in self.chunks(size, finite=True):
            yield place, function(chunk)

    def identity(self) -> tuple[Any, ...]:
        """What the rows are, for `identity_of`: all of them count, however they are cut into chunks."""
        digest = hashlib.sha256()
        for _, chunk in self.chunks():
            digest.update(np.ascontiguousarray(chunk).data)
        return self.count_rows(), self._n_columns, self.dtype.str, digest.hexdigest()

    def take(self, rows: Ints) -> NDArray[Any]:
        """The given rows (ascending, none twice), in memory."""
        rows = np.asarray(rows, np.int64)
        if len(rows) and (rows[0] < 0 or np.any(np.diff(rows) <= 0)):
            raise ValueError("Rows to take must be ascending row numbers, none of them twice.")
        found = self._take(rows)
        if len(found) != len(rows):
            raise ValueError(f"Row {int(rows[-1])} is beyond the last row of {self._argument}.")
        return np.asarray(found, self.dtype)

    @abstractmethod
    def _pieces(self, most: int) -> Iterator[NDArray[Any]]:
        """All rows in order, at most `most` at a time, in any type of numbers."""

    def _take(self, rows: Ints) -> NDArray[Any]:
        """As many of the rows as there are, by reading up to the last of them."""
        found = [np.empty((0, self._n_columns), self.dtype)]
        if len(rows):
            for place, chunk in self.chunks():
                first, last = np.searchsorted(rows, (place.start, place.stop))
                if last > first:
                    found.append(chunk[rows[first:last] - place.start])
                if last == len(rows):
                    break
        return np.concatenate(found)

    def _changed(self, found: str) -> ValueError:
        return ValueError(
            f"{self._argument} should have {self._n_rows:,} rows, as it announced or had when first read. "
            f"Reading it gave {found}."
        )


class PartRows(Rows):
    """Matrices one below the other, each of which gives any of its rows."""

    def __init__(self, argument: str, parts: list[Part], column_names: list[str] | None = None) -> None:
        widths = [int(part.shape[1]) for part in parts]
        for number, width in enumerate(widths):
            if width != widths[0]:
                raise ValueError(
                    f"All chunks of {argument} must have the same number of columns. "
                    f"Chunk {number} has {width}, the first one {widths[0]}."
                )
        self.parts = parts
        self._ends = np.cumsum([part.shape[0] for part in parts], dtype=np.int64)
        dtype = np.result_type(*(part.dtype for part in parts))
        super().__init__(argument, int(self._ends[-1]), widths[0], dtype, column_names)
        only = parts[0] if len(parts) == 1 else None
        if isinstance(only, ArrayPart) and only.array.dtype == dtype:
            self.in_place = only.array

    def head(self) -> NDArray[Any]:
        """As `Rows.head`."""
        return self.take(np.arange(min(_ROWS_OF_HEAD, int(self._ends[-1]))))

    def _pieces(self, most: int) -> Iterator[NDArray[Any]]:
        for part in self.parts:
            for start, stop in part.spans(most):
                yield part.read(start, stop)

    def _take(self, rows: Ints) -> NDArray[Any]:
        found = [np.empty((0, self._n_columns), self.dtype)]
        start = 0
        for part, end in zip(self.parts, self._ends.tolist()):
            first, last = np.searchsorted(rows, (start, end))
            if last > first:
                found.append(part.take(rows[first:last] - start))
            start = end
        return np.concatenate(found)


class StreamedRows(Rows):
    """Chunks from an iterator. The first one is read at once: it says how wide the rows are."""

    def __init__(
        self,
        argument: str,
        open_pass: Callable[[], Iterator[Any]],
        *,
        is_repeatable: bool,
        n_rows: int | None = None,
        column_names: list[str] | None = None,
    ) -> None:
        self._open_pass = open_pass
        # shared with copies of other types, so that a pass that has begun is used once
        self._begun: list[Iterator[NDArray[Any]]] = []
        self._argument = argument
        self._found_names: list[str] | None = None
        chunks = self._read()
        first = next(chunks, None)
        if first is None:
            raise ValueError(f"{argument} must not be empty. It has 0 sample(s): no chunk of rows came.")
        self._head = first[:_ROWS_OF_HEAD].copy()
        self._begun.append(_chain(first, chunks))
        names = self._found_names if column_names is None else column_names
        super().__init__(
            argument, n_rows, first.shape[1], natural_dtype(first, argument), names, is_repeatable
        )

    def head(self) -> NDArray[Any]:
        """As `Rows.head`: of the first chunk."""
        return np.asarray(self._head, self.dtype)

    def _read(self) -> Iterator[NDArray[Any]]:
        width, dtype = None, None
        for number, raw in enumerate(self._open_pass()):
            what = f"Chunk {number} of {self._argument}"
            matrix = as_matrix(raw, argument=what)
            chunk = as_stored(matrix.values, what)
            if width is None:
                width, dtype, self._found_names = chunk.shape[1], chunk.dtype, matrix.column_names
            if chunk.shape[1] != width:
                raise ValueError(f"{what} has {chunk.shape[1]} columns, the first one {width}.")
            if dtype is not None and not np.can_cast(chunk.dtype, dtype):
                raise ValueError(
                    f"{what} holds {chunk.dtype}, the first one {dtype}. Convert them to one type."
                )
            if width == 0:
                raise ValueError(f"{what} has no columns.")
            # a first chunk without rows still says how wide they are
            if len(chunk) or number == 0:
                yield chunk

    def _pieces(self, most: int) -> Iterator[NDArray[Any]]:
        if self._begun:
            chunks = self._begun.pop()
        elif self.is_repeatable:
            chunks = self._read()
        else:
            raise ValueError(f"{self._argument} can be read only once, and has been. {_HOW_TO_READ_TWICE}")
        for chunk in chunks:
            if chunk.shape[1] != self._n_columns:
                raise ValueError(
                    f"{self._argument} had {self._n_columns} columns when first read, now {chunk.shape[1]}."
                )
            for start in range(0, len(chunk), most):
                yield chunk[start : start + most]


def _chain(first: NDArray[Any], rest: Iterator[NDArray[Any]]) -> Iterator[NDArray[Any]]:
    yield first
    # the caller may be done with the first chunk; this frame must not keep it alive
    del first
    yield from rest
