"""What a picture's colors mean: classes and clusters in a legend, numbers and dates beside a color bar."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from arbora.view import palette, scores
from arbora.view.columns import Column
from arbora.view.layout import Layout
from arbora.view.picture import Picture, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend

MOST_ENTRIES = 24
# Of color bars, in inches; a column holds the bar, its numbers and its title.
_BAR_WIDTH, _BAR_HEIGHT, _BAR_GAP, _BAR_COLUMN = 0.15, 0.85, 0.4, 0.95


def draw_legends(picture: Picture, column: Column | None, n_clusters: int | None) -> None:
    """Classes of the branches and of each strip beside the picture, at the top; color bars at the bottom."""
    handles: list[Any] = []
    scales: list[Column] = []
    if n_clusters is not None:
        handles += _cluster_handles(picture.layout, n_clusters)
    shown: list[Column] = [] if column is None else [column]
    for strip in picture.strips:
        if all(strip.name != one.name and strip.values is not one.values for one in shown):
            shown.append(strip)
    for one in shown:
        if one.is_scale:
            scales.append(one)
        else:
            handles += entries(one, picture.shades.get(one.name), title=one is not column or bool(handles))
    legend = legend_beside(picture.ax, handles) if handles else None
    for box, one in zip(_bar_boxes(picture.ax, legend, len(scales)), scales, strict=True):
        color_bar(picture.ax, one, box)


def _bar_boxes(ax: Axes, legend: Legend | None, n_bars: int) -> list[tuple[float, float, float, float]]:
    """Places of color bars in units of the axes: from the bottom up, in as many columns as they need.

    They stand below the legend where all of them fit there, otherwise right of it.
    """
    figure: Any = ax.figure
    frame = ax.get_window_extent()
    width, height = frame.width / figure.dpi, frame.height / figure.dpi
    left, room = 1.03, height
    if legend is not None:
        drawn = legend.get_window_extent().transformed(ax.transAxes.inverted())
        room = drawn.y0 * height
        if room < n_bars * (_BAR_HEIGHT + _BAR_GAP):
            left, room = drawn.x1 + _BAR_GAP / width, height
    per_column = max(1, int((room + _BAR_GAP) / (_BAR_HEIGHT + _BAR_GAP)))
    return [
        (
            left + k // per_column * _BAR_COLUMN / width,
            k % per_column * (_BAR_HEIGHT + _BAR_GAP) / height,
            _BAR_WIDTH / width,
            _BAR_HEIGHT / height,
        )
        for k in range(n_bars)
    ]


def legend_beside(ax: Axes, handles: list[Any]) -> Legend:
    """A legend right of the axes, where it covers nothing."""
    return ax.legend(
        handles=handles,
        loc="upper left",
        bbox_to_anchor=(1.02, 1.0),
        borderaxespad=0,
        handlelength=1,
        ncols=1 + (len(handles) - 1) // MOST_ENTRIES,
    )


def entries(column: Column, shades: list[str] | None = None, *, title: bool = False) -> list[Any]:
    """Legend entries of a column of categories, the most frequent where there are too many."""
    from matplotlib.lines import Line2D

    shades = column.shades if shades is None else shades
    counts = np.array(column.facts().get("counts", ()))
    chosen = np.arange(len(column.categories))
    if len(chosen) > MOST_ENTRIES:
        chosen = np.sort(np.argsort(-counts, kind="stable")[: MOST_ENTRIES - 1])
    found = [Line2D([], [], linestyle="none", label=plain(column.name))] if title and column.name else []
    found += [_entry(shades[k], column.categories[k] or "(empty)") for k in chosen]
    if len(chosen) < len(column.categories):
        rest = len(column.categories) - len(chosen)
        found.append(Line2D([], [], linestyle="none", label=f"and {rest:,} more"))
    return found


def _cluster_handles(layout: Layout, n_clusters: int) -> list[Any]:
    from matplotlib.lines import Line2D

    tree = layout.tree
    parts = scores.cut_parts(layout, n_clusters)
    roots, sizes = parts.nodes, np.bincount(parts.labels)
    shades = palette.categorical(len(roots))
    found = []
    for k, node in enumerate(roots[:MOST_ENTRIES]):
        own = "" if tree.name is None or node < tree.n_leaves else str(tree.name[node])
        found.append(_entry(shades[k], f"{own or f'cluster {k}'} ({sizes[k]:,})"))
    if len(roots) > MOST_ENTRIES:
        found.append(Line2D([], [], linestyle="none", label=f"and {len(roots) - MOST_ENTRIES:,} more"))
    return found


def _entry(color: str, name: str) -> Any:
    from matplotlib.lines import Line2D

    clipped = name if len(name) <= 40 else name[:39] + "…"
    return Line2D([], [], linestyle="none", marker="s", markersize=5, color=color, label=plain(clipped))


def color_bar(ax: Axes, column: Column, box: tuple[float, float, float, float]) -> None:
    """The scale of a column of numbers, dates or durations, in a box in units of the axes."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, Normalize
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    low, high = column.range
    least, most = column.facts()["ends"]
    beyond = {(False, False): "neither", (True, False): "min", (False, True): "max", (True, True): "both"}
    inset = ax.inset_axes(box)
    scale = ScalarMappable(
        Normalize(low, high if high > low else low + 1), ListedColormap(palette.continuous())
    )
    figure: Any = ax.figure
    bar = figure.colorbar(scale, cax=inset, extend=beyond[least < low, most > high], extendfrac=0.06)
    bar.outline.set_visible(False)  # type: ignore[operator]
    bar.locator = MaxNLocator(4)
    if column.kind == "time":
        bar.formatter = FuncFormatter(lambda value, _: _date(value, high - low))
    bar.update_ticks()
    unit = " (s)" if column.kind == "duration" else ""
    inset.set_title(plain(column.name) + unit, fontsize=7, loc="left", pad=5)
    inset.tick_params(labelsize=6)


def _date(seconds: float, span: float) -> str:
    if not -6.2e10 < seconds < 2.5e11:
        return ""
    moment = datetime.fromtimestamp(seconds, tz=UTC)
    form = "%Y" if span > 20 * 365 * 86400 else "%Y-%m-%d" if span > 3 * 86400 else "%m-%d %H:%M"
    return moment.strftime(form)
