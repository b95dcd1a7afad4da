"""Agglomerative linkage of a sparse graph, without ever filling in the absent edges."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from arbora.linkages import _kernels as kernels
from arbora.similarity.graph import GraphSimilarity
from arbora.tree import Tree

GRAPH_METHODS = ("average", "single", "complete", "paris")


def graph_linkage(graph: GraphSimilarity, method: str = "average") -> Tree:
    """Agglomerate the nodes of a graph; a pair without an edge has similarity 0.

    Nodes S and T of the tree are as similar as

    - average: ``w(S, T) / (|S| |T|)``,
    - paris: ``w(S, T) * W / (d(S) d(T))`` with degrees d and their sum W (self-loops count once),
    - single: the heaviest edge between them,
    - complete: the lightest edge between them, and 0 unless every pair has one.

    A node's height is 1 / similarity. Parts with similarity 0 are joined at the top, smallest first, all at
    twice the largest height below (1 in a graph without edges). O(m log n) moves of edges, ~70 bytes an edge.

    Parameters
    ----------
    graph : GraphSimilarity
        From `similarity.graph` or `similarity.knn`.
    method : {"average", "single", "complete", "paris"}
        How similar two clusters are.

    Returns
    -------
    tree : Tree
        Binary, nodes in ascending height.

    Examples
    --------
    >>> import arbora as ab
    >>> from arbora.linkages import graph_linkage
    >>> path = ab.similarity.graph(([0, 1, 2], [1, 2, 3], [1.0, 0.1, 1.0]))
    >>> tree = graph_linkage(path, "average")
    >>> tree.to_newick(lengths=False)
    '((0,1),(2,3));'
    >>> tree.height[4:]
    array([ 1.,  1., 40.])
    """
    if method not in GRAPH_METHODS:
        raise ValueError(f"method must be one of {GRAPH_METHODS} for a graph. Got {method!r}.")
    n_points = graph.n_points
    csr = graph.csr
    if n_points == 1:
        return Tree([-1], 1, height=[0.0])
    if n_points >= 2**31 or csr.nnz >= 2**31:
        raise ValueError(f"A graph may have up to 2^30 edges. Got {csr.nnz // 2}.")
    end, weight = _list_edges(csr)
    left, right, similarity = _merges(end, weight, graph, method)
    return _tree_from_merges(left, right, similarity, n_points)


def _list_edges(csr: sp.csr_array) -> tuple[NDArray, NDArray]:
    """Each edge of a symmetric matrix once: (ends int32[2m], weight float64[m])."""
    row = np.repeat(np.arange(csr.shape[0], dtype=np.int32), np.diff(csr.indptr))
    is_upper = csr.indices > row
    end = np.empty((int(is_upper.sum()), 2), dtype=np.int32)
    end[:, 0], end[:, 1] = row[is_upper], csr.indices[is_upper]
    return end.ravel(), csr.data[is_upper].astype(np.float64)


def _merges(
    end: NDArray, weight: NDArray, graph: GraphSimilarity, method: str
) -> tuple[NDArray, NDArray, NDArray]:
    n_points = graph.n_points
    if method == "single":
        order = np.argsort(-weight, kind="stable")
        return kernels.merge_along_edges(end, weight, order, n_points)
    if method == "paris":
        degree = graph.csr.sum(axis=1, dtype=np.float64) + graph.self_loops
        left, right, similarity = kernels.agglomerate(end, weight, degree.copy(), kernels.AVERAGE)
        return left, right, similarity * degree.sum()
    code = kernels.AVERAGE if method == "average" else kernels.COMPLETE
    return kernels.agglomerate(end, weight, np.ones(n_points), code)


def _tree_from_merges(left: NDArray, right: NDArray, similarity: NDArray, n_points: int) -> Tree:
    similarity = kernels.cap_by_children(left, right, similarity, n_points)
    order = np.argsort(-similarity, kind="stable")  # stable: children stay before parents
    parent = kernels.parents_of_merges(left, right, order, n_points)
    height = np.zeros(2 * n_points - 1)
    with np.errstate(divide="ignore", over="ignore"):
        merged = np.minimum(1.0 / similarity[order], np.finfo(np.float64).max / 4)
    height[n_points : n_points + len(left)] = merged
    height[n_points + len(left) :] = 2 * merged[-1] if len(left) else 1.0
    return Tree(parent, n_points, height=height)
