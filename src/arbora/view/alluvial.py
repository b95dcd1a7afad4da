"""Which clusters became which, as streams between two columns of blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from arbora._base.types import Floats, Ints
from arbora.insight.matching import Match
from arbora.view.palette import NEUTRAL, categorical
from arbora.view.picture import STYLE, plain, pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Width of a block and space between the blocks of a column, as shares of the picture.
_BLOCK = 0.03
_SPACE = 0.25
# Blocks lower than this share of the picture have no room for a name.
_LEAST_NAMED = 0.012
_CURVE_STEPS = 40


def plot_match(
    match: Match,
    *,
    old_names: Sequence[str] | None = None,
    new_names: Sequence[str] | None = None,
    ax: Axes | None = None,
    min_share: float = 0.0,
    title: str | None = None,
) -> Axes:
    """Draw how the clusters of an old tree went into those of a new one.

    Old clusters stand on the left, new ones on the right, as high as they have common leaves. A stream is as wide as
    the leaves that two of them share. A new cluster has the color of the old one that it continues; one that
    continues none is gray. New clusters stand beside what flows into them.

    Parameters
    ----------
    match : Match
        What `arbora.match` returned.
    old_names, new_names : sequence of str, optional
        Names of the clusters; by default their numbers.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.
    min_share : float
        Streams with a smaller share of the common leaves are left out.
    title : str, optional

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import arbora as ab
    >>> old = ab.Tree.from_newick("((a,b),(c,d));")
    >>> new = ab.Tree.from_newick("(((d,e),c),(b,a));")
    >>> ax = ab.view.plot_match(ab.match(old, new, 2), old_names=["birds", "fish"])
    >>> [text.get_text() for text in ax.texts]
    ['birds', 'fish', '1', '0']
    """
    if not isinstance(match, Match):
        raise TypeError(f"match must be what arbora.match returned. Got {type(match).__name__}.")
    n_old, n_new = match.overlap.shape
    names = _names(old_names, n_old, "old_names"), _names(new_names, n_new, "new_names")
    plt = pyplot()
    with plt.rc_context(STYLE):
        if ax is None:
            rows = max(n_old, n_new)
            ax = plt.subplots(figsize=(5.5, min(max(2.4, 0.28 * rows), 12)), layout="constrained")[1]
        old, new = _Column(match.overlap.sum(axis=1), np.arange(n_old)), _new_column(match)
        old_colors = categorical(n_old)
        new_colors = _colors_of_new(match, old_colors)
        _draw_streams(ax, match, old, new, old_colors, min_share)
        _draw_blocks(ax, old, old_colors, names[0], left=True)
        _draw_blocks(ax, new, new_colors, names[1], left=False)
        ax.set(xlim=(-0.35, 1.35), ylim=(1.02, -0.02))
        ax.axis("off")
        if title is not None:
            ax.set_title(plain(title))
    return ax


class _Column:
    """Blocks above each other, in an order, with space between them; together one unit high."""

    def __init__(self, sizes: Ints, order: Ints) -> None:
        shown = order[sizes[order] > 0]
        total = max(int(sizes.sum()), 1)
        gap = _SPACE / max(len(shown) - 1, 1) if len(shown) > 1 else 0.0
        self.unit = (1 - gap * (len(shown) - 1)) / total
        self.order = shown
        self.height: Floats = np.asarray(sizes * self.unit, dtype=np.float64)
        self.top: Floats = np.zeros(len(sizes))
        self.top[shown] = np.concatenate([[0.0], np.cumsum(self.height[shown] + gap)[:-1]])


def _new_column(match: Match) -> _Column:
    """New clusters by the mean place of the old ones that flow into them, so that few streams cross."""
    sizes = match.overlap.sum(axis=0)
    place = np.arange(len(match.overlap)) @ match.overlap / np.maximum(sizes, 1)
    return _Column(sizes, np.argsort(place, kind="stable"))


def _colors_of_new(match: Match, old_colors: Sequence[str]) -> list[str]:
    colors = [NEUTRAL] * match.overlap.shape[1]
    for old, new in enumerate(match.new_of_old.tolist()):
        if new >= 0:
            colors[new] = old_colors[old]
    return colors


def _draw_streams(
    ax: Any, match: Match, old: _Column, new: _Column, colors: Sequence[str], min_share: float
) -> None:
    """Streams leave a block in the order of their targets and enter one in the order of their sources."""
    t = np.linspace(0, 1, _CURVE_STEPS)
    across = _BLOCK + (1 - 2 * _BLOCK) * t
    bend = t * t * (3 - 2 * t)
    left, right = old.top.copy(), new.top.copy()
    least = min_share * max(match.n_common, 1)
    for a in old.order.tolist():
        for b in new.order.tolist():
            shared = int(match.overlap[a, b])
            from_height, to_height = shared * old.unit, shared * new.unit
            if shared and shared >= least:
                upper = left[a] + (right[b] - left[a]) * bend
                lower = upper + from_height + (to_height - from_height) * bend
                ax.fill_between(across, upper, lower, color=colors[a], alpha=0.4, linewidth=0)
            left[a] += from_height
            right[b] += to_height


def _draw_blocks(
    ax: Any, column: _Column, colors: Sequence[str], names: Sequence[str], *, left: bool
) -> None:
    start = 0.0 if left else 1.0 - _BLOCK
    for k in column.order.tolist():
        top, height = column.top[k], column.height[k]
        ax.fill_between([start, start + _BLOCK], top, top + height, color=colors[k], linewidth=0)
        if height >= _LEAST_NAMED:
            at, side = (-0.015, "right") if left else (1.015, "left")
            ax.text(at, top + height / 2, plain(names[k]), ha=side, va="center")


def _names(given: Sequence[str] | None, count: int, argument: str) -> list[str]:
    if given is None:
        return [str(k) for k in range(count)]
    names = [str(name) for name in given]
    if len(names) != count:
        raise ValueError(f"{argument} must hold one name per cluster, {count}. Got {len(names)}.")
    return names
