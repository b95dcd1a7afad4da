"""Rows of data sets that may not fit into memory: arrays, memory maps, on-disk arrays, lists of chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from arbora.hyperbolic.ghhc.distances import Floats
from arbora.hyperbolic.ghhc.model import Ints

CHUNK = 16_384  # rows read at a time


def is_out_of_core(data: Any) -> bool:
    """Whether `data` must be read in pieces: a memory map, an on-disk or lazy array, a list of 2-D chunks."""
    if isinstance(data, np.memmap):
        return True
    if isinstance(data, (list, tuple)):
        return bool(data) and all(getattr(chunk, "ndim", 0) == 2 for chunk in data)
    return (
        not isinstance(data, np.ndarray) and hasattr(data, "chunks") and len(getattr(data, "shape", ())) == 2
    )


class RowReader:
    """One face for everything with rows.

    Parameters
    ----------
    data : 2-D array-like or sequence of 2-D arrays
        NumPy arrays and memory maps; h5py, zarr or dask arrays; a list of chunks, one below the other.

    Examples
    --------
    >>> import numpy as np
    >>> from arbora.hyperbolic.ghhc.rows import RowReader
    >>> reader = RowReader([np.zeros((2, 3)), np.ones((2, 3))])
    >>> reader.shape, reader.take(np.array([0, 3]))[:, 0]
    ((4, 3), array([0., 1.]))
    """

    def __init__(self, data: Any) -> None:
        self._parts = list(data) if isinstance(data, (list, tuple)) else [data]
        widths = {part.shape[1] for part in self._parts}
        if len(widths) != 1:
            raise ValueError(f"All chunks of X must have the same number of columns. Got {sorted(widths)}.")
        self._ends = np.cumsum([part.shape[0] for part in self._parts])
        self.shape = (int(self._ends[-1]), widths.pop())
        single = all(np.dtype(part.dtype) == np.float32 for part in self._parts)
        self.dtype = np.dtype(np.float32 if single else np.float64)

    def take(self, rows: Ints) -> Floats:
        """The given rows (sorted, distinct), in memory."""
        pieces = []
        start = 0
        for part, end in zip(self._parts, self._ends):
            wanted = rows[np.searchsorted(rows, start) : np.searchsorted(rows, end)] - start
            if len(wanted):
                # zarr takes lists of rows by its orthogonal index only
                found = part.oindex[wanted, :] if hasattr(part, "oindex") else part[wanted]
                pieces.append(np.asarray(found, self.dtype))
            start = end
        return np.concatenate(pieces) if pieces else np.empty((0, self.shape[1]), self.dtype)

    def chunks(self) -> Iterator[tuple[slice, Floats]]:
        """All rows in order, a chunk at a time, with their places."""
        offset = 0
        for part, end in zip(self._parts, self._ends):
            for start in range(offset, int(end), CHUNK):
                stop = min(start + CHUNK, int(end))
                yield slice(start, stop), np.asarray(part[start - offset : stop - offset], self.dtype)
            offset = int(end)

    def column_means(self) -> Floats:
        """Mean of each column, checked to be finite on the way."""
        total = np.zeros(self.shape[1])
        for rows, chunk in self.chunks():
            part = chunk.sum(axis=0, dtype=np.float64)
            if not np.isfinite(part).all() and not np.isfinite(chunk).all():
                raise ValueError(
                    f"Input X contains NaN or infinity (rows {rows.start} to {rows.stop - 1}). "
                    "Remove or impute these rows."
                )
            total += part
        return (total / self.shape[0]).astype(self.dtype)


class BallPlacement:
    """Places rows at the edge of the ball: center, project, scale to one norm.

    Attributes
    ----------
    mean : float[D]
    projection : float[D, d] or None
        None keeps the columns as they are.
    norm : float
        Euclidean norm of every placed row (a row that is exactly the mean stays at the origin).
    """

    def __init__(self, mean: Floats, projection: Floats | None, norm: float) -> None:
        self.mean, self.projection, self.norm = mean, projection, norm

    def project(self, rows: Floats) -> Floats:
        """Centered and projected rows, before they are scaled."""
        centered = rows - self.mean
        return centered if self.projection is None else centered @ self.projection

    def __call__(self, rows: Floats) -> Floats:
        """Rows in the ball."""
        placed = self.project(rows)
        length = np.sqrt(np.einsum("nd,nd->n", placed, placed))
        placed *= (self.norm / np.where(length > 0, length, 1.0))[:, None].astype(placed.dtype)
        return placed

    def reader(self, rows: RowReader) -> Callable[[Ints], Floats]:
        """Function from row numbers to placed rows."""
        return lambda wanted: self(rows.take(wanted))

    def projection_gradient(self, rows: Floats, by_placed: Floats) -> Floats:
        """Gradient by the projection of a cost whose gradient by the placed rows is given: float[D, d].

        Scaling to one norm keeps only the part of the gradient across the row.
        """
        projected = self.project(rows)
        length = np.sqrt(np.einsum("nd,nd->n", projected, projected))
        unit = projected / np.where(length > 0, length, 1.0)[:, None]
        across = by_placed - np.einsum("nd,nd->n", by_placed, unit)[:, None] * unit
        across *= np.where(length > 0, self.norm / np.maximum(length, 1e-12), 0.0)[:, None]
        return (rows - self.mean).T @ across


def first_projection(
    kind: str | None, n_features: int, n_components: int | None, rng: np.random.Generator, dtype: np.dtype
) -> Floats | None:
    """Projection to start with: none, or Gaussian; a learned one of full size starts as the identity."""
    if kind is None:
        return None
    width = n_features if n_components is None else n_components
    if kind == "learned" and width == n_features:
        return np.eye(n_features, dtype=dtype)
    return (rng.standard_normal((n_features, width)) / np.sqrt(width)).astype(dtype)
