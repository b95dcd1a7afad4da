"""Scores of the cuts that match labels with several levels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from arbora.metrics import agreement
from arbora.metrics.inputs import as_array, as_labels, as_leaf_of_point, by_name
from arbora.metrics.table import LevelScores

if TYPE_CHECKING:
    from arbora.tree import Tree


def level_scores(tree: Tree, y: Any, leaf_of_point: ArrayLike | None = None) -> LevelScores:
    """Agreement with each level of the labels, at the cut with as many clusters as the level has classes.

    Parameters
    ----------
    tree : Tree
    y : array-like, shape (n_points,) or (n_points, n_levels); or a mapping or DataFrame of named levels
        Classes at each level, coarse or fine first. -1, NaN and None mean no label at that level.
    leaf_of_point : array-like of int, shape (n_points,), optional
        Leaf that holds each point. By default point i is leaf i.

    Returns
    -------
    scores : LevelScores
        A table with one row per level: number of classes and clusters, NMI, ARI, ACC (accuracy under the best
        matching) and purity. ``scores["level 0"]["nmi"]`` is one entry. Where n-ary splits allow no cut into
        exactly as many clusters as classes, the nearest possible number is taken (the smaller of two equally
        near ones, as in ``tree.cut(n, exact="nearest")``) and shown.

    Examples
    --------
    >>> import arbora as ab
    >>> tree = ab.Tree([4, 4, 5, 5, 6, 6, -1], n_leaves=4)
    >>> y = {"kind": ["pet", "pet", "farm", "farm"], "animal": ["cat", "cat", "cow", "pig"]}
    >>> ab.metrics.level_scores(tree, y)
    level   n_classes  n_clusters    nmi    ari    acc  purity
    kind            2           2  1.000  1.000  1.000   1.000
    animal          3           3  1.000  1.000  1.000   1.000
    """
    rows: dict[str, dict[str, float]] = {}
    for name, labels in named_levels(y).items():
        codes, n_classes = as_labels(labels, f"y ({name})")
        leaves = as_leaf_of_point(by_name(tree, labels, leaf_of_point), tree, len(codes))
        clusters = tree.cut(min(max(n_classes, 1), tree.n_leaves), exact="nearest")
        counts: dict[str, float] = {"n_classes": n_classes, "n_clusters": int(clusters.max()) + 1}
        rows[name] = counts | agreement.flat_scores(labels, clusters[leaves])
    return LevelScores(rows)


def named_levels(y: Any) -> dict[str, Any]:
    """Levels of the labels by name: one for a vector, one per column otherwise."""
    if isinstance(y, Mapping) or hasattr(y, "columns"):
        names = list(y.keys() if isinstance(y, Mapping) else y.columns)
        if not names:
            raise ValueError("y must have at least one level of labels. Got none.")
        return {str(name): y[name] for name in names}
    values = as_array(y)
    if values.ndim == 1:
        # as given: it may have names
        return {"level 0": y}
    if values.ndim != 2 or values.shape[1] == 0:
        raise ValueError(f"y must have shape (n_points,) or (n_points, n_levels). Got {values.shape}.")
    return {f"level {k}": values[:, k] for k in range(values.shape[1])}
