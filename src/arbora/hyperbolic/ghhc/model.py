"""The distributions of gHHC over parents, trees and least common ancestors, exact and in log space.

Everything follows from the child–parent dissimilarity (Eq. 3). A node may only have parents of smaller norm;
ties go by the order of the nodes, so that any choice of parents is a tree. Data points lie below every node.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import log_softmax

from arbora._base.threads import share_out
from arbora._base.types import AnyFloats, Bools, Ints
from arbora.hyperbolic.ghhc import _kernels as kernels
from arbora.hyperbolic.ghhc.distances import NodeTable, depths, gaps

# entries of a block of child-by-node matrices
BLOCK = 4_000_000
# of nodes, as a share of the data's: they stay below it, to be its parents
LARGEST_NORM = 1.0 - 1e-3


def ranks(table: NodeTable) -> Ints:
    """Place of each node by norm, smallest (the root) 0; equal norms by index."""
    place = np.empty(len(table), np.int64)
    place[np.argsort(table.depth, kind="stable")] = np.arange(len(table))
    return place


def blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Slices of rows whose matrices over `n_columns` stay small."""
    step = max(1, BLOCK // max(n_columns, 1))
    return (slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step))


def nearest_parents(
    table: NodeTable, points: AnyFloats, usable: Bools | None = None, n_threads: int = 1
) -> tuple[Ints, AnyFloats]:
    """The node each data point selects as parent (Eq. 4), and the probability of that choice (Eq. 5).

    With `usable` only these nodes are chosen; the probability still counts all.
    """
    parent, probability = np.empty(len(points), np.int64), np.empty(len(points))
    deepest = table.depth.max()
    parts = list(blocks(len(points), len(table)))

    def choose(rows: slice) -> None:
        block = points[rows]
        # no penalty: the scores order the nodes as the dissimilarity does
        if deepest <= depths(block).min():
            scores, point_gap = table.scores(block), gaps(block)
            mass = kernels.unnormalized_mass(scores, point_gap)
            parent[rows], chosen = _smallest(scores, usable)
            ratio = np.maximum(chosen / point_gap, 0.0)
            probability[rows] = (np.sqrt(ratio) + np.sqrt(1.0 + ratio)) ** -2.0 / mass
        else:
            dissimilarity = table.dissimilarities(block)
            mass = np.exp(-dissimilarity).sum(axis=1)
            parent[rows], chosen = _smallest(dissimilarity, usable)
            probability[rows] = np.exp(-chosen) / mass

    def choose_all(first: int, last: int) -> None:
        for rows in parts[first:last]:
            choose(rows)

    share_out(choose_all, len(parts), n_threads)
    return parent, np.minimum(probability, 1.0)


def _smallest(values: AnyFloats, usable: Bools | None) -> tuple[Ints, AnyFloats]:
    if usable is not None:
        values[:, ~usable] = np.inf
    place = values.argmin(axis=1)
    return place, np.take_along_axis(values, place[:, None], axis=1)[:, 0]


def node_parents(table: NodeTable, children: Ints | None = None, place: Ints | None = None) -> Ints:
    """The node each of the nodes `children` (default: all) selects as parent, -1 for the root (Eq. 4).

    Among nodes of smaller norm the penalty is zero and the distance decides.
    """
    children = np.arange(len(table)) if children is None else children
    place = ranks(table) if place is None else place
    parent = np.empty(len(children), np.int64)
    for rows in blocks(len(children), len(table)):
        chosen = children[rows]
        parent[rows] = kernels.nearest_smaller(table.scores(table.nodes[chosen]), place, place[chosen])
    return parent


def point_log_probabilities(table: NodeTable, points: AnyFloats, temperature: float = 1.0) -> AnyFloats:
    """Log P(parent = node | data point), Eq. 5: float[N, M]."""
    return np.asarray(log_softmax(-table.dissimilarities(points) / temperature, axis=1))


def node_log_probabilities(
    table: NodeTable, children: Ints, place: Ints | None = None, temperature: float = 1.0
) -> AnyFloats:
    """Log P(parent = node | node), Eq. 5 over the nodes of smaller norm (-inf elsewhere): float[C, M].

    The row of the root is -inf throughout: it has no parent.
    """
    place = ranks(table) if place is None else place
    logits = -table.distances(table.nodes[children]) / temperature
    logits[place[None, :] >= place[children][:, None]] = -np.inf
    free = place[children] > 0
    logits[free] = log_softmax(logits[free], axis=1)
    return logits


def tree_log_probability(
    table: NodeTable, points: AnyFloats, point_parent: Ints, node_parent: Ints, temperature: float = 1.0
) -> float:
    """Log of the probability of a choice of parents for all points and nodes (Eq. 6)."""
    total = 0.0
    for rows in blocks(len(points), len(table)):
        logs = point_log_probabilities(table, points[rows], temperature)
        total += float(np.take_along_axis(logs, point_parent[rows, None], axis=1).sum())
    place = ranks(table)
    children = np.flatnonzero(place > 0)
    for rows in blocks(len(children), len(table)):
        logs = node_log_probabilities(table, children[rows], place, temperature)
        total += float(np.take_along_axis(logs, node_parent[children[rows], None], axis=1).sum())
    return total


def lca_distributions(
    table: NodeTable, points: AnyFloats, temperature: float = 1.0
) -> tuple[AnyFloats, AnyFloats]:
    """Distributions over the LCA of (i, j) and of (i, j, k) for triples `points` [3, B, d], over all nodes."""
    dissimilarity = np.stack([table.dissimilarities(member) for member in points])
    return ancestors(dissimilarity, dissimilarity.dtype.type(0), temperature)


def ancestors(
    dissimilarity: AnyFloats, noise: AnyFloats | np.floating, temperature: float
) -> tuple[AnyFloats, AnyFloats]:
    """LCA distributions of pairs and of triples (Eq. 12–14) from dissimilarities to nodes [3, B, M]: float[B, M] each.

    The second gives no mass to the most likely node of the first, and so none at all where that is the only node.
    """
    farther = np.maximum(dissimilarity[0], dissimilarity[1])
    pair = noise - farther / temperature
    triple = noise - np.maximum(farther, dissimilarity[2]) / temperature
    np.put_along_axis(triple, pair.argmax(axis=1)[:, None], -np.inf, axis=1)
    return _softmax(pair), _softmax(triple) if pair.shape[1] > 1 else np.zeros_like(pair)


def _softmax(logits: AnyFloats) -> AnyFloats:
    """In place."""
    logits -= logits.max(axis=1, keepdims=True)
    np.exp(logits, out=logits)
    logits /= logits.sum(axis=1, keepdims=True)
    return logits
