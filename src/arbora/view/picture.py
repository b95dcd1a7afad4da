"""What the functions that draw one picture share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from arbora._base.optional import require
from arbora.tree import Tree
from arbora.view.columns import Column
from arbora.view.layout import Layout

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Kind = Literal["dendrogram", "circular", "disk", "icicle"]
Orientation = Literal["left", "top"]
KINDS: tuple[Kind, ...] = ("dendrogram", "circular", "disk", "icicle")
ROUND = ("circular", "disk")
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
    """One picture while it is drawn."""

    ax: Axes
    kind: Kind
    layout: Layout
    nodes: NDArray[np.int64]
    opened: NDArray[np.int64]
    scale: str
    color: list[str]
    line_width: float
    orientation: Orientation = "left"
    strips: list[Column] = field(default_factory=list)
    # colors of each strip's categories, and of the branches' classes, by column title
    shades: dict[str, list[str]] = field(default_factory=dict)

    @property
    def tree(self) -> Tree:
        """The tree that is drawn."""
        return self.layout.tree

    @property
    def is_round(self) -> bool:
        """Whether leaves stand around a circle."""
        return self.kind in ROUND

    @property
    def along(self) -> NDArray[np.float64]:
        """Place of every node of the tree between root (0) and lowest leaf (1)."""
        return self.layout.along(self.scale)

    def up(self) -> NDArray[np.int64]:
        """Index of each drawn node's parent among the drawn nodes, -1 for the root."""
        count = np.maximum(self.opened, 0)
        return np.concatenate([[-1], np.repeat(np.arange(len(self.nodes)), count)])


def pyplot() -> Any:
    """matplotlib.pyplot, or the error that says how to install it."""
    return require("matplotlib.pyplot", "Drawing pictures")


def plain(text: str) -> str:
    """Text in which matplotlib sees no formula."""
    return text.replace("$", r"\$")
