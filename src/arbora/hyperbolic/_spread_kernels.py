"""How far apart the ancestors of triples lie."""

from __future__ import annotations

import numpy as np

from arbora._base.jit import kernel


@kernel()
def triple_margins(depths, i, j, k):
    """Deepest minus shallowest, and deepest minus second deepest, of the ancestors of three leaves."""
    a, b, c = depths[i, j], depths[i, k], depths[j, k]
    high, low = max(a, max(b, c)), min(a, min(b, c))
    return high - low, high - (a + b + c - high - low)


@kernel()
def least_margins(depths):
    """Smallest of both over all triples of a matrix of LCA depths. O(n³)."""
    n = depths.shape[0]
    spread, margin = np.inf, np.inf
    for i in range(n):
        for j in range(i + 1, n):
            for k in range(j + 1, n):
                wide, lead = triple_margins(depths, i, j, k)
                spread = min(spread, wide)
                margin = min(margin, lead)
    return spread, margin
