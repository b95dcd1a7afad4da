"""A cut of the tree as the explorer shows it: the nodes that stand for the clusters, and their scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora.metrics import agreement
from arbora.tree import Tree
from arbora.view.columns import MISSING, Column
from arbora.view.layout import Layout


def splits_for(layout: Layout, n_clusters: int) -> int:
    """Number of splits, from the root down, of the finest cut with at most `n_clusters` clusters.

    Where an n-ary split jumps over the number asked for, this is the last number before it. Splits that only unwrap
    a single child change nothing and are left out.
    """
    counts = np.concatenate([[1], layout.clusters_after])
    reached = counts[np.searchsorted(counts, n_clusters, side="right") - 1]
    return int(np.searchsorted(counts, reached))


def cluster_nodes(layout: Layout, n_clusters: int) -> NDArray[np.int64]:
    """Nodes of the finest cut with at most `n_clusters` clusters, numbered as `Tree.cut` numbers them.

    Cluster k is ``cluster_nodes(...)[k]``: clusters are counted by the smallest leaf each holds.
    """
    tree = layout.tree
    split = layout.split_rank < splits_for(layout, n_clusters)
    above = np.append(split[tree.parent[:-1]], True)
    nodes = np.flatnonzero(~split & above)
    nodes = nodes[np.argsort(tree.leaf_start[nodes])]
    first = np.minimum.reduceat(tree.leaf_order, tree.leaf_start[nodes])
    return nodes[np.argsort(first)]


def cluster_of_leaf(tree: Tree, roots: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number of the cluster at each place of the leaf order."""
    order = np.argsort(tree.leaf_start[roots])
    return np.repeat(order, tree.sizes[roots[order]])


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
    if truth is not None and truth.scores:
        known = truth.values != MISSING
        cluster = cluster_of_leaf(tree, roots)[known]
        facts |= compare_flat(cluster, truth.values[known].astype(np.int64), len(truth.categories))
    return facts


def compare_flat(cluster: NDArray[np.int64], label: NDArray[np.int64], n_labels: int) -> dict[str, float]:
    """Purity, normalized mutual information (arithmetic) and adjusted Rand index of two flat labelings."""
    if len(label) == 0:
        return {}
    table = agreement.count_cells(label, cluster, n_labels, int(cluster.max()) + 1)
    return {
        "purity": agreement.purity_of(table),
        "nmi": agreement.mutual_information_of(table),
        "ari": agreement.rand_index_of(table),
    }
