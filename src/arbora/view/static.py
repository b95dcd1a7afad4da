"""Pictures for papers: one call, matplotlib axes back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora.errors import MissingExtraError
from arbora.tree import Tree
from arbora.view import palette, scores
from arbora.view.columns import MISSING, Column, read_column
from arbora.view.layout import Layout, largest_nodes

KINDS = ("dendrogram", "circular", "disk", "icicle")
# Type that stays type in PDF and SVG, thin lines, small sans-serif text: what journals ask for.
STYLE = {
    "font.size": 8,
    "axes.linewidth": 0.6,
    "axes.titlesize": 9,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "svg.fonttype": "none",
}


@dataclass
class Picture:
    """What the functions that draw one picture share."""

    ax: Any
    layout: Layout
    nodes: NDArray[np.int64]
    opened: NDArray[np.int64]
    along: NDArray[np.float64]
    color: list[str]
    line_width: float
    orientation: str = "left"
    strips: list[Column] = field(default_factory=list)

    @property
    def tree(self) -> Tree:
        """The tree that is drawn."""
        return self.layout.tree

    def up(self) -> NDArray[np.int64]:
        """Index of each drawn node's parent among the drawn nodes, -1 for the root."""
        count = np.maximum(self.opened, 0)
        return np.concatenate([[-1], np.repeat(np.arange(len(self.nodes)), count)])


def plot(
    tree: Tree,
    kind: str = "dendrogram",
    *,
    ax: Any = None,
    colors: Any = None,
    n_clusters: int | None = None,
    labels: bool | Sequence[str] | None = None,
    strips: Mapping[str, Any] | None = None,
    support: bool = False,
    scale: str = "auto",
    orientation: str = "left",
    max_leaves: int = 600,
    line_width: float | None = None,
    legend: bool = True,
    title: str | None = None,
) -> Any:
    """Draw a tree with matplotlib.

    Parameters
    ----------
    tree : Tree
    kind : {"dendrogram", "circular", "disk", "icicle"}
        Rectangular or circular tree, Poincaré disk, or bars.
    ax : matplotlib axes, optional
        Where to draw; by default a new figure.
    colors : array-like of shape (n_leaves,), optional
        Classes or numbers: a branch takes the class of most of its leaves (gray if none has), or the mean.
    n_clusters : int, optional
        Color the clusters of this cut instead.
    labels : bool or sequence of str, optional
        Leaf names: the tree's own (True), given ones, or none. By default shown where the tree has names.
        They shrink to fit, and where they still would overlap some are left out.
    strips : mapping of name to values, optional
        Color strips beside the leaves, one a column.
    support : bool
        Write support values (in percent) beside nodes, where there is room.
    scale : {"auto", "height", "size", "depth"}
        Lengths of branches; see `Layout.along`. "auto" is height, unless there is none or it squeezes the large
        nodes so that nothing could be read: then size.
    orientation : {"left", "top"}
        Where the root of a dendrogram or icicle is.
    max_leaves : int
        A larger tree is truncated: small subtrees become wedges.
    line_width : float, optional
    legend : bool
        Explain the colors.
    title : str, optional

    Returns
    -------
    ax : matplotlib.axes.Axes

    Examples
    --------
    >>> from arbora import Tree
    >>> tree = Tree.from_newick("((ant:1,bee:1):2,(cat:2,dog:2):1);")
    >>> ax = tree.plot("circular", colors=["insect", "insect", "pet", "pet"])
    >>> [text.get_text() for text in ax.texts]
    ['ant', 'bee', 'cat', 'dog']
    """
    from arbora.view import static_kinds, static_marks

    _check_arguments(tree, kind, orientation, max_leaves)
    with _pyplot().rc_context(STYLE):
        ax = _new_axes(kind, orientation, tree) if ax is None else ax
        picture = _prepared(tree, ax, kind, colors, n_clusters, scale, orientation, max_leaves, line_width)
        picture.strips = [read_column(tree, str(name), values) for name, values in (strips or {}).items()]
        getattr(static_kinds, f"draw_{kind}")(picture)
        static_marks.draw_strips(picture, kind)
        static_marks.draw_labels(picture, kind, _leaf_names(tree, labels))
        if support:
            static_marks.draw_support(picture, kind)
        if legend:
            static_marks.draw_legend(picture, None if colors is None else read_column(tree, "", colors))
        if title:
            ax.set_title(title)
    return ax


def _check_arguments(tree: Any, kind: str, orientation: str, max_leaves: Any) -> None:
    if not isinstance(tree, Tree):
        raise TypeError(f"tree must be an arbora.Tree. Got {type(tree).__name__}.")
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {KINDS}. Got {kind!r}.")
    if orientation not in ("left", "top"):
        raise ValueError(f"orientation must be 'left' or 'top'. Got {orientation!r}.")
    if not isinstance(max_leaves, (int, np.integer)) or max_leaves < 2:
        raise ValueError(f"max_leaves must be an integer of at least 2. Got {max_leaves!r}.")


def _prepared(
    tree: Tree,
    ax: Any,
    kind: str,
    colors: Any,
    n_clusters: int | None,
    scale: str,
    orientation: str,
    max_leaves: int,
    line_width: float | None,
) -> Picture:
    layout = Layout(tree)
    nodes, opened = largest_nodes(tree, tree.root, 2 * max_leaves)
    width = line_width or float(np.clip(24 / max(len(nodes), 1) ** 0.5, 0.35, 1.1))
    along = layout.along(layout.readable_scale() if scale == "auto" else scale)
    color = _node_colors(layout, nodes, colors, n_clusters)
    return Picture(ax, layout, nodes, opened, along, color, width, orientation)


def _node_colors(layout: Layout, nodes: NDArray[np.int64], colors: Any, n_clusters: int | None) -> list[str]:
    tree = layout.tree
    if colors is not None and n_clusters is not None:
        raise ValueError("Give colors or n_clusters, not both.")
    if colors is not None:
        return column_colors(read_column(tree, "colors", colors), nodes)
    if n_clusters is None:
        return ["#3b4450"] * len(nodes)
    roots = scores.cluster_nodes(layout, n_clusters)
    cluster = np.full(tree.n_leaves + 1, -1)
    cluster[tree.leaf_start[roots]] = np.arange(len(roots))
    at = np.searchsorted(tree.leaf_start[roots], tree.leaf_start[nodes], side="right") - 1
    inside = tree.sizes[nodes] <= tree.sizes[roots[at]]
    shades = palette.LIGHT
    return [shades[k % len(shades)] if ok else palette.NEUTRAL for k, ok in zip(at, inside, strict=True)]


def column_colors(column: Column, nodes: NDArray[np.int64]) -> list[str]:
    """Color of each node by a column: its majority class, or the mean of its numbers."""
    value, share = column.of_nodes
    if column.categories is None:
        return number_colors(value[nodes].astype(np.float64), column.values)
    shades = palette.categorical(len(column.categories))
    return [
        shades[code] if code != MISSING and part >= 128 else palette.NEUTRAL
        for code, part in zip(value[nodes], share[nodes], strict=True)
    ]


def number_colors(values: NDArray[np.float64], of: NDArray[Any]) -> list[str]:
    """Colors of numbers on the scale of the finite values in `of`; missing ones are gray."""
    known = of[np.isfinite(of)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    shades = palette.continuous()
    step = np.clip((np.nan_to_num(values) - low) / max(high - low, 1e-300), 0, 1) * (len(shades) - 1)
    return [
        shades[int(k)] if ok else palette.NEUTRAL for k, ok in zip(step, np.isfinite(values), strict=True)
    ]


def _leaf_names(tree: Tree, labels: bool | Sequence[str] | None) -> list[str] | None:
    if labels is None:
        labels = tree.name is not None
    if isinstance(labels, (bool, np.bool_)):
        return [tree.label(leaf) for leaf in range(tree.n_leaves)] if labels else None
    if isinstance(labels, str) or len(labels) != tree.n_leaves:
        raise ValueError(f"labels must hold one name a leaf ({tree.n_leaves}). Got {len(labels)}.")
    return [str(label) for label in labels]


def _new_axes(kind: str, orientation: str, tree: Tree) -> Any:
    if kind in ("circular", "disk"):
        size = (5.2, 5.2)
    else:
        length = float(np.clip(0.11 * tree.n_leaves, 2.4, 7.5))
        size = (5.6, length) if orientation == "left" else (max(length, 3.4), 3.6)
    return _pyplot().figure(figsize=size, layout="constrained").add_subplot()


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise MissingExtraError(
            "Pictures need matplotlib. Install it with: pip install 'arbora[view]'"
        ) from error
    return pyplot
