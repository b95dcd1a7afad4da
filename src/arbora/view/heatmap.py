"""A heat map whose rows and columns stand in the order of trees drawn beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from arbora.tree import Tree
from arbora.view.static import STYLE, _pyplot, column_colors, plot, read_column


def clustermap(
    data: Any,
    row_tree: Tree | None = None,
    col_tree: Tree | None = None,
    *,
    row_colors: Any = None,
    col_colors: Any = None,
    row_labels: Sequence[str] | None = None,
    col_labels: Sequence[str] | None = None,
    cmap: str = "cividis",
    center: float | None = None,
    figsize: tuple[float, float] = (6.4, 6.0),
    colorbar_label: str | None = None,
) -> Any:
    """Heat map with trees.

    Parameters
    ----------
    data : array-like of shape (n_rows, n_columns)
    row_tree, col_tree : Tree, optional
        Trees over the rows and the columns; without one, the order of the data is kept.
    row_colors, col_colors : array-like, optional
        Classes or numbers shown as a strip beside the tree.
    row_labels, col_labels : sequence of str, optional
        Written where they fit without overlap.
    cmap : str
        Color map; with `center` a diverging one such as "RdBu_r" suits.
    center : float, optional
        Value in the middle of the color map.
    figsize : tuple of float
    colorbar_label : str, optional

    Returns
    -------
    figure : matplotlib.figure.Figure

    Examples
    --------
    >>> import numpy as np
    >>> from arbora import Tree, view
    >>> tree = Tree.from_newick("((a,b),(c,d));")
    >>> figure = view.clustermap(np.eye(4), tree, tree, row_labels=["a", "b", "c", "d"])
    >>> len(figure.axes)
    4
    """
    matrix = _checked(data, row_tree, col_tree)
    rows = np.arange(matrix.shape[0]) if row_tree is None else row_tree.leaf_order
    columns = np.arange(matrix.shape[1]) if col_tree is None else col_tree.leaf_order
    with _pyplot().rc_context(STYLE):
        figure = _pyplot().figure(figsize=figsize)
        bottom, right = _margin(col_labels, figsize[1]), _margin(row_labels, figsize[0])
        height, width = 0.78 - bottom, 0.8 - right
        heat = figure.add_axes((0.2, bottom, width, height))
        bound = {}
        if center is not None:
            reach = float(np.nanmax(np.abs(matrix - center)))
            bound = {"vmin": center - reach, "vmax": center + reach}
        image = heat.imshow(
            matrix[np.ix_(rows, columns)], aspect="auto", cmap=cmap, interpolation="nearest", **bound
        )
        heat.spines[:].set_visible(False)
        _write_ticks(heat.yaxis, rows, row_labels, height * figsize[1])
        _write_ticks(heat.xaxis, columns, col_labels, width * figsize[0])
        heat.yaxis.tick_right()
        heat.tick_params(length=0)
        heat.xaxis.set_tick_params(rotation=90)
        if row_tree is not None:
            share = 0.155 if row_colors is None else 0.13
            _side_tree(figure, (0.02, bottom, share, height), row_tree, "left", row_colors)
        if col_tree is not None:
            share = 0.155 if col_colors is None else 0.13
            _side_tree(figure, (0.2, 0.955 - share, width, share), col_tree, "top", col_colors)
        bar = figure.add_axes((0.02, 0.84, 0.13, 0.022))
        figure.colorbar(image, cax=bar, orientation="horizontal", label=colorbar_label or "")
        bar.tick_params(labelsize=6)
    return figure


def _side_tree(
    figure: Any, box: tuple[float, float, float, float], tree: Tree, orientation: str, colors: Any
) -> None:
    ax = figure.add_axes(box)
    plot(
        tree.replace(name=None), ax=ax, orientation=orientation, labels=False, max_leaves=400, line_width=0.5
    )
    ax.axis("off")
    for text in list(ax.texts):  # sizes of wedges have no room between tree and heat map
        text.remove()
    if colors is None:
        return
    column = read_column(tree, "colors", colors)
    x, y, w, h = box
    strip = figure.add_axes(
        (x + w + 0.005, y, 0.02, h) if orientation == "left" else (x, y - 0.005 - 0.012, w, 0.014)
    )
    shades = column_colors(column, tree.leaf_order)
    pixels = np.array([[int(c[k : k + 2], 16) for k in (1, 3, 5)] for c in shades], dtype=np.uint8)
    strip.imshow(
        pixels[:, None] if orientation == "left" else pixels[None], aspect="auto", interpolation="nearest"
    )
    strip.axis("off")


def _margin(labels: Sequence[str] | None, inches: float) -> float:
    """Share of the figure that labels need."""
    longest = max((min(len(str(label)), 30) for label in labels or ()), default=0)
    return 0.03 + min(0.062 * longest * 8 / 7 / inches, 0.3)


def _write_ticks(axis: Any, order: np.ndarray, labels: Sequence[str] | None, inches: float) -> None:
    if labels is None:
        axis.set_ticks([])
        return
    if len(labels) != len(order):
        raise ValueError(f"row_labels and col_labels need one name each. Got {len(labels)} for {len(order)}.")
    size = float(np.clip(inches * 72 / max(len(order), 1) / 1.25, 4.0, 8.0))
    step = max(1, int(np.ceil(size * 1.25 * len(order) / (inches * 72))))
    shown = np.arange(0, len(order), step)
    axis.set_ticks(shown, [str(labels[order[k]])[:30].replace("$", r"\$") for k in shown], fontsize=size)


def _checked(data: Any, row_tree: Tree | None, col_tree: Tree | None) -> np.ndarray:
    matrix = np.asarray(data.toarray() if hasattr(data, "toarray") else data, dtype=np.float64)
    if matrix.ndim != 2 or matrix.size == 0:
        raise ValueError(f"data must be a non-empty matrix. Got shape {matrix.shape}.")
    for tree, length, name in (
        (row_tree, matrix.shape[0], "row_tree"),
        (col_tree, matrix.shape[1], "col_tree"),
    ):
        if tree is not None and tree.n_leaves != length:
            raise ValueError(f"{name} must have {length} leaves, as the data. Got {tree.n_leaves}.")
    return matrix
