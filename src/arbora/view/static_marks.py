"""What surrounds a picture: leaf labels, color strips, support values, legends."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from arbora.view import palette
from arbora.view.columns import MISSING, Column
from arbora.view.static import Picture, number_colors
from arbora.view.static_kinds import polar, upright

LARGEST_TYPE, SMALLEST_TYPE = 8.0, 4.0
_LINE_SPACING = 1.25
_STRIP_WIDTH = 0.035
_STRIP_GAP = 0.012
_ROUND = ("circular", "disk")


def draw_strips(picture: Picture, kind: str) -> None:
    """One strip a column beside the leaves, colored leaf by leaf (in a truncated tree by drawn node)."""
    ends = np.flatnonzero(picture.opened <= 0)
    tree, nodes = picture.tree, picture.nodes[ends]
    low, high = (
        tree.leaf_start[nodes].astype(float),
        (tree.leaf_start[nodes] + tree.sizes[nodes]).astype(float),
    )
    for k, column in enumerate(picture.strips):
        inner = 1.02 + k * (_STRIP_WIDTH + _STRIP_GAP)
        outer = inner + _STRIP_WIDTH
        steps = np.linspace(0, 1, 4 if kind in _ROUND else 2)
        across = low[:, None] + (high - low)[:, None] * steps
        edge = [np.stack([np.full_like(across, r), across], axis=2) for r in (inner, outer)]
        outline = np.concatenate([edge[0], edge[1][:, ::-1]], axis=1)
        if kind in _ROUND:
            outline = polar(outline, tree.n_leaves)
        elif picture.orientation == "top":
            outline = outline[..., ::-1]
        picture.ax.add_collection(
            PolyCollection(
                list(outline), facecolors=_strip_colors(column, nodes), linewidths=0, clip_on=False
            )
        )
        _name_strip(picture, kind, column.name, (inner + outer) / 2)
    _make_room(picture, kind)


def _strip_colors(column: Column, nodes: NDArray[np.int64]) -> list[str]:
    value, _ = column.of_nodes
    if column.categories is None:
        return number_colors(value[nodes].astype(np.float64), column.values)
    shades = palette.categorical(len(column.categories))
    return [shades[code] if code != MISSING else "#ffffff" for code in value[nodes]]


def _name_strip(picture: Picture, kind: str, name: str, along: float) -> None:
    if kind in _ROUND:
        return
    if picture.orientation == "left":
        picture.ax.annotate(
            name, (along, 0), xytext=(0, 3), textcoords="offset points", rotation=90, ha="center",
            va="bottom", fontsize=7, annotation_clip=False,
        )  # fmt: skip
    else:
        picture.ax.annotate(
            name, (0, along), xytext=(-3, 0), textcoords="offset points", ha="right", va="center", fontsize=7,
            annotation_clip=False,
        )  # fmt: skip


def _outer_edge(picture: Picture) -> float:
    return 1.0 + len(picture.strips) * (_STRIP_WIDTH + _STRIP_GAP) + (0.02 if picture.strips else 0.0)


def _make_room(picture: Picture, kind: str, text_share: float = 0.0) -> None:
    """Limits that leave room beyond the leaves: for strips, and for text of this share of the axes."""
    edge = _outer_edge(picture) + 0.01
    if kind in _ROUND:
        reach = (edge + 0.02) / max(1 - 2 * text_share, 0.2)
        picture.ax.set(xlim=(-reach, reach), ylim=(-reach, reach))
        return
    reach = -0.01 + (edge + 0.01) / max(1 - text_share, 0.2)
    if picture.orientation == "left":
        picture.ax.set_xlim(-0.01, reach)
    else:
        picture.ax.set_ylim(reach, -0.01)


def draw_labels(picture: Picture, kind: str, names: list[str] | None) -> None:
    """Names of the leaves and sizes of the wedges; never over each other.

    Type shrinks until lines fit. Below the smallest readable size only as many names are written as fit, and
    wedges go without their sizes.
    """
    ends = np.flatnonzero(picture.opened <= 0)
    tree, nodes = picture.tree, picture.nodes[ends]
    middle = tree.leaf_start[nodes] + tree.sizes[nodes] / 2
    order = np.argsort(middle)
    nodes, middle = nodes[order], middle[order]
    fits = _fitting_size(picture, kind, middle) >= SMALLEST_TYPE
    texts = [_label_of(tree, int(node), names, fits) for node in nodes]
    longest = max((len(text) for text in texts), default=0)
    if longest == 0:
        return
    _reserve(picture, kind, longest, min(_fitting_size(picture, kind, middle), LARGEST_TYPE))
    size = float(np.clip(_fitting_size(picture, kind, middle), SMALLEST_TYPE, LARGEST_TYPE))
    _write_where_free(picture, kind, texts, middle, size)


def _write_where_free(
    picture: Picture, kind: str, texts: list[str], middle: NDArray[np.float64], size: float
) -> None:
    line = size * _LINE_SPACING / _points_per_leaf(picture, kind)
    first, last = np.nan, -np.inf
    for text, at in zip(texts, middle, strict=True):
        meets_first = kind in _ROUND and first + picture.tree.n_leaves - at < line
        if not text or at - last < line - 1e-9 or meets_first:
            continue
        _write_label(picture, kind, text, float(at), size)
        first, last = (at if np.isnan(first) else first), at


def _label_of(tree: Any, node: int, names: list[str] | None, sizes: bool) -> str:
    if node >= tree.n_leaves:
        return f"({tree.sizes[node]:,})" if sizes else ""
    return "" if names is None else _clipped(names[node]).replace("$", r"\$")


def _clipped(name: str, most: int = 40) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"


def _fitting_size(picture: Picture, kind: str, middle: NDArray[np.float64]) -> float:
    """Type size at which the two closest labels just do not touch."""
    gap = float(np.diff(middle).min(initial=np.inf))
    return gap * _points_per_leaf(picture, kind) / _LINE_SPACING


def _reserve(picture: Picture, kind: str, longest: int, size: float) -> None:
    box = picture.ax.get_window_extent()
    sideways = kind not in _ROUND and picture.orientation == "top"
    points = (box.height if sideways else box.width) * 72 / picture.ax.figure.dpi
    _make_room(picture, kind, min((0.62 * longest * max(size, SMALLEST_TYPE) + 6) / points, 0.45))


def _points_per_leaf(picture: Picture, kind: str) -> float:
    picture.ax.figure.draw_without_rendering()  # constrained layout settles the size of the axes
    box = picture.ax.get_window_extent()
    scale = 72 / picture.ax.figure.dpi / picture.tree.n_leaves
    if kind in _ROUND:
        span = picture.ax.get_xlim()[1] - picture.ax.get_xlim()[0]
        return float(2 * np.pi * _outer_edge(picture) * min(box.width, box.height) / span * scale)
    return float((box.height if picture.orientation == "left" else box.width) * scale)


def _write_label(picture: Picture, kind: str, text: str, at: float, size: float) -> None:
    edge = _outer_edge(picture) + 0.012
    common = {"fontsize": size, "textcoords": "offset points", "color": "#1d2530", "in_layout": False}
    if kind in _ROUND:
        angle = 2 * np.pi * at / picture.tree.n_leaves
        spot = polar(np.array([edge + 0.01, at]), picture.tree.n_leaves)
        left = np.sin(angle) < 0
        turn = 90 - np.degrees(angle) + (180 if left else 0)
        picture.ax.annotate(
            text, spot, xytext=(0, 0), rotation=turn, rotation_mode="anchor", ha="right" if left else "left",
            va="center", **common,
        )  # fmt: skip
    elif picture.orientation == "left":
        picture.ax.annotate(text, (edge, at), xytext=(2, 0), ha="left", va="center", **common)
    else:
        picture.ax.annotate(text, (at, edge), xytext=(0, -2), ha="center", va="top", rotation=90, **common)


def draw_support(picture: Picture, kind: str) -> None:
    """Support in percent beside each drawn inner node, the largest nodes first, none over another."""
    support, tree = picture.tree.support, picture.tree
    if support is None:
        raise ValueError(
            "support=True needs a tree with support values. Set them with tree.replace(support=...)."
        )
    inner = picture.nodes[(picture.nodes >= tree.n_leaves) & (picture.nodes != tree.root)]
    inner = inner[np.isfinite(support[inner])]
    taken: list[Any] = []
    figure = picture.ax.figure
    for node in inner[np.argsort(-tree.sizes[inner], kind="stable")]:
        text = picture.ax.annotate(
            f"{100 * support[node]:.0f}", _spot(picture, kind, int(node)), xytext=(-1.5, 1.5),
            textcoords="offset points", ha="right", va="bottom", fontsize=5.5, color="#5d6876",
        )  # fmt: skip
        box = text.get_window_extent(figure.canvas.get_renderer())
        if any(box.overlaps(other) for other in taken):
            text.remove()
        else:
            taken.append(box)


def _spot(picture: Picture, kind: str, node: int) -> tuple[float, float]:
    if kind == "disk":
        place = upright(picture.layout.disk[node])
        return float(place.real), float(place.imag)
    point = np.array([picture.along[node], picture.layout.center[node]])
    if kind == "circular":
        point = polar(point, picture.tree.n_leaves)
    elif picture.orientation == "top":
        point = point[::-1]
    return float(point[0]), float(point[1])


def draw_legend(picture: Picture, column: Column | None) -> None:
    """Classes of the branches, and of each strip, outside the axes."""
    handles: list[Any] = []
    if column is not None and column.categories is not None and len(column.categories) <= 12:
        handles += _handles(column)
    for strip in picture.strips:
        same = column is not None and strip.categories == column.categories
        if strip.categories is not None and len(strip.categories) <= 12 and not same:
            handles += [Line2D([], [], linestyle="none", label=strip.name), *_handles(strip)]
    if handles:
        picture.ax.legend(
            handles=handles, loc="upper left", bbox_to_anchor=(1.02, 1.0), borderaxespad=0, handlelength=1
        )


def _handles(column: Column) -> list[Any]:
    shades = palette.categorical(len(column.categories or ()))
    return [
        Line2D(
            [],
            [],
            linestyle="none",
            marker="s",
            markersize=5,
            color=color,
            label=name.replace("$", r"\$") or "(empty)",
        )
        for color, name in zip(shades, column.categories or (), strict=True)
    ]
