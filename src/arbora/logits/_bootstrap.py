"""How stable the splits and levels of an L2H tree are when the points are resampled.

A replicate rarely has to read the data: what the points of a group are reassigned to does not depend on how often they
are drawn, so it is kept from one replicate to the next and only summed with other weights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from arbora._base.progress import ProgressCallback, Stage, silent
from arbora._base.types import Floats, Ints
from arbora.logits._protocol import Assignment, MergeQueries, PointQueries, PointRows
from arbora.tree import Tree


class RememberingRows(PointQueries):
    """Rows that compute the answer about a group only once, as long as memory allows."""

    def __init__(self, rows: PointRows, max_memory: int) -> None:
        self._rows, self._left = rows, max_memory
        self._known: dict[tuple[int, ...], tuple[NDArray[np.int32], Floats]] = {}
        self._affinities: list[tuple[int, Floats]] | None = None

    def reassign(self, points: Ints, classes: Ints) -> tuple[NDArray[np.int32], Floats]:
        """As `PointQueries.reassign`."""
        key = tuple(classes.tolist())
        known = self._known.get(key)
        if known is None:
            known = self._rows.reassign(points, classes)
            size = known[0].nbytes + known[1].nbytes
            if size <= self._left:
                self._left -= size
                self._known[key] = known
        return known

    def affinities(self, assignment: Assignment, empty: Ints) -> Iterator[tuple[int, Floats]]:
        """As `MergeQueries.affinities`."""
        if self._affinities is None:
            self._affinities = list(self._rows.affinities(assignment, empty))
        return iter(self._affinities)


def draw_weights(assignment: Assignment, rng: np.random.Generator) -> Floats:
    """How often each point is drawn when every class is drawn again with replacement.

    Within classes, so that no class loses all its points.
    """
    first = assignment.offsets[assignment.assigned]
    drawn = first + (rng.random(len(first)) * assignment.counts[assignment.assigned]).astype(np.int64)
    weights = np.empty(len(first))
    weights[assignment.order] = np.bincount(drawn, minlength=len(first))
    return weights


def resample_trees(
    assignment: Assignment,
    rows: PointRows,
    build: Callable[[MergeQueries, Floats], Tree],
    n_bootstraps: int,
    rng: np.random.Generator,
    *,
    max_memory: int,
    progress: ProgressCallback = silent,
) -> list[Tree]:
    """Trees of `n_bootstraps` replicates; ``build(rows, weights)`` is the method whose stability is asked for."""
    if n_bootstraps == 0:
        return []
    memory = RememberingRows(rows, max_memory)
    replicates = []
    with Stage(progress, "bootstrap", n_bootstraps) as stage:
        for number in range(n_bootstraps):
            replicates.append(build(memory, draw_weights(assignment, rng)))
            stage.update(number + 1)
    return replicates


def agreement_of_cuts(tree: Tree, replicates: list[Tree], n_clusters: list[int]) -> Floats:
    """Mean adjusted Rand index between the cuts of a tree and those of the replicates, for each number of clusters."""
    from arbora.metrics.agreement import adjusted_rand_index

    own = dict(tree.flat_clusterings(n_clusters))
    total = dict.fromkeys(own, 0.0)
    for replicate in replicates:
        for k, labels in replicate.flat_clusterings(n_clusters):
            total[k] += adjusted_rand_index(own[k], labels)
    return np.array([total[k] / max(1, len(replicates)) for k in n_clusters])
