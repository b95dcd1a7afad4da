"""Quality of a tree over classes on held-out points, the paper's way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arbora._base.types import Ints
from arbora.metrics import (
    dendrogram_purity,
    flat_scores,
    least_hierarchical_distance,
    level_scores,
)
from arbora.tree import Tree


def evaluate_tree(
    tree: Tree,
    y: ArrayLike,
    leaf_of_point: ArrayLike | None = None,
    *,
    coarse: Mapping[str, ArrayLike] | ArrayLike | None = None,
) -> dict[str, Any]:
    """Flat and hierarchical quality of a tree over classes, on points assigned to its leaves.

    Parameters
    ----------
    tree : Tree
        Over classes or clusters.
    y : array-like, shape (n_points,)
        True class of each point. Flat scores are taken where the tree has as many clusters as there are classes, or at
        the leaves if it has fewer.
    leaf_of_point : array-like of int, shape (n_points,), optional
        Leaf of each point. By default point i is leaf i.
    coarse : array-like or mapping of array-likes, shape (n_points,), optional
        Labels of each point at coarser levels. Each is compared with the cut into as many clusters as it has
        labels (the protocol of the paper's table 8).

    Returns
    -------
    scores : dict
        ``nmi, ari, acc, leaf_purity, dendrogram_purity, lhd``; with `coarse` also ``levels``, the table of
        `arbora.metrics.level_scores`.

    Examples
    --------
    >>> import arbora as ab
    >>> tree = ab.Tree([4, 4, 5, 5, 6, 6, -1], n_leaves=4)
    >>> scores = ab.logits.evaluate_tree(tree, [0, 0, 1, 1], leaf_of_point=[0, 1, 2, 3])
    >>> scores["dendrogram_purity"], scores["acc"]
    (1.0, 1.0)
    """
    y = np.asarray(y)
    leaf = np.arange(tree.n_leaves) if leaf_of_point is None else np.asarray(leaf_of_point)
    if len(leaf) != len(y):
        raise ValueError(f"y and leaf_of_point must be equally long. Got {len(y)} and {len(leaf)}.")
    scores: dict[str, Any] = dict(flat_scores(y, _labels_at(tree, leaf, y)))
    scores["leaf_purity"] = scores.pop("purity")
    scores["dendrogram_purity"] = dendrogram_purity(tree, y, leaf)
    scores["lhd"] = least_hierarchical_distance(tree, y, leaf)
    if coarse is not None:
        named = coarse if isinstance(coarse, Mapping) else {"coarse": coarse}
        scores["levels"] = level_scores(tree, named, leaf)
    return scores


def _labels_at(tree: Tree, leaf: Ints, y: NDArray[Any]) -> Ints:
    """Cluster of each point in the cut with as many clusters as y has classes."""
    k = min(len(np.unique(y)), tree.n_leaves)
    return tree.cut(n_clusters=k)[leaf]
