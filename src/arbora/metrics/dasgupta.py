"""Costs and revenues that sum, over pairs of leaves, a similarity times the size of their LCA.

All of them are dot products with one array, ``cross(tree)``: the similarity that meets at each internal node.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arbora._base.arrays import row_names
from arbora._base.memory import refuse_if_too_large
from arbora.similarity import DenseSimilarity
from arbora.similarity.inputs import covering_similarity
from arbora.similarity.protocol import is_similarity
from arbora.tree.pass_kernels import sum_to_root
from arbora.tree.same_order import check_same_order

if TYPE_CHECKING:
    from arbora.tree import Tree


def dasgupta_cost(
    tree: Tree, similarity: Any, *, normalize: bool = False, sample_weight: ArrayLike | None = None
) -> float:
    """Dasgupta's cost: similar pairs should meet in small clusters. Lower is better.

    The sum over unordered pairs of leaves of ``w_ij * |lca(i, j)|``, where ``|v|`` is the number of leaves
    below v. A self-loop of a graph meets at its leaf's parent. Tables that count ordered pairs (HypHC's) show
    twice this.

    Parameters
    ----------
    tree : Tree
    similarity : Similarity, sparse adjacency or networkx graph
    normalize : bool
        Divide by the total weight: the mean size of the cluster at which an edge meets. NaN where there is
        no weight at all.
    sample_weight : array-like of float, shape (n_leaves,), optional
        How much each leaf counts in ``|v|``; for example its degree, or how many objects it stands for. The
        similarities stay as they are.

    Returns
    -------
    cost : float

    References
    ----------
    Dasgupta, "A cost function for similarity-based hierarchical clustering", STOC 2016.

    Examples
    --------
    >>> import arbora as ab
    >>> path = ab.similarity.graph(([0, 1, 2], [1, 2, 3]))
    >>> tree = ab.Tree([4, 4, 5, 5, 6, 6, -1], n_leaves=4)
    >>> ab.metrics.dasgupta_cost(tree, path)
    8.0
    >>> round(ab.metrics.dasgupta_cost(tree, path, normalize=True), 3)
    2.667
    """
    similarity = covering_similarity(similarity, tree)
    cost = cost_of_cross(tree, similarity.cross(tree), sample_weight)
    return _divided(cost, similarity.total) if normalize else cost


def cost_of_cross(tree: Tree, cross: NDArray[np.float64], sample_weight: ArrayLike | None = None) -> float:
    """Dasgupta's cost where the similarity that meets at each internal node is known."""
    return float(cross @ _node_weights(tree, sample_weight)[tree.n_leaves :])


def moseley_wang_revenue(tree: Tree, similarity: Any, *, normalize: bool = False) -> float:
    """Moseley and Wang's revenue: the complement of Dasgupta's cost. Higher is better.

    The sum over unordered pairs of ``w_ij * (n - |lca(i, j)|)``, so that revenue and cost add up to n times
    the total weight.

    Parameters
    ----------
    tree : Tree
    similarity : Similarity, sparse adjacency or networkx graph
    normalize : bool
        Divide by its supremum, n times the total weight (NaN where there is no weight): between 0 and 1.

    References
    ----------
    Moseley and Wang, "Approximation bounds for hierarchical clustering", NeurIPS 2017.

    Examples
    --------
    >>> import arbora as ab
    >>> path = ab.similarity.graph(([0, 1, 2], [1, 2, 3]))
    >>> ab.metrics.moseley_wang_revenue(ab.Tree([4, 4, 5, 5, 6, 6, -1], n_leaves=4), path)
    4.0
    """
    similarity = covering_similarity(similarity, tree)
    revenue = float(similarity.cross(tree) @ (tree.n_leaves - tree.sizes[tree.n_leaves :]))
    return _divided(revenue, tree.n_leaves * similarity.total) if normalize else revenue


def cohen_addad_value(
    tree: Tree,
    distances: ArrayLike | None = None,
    *,
    similarity: Any = None,
    ceiling: float = 1.0,
    normalize: bool = False,
) -> float:
    """Cohen-Addad's value: dissimilar pairs should meet in large clusters. Higher is better.

    The sum over unordered pairs of ``d_ij * |lca(i, j)|``. Exactly one of `distances` and `similarity` is
    given; a similarity object in the place of distances is refused rather than misread.

    Parameters
    ----------
    tree : Tree
    distances : array-like, shape (n, n) or condensed as by SciPy's ``pdist``
    similarity : Similarity, sparse adjacency or networkx graph
        Used as ``d_ij = ceiling - w_ij``, without building a matrix.
    ceiling : float
        The similarity at which two points do not differ; 1 for (1 + cos) / 2.
    normalize : bool
        Divide by its supremum, n times the total dissimilarity (NaN where that is 0).

    References
    ----------
    Cohen-Addad, Kanade, Mallmann-Trenn and Mathieu, "Hierarchical clustering: objective functions and
    algorithms", JACM 2019.

    Examples
    --------
    >>> import arbora as ab
    >>> ab.metrics.cohen_addad_value(ab.Tree([3, 3, 4, 4, -1], n_leaves=3), [[0, 1, 5], [1, 0, 4], [5, 4, 0]])
    29.0
    """
    if (distances is None) == (similarity is None):
        raise TypeError("Give exactly one of distances and similarity=.")
    sizes = tree.sizes[tree.n_leaves :].astype(np.float64)
    if similarity is None:
        given = as_dissimilarity(distances, tree, "distances")
        value, total = float(given.cross(tree) @ sizes), given.total
    else:
        covering = covering_similarity(similarity, tree)
        n_pairs = pairs_meeting(tree).astype(np.float64)
        value = float((ceiling * n_pairs - covering.cross(tree)) @ sizes)
        total = ceiling * float(n_pairs.sum()) - covering.total
    return _divided(value, tree.n_leaves * total) if normalize else value


def pairs_meeting(tree: Tree) -> NDArray[np.int64]:
    """Number of unordered pairs of leaves whose LCA each internal node is: int64[n_internal]."""
    below = tree.sizes * (tree.sizes - 1) // 2
    meeting = below[tree.n_leaves :].copy()
    inner = np.arange(tree.n_leaves, tree.n_nodes - 1)
    np.subtract.at(meeting, tree.parent[inner] - tree.n_leaves, below[inner])
    return meeting


def as_dissimilarity(values: Any, tree: Tree, argument: str) -> DenseSimilarity:
    """A matrix of distances in the shape of a similarity, for its `cross` and `total` alone."""
    if is_similarity(values):
        raise TypeError(
            f"{argument} must be an array: larger means less alike. Pass a similarity as similarity=."
        )
    names, matrix = row_names(values), np.asarray(values, dtype=np.float64)
    n = tree.n_leaves
    if matrix.ndim == 1:
        matrix = _square(matrix, n, argument)
    if matrix.shape != (n, n):
        raise ValueError(
            f"{argument} must be condensed or of shape {(n, n)}, one row per leaf. Got shape {matrix.shape}."
        )
    if not np.isfinite(matrix).all():
        raise ValueError(f"{argument} must be finite.")
    if not np.allclose(matrix, matrix.T):
        raise ValueError(f"{argument} must be symmetric.")
    check_same_order(tree, names, argument)
    return DenseSimilarity(np.ascontiguousarray(matrix))


def _square(condensed: NDArray[np.float64], n: int, argument: str) -> NDArray[np.float64]:
    from scipy.spatial.distance import squareform

    n_pairs = n * (n - 1) // 2
    if len(condensed) != n_pairs:
        raise ValueError(
            f"A condensed {argument} must have n_leaves * (n_leaves - 1) / 2 = {n_pairs} entries. "
            f"Got {len(condensed)}."
        )
    refuse_if_too_large(
        24 * n * n, f"The {argument} of {n} leaves as a square", "Use a similarity of vectors."
    )
    return squareform(condensed) if n > 1 else np.zeros((1, 1))


def _node_weights(tree: Tree, sample_weight: ArrayLike | None) -> NDArray[np.float64]:
    """Total weight of the leaves below each node."""
    if sample_weight is None:
        return tree.sizes.astype(np.float64)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (tree.n_leaves,):
        raise ValueError(
            f"sample_weight must have one entry per leaf. Got shape {weights.shape} for {tree.n_leaves} leaves."
        )
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("sample_weight must be finite and not negative.")
    per_node = np.zeros(tree.n_nodes)
    per_node[: tree.n_leaves] = weights
    below: NDArray[np.float64] = sum_to_root(tree.parent, per_node)
    return below


def _divided(value: float, by: float) -> float:
    """A mean, NaN where it is over nothing."""
    return value / by if by > 0 else float("nan")
