"""Which cuts of an L2H tree are the most telling."""

from __future__ import annotations

import numpy as np

from arbora.logits._bootstrap import agreement_of_cuts
from arbora.tree import Tree
from arbora.tree.cutting import Level

_CANDIDATES = 40


def choose_levels(
    tree: Tree, replicates: list[Tree], max_levels: int, max_clusters: int | None
) -> list[Level]:
    """The cuts with the largest product of gap and stability, coarse to fine.

    The gap of a cut is the difference of log merge scores between the first merge it undoes and the last it keeps;
    stability the mean adjusted Rand index with the same cut of trees from resampled points (NaN without such trees).
    """
    wide = tree.levels(max(_CANDIDATES, max_levels), max_clusters=max_clusters)
    if not wide:
        return []
    stability = np.full(len(wide), np.nan)
    if replicates:
        stability = agreement_of_cuts(tree, replicates, [level.n_clusters for level in wide])
    value = np.array([level.gap for level in wide]) * (stability if replicates else 1.0)
    best = np.sort(np.argsort(-value, kind="stable")[:max_levels])
    return [wide[k]._replace(stability=float(stability[k])) for k in best]
