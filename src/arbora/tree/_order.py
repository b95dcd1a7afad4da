"""The order in which a tree is drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist, squareform

from arbora._base.arrays import row_names
from arbora._base.memory import refuse_if_too_large
from arbora._base.threads import in_background
from arbora._base.types import Floats, Ints
from arbora.errors import TooLargeError
from arbora.tree import _order_kernels as order_kernels
from arbora.tree import pass_kernels as kernels
from arbora.tree._tree import Tree
from arbora.tree.same_order import check_same_order
from arbora.tree.surgery import binarize

# O(n^3) time and two n x n tables: 400 MB at this size
MAX_OPTIMAL_LEAVES = 5_000


def reorder(tree: Tree, by: Any = "optimal", *, data: Any = None) -> Tree:
    """The same tree, drawn in another order: nothing changes but the order of siblings.

    Parameters
    ----------
    tree : Tree
    by : {"optimal", "size"} or array-like of shape (n_leaves,)
        - ``"optimal"``: the order in which neighboring leaves are most alike in `data`: the sum of their
          dissimilarities is least (Bar-Joseph et al. 2001; SciPy's function of that name can miss it). In an
          n-ary node the children keep the neighborhood that `binarize` gives them. O(n^3).
        - ``"size"``: smaller subtrees first.
        - weights: siblings by the mean weight of their leaves, ascending.
    data : array-like or similarity, optional
        For ``"optimal"``: vectors of shape (n_leaves, n_features), Euclidean; dissimilarities, condensed or
        as a symmetric matrix with zero diagonal; or an object with ``pairs(i, j)`` such as
        `arbora.similarity` makes.

    Examples
    --------
    >>> from arbora import Tree
    >>> tree = Tree.from_newick("((a,b),(c,d));")
    >>> tree.reorder([3, 1, 0, 5]).to_newick()
    '((b,a),(c,d));'
    >>> tree.reorder("optimal", data=[[2.0], [0.0], [9.0], [3.0]]).to_newick()
    '((b,a),(d,c));'
    """
    if not isinstance(by, str):
        return tree.replace(order=_order_by_key(tree, _mean_weights(tree, by)))
    if by == "size":
        return tree.replace(order=_order_by_key(tree, tree.sizes))
    if by == "optimal":
        return tree.replace(order=_optimal_order(tree, data))
    raise ValueError(f"by must be 'optimal', 'size' or one weight per leaf. Got {by!r}.")


def _mean_weights(tree: Tree, weights: Any) -> Floats:
    names, weights = row_names(weights), np.asarray(weights)
    if weights.shape != (tree.n_leaves,):
        raise ValueError(f"by must hold one weight per leaf, shape ({tree.n_leaves},). Got {weights.shape}.")
    if weights.dtype.kind not in "biuf" or not np.isfinite(weights).all():
        raise ValueError("by must hold finite numbers.")
    check_same_order(tree, names, "by")
    total = np.zeros(tree.n_nodes)
    total[: tree.n_leaves] = weights
    means: Floats = kernels.sum_to_root(tree.parent, total) / tree.sizes
    return means


def _order_by_key(tree: Tree, key: NDArray[Any]) -> Ints:
    """Leaves depth first with siblings by ascending key (the present order decides between equals)."""
    nodes = np.arange(tree.root)
    ranked = np.lexsort((tree.leaf_start[nodes], key[nodes], tree.parent[nodes]))
    start = kernels.place_leaves(tree.n_leaves, tree.sizes, tree.child_offsets, ranked)
    return np.argsort(start[: tree.n_leaves], kind="stable")


def _optimal_order(tree: Tree, data: Any) -> Ints:
    if data is None:
        raise ValueError("by='optimal' needs data=: vectors, dissimilarities or a similarity.")
    if tree.n_leaves > MAX_OPTIMAL_LEAVES:
        raise TooLargeError(
            f"Optimal ordering needs all dissimilarities of {tree.n_leaves} leaves; the limit is "
            f"{MAX_OPTIMAL_LEAVES}. Use reorder(weights), e.g. the first principal component of the data."
        )
    refuse_if_too_large(
        48 * tree.n_leaves**2, f"Optimal orders of {tree.n_leaves} leaves", "Use reorder(weights) instead."
    )
    condensed = _condensed(tree.n_leaves, data)
    names = getattr(data, "names", None) if hasattr(data, "pairs") else row_names(data)
    check_same_order(tree, names, "data")
    if tree.n_leaves < 3:
        return np.arange(tree.n_leaves)
    binary = binarize(tree)
    start, stop, children = (
        binary.leaf_start,
        binary.leaf_start + binary.sizes,
        binary.child_index.reshape(-1, 2),
    )
    middle = np.concatenate([start[: binary.n_leaves], start[children[:, 1]]])
    distance = squareform(condensed, checks=False)[np.ix_(binary.leaf_order, binary.leaf_order)]
    # one long call: Ctrl-C is answered meanwhile
    best = in_background(
        lambda: order_kernels.measure_shortest_orders(distance, start, middle, stop, children)
    )
    positions = order_kernels.trace_shortest_order(distance, best, start, middle, stop, children)
    return np.asarray(binary.leaf_order[positions])


def _condensed(n: int, data: Any) -> Floats:
    """Condensed dissimilarities from vectors, dissimilarities or a similarity."""
    if hasattr(data, "pairs"):
        if data.n_points != n:
            raise ValueError(f"data has {data.n_points} points, the tree {n} leaves.")
        similarity = np.asarray(data.pairs(*np.triu_indices(n, 1)), dtype=np.float64)
        return np.asarray(similarity.max(initial=0.0) - similarity)
    array = np.asarray(data, dtype=np.float64)
    if not np.isfinite(array).all():
        raise ValueError("data must be finite.")
    if array.shape == (n * (n - 1) // 2,):
        return array
    if array.ndim != 2 or len(array) != n:
        raise ValueError(
            f"data must be vectors of shape ({n}, n_features), or dissimilarities of shape ({n}, {n}) or "
            f"({n * (n - 1) // 2},). Got shape {array.shape}."
        )
    if array.shape == (n, n) and not np.diagonal(array).any() and np.array_equal(array, array.T):
        return np.asarray(squareform(array, checks=False))
    return np.asarray(pdist(array))
