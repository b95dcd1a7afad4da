"""Logits from anything that has rows: read where they are if they fit memory, streamed if they do not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from arbora._base.arrays import as_matrix, validated
from arbora._base.rows import Rows, is_in_pieces, open_rows
from arbora.logits._numbers import is_tensor_or_bfloat16
from arbora.logits._protocol import Reading
from arbora.logits._rows import ArrayRows
from arbora.logits._stream import StreamedLogits

# Points whose probabilities are held at once when they are predicted or reported.
ROWS_PER_BLOCK = 1 << 15


def checked_rows(estimator: Any, X: Any, *, reset: bool) -> Rows:
    """Rows of X, whose number of columns is checked, or recorded by the estimator if `reset`."""
    if is_in_pieces(X):
        source = open_rows(X)
        validate_data(estimator, np.broadcast_to(np.float32(0), (1, source.shape[1])), reset=reset)
        return source
    if is_tensor_or_bfloat16(X):
        validate_data(estimator, np.broadcast_to(np.float32(0), tuple(X.shape)), reset=reset)
        return open_rows(X)
    # ragged lists, mappings (one sparse format is one) and structured arrays are refused in arbora's words
    is_odd = isinstance(X, (list, tuple, Mapping)) or getattr(getattr(X, "dtype", None), "names", None)
    if is_odd and not hasattr(X, "nnz"):
        X = as_matrix(X).values
    # the first reading of the rows finds NaN and infinity without another pass
    checked = validated(
        estimator, X, reset=reset, dtype=[np.float64, np.float32, np.float16], ensure_all_finite=False
    )
    return open_rows(checked)


def open_logits(
    source: Rows, reading: Reading, *, max_memory: int, with_class_sums: bool = False
) -> ArrayRows | StreamedLogits:
    """Logits for `L2H.fit`: in place, read into memory, or streamed if they take more than `max_memory` bytes."""
    if source.n_bytes is not None and source.n_bytes > max_memory:
        return StreamedLogits(source, reading, max_memory, with_class_sums=with_class_sums)
    if source.in_place is not None:
        return ArrayRows(source.in_place, reading)
    chunks = (chunk for _, chunk in source.chunks())
    read: list[NDArray[Any]] = []
    size = 0
    for chunk in chunks:
        read.append(chunk)
        size += chunk.nbytes
        if size > max_memory:
            begun = _emptied(read, chunks)
            return StreamedLogits(source, reading, max_memory, with_class_sums=with_class_sums, begun=begun)
    if sum(map(len, read)) == 0:
        raise ValueError("X must not be empty. It has 0 sample(s).")
    return ArrayRows(np.concatenate(read), reading)


def _emptied(read: list[NDArray[Any]], rest: Iterator[NDArray[Any]]) -> Iterator[NDArray[Any]]:
    """What was already read, each chunk released once used, then the rest."""
    read.reverse()
    while read:
        yield read.pop()
    yield from rest


def blocks_of(source: Rows, reading: Reading) -> Iterator[ArrayRows]:
    """All points, in blocks small enough for their probabilities to be held."""
    for _, chunk in source.chunks(ROWS_PER_BLOCK):
        if len(chunk):
            yield ArrayRows(chunk, reading)
