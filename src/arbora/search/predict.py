"""Where new points belong in a tree, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from arbora._base.arrays import as_vectors
from arbora._base.threads import count_threads, share_out
from arbora._base.types import Bools, Floats, Ints
from arbora.search import _bound_kernels as bound_kernels
from arbora.search import _graph_kernels as graph_kernels
from arbora.search import _insertion_kernels as insertion_kernels
from arbora.search._gather_kernels import make_work
from arbora.search._open_kernels import make_stack
from arbora.search._state import DASGUPTA, make_state
from arbora.search.engines import comparable_features
from arbora.search.safe_graphs import SAFE_WEIGHTS
from arbora.similarity import FeatureSimilarity, Similarity
from arbora.similarity.inputs import covering_similarity
from arbora.similarity.scaling import Scaling
from arbora.tree import Tree
from arbora.tree.pass_kernels import max_to_root

# label of a new point that resembles no point of the tree
NOWHERE = -1
# nearest points that vote on how sure a label is
N_VOTERS = 10


@dataclass(frozen=True)
class Placement:
    """Where new points belong.

    Attributes
    ----------
    node : ndarray of int64, shape (m,)
        The node above which the point is attached; the root if it resembles no point of the tree.
    outlier_score : ndarray of float64, shape (m,)
        Share of the tree's own points that are nearer to their nearest points than the new one is: about 0.5 on
        average for more of the same, 1 for a point farther from everything than any of them.
    label : ndarray of int64, shape (m,), or None
        Cluster of the point, where a cut was asked for; -1 where it resembles no point of the tree.
    confidence : ndarray of float64, shape (m,), or None
        How much of its similarity to its ten nearest points goes to points of that cluster, between 0 and 1.

    Examples
    --------
    >>> import numpy as np, arbora as ab
    >>> X = np.concatenate([np.random.default_rng(0).normal(c, 1, (30, 2)) for c in (0, 20)])
    >>> model = ab.TreeClustering(2, metric="euclidean", random_state=0).fit(X)
    >>> placement = model.place([[0.0, 0.0], [90.0, -90.0]])
    >>> placement.label.tolist() == model.predict([[0.0, 0.0], [90.0, -90.0]]).tolist()
    True
    >>> placement.confidence[0].round(1), placement.outlier_score[1]  # sure of the first; the second is strange
    (np.float64(1.0), np.float64(1.0))
    """

    node: Ints
    outlier_score: Floats
    label: Ints | None = None
    confidence: Floats | None = None


def predict(
    tree: Tree,
    similarity: Similarity,
    X: Any,
    *,
    n_clusters: int | None = None,
    height: float | None = None,
    labels: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> Ints:
    """Best place of each new point by Dasgupta's cost, as if it were inserted alone, or its cluster.

    Parameters
    ----------
    tree : Tree
    similarity : similarity
        Of the points the tree was built from.
    X : array-like or sparse matrix
        New points: vectors for `cosine`, `gaussian` and `knn`; for `dense` and `graph`, one row per new point
        with its similarity to each point of the tree, shape (m, n_leaves).
    n_clusters, height : optional
        A cut of the tree; then the cluster of each point is returned instead of its place.
    labels : array-like of int, shape (n_leaves,), optional
        Clusters of the tree's points instead of a cut; those labeled -1 belong to none.
    n_jobs : int, optional
        Threads; by default all cores.

    Returns
    -------
    ndarray of int64, shape (m,)
        The node above which the point is attached, or its label. A point whose place is above the clusters gets
        the one it is most similar to on average. A point that resembles no point of the tree goes above the root
        and has the label -1. `place` also says how sure that is.

    Examples
    --------
    >>> import arbora as ab
    >>> X = [[0.0, 1.0], [0.1, 1.0], [1.0, 0.0], [1.0, 0.1]]
    >>> similarity = ab.similarity.cosine(X)
    >>> tree = ab.cluster(similarity, random_state=0)
    >>> ab.search.predict(tree, similarity, [[0.05, 0.9], [2.0, 0.1]], n_clusters=2)
    array([0, 1])
    """
    similarity = covering_similarity(similarity, tree)
    clusters = _clusters(tree, n_clusters, height, labels)
    new = _NewPoints.read(similarity, X, n_jobs)
    node = new.best_nodes(tree, count_threads(n_jobs))
    return node if clusters is None else new.labels(tree, node, clusters)


@dataclass(frozen=True)
class LabelsOfRows:
    """Clusters of new rows, as a function that can be sent to another machine; attributes as in `predict`."""

    tree: Tree
    similarity: Similarity
    labels: Ints
    scaling: Scaling | None

    def __call__(self, rows: Any) -> Ints:
        """The cluster of each row."""
        new = as_vectors(rows, dtype=None)
        scaled = new if self.scaling is None else self.scaling.apply(new)
        return predict(self.tree, self.similarity, scaled, labels=self.labels, n_jobs=1)


def place(
    tree: Tree,
    similarity: Similarity,
    X: Any,
    *,
    n_clusters: int | None = None,
    height: float | None = None,
    labels: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> Placement:
    """Where new points belong, how sure that is, and how much they look like outliers; parameters as in `predict`.

    Returns
    -------
    Placement

    Examples
    --------
    >>> import arbora as ab
    >>> X = [[0.0, 1.0], [0.1, 1.0], [1.0, 0.0], [1.0, 0.1]]
    >>> similarity = ab.similarity.cosine(X)
    >>> tree = ab.cluster(similarity, random_state=0)
    >>> found = ab.search.place(tree, similarity, [[0.05, 0.9], [-1.0, -1.0]], n_clusters=2)
    >>> found.label, found.outlier_score
    (array([0, 0]), array([0., 1.]))
    """
    similarity = covering_similarity(similarity, tree)
    clusters = _clusters(tree, n_clusters, height, labels)
    new = _NewPoints.read(similarity, X, n_jobs)
    node = new.best_nodes(tree, count_threads(n_jobs))
    ordinary = np.sort(similarity.remoteness(n_jobs=n_jobs))
    remote = similarity.remoteness(X, n_jobs=n_jobs)
    outlier_score = np.searchsorted(ordinary, remote) / max(len(ordinary), 1)
    if clusters is None:
        return Placement(node, outlier_score)
    label = new.labels(tree, node, clusters)
    return Placement(node, outlier_score, label, new.confidence(clusters, label))


def _clusters(
    tree: Tree, n_clusters: int | None, height: float | None, labels: ArrayLike | None
) -> Ints | None:
    """Label of each leaf; None where no clusters were asked for."""
    if labels is not None:
        if n_clusters is not None or height is not None:
            raise ValueError("labels cannot be combined with n_clusters or height: they are the clusters.")
        given = np.asarray(labels)
        if given.shape != (tree.n_leaves,) or given.dtype.kind not in "iu" or given.min() < NOWHERE:
            raise ValueError(
                f"labels must hold a whole number from -1 for each of the {tree.n_leaves} points of the tree. "
                f"Got shape {given.shape}, dtype {given.dtype}."
            )
        return given.astype(np.int64)
    if n_clusters is None and height is None:
        return None
    if n_clusters is not None and height is not None:
        raise ValueError("Pass n_clusters or height, not both.")
    return tree.cut(n_clusters=n_clusters) if height is None else tree.cut(height=height)


@dataclass(frozen=True)
class _NewPoints:
    """New points by their similarity to the old: sparse rows, or features whose products are similarities."""

    similarity: Similarity
    rows: Any

    @classmethod
    def read(cls, similarity: Similarity, X: Any, n_jobs: int | None) -> _NewPoints:
        if similarity.features is not None:
            return cls(similarity, np.ascontiguousarray(similarity.features_of(X), dtype=np.float64))
        rows = similarity.query(X, n_jobs=n_jobs)
        if rows.nnz and not np.isfinite(rows.data).all():
            raise ValueError("The similarity of some new points to those of the tree is not finite.")
        return cls(similarity, rows)

    def best_nodes(self, tree: Tree, n_threads: int) -> Ints:
        if self.similarity.features is None:
            return _place_rows(tree, self.similarity, self.rows, n_threads)
        return _place_features(tree, *comparable_features(self.similarity, self.rows), n_threads)

    def labels(self, tree: Tree, node: Ints, clusters: Ints) -> Ints:
        """The label below the place, where it is one; or that of the most similar cluster on average."""
        highest = max_to_root(tree.parent, _at_leaves(tree, clusters))
        lowest = -max_to_root(tree.parent, _at_leaves(tree, -clusters))
        found: Ints = np.where(highest[node] == lowest[node], highest[node], NOWHERE)
        resembles = self.resembles
        found[~resembles] = NOWHERE
        unsure = np.flatnonzero((highest[node] != lowest[node]) & resembles)
        if len(unsure):
            n_labels = int(clusters.max()) + 1
            sizes = np.bincount(clusters[clusters >= 0], minlength=n_labels)
            mean = self._sums(unsure, clusters, n_labels) / np.maximum(sizes, 1)
            found[unsure] = np.where(mean.max(axis=1) > 0, mean.argmax(axis=1), NOWHERE)
        return found

    @property
    def resembles(self) -> Bools:
        """Which new points resemble any point of the tree."""
        if self.similarity.features is None:
            return np.asarray(self.rows.sum(axis=1)).ravel() > 0
        return np.ones(len(self.rows), dtype=bool)

    def _sums(self, points: Ints, clusters: Ints, n_labels: int) -> Floats:
        """Similarity of new points to the members of each cluster, summed."""
        member = _membership(clusters, n_labels)
        if self.similarity.features is None:
            return np.asarray((self.rows[points] @ member).toarray(), dtype=np.float64)
        return np.asarray(self.rows[points] @ (member.T @ self.similarity.features).T)

    def confidence(self, clusters: Ints, label: Ints) -> Floats:
        """Share of the similarity to the nearest points that goes to points of the label."""
        step = max(1, self.similarity.values_at_once // max(1, self.similarity.n_points))
        shares = [
            _share_of_label(self._nearest(first, first + step), clusters, label[first : first + step])
            for first in range(0, len(label), step)
        ]
        return np.concatenate(shares) if shares else np.empty(0)

    def _nearest(self, first: int, last: int) -> sp.csr_array:
        """Similarity of some of the new points to their nearest points."""
        if self.similarity.features is None:
            return largest_of_rows(self.rows[first:last], N_VOTERS)
        products = np.maximum(self.rows[first:last] @ self.similarity.features.T, 0)
        return largest_of_rows(sp.csr_array(products), N_VOTERS)


def largest_of_rows(rows: sp.csr_array, count: int) -> sp.csr_array:
    """The rows with all but the largest entries of each left out."""
    if np.diff(rows.indptr).max(initial=0) <= count:
        return rows
    dense = rows.toarray()
    column = np.argpartition(dense, -count, axis=1)[:, -count:]
    row = np.repeat(np.arange(len(dense)), count)
    values = np.take_along_axis(dense, column, axis=1).ravel()
    return sp.csr_array((values, (row, column.ravel())), shape=rows.shape)


def _share_of_label(rows: sp.csr_array, clusters: Ints, label: Ints) -> Floats:
    entries = rows.tocoo()
    is_own = clusters[entries.col] == label[entries.row]
    own = np.bincount(entries.row, np.where(is_own, entries.data, 0.0), minlength=len(label))
    total = np.bincount(entries.row, entries.data, minlength=len(label))
    share: Floats = np.divide(own, total, out=np.zeros(len(label)), where=total > 0)
    return np.where(label != NOWHERE, share, 0.0)


def _membership(clusters: Ints, n_labels: int) -> sp.csr_array:
    members = np.flatnonzero(clusters >= 0)
    return sp.csr_array(
        (np.ones(len(members)), (members, clusters[members])), shape=(len(clusters), n_labels)
    )


def _at_leaves(tree: Tree, values: Ints) -> Ints:
    """Values of the leaves, with the lowest possible one at internal nodes."""
    return np.concatenate([values, np.full(tree.n_internal, np.iinfo(np.int64).min + 1)])


def _place_rows(tree: Tree, similarity: Similarity, rows: sp.csr_array, n_threads: int) -> Ints:
    cross = similarity.cross(tree)
    largest = max(float(cross.max(initial=0.0)), float(rows.data.max(initial=0.0)))
    # only the ratio of the two counts: far from the ends of the floating-point range it is exact
    factor = 1.0 if SAFE_WEIGHTS[0] <= largest <= SAFE_WEIGHTS[1] else 2.0 ** -int(np.frexp(largest)[1])
    data = rows.data if factor == 1.0 else rows.data * factor
    state = make_state(tree, cross * factor, np.ones(tree.n_leaves), DASGUPTA)
    targets = np.empty(rows.shape[0], dtype=np.int64)

    def work_on(first: int, last: int) -> None:
        work = make_work(tree.n_leaves, len(state.nodes))
        arrays = (rows.indptr, rows.indices, data)
        graph_kernels.place_rows(state, work, tree.root, *arrays, first, last, 1.0, DASGUPTA, 1.0, targets)

    share_out(work_on, rows.shape[0], n_threads)
    return targets


def _place_features(tree: Tree, old: Floats, new: Floats, n_threads: int) -> Ints:
    """Best edge for each new row, where similarities are products of features."""
    cross = FeatureSimilarity(old, is_non_negative=True).cross(tree)
    state = make_state(tree, cross, np.ones(tree.n_leaves), DASGUPTA)
    features = bound_kernels.make_features(old, np.ones(tree.n_leaves), tree.parent, len(state.nodes))
    targets = np.empty(len(new), dtype=np.int64)
    # new rows may be longer
    extent = features.extent.joined(bound_kernels.extent_of(new))
    features = features._replace(extent=extent, steepness=bound_kernels.steepness_of(extent.largest, 1.0))
    bound_kernels.fill_bounds(state, features, tree.n_leaves, tree.n_nodes)

    def work_on(first: int, last: int) -> None:
        stack = make_stack(len(state.nodes))
        insertion_kernels.place_rows(state, features, stack, tree.root, new, first, last, targets)

    share_out(work_on, len(new), n_threads)
    return targets


def labels_of_features(
    tree: Tree, known: Floats, rows: Floats, n_clusters: int, n_jobs: int | None = None
) -> Ints:
    """Cluster of new points given as features, like those of the tree's points."""
    new = _NewPoints(FeatureSimilarity(known, is_non_negative=True), rows)
    node = new.best_nodes(tree, count_threads(n_jobs))
    return new.labels(tree, node, tree.cut(n_clusters=n_clusters))
