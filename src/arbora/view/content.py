"""What an explorer page can show: a tree with names, metadata, images, texts, points and a second tree."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora.tree import Tree
from arbora.view import _kernels as kernels
from arbora.view.columns import Column, read_columns
from arbora.view.layout import Layout
from arbora.view.tangle import crossings, face_to_face
from arbora.view.words import WordCounts

N_EXEMPLARS = 12


class Content:
    """A tree and everything known about its leaves, checked once.

    Parameters
    ----------
    tree : Tree
    labels : array-like of shape (n_leaves,), optional
        Classes of the leaves: colors, purity and the scores of a cut.
    metadata : mapping or data frame, optional
        More columns, by name.
    names : sequence of str, optional
        Names of the leaves; by default the tree's own.
    images : array-like of shape (n_leaves, h, w) or (n_leaves, h, w, 3), optional
        Small pictures shown as exemplars of a node; uint8, or floats that are scaled to their range.
    texts : sequence of str, optional
        A text a leaf; a node shows its top words.
    points : array-like of shape (n_leaves, 2), optional
        The linked scatter; by default the first two principal axes of `features`.
    features : array-like of shape (n_leaves, d), optional
        The data behind the tree: picks exemplars (nearest the mean) and places the scatter.
    compare : Tree, optional
        A second tree over the same leaves, for the tanglegram. Siblings of both are then drawn in the order that
        makes the fewest lines cross.
    color : str, optional
        Column to color by at first; by default the first column, or the cut.
    title : str, optional
    """

    def __init__(
        self,
        tree: Tree,
        *,
        labels: Any = None,
        metadata: Any = None,
        names: Sequence[str] | None = None,
        images: Any = None,
        texts: Sequence[str] | None = None,
        points: Any = None,
        features: Any = None,
        compare: Tree | None = None,
        color: str | None = None,
        title: str | None = None,
    ) -> None:
        if not isinstance(tree, Tree):
            raise TypeError(f"tree must be an arbora.Tree. Got {type(tree).__name__}.")
        self.names = None if names is None else _checked_names(names, tree)
        self.tree, self.compare, self.crossings_before = tree, None, 0
        if compare is not None:
            matched = _matched(tree, compare, self.names)
            self.crossings_before = crossings(tree, matched)
            self.tree, self.compare = face_to_face(tree, matched)
            tree = self.tree
        self.layout = Layout(tree)
        self.title = f"Tree of {tree.n_leaves:,} leaves" if title is None else str(title)
        self.columns = read_columns(tree, metadata, labels)
        self.images = None if images is None else _checked_images(images, tree.n_leaves)
        self.words = None if texts is None else WordCounts(texts, tree)
        self.features = None if features is None else _checked_rows(features, tree.n_leaves, "features")
        self.points = self._placed_points(points)
        if color is not None and color not in [column.name for column in self.columns]:
            raise ValueError(f"color must be a column: {[c.name for c in self.columns]}. Got {color!r}.")
        self.color = color

    def column(self, name: str) -> Column:
        """The column of this name."""
        for column in self.columns:
            if column.name == name:
                return column
        raise ValueError(f"No column {name!r}. There are {[column.name for column in self.columns]}.")

    def leaf_name(self, leaf: int) -> str:
        """Name of a leaf, or its number."""
        return self.names[leaf] if self.names is not None else self.tree.label(leaf)

    def node_name(self, node: int) -> str:
        """Name of any node; '' for an internal node without one."""
        if node < self.tree.n_leaves:
            return self.leaf_name(node)
        return "" if self.tree.name is None else str(self.tree.name[node])

    @cached_property
    def folded_names(self) -> NDArray[Any]:
        """Leaf names in lower case, for the search."""
        return np.array([self.leaf_name(leaf).casefold() for leaf in range(self.tree.n_leaves)], dtype=object)

    @cached_property
    def exemplars(self) -> NDArray[np.int64]:
        """Up to twelve leaves of each node: those nearest its mean, or evenly spread without features."""
        tree = self.tree
        if self.features is not None:
            return kernels.best_exemplars(
                tree.n_leaves,
                self.features,
                tree.sizes,
                tree.parent,
                tree.child_offsets,
                tree.child_index,
                N_EXEMPLARS,
            )
        step = np.arange(N_EXEMPLARS)
        count = np.minimum(tree.sizes, N_EXEMPLARS)
        offset = (2 * step + 1) * tree.sizes[:, None] // (2 * count[:, None])
        place = np.minimum(tree.leaf_start[:, None] + offset, tree.n_leaves - 1)
        return np.where(step < count[:, None], tree.leaf_order[place], -1)

    def _placed_points(self, points: Any) -> NDArray[np.float64] | None:
        if points is not None:
            points = _checked_rows(points, self.tree.n_leaves, "points")
            if points.shape[1] != 2:
                raise ValueError(f"points must have two columns. Got shape {points.shape}.")
            return points
        if self.features is None or self.features.shape[1] < 2 or self.tree.n_leaves < 3:
            return None
        return principal_plane(self.features)


def _checked_names(names: Sequence[str], tree: Tree) -> list[str]:
    if isinstance(names, str) or len(names) != tree.n_leaves:
        raise ValueError(f"names must hold one name a leaf ({tree.n_leaves}). Got {len(names)}.")
    return [str(name) for name in names]


def principal_plane(features: NDArray[np.float64]) -> NDArray[np.float64]:
    """The first two principal axes, from the d x d covariance; the sign is that of the largest loading."""
    centered = features - features.mean(axis=0)
    _, vectors = np.linalg.eigh(centered.T @ centered)
    axes = vectors[:, -1:-3:-1]
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(2)])
    return centered @ axes


def _checked_rows(values: Any, n_leaves: int, argument: str) -> NDArray[np.float64]:
    if hasattr(values, "toarray"):
        values = values.toarray()
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.ndim != 2 or len(array) != n_leaves:
        raise ValueError(f"{argument} must have one row a leaf, shape ({n_leaves}, ...). Got {array.shape}.")
    if not np.isfinite(array).all():
        raise ValueError(
            f"{argument} must be finite. Row {int(np.argmin(np.isfinite(array).all(axis=1)))} is not."
        )
    return array


def _checked_images(images: Any, n_leaves: int) -> NDArray[np.uint8]:
    array = np.asarray(images)
    if array.ndim not in (3, 4) or len(array) != n_leaves or (array.ndim == 4 and array.shape[3] != 3):
        raise ValueError(
            f"images must have shape ({n_leaves}, h, w) or ({n_leaves}, h, w, 3). Got {array.shape}."
        )
    if max(array.shape[1:3]) > 256:
        raise ValueError(
            f"images must be at most 256 pixels a side: they are thumbnails. Got {array.shape[1:3]}."
        )
    if array.dtype == np.uint8:
        return array
    low, high = float(array.min()), float(array.max())
    return np.round((array - low) * (255 / max(high - low, 1e-300))).astype(np.uint8)


def _matched(tree: Tree, compare: Tree, names: Sequence[str] | None) -> Tree:
    """The second tree with leaves numbered like the first; `names` are those of a tree without its own."""
    if not isinstance(compare, Tree):
        raise TypeError(f"compare must be an arbora.Tree. Got {type(compare).__name__}.")
    if tree.name is None and names is not None and compare.name is not None:
        return compare.matched_to(names).replace(name=None)
    return compare.matched_to(tree)
