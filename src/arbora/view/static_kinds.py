"""The four kinds of picture: collections of lines and polygons on matplotlib axes."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.patches import Circle
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator
from numpy.typing import NDArray

from arbora.view.picture import Picture

_ARC_STEPS = 24
Points = NDArray[np.float64]


def draw_dendrogram(picture: Picture) -> None:
    """Elbows from parent to child; wedges where the tree is truncated."""
    across, along = picture.layout.center[picture.nodes], picture.along[picture.nodes]
    up = picture.up()[1:]
    lines = np.stack(
        [
            np.stack([along[up], across[up]], axis=1),
            np.stack([along[up], across[1:]], axis=1),
            np.stack([along[1:], across[1:]], axis=1),
        ],
        axis=1,
    )
    _add_lines(picture, _turned(picture, lines), picture.color[1:])
    _add_wedges(picture, lambda points: _turned(picture, points))
    _frame_rectangle(picture)


def draw_icicle(picture: Picture) -> None:
    """One bar per node: as wide as its leaves, from its parent's place to its own."""
    tree, nodes = picture.tree, picture.nodes
    band = 0.03
    along = band + (1 - band) * picture.along[nodes]
    up = picture.up()
    inner = np.where(up < 0, 0.0, along[up])
    outer = np.where(picture.opened < 0, 1.0, along)
    low, high = tree.leaf_start[nodes], tree.leaf_start[nodes] + tree.sizes[nodes]
    corners = np.stack(
        [np.stack([x, y], axis=1) for x, y in [(inner, low), (outer, low), (outer, high), (inner, high)]],
        axis=1,
    )
    picture.ax.add_collection(
        PolyCollection(
            list(_turned(picture, corners)), facecolors=picture.color, edgecolors="white", linewidths=0.4
        )
    )
    _frame_rectangle(picture)


def draw_circular(picture: Picture) -> None:
    """Along the parent's circle to the child's direction, then straight out."""
    along = picture.along[picture.nodes]
    angle = picture.layout.center[picture.nodes] * (2 * np.pi / picture.tree.n_leaves)
    up = picture.up()[1:]
    turn = np.linspace(0, 1, _ARC_STEPS)
    direction = angle[up, None] + (angle[1:] - angle[up])[:, None] * turn
    arcs = np.stack([along[up, None] * np.sin(direction), along[up, None] * np.cos(direction)], axis=2)
    ends = np.stack([along[1:] * np.sin(angle[1:]), along[1:] * np.cos(angle[1:])], axis=1)
    _add_lines(picture, np.concatenate([arcs, ends[:, None]], axis=1), picture.color[1:])
    _add_wedges(picture, lambda points: polar(points, picture.tree.n_leaves))
    _frame_circle(picture, rim=False)


def draw_disk(picture: Picture) -> None:
    """Geodesics of the hyperbolic plane between parents and children."""
    place = upright(picture.layout.disk[picture.nodes])
    up = picture.up()[1:]
    path = geodesics(place[up], place[1:], _ARC_STEPS)
    _add_lines(picture, np.stack([path.real, path.imag], axis=2), picture.color[1:])
    dots = 9 * (1 - np.abs(place) ** 2) * np.minimum(np.log1p(picture.tree.sizes[picture.nodes]) / 8, 1)
    picture.ax.scatter(place.real, place.imag, s=dots, c=picture.color, linewidths=0, zorder=3)
    _frame_circle(picture, rim=True)


def upright(disk: NDArray[Any]) -> NDArray[Any]:
    """The disk turned as the circular tree is: leaves start at the top and run clockwise."""
    turned: NDArray[Any] = 1j * np.conj(disk)
    return turned


def geodesics(start: NDArray[Any], end: NDArray[Any], steps: int) -> NDArray[Any]:
    """Points along the geodesic from each start to each end, evenly spaced in the hyperbolic metric."""
    # from the start, a geodesic is a straight line
    seen = (end - start) / (1 - np.conj(start) * end)
    norm = np.maximum(np.abs(seen), 1e-15)
    reach = np.tanh(np.linspace(0, 1, steps) * np.arctanh(np.minimum(norm, 1 - 1e-12))[:, None])
    step = seen[:, None] / norm[:, None] * reach
    path: NDArray[Any] = (step + start[:, None]) / (1 + np.conj(start)[:, None] * step)
    return path


def polar(points: Points, n_leaves: int) -> Points:
    """(along, across) to the plane of the circular tree: leaves start at the top and run clockwise."""
    angle = points[..., 1] * (2 * np.pi / n_leaves)
    return np.stack([points[..., 0] * np.sin(angle), points[..., 0] * np.cos(angle)], axis=-1)


def _turned(picture: Picture, points: Points) -> Points:
    """(along, across) to the axes: root on the left, or on top."""
    return points if picture.orientation == "left" else points[..., ::-1]


def _add_lines(picture: Picture, lines: Points, color: list[str]) -> None:
    picture.ax.add_collection(
        LineCollection(list(lines), colors=color, linewidths=picture.line_width, capstyle="projecting")
    )


def _add_wedges(picture: Picture, project: Any) -> None:
    closed = np.flatnonzero(picture.opened < 0)
    tree, nodes = picture.tree, picture.nodes[closed]
    if not len(nodes):
        return
    low, size = tree.leaf_start[nodes] + 0.1, tree.sizes[nodes] - 0.2
    rim = np.stack([low[:, None] + size[:, None] * t for t in np.linspace(0, 1, 6)], axis=1)[..., 0]
    apex = np.stack([picture.along[nodes], picture.layout.center[nodes]], axis=1)[:, None]
    outline = np.concatenate([apex, np.stack([np.ones_like(rim), rim], axis=2)], axis=1)
    picture.ax.add_collection(
        PolyCollection(
            list(project(outline)), facecolors=[picture.color[k] for k in closed], alpha=0.45, linewidths=0
        )
    )


def _frame_rectangle(picture: Picture) -> None:
    ax, n = picture.ax, picture.tree.n_leaves
    along_limits, across_limits = (-0.01, 1.01), (n, 0)
    if picture.orientation == "left":
        ax.set(xlim=along_limits, ylim=across_limits)
    else:
        ax.set(xlim=across_limits[::-1], ylim=along_limits[::-1])
    ax.spines[:].set_visible(False)
    axis = ax.xaxis if picture.orientation == "left" else ax.yaxis
    other = ax.yaxis if picture.orientation == "left" else ax.xaxis
    other.set_ticks([])
    _number_axis(picture, axis)


def _number_axis(picture: Picture, axis: Any) -> None:
    """Ticks in units of what lengths mean: height, number of leaves, or depth."""
    ticks = {"height": _height_ticks, "size": _size_ticks, "depth": _depth_ticks}[picture.scale](picture)
    if len(ticks) < 2:
        axis.set_ticks([])
        return
    names = dict(zip([place for place, _ in ticks], [name for _, name in ticks], strict=True))
    axis.set_major_locator(FixedLocator(list(names)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: names.get(value, "")))
    side = "bottom" if picture.orientation == "left" else "left"
    picture.ax.spines[side].set_visible(True)
    picture.ax.spines[side].set_bounds(0, 1)
    axis.set_label_text({"height": "height", "size": "leaves below (log)", "depth": "depth"}[picture.scale])


def _height_ticks(picture: Picture) -> list[tuple[float, str]]:
    height = picture.layout.effective_height
    top, bottom = float(height[-1]), float(height.min())
    span = top - bottom
    if picture.tree.height is None or not 0 < span < np.inf:
        return []
    nice = [tick for tick in MaxNLocator(5).tick_values(bottom, top) if bottom <= tick <= top]
    return [((top - tick) / span, f"{tick:.4g}") for tick in nice]


def _size_ticks(picture: Picture) -> list[tuple[float, str]]:
    n = picture.tree.n_leaves
    powers = [10**k for k in range(12) if 10**k < n]
    return [(1 - np.log(k) / np.log(max(n, 2)), f"{k:,}") for k in [*powers, n]]


def _depth_ticks(picture: Picture) -> list[tuple[float, str]]:
    deepest = max(int(picture.tree.depths.max()), 1)
    step = max(1, deepest // 5)
    return [(depth / deepest, str(depth)) for depth in range(0, deepest + 1, step)]


def _frame_circle(picture: Picture, rim: bool) -> None:
    ax = picture.ax
    ax.set(xlim=(-1.03, 1.03), ylim=(-1.03, 1.03), aspect="equal")
    ax.axis("off")
    if rim:
        ax.add_patch(Circle((0, 0), 1, facecolor="none", edgecolor="#c3cad3", linewidth=0.7))
