"""A graph of nearest neighbors, built from vectors or distances and able to place new points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp

from arbora._base.params import check_choice, check_whole
from arbora._base.permutations import inverse_permutation
from arbora._base.progress import ProgressCallback, Stage, check_progress, silent
from arbora._base.random import seed_of, with_words_for_seed
from arbora._base.threads import count_threads, limited_libraries
from arbora._base.types import AnyFloats, Floats, Ints, RandomState
from arbora.similarity._duplicates import Groups, link_groups
from arbora.similarity._neighbors import EXACT_UP_TO, Index
from arbora.similarity._space import DistanceSpace, Space, VectorSpace
from arbora.similarity._weights import (
    WEIGHTS,
    Singles,
    Weighting,
    Weights,
    join_directions,
    relative_neighbors,
    rows_of_neighbors,
)
from arbora.similarity.graph import GraphSimilarity

Metric: TypeAlias = Literal["cosine", "euclidean", "precomputed"]
METRICS = ("cosine", "euclidean", "precomputed")
# candidates, per neighbor wanted, among which relative distances choose
_CANDIDATES = 3


class KnnSimilarity(GraphSimilarity):
    """Similarity from a graph of nearest neighbors; build it with `arbora.similarity.knn`.

    Attributes
    ----------
    csr, self_loops, names
        As in `GraphSimilarity`; weights are float32.
    n_neighbors : int
        Neighbors of each point, at most n_points - 1.
    metric, weights : str
        As given to `knn`.

    Examples
    --------
    >>> import arbora as ab
    >>> similarity = ab.similarity.knn([[0.0], [1.0], [10.0], [11.0]], 1, metric="euclidean")
    >>> similarity.n_edges, similarity.query([[10.4]]).argmax()
    (2, 2)
    """

    def __init__(self, csr: sp.csr_array, n_neighbors: int, model: KnnModel) -> None:
        super().__init__(csr, names=model.space.names)
        self.model = model
        self.n_neighbors = n_neighbors
        self.metric = model.metric
        self.weights = model.weighting.kind

    def query(self, X: Any, *, n_neighbors: int | None = None, n_jobs: int | None = None) -> sp.csr_array:
        """Similarity of new points to the points of the graph, weighted as if they had been among them.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, n_features)
            New points; for ``metric="precomputed"`` their distances to the points of the graph, (m, n_points).
        n_neighbors : int, optional
            Neighbors to find; by default as many as for the graph. Equal points count as one.
        n_jobs : int, optional
            Threads; None means all cores.

        Returns
        -------
        similarity : csr_array of float32, shape (m, n_points)
        """
        wanted = self.n_neighbors if n_neighbors is None else check_whole(n_neighbors, "n_neighbors")
        model = self.model
        new = model.space.place(X)
        n_different = len(model.groups.first)
        near, distance = model.index.query(new, max(1, min(wanted, n_different)), count_threads(n_jobs))
        weight = model.weighting.of_new(measured(distance, self.metric), near)
        return rows_of_neighbors(model.groups.first[near], weight, self.n_points)

    def vectors(self) -> AnyFloats | sp.csr_array | None:
        """The points as they are compared: dense or sparse rows in a unit of their own, of length 1 for the cosine.

        None for ``metric="precomputed"``.
        """
        rows = self.model.index.points()
        if rows is None or not self.model.groups.has_duplicates:
            return rows
        return rows[self.model.groups.group]

    def nearby_order(self) -> Ints | None:
        """The points cell by cell, as the index has them; None where it compares all pairs."""
        order, group = self.model.index.nearby_order(), self.model.groups.group
        if order is None or not self.model.groups.has_duplicates:
            return order
        return np.argsort(inverse_permutation(order)[group], kind="stable")

    def remoteness(self, X: Any = None, *, n_jobs: int | None = None) -> Floats:
        """How much farther away a point's farthest neighbor is than those of its neighbors are from them.

        About 1 amid others and more for an outlier, however dense its surroundings are (Breunig et al. 2000 compare
        densities this way). Without X, of the points themselves.
        """
        model, csr = self.model, self.csr
        if X is None:
            radius = model.weighting.radius[model.groups.group]
            among = sp.csr_array((np.ones(csr.nnz), csr.indices, csr.indptr), shape=csr.shape)
            return _ratio(radius, (among @ radius) / np.maximum(np.diff(csr.indptr), 1))
        n_wanted = max(1, min(self.n_neighbors, len(model.groups.first)))
        near, distance = model.index.query(model.space.place(X), n_wanted, count_threads(n_jobs))
        farthest = measured(distance, self.metric).max(axis=1, initial=0.0)
        return _ratio(farthest, model.weighting.radius[near].mean(axis=1))

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
    n_neighbors: int = 10,
    metric: Metric = "cosine",
    *,
    weights: Weights = "fuzzy",
    n_jobs: int | None = None,
    random_state: RandomState = None,
    progress: ProgressCallback | None = None,
) -> KnnSimilarity:
    """Similarity from the graph of nearest neighbors of the rows of X.

    Neighbors are exact up to 20,000 different rows. Beyond, rows are sorted into about 2 sqrt(n) k-means cells,
    a row is compared with those of the nearest cells, and neighbors of neighbors are tried. Beyond 20,000, sparse
    rows are first reduced to 128 dimensions. The number of threads does not change the result.

    Neighbors are counted over different rows: a point that occurs a hundred times is joined to some of its duplicates
    and to as many others as any point.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix of shape (n_points, n_features)
        Rows to compare. For ``metric="precomputed"`` distances: a square matrix or SciPy's condensed form.
    n_neighbors : int
        Neighbors of each point, itself not counted; with more than n_points - 1, all others are.
    metric : {"cosine", "euclidean", "precomputed"}
        Distance. A row of zeros has cosine 0 with every other.
    weights : {"fuzzy", "relative", "heat", "binary"}
        "fuzzy": exp(-(d - d_1) / s) with the scale s of each point chosen so that its weights sum to
        log2(n_neighbors), the two directions joined as a + b - ab (as in UMAP). "relative": the mean of this graph and
        of that of the neighbors by d / sqrt(m m'), m and m' the mean distances of both ends to their neighbors (for the
        cosine, distances of rows of length 1). In many columns a few points, hubs, are near to very many others;
        their edges are weakened (Schnitzer et al. 2012). It takes more time and memory, and growing it searches all
        neighbors again. "heat": exp(-d^2 / (2 s^2)), s the median distance to the last neighbor. "binary": 1.
    n_jobs : int, optional
        Threads; None means all cores.
    random_state : int, RandomState, Generator or None
        Seeds the k-means cells of large data; up to 20,000 different rows nothing is random.
    progress : callable, optional
        Called with ``(stage, done, total)``; the stage is "neighbors".

    Returns
    -------
    similarity : KnnSimilarity

    Examples
    --------
    >>> import arbora as ab
    >>> similarity = ab.similarity.knn([[0.0], [1.0], [5.0], [6.0]], n_neighbors=1, metric="euclidean")
    >>> similarity.csr.toarray()
    array([[0., 1., 0., 0.],
           [1., 0., 0., 0.],
           [0., 0., 0., 1.],
           [0., 0., 1., 0.]], dtype=float32)
    >>> similarity.query([[5.2]]).indices
    array([2], dtype=int32)
    """
    return knn_of(
        X,
        n_neighbors,
        metric,
        weights=weights,
        n_jobs=n_jobs,
        random_state=random_state,
        progress=check_progress(progress),
    )


def knn_of(
    X: Any,
    n_neighbors: int,
    metric: Metric,
    *,
    weights: Weights = "fuzzy",
    n_jobs: int | None = None,
    random_state: RandomState = None,
    progress: ProgressCallback = silent,
    overwrite: bool = False,
) -> KnnSimilarity:
    """`knn`, which may use the memory of X for its own rows if the caller no longer needs X."""
    check_choice(metric, "metric", METRICS)
    check_choice(weights, "weights", WEIGHTS)
    wanted = check_whole(n_neighbors, "n_neighbors")
    with_words_for_seed(random_state)
    n_threads = count_threads(n_jobs)
    with Stage(progress, "neighbors") as stage, limited_libraries(1, "blas"):
        space: Space
        if metric == "precomputed":
            space = DistanceSpace(X)
        else:
            space = VectorSpace(X, metric, overwrite=overwrite, n_threads=n_threads)
        k = min(wanted, space.n_points - 1)
        groups = _groups(space, k)
        # a seed is drawn only where it matters
        seed = seed_of(random_state) if len(groups.first) > EXACT_UP_TO else 0
        index = space.index(groups.first, seed, n_threads)
        return linked_neighbors(space, groups, index, k, weights, n_threads, stage.update)


def linked_neighbors(
    space: Space,
    groups: Groups,
    index: Index,
    n_neighbors: int,
    weights: Weights,
    n_threads: int,
    report: Callable[[float], None],
) -> KnnSimilarity:
    """The graph that joins each point to its neighbors."""
    n_candidates = n_neighbors * (_CANDIDATES if weights == "relative" else 1)
    near, distance = index.neighbors(min(n_candidates, len(groups.first) - 1), n_threads, report)
    distance = measured(distance, space.metric)
    weighting = Weighting(weights, distance[:, :n_neighbors], n_threads)
    model = KnnModel(space, groups, index, weighting, space.metric)
    return weighted_neighbors(model, near, distance, n_neighbors, n_threads)


def weighted_neighbors(
    model: KnnModel, near: Ints, distance: Floats, n_neighbors: int, n_threads: int = 1
) -> KnnSimilarity:
    """The graph that joins each point to its neighbors, given those of the points that differ, the nearest first.

    Relative weights need more candidates than the neighbors that are wanted.
    """
    nearest, apart = near[:, :n_neighbors], distance[:, :n_neighbors]
    joined = _joined(model, nearest, model.weighting.of_own(apart), n_neighbors, n_threads)
    if model.weighting.kind == "relative" and apart.shape[1]:
        # 1 - cos is half the square of a distance
        length = np.sqrt(2 * distance) if model.metric == "cosine" else distance
        nearest, apart = relative_neighbors(near, length, n_neighbors)
        weight = Weighting("fuzzy", apart, n_threads).of_own(apart)
        relative = _joined(model, nearest, weight, n_neighbors, n_threads)
        joined = sp.csr_array((joined + relative) * np.float32(0.5))
        joined.sort_indices()
    return KnnSimilarity(joined, n_neighbors, model)


def _joined(model: KnnModel, near: Ints, weight: Singles, n_neighbors: int, n_threads: int) -> sp.csr_array:
    """All points joined to these neighbors, given for those that differ."""
    if model.groups.has_duplicates:
        directed = link_groups(model.groups, near, weight, n_neighbors)
    else:
        directed = rows_of_neighbors(near, weight, model.space.n_points, n_threads)
    return join_directions(directed, model.weighting.kind, n_threads)


def _groups(space: Space, n_neighbors: int) -> Groups:
    """Equal points as one, unless every point is everybody's neighbor anyway."""
    if n_neighbors < space.n_points - 1:
        return space.groups()
    everyone = np.arange(space.n_points)
    return Groups(everyone, everyone)


@dataclass(frozen=True)
class KnnModel:
    """What new points are compared by: the points that differ, their index, and the weights of distances."""

    space: Space
    groups: Groups
    index: Index
    weighting: Weighting
    metric: str


def measured(distance: Floats, metric: str) -> Floats:
    """Distances of the metric, given Euclidean ones: for unit vectors 1 - cos = d^2 / 2."""
    return distance**2 / 2 if metric == "cosine" else distance


def _ratio(distance: Floats, others: Floats) -> Floats:
    """Distances relative to those of others; infinite where only the others are 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(distance > 0, distance / others, 1.0)


__all__ = ["METRICS", "WEIGHTS", "KnnModel", "KnnSimilarity", "Metric", "knn", "knn_of"]
