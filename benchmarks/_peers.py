"""Trees of other libraries."""

from __future__ import annotations

import numpy as np

import arbora as ab


def hdbscan_tree(X):
    """The single linkage tree that fast_hdbscan cuts its clusters from."""
    from fast_hdbscan import HDBSCAN

    Z = np.array(HDBSCAN(min_cluster_size=10).fit(X)._single_linkage_tree)
    is_finite = np.isfinite(Z[:, 2])
    Z[~is_finite, 2] = Z[is_finite, 2].max()  # what its neighbor graph leaves apart is joined at infinity
    return ab.Tree.from_linkage(Z)
