"""How stable the splits and levels of an L2H tree are when the points are drawn again.

A replicate needs no new look at most of the data: what the points of a group are reassigned to does not depend on how
often they are drawn, so it is kept from one replicate to the next and only summed with other weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora.logits._merge import Aggregation, Merges, merge_classes
from arbora.logits._rows import Assignment, Progress, silent
from arbora.tree import Tree


class RememberingRows:
    """Rows that answer a question about the same group only once, as long as memory allows."""

    def __init__(self, rows: Any, max_memory: int) -> None:
        self._rows, self._left = rows, max_memory
        self._known: dict[tuple[int, ...], Any] = {}
        self._affinities: list[Any] | None = None

    def reassign(self, points: NDArray[np.int64], classes: NDArray[np.int64]) -> Any:
        """As `Rows.reassign`, for points that always come in the same order."""
        key = tuple(classes.tolist())
        known = self._known.get(key)
        if known is None:
            reassigned, probability = self._rows.reassign(points, classes)
            known = (reassigned, probability.astype(np.float32))
            size = known[0].nbytes + known[1].nbytes
            if size <= self._left:
                self._left -= size
                self._known[key] = known
        return known

    def affinities(self, assignment: Assignment, empty: NDArray[np.int64]) -> list[Any]:
        """As `Rows.affinities`."""
        if self._affinities is None:
            self._affinities = list(self._rows.affinities(assignment, empty))
        return self._affinities


def draw_weights(assignment: Assignment, rng: np.random.Generator) -> NDArray[np.float64]:
    """How often each point is drawn when every class is drawn again with replacement.

    Within classes, so that no class loses all its points.
    """
    first = assignment.offsets[assignment.assigned]
    drawn = first + (rng.random(len(first)) * assignment.counts[assignment.assigned]).astype(np.int64)
    weights = np.empty(len(first))
    weights[assignment.order] = np.bincount(drawn, minlength=len(first))
    return weights


def resample_merges(
    assignment: Assignment,
    rows: Any,
    n_bootstraps: int,
    rng: np.random.Generator,
    *,
    aggregation: Aggregation,
    merging: str,
    max_memory: int,
    progress: Progress = silent,
) -> list[Merges]:
    """Merges of `n_bootstraps` replicates."""
    memory = RememberingRows(rows, max_memory)
    replicates = []
    for b in range(n_bootstraps):
        weights = draw_weights(assignment, rng)
        replicates.append(
            merge_classes(assignment, memory, aggregation=aggregation, merging=merging, weights=weights)
        )
        progress("bootstrap", b + 1, n_bootstraps)
    return replicates


def clade_keys(tree: Tree, code: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """One number a node that depends only on the set of leaves below (random codes, combined by exclusive or)."""
    key = np.concatenate([code, np.zeros(tree.n_internal, np.uint64)])
    for v in range(tree.n_nodes - 1):
        key[tree.parent[v]] ^= key[v]
    return key


def support_of_nodes(tree: Tree, replicates: list[Merges]) -> NDArray[np.float64]:
    """Share of replicates that also form exactly the group of each node. Leaves and the root are in every tree."""
    code = np.random.default_rng(0).integers(
        0, 2**64, tree.n_leaves, dtype=np.uint64
    )  # two sets collide: 2**-64
    wanted = clade_keys(tree, code)
    hits = np.zeros(tree.n_nodes)
    for replicate in replicates:
        hits += np.isin(wanted, clade_keys(Tree.from_merges(replicate.pairs, tree.n_leaves), code))
    return hits / max(1, len(replicates))


def agreement_of_cuts(tree: Tree, replicates: list[Merges], n_clusters: list[int]) -> NDArray[np.float64]:
    """Mean adjusted Rand index between the cuts of a tree and those of the replicates, for each number of clusters."""
    from arbora.metrics.agreement import adjusted_rand_index

    own = dict(tree.flat_clusterings(n_clusters))
    total = dict.fromkeys(own, 0.0)
    for replicate in replicates:
        other = Tree.from_merges(replicate.pairs, tree.n_leaves, height=np.arange(1.0, tree.n_leaves))
        for k, labels in other.flat_clusterings(n_clusters):
            total[k] += adjusted_rand_index(own[k], labels)
    return np.array([total[k] / max(1, len(replicates)) for k in n_clusters])
