"""Trees from methods that work level by level: BIRCH on vectors, Louvain on graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from arbora.similarity.features import checked_vectors
from arbora.similarity.graph import graph as graph_similarity
from arbora.tree import Tree

_MOST_LEVELS = 100


def birch(X: Any, *, threshold: float | None = None, branching_factor: int = 50) -> Tree:
    """The tree of cluster features that scikit-learn's BIRCH builds, with all points below its leaves.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_points, n_features)
        Rows to cluster, in the order in which BIRCH is to see them.
    threshold : float, optional
        Largest radius of a lowest group. By default half the median distance to the nearest neighbor in a
        sample of 1,000 rows, so that only near-duplicates are grouped.
    branching_factor : int
        Most parts of a node.

    Returns
    -------
    tree : Tree
        Over all points, n-ary.

    Examples
    --------
    >>> from arbora.linkages import birch
    >>> birch([[0.0], [0.1], [9.0], [9.1]], threshold=1.0).to_newick()
    '((0,1),(2,3));'
    """
    from sklearn.cluster import Birch

    rows = checked_vectors(X)
    if threshold is None:
        threshold = _small_distance(rows)
    elif not np.isfinite(threshold) or threshold <= 0:
        raise ValueError(f"threshold must be a positive number. Got {threshold!r}.")
    if isinstance(branching_factor, bool) or not isinstance(branching_factor, int) or branching_factor < 2:
        raise ValueError(f"branching_factor must be a whole number of at least 2. Got {branching_factor!r}.")
    if len(rows) == 1:
        return Tree([-1], 1)
    model = Birch(threshold=threshold, branching_factor=branching_factor, n_clusters=None).fit(rows)
    group_parent, group_of_subcluster = _groups_of_features(model)
    return Tree.from_groups(group_parent, group_of_subcluster[model.labels_])


def _small_distance(rows: NDArray[np.floating]) -> float:
    from sklearn.neighbors import NearestNeighbors

    sample = rows[np.linspace(0, len(rows) - 1, min(len(rows), 1000)).astype(np.int64)]
    if len(sample) < 2:
        return 0.5
    distance = NearestNeighbors(n_neighbors=1).fit(sample).kneighbors()[0]
    return float(np.median(distance)) / 2 or np.finfo(np.float64).tiny  # 0: only duplicates are grouped


def _groups_of_features(model: Any) -> tuple[list[int], NDArray[np.int64]]:
    """(parent of each group, parents first; group of each lowest subcluster in scikit-learn's order)."""
    group_parent, group_of_node = [-1], {id(model.root_): 0}
    todo = [model.root_]
    first_of_leaf: dict[int, int] = {}
    while todo:
        node = todo.pop()
        for part in node.subclusters_:
            group_parent.append(group_of_node[id(node)])
            if part.child_ is not None:
                group_of_node[id(part.child_)] = len(group_parent) - 1
                todo.append(part.child_)
            else:
                first_of_leaf.setdefault(id(node), len(group_parent) - 1)
    groups: list[int] = []
    leaf = model.dummy_leaf_.next_leaf_  # scikit-learn numbers subclusters along this list of leaves
    while leaf is not None:
        groups.extend(first_of_leaf[id(leaf)] + np.arange(len(leaf.subclusters_)))
        leaf = leaf.next_leaf_
    return group_parent, np.array(groups, dtype=np.int64)


def louvain(graph: Any, *, resolution: float = 1.0) -> Tree:
    """Communities of communities: scikit-network's Louvain, one aggregation a level, until nothing merges.

    Parameters
    ----------
    graph : GraphSimilarity, sparse adjacency, networkx graph or edges
        Whatever `similarity.graph` takes.
    resolution : float
        Larger values give smaller communities.

    Returns
    -------
    tree : Tree
        Over all nodes, n-ary; the communities of the last level are joined at the root.

    Examples
    --------
    >>> from arbora.linkages import louvain
    >>> louvain(([0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3])).to_newick()
    '((0,1,2),(3,4,5));'
    """
    from sknetwork.clustering import Louvain

    if not np.isfinite(resolution) or resolution <= 0:
        raise ValueError(f"resolution must be a positive number. Got {resolution!r}.")
    similarity = graph_similarity(graph)
    n_points = similarity.n_points
    adjacency = sp.csr_matrix(
        similarity.csr + sp.diags_array(similarity.self_loops, format="csr"), dtype=float
    )
    levels: list[NDArray[np.int64]] = []
    for _ in range(_MOST_LEVELS):
        if adjacency.nnz == 0 or adjacency.shape[0] == 1:
            break
        model = Louvain(resolution=resolution, n_aggregations=1, random_state=0, return_probs=False)
        label = np.unique(model.fit_predict(adjacency), return_inverse=True)[1]
        if label.max() + 1 == adjacency.shape[0]:
            break
        levels.append(label)
        adjacency = _aggregated(adjacency, label)
    return _tree_of_levels(levels, n_points)


def _aggregated(adjacency: sp.csr_matrix, label: NDArray[np.int64]) -> sp.csr_matrix:
    n = len(label)
    member = sp.csr_matrix((np.ones(n), (np.arange(n), label)), shape=(n, label.max() + 1))
    return sp.csr_matrix(member.T @ adjacency @ member)


def _tree_of_levels(levels: list[NDArray[np.int64]], n_points: int) -> Tree:
    """Tree from labels of points, of groups of points, and so on, finest first."""
    if n_points == 1:
        return Tree([-1], 1)
    group_parent = [-1]
    above = np.zeros(levels[-1].max() + 1 if levels else n_points, dtype=np.int64)
    for label in reversed(levels):  # `above` is the group above each group of this level
        number = len(group_parent) + np.arange(len(above))
        group_parent.extend(above.tolist())
        above = number[label]
    return Tree.from_groups(group_parent, above)
