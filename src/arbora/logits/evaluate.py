"""Quality of a tree over classes on held-out points, the paper's way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arbora.metrics import (
    dendrogram_purity,
    flat_scores,
    least_hierarchical_distance,
    level_scores,
)
from arbora.tree import Tree


def evaluate_flat(labels: ArrayLike, y: ArrayLike) -> dict[str, float]:
    """NMI, ARI, accuracy (best matching of clusters to classes) and purity of a flat clustering.

    Examples
    --------
    >>> from arbora.logits import evaluate_flat
    >>> evaluate_flat([0, 0, 1, 1], ["a", "a", "b", "b"])
    {'nmi': 1.0, 'ari': 1.0, 'acc': 1.0, 'leaf_purity': 1.0}
    """
    scores = flat_scores(y, labels)
    return {"nmi": scores["nmi"], "ari": scores["ari"], "acc": scores["acc"], "leaf_purity": scores["purity"]}


def evaluate_tree(
    tree: Tree,
    assignments: ArrayLike,
    y: ArrayLike,
    *,
    coarse: Mapping[str, ArrayLike] | ArrayLike | None = None,
) -> dict[str, Any]:
    """Flat and hierarchical quality of a tree over classes, on points assigned to its leaves.

    Parameters
    ----------
    tree : Tree
        Over classes or clusters.
    assignments : array-like of int, shape (n_points,)
        Leaf of each point.
    y : array-like, shape (n_points,)
        True class of each point. Flat scores are taken where the tree has as many clusters as there are classes, or at
        the leaves if it has fewer.
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
    >>> scores = ab.logits.evaluate_tree(tree, [0, 1, 2, 3], y=[0, 0, 1, 1])
    >>> scores["dendrogram_purity"], scores["acc"]
    (1.0, 1.0)
    """
    leaf = np.asarray(assignments)
    y = np.asarray(y)
    if len(leaf) != len(y):
        raise ValueError(f"assignments and y must be equally long. Got {len(leaf)} and {len(y)}.")
    scores: dict[str, Any] = evaluate_flat(_labels_at(tree, leaf, y), y)
    scores["dendrogram_purity"] = dendrogram_purity(tree, y, leaf)
    scores["lhd"] = least_hierarchical_distance(tree, y, leaf)
    if coarse is not None:
        named = coarse if isinstance(coarse, Mapping) else {"coarse": coarse}
        scores["levels"] = level_scores(tree, named, leaf)
    return scores


def _labels_at(tree: Tree, leaf: NDArray[np.int64], y: NDArray[Any]) -> NDArray[np.int64]:
    """Cluster of each point in the cut with as many clusters as y has classes."""
    k = min(len(np.unique(y)), tree.n_leaves)
    return tree.cut(n_clusters=k)[leaf]
