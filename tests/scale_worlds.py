"""Rows for tests of clustering on Dask: groups of groups, small enough to be clustered in seconds."""

from __future__ import annotations

import numpy as np

from arbora.scale import Limits

# parts so small that a few thousand rows make several
SMALL_PARTS = Limits(part=700, sample=1500, pieces=200, smallest_piece=4)


def grouped_rows(n, d=6, seed=0, dtype=np.float32):
    """Rows of 5 groups of 5 groups, shuffled; and the two labels of each."""
    rng = np.random.default_rng(seed)
    centers = np.repeat(20 * rng.normal(size=(5, d)), 5, axis=0) + 3 * rng.normal(size=(25, d))
    leaf = rng.integers(25, size=n)
    rows = centers[leaf] + rng.normal(size=(n, d))
    return rows.astype(dtype), np.stack([leaf // 5, leaf], axis=1)


def same_tree(tree, other):
    """Whether two trees agree to the last bit."""
    return np.array_equal(tree.parent, other.parent) and np.array_equal(tree.height, other.height)
