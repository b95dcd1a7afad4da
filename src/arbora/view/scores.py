"""A cut of the tree as the explorer shows it: the nodes that stand for the clusters, and their scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora.tree import Tree
from arbora.view.columns import MISSING, Column
from arbora.view.layout import Layout


def cluster_nodes(layout: Layout, n_clusters: int) -> NDArray[np.int64]:
    """Nodes of the finest cut with at most `n_clusters` clusters, in leaf order.

    Where an n-ary split jumps over the number asked for, the slider shows the last number before it.
    """
    tree = layout.tree
    done = int(np.searchsorted(layout.clusters_after, n_clusters, side="right"))
    split = layout.split_rank < done
    above = np.append(split[tree.parent[:-1]], True)
    nodes = np.flatnonzero(~split & above)
    return nodes[np.argsort(tree.leaf_start[nodes])]


def describe_cut(tree: Tree, roots: NDArray[np.int64], truth: Column | None) -> dict[str, Any]:
    """Sizes of the clusters and, against a column of classes, purity, NMI and ARI."""
    sizes = tree.sizes[roots]
    share = sizes / sizes.sum()
    facts: dict[str, Any] = {
        "clusters": len(roots),
        "largest": int(sizes.max()),
        "smallest": int(sizes.min()),
        "effective": float(np.exp(-(share * np.log(share)).sum())),
    }
    if truth is not None and truth.categories:
        known = truth.values != MISSING
        cluster = np.repeat(np.arange(len(roots)), sizes)[known]
        facts |= compare_flat(cluster, truth.values[known].astype(np.int64), len(truth.categories))
    return facts


def compare_flat(cluster: NDArray[np.int64], label: NDArray[np.int64], n_labels: int) -> dict[str, float]:
    """Purity, normalized mutual information (arithmetic) and adjusted Rand index of two flat labelings."""
    if len(label) == 0:
        return {}
    cells, counts = np.unique(cluster * n_labels + label, return_counts=True)
    by_cluster = np.bincount(cells // n_labels, counts)
    by_label = np.bincount(cells % n_labels, counts, minlength=n_labels)
    n = counts.sum()
    best = np.zeros(len(by_cluster))
    np.maximum.at(best, cells // n_labels, counts)
    expected = by_cluster[cells // n_labels] * by_label[cells % n_labels]
    mutual = float((counts / n * np.log(n * counts / expected)).sum())
    mean_entropy = (_entropy(by_cluster / n) + _entropy(by_label / n)) / 2
    pairs = _pairs(counts)
    chance = _pairs(by_cluster) * _pairs(by_label) / max(n * (n - 1) / 2, 1)
    most = (_pairs(by_cluster) + _pairs(by_label)) / 2
    return {
        "purity": float(best.sum() / n),
        "nmi": 1.0 if mean_entropy <= 1e-12 else max(mutual / mean_entropy, 0.0),
        "ari": 1.0 if most == chance else float((pairs - chance) / (most - chance)),
    }


def _entropy(share: NDArray[np.float64]) -> float:
    share = share[share > 0]
    return float(-(share * np.log(share)).sum())


def _pairs(count: NDArray[Any]) -> float:
    return float((count * (count - 1) / 2).sum())
