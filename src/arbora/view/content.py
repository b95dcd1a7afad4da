"""What an explorer page can show: a tree with names, classes, metadata, images, texts, points and a second tree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Sized
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arbora._base.arrays import as_matrix, is_dataset
from arbora._base.types import Ints
from arbora.similarity import Similarity
from arbora.tree import Tree
from arbora.tree.same_order import check_same_order, row_of_leaf
from arbora.view import _kernels as kernels
from arbora.view import palette
from arbora.view.columns import Column, compact, read_column, read_columns
from arbora.view.inputs import (
    checked_images,
    checked_names,
    checked_report,
    checked_rows,
    checked_similarity,
    checked_texts,
)
from arbora.view.layout import Layout
from arbora.view.scores import splits_for
from arbora.view.tangle import crossings, face_to_face
from arbora.view.words import WordCounts

N_EXEMPLARS = 12
N_SIMILAR = 6
# Leaves up to which all pairs are compared for a page.
MOST_COMPARED = 10_000
# A mapping of titles to values, a data frame, or (classes only) one array.
Columns = Mapping[str, Any] | ArrayLike | Any
_MOST_LEVELS = 12
_MOST_EXPLAINED = 60
_MOST_SUGGESTED = 200
_PER_LEAF = ("classes", "metadata", "texts", "images", "features", "points")


class Content:
    """A tree and everything known about its leaves, checked once.

    Parameters
    ----------
    tree : Tree
    names : sequence of str, optional
        Names of the leaves; by default the tree's own.
    classes : array-like of shape (n_leaves,), mapping or data frame, optional
        Known classes: colors, purity and the scores of a cut. A mapping gives several, by title.
    metadata : mapping or data frame, optional
        More columns, by title. Numbers, dates and durations get a scale; text, booleans and codes (integers that
        are all of 0..m-1 or 1..m, at most 40) are categories; text that is nearly always different is shown as text.
    colors : str or array-like of shape (n_leaves,), optional
        What to color by at first: the title of a column, or values. By default the first column, or the cut.
    category_colors : mapping, optional
        Colors of categories, ``{title: {category: "#rrggbb"}}``; others take the palette's.
    texts : sequence of str, optional
        One text per leaf; a leaf shows its text, a node its top words.
    images : array-like of shape (n_leaves, h, w) or (n_leaves, h, w, 3), optional
        Thumbnails, shown with leaves and as exemplars of a node; uint8, or numbers that are scaled to their range.
    features : array-like of shape (n_leaves, d), optional
        The data behind the tree: picks exemplars (nearest the mean) and places the scatter.
    feature_names : sequence of str, optional
        Names of the columns of `features`: a node says what sets it apart. By default those of a data frame.
    points : array-like of shape (n_leaves, 2), optional
        The linked scatter; by default the first two principal axes of `features`.
    compare : Tree, optional
        A second tree over the same leaves, for the tanglegram. Siblings of both are then drawn in the order that
        makes the fewest lines cross.
    report : mapping, optional
        A report to show beside the tree, as `arbora.logits.ClassReport.to_dict` gives it.
    similarity : Similarity, optional
        What the tree was built on: a leaf says which leaves it is most similar to, and a node of a graph without
        features how dense it is and which members are central.
    graph_reasons : bool
        Whether nodes of a graph say that.
    title : str, optional
    """

    def __init__(
        self,
        tree: Tree,
        *,
        names: Iterable[Any] | None = None,
        classes: Columns | None = None,
        metadata: Columns | None = None,
        colors: str | ArrayLike | None = None,
        category_colors: Mapping[str, Mapping[str, str]] | None = None,
        texts: Iterable[Any] | None = None,
        images: ArrayLike | None = None,
        features: ArrayLike | None = None,
        feature_names: Iterable[Any] | None = None,
        points: ArrayLike | None = None,
        compare: Tree | None = None,
        report: Mapping[str, Any] | None = None,
        similarity: Similarity | None = None,
        graph_reasons: bool = True,
        title: str | None = None,
    ) -> None:
        if not isinstance(tree, Tree):
            raise TypeError(f"tree must be an arbora.Tree. Got {type(tree).__name__}.")
        self.names = None if names is None else checked_names(names, tree.n_leaves)
        self.tree, self.compare, self.crossings_before = tree, None, 0
        if compare is not None:
            other = _matched(tree, compare, self.names)
            self.crossings_before = crossings(tree, other)
            self.tree, self.compare = face_to_face(tree, other)
            tree = self.tree
        self.layout = Layout(tree)
        plural = "leaf" if tree.n_leaves == 1 else "leaves"
        self.title = f"Tree of {tree.n_leaves:,} {plural}" if title is None else str(title)
        self.columns = read_columns(tree, classes, metadata, category_colors)
        self.color = self._checked_colors(colors)
        self._reasons: dict[int, list[dict[str, Any]]] = {}
        self.report = None if report is None else checked_report(report)
        self.images = None if images is None else checked_images(images, tree.n_leaves)
        self.texts = None if texts is None else checked_texts(texts, tree.n_leaves)
        self.words = None if self.texts is None else WordCounts(self.texts, tree)
        self.features = None if features is None else checked_rows(features, tree.n_leaves, "features")
        self.feature_names = self._checked_feature_names(features, feature_names)
        self.points = self._placed_points(points)
        self.similarity = None if similarity is None else checked_similarity(similarity, tree)
        self._graph_reasons = graph_reasons

    # ---- columns and names -------------------------------------------------------------------------------

    def column(self, name: str) -> Column:
        """The column of this name."""
        for column in self.columns:
            if column.name == name:
                return column
        raise ValueError(f"No column {name!r}. There are {[column.name for column in self.columns]}.")

    def colorable(self, name: str) -> Column:
        """The column of this name, if it can be colored by."""
        column = self.column(name)
        if column.kind == "text":
            raise ValueError(f"Column {name!r} is text to read; it cannot be colored by.")
        return column

    def leaf_name(self, leaf: int) -> str:
        """Name of a leaf, or its number."""
        return self.names[leaf] if self.names is not None else self.tree.label(leaf)

    def node_name(self, node: int) -> str:
        """Name of any node: its own, or the top words of its texts, or "" for an internal node without either."""
        if node < self.tree.n_leaves:
            return self.leaf_name(node)
        own = "" if self.tree.name is None else str(self.tree.name[node])
        return own if own or self.words is None else self.words.title(node)

    @cached_property
    def inner_names(self) -> dict[int, str]:
        """Names that the tree gives its internal nodes."""
        tree = self.tree
        if tree.name is None:
            return {}
        return {v: str(tree.name[v]) for v in range(tree.n_leaves, tree.n_nodes) if tree.name[v]}

    @cached_property
    def exemplars(self) -> NDArray[np.int64]:
        """Up to twelve leaves of each node: those nearest its mean, or evenly spread without features."""
        tree = self.tree
        if self.features is not None:
            nearest: NDArray[np.int64] = kernels.best_exemplars(
                tree.n_leaves,
                self.features,
                tree.sizes,
                tree.parent,
                tree.child_offsets,
                tree.child_index,
                N_EXEMPLARS,
            )
            return nearest
        step = np.arange(N_EXEMPLARS)
        count = np.minimum(tree.sizes, N_EXEMPLARS)
        offset = (2 * step + 1) * tree.sizes[:, None] // (2 * count[:, None])
        place = np.minimum(tree.leaf_start[:, None] + offset, tree.n_leaves - 1)
        return np.where(step < count[:, None], tree.leaf_order[place], -1)

    def similar(self, leaf: int) -> list[int]:
        """The leaves that a leaf is most similar to, by the similarity the tree was built on."""
        return self._similar_to([leaf])[0]

    def similar_table(self) -> NDArray[np.int32] | None:
        """The same of every leaf, -1 where there are fewer; None where that is not known, or takes too long."""
        if self.similarity is None or (self.similarity.csr is None and self.tree.n_leaves > MOST_COMPARED):
            return None
        table = np.full((self.tree.n_leaves, N_SIMILAR), -1, dtype=np.int32)
        for row, found in zip(table, self._similar_to(range(self.tree.n_leaves)), strict=True):
            row[: len(found)] = found
        return table

    def _similar_to(self, leaves: Sequence[int]) -> list[list[int]]:
        if self.similarity is None:
            return [[] for _ in leaves]
        from arbora.insight import similar

        return [[one.point for one in found] for found in similar(self.similarity, leaves, N_SIMILAR)]

    @cached_property
    def explained(self) -> list[int]:
        """Nodes that say what sets them apart: the largest, where features have names, and those of a graph."""
        tree = self.tree
        if self.feature_names is None and not self._is_graph:
            return []
        inner = np.arange(tree.n_leaves, tree.root)
        inner = inner[tree.sizes[inner] < tree.sizes[tree.parent[inner]]]
        return [int(v) for v in inner[np.argsort(-tree.sizes[inner], kind="stable")[:_MOST_EXPLAINED]]]

    def reasons(self, node: int) -> list[dict[str, Any]]:
        """What sets a node apart from its siblings, best feature first; in a graph, what holds it together."""
        if node not in self.explained:
            return []
        if node not in self._reasons:
            self._reasons[node] = self._graph_facts(node) if self._is_graph else self._telling_features(node)
        return self._reasons[node]

    @property
    def _is_graph(self) -> bool:
        if self.features is not None or self.similarity is None or not self._graph_reasons:
            return False
        return self.similarity.csr is not None

    def _telling_features(self, node: int) -> list[dict[str, Any]]:
        # imports SciPy's statistics
        from arbora.insight import explain

        found = explain(self.tree, self.features, self.feature_names, node=node, n_features=4)[0]
        return [
            {"name": one.name, "effect": float(one.effect), "rule": one.rule}
            for one in found.features
            if np.isfinite(one.effect)
        ]

    def _graph_facts(self, node: int) -> list[dict[str, Any]]:
        from arbora.insight import explain_graph

        assert self.similarity is not None
        found = explain_graph(self.tree, self.similarity, node=node, n_central=4)[0]
        density = (
            f"mean similarity {found.density_inside:.3g} inside, {found.density_outside:.3g} to all others"
        )
        central = f"central: {', '.join(self.leaf_name(int(leaf)) for leaf in found.central)}"
        return [
            {"name": "density", "effect": None, "rule": density},
            {"name": "central", "effect": None, "rule": central},
        ]

    # ---- what a page receives ----------------------------------------------------------------------------

    @cached_property
    def node_arrays(self) -> dict[str, NDArray[Any]]:
        """Arrays of the page, by node number."""
        tree, layout = self.tree, self.layout
        wide = np.float64 if tree.n_leaves > 100_000 else np.float32
        arrays = {
            "start": tree.leaf_start.astype(np.int32),
            "size": tree.sizes.astype(np.int32),
            "x": layout.center.astype(wide),
            "y": layout.along("height" if tree.height is not None else "size").astype(np.float32),
            "rank": layout.split_rank.astype(np.int32),
            "parted": layout.parting.step.astype(np.int32),
            "deep": layout.deepest.astype(np.int32),
            "rho": layout.disk_radius.astype(np.float32),
        }
        for side, values in zip(("x0", "y0", "x1", "y1"), layout.rectangles.T, strict=True):
            arrays[side] = values.astype(np.float32)
        if tree.height is not None:
            arrays["height"] = compact(tree.height)
        if tree.support is not None:
            arrays["support"] = compact(tree.support)
        return arrays

    def facts(self) -> dict[str, Any]:
        """What a page must know before anything else."""
        tree = self.tree
        return {
            "title": self.title,
            "nLeaves": tree.n_leaves,
            "nNodes": tree.n_nodes,
            "maxDepth": int(tree.depths.max()),
            "leafRho": float(self.layout.disk_radius[0]),
            "hasHeight": tree.height is not None,
            "scale": self.layout.readable_scale(),
            "hasNames": self.names is not None or tree.name is not None,
            "hasInnerNames": self.words is not None or bool(self.inner_names),
            "hasTexts": self.texts is not None,
            "hasPoints": self.points is not None,
            "hasTangle": self.compare is not None,
            "columns": [column.facts() for column in self.columns],
            "color": self.color,
            "image": None if self.images is None else list(self.images.shape[1:]),
            "reachable": self._reachable(),
            "levels": [[k, splits_for(self.layout, k)] for k in self.levels],
            "isTaxonomy": self._is_taxonomy,
            "editable": False,
            "report": self.report,
            "palette": palette.for_page(),
        }

    @cached_property
    def levels(self) -> list[int]:
        """Numbers of clusters worth stopping at: the levels of a taxonomy, or the cuts `Tree.levels` proposes."""
        tree = self.tree
        if self._is_taxonomy:
            counts = np.bincount(tree.depths[tree.n_leaves :])[1:]
            return [int(k) for k in np.unique(counts) if 1 < k < tree.n_leaves]
        if tree.n_leaves < 8:
            return []
        most = min(tree.n_leaves // 3, _MOST_SUGGESTED)
        return [level.n_clusters for level in tree.levels(5, max_clusters=most)]

    @cached_property
    def _is_taxonomy(self) -> bool:
        """Whether all leaves lie at one depth, a few levels below the root."""
        depths = self.tree.depths[: self.tree.n_leaves]
        return bool(2 <= depths[0] <= _MOST_LEVELS and (depths == depths[0]).all() and self.tree.n_leaves > 4)

    def _reachable(self) -> list[int] | None:
        """Numbers of clusters that a cut can give; None if every number is possible (a binary tree)."""
        after = self.layout.clusters_after
        if len(after) == 0 or after[-1] == len(after) + 1:
            return None
        return [1, *(k for k in np.unique(after[:2000]).tolist() if k > 1)]

    # ---- checks ------------------------------------------------------------------------------------------

    def _checked_colors(self, colors: str | ArrayLike | None) -> str | None:
        if colors is None:
            return next((column.name for column in self.columns if column.kind != "text"), None)
        if not isinstance(colors, str):
            self.columns.insert(0, read_column(self.tree, "colors", colors))
            colors = "colors"
        titles = [column.name for column in self.columns if column.kind != "text"]
        if colors != "cut" and colors not in titles:
            raise ValueError(
                f"colors must be values, 'cut' or the title of a column: {titles}. Got {colors!r}."
            )
        return colors

    def _checked_feature_names(self, features: Any, names: Iterable[Any] | None) -> list[str] | None:
        if self.features is None:
            if names is not None:
                raise ValueError("feature_names are those of features. Pass features too.")
            return None
        if names is None:
            return as_matrix(features, argument="features").column_names
        found = [str(name) for name in names]
        if len(found) != self.features.shape[1]:
            raise ValueError(f"feature_names must hold {self.features.shape[1]} names. Got {len(found)}.")
        return found

    def _placed_points(self, points: ArrayLike | None) -> NDArray[np.float64] | None:
        if points is not None:
            rows = checked_rows(points, self.tree.n_leaves, "points")
            if rows.shape[1] != 2:
                raise ValueError(f"points must have two columns. Got shape {rows.shape}.")
            return rows
        if self.features is None or self.features.shape[1] < 2 or self.tree.n_leaves < 3:
            return None
        return principal_plane(self.features)


def _matched(tree: Tree, compare: Tree, names: list[str] | None) -> Tree:
    """The second tree with leaves numbered like the first; `names` are those of a tree without its own."""
    if not isinstance(compare, Tree):
        raise TypeError(f"compare must be an arbora.Tree. Got {type(compare).__name__}.")
    if tree.name is None and names is not None and compare.name is not None:
        return compare.matched_to(names).replace(name=None)
    return compare.matched_to(tree)


def principal_plane(features: NDArray[np.float64]) -> NDArray[np.float64]:
    """The first two principal axes, from the d x d covariance; the sign is that of the largest loading."""
    # scaled first: squares of huge numbers overflow
    features = features / max(float(np.abs(features).max()), 1e-300)
    centered = features - features.mean(axis=0)
    _, vectors = np.linalg.eigh(centered.T @ centered)
    axes = vectors[:, -1:-3:-1]
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(2)])
    plane: NDArray[np.float64] = centered @ axes
    return plane


def in_leaf_order(tree: Tree, about: Mapping[str, Any]) -> dict[str, Any]:
    """What is known about the leaves, each in their order: pandas objects are matched by the names in their index.

    Refused where names say that row i is not leaf i, as metrics do.
    """
    return {
        key: _ordered(tree, value, key) if key in (*_PER_LEAF, "names", "colors") else value
        for key, value in about.items()
    }


def _ordered(tree: Tree, values: Any, argument: str) -> Any:
    if isinstance(values, Mapping):
        return {key: _ordered(tree, one, argument) for key, one in values.items()}
    if values is None or isinstance(values, (str, bytes)) or not isinstance(tree, Tree):
        return values
    # what is of another length, or has none, is judged where its kind is known
    shape = getattr(values, "shape", None)
    length = shape[0] if shape else len(values) if isinstance(values, Sized) else None
    if length != tree.n_leaves:
        return values
    if is_dataset(values):
        check_same_order(tree, values.names, argument)
        return values
    rows = row_of_leaf(tree, values, argument)
    return values if np.array_equal(rows, np.arange(tree.n_leaves)) else _some(values, rows)


def of_leaves(about: Mapping[str, Any], kept: Ints) -> dict[str, Any]:
    """What is known about the leaves, for some of them in this order."""
    found = {key: _some(value, kept) if key in _PER_LEAF else value for key, value in about.items()}
    if found.get("colors") is not None and not isinstance(found["colors"], str):
        found["colors"] = _some(found["colors"], kept)
    similarity = found.get("similarity")
    if similarity is not None and len(kept) < similarity.n_points:
        found["similarity"] = similarity.subset(kept)
    return found


def _some(values: Any, kept: Ints) -> Any:
    """Some rows of a column, a list, a matrix, a frame, or of each column of a mapping."""
    if values is None:
        return None
    if isinstance(values, Mapping):
        return {key: _some(one, kept) for key, one in values.items()}
    if hasattr(values, "iloc"):
        return values.iloc[kept]
    if hasattr(values, "shape") or hasattr(values, "dtype"):
        return values[kept]
    return [values[k] for k in kept.tolist()]
