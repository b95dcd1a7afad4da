"""A graph of nearest neighbors, built from vectors and able to place new ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from arbora._base.arrays import check_finite
from arbora.similarity import _knn_kernels as kernels
from arbora.similarity._neighbors import EXACT_UP_TO, NeighborIndex, SparseIndex
from arbora.similarity.features import checked_vectors
from arbora.similarity.graph import GraphSimilarity

METRICS = ("euclidean", "cosine")
WEIGHTS = ("fuzzy", "heat", "binary")
_SMALLEST_WEIGHT = np.float32(1e-12)  # an edge of the graph never vanishes by underflow
_SPARSE_RANK = 128  # dimensions to which sparse vectors are reduced
_DENSE_VALUES = 20_000_000  # sparse rows with fewer values, zeros included, are made dense


class KnnSimilarity(GraphSimilarity):
    """Similarity from a graph of nearest neighbors; build it with `arbora.similarity.knn`.

    Attributes
    ----------
    csr, self_loops
        As in `GraphSimilarity`; weights are float32.
    n_neighbors : int
        Neighbors looked for, at most n_points - 1.
    metric, weights : str
        As given to `knn`.
    """

    def __init__(
        self,
        csr: sp.csr_array,
        index: NeighborIndex | SparseIndex | None,
        space: _Space,
        weighting: _Weighting,
    ) -> None:
        super().__init__(csr)
        self._index = index
        self._space = space
        self._weighting = weighting
        self.n_neighbors = weighting.n_neighbors
        self.metric = space.metric
        self.weights = weighting.kind

    def query(self, X: Any, *, n_neighbors: int | None = None, n_jobs: int | None = None) -> sp.csr_array:
        """Similarity of new points to the points of the graph, weighted as if they had been among them.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, n_features)
            New points.
        n_neighbors : int, optional
            Neighbors looked for; by default as many as for the graph.
        n_jobs : int, optional
            Threads.

        Returns
        -------
        similarity : csr_array of float32, shape (m, n_points)
        """
        k = self.n_neighbors if n_neighbors is None else _checked_count(n_neighbors, self.n_points)
        new = self._space.place(X)
        if self._index is None:  # a single point: it is everybody's neighbor
            return sp.csr_array(np.ones((new.shape[0], 1), dtype=np.float32))
        points, distance = self._index.query(new, max(k, 1), n_jobs)
        weight = self._weighting.of_new(self._space.measured(distance), points)
        return _rows_of_neighbors(points, weight, self.n_points)

    def identity(self) -> dict[str, Any]:
        """What decides the similarity, for `identity_of`."""
        options = {"n_neighbors": self.n_neighbors, "metric": self.metric, "weights": self.weights}
        return super().identity() | options

    def __repr__(self) -> str:
        return (
            f"KnnSimilarity(n_points={self.n_points}, n_edges={self.n_edges}, n_neighbors={self.n_neighbors})"
        )


def knn(
    X: Any,
    n_neighbors: int = 15,
    metric: str = "euclidean",
    *,
    weights: str = "fuzzy",
    n_jobs: int | None = None,
    random_state: Any = None,
    progress: Callable[[float], None] | None = None,
) -> KnnSimilarity:
    """Similarity from the graph of nearest neighbors of the rows of X.

    Neighbors are exact up to 20,000 rows. Beyond, rows are sorted into about sqrt(n) k-means cells (faiss),
    a row is compared with those of the nearest cells, and neighbors of neighbors are tried; the number of
    threads does not change the result. Beyond 20,000, sparse rows are first reduced to 128 dimensions.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_points, n_features)
        Rows to compare.
    n_neighbors : int
        Neighbors of each point, itself not counted; with more than n_points - 1, all others are.
    metric : {"euclidean", "cosine"}
        Distance. A row of zeros has cosine 0 with every other.
    weights : {"fuzzy", "heat", "binary"}
        "fuzzy": exp(-(d - d_1) / s) with the scale s of each point chosen so that its weights sum to
        log2(n_neighbors), the two directions joined as a + b - ab (as in UMAP). "heat": exp(-d^2 / (2 s^2)),
        s the median distance to the last neighbor. "binary": 1.
    n_jobs : int, optional
        Threads; None means 1, -1 all cores.
    random_state : int, RandomState or None
        Seeds the k-means cells of large data; None always takes the same seed.
    progress : callable, optional
        Called with the share of the points whose neighbors are found, 0 to 1.

    Returns
    -------
    similarity : KnnSimilarity

    Examples
    --------
    >>> import arbora as ab
    >>> sim = ab.similarity.knn([[0.0], [1.0], [5.0], [6.0]], n_neighbors=1)
    >>> sim.csr.toarray()
    array([[0., 1., 0., 0.],
           [1., 0., 0., 0.],
           [0., 0., 0., 1.],
           [0., 0., 1., 0.]], dtype=float32)
    >>> sim.query([[5.2]]).indices
    array([2], dtype=int32)
    """
    if metric not in METRICS:
        raise ValueError(f"metric must be one of {METRICS}. Got {metric!r}.")
    if weights not in WEIGHTS:
        raise ValueError(f"weights must be one of {WEIGHTS}. Got {weights!r}.")
    space = _Space(X, metric)
    rows = space.rows
    n_points = rows.shape[0]
    k = _checked_count(n_neighbors, n_points)
    if n_points == 1:
        nothing = sp.csr_array((1, 1), dtype=np.float32)
        return KnnSimilarity(nothing, None, space, _Weighting(weights, np.zeros((1, 0))))
    if sp.issparse(rows):
        index: NeighborIndex | SparseIndex = SparseIndex(rows)
    else:
        index = NeighborIndex(rows, centered=metric == "euclidean", seed=_seed(random_state), n_jobs=n_jobs)
    del rows
    space.rows = None  # the index holds them now
    points, distance = index.neighbors(k, n_jobs, progress)
    distance = space.measured(distance)
    weighting = _Weighting(weights, distance)
    directed = _rows_of_neighbors(points, weighting.of_own(distance), n_points)
    del points, distance
    return KnnSimilarity(_joined(directed, weights), index, space, weighting)


class _Space:
    """Where vectors are compared by Euclidean distance: as they are, or scaled to length 1 for the cosine."""

    def __init__(self, X: Any, metric: str) -> None:
        self.metric = metric
        self.reduction: Any = None
        self.n_features = X.shape[1] if sp.issparse(X) else None
        wide = sp.issparse(X) and X.shape[0] * X.shape[1] > _DENSE_VALUES and X.shape[1] > _SPARSE_RANK
        self.stays_sparse = wide and X.shape[0] <= EXACT_UP_TO
        if wide and not self.stays_sparse:
            X = self._reduced(X)
        self.rows: Any = self._sparse(X) if self.stays_sparse else None
        if self.rows is None:
            vectors = _dense(X, "X")
            if self.n_features is None:
                self.n_features = vectors.shape[1]
            self.rows = self._scaled(vectors)

    def _sparse(self, X: Any) -> sp.csr_array:
        """Sparse rows, checked; for the cosine scaled to length 1 (rows of zeros on an axis of their own)."""
        X = sp.csr_array(X, dtype=np.float64)
        if X.nnz:
            check_finite(X.data, "X (stored values)")
        if self.metric == "euclidean":
            return X
        norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1))).ravel()
        unit = sp.diags_array(1 / np.where(norms > 0, norms, 1)) @ X
        return sp.csr_array(sp.hstack([unit, sp.csr_array((norms == 0).astype(np.float64)[:, None])]))

    def _reduced(self, X: Any) -> NDArray[np.floating]:
        from sklearn.decomposition import TruncatedSVD

        X = self._sparse(X)
        self.reduction = TruncatedSVD(_SPARSE_RANK, n_iter=3, random_state=0)
        return self.reduction.fit_transform(X)

    def _scaled(self, X: NDArray[np.floating]) -> NDArray[np.floating]:
        if self.metric == "euclidean":
            return X
        largest = np.abs(X).max(axis=1, keepdims=True)
        X = X / np.where(largest > 0, largest, 1)
        norms = np.sqrt(np.einsum("ij,ij->i", X, X))
        # a row of zeros has no direction: on an axis of its own it is at cosine 0 from every other row
        axis = (norms == 0).astype(X.dtype)[:, None]
        return np.hstack([X / np.where(norms > 0, norms, 1)[:, None], axis])

    def place(self, X: Any) -> NDArray[np.floating]:
        """New vectors, checked, in the same space."""
        shape = X.shape if sp.issparse(X) else np.shape(X)
        if len(shape) != 2 or shape[1] != self.n_features:
            raise ValueError(
                f"X must have shape (m, {self.n_features}) like the fitted rows. Got {tuple(shape)}."
            )
        if self.reduction is not None:
            X = self.reduction.transform(self._sparse(X))
        elif self.stays_sparse:
            return self._sparse(X)
        return self._scaled(_dense(X, "X"))

    def measured(self, distance: NDArray[np.float64]) -> NDArray[np.float64]:
        """Distances of the metric, given Euclidean ones: for unit vectors 1 - cos = d^2 / 2."""
        return distance if self.metric == "euclidean" else distance**2 / 2


class _Weighting:
    """How distances to neighbors become similarities; keeps the local scales that new points need."""

    def __init__(self, kind: str, distance: NDArray[np.float64]) -> None:
        self.kind = kind
        self.n_neighbors = distance.shape[1]
        self.radius = distance.max(axis=1, initial=0.0)
        if kind == "fuzzy" and self.n_neighbors:
            self.nearest, self.scale = kernels.smooth_local_scales(distance)
        elif kind == "heat":
            positive = self.radius[self.radius > 0]
            self.heat = float(np.median(positive)) if len(positive) else 1.0

    def of_own(self, distance: NDArray[np.float64]) -> NDArray[np.float32]:
        """Weight of each point's edges to its neighbors, seen from the point."""
        if self.kind == "fuzzy":
            return np.maximum(kernels.fuzzy_weights(distance, self.nearest, self.scale), _SMALLEST_WEIGHT)
        if self.kind == "heat":
            return np.maximum(np.exp(-0.5 * (distance / self.heat) ** 2).astype(np.float32), _SMALLEST_WEIGHT)
        return np.ones(distance.shape, dtype=np.float32)

    def of_new(self, distance: NDArray[np.float64], points: NDArray[np.int64]) -> NDArray[np.float32]:
        """The same for new points; a neighbor's view counts where the new point would be its neighbor."""
        if self.kind != "fuzzy":
            return self.of_own(distance)
        if distance.shape[1] == 1:  # nothing to scale by: the only neighbor is as near as can be
            return np.ones(distance.shape, dtype=np.float32)
        theirs = np.exp(-np.maximum(distance - self.nearest[points], 0) / self.scale[points])
        theirs[distance > self.radius[points]] = 0
        ours = kernels.fuzzy_weights(distance, *kernels.smooth_local_scales(distance))
        return np.maximum(ours + theirs - ours * theirs, _SMALLEST_WEIGHT).astype(np.float32)


def _dense(X: Any, argument: str) -> NDArray[np.floating]:
    dtype = np.float32 if getattr(X, "dtype", None) in (np.float32, np.float16) else np.float64
    return checked_vectors(X, dtype=dtype, argument=argument)


def _checked_count(n_neighbors: Any, n_points: int) -> int:
    if isinstance(n_neighbors, bool) or not isinstance(n_neighbors, int | np.integer) or n_neighbors < 1:
        raise ValueError(f"n_neighbors must be a whole number of at least 1. Got {n_neighbors!r}.")
    return int(min(n_neighbors, n_points - 1))


def _seed(random_state: Any) -> int:
    if random_state is None:
        return 0
    from sklearn.utils import check_random_state

    return int(check_random_state(random_state).randint(2**31 - 1))


def _rows_of_neighbors(points: NDArray, weight: NDArray[np.float32], n_points: int) -> sp.csr_array:
    """A sparse row of weights for each row of neighbors."""
    n_rows, k = points.shape
    index = np.int32 if max(n_rows * k, n_points) < 2**31 else np.int64
    indptr = np.arange(0, n_rows * k + 1, k, dtype=index) if k else np.zeros(n_rows + 1, dtype=index)
    rows = sp.csr_array((weight.ravel(), points.ravel().astype(index), indptr), shape=(n_rows, n_points))
    rows.sort_indices()
    return rows


def _joined(directed: sp.csr_array, weights: str) -> sp.csr_array:
    """The two directions of each edge as one: a + b - ab for fuzzy weights, otherwise the larger."""
    mirror = sp.csr_array(directed.T)
    if weights != "fuzzy":
        joined = sp.csr_array(directed.maximum(mirror))
    else:
        joined = directed + mirror
        joined -= directed.multiply(mirror)
        joined = sp.csr_array(joined)
    joined.sort_indices()
    return joined
