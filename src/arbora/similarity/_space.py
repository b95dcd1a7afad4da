"""Where points are compared: vectors as they are, scaled to length 1 for the cosine, or distances given."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, Literal, Protocol

import numpy as np
import scipy.sparse as sp

from arbora._base.arrays import as_matrix, as_sparse, as_vectors, check_finite, row_names
from arbora._base.memory import refuse_if_too_large
from arbora._base.types import AnyFloats, Floats, Ints
from arbora.similarity._duplicates import Groups, group_by_key, group_equal_rows
from arbora.similarity._neighbors import EXACT_UP_TO, Index, NeighborIndex
from arbora.similarity._other_indices import DistanceIndex, SparseIndex
from arbora.similarity.dense import read_square
from arbora.similarity.features import directions_apart_from_zero, directions_of_sparse

# dimensions to which sparse vectors are reduced
_SPARSE_RANK = 128
# sparse rows with fewer values, zeros included, are made dense
_DENSE_VALUES = 20_000_000


class Space(Protocol):
    """What a neighbor graph needs to know of its points."""

    n_points: int
    names: list[str] | None
    metric: Literal["cosine", "euclidean", "precomputed"]

    def groups(self) -> Groups:
        """Which points are equal."""

    def index(self, points: Ints, seed: int, n_threads: int) -> Index:
        """What finds neighbors among some of the points; the space releases its data."""

    def place(self, X: Any) -> Any:
        """New points, checked, as the index takes them."""


class VectorSpace:
    """Vectors compared by Euclidean distance, or by the cosine as Euclidean distance of vectors of length 1."""

    def __init__(
        self, X: Any, metric: Literal["cosine", "euclidean"], *, overwrite: bool = False, n_threads: int = 1
    ) -> None:
        self.metric: Literal["cosine", "euclidean", "precomputed"] = metric
        self.names = row_names(X)
        self.reduction: Any = None
        # rows of length 1 are the space's own
        self._overwrites = overwrite or metric == "cosine"
        wide = sp.issparse(X) and X.shape[0] * X.shape[1] > _DENSE_VALUES and X.shape[1] > _SPARSE_RANK
        self.stays_sparse = wide and X.shape[0] <= EXACT_UP_TO
        self.n_features = int(X.shape[1]) if sp.issparse(X) and X.ndim == 2 else None
        if self.stays_sparse:
            self.rows: Any = self._sparse(X)
        elif wide:
            self.rows = self._scaled(self._reduced(X), n_threads)
        else:
            vectors = as_vectors(X, dtype=None)
            self.n_features = vectors.shape[1]
            self.rows = self._scaled(vectors, n_threads)
        self.n_points = int(self.rows.shape[0])

    def groups(self) -> Groups:
        return group_equal_rows(self.rows)

    def index(self, points: Ints, seed: int, n_threads: int) -> Index:
        rows = self.rows if len(points) == self.n_points else self.rows[points]
        self.rows = None
        if self.stays_sparse:
            return SparseIndex(rows)
        is_own = self._overwrites or len(points) < self.n_points
        return NeighborIndex(
            rows, centered=self.metric == "euclidean", seed=seed, n_threads=n_threads, overwrite=is_own
        )

    def place(self, X: Any) -> Any:
        new = as_sparse(X) if sp.issparse(X) else as_vectors(X, dtype=None)
        if new.shape[1] != self.n_features:
            raise ValueError(
                f"X must have shape (m, {self.n_features}) like the fitted rows. Got {new.shape}."
            )
        if self.stays_sparse:
            return self._sparse(sp.csr_array(new))
        if self.reduction is not None:
            return self._scaled(np.asarray(self.reduction.transform(self._sparse(sp.csr_array(new)))))
        return self._scaled(as_vectors(new, dtype=None))

    def _sparse(self, X: Any) -> sp.csr_array:
        """Sparse rows, checked; for the cosine scaled to length 1 (rows of zeros on an axis of their own)."""
        rows = as_sparse(X).astype(np.float64, copy=False)
        if self.metric == "euclidean":
            return rows
        is_zero = sp.csr_array((abs(rows).max(axis=1).toarray().reshape(-1, 1) == 0).astype(np.float64))
        return sp.csr_array(sp.hstack([directions_of_sparse(rows), is_zero]))

    def _reduced(self, X: Any) -> AnyFloats:
        from sklearn.decomposition import TruncatedSVD

        self.reduction = TruncatedSVD(_SPARSE_RANK, n_iter=3, random_state=0)
        return np.asarray(self.reduction.fit_transform(self._sparse(X)))

    def _scaled(self, X: AnyFloats, n_threads: int = 1) -> AnyFloats:
        if self.metric == "euclidean":
            return X
        return directions_apart_from_zero(X, n_threads)


class DistanceSpace:
    """Points known by their distances alone, a square matrix or SciPy's condensed form."""

    metric: Literal["cosine", "euclidean", "precomputed"] = "precomputed"

    def __init__(self, D: Any) -> None:
        distances, self.names = read_distances(D)
        self.n_points = len(distances)
        self.distances: Any = distances
        self.places: Ints | None = None

    def groups(self) -> Groups:
        # the first point at distance 0, which is the point itself where there is no other
        return group_by_key((self.distances == 0).argmax(axis=1))

    def index(self, points: Ints, seed: int, n_threads: int) -> Index:
        distances, self.distances = self.distances, None
        if len(points) == self.n_points:
            return DistanceIndex(distances)
        self.places = points
        return DistanceIndex(distances[np.ix_(points, points)])

    def place(self, X: Any) -> Floats:
        distances = np.asarray(as_matrix(X).values, dtype=np.float64)
        if distances.shape[1] != self.n_points:
            raise ValueError(
                f'X must hold the distances of new points to the {self.n_points} fitted ones (metric="precomputed"), '
                f"shape (m, {self.n_points}). Got {distances.shape}."
            )
        check_finite(distances, "X")
        if distances.min(initial=0.0) < 0:
            raise ValueError(
                f"X must hold distances that are not negative. The smallest is {distances.min():.6g}."
            )
        return distances if self.places is None else distances[:, self.places]


def read_distances(data: Any, argument: str = "X") -> tuple[Floats, list[str] | None]:
    """Distances as a square matrix, checked, and the names of the points."""
    if is_condensed(data):
        return _square(read_condensed(data, argument), argument), None
    if sp.issparse(data):
        raise TypeError(
            f"{argument} must be a full matrix of distances or its condensed form. Got a sparse matrix."
        )
    values, names = read_square(data, argument, "distances")
    distances = values.astype(np.float64, copy=False)
    check_distances(distances, argument)
    largest = float(distances.max())
    if np.abs(np.diagonal(distances)).max() > 1e-9 * largest:
        raise ValueError(
            f"{argument} must be 0 on the diagonal; this looks like similarities. Pass similarity.dense({argument})."
        )
    if np.diagonal(distances).any():
        distances = distances.copy()
        np.fill_diagonal(distances, 0.0)
    return distances, names


def check_distances(distances: Floats, argument: str) -> None:
    """Raise unless all distances are finite and not negative."""
    check_finite(distances, argument)
    if distances.min(initial=0.0) < 0:
        raise ValueError(
            f"{argument} must not hold negative distances. The smallest is {distances.min():.6g}."
        )


def is_condensed(data: Any) -> bool:
    """Whether data are one-dimensional numbers, as SciPy condenses distances."""
    if hasattr(data, "ndim") and hasattr(data, "dtype"):
        # a Series of vectors is one-dimensional too
        return bool(data.ndim == 1 and getattr(data.dtype, "kind", "O") != "O")
    return isinstance(data, Sequence) and all(isinstance(value, Real) for value in data)


def read_condensed(data: Any, argument: str) -> Floats:
    """Condensed distances, checked, as a copy."""
    if np.ma.isMaskedArray(data) and np.ma.getmaskarray(data).any():
        raise ValueError(f"{argument} has masked entries. Fill or remove them.")
    values = np.asarray(data)
    if values.size and values.dtype.kind not in "biuf":
        raise TypeError(f"{argument} must hold real numbers. Got dtype {values.dtype}.")
    count_of_condensed(len(values), argument)
    condensed = values.astype(np.float64)
    check_distances(condensed, argument)
    return condensed


def count_of_condensed(n_pairs: int, argument: str) -> int:
    """How many points have that many pairs."""
    n = round((1 + np.sqrt(1 + 8 * n_pairs)) / 2)
    if n * (n - 1) // 2 != n_pairs:
        raise ValueError(
            f"{argument} is one-dimensional: condensed distances have length n (n - 1) / 2. Got {n_pairs}."
        )
    return int(n)


def _square(condensed: Floats, argument: str) -> Floats:
    from scipy.spatial.distance import squareform

    n = count_of_condensed(len(condensed), argument)
    refuse_if_too_large(16 * n * n, f"The distances between {n} points", "Pass vectors instead.")
    return np.asarray(squareform(condensed) if n > 1 else np.zeros((1, 1)))
