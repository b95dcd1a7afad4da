"""Topics over time, as bands above each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from arbora._base.optional import require
from arbora._base.params import check_switch, check_whole
from arbora._base.types import Floats
from arbora.insight.times import OverTime
from arbora.view.palette import NEUTRAL, categorical
from arbora.view.picture import STYLE, plain, pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_over_time(
    found: OverTime,
    *,
    ax: Axes | None = None,
    shares: bool = False,
    max_clusters: int = 12,
    title: str | None = None,
) -> Axes:
    """Draw how many members of each cluster fall into each stretch of time.

    The largest clusters are colored as in the page, each with the color of its number; the others are one gray band.

    Parameters
    ----------
    found : OverTime
        What `arbora.insight.over_time` returned.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.
    shares : bool
        Draw which share of each stretch a cluster has, instead of how many members.
    max_clusters : int
        Clusters with a color of their own.
    title : str, optional

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import arbora as ab
    >>> days = ["2024-01-05", "2024-02-01", "2024-02-09", "2024-04-02"]
    >>> ax = ab.view.plot_over_time(ab.insight.over_time([0, 1, 1, 0], days, every="month"))
    >>> ax.get_ylabel(), [text.get_text() for text in ax.get_legend().get_texts()]
    ('leaves per month', ['1 (2)', '0 (2)'])
    """
    if not isinstance(found, OverTime):
        raise TypeError(f"found must be what arbora.insight.over_time returned. Got {type(found).__name__}.")
    check_switch(shares, "shares")
    most = check_whole(max_clusters, "max_clusters")
    sizes = found.counts.sum(axis=0)
    largest = np.argsort(-sizes, kind="stable")[:most]
    largest = np.sort(largest[sizes[largest] > 0])
    values = found.shares() if shares else found.counts.astype(np.float64)
    palette = categorical(len(sizes))
    bands, colors = [values[:, k] for k in largest], [palette[k] for k in largest]
    names = [f"{plain(found.names[k])} ({sizes[k]:,})" for k in largest]
    others = np.setdiff1d(np.flatnonzero(sizes), largest)
    if len(others):
        bands.append(values[:, others].sum(axis=1))
        colors.append(NEUTRAL)
        names.append(f"{len(others):,} others ({sizes[others].sum():,})")
    plt = pyplot()
    with plt.rc_context(STYLE):
        if ax is None:
            ax = plt.subplots(figsize=(8.0, 3.2), layout="constrained")[1]
        _draw(ax, found, bands, colors, names)
        ax.set_ylabel(f"share of the {found.every}" if shares else f"leaves per {found.every}")
        if title is not None:
            ax.set_title(plain(title))
    return ax


def _draw(
    ax: Axes, found: OverTime, bands: list[Floats], colors: Sequence[str], names: Sequence[str]
) -> None:
    """Bars above each other: a stretch without members stays empty, as a line between its neighbors would not."""
    starts = found.starts.astype("datetime64[s]")
    one = np.timedelta64(int(_SECONDS[found.every]), "s")
    widths = np.diff(np.append(starts, starts[-1] + one)) / np.timedelta64(1, "D")
    below = np.zeros(len(starts))
    for band, color, name in zip(bands, colors, names, strict=True):
        ax.bar(starts, band, widths, bottom=below, align="edge", color=color, label=name, linewidth=0)
        below += band
    # from the top band down, as they are seen
    handles, labels = ax.get_legend_handles_labels()
    ax.legend(handles[::-1], labels[::-1], loc="upper left", bbox_to_anchor=(1.0, 1.0))
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_xlim(starts[0], starts[-1] + one)
    dates = require("matplotlib.dates", "Drawing pictures")
    locator = dates.AutoDateLocator(minticks=3, maxticks=8)
    ax.xaxis.set_major_locator(locator)
    ax.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))


_DAY = 86_400
_SECONDS = {
    "hour": 3_600, "day": _DAY, "week": 7 * _DAY, "month": 30 * _DAY, "quarter": 91 * _DAY, "year": 365 * _DAY,
}  # fmt: skip
