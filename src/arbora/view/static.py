"""Pictures for papers: one call, matplotlib axes back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from arbora._base.params import check_choice, check_whole
from arbora.tree import Tree
from arbora.tree.same_order import row_of_leaf
from arbora.view import palette, shades
from arbora.view.columns import Column, read_column, read_columns
from arbora.view.content import Columns
from arbora.view.inputs import checked_names
from arbora.view.layout import SCALES, Layout, Scale, largest_nodes
from arbora.view.picture import KINDS, ROUND, STYLE, Kind, Orientation, Picture, pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot(
    tree: Tree,
    kind: Kind = "dendrogram",
    *,
    ax: Axes | None = None,
    names: bool | Iterable[Any] | None = None,
    classes: Columns | None = None,
    metadata: Columns | None = None,
    colors: str | ArrayLike | None = None,
    category_colors: Mapping[str, Mapping[str, str]] | None = None,
    n_clusters: int | None = None,
    support: bool = False,
    scale: Scale | Literal["auto"] = "auto",
    orientation: Orientation = "left",
    max_leaves: int = 600,
    line_width: float | None = None,
    legend: bool = True,
    title: str | None = None,
) -> Axes:
    """Draw a tree with matplotlib.

    Parameters
    ----------
    tree : Tree
        Names of its internal nodes are written where there is room.
    kind : {"dendrogram", "circular", "disk", "icicle"}
        Rectangular or circular tree, Poincaré disk, or bars.
    ax : matplotlib axes, optional
        Where to draw; by default a new figure, large enough for the names.
    names : bool or sequence of str, optional
        Leaf names: the tree's own (True), given ones, or none (False). By default shown where the tree has names.
        They shrink to fit, and where they still would overlap some are left out.
    classes : array-like of shape (n_leaves,), mapping or data frame, optional
        Known classes: branches take the class of most of their leaves (gray if none has a majority). With
        `colors` or `n_clusters`, and for all but the first of several, a color strip beside the leaves.
    metadata : mapping or data frame, optional
        Color strips beside the leaves, one per column.
    colors : str or array-like of shape (n_leaves,), optional
        What to color branches by: classes or numbers (a branch takes the mean), or the title of a column.
    category_colors : mapping, optional
        Colors of categories, ``{title: {category: "#rrggbb"}}``; others take the palette's.
    n_clusters : int, optional
        Color the clusters of this cut instead.
    support : bool
        Write support values (in percent) beside nodes, where there is room.
    scale : {"auto", "height", "size", "depth"}
        Lengths of branches; see `Layout.along`. "auto" is height, or size if the tree has no heights or they squeeze
        the large nodes so that nothing could be read. The axis says which.
    orientation : {"left", "top"}
        Where the root of a dendrogram or icicle is.
    max_leaves : int
        A larger tree is truncated: small subtrees become wedges.
    line_width : float, optional
    legend : bool
        Explain the colors, beside the picture: classes in a legend, numbers and dates by a color bar.
    title : str, optional

    Returns
    -------
    ax : matplotlib.axes.Axes

    Examples
    --------
    >>> from arbora import Tree
    >>> tree = Tree.from_newick("((ant:1,bee:1):2,(cat:2,dog:2):1);")
    >>> ax = tree.plot("circular", classes=["insect", "insect", "pet", "pet"])
    >>> [text.get_text() for text in ax.texts]
    ['ant', 'bee', 'cat', 'dog']
    """
    plt = pyplot()
    from arbora.view import legends, static_kinds, static_marks

    _check_arguments(tree, kind, orientation, scale)
    max_leaves = check_whole(max_leaves, "max_leaves", least=2)
    shown = _leaf_names(tree, names)
    branch, strips = _columns(tree, classes, metadata, colors, category_colors, n_clusters)
    with plt.rc_context(STYLE):
        ax = _new_axes(kind, orientation, tree, shown, max_leaves) if ax is None else ax
        picture = _prepared(tree, ax, kind, branch, n_clusters, scale, orientation, max_leaves, line_width)
        picture.strips = strips
        picture.shades = _shades_of_strips(branch, strips, n_clusters or 0)
        getattr(static_kinds, f"draw_{kind}")(picture)
        static_marks.draw_strips(picture)
        if title:
            ax.set_title(title)
        if legend:
            legends.draw_legends(picture, branch, n_clusters)
        static_marks.draw_labels(picture, shown)
        if support:
            static_marks.draw_support(picture)
        if names is not False:
            static_marks.draw_inner_names(picture)
    return ax


def _check_arguments(tree: Any, kind: str, orientation: str, scale: str) -> None:
    if not isinstance(tree, Tree):
        raise TypeError(f"tree must be an arbora.Tree. Got {type(tree).__name__}.")
    check_choice(kind, "kind", KINDS)
    check_choice(orientation, "orientation", ("left", "top"))
    check_choice(scale, "scale", ("auto", *SCALES))


def _columns(
    tree: Tree, classes: Any, metadata: Any, colors: Any, category_colors: Any, n_clusters: int | None
) -> tuple[Column | None, list[Column]]:
    """The column that colors the branches, and those that become strips."""
    if colors is not None and n_clusters is not None:
        raise ValueError("Pass colors or n_clusters, not both.")
    columns = [
        column for column in read_columns(tree, classes, metadata, category_colors) if column.kind != "text"
    ]
    strips = list(columns)
    if isinstance(colors, str):
        found = [column for column in columns if column.name == colors]
        if not found:
            raise ValueError(
                f"colors must be values or the title of a column: {[c.name for c in columns]}. Got {colors!r}."
            )
        return found[0], [column for column in strips if column is not found[0]]
    if colors is not None:
        column = read_column(tree, "colors", colors)
        if column.kind == "text":
            raise ValueError(
                "colors must be classes, numbers or dates. Got text that is nearly always different."
            )
        return column, strips
    if n_clusters is not None or classes is None:
        return None, strips
    return strips[0], strips[1:]


def _shades_of_strips(branch: Column | None, strips: list[Column], used: int) -> dict[str, list[str]]:
    """Colors of each column's categories, after those already `used`: no color means two things, but equal classes
    look equal.
    """
    found: dict[str, list[str]] = {}
    by_categories: dict[tuple[str, ...], list[str]] = {}
    for column in ([] if branch is None else [branch]) + strips:
        if column.is_scale:
            continue
        if column.colors is not None:
            found[column.name] = column.colors
            continue
        key = tuple(column.categories)
        if key not in by_categories:
            by_categories[key] = palette.categorical(len(key), skip=used)
            used += len(key)
        found[column.name] = by_categories[key]
    return found


def _prepared(
    tree: Tree,
    ax: Axes,
    kind: Kind,
    branch: Column | None,
    n_clusters: int | None,
    scale: str,
    orientation: Orientation,
    max_leaves: int,
    line_width: float | None,
) -> Picture:
    layout = Layout(tree)
    nodes, opened = largest_nodes(tree, tree.root, 2 * max_leaves)
    width = line_width or float(np.clip(24 / max(len(nodes), 1) ** 0.5, 0.35, 1.1))
    chosen = layout.readable_scale() if scale == "auto" else scale
    if chosen == "height" and tree.height is None:
        chosen = "size"
    if branch is not None:
        color = shades.column_colors(branch, nodes)
    elif n_clusters is not None:
        color = shades.cluster_colors(
            layout, nodes, check_whole(n_clusters, "n_clusters", most=tree.n_leaves)
        )
    else:
        color = [shades.PLAIN] * len(nodes)
    return Picture(ax, kind, layout, nodes, opened, chosen, color, width, orientation)


def _leaf_names(tree: Tree, names: bool | Iterable[Any] | None) -> list[str] | None:
    if names is None:
        names = tree.name is not None
    if isinstance(names, (bool, np.bool_)):
        return [tree.label(leaf) for leaf in range(tree.n_leaves)] if names else None
    found = checked_names(names, tree.n_leaves)
    return [found[row] for row in row_of_leaf(tree, names, "names")]


def _new_axes(
    kind: Kind, orientation: Orientation, tree: Tree, names: list[str] | None, max_leaves: int
) -> Axes:
    """Axes of a new figure: a line of type for each name, as long as the longest is, beside a tree of some size."""
    from arbora.view.static_marks import MOST_LETTERS

    drawn = min(tree.n_leaves, max_leaves)
    longest = 0 if names is None else min(max(map(len, names), default=0), MOST_LETTERS)
    beside = 0.06 * longest
    size: tuple[float, float]
    if kind in ROUND:
        around = float(np.clip(0.08 * drawn / np.pi, 3.2, 7.0))
        side = max(5.2, around + 2 * beside)
        size = (side, side)
    else:
        lines = 0.078 * drawn if names is not None else 0.05 * drawn
        length = float(np.clip(lines, 2.4, 11.0 if names is not None else 7.5))
        size = (4.4 + beside, length) if orientation == "left" else (max(length, 3.4), 3.0 + beside)
    axes: Axes = pyplot().figure(figsize=size, layout="constrained").add_subplot()
    return axes
