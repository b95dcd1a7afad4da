"""The Gaussian kernel, exact, in blocks: O(n^2) time and O(n) memory."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from arbora._base.arrays import as_matrix, as_vectors, check_finite, row_names
from arbora._base.params import check_choice, check_real
from arbora._base.random import generator
from arbora._base.types import AnyFloats, Floats, Ints, RandomState
from arbora.similarity._space import read_distances
from arbora.similarity.checks import check_pair_arrays, check_points, check_similarity_rows
from arbora.similarity.dense import DenseSimilarity
from arbora.similarity.features import directions
from arbora.similarity.protocol import Similarity, names_of_subset

GaussianMetric: TypeAlias = Literal["euclidean", "cosine"]
AllPairsMetric: TypeAlias = Literal["euclidean", "cosine", "precomputed"]
GAUSSIAN_METRICS = ("euclidean", "cosine")
_MEDIAN_PAIRS = 100_000
# points per neighbor up to which a tree from all pairs is better than one from a graph of neighbors
_FEW_PER_NEIGHBOR = 2
# largest error allowed in an exponent from |x|² + |y|² - 2 xy, which is quicker than the differences themselves
_LARGEST_ERROR = 1e-11


class GaussianSimilarity(Similarity):
    """Similarity ``exp(-|x - y|^2 / (2 scale^2))``; build it with `arbora.similarity.gaussian`.

    Parameters
    ----------
    X : ndarray of float64, shape (n_points, n_features)
        The points.
    scale : float
        Standard deviation of the kernel.
    metric : {"euclidean", "cosine"}
        Whether points are compared as they are or, for "cosine", by their directions (`X` then holds those).
    names : list of str, optional
        Names of the points.

    Examples
    --------
    >>> import arbora as ab
    >>> similarity = ab.similarity.gaussian([[0.0], [1.0], [3.0]], scale=1.0)
    >>> similarity.scale, similarity.pairs([0, 0], [1, 2]).round(4).tolist()
    (1.0, [0.6065, 0.0111])
    """

    def __init__(
        self, X: Floats, scale: float, metric: GaussianMetric = "euclidean", names: list[str] | None = None
    ) -> None:
        self.X = X
        self.scale = scale
        self.metric = metric
        self.names = names
        # in units of a power of two near the scale, which is exact: only differences remain to be squared
        self._unit_exponent = int(np.frexp(scale)[1])
        self._points = self._scaled(X)
        self._factor = -0.5 / float(np.ldexp(scale, -self._unit_exponent)) ** 2
        # about the mean squares are smallest; summed so that it cannot overflow
        self._origin = (self._points / len(X)).sum(axis=0)
        self._centered, self._squares = self._about_origin(self._points)

    @property
    def n_points(self) -> int:
        return len(self.X)

    @property
    def is_non_negative(self) -> bool:
        return True

    def pairs(self, i: ArrayLike, j: ArrayLike) -> Floats:
        """Similarity of given pairs."""
        left, right = check_pair_arrays(i, j, self.n_points)
        flat_left, flat_right = left.ravel(), right.ravel()
        values = np.empty(left.size)
        step = max(1, self.values_at_once // self.X.shape[1])
        for first in range(0, left.size, step):
            part = slice(first, first + step)
            # infinitely far apart counts as very far apart
            with np.errstate(over="ignore"):
                gap = self._points[flat_left[part]] - self._points[flat_right[part]]
                values[part] = np.einsum("ij,ij->i", gap, gap)
        return np.exp(values * self._factor).reshape(left.shape)

    def rows(self, i: ArrayLike) -> Floats:
        """Similarity of the points i to all points."""
        points = check_points(i, self.n_points)
        rows = self._kernel(self._points[points])
        rows[np.arange(len(points)), points] = 1.0
        return rows

    def query(self, X: Any, *, n_jobs: int | None = None) -> sp.csr_array:
        """Similarity of new points to these, as sparse rows."""
        new = self._scaled(self.place(X))
        step = max(1, self.values_at_once // self.n_points)
        blocks = [sp.csr_array(self._kernel(new[first : first + step])) for first in range(0, len(new), step)]
        return sp.csr_array(sp.vstack(blocks))

    def place(self, X: Any) -> Floats:
        """New points, checked, as `X` holds the old ones."""
        vectors = as_vectors(X)
        if vectors.shape[1] != self.X.shape[1]:
            raise ValueError(
                f"X must have the {self.X.shape[1]} features of the fitted rows. Got {vectors.shape[1]}."
            )
        return _placed(vectors, self.metric)

    def subset(self, points: ArrayLike) -> GaussianSimilarity:
        """The similarity of some of the points, in the given order."""
        some = check_points(points, self.n_points)
        return GaussianSimilarity(self.X[some], self.scale, self.metric, names_of_subset(self.names, some))

    def vectors(self) -> Floats:
        """The points."""
        return self.X

    def identity(self) -> dict[str, Any]:
        """What decides the similarity, for `identity_of`."""
        return {"X": self.X, "scale": self.scale, "metric": self.metric}

    def _scaled(self, X: Floats) -> Floats:
        with np.errstate(over="ignore"):
            points = np.ldexp(X, -self._unit_exponent)
        if not np.isfinite(points).all():
            raise ValueError(
                f"X is too large for scale={self.scale:.6g}: in units of the scale it exceeds the largest float. "
                "Divide X by a constant, or choose a larger scale."
            )
        return points

    def _about_origin(self, points: Floats) -> tuple[Floats, Floats]:
        """Points relative to the mean, and the square of their length, which may be infinite."""
        with np.errstate(over="ignore"):
            centered = points - self._origin
            return centered, np.asarray(np.einsum("ij,ij->i", centered, centered))

    def _kernel(self, A: Floats) -> Floats:
        """Similarity of scaled points to all points."""
        centered, squares = self._about_origin(A)
        if self._error(A, squares) <= _LARGEST_ERROR:
            block: Floats = centered @ self._centered.T
            block *= -2
            block += squares[:, None]
            block += self._squares
            # rounding can leave a tiny negative square
            np.maximum(block, 0, out=block)
        else:
            from scipy.spatial.distance import cdist

            block = cdist(A, self._points, "sqeuclidean")
        block *= self._factor
        return np.exp(block, out=block)

    def _error(self, A: Floats, squares: Floats) -> float:
        """Largest error of an exponent by |x|² + |y|² - 2 xy: from cancellation, and from rounding in the centering."""
        with np.errstate(over="ignore", invalid="ignore"):
            square = squares.max() + self._squares.max()
            largest = max(np.abs(A).max(), np.abs(self._origin).max())
            cancelled = (1 + A.shape[1]) * square + 4 * largest * np.sqrt(A.shape[1] * square)
            return float(-self._factor * np.finfo(np.float64).eps * cancelled)

    def __repr__(self) -> str:
        return f"GaussianSimilarity(n_points={self.n_points}, scale={self.scale:.6g})"


def gaussian(
    X: Any,
    scale: float | Literal["median"] = "median",
    metric: GaussianMetric = "euclidean",
    *,
    random_state: RandomState = None,
) -> GaussianSimilarity:
    """Gaussian similarity ``exp(-|x - y|^2 / (2 scale^2))`` of the rows of X, never stored as a matrix.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix of shape (n_points, n_features)
        Rows to compare.
    scale : float or "median"
        Standard deviation of the kernel; "median" takes the median distance of pairs of different points
        (of all pairs of small data, of 100,000 drawn ones otherwise).
    metric : {"euclidean", "cosine"}
        Whether rows are compared as they are or, for "cosine", by their directions: ``|x - y|^2 = 2 (1 - cos)``.
    random_state : int, RandomState, Generator or None
        Seed for drawing those pairs.

    Examples
    --------
    >>> import arbora as ab
    >>> similarity = ab.similarity.gaussian([[0.0], [1.0], [3.0]], scale=1.0)
    >>> similarity.pairs([0, 0], [1, 2]).round(4)
    array([0.6065, 0.0111])
    """
    check_choice(metric, "metric", GAUSSIAN_METRICS)
    rows = _placed(as_vectors(X), metric)
    if isinstance(scale, str):
        if scale != "median":
            raise ValueError(f'scale must be a positive number or "median". Got {scale!r}.')
        scale = _median_distance(rows, random_state)
    else:
        scale = _checked_scale(scale)
    return GaussianSimilarity(rows, scale, metric, row_names(X))


def all_pairs(X: Any, metric: AllPairsMetric = "cosine") -> Similarity:
    """Similarity of all pairs of a few points: Gaussian, its scale half the median distance.

    A graph of nearest neighbors gives the nearest neighbor of every point the weight 1, however far it is, which among
    a dozen points says little. On subsets of nine data sets trees of up to about 20 points are better by this
    similarity, larger ones by `knn` with 10 neighbors; `arbora.cluster` chooses by `are_few`.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix of shape (n_points, n_features)
        Rows to compare. For ``metric="precomputed"`` distances: a square matrix or SciPy's condensed form.
    metric : {"cosine", "euclidean", "precomputed"}
        As in `knn`.

    Examples
    --------
    >>> import arbora as ab
    >>> ab.similarity.all_pairs([[0.0], [1.0], [3.0]], "euclidean").pairs([0, 0], [1, 2]).round(4)
    array([0.6065, 0.0111])
    """
    check_choice(metric, "metric", (*GAUSSIAN_METRICS, "precomputed"))
    if metric == "precomputed":
        return _of_distances(*read_distances(X))
    vectors = _placed(as_vectors(X), metric)
    scale = _median_distance(vectors, 0) / 2
    return GaussianSimilarity(vectors, scale, metric, row_names(X))


def are_few(n_points: int, n_neighbors: int) -> bool:
    """Whether `all_pairs` serves points better than a graph with that many neighbors.

    Examples
    --------
    >>> from arbora.similarity import are_few
    >>> are_few(20, 10), are_few(21, 10)
    (True, False)
    """
    return n_points <= _FEW_PER_NEIGHBOR * n_neighbors


class DistanceSimilarity(DenseSimilarity):
    """Similarity ``exp(-d^2 / (2 scale^2))`` of distances given; build it with `arbora.similarity.all_pairs`."""

    def __init__(self, matrix: AnyFloats, scale: float, names: list[str] | None = None) -> None:
        super().__init__(matrix, names)
        self.scale = scale

    def of_distances(self, X: Any) -> Floats:
        """Similarities of new points, given by rows of distances."""
        distances = np.asarray(as_matrix(X).values, dtype=np.float64)
        check_finite(distances, "X")
        if distances.size and distances.min() < 0:
            raise ValueError(
                f"X must hold distances that are not negative. The smallest is {distances.min():.6g}."
            )
        return _kernel_of_distances(distances, self.scale)

    def query(self, X: Any, *, n_jobs: int | None = None) -> sp.csr_array:
        """Similarity of new points to these, given their distances, as sparse rows."""
        return check_similarity_rows(self.of_distances(X), self.n_points)


def _kernel_of_distances(distances: Floats, scale: float) -> Floats:
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(np.exp(-0.5 * (distances / scale) ** 2))


def _of_distances(distances: Floats, names: list[str] | None) -> Similarity:
    positive = distances[distances > 0]
    scale = float(np.median(positive)) / 2 if len(positive) else 1.0
    similarity = _kernel_of_distances(distances, scale)
    return DistanceSimilarity(similarity, scale, names)


def _placed(vectors: Floats, metric: GaussianMetric) -> Floats:
    return np.asarray(directions(vectors), dtype=np.float64) if metric == "cosine" else vectors


def _checked_scale(scale: Any) -> float:
    try:
        return check_real(scale, "scale", above=0)
    except (TypeError, ValueError):
        raise ValueError(f'scale must be a positive number or "median". Got {scale!r}.') from None


def _median_distance(X: Floats, random_state: RandomState) -> float:
    n = len(X)
    if n * (n - 1) // 2 <= _MEDIAN_PAIRS:
        i, j = np.triu_indices(n, 1)
    else:
        i, j = generator(random_state).integers(n, size=(2, _MEDIAN_PAIRS))
    # in units of the largest value: squares must neither overflow nor vanish
    unit = float(np.abs(X).max()) or 1.0
    distance = _distances(X / unit, i, j)
    distance = distance[distance > 0]
    median = float(np.median(distance)) * unit if len(distance) else 1.0
    if not 0 < median < np.inf:
        raise ValueError(
            "The median distance of the rows of X exceeds the largest float or is less than the smallest. "
            "Divide X by a constant, or pass scale as a number."
        )
    return median


def _distances(X: Floats, i: Ints, j: Ints, step: int = 10_000) -> Floats:
    parts = [np.linalg.norm(X[i[a : a + step]] - X[j[a : a + step]], axis=1) for a in range(0, len(i), step)]
    return np.concatenate([np.empty(0), *parts])
