"""SCC (Monath et al. 2021): rounds of merging nearest clusters, each down to a lower similarity than the last."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.sparse.csgraph import connected_components

from arbora._base.arrays import as_vectors, row_names
from arbora._base.params import check_choice, check_real, check_whole
from arbora._base.types import Floats, Ints
from arbora.baselines.on_graphs import is_graph, read_graph
from arbora.linkages.levelwise import tree_of_levels
from arbora.similarity import knn
from arbora.tree import Tree


def scc(
    data: Any,
    *,
    n_neighbors: int = 25,
    metric: Literal["cosine", "euclidean"] = "cosine",
    n_rounds: int = 50,
    lowest: float = 1e-3,
    thresholds: ArrayLike | None = None,
) -> Tree:
    """Sub-cluster components [1]_: in each round every cluster joins its most similar one, if that is similar enough.

    Two clusters are as similar as the pairs between them are on average; pairs without an edge count 0. A round joins
    each cluster with the one it is most similar to, where that reaches the round's threshold, and connected
    clusters become one.

    Parameters
    ----------
    data : array-like of shape (n_points, n_features), or graph
        For vectors, the graph of nearest neighbors is used.
    n_neighbors : int, default=25
        Of vectors (the paper's).
    metric : {"cosine", "euclidean"}
        Similarity of vectors: their cosine, as far as it is positive, or 1 / (1 + distance).
    n_rounds : int, default=50
        Thresholds, falling in equal proportions from the largest similarity.
    lowest : float, default=0.001
        The last threshold, as a share of the first.
    thresholds : array-like, optional
        The thresholds themselves, one round each.

    Returns
    -------
    tree : Tree
        N-ary, a level per round that merged something; what is left after the last is joined at the root.

    References
    ----------
    .. [1] Monath et al., "Scalable hierarchical agglomerative clustering", KDD 2021.

    Examples
    --------
    >>> from arbora.baselines.scc import scc
    >>> scc([[1.0, 0.1], [1.0, 0.2], [0.1, 1.0], [0.0, 1.0]], n_neighbors=2).to_newick()
    '((0,1),(2,3));'
    """
    check_choice(metric, "metric", ("cosine", "euclidean"))
    check_real(lowest, "lowest", above=0, below=1)
    if is_graph(data):
        found = read_graph(data, "scc")
        weights, names = sp.csr_array(found.csr, dtype=np.float64), found.names
    else:
        weights, names = (
            _similarity_of_vectors(as_vectors(data, argument="data"), n_neighbors, metric),
            row_names(data),
        )
    if thresholds is None:
        largest = float(weights.data.max(initial=0.0)) or 1.0
        falling = np.geomspace(largest, lowest * largest, check_whole(n_rounds, "n_rounds", least=2))
    else:
        falling = np.asarray(thresholds, dtype=np.float64)
    return tree_of_levels(_levels(weights, falling), int(weights.shape[0]), names)


def _similarity_of_vectors(
    vectors: Floats, n_neighbors: int, metric: Literal["cosine", "euclidean"]
) -> sp.csr_array:
    near = sp.coo_array(knn(vectors, n_neighbors, metric, weights="binary").csr)
    if metric == "cosine":
        rows = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.finfo(np.float64).tiny)
        weight = np.maximum(np.einsum("ij,ij->i", rows[near.row], rows[near.col]), 0.0)
    else:
        weight = 1.0 / (1.0 + np.linalg.norm(vectors[near.row] - vectors[near.col], axis=1))
    found = sp.csr_array((weight, (near.row, near.col)), shape=near.shape)
    found.eliminate_zeros()
    return found


def _levels(total: sp.csr_array, thresholds: Floats) -> list[Ints]:
    """Cluster of each point, then of each cluster, for the rounds in which something merged."""
    size = np.ones(total.shape[0])
    levels: list[Ints] = []
    for threshold in thresholds:
        if total.nnz == 0:
            break
        label = _merged(total, size, float(threshold))
        n_clusters = int(label.max()) + 1
        if n_clusters == len(label):
            continue
        levels.append(label)
        member = sp.csr_array(
            (np.ones(len(label)), (np.arange(len(label)), label)), shape=(len(label), n_clusters)
        )
        total = sp.csr_array(member.T @ total @ member)
        total.setdiag(0.0)
        total.eliminate_zeros()
        size = np.bincount(label, size)
    return levels


def _merged(total: sp.csr_array, size: Floats, threshold: float) -> Ints:
    """Components of the edges from each cluster to its most similar one, down to a threshold."""
    edges = total.tocoo()
    mean = edges.data / (size[edges.row] * size[edges.col])
    # the most similar of each row comes first; of equal ones the first
    order = np.lexsort((edges.col, -mean, edges.row))
    row, col, mean = edges.row[order], edges.col[order], mean[order]
    is_best = np.append(True, row[1:] != row[:-1]) & (mean >= threshold)
    n = len(size)
    near = sp.csr_array((np.ones(int(is_best.sum())), (row[is_best], col[is_best])), shape=(n, n))
    return np.asarray(connected_components(near, directed=False)[1], dtype=np.int64)
