"""Which cuts of an L2H tree to look at."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arbora.logits._bootstrap import agreement_of_cuts
from arbora.logits._merge import Merges
from arbora.tree import Tree

_CANDIDATES = 40


class StableLevel(NamedTuple):
    """A cut that `L2H.levels` proposes: `Tree.levels` with a figure for its stability."""

    n_clusters: int
    labels: NDArray[np.int64]
    nodes: NDArray[np.int64]
    gap: float
    stability: float


def choose_levels(
    tree: Tree, replicates: list[Merges], max_levels: int, max_clusters: int | None
) -> list[StableLevel]:
    """The cuts with the largest product of gap and stability, coarse to fine.

    The gap of a cut is the difference of log merge scores between the first merge it undoes and the last it keeps;
    stability the mean adjusted Rand index with the same cut of trees from resampled points.
    """
    wide = tree.levels(max(_CANDIDATES, max_levels), max_clusters=max_clusters)
    if not wide:
        return []
    stability = np.full(len(wide), np.nan)
    if replicates:
        stability = agreement_of_cuts(tree, replicates, [level.n_clusters for level in wide])
    value = np.array([level.gap for level in wide]) * (stability if replicates else 1.0)
    best = np.sort(np.argsort(-value, kind="stable")[:max_levels])
    return [
        StableLevel(wide[k].n_clusters, wide[k].labels, wide[k].nodes, wide[k].gap, float(stability[k]))
        for k in best
    ]
