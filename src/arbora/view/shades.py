"""Colors of the nodes in a picture: by classes, by numbers, or by the clusters of a cut."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora.view import palette, scores
from arbora.view.columns import MISSING, Column
from arbora.view.layout import Layout

PLAIN = "#3b4450"


def column_colors(
    column: Column, nodes: NDArray[np.int64], shades: list[str] | None = None, *, majority: bool = True
) -> list[str]:
    """Color of each node by a column: its most frequent class, or the mean of its numbers; gray if unknown.

    With `majority`, gray also where the most frequent class has less than half of the known leaves.
    """
    value, share = column.of_nodes
    if column.is_scale:
        return number_colors(value[nodes].astype(np.float64), column.range)
    shades = column.shades if shades is None else shades
    least = 128 if majority else 0
    return [
        shades[code] if code != MISSING and part >= least else palette.NEUTRAL
        for code, part in zip(value[nodes], share[nodes], strict=True)
    ]


def number_colors(values: NDArray[np.float64], ends: tuple[float, float]) -> list[str]:
    """Colors of numbers on a scale with these ends; what lies beyond takes the color of the end, NaN is gray."""
    low, high = ends
    shades = palette.continuous()
    share = np.clip((np.nan_to_num(values) - low) / max(high - low, 1e-300), 0, 1)
    step = np.round(share * (len(shades) - 1)).astype(int)
    return [shades[k] if ok else palette.NEUTRAL for k, ok in zip(step, np.isfinite(values), strict=True)]


def cluster_colors(layout: Layout, nodes: NDArray[np.int64], n_clusters: int) -> list[str]:
    """Color of each node by the cluster of `Tree.cut` it lies in; gray above the cut."""
    tree = layout.tree
    labels = scores.cut_parts(layout, n_clusters).labels
    label = labels[tree.leaf_order[tree.leaf_start[nodes]]]
    inside = layout.split_rank[nodes] >= scores.splits_for(layout, n_clusters)
    shades = palette.categorical(int(labels.max()) + 1)
    return [shades[k] if ok else palette.NEUTRAL for k, ok in zip(label, inside, strict=True)]


def pixels(colors: list[str]) -> NDArray[Any]:
    """Colors as bytes, for an image."""
    return np.array([palette.rgb(color) for color in colors], dtype=np.uint8)
