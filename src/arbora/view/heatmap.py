"""A heat map whose rows and columns stand in the order of trees drawn beside it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arbora._base.arrays import as_matrix
from arbora._base.params import check_choice, check_switch
from arbora.tree import Tree
from arbora.tree.same_order import check_same_order
from arbora.view.columns import Column, read_column
from arbora.view.inputs import checked_names
from arbora.view.legends import color_bar, entries, legend_beside
from arbora.view.picture import STYLE, Orientation, plain, pyplot
from arbora.view.shades import column_colors, pixels
from arbora.view.static import plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_LETTERS = 30
# As legends shorten their entries.
_MOST_LETTERS_IN_LEGEND = 40
# Inches: a line of the smallest type.
_SMALL_LINE = 0.07
# Share of the figure's width and height that the trees leave to heat map, names and legends.
_SPREAD = 0.79
_ROBUST = (2.0, 98.0)
Box = tuple[float, float, float, float]


def clustermap(
    data: ArrayLike,
    row_tree: Tree | None = None,
    col_tree: Tree | None = None,
    *,
    row_names: Iterable[Any] | None = None,
    col_names: Iterable[Any] | None = None,
    row_colors: ArrayLike | None = None,
    col_colors: ArrayLike | None = None,
    z_score: Literal["rows", "columns"] | None = None,
    vmin: float | None = None,
    vmax: float | None = None,
    center: float | None = None,
    robust: bool = False,
    cmap: str | None = None,
    figsize: tuple[float, float] | None = None,
    colorbar_label: str | None = None,
) -> Figure:
    """Heat map with trees.

    Parameters
    ----------
    data : array-like of shape (n_rows, n_columns)
    row_tree, col_tree : Tree, optional
        Trees over the rows and the columns; without one, the order of the data is kept.
    row_names, col_names : sequence of str, optional
        Written where they fit without overlap.
    row_colors, col_colors : array-like, optional
        Classes, numbers or dates shown as a strip beside the tree, with a legend or a color bar.
    z_score : {"rows", "columns"}, optional
        Show each row (or column) as its distance from its mean in standard deviations.
    vmin, vmax : float, optional
        Ends of the color scale; by default the smallest and largest value.
    center : float, optional
        Value in the middle of the color scale; 0 by default with `z_score`.
    robust : bool
        Ends of the scale at the 2nd and 98th percentile, so that a few outliers do not decide it.
    cmap : str, optional
        Color map of matplotlib; by default "cividis", or "RdBu_r" where the scale has a center.
    figsize : tuple of float, optional
        Inches; by default large enough for the names.
    colorbar_label : str, optional

    Returns
    -------
    figure : matplotlib.figure.Figure

    Examples
    --------
    >>> import numpy as np
    >>> from arbora import Tree, view
    >>> tree = Tree.from_newick("((a,b),(c,d));")
    >>> figure = view.clustermap(np.eye(4), tree, tree, row_names=["a", "b", "c", "d"])
    >>> len(figure.axes)
    4
    """
    plt = pyplot()
    matrix = _checked(data, row_tree, col_tree)
    rows = np.arange(matrix.shape[0]) if row_tree is None else row_tree.leaf_order
    columns = np.arange(matrix.shape[1]) if col_tree is None else col_tree.leaf_order
    if z_score is not None:
        matrix = standardized(matrix, check_choice(z_score, "z_score", ("rows", "columns")))
        center = 0.0 if center is None else center
    names = [
        None if given is None else checked_names(given, length, argument)
        for given, length, argument in (
            (row_names, matrix.shape[0], "row_names"),
            (col_names, matrix.shape[1], "col_names"),
        )
    ]
    strips = [
        _strip_column(row_tree, row_colors, "row_colors"),
        _strip_column(col_tree, col_colors, "col_colors"),
    ]
    size = _size(matrix, names, strips) if figsize is None else figsize
    low, high = scale_ends(matrix, vmin, vmax, center, check_switch(robust, "robust"))
    chosen = cmap or ("cividis" if center is None else "RdBu_r")
    with plt.rc_context(STYLE):
        figure: Figure = plt.figure(figsize=size)
        box = _heat_box(names, strips, size)
        heat = figure.add_axes(box)
        image = heat.imshow(
            matrix[np.ix_(rows, columns)],
            aspect="auto",
            cmap=chosen,
            interpolation="nearest",
            vmin=low,
            vmax=high,
        )
        _write_names(heat, rows, columns, names, box, size)
        _draw_trees(figure, box, row_tree, col_tree, strips, heat)
        bar = figure.add_axes((0.02, 0.84, 0.12, 0.022))
        figure.colorbar(image, cax=bar, orientation="horizontal", label=colorbar_label or "")
        bar.tick_params(labelsize=6)
    return figure


def standardized(matrix: NDArray[np.float64], along: str) -> NDArray[np.float64]:
    """Each row or column less its mean, in standard deviations; constant ones become 0."""
    axis = 1 if along == "rows" else 0
    mean = np.nanmean(matrix, axis=axis, keepdims=True)
    spread = np.nanstd(matrix, axis=axis, keepdims=True)
    # rounding leaves equal values a little apart from their mean
    varies = spread > 1e-12 * np.abs(mean)
    found: NDArray[np.float64] = (matrix - mean) * np.where(varies, 1 / np.where(varies, spread, 1), 0)
    return found


def scale_ends(
    matrix: NDArray[np.float64], vmin: float | None, vmax: float | None, center: float | None, robust: bool
) -> tuple[float, float]:
    """Ends of the color scale."""
    known = matrix[np.isfinite(matrix)]
    if len(known) == 0:
        return 0.0, 1.0
    low, high = (float(q) for q in (np.percentile(known, _ROBUST) if robust else (known.min(), known.max())))
    low, high = (low if vmin is None else float(vmin)), (high if vmax is None else float(vmax))
    if center is not None and (vmin is None or vmax is None):
        reach = max(abs(high - center), abs(low - center))
        low, high = (center - reach if vmin is None else low), (center + reach if vmax is None else high)
    if low > high:
        raise ValueError(f"vmin must not exceed vmax. Got {low:g} and {high:g}.")
    return low, high


def _strip_column(tree: Tree | None, values: Any, argument: str) -> Column | None:
    if values is None:
        return None
    if tree is None:
        raise ValueError(
            f"{argument} are drawn beside a tree. Pass {argument.replace('colors', 'tree')} too."
        )
    name = getattr(values, "name", None)
    return read_column(tree, name if isinstance(name, str) else argument.replace("_", " "), values)


def _size(
    matrix: NDArray[Any], names: list[list[str] | None], strips: list[Column | None]
) -> tuple[float, float]:
    """Inches: a line for every name, within reason."""
    height, width = (
        float(np.clip(length * _SMALL_LINE, 3.6, 16.0)) if known else 3.6
        for length, known in zip(matrix.shape, names, strict=True)
    )
    return (width + _inches(names[0]) + _legend_inches(strips)) / _SPREAD, (
        height + _inches(names[1])
    ) / _SPREAD


def _legend_inches(strips: list[Column | None]) -> float:
    """Room for the legend beside the heat map, by its longest entry."""
    shown = [strip for strip in strips if strip is not None]
    texts = [text for strip in shown for text in (strip.name, *strip.categories)]
    longest = max((min(len(text), _MOST_LETTERS_IN_LEGEND) for text in texts), default=0)
    return max(1.3, 0.45 + 0.062 * longest) if shown else 0.0


def _inches(names: list[str] | None) -> float:
    longest = max((min(len(name), _MOST_LETTERS) for name in names or ()), default=0)
    return 0.1 + 0.065 * longest


def _heat_box(names: list[list[str] | None], strips: list[Column | None], size: tuple[float, float]) -> Box:
    right = min((_inches(names[0]) + _legend_inches(strips)) / size[0], 0.55)
    bottom = min(_inches(names[1]) / size[1], 0.4)
    return (0.2, bottom, _SPREAD - right, _SPREAD - bottom)


def _write_names(
    heat: Axes,
    rows: NDArray[Any],
    columns: NDArray[Any],
    names: list[list[str] | None],
    box: Box,
    size: tuple[float, float],
) -> None:
    heat.spines[:].set_visible(False)
    _write_ticks(heat.yaxis, rows, names[0], box[3] * size[1])
    _write_ticks(heat.xaxis, columns, names[1], box[2] * size[0])
    heat.yaxis.tick_right()
    heat.tick_params(length=0)
    heat.xaxis.set_tick_params(rotation=90)


def _write_ticks(axis: Any, order: NDArray[Any], names: list[str] | None, inches: float) -> None:
    if names is None:
        axis.set_ticks([])
        return
    size = float(np.clip(inches * 72 / max(len(order), 1) / 1.25, 4.0, 8.0))
    step = max(1, int(np.ceil(size * 1.2 * len(order) / (inches * 72) - 1e-9)))
    shown = np.arange(0, len(order), step)
    axis.set_ticks(shown, [plain(names[order[k]][:_MOST_LETTERS]) for k in shown], fontsize=size)


def _draw_trees(
    figure: Figure,
    box: Box,
    row_tree: Tree | None,
    col_tree: Tree | None,
    strips: list[Column | None],
    heat: Axes,
) -> None:
    x, y, width, height = box
    if row_tree is not None:
        share = 0.155 if strips[0] is None else 0.13
        _side_tree(figure, (0.02, y, share, height), row_tree, "left", strips[0])
    if col_tree is not None:
        share = 0.155 if strips[1] is None else 0.13
        _side_tree(figure, (x, 0.955 - share, width, share), col_tree, "top", strips[1])
    _explain_strips(heat, [strip for strip in strips if strip is not None], box, figure)


def _explain_strips(heat: Axes, strips: list[Column], box: Box, figure: Figure) -> None:
    """Legends of the strips in the margin beyond the row names."""
    if not strips:
        return
    edge = (1 - box[0]) / box[2] - (_legend_inches([*strips]) - 0.1) / figure.get_figwidth() / box[2]
    handles = [handle for one in strips if not one.is_scale for handle in entries(one, title=True)]
    if handles:
        legend_beside(heat, handles)
        legend: Any = heat.get_legend()
        legend.set_bbox_to_anchor((edge, 1.0), transform=heat.transAxes)
    for k, one in enumerate(one for one in strips if one.is_scale):
        color_bar(heat, one, (edge, 0.02 + 0.3 * k, 0.02, 0.2))


def _side_tree(figure: Figure, box: Box, tree: Tree, orientation: Orientation, column: Column | None) -> None:
    ax = figure.add_axes(box)
    plot(tree.replace(name=None), ax=ax, orientation=orientation, names=False, max_leaves=400, line_width=0.5)
    ax.axis("off")
    # there is no room between tree and heat map for the sizes of wedges
    for text in list(ax.texts):
        text.remove()
    if column is None:
        return
    x, y, w, h = box
    strip = figure.add_axes(
        (x + w + 0.005, y, 0.02, h) if orientation == "left" else (x, y - 0.005 - 0.012, w, 0.014)
    )
    colors = pixels(column_colors(column, tree.leaf_order))
    strip.imshow(
        colors[:, None] if orientation == "left" else colors[None], aspect="auto", interpolation="nearest"
    )
    strip.axis("off")


def _checked(data: Any, row_tree: Tree | None, col_tree: Tree | None) -> NDArray[np.float64]:
    given = as_matrix(data, argument="data")
    matrix = np.asarray(given.values, dtype=np.float64)
    if matrix.ndim != 2 or matrix.size == 0:
        raise ValueError(f"data must be a non-empty matrix. Got shape {matrix.shape}.")
    for tree, length, names, name in (
        (row_tree, matrix.shape[0], given.row_names, "row_tree"),
        (col_tree, matrix.shape[1], given.column_names, "col_tree"),
    ):
        if tree is None:
            continue
        if tree.n_leaves != length:
            raise ValueError(f"{name} must have {length} leaves, like the data. Got {tree.n_leaves}.")
        check_same_order(tree, names, "data")
    return matrix
