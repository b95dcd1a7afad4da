"""Nearest neighbors among sparse rows, and among points of which only the distances are known."""

from __future__ import annotations

from typing import Any

import numpy as np

from arbora._base.types import Floats
from arbora.similarity._cells import Report, silent_share
from arbora.similarity._neighbors import Neighbors

_ROWS_AT_ONCE = 1024


class SparseIndex:
    """Neighbors among sparse rows too wide to be made dense, through scikit-learn's brute force."""

    def __init__(self, X: Any, unit: float | None = None) -> None:
        from sklearn.neighbors import NearestNeighbors

        # in units of the largest value: squares must neither overflow nor vanish
        self.unit = unit or float(np.abs(X.data).max(initial=0.0)) or 1.0
        rows = X / self.unit if unit is None else X
        self.model = NearestNeighbors(algorithm="brute", metric="euclidean").fit(rows)

    def neighbors(self, n_neighbors: int, n_threads: int, report: Report = silent_share) -> Neighbors:
        """Neighbors of every point, itself excluded."""
        if n_neighbors == 0:
            n_points = self.model.n_samples_fit_
            return np.empty((n_points, 0), dtype=np.int64), np.empty((n_points, 0))
        distance, points = self.model.set_params(n_jobs=n_threads).kneighbors(n_neighbors=n_neighbors)
        return points, distance

    def query(self, X: Any, n_neighbors: int, n_threads: int) -> Neighbors:
        """Neighbors of new vectors among the points."""
        new = X / self.unit
        distance, points = self.model.set_params(n_jobs=n_threads).kneighbors(new, n_neighbors=n_neighbors)
        return points, distance

    def points(self) -> Any:
        """The points in order, in the index's own unit."""
        return self.model._fit_X

    def nearby_order(self) -> None:
        """None: the rows stay in the order given."""


class DistanceIndex:
    """Neighbors by distances given as a square matrix."""

    def __init__(self, distances: Floats | None) -> None:
        self._distances = distances

    def neighbors(self, n_neighbors: int, n_threads: int, report: Report = silent_share) -> Neighbors:
        """Neighbors of every point, itself excluded. The distances are released: new points bring their own."""
        distances, self._distances = self._distances, None
        if distances is None:
            raise RuntimeError("The neighbors of an index of distances can be found once.")
        points = np.empty((len(distances), n_neighbors), dtype=np.int64)
        nearest = np.empty(points.shape)
        for first in range(0, len(distances), _ROWS_AT_ONCE):
            some = slice(first, first + _ROWS_AT_ONCE)
            block = distances[some].copy()
            block[np.arange(len(block)), np.arange(first, first + len(block))] = np.inf
            points[some], nearest[some] = _nearest_columns(block, n_neighbors)
        return points, nearest

    def query(self, X: Floats, n_neighbors: int, n_threads: int) -> Neighbors:
        """Neighbors of new points, given by their distances to all points."""
        return _nearest_columns(X, n_neighbors)

    def points(self) -> None:
        """None: only distances are known."""

    def nearby_order(self) -> None:
        """None: the points stay in the order given."""


def _nearest_columns(distances: Floats, n_neighbors: int) -> Neighbors:
    """The smallest entries of each row in ascending order, ties by number."""
    points = np.argsort(distances, axis=1, kind="stable")[:, :n_neighbors]
    return points, np.take_along_axis(distances, points, axis=1)
