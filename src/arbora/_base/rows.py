"""Rows of a matrix, read in pieces: one reader for arrays, files, stores and iterators.

`open_rows` takes anything with rows and gives a `Rows`: how many there are (where that is known), their names,
some of them, or all of them chunk by chunk. Numbers come as float16, float32 or float64, as they are stored; whole
numbers become float64, bfloat16 becomes float32. Data that is damaged, foreign or changes while it is read is
refused in arbora's words.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from arbora._base import row_stores as stores
from arbora._base.arrays import as_matrix
from arbora._base.row_kinds import PartRows, Rows, StreamedRows
from arbora._base.row_parts import ArrayPart, Part, as_stored


def is_in_pieces(data: Any) -> bool:
    """Whether data is read in pieces: a path, a memory map, a store, a list of 2-D chunks, an iterator, a function.

    Anything else (arrays, tensors, frames, sparse matrices, nested lists) is a matrix in memory.

    Examples
    --------
    >>> import numpy as np
    >>> from arbora._base.rows import is_in_pieces
    >>> is_in_pieces(np.ones((2, 3))), is_in_pieces([np.ones((2, 3))]), is_in_pieces("logits.npy")
    (False, True, True)
    """
    if isinstance(data, (str, os.PathLike, Rows, np.memmap)) or stores.is_store(data) or stores.is_dask(data):
        return True
    if isinstance(data, (list, tuple)):
        return len(data) > 0 and all(_is_chunk(item) for item in data)
    if hasattr(data, "__array__") or hasattr(data, "shape") or isinstance(data, (bytes, Mapping, Set)):
        return False
    return callable(data) or isinstance(data, Iterable)


def _is_chunk(item: Any) -> bool:
    return getattr(item, "ndim", None) == 2 or stores.is_store(item)


RowSource: TypeAlias = Any


def open_rows(data: RowSource, *, argument: str = "X") -> Rows:
    """Rows of anything that has rows.

    Parameters
    ----------
    data : array, memory map, tensor, frame, path, store, list of chunks, iterable or function
        - a matrix in memory or mapped from a file;
        - the path of a .npy, HDF5, Parquet or zarr file, or of a directory of files of one of these kinds, which are
          read in the order of their names;
        - an open HDF5 or zarr array, an Arrow table, data set or reader, a Dask array or frame;
        - a list of matrices, one below the other;
        - an iterable of matrices, a PyTorch DataLoader (the first item of its batches), or a function without
          arguments that returns an iterator of matrices.
    argument : str
        What the caller calls it, for messages.

    Returns
    -------
    rows : Rows
    """
    if isinstance(data, Rows):
        return data
    if isinstance(data, (str, os.PathLike)):
        return _rows_of(stores.open_path(data, argument), argument)
    if stores.is_store(data) or stores.is_dask(data):
        return _rows_of(stores.open_store(data, argument), argument)
    if isinstance(data, (list, tuple)) and is_in_pieces(data):
        parts: list[Part] = []
        for number, item in enumerate(data):
            rows = open_rows(item, argument=f"Chunk {number} of {argument}")
            parts.extend(rows.parts if isinstance(rows, PartRows) else [ArrayPart(_joined(rows))])
        return PartRows(argument, parts)
    if isinstance(data, np.memmap) and data.ndim == 2:
        # converted as it is read, never as a whole
        return PartRows(argument, [ArrayPart(data, argument)])
    if isinstance(data, np.ndarray) or not is_in_pieces(data):
        matrix = as_matrix(data, argument=argument)
        return PartRows(argument, [ArrayPart(as_stored(matrix.values, argument))], matrix.column_names)
    return _open_iterable(data, argument)


def _rows_of(opened: stores.Opened, argument: str) -> Rows:
    if isinstance(opened, stores.OpenedParts):
        return PartRows(argument, opened.parts, opened.column_names)
    return StreamedRows(
        argument,
        opened.open_pass,
        is_repeatable=opened.is_repeatable,
        n_rows=opened.n_rows,
        column_names=opened.column_names,
    )


def _joined(rows: Rows) -> NDArray[Any]:
    return np.concatenate([chunk for _, chunk in rows.chunks()])


def _open_iterable(data: Any, argument: str) -> Rows:
    if stores.is_data_loader(data):
        return StreamedRows(
            argument,
            lambda: stores.loader_chunks(data, argument),
            is_repeatable=stores.has_fixed_order(data),
        )
    if isinstance(data, Iterable):
        return StreamedRows(argument, lambda: iter(data), is_repeatable=not isinstance(data, Iterator))
    try:
        inspect.signature(data).bind()
    except (TypeError, ValueError):
        raise TypeError(
            f"{argument} is a {type(data).__name__} that cannot be called without arguments. A function must return an "
            "iterator of matrices; for a model, pass its outputs."
        ) from None
    return StreamedRows(argument, lambda: _iterator_of(data(), argument), is_repeatable=True)


def _iterator_of(result: Any, argument: str) -> Iterator[Any]:
    if not isinstance(result, Iterable) or hasattr(result, "shape"):
        raise TypeError(
            f"{argument} is a function; it must return an iterator of matrices. It returned a {type(result).__name__}."
        )
    return iter(result)


__all__ = ["PartRows", "RowSource", "Rows", "is_in_pieces", "open_rows"]
