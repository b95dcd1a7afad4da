"""What surrounds a picture: names of leaves and nodes, color strips, support values."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.collections import PolyCollection
from numpy.typing import NDArray

from arbora.tree import Tree
from arbora.view.picture import Picture, plain
from arbora.view.shades import column_colors
from arbora.view.static_kinds import polar, upright

LARGEST_TYPE, SMALLEST_TYPE = 8.0, 4.0
MOST_LETTERS = 40
_LINE_SPACING = 1.25
_STRIP_WIDTH = 0.035
_STRIP_GAP = 0.012
# Names take at most this share of the picture on one side; longer ones are shortened.
_MOST_FOR_NAMES = 0.5
_MOST_FOR_NAMES_AROUND = 0.28


def draw_strips(picture: Picture) -> None:
    """One strip per column beside the leaves, colored leaf by leaf (in a truncated tree by drawn node)."""
    ends = np.flatnonzero(picture.opened <= 0)
    tree, nodes = picture.tree, picture.nodes[ends]
    low = tree.leaf_start[nodes].astype(float)
    high = (tree.leaf_start[nodes] + tree.sizes[nodes]).astype(float)
    for k, column in enumerate(picture.strips):
        inner = 1.02 + k * (_STRIP_WIDTH + _STRIP_GAP)
        outer = inner + _STRIP_WIDTH
        steps = np.linspace(0, 1, 4 if picture.is_round else 2)
        across = low[:, None] + (high - low)[:, None] * steps
        edge = [np.stack([np.full_like(across, r), across], axis=2) for r in (inner, outer)]
        outline = np.concatenate([edge[0], edge[1][:, ::-1]], axis=1)
        if picture.is_round:
            outline = polar(outline, tree.n_leaves)
        elif picture.orientation == "top":
            outline = outline[..., ::-1]
        colors = column_colors(column, nodes, picture.shades.get(column.name), majority=False)
        picture.ax.add_collection(
            PolyCollection(list(outline), facecolors=colors, linewidths=0, clip_on=False)
        )
        _name_strip(picture, column.name, (inner + outer) / 2)
    _make_room(picture)


def _name_strip(picture: Picture, name: str, along: float) -> None:
    if picture.is_round:
        return
    common: dict[str, Any] = {"textcoords": "offset points", "fontsize": 7, "annotation_clip": False}
    if picture.orientation == "left":
        picture.ax.annotate(
            plain(name), (along, 0), xytext=(0, 3), rotation=90, ha="center", va="bottom", **common
        )
    else:
        picture.ax.annotate(plain(name), (0, along), xytext=(-3, 0), ha="right", va="center", **common)


def _outer_edge(picture: Picture) -> float:
    return 1.0 + len(picture.strips) * (_STRIP_WIDTH + _STRIP_GAP) + (0.02 if picture.strips else 0.0)


def _make_room(picture: Picture, text_share: float = 0.0) -> None:
    """Limits that leave room beyond the leaves: for strips, and for text of this share of the axes."""
    edge = _outer_edge(picture) + 0.01
    if picture.is_round:
        reach = (edge + 0.02) / (1 - 2 * text_share)
        picture.ax.set(xlim=(-reach, reach), ylim=(-reach, reach))
        return
    reach = -0.01 + (edge + 0.01) / (1 - text_share)
    if picture.orientation == "left":
        picture.ax.set_xlim(-0.01, reach)
    else:
        picture.ax.set_ylim(reach, -0.01)


# ---- names of leaves -------------------------------------------------------------------------------------


def draw_labels(picture: Picture, names: list[str] | None) -> None:
    """Names of the leaves and sizes of the wedges; never over each other, never beyond the axes.

    Type shrinks until lines fit. Below the smallest readable size only as many names are written as fit, and
    wedges go without their sizes. Names that would take more than half of the picture are shortened.
    """
    ends = np.flatnonzero(picture.opened <= 0)
    tree, nodes = picture.tree, picture.nodes[ends]
    middle = tree.leaf_start[nodes] + tree.sizes[nodes] / 2
    order = np.argsort(middle)
    nodes, middle = nodes[order], middle[order]
    fits = _fitting_size(picture, middle) >= SMALLEST_TYPE
    texts = [_label_of(tree, int(node), names, fits) for node in nodes]
    if not any(texts):
        return
    texts = _reserve(picture, texts, min(_fitting_size(picture, middle), LARGEST_TYPE))
    size = float(np.clip(_fitting_size(picture, middle), SMALLEST_TYPE, LARGEST_TYPE))
    _write_where_free(picture, texts, middle, size)


def _write_where_free(picture: Picture, texts: list[str], middle: NDArray[np.float64], size: float) -> None:
    line = size * _LINE_SPACING / _points_per_leaf(picture)
    first, last = np.nan, -np.inf
    for text, at in zip(texts, middle, strict=True):
        meets_first = picture.is_round and first + picture.tree.n_leaves - at < line
        if not text or at - last < line - 1e-9 or meets_first:
            continue
        _write_label(picture, text, float(at), size)
        first, last = (at if np.isnan(first) else first), at


def _label_of(tree: Tree, node: int, names: list[str] | None, sizes: bool) -> str:
    if node >= tree.n_leaves:
        return f"({tree.sizes[node]:,})" if sizes else ""
    return "" if names is None else clipped(names[node])


def clipped(name: str, most: int = MOST_LETTERS) -> str:
    """A name of at most this many letters."""
    return name if len(name) <= most else name[: max(most - 1, 1)] + "…"


def _fitting_size(picture: Picture, middle: NDArray[np.float64]) -> float:
    """Type size at which the two closest labels just do not touch."""
    gap = float(np.diff(middle).min(initial=np.inf))
    return gap * _points_per_leaf(picture) / _LINE_SPACING


def _reserve(picture: Picture, texts: list[str], size: float) -> list[str]:
    """Make room for the names, as wide as they are drawn; returns them, shortened where they are too wide."""
    box = picture.ax.get_window_extent()
    sideways = not picture.is_round and picture.orientation == "top"
    available = box.height if sideways else box.width
    longest = sorted(set(texts), key=len)[-8:]
    size = max(size, SMALLEST_TYPE)
    needed = max(_width_of(picture, text, size) for text in longest) + 8 * picture.ax.figure.dpi / 72
    most = _MOST_FOR_NAMES_AROUND if picture.is_round else _MOST_FOR_NAMES
    share = needed / max(available, 1.0)
    if share > most:
        letters = max(int(len(longest[-1]) * most / share) - 1, 3)
        texts = [clipped(text, letters) for text in texts]
    _make_room(picture, min(share, most))
    return texts


def _width_of(picture: Picture, text: str, size: float) -> float:
    """Pixels a text needs in a line."""
    written = picture.ax.text(0, 0, plain(text), fontsize=size)
    figure: Any = picture.ax.figure
    width = written.get_window_extent(figure.canvas.get_renderer()).width
    written.remove()
    return float(width)


def _points_per_leaf(picture: Picture) -> float:
    figure: Any = picture.ax.figure
    # constrained layout settles the size of the axes
    figure.draw_without_rendering()
    box = picture.ax.get_window_extent()
    scale = 72 / figure.dpi / picture.tree.n_leaves
    if picture.is_round:
        span = picture.ax.get_xlim()[1] - picture.ax.get_xlim()[0]
        return float(2 * np.pi * _outer_edge(picture) * min(box.width, box.height) / span * scale)
    return float((box.height if picture.orientation == "left" else box.width) * scale)


def _write_label(picture: Picture, text: str, at: float, size: float) -> None:
    edge = _outer_edge(picture) + 0.012
    text = plain(text)
    common: dict[str, Any] = {
        "fontsize": size,
        "textcoords": "offset points",
        "color": "#1d2530",
        "in_layout": False,
    }
    if picture.is_round:
        angle = 2 * np.pi * at / picture.tree.n_leaves
        spot = polar(np.array([edge + 0.01, at]), picture.tree.n_leaves)
        left = np.sin(angle) < 0
        turn = 90 - np.degrees(angle) + (180 if left else 0)
        picture.ax.annotate(
            text, (spot[0], spot[1]), xytext=(0, 0), rotation=turn, rotation_mode="anchor",
            ha="right" if left else "left", va="center", **common,
        )  # fmt: skip
    elif picture.orientation == "left":
        picture.ax.annotate(text, (edge, at), xytext=(2, 0), ha="left", va="center", **common)
    else:
        picture.ax.annotate(text, (at, edge), xytext=(0, -2), ha="center", va="top", rotation=90, **common)


# ---- beside internal nodes -------------------------------------------------------------------------------


def draw_support(picture: Picture) -> None:
    """Support in percent beside each drawn inner node, the largest nodes first, none over another."""
    support = picture.tree.support
    if support is None:
        raise ValueError(
            "support=True needs a tree with support values. Set them with tree.replace(support=...)."
        )
    values = {int(node): f"{100 * support[node]:.0f}" for node in picture.nodes if np.isfinite(support[node])}
    _write_beside_nodes(picture, values, 5.5)


def draw_inner_names(picture: Picture) -> None:
    """Names of internal nodes where there is room: inside the bars of an icicle, else beside the nodes."""
    tree = picture.tree
    if tree.name is None:
        return
    named = {int(v): str(tree.name[v]) for v in picture.nodes if v >= tree.n_leaves and tree.name[v]}
    if picture.kind == "icicle":
        _write_in_bars(picture, named)
    else:
        _write_beside_nodes(picture, {node: clipped(name, 30) for node, name in named.items()}, 6.5)


def _write_beside_nodes(picture: Picture, texts: dict[int, str], size: float) -> None:
    tree, figure = picture.tree, picture.ax.figure
    inner = [node for node in texts if tree.n_leaves <= node < tree.root]
    renderer = figure.canvas.get_renderer()  # type: ignore[union-attr,attr-defined]
    inside = picture.ax.get_window_extent(renderer)
    taken: list[Any] = [text.get_window_extent(renderer) for text in picture.ax.texts]
    for node in sorted(inner, key=lambda node: (-tree.sizes[node], node)):
        text = picture.ax.annotate(
            plain(texts[node]), _spot(picture, node), xytext=(-1.5, 1.5), textcoords="offset points",
            ha="right", va="bottom", fontsize=size, color="#5d6876",
        )  # fmt: skip
        box = text.get_window_extent(renderer)
        if box.x0 < inside.x0 or any(box.overlaps(other) for other in taken):
            text.remove()
        else:
            taken.append(box)


def _write_in_bars(picture: Picture, texts: dict[int, str]) -> None:
    """Names inside bars, shortened to the bar's length; a bar lower than a line stays empty."""
    tree, parent = picture.tree, picture.tree.parent
    inverse = picture.ax.transData
    size, dots = 6.5, picture.ax.figure.dpi / 72
    for node, name in texts.items():
        outer = 0.03 + 0.97 * picture.along[node]
        inner = 0.0 if parent[node] < 0 else 0.03 + 0.97 * picture.along[parent[node]]
        corners = np.array(
            [[inner, tree.leaf_start[node]], [outer, tree.leaf_start[node] + tree.sizes[node]]]
        )
        if picture.orientation == "top":
            corners = corners[:, ::-1]
        width, height = np.abs(np.diff(inverse.transform(corners), axis=0))[0]
        letters = int((width / dots - 4) / (0.56 * size))
        if letters < 3 or height / dots < size * _LINE_SPACING:
            continue
        middle = corners.mean(axis=0)
        picture.ax.annotate(
            plain(clipped(name, letters)), (middle[0], middle[1]), ha="center", va="center", fontsize=size,
            color="white", in_layout=False,
        )  # fmt: skip


def _spot(picture: Picture, node: int) -> tuple[float, float]:
    if picture.kind == "disk":
        place = upright(picture.layout.disk[node])
        return float(place.real), float(place.imag)
    point = np.array([picture.along[node], picture.layout.center[node]])
    if picture.kind == "circular":
        point = polar(point, picture.tree.n_leaves)
    elif picture.orientation == "top":
        point = point[::-1]
    return float(point[0]), float(point[1])
