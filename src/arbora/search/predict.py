"""Where new points belong in a tree."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import scipy.sparse as sp

from arbora.search import _feature_kernels as feature_kernels
from arbora.search import _graph_kernels as graph_kernels
from arbora.search._gather_kernels import make_work
from arbora.search._state import DASGUPTA, make_state
from arbora.similarity import Similarity
from arbora.similarity.protocol import check_covers
from arbora.tree import Tree

NOWHERE = -1  # label of a new point that resembles no point of the tree


def predict(
    tree: Tree,
    similarity: Similarity,
    X: Any,
    *,
    n_clusters: int | None = None,
    height: float | None = None,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Best place of each new point by Dasgupta's cost, as if it were inserted alone.

    Parameters
    ----------
    tree : Tree
    similarity : similarity
        Of the points the tree was built from.
    X : array-like or sparse matrix
        New points: vectors for `cosine`, `gaussian` and `knn`; for `dense` and `graph`, one row a new point
        with its similarity to each point of the tree, shape (m, n_leaves).
    n_clusters, height : optional
        A cut of the tree; then the cluster of each point is returned instead of its place.
    n_jobs : int, optional
        Threads; by default all cores.

    Returns
    -------
    ndarray of int64, shape (m,)
        The node whose upper edge the point goes on; or its label in ``tree.cut(...)``. A point whose place is
        above the clusters gets the one it is most similar to on average, and -1 if it resembles none.

    Examples
    --------
    >>> import arbora as ab
    >>> from arbora.search import predict
    >>> X = [[0.0, 1.0], [0.1, 1.0], [1.0, 0.0], [1.0, 0.1]]
    >>> similarity = ab.similarity.cosine(X)
    >>> tree = ab.cluster(similarity)
    >>> predict(tree, similarity, [[0.05, 0.9], [2.0, 0.1]], n_clusters=2)
    array([0, 1])
    """
    check_covers(similarity, tree)
    workers = n_jobs if n_jobs and n_jobs > 0 else os.cpu_count() or 1
    if similarity.features is not None:
        rows: Any = similarity.features_of(X)
        targets = _place_features(tree, similarity, rows, workers)
    else:
        rows = similarity.query(X, n_jobs=n_jobs)
        targets = _place_rows(tree, similarity, rows, workers)
    if n_clusters is None and height is None:
        return targets
    return _labels(tree, similarity, rows, targets, {"n_clusters": n_clusters, "height": height})


def labels_of_features(tree: Tree, similarity: Similarity, rows: np.ndarray, n_clusters: int) -> np.ndarray:
    """Cluster of new points given as features."""
    targets = _place_features(tree, similarity, rows, os.cpu_count() or 1)
    return _labels(tree, similarity, rows, targets, {"n_clusters": n_clusters})


def _in_threads(work_on: Any, n_rows: int, workers: int) -> None:
    """Call work_on(first, last) for contiguous shares of the rows."""
    bounds = np.linspace(0, n_rows, min(workers, max(1, n_rows)) + 1).astype(int)
    with ThreadPoolExecutor(max_workers=workers) as pool:
        list(pool.map(work_on, bounds[:-1], bounds[1:]))


def _place_rows(tree: Tree, similarity: Similarity, rows: sp.csr_array, workers: int) -> np.ndarray:
    state = make_state(tree, similarity.cross(tree), np.ones(tree.n_leaves), DASGUPTA)
    targets = np.empty(rows.shape[0], dtype=np.int64)

    def work_on(first: int, last: int) -> None:
        work = make_work(tree.n_leaves, len(state.nodes))
        arrays = (rows.indptr, rows.indices, rows.data)
        graph_kernels.place_rows(state, work, tree.root, *arrays, first, last, 1.0, DASGUPTA, 1.0, targets)

    _in_threads(work_on, rows.shape[0], workers)
    return targets


def _place_features(tree: Tree, similarity: Similarity, rows: np.ndarray, workers: int) -> np.ndarray:
    state = make_state(tree, similarity.cross(tree), np.ones(tree.n_leaves), DASGUPTA)
    features = feature_kernels.make_features(
        similarity.features, np.ones(tree.n_leaves), tree.parent, len(state.nodes)
    )
    targets = np.empty(len(rows), dtype=np.int64)
    new = np.ascontiguousarray(rows, dtype=np.float64)
    largest = max(features.largest, feature_kernels.largest_similarity(new))  # new rows may be longer
    features = features._replace(largest=largest, steepness=feature_kernels.steepness_of(largest, 1.0))
    feature_kernels.fill_gaps(state, features, tree.n_leaves, tree.n_nodes)

    def work_on(first: int, last: int) -> None:
        work = make_work(len(state.nodes), len(state.nodes))
        stack = feature_kernels.make_stack(len(state.nodes))
        feature_kernels.place_rows(state, features, work, stack, tree.root, new, first, last, targets)

    _in_threads(work_on, len(rows), workers)
    return targets


def _labels(
    tree: Tree, similarity: Similarity, rows: Any, targets: np.ndarray, criterion: dict[str, Any]
) -> np.ndarray:
    """Cluster of each new point: that of its place, or the most similar one where the place is above them."""
    nodes, labels = tree.cut_nodes(**criterion), tree.cut(**criterion)
    first_leaf = tree.leaf_order[tree.leaf_start[targets]]
    found = labels[first_leaf]
    above = np.flatnonzero(tree.sizes[targets] > tree.sizes[nodes[found]])
    if len(above) == 0:
        return found
    member = sp.csr_array(
        (np.ones(tree.n_leaves), (np.arange(tree.n_leaves), labels)), shape=(tree.n_leaves, len(nodes))
    )
    if similarity.features is not None:
        weight = rows[above] @ (member.T @ similarity.features).T
    else:
        weight = (rows[above] @ member).toarray()
    mean = weight / tree.sizes[nodes]
    found[above] = np.where(mean.max(axis=1) > 0, mean.argmax(axis=1), NOWHERE)
    return found
