"""Facts about a tree, and its explorer page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from arbora.cli._console import Console
from arbora.cli.writing import writing
from arbora.reading import Dataset
from arbora.tree import Tree

# Columns up to which exemplars and a scatter plot are computed in the page.
_MOST_FEATURES = 2048
# Genes that a page offers to color by, where the user names none.
_GENES_IN_PAGE = 12
# Groups that stand for the leaves in the page of a tree too large for one file.
GROUPS_IN_PAGE = 2000


def tree_facts(tree: Tree) -> dict[str, Any]:
    """Size and shape of a tree."""
    return {
        "leaves": tree.n_leaves,
        "internal nodes": tree.n_internal,
        "binary": tree.is_binary,
        "depth": int(tree.depths.max()),
        "heights": tree.height is not None,
        "supports": tree.support is not None,
        "names": tree.name is not None,
    }


def page_content(tree: Tree, data: Dataset | None, console: Console) -> dict[str, Any]:
    """What the explorer can show of the data: columns, names, texts, for vectors exemplars and scatter.

    Of graphs and similarities also what edits cost, and which leaves are most similar.

    Of cells also the genes that tell most about the tree, unless the user has chosen some, which are columns already.
    """
    if data is None or data.n_points != tree.n_leaves:
        return {}
    content: dict[str, Any] = {}
    metadata = dict(data.metadata)
    if data.genes is not None and not data.genes.chosen:
        metadata.update(_gene_columns(tree, data, console))
    if data.category_colors:
        content["category_colors"] = data.category_colors
    if data.y is not None:
        title = str(data.label_name or "label")
        metadata.pop(title, None)
        content["classes"] = {title: data.y}
    if metadata:
        content["metadata"] = metadata
    if data.names is not None:
        content["names"] = data.names
    if data.texts is not None:
        content["texts"] = data.texts
    if data.points is not None:
        content["points"] = data.points
    if data.kind in ("graph", "similarities"):
        content["similarity"] = data.as_input()
    if data.kind == "vectors" and not sp.issparse(data.values) and data.values.shape[1] <= _MOST_FEATURES:
        features = np.asarray(data.values, dtype=np.float64)
        if not np.isfinite(features).all():
            # exemplars and the scatter need every number; columns and names are shown all the same
            return content
        content["features"] = features
        if data.points is None:
            content["points"] = _scatter(features)
        if data.feature_names is not None and len(data.feature_names) == data.values.shape[1]:
            content["feature_names"] = list(data.feature_names)
    return content


def _gene_columns(tree: Tree, data: Dataset, console: Console) -> dict[str, Any]:
    """Columns of the genes that tell most about the largest splits."""
    from arbora.insight import telling_features

    assert data.genes is not None
    found = telling_features(tree, data.genes.values, data.genes.names, n_features=_GENES_IN_PAGE)
    if found:
        console.say(
            f"genes to color by, from the largest splits: {', '.join(found)} (--genes chooses others)"
        )
    taken = {*data.metadata, data.label_name}
    columns = data.genes.columns(found)
    return {f"{gene} (gene)" if gene in taken else gene: values for gene, values in columns.items()}


def _scatter(features: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """The principal plane of columns on the scale that suits them; None where they need no scale or have no plane."""
    from arbora.similarity.scaling import choose, fit_scaling
    from arbora.view.content import principal_plane

    if features.shape[1] < 2 or len(features) < 3:
        return None
    scaling = fit_scaling(choose(features).scale, features)
    return None if scaling is None else principal_plane(np.asarray(scaling.apply(features), dtype=np.float64))


def write_page(tree: Tree, path: Path, console: Console, **content: Any) -> None:
    """Write the explorer page; that of a tree too large for one file shows its upper part, and says so."""
    from arbora.view import to_html
    from arbora.view.page import MOST_LEAVES_IN_PAGE

    if tree.n_leaves > MOST_LEAVES_IN_PAGE:
        content["max_leaves"] = GROUPS_IN_PAGE
        console.note(
            f"{path} shows the upper {GROUPS_IN_PAGE:,} groups of {tree.n_leaves:,} leaves, with their counts; "
            "arbora show opens a tree of any size whole"
        )
    with writing(path):
        to_html(tree, path, **content)
