"""Agreement of a tree with known classes: purity of its nodes, and distance between points of one class."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arbora._base.pieces import pieces_of
from arbora.metrics import _kernels as kernels
from arbora.metrics.inputs import Labels, as_labels, as_leaf_of_point, by_name
from arbora.tree.pass_kernels import sum_to_root

if TYPE_CHECKING:
    from arbora.tree import Tree

_PAIRS_PER_CALL = 50_000_000


def dendrogram_purity(tree: Tree, y: ArrayLike, leaf_of_point: ArrayLike | None = None) -> float:
    """Dendrogram purity: mean purity of the LCA over all pairs of points of one class. Higher is better.

    For a pair of class k that meets at node v, the share of class k among the points below v. Exact, in
    O(n log n) for any number of classes.

    Parameters
    ----------
    tree : Tree
    y : array-like, shape (n_points,)
        Class of each point: numbers or strings. -1, NaN and None mean no label; such points are left out, as
        though they were not in the tree.
    leaf_of_point : array-like of int, shape (n_points,), optional
        Leaf that holds each point, for trees whose leaves are clusters. By default point i is leaf i.

    Returns
    -------
    purity : float
        In (0, 1]; NaN where no two points share a class.

    References
    ----------
    Heller and Ghahramani, "Bayesian hierarchical clustering", ICML 2005.

    Examples
    --------
    >>> import arbora as ab
    >>> tree = ab.Tree([4, 4, 5, 5, 6, 6, -1], n_leaves=4)
    >>> ab.metrics.dendrogram_purity(tree, [0, 0, 1, 1])
    1.0
    >>> ab.metrics.dendrogram_purity(tree, ["a", "b", "a", "b"])
    0.5
    """
    items = _items(tree, as_labels(y), by_name(tree, y, leaf_of_point))
    if items.n_pairs == 0:
        return float("nan")
    points_below = np.zeros(tree.n_nodes, dtype=np.int64)
    np.add.at(points_below, items.leaf, items.points)
    points_below = sum_to_root(tree.parent, points_below)
    total = kernels.purity_of_pairs(items.class_offsets, items.leaf, items.points, items.joined, points_below)
    return float(total) / items.n_pairs


def least_hierarchical_distance(tree: Tree, y: ArrayLike, leaf_of_point: ArrayLike | None = None) -> float:
    """Least hierarchical distance (LHD): how far apart the leaves of one class lie. Lower is better.

    The mean, over all pairs of points of one class in different leaves, of
    ``(log2(d) - 1) / (log2(K) - 1)``, where d is the number of edges between the two leaves and K the number
    of leaves. Siblings have 0; the two ends of a chain have 1.

    Parameters
    ----------
    tree : Tree
    y : array-like, shape (n_points,)
        Class of each point; -1, NaN and None mean no label, and such points are left out.
    leaf_of_point : array-like of int, shape (n_points,), optional
        Leaf that holds each point. By default point i is leaf i.

    Returns
    -------
    distance : float
        0 for a tree of two leaves, which are siblings; NaN where no class reaches into two leaves.

    References
    ----------
    Palumbo et al., "From logits to hierarchies: hierarchical clustering made simple", ICML 2025.

    Examples
    --------
    >>> import arbora as ab
    >>> tree = ab.Tree([4, 4, 5, 6, 5, 6, -1], n_leaves=4)  # a chain: ((0, 1), 2), 3
    >>> ab.metrics.least_hierarchical_distance(tree, ["a", "a", "b", "a"], [0, 0, 1, 3])
    1.0
    """
    items = _items(tree, as_labels(y), by_name(tree, y, leaf_of_point))
    in_one_leaf = int((items.points * (items.points - 1) // 2).sum())
    n_pairs = items.n_pairs - in_one_leaf
    if n_pairs == 0:
        return float("nan")
    if tree.n_leaves == 2:
        return 0.0
    depths = tree.depths
    log_distance = np.zeros(2 * int(depths.max()) + 1)
    log_distance[1:] = np.log2(np.arange(1, len(log_distance)))
    class_end = np.repeat(items.class_offsets[1:], np.diff(items.class_offsets))
    n_later = class_end - np.arange(len(class_end))
    total = 0.0
    for first, last in pieces_of(np.append(0, np.cumsum(n_later)), _PAIRS_PER_CALL):
        total = kernels.log_distance_of_pairs(
            first, last, class_end, items.leaf, items.points, items.joined, depths, log_distance, total
        )
    return float(total / n_pairs - 1) / float(np.log2(tree.n_leaves) - 1)


class _Items(NamedTuple):
    """Points grouped by class and leaf: class by class, each in the tree's leaf order.

    ``joined[k]`` is the LCA of the leaves of items k and k + 1; `n_pairs` counts the pairs that share a class.
    """

    class_offsets: NDArray[np.int64]
    leaf: NDArray[np.int64]
    points: NDArray[np.int64]
    joined: NDArray[np.int64]
    n_pairs: int


def _items(tree: Tree, labels: Labels, leaf_of_point: ArrayLike | None) -> _Items:
    leaves = as_leaf_of_point(leaf_of_point, tree, len(labels.codes))
    known = labels.codes >= 0
    keys = np.sort(labels.codes[known] * tree.n_leaves + tree.leaf_start[leaves[known]])
    is_new = np.ones(len(keys), dtype=bool)
    is_new[1:] = keys[1:] != keys[:-1]
    first = np.flatnonzero(is_new)
    code, position = np.divmod(keys[first], tree.n_leaves)
    leaf = tree.leaf_order[position]
    per_class = np.bincount(labels.codes[known], minlength=labels.n_classes).astype(np.int64)
    return _Items(
        class_offsets=np.searchsorted(code, np.arange(labels.n_classes + 1)),
        leaf=leaf,
        points=np.diff(first, append=len(keys)),
        joined=tree.lca(leaf[:-1], leaf[1:]),
        n_pairs=int((per_class * (per_class - 1) // 2).sum()),
    )
