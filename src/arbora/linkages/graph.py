"""Agglomerative linkage of a sparse graph, without ever filling in the absent edges."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from arbora._base.arrays import check_finite
from arbora._base.params import check_choice
from arbora._base.threads import count_threads
from arbora._base.types import Floats, Ints
from arbora.linkages import _kernels as kernels
from arbora.linkages._round_kernels import Rows
from arbora.linkages.rounds import Merges, merge_in_rounds
from arbora.similarity import Similarity, as_similarity
from arbora.similarity.renumbering import renumbered
from arbora.tree import Tree

GraphMethod: TypeAlias = Literal["average", "single", "complete", "paris"]
GRAPH_METHODS = ("average", "single", "complete", "paris")
# nodes from which average linkage and Paris work in rounds, in which chance breaks ties
LARGE = 20_000


def graph_linkage(similarity: Any, method: GraphMethod = "average", *, n_jobs: int | None = None) -> Tree:
    """Agglomerate the nodes of a graph; a pair without an edge has similarity 0.

    Nodes S and T of the tree are as similar as

    - average: ``w(S, T) / (|S| |T|)``,
    - paris: ``w(S, T) * W / (d(S) d(T))`` with degrees d and their sum W (self-loops count once),
    - single: the heaviest edge between them,
    - complete: the lightest edge between them, and 0 unless every pair has one.

    A node's height is 1 / similarity. Parts with similarity 0 are joined at the top, smallest first, all at
    twice the largest height below (1 in a graph without edges). O(m log n) moves of edges, ~70 bytes per edge.

    Among equally similar clusters those made first are merged first, as in scikit-network. From 20,000 nodes on,
    average linkage and Paris merge all pairs at once that are each other's most similar (`arbora.linkages.rounds`),
    and which of several equally similar ones are taken looks random, though it is the same in every run.

    Parameters
    ----------
    similarity : graph
        From `similarity.graph` or `similarity.knn`, a sparse adjacency, a networkx graph, or your own similarity
        with `csr`.
    method : {"average", "single", "complete", "paris"}
        How similar two clusters are.
    n_jobs : int, optional
        Threads for average linkage and Paris of large graphs; by default all cores.

    Returns
    -------
    tree : Tree
        Binary, nodes in ascending height, leaves named as the nodes are.

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
    check_choice(method, "method", GRAPH_METHODS)
    found, csr, exponent = checked_graph(similarity)
    if found.n_points == 1:
        return Tree([-1], 1, height=[0.0], name=found.names)
    merges = _merges(found, csr, method, exponent, count_threads(n_jobs))
    tree = tree_from_merges(*merges, found.n_points)
    return tree if found.names is None else tree.replace(name=found.names)


def checked_graph(similarity: Any) -> tuple[Similarity, sp.csr_array, int]:
    """What was given, its edges, and the power of two to divide them by.

    Such a division is exact, and after it sums and products of weights of any size neither overflow nor vanish.
    """
    found = as_similarity(similarity)
    csr = found.csr
    if csr is None:
        raise TypeError(f"A graph is needed. {type(found).__name__} has no sparse form: use arbora.linkage.")
    if csr.nnz >= 2**31:
        raise ValueError(f"A graph may have up to 2^30 edges. Got {csr.nnz // 2}.")
    # the loops of the kernels would never end on NaN
    check_finite(csr.data, "The weights of the graph's edges")
    if len(csr.data) and csr.data.min() < 0:
        raise ValueError(f"The weights of edges must not be negative. The smallest is {csr.data.min():.6g}.")
    largest = max(csr.data.max(initial=0.0), found.self_loops.max(initial=0.0))
    return found, csr, int(np.frexp(largest)[1])


def _merges(
    found: Similarity, csr: sp.csr_array, method: GraphMethod, exponent: int, n_threads: int
) -> Merges:
    loops = found.self_loops
    if found.n_points >= LARGE and method in ("average", "paris"):
        merges = _merges_in_rounds(found, csr, method, exponent, n_threads)
    else:
        merges = _merges_one_by_one(csr, np.ldexp(loops, -exponent), method, exponent)
    left, right, similarity = merges
    if method != "paris":
        with np.errstate(over="ignore"):
            similarity = np.ldexp(similarity, exponent)
    return left, right, similarity


def _merges_in_rounds(
    found: Similarity, csr: sp.csr_array, method: GraphMethod, exponent: int, n_threads: int
) -> Merges:
    """Points that are near in space are first brought near in memory, if an order is known."""
    order, loops = found.nearby_order(), np.ldexp(found.self_loops, -exponent)
    if order is None:
        order = np.arange(found.n_points)
    else:
        csr, loops = renumbered(csr, order, n_threads), loops[order]
    start, length = csr.indptr[:-1].astype(np.int64), np.diff(csr.indptr).astype(np.int32)
    weight = _scaled(csr.data, -exponent)
    rows = Rows(start, length, csr.indices.astype(np.int32), weight)
    if method == "average":
        return merge_in_rounds(rows, np.ones(found.n_points), order, n_threads)
    here = np.repeat(np.arange(found.n_points), length)
    degree: Floats = loops + np.bincount(here, weight, minlength=found.n_points)
    return _by_degree(merge_in_rounds(rows, degree, order, n_threads), degree)


def _scaled(weight: NDArray[Any], exponent: int) -> Floats:
    """The weights times a power of two."""
    # np.ldexp is much slower, but this power might not be a number
    is_extreme = abs(exponent) > 1000
    scaled: Floats = (
        np.ldexp(weight, exponent, dtype=np.float64)
        if is_extreme
        else np.multiply(weight, 2.0**exponent, dtype=np.float64)
    )
    return scaled


def _merges_one_by_one(csr: sp.csr_array, loops: Floats, method: GraphMethod, exponent: int) -> Merges:
    end, weight = _list_edges(csr)
    weight = np.ldexp(weight, -exponent)
    n_points = len(loops)
    if method == "single":
        order = np.argsort(-weight, kind="stable")
        merges: Merges = kernels.merge_along_edges(end, weight, order, n_points)
        return merges
    if method == "paris":
        degree = np.bincount(end, np.repeat(weight, 2), minlength=n_points) + loops
        return _by_degree(kernels.agglomerate(end, weight, degree.copy(), kernels.AVERAGE), degree)
    code = kernels.AVERAGE if method == "average" else kernels.COMPLETE
    merges = kernels.agglomerate(end, weight, np.ones(n_points), code)
    return merges


def heavy_linkage(csr: sp.csr_array, sizes: Floats) -> Tree:
    """Average linkage of groups of points: groups S and T are as similar as w(S, T) / (|S| |T|).

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from arbora.linkages.graph import heavy_linkage
    >>> path = sp.csr_array([[0.0, 2.0, 0.0], [2.0, 0.0, 3.0], [0.0, 3.0, 0.0]])
    >>> heavy_linkage(path, np.array([1.0, 1.0, 9.0])).to_newick(lengths=False)
    '((0,1),2);'
    """
    if csr.shape[0] == 1:
        return Tree([-1], 1)
    return tree_from_merges(*average_merges(csr, sizes, n_threads=1), csr.shape[0])


def average_merges(csr: sp.csr_array, sizes: Floats, n_threads: int) -> Merges:
    """Merges of average linkage of groups of points; parts without an edge between them stay apart.

    Merge t joins nodes left[t] and right[t] into node ``len(sizes) + t``.
    """
    n_groups = len(sizes)
    if n_groups < LARGE:
        end, weight = _list_edges(csr)
        merges: Merges = kernels.agglomerate(end, weight, sizes.astype(np.float64), kernels.AVERAGE)
        return merges
    start, length = csr.indptr[:-1].astype(np.int64), np.diff(csr.indptr).astype(np.int32)
    rows = Rows(start, length, csr.indices.astype(np.int32), csr.data.astype(np.float64, copy=False))
    return merge_in_rounds(rows, sizes, np.arange(n_groups), n_threads)


def _list_edges(csr: sp.csr_array) -> tuple[NDArray[np.int32], Floats]:
    """Each edge of a symmetric matrix once: (ends int32[2m], weight float64[m])."""
    row = np.repeat(np.arange(csr.shape[0], dtype=np.int32), np.diff(csr.indptr))
    is_upper = csr.indices > row
    end = np.empty((int(is_upper.sum()), 2), dtype=np.int32)
    end[:, 0], end[:, 1] = row[is_upper], csr.indices[is_upper]
    return end.ravel(), csr.data[is_upper].astype(np.float64)


def _by_degree(merges: Merges, degree: Floats) -> Merges:
    """Merges by degrees with the similarities of Paris."""
    left, right, similarity = merges
    with np.errstate(over="ignore"):
        return left, right, similarity * degree.sum()


def tree_from_merges(left: Ints, right: Ints, similarity: Floats, n_points: int) -> Tree:
    similarity = kernels.cap_by_children(left, right, similarity, n_points)
    # stable: children stay before parents
    order = np.argsort(-similarity, kind="stable")
    parent = kernels.parents_of_merges(left, right, order, n_points)
    height = np.zeros(2 * n_points - 1)
    with np.errstate(divide="ignore", over="ignore"):
        merged = np.minimum(1.0 / similarity[order], np.finfo(np.float64).max / 4)
    height[n_points : n_points + len(left)] = merged
    height[n_points + len(left) :] = 2 * merged[-1] if len(left) else 1.0
    return Tree(parent, n_points, height=height)
