"""How distances to neighbors become similarities."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from arbora._base.threads import share_out
from arbora._base.types import Floats, Ints
from arbora.similarity import _join_kernels as join_kernels
from arbora.similarity import _knn_kernels as kernels
from arbora.similarity._few_rows import FEW, scales_of_few
from arbora.similarity._knn_kernels import SMALLEST_SCALE

Weights: TypeAlias = Literal["fuzzy", "relative", "heat", "binary"]
WEIGHTS = ("fuzzy", "relative", "heat", "binary")
# kinds with a scale of each point
_LOCAL = ("fuzzy", "relative")
# an edge of the graph never vanishes by underflow
_SMALLEST_WEIGHT = np.float32(1e-12)
# entries from which the directions of edges are joined in threads; below, SciPy is done before a kernel is compiled
_JOINED_IN_THREADS = 200_000

Singles: TypeAlias = NDArray[np.float32]


class Weighting:
    """Weights of a kind, with the local scales that new points need. Independent of the unit of distances."""

    def __init__(self, kind: Weights, distance: Floats, n_threads: int = 1) -> None:
        self.kind = kind
        self.radius = distance.max(axis=1, initial=0.0)
        if kind in _LOCAL and distance.shape[1]:
            self.nearest, self.scale = _local_scales(distance, n_threads)
        elif kind == "heat":
            positive = self.radius[self.radius > 0]
            self.heat = float(np.median(positive)) if len(positive) else 1.0

    def updated(self, distance: Floats, changed: Ints) -> Weighting:
        """The weighting of more points, the old first, given which rows of distances are new or have changed.

        Not for "heat", whose one scale all points share.
        """
        larger = Weighting("binary", distance)
        larger.kind = self.kind
        if self.kind in _LOCAL:
            n_new = len(distance) - len(self.nearest)
            larger.nearest = np.concatenate([self.nearest, np.zeros(n_new)])
            larger.scale = np.concatenate([self.scale, np.zeros(n_new)])
            if len(changed):
                larger.nearest[changed], larger.scale[changed] = _local_scales(distance[changed])
        return larger

    def of_own(self, distance: Floats) -> Singles:
        """Weight of each point's edges to its neighbors, seen from the point."""
        if distance.shape[1] == 0 or self.kind == "binary":
            return np.ones(distance.shape, dtype=np.float32)
        if self.kind == "heat":
            weights = np.exp(-0.5 * (distance / self.heat) ** 2).astype(np.float32)
            return np.maximum(weights, _SMALLEST_WEIGHT)
        fuzzy: Singles = kernels.fuzzy_weights(distance, self.nearest, self.scale)
        return np.maximum(fuzzy, _SMALLEST_WEIGHT)

    def of_new(self, distance: Floats, points: Ints) -> Singles:
        """The same for new points; a neighbor's view counts where the new point would be its neighbor."""
        if self.kind not in _LOCAL:
            return self.of_own(distance)
        # nothing to scale by: the only neighbor is as near as can be
        if distance.shape[1] == 1:
            return np.ones(distance.shape, dtype=np.float32)
        theirs = np.exp(-np.maximum(distance - self.nearest[points], 0) / self.scale[points])
        theirs[distance > self.radius[points]] = 0
        ours = kernels.fuzzy_weights(distance, *_local_scales(distance))
        joined = np.maximum(ours + theirs - ours * theirs, _SMALLEST_WEIGHT)
        return np.asarray(joined, dtype=np.float32)


def relative_neighbors(near: Ints, distance: Floats, n_neighbors: int) -> tuple[Ints, Floats]:
    """The nearest of each point's candidates, by distances relative to those of both ends to their own neighbors.

    A hub, which is among the neighbors of very many points, is near to its own too, and so comes no nearer than others
    (Schnitzer et al. 2012). Candidates are sorted by distance; the unit of distances does not matter.
    """
    to_own = distance[:, :n_neighbors].mean(axis=1)
    # points that differ may be at no distance: rows of one direction, or given distances
    to_own = np.maximum(to_own, SMALLEST_SCALE * to_own.mean())
    scale = np.sqrt(np.where(to_own > 0, to_own, 1.0))
    relative = distance / scale[:, None] / scale[near]
    nearest = np.argsort(relative, axis=1, kind="stable")[:, :n_neighbors]
    return np.take_along_axis(near, nearest, axis=1), np.take_along_axis(relative, nearest, axis=1)


def _local_scales(distance: Floats, n_threads: int = 1) -> tuple[Floats, Floats]:
    if len(distance) <= FEW:
        return scales_of_few(distance)
    # rows without any distance are scaled by the mean of all: only without them rows can be shared out
    n_threads = n_threads if (distance[:, -1] > 0).all() else 1
    nearest, scale = np.empty(len(distance)), np.empty(len(distance))

    def smooth(first: int, last: int) -> None:
        nearest[first:last], scale[first:last] = kernels.smooth_local_scales(distance[first:last])

    share_out(smooth, len(distance), n_threads)
    return nearest, scale


def rows_of_neighbors(points: Ints, weight: Singles, n_points: int, n_threads: int = 1) -> sp.csr_array:
    """A sparse row of weights for each row of neighbors, which are distinct."""
    n_rows, k = points.shape
    index = np.int32 if max(n_rows * k, n_points) < 2**31 else np.int64
    indptr = np.arange(0, n_rows * k + 1, k, dtype=index) if k else np.zeros(n_rows + 1, dtype=index)
    columns, weight = points.astype(index), weight.copy()
    if n_rows * k >= _JOINED_IN_THREADS:

        def sort(first: int, last: int) -> None:
            join_kernels.sort_rows(columns, weight, first, last)

        share_out(sort, n_rows, n_threads)
    rows = sp.csr_array((weight.ravel(), columns.ravel(), indptr), shape=(n_rows, n_points))
    # nothing is left to do of large graphs, but to look
    rows.sort_indices()
    return rows


def join_directions(directed: sp.csr_array, kind: Weights, n_threads: int = 1) -> sp.csr_array:
    """The two directions of each edge as one: a + b - ab for weights of a local scale, otherwise the larger.

    Weights are positive and, in a large graph, single; columns are sorted.
    """
    if directed.nnz >= _JOINED_IN_THREADS:
        return _joined_in_threads(directed, kind in _LOCAL, n_threads)
    mirror = sp.csr_array(directed.T)
    if kind not in _LOCAL:
        joined = sp.csr_array(directed.maximum(mirror))
    else:
        joined = directed + mirror
        joined -= directed.multiply(mirror)
        joined = sp.csr_array(joined)
    joined.sort_indices()
    return joined


def _joined_in_threads(directed: sp.csr_array, is_fuzzy: bool, n_threads: int) -> sp.csr_array:
    n = directed.shape[0]
    indptr, indices, data = directed.indptr, directed.indices, directed.data
    mirror = _mirrored(directed, n_threads)
    length = np.empty(n, dtype=np.int64)

    def count(first: int, last: int) -> None:
        join_kernels.count_joined(indptr, indices, mirror.indptr, mirror.indices, first, last, length)

    share_out(count, n, n_threads)
    starts = _starts(length)
    columns = np.empty(starts[-1], dtype=starts.dtype)
    weights = np.empty(starts[-1], dtype=data.dtype)

    def join(first: int, last: int) -> None:
        join_kernels.join_rows(
            indptr,
            indices,
            data,
            mirror.indptr,
            mirror.indices,
            mirror.data,
            is_fuzzy,
            first,
            last,
            starts,
            columns,
            weights,
        )

    share_out(join, n, n_threads)
    return sp.csr_array((weights, columns, starts), shape=directed.shape)


def _mirrored(directed: sp.csr_array, n_threads: int) -> sp.csr_array:
    """The transposed matrix, columns sorted: each thread reads all entries and writes its share of the rows."""
    n, indptr, indices, data = directed.shape[0], directed.indptr, directed.indices, directed.data
    counts = np.zeros(n, dtype=np.int64)
    share_out(lambda low, high: join_kernels.count_columns(indices, low, high, counts), n, n_threads)
    starts = _starts(counts)
    cursor, mirror_indices, mirror_data = starts[:-1].copy(), np.empty_like(indices), np.empty_like(data)

    def fill(low: int, high: int) -> None:
        join_kernels.fill_mirror(indptr, indices, data, low, high, cursor, mirror_indices, mirror_data)

    share_out(fill, n, n_threads)
    return sp.csr_array((mirror_data, mirror_indices, starts), shape=directed.shape)


def _starts(length: Ints) -> NDArray[Any]:
    """Where rows of these lengths begin, and the last one ends, in 32 bits where that is enough."""
    starts = np.zeros(len(length) + 1, dtype=np.int64)
    np.cumsum(length, out=starts[1:])
    return starts.astype(np.int32 if starts[-1] < 2**31 else np.int64)
