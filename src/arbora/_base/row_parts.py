"""Matrices that give any of their rows: in memory, mapped from a file, in HDF5 and zarr stores, in Dask.

A damaged file can make its library raise almost anything; it is reported as one `FormatError` that names the file.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from arbora._base.memory import refuse_if_too_large
from arbora._base.types import Ints
from arbora.errors import ArboraError, FormatError

# Rows read at once around a wanted row of a store that is not in chunks.
_ROWS_AROUND = 64


# ---- numbers -------------------------------------------------------------------------------------------------


def natural_dtype(array: Any, argument: str) -> np.dtype[Any]:
    """Type in which rows are handed out: floats of 2, 4 or 8 bytes as they are, anything else as float64."""
    dtype = np.dtype(array.dtype)
    if dtype.name == "bfloat16":
        return np.dtype(np.float32)
    if dtype.kind == "f" and dtype.itemsize in (2, 4, 8):
        native: np.dtype[Any] = dtype.newbyteorder("=")
        return native
    if dtype.kind in "biuf":
        return np.dtype(np.float64)
    if dtype.kind == "V" and dtype.itemsize == 2:
        raise FormatError(
            f"{argument} holds 2-byte values of a type NumPy does not know. If it is bfloat16, pass "
            "np.load(path, mmap_mode='r').view(ml_dtypes.bfloat16)."
        )
    raise TypeError(f"{argument} must hold real numbers. Got dtype {dtype}.")


def as_stored(array: NDArray[Any], argument: str) -> NDArray[Any]:
    """The array in its natural type; itself where nothing has to be converted."""
    dtype = natural_dtype(array, argument)
    return array if array.dtype == dtype else array.astype(dtype)


def check_finite_rows(chunk: NDArray[Any], start: int, argument: str) -> None:
    """Raise on NaN or infinity in rows from `start` on, naming the row."""
    # a sum is finite unless a term is not, or it overflows: one cheap pass in nearly every case
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(chunk.sum(dtype=np.float64)):
            return
    bad = np.argwhere(~np.isfinite(chunk))
    if len(bad):
        raise ValueError(
            f"{argument} must be finite. It contains NaN or infinity, first in row {start + int(bad[0, 0])}, "
            f"column {int(bad[0, 1])} (counted from 0). Remove or impute it."
        )


class Part(Protocol):
    """A matrix that gives any of its rows."""

    shape: tuple[int, int]
    # of the rows it gives: float16, float32 or float64
    dtype: np.dtype[Any]

    def spans(self, most: int) -> Iterator[tuple[int, int]]:
        """Where to read from and to, at most `most` rows at a time."""
        ...

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """A slice of the rows."""
        ...

    def take(self, rows: Ints) -> NDArray[Any]:
        """Some of the rows, ascending."""
        ...


class ArrayPart:
    """A matrix in memory, or mapped from a file."""

    def __init__(self, array: NDArray[Any], argument: str = "X") -> None:
        self.array = array
        self.shape = (array.shape[0], array.shape[1])
        self.dtype = natural_dtype(array, argument)

    def spans(self, most: int) -> Iterator[tuple[int, int]]:
        """As `Part.spans`."""
        return _spans(self.shape[0], most)

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """As `Part.read`."""
        return np.asarray(self.array[start:stop], self.dtype)

    def take(self, rows: Ints) -> NDArray[Any]:
        """As `Part.take`."""
        return np.asarray(self.array[rows], self.dtype)


class StorePart:
    """An HDF5 or zarr array. Whole storage chunks are read: one read twice is decompressed twice."""

    def __init__(self, store: Any, where: str) -> None:
        self._store, self._where = store, where
        if len(store.shape) != 2:
            raise ValueError(
                f"{where} must have shape (n_points, n_features). Got {tuple(map(int, store.shape))}."
            )
        self.shape = (int(store.shape[0]), int(store.shape[1]))
        self.dtype = natural_dtype(store, where)
        chunks = getattr(store, "chunks", None)
        self._height = int(chunks[0]) if chunks else None
        if chunks:
            refuse_if_too_large(
                int(chunks[0]) * int(chunks[1]) * np.dtype(store.dtype).itemsize,
                f"Single chunks of {where}",
                "Store it in smaller chunks.",
            )
        _check_allocated(store, where)

    def spans(self, most: int) -> Iterator[tuple[int, int]]:
        """As `Part.spans`."""
        if self._height is not None and self._height <= most:
            most = most // self._height * self._height
        return _spans(self.shape[0], most)

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """As `Part.read`."""
        with reading(self._where):
            found = np.asarray(self._store[start:stop])
        if found.shape != (stop - start, self.shape[1]):
            raise FormatError(
                f"{self._where} announces {self.shape[0]:,} rows. "
                f"Rows {start} to {stop - 1} cannot be read from it."
            )
        return np.asarray(found, self.dtype)

    def take(self, rows: Ints) -> NDArray[Any]:
        """As `Part.take`."""
        height = self._height or _ROWS_AROUND
        blocks = np.flatnonzero(np.diff(rows // height, prepend=-1))
        found = []
        for first, last in zip(blocks, [*blocks[1:], len(rows)]):
            start = int(rows[first])
            found.append(self.read(start, int(rows[last - 1]) + 1)[rows[first:last] - start])
        return np.concatenate(found)


class DaskPart:
    """A Dask array, computed block by block."""

    def __init__(self, array: Any, argument: str) -> None:
        if len(array.shape) != 2:
            raise ValueError(f"{argument} must have shape (n_points, n_features). Got {tuple(array.shape)}.")
        if any(size != size for size in array.shape):
            raise ValueError(
                f"{argument} is a Dask array of unknown size. Call {argument}.compute_chunk_sizes() first."
            )
        self._array = array
        self.shape = (int(array.shape[0]), int(array.shape[1]))
        self.dtype = natural_dtype(array, argument)

    def spans(self, most: int) -> Iterator[tuple[int, int]]:
        """As `Part.spans`."""
        start = 0
        for height in self._array.chunks[0]:
            for first, last in _spans(int(height), most):
                yield start + first, start + last
            start += int(height)

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """As `Part.read`."""
        return np.asarray(self._array[start:stop].compute(), self.dtype)

    def take(self, rows: Ints) -> NDArray[Any]:
        """As `Part.take`."""
        return np.asarray(self._array[rows].compute(), self.dtype)


def _spans(n_rows: int, most: int) -> Iterator[tuple[int, int]]:
    for start in range(0, n_rows, most):
        yield start, min(start + most, n_rows)


@contextlib.contextmanager
def reading(where: str) -> Iterator[None]:
    """Report whatever a library raises on a damaged file as a FormatError that names the file."""
    try:
        yield
    except (ArboraError, MemoryError):
        raise
    except Exception as error:
        raise FormatError(
            f"{where} is damaged, cut short or not what its name says ({type(error).__name__}: {error})."
        ) from error


def _check_allocated(store: Any, where: str) -> None:
    """Refuse an HDF5 array that announces rows of which nothing was ever written."""
    storage = getattr(getattr(store, "id", None), "get_storage_size", None)
    if storage is not None and 0 not in store.shape and not store.is_virtual and storage() == 0:
        raise FormatError(
            f"{where} announces shape {tuple(store.shape)}, but none of its values was ever written."
        )
