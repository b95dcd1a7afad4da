"""A cut of the tree as the explorer shows it: its clusters, the nodes they consist of, and their scores."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arbora.metrics import agreement
from arbora.tree.parting import Parts
from arbora.view.columns import MISSING, Column
from arbora.view.layout import Layout


class Pieces(NamedTuple):
    """The highest nodes that lie in one cluster each, in the order of their leaves, and the number of their cluster.

    A cluster consists of one, or of several where branches too small to be clusters belong to it.
    """

    nodes: NDArray[np.int64]
    cluster: NDArray[np.int64]


def splits_for(layout: Layout, n_clusters: int) -> int:
    """Number of steps, from the root down, of the finest cut with at most `n_clusters` clusters.

    Where an n-ary split jumps over the number asked for, this is the last number before it.
    """
    return int(np.searchsorted(layout.parting.n_clusters, n_clusters, side="right")) - 1


def cut_parts(layout: Layout, n_clusters: int) -> Parts:
    """The finest cut with at most `n_clusters` clusters, which is that of `Tree.cut`."""
    return layout.parting.parts(layout.tree, splits_for(layout, n_clusters))


def cut_pieces(layout: Layout, n_clusters: int) -> Pieces:
    """The nodes that the clusters of the same cut consist of."""
    tree, first = layout.tree, layout.split_rank
    done = splits_for(layout, n_clusters)
    is_below_split = np.append(first[tree.parent[:-1]] < done, True)
    nodes = np.flatnonzero((first >= done) & is_below_split)
    nodes = nodes[np.argsort(tree.leaf_start[nodes])]
    return Pieces(nodes, cut_parts(layout, n_clusters).labels[tree.leaf_order[tree.leaf_start[nodes]]])


def describe_cut(layout: Layout, labels: NDArray[np.int64], truth: Column | None) -> dict[str, Any]:
    """Sizes of the clusters and, against a column of classes, purity, NMI and ARI."""
    sizes = np.bincount(labels)
    share = sizes / sizes.sum()
    facts: dict[str, Any] = {
        "clusters": len(sizes),
        "largest": int(sizes.max()),
        "smallest": int(sizes.min()),
        "effective": float(np.exp(-(share * np.log(share)).sum())),
    }
    if truth is not None and truth.scores:
        known = truth.values != MISSING
        cluster = labels[layout.tree.leaf_order][known]
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
