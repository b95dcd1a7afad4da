"""Nearest neighbors in a set of vectors: exact for small sets, among nearby k-means cells for large ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from arbora.similarity import _knn_kernels as kernels

EXACT_UP_TO = 20_000  # rows; beyond, only nearby cells are searched
MOST_CELLS = 24  # searched for a row
GOOD_RECALL = 0.97  # share of a sample's neighbors within the cells searched: no need to search more
_SAMPLED_ROWS = 256
_CELLS_PER_ROOT = 2  # times sqrt(n)
_LARGEST_CELL = 4  # times the mean
_ROWS_AT_ONCE = 1024
_KMEANS_STEPS = 6
_ROWS_PER_CENTROID = 48  # sampled for k-means


class NeighborIndex:
    """Rows of vectors, sorted by cell, ready to be searched.

    A cell's rows are compared with all rows of the nearest cells by one matrix product: on the hardware
    measured several times less work than scanning the same inverted lists row by row.

    Attributes
    ----------
    rows : ndarray of float, shape (n_points, n_features)
        The vectors, shifted and scaled, those of a cell together.
    order : ndarray of int, shape (n_points,)
        The point that each row is.
    offsets : ndarray of int, shape (n_cells + 1,)
        Where each cell starts.
    centers : ndarray or None
        Means of the cells; None when search is exact.
    """

    def __init__(
        self, X: NDArray[np.floating], *, centered: bool, seed: int, n_jobs: int | None = None
    ) -> None:
        n_points = len(X)
        self.shift = X.mean(axis=0, dtype=np.float64) if centered else np.zeros(X.shape[1])
        self.is_exact = n_points <= EXACT_UP_TO
        self.dtype = X.dtype if self.is_exact else np.float32
        self.scale = 1.0
        shifted = self.transform(X)
        self.scale = max(float(np.abs(shifted).max()), 1e-300)
        shifted /= self.dtype.type(self.scale) if isinstance(self.dtype, np.dtype) else np.float32(self.scale)
        if self.is_exact:
            self.centers: Any = None
            self.order = np.arange(n_points)
            self.offsets = np.append(np.arange(0, n_points, _ROWS_AT_ONCE), n_points)
            self.rows = shifted
        else:
            self._sort_into_cells(shifted, seed, effective_n_jobs(n_jobs))
        self.squares = np.einsum("ij,ij->i", self.rows, self.rows)

    def transform(self, X: NDArray[np.floating]) -> NDArray[np.floating]:
        """Vectors in the coordinates of `rows`: squares of far-off values must not overflow or cancel."""
        return ((X - self.shift) / self.scale).astype(self.dtype)

    def _sort_into_cells(self, X: NDArray[np.float32], seed: int, n_threads: int) -> None:
        n_cells = int(_CELLS_PER_ROOT * np.sqrt(len(X)))
        self.centers = _kmeans_centers(X, n_cells, seed, n_threads)
        cell = _nearest_centers(X, self.centers, n_threads)
        self.order = np.argsort(cell, kind="stable")
        offsets = np.searchsorted(cell[self.order], np.arange(n_cells + 1))
        # many duplicates fill one cell: cut it into pieces, lest it be compared with itself in n^2
        largest = _LARGEST_CELL * len(X) // n_cells
        pieces = np.maximum(1, -(-np.diff(offsets) // largest))
        starts = [a + np.arange(p) * largest for a, p in zip(offsets[:-1], pieces)]
        self.offsets = np.append(np.concatenate(starts), len(X))
        self.centers = np.repeat(self.centers, pieces, axis=0)
        self.rows = X[self.order]

    def neighbors(
        self, n_neighbors: int, n_jobs: int | None = None, progress: Callable[[float], None] | None = None
    ) -> tuple[NDArray, NDArray]:
        """Neighbors of every point, itself excluded: (points int64[n, k], distances float64[n, k])."""
        who = np.full((len(self.rows), n_neighbors), -1, dtype=np.int32)
        n_cells = len(self.offsets) - 1
        probes, recall = self._probes_by_sample(n_neighbors)

        def search_cell(cell: int) -> None:
            own = np.arange(self.offsets[cell], self.offsets[cell + 1])
            if len(own):
                who[own] = self._search(self.rows[own], own, probes[cell], n_neighbors)

        n_threads = effective_n_jobs(n_jobs)
        _in_threads(search_cell, range(n_cells), n_threads, progress)
        if not self.is_exact:
            who = self._improved(who, int(recall < GOOD_RECALL), n_threads)
            self._complete(who, self.rows, np.arange(len(who)))
        distance = kernels.measure_and_sort(self.rows, self.rows, who)
        points, distances = np.empty(who.shape, dtype=np.int64), np.empty(who.shape)
        points[self.order] = self.order[who]
        distances[self.order] = distance * self.scale
        return points, distances

    def query(
        self, X: NDArray[np.floating], n_neighbors: int, n_jobs: int | None = None
    ) -> tuple[NDArray, NDArray]:
        """Neighbors of new vectors among the points: (points int64[m, k], distances float64[m, k])."""
        new = self.transform(X)
        who = np.full((len(new), n_neighbors), -1, dtype=np.int32)
        groups = self._groups_with_probes(new, effective_n_jobs(n_jobs))

        def search_group(group: tuple[NDArray, NDArray]) -> None:
            rows, probes = group
            who[rows] = self._search(new[rows], np.full(len(rows), -1), probes, n_neighbors)

        _in_threads(search_group, groups, effective_n_jobs(n_jobs))
        self._complete(who, new, np.full(len(new), -1))
        distance = kernels.measure_and_sort(new, self.rows, who)
        return self.order[who], distance * self.scale

    def _groups_with_probes(self, new: NDArray[np.floating], n_threads: int) -> list[tuple[NDArray, NDArray]]:
        """Rows to be searched together, and the cells to search for them."""
        if self.centers is None:
            every = np.arange(len(self.offsets) - 1)
            return [
                (np.arange(a, min(a + _ROWS_AT_ONCE, len(new))), every)
                for a in range(0, len(new), _ROWS_AT_ONCE)
            ]
        cell = _nearest_centers(new, self.centers, n_threads)
        probes = self._cells_to_search()
        order = np.argsort(cell, kind="stable")
        groups = np.split(order, np.flatnonzero(np.diff(cell[order])) + 1)
        return [
            (group[a : a + _ROWS_AT_ONCE], probes[cell[group[0]]])
            for group in groups
            for a in range(0, len(group), _ROWS_AT_ONCE)
        ]

    def _cells_to_search(self) -> list[NDArray[np.int64]]:
        """For the rows of each cell: the cell itself, then those with the nearest centers."""
        n_cells = len(self.offsets) - 1
        if self.centers is None or n_cells <= MOST_CELLS:
            return [np.arange(n_cells)] * n_cells
        values = np.einsum("ij,ij->i", self.centers, self.centers) - 2 * (self.centers @ self.centers.T)
        np.fill_diagonal(values, -np.inf)
        nearest = np.argpartition(values, MOST_CELLS, axis=1)[:, :MOST_CELLS]
        by_distance = np.argsort(np.take_along_axis(values, nearest, axis=1), axis=1, kind="stable")
        return list(np.take_along_axis(nearest, by_distance, axis=1))

    def _probes_by_sample(self, n_neighbors: int) -> tuple[list[NDArray[np.int64]], float]:
        """As many cells as hold nearly all neighbors of sampled rows, and the share that they do hold."""
        probes = self._cells_to_search()
        if self.is_exact:
            return probes, 1.0
        rows = np.unique(np.linspace(0, len(self.rows) - 1, _SAMPLED_ROWS).astype(np.int64))
        with threadpool_limits(limits=1, user_api="blas"):
            found = self._search(self.rows[rows], rows, np.arange(len(self.offsets) - 1), n_neighbors)
        cell_of_row = np.searchsorted(self.offsets, np.arange(len(self.rows)), side="right") - 1
        searched = np.array([probes[cell] for cell in cell_of_row[rows]])
        held = (
            cell_of_row[found][:, :, None] == searched[:, None, :]
        )  # sample, neighbor, cell in order of search
        recall = np.cumsum(held.mean(axis=(0, 1)))
        enough = int(np.searchsorted(recall, GOOD_RECALL)) + 1
        n_cells = min(max(enough, 2), len(recall))
        return [cells[:n_cells] for cells in probes], float(recall[n_cells - 1])

    def _complete(self, who: NDArray[np.int32], queries: NDArray, own: NDArray) -> None:
        """Search everywhere for rows whose nearby cells held too few points."""
        short = np.flatnonzero(who[:, -1] < 0)
        every = np.arange(len(self.offsets) - 1)
        for first in range(0, len(short), _ROWS_AT_ONCE):
            rows = short[first : first + _ROWS_AT_ONCE]
            who[rows] = self._search(queries[rows], own[rows], every, who.shape[1])

    def _search(self, queries: NDArray, own: NDArray, probes: NDArray, n_neighbors: int) -> NDArray[np.int32]:
        best = np.full((len(queries), n_neighbors), np.inf, dtype=self.rows.dtype)
        who = np.full((len(queries), n_neighbors), -1, dtype=np.int32)
        for cell in probes:
            first, last = self.offsets[cell], self.offsets[cell + 1]
            if first < last:
                products = queries @ self.rows[first:last].T
                kernels.select_nearest(products, self.squares, first, own, best, who)
        return who

    def _improved(self, who: NDArray[np.int32], n_passes: int, n_threads: int) -> NDArray[np.int32]:
        bounds = np.linspace(0, len(who), n_threads + 1).astype(np.int64)
        for _ in range(n_passes):
            both = kernels.add_reverse_neighbors(who)
            improved = np.empty_like(who)
            improve = partial(kernels.try_neighbors_of_neighbors, self.rows, who, both)
            _in_threads(lambda p: improve(bounds[p], bounds[p + 1], improved), range(n_threads), n_threads)  # noqa: B023
            who = improved
        return who


class SparseIndex:
    """The same for sparse rows too wide to be made dense, through scikit-learn's brute force."""

    def __init__(self, X: Any) -> None:
        from sklearn.neighbors import NearestNeighbors

        self.model = NearestNeighbors(algorithm="brute", metric="euclidean").fit(X)

    def neighbors(
        self, n_neighbors: int, n_jobs: int | None = None, progress: Callable[[float], None] | None = None
    ) -> tuple[NDArray, NDArray]:
        """Neighbors of every point, itself excluded: (points int64[n, k], distances float64[n, k])."""
        distance, points = self.model.set_params(n_jobs=n_jobs).kneighbors(n_neighbors=n_neighbors)
        return points, distance

    def query(self, X: Any, n_neighbors: int, n_jobs: int | None = None) -> tuple[NDArray, NDArray]:
        """Neighbors of new vectors among the points: (points int64[m, k], distances float64[m, k])."""
        distance, points = self.model.set_params(n_jobs=n_jobs).kneighbors(X, n_neighbors=n_neighbors)
        return points, distance


def _in_threads(
    work: Callable[[Any], None],
    items: Sequence[Any],
    n_threads: int,
    progress: Callable[[float], None] | None = None,
) -> None:
    """Do independent work in threads; each thread's matrix products stay in that thread."""
    with threadpool_limits(limits=1, user_api="blas"), ThreadPoolExecutor(n_threads) as pool:
        finished = map(work, items) if n_threads == 1 else pool.map(work, items)
        for k, _ in enumerate(finished):
            if progress is not None:
                progress((k + 1) / len(items))


def _kmeans_centers(X: NDArray[np.float32], n_cells: int, seed: int, n_threads: int) -> NDArray[np.float32]:
    import faiss

    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(n_threads)
    try:
        kmeans = faiss.Kmeans(
            X.shape[1],
            n_cells,
            niter=_KMEANS_STEPS,
            seed=seed,
            max_points_per_centroid=_ROWS_PER_CENTROID,
            min_points_per_centroid=1,
        )
        kmeans.train(X)
    finally:
        faiss.omp_set_num_threads(before)
    return np.asarray(kmeans.centroids)


def _nearest_centers(
    X: NDArray[np.float32], centers: NDArray[np.float32], n_threads: int
) -> NDArray[np.int64]:
    cell = np.empty(len(X), dtype=np.int64)
    squares = np.einsum("ij,ij->i", centers, centers)

    def assign(first: int) -> None:
        products = X[first : first + _ROWS_AT_ONCE] @ centers.T
        cell[first : first + _ROWS_AT_ONCE] = (squares - 2 * products).argmin(axis=1)

    _in_threads(assign, range(0, len(X), _ROWS_AT_ONCE), n_threads)
    return cell
