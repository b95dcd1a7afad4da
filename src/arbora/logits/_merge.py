"""Algorithm 1 of L2H: which two groups of classes merge at every step.

The lowest-scoring group is always the one whose points are read again, and merging at least doubles a score
that adds up, so a point is read no more than about log2(n_classes) times in all: no step is cubic.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from arbora._base.progress import ProgressCallback, Stage, silent
from arbora._base.types import Floats
from arbora.logits._protocol import Aggregation, ClassTotals, MergeQueries, Merges


class _Groups:
    """The current groups: members, sizes and scores, indexed by node number of the tree to be."""

    def __init__(self, assignment: ClassTotals, aggregation: Aggregation, weights: Floats | None) -> None:
        n = assignment.n_classes
        self.assignment, self.aggregation = assignment, aggregation
        self.n_classes = n
        self.node_of_class = np.arange(n)
        self.members: dict[int, list[int]] = {c: [c] for c in range(n)}
        self.sizes = np.ones(2 * n - 1, np.int64)
        self.active = np.zeros(2 * n - 1, bool)
        self.active[:n] = True
        self.score = np.full(2 * n - 1, np.inf)
        self._occupied = np.zeros(2 * n - 1, np.int64)
        self._occupied[:n] = assignment.counts > 0
        self._part = np.zeros(2 * n - 1)
        self._part[:n] = self._class_parts(weights)
        self._rescore(range(n))
        self.pairs: list[tuple[int, int]] = []
        self.step_score: list[float] = []
        self.share: list[float] = []

    def _class_parts(self, weights: Floats | None) -> Floats:
        """What each class adds to the score of its group."""
        sums, counts = self.assignment.confidence_sums(weights)
        if self.aggregation == "sum":
            return sums
        return np.divide(sums, counts, out=np.zeros(self.n_classes), where=counts > 0)

    def _rescore(self, nodes: Sequence[int] | range) -> None:
        for node in nodes:
            if callable(self.aggregation):
                self.score[node] = self._score_by_callable(node)
            elif self.aggregation == "mean_of_means":
                self.score[node] = self._part[node] / max(1, self._occupied[node])
            else:
                self.score[node] = self._part[node]

    def _score_by_callable(self, node: int) -> float:
        parts = [self.assignment.confidences_of(c) for c in self.members[node] if self.assignment.counts[c]]
        assert callable(self.aggregation)
        score = float(self.aggregation(parts)) if parts else 0.0
        if np.isnan(score):
            raise ValueError(
                f"The aggregation function returned NaN for a group of {len(parts)} classes. "
                "It gets one array of probabilities per class and must return a number."
            )
        return score

    def merge(self, chosen: int, partner: int, share: float) -> int:
        """Join two groups; returns the number of the new one."""
        node = self.n_classes + len(self.pairs)
        self.step_score.append(float(self.score[chosen]))
        self.pairs.append((chosen, partner))
        self.share.append(share)
        self.members[node] = self.members.pop(chosen) + self.members.pop(partner)
        self.node_of_class[self.members[node]] = node
        for array in (self.sizes, self._occupied, self._part):
            array[node] = array[chosen] + array[partner]
        self.active[[chosen, partner]] = False
        self.score[[chosen, partner]] = np.inf
        self.active[node] = True
        self._rescore([node])
        return node

    def relatedness(self, received: Floats) -> Floats:
        """Total reassigned probability that each group receives (equation 2), from that of every class."""
        n_nodes = 2 * self.n_classes - 1
        return np.asarray(np.bincount(self.node_of_class, received, minlength=n_nodes), np.float64)

    def finish(self) -> Merges:
        pairs = np.array(self.pairs, dtype=np.int64).reshape(-1, 2)
        return Merges(pairs, np.array(self.step_score), np.array(self.share))


def _absorb_empty_classes(groups: _Groups, rows: MergeQueries) -> list[int]:
    """Merge every class without points into the class whose points give it most probability on average.

    Nothing is assigned to such a class, so its score is zero and it goes first. Classes that get no probability from
    any point are returned: nothing is known about them, and they join the finished tree at its root.
    """
    empty = np.flatnonzero(groups.assignment.counts == 0)
    if len(empty) == 0:
        return []
    best, home = np.zeros(len(empty)), np.full(len(empty), -1)
    for c, mean in rows.affinities(groups.assignment, empty):
        better = mean > best
        best[better], home[better] = mean[better], c
    for c, target in zip(empty.tolist(), home.tolist()):
        if target >= 0:
            groups.merge(c, int(groups.node_of_class[target]), np.nan)
    return [int(c) for c in empty[home < 0]]


def _join_unknown_classes(groups: _Groups, unknown: list[int]) -> None:
    """One by one to the group of all others, which is the only one left."""
    top = int(np.flatnonzero(groups.active)[-1])
    groups.active[unknown], groups.score[unknown] = True, 0.0
    for c in unknown:
        top = groups.merge(c, top, np.nan)


def merge_classes(
    assignment: ClassTotals,
    rows: MergeQueries,
    *,
    aggregation: Aggregation = "sum_of_means",
    merging: str = "lowest",
    weights: Floats | None = None,
    progress: ProgressCallback = silent,
) -> Merges:
    """Algorithm 1 (``merging="lowest"``) or the all-pairs variant of appendix C (``"all_pairs"``).

    Parameters
    ----------
    assignment : Assignment, or the sums over one
        First reading of the points.
    rows : MergeQueries
    aggregation : str or callable
        How probabilities become the score of a group.
    weights : float64[n_points], optional
        How often each point counts (bootstrap); every class with points must keep some.
    """
    groups = _Groups(assignment, aggregation, weights)
    unknown = _absorb_empty_classes(groups, rows)
    groups.active[unknown] = False
    groups.score[unknown] = np.inf
    run = _merge_lowest if merging == "lowest" else _merge_all_pairs
    with Stage(progress, "merge", assignment.n_classes - 1) as stage:
        run(groups, rows, weights, stage)
    _join_unknown_classes(groups, unknown)
    return groups.finish()


def _received(groups: _Groups, rows: MergeQueries, node: int, weights: Floats | None) -> Floats:
    """Total reassigned probability every group receives from the points of one."""
    return groups.relatedness(rows.received(groups.assignment, sorted(groups.members[node]), weights))


def _merge_lowest(groups: _Groups, rows: MergeQueries, weights: Floats | None, stage: Stage) -> None:
    n_steps = int(groups.active.sum()) - 1
    for step in range(n_steps):
        # the first of equals: the group that exists longest
        chosen = int(np.argmin(groups.score))
        received = _received(groups, rows, chosen, weights)
        others = groups.active.copy()
        others[chosen] = False
        average = np.where(others, received / groups.sizes, -1.0)
        partner = int(np.argmax(average))
        everything = received.sum()
        groups.merge(chosen, partner, float(received[partner] / everything) if everything > 0 else 0.0)
        stage.update(step + 1)


def _merge_all_pairs(groups: _Groups, rows: MergeQueries, weights: Floats | None, stage: Stage) -> None:
    """Merge, of all ordered pairs of groups, the one with the highest average reassigned probability."""
    n_nodes = 2 * groups.n_classes - 1
    n_steps = int(groups.active.sum()) - 1
    received: dict[int, Floats] = {}
    best_value, best_partner = np.full(n_nodes, -1.0), np.full(n_nodes, -1)

    def find_partner(node: int) -> None:
        others = groups.active.copy()
        others[node] = False
        average = np.where(others, received[node] / groups.sizes, -1.0)
        best_partner[node] = np.argmax(average)
        best_value[node] = average[best_partner[node]]

    for node in np.flatnonzero(groups.active).tolist():
        received[node] = _received(groups, rows, node, weights)
        find_partner(node)
    for step in range(n_steps):
        chosen = int(np.argmax(best_value))
        partner = int(best_partner[chosen])
        everything = received[chosen].sum()
        share = float(received[chosen][partner] / everything) if everything > 0 else 0.0
        node = groups.merge(chosen, partner, share)
        best_value[[chosen, partner]] = -1.0
        del received[chosen], received[partner]
        for other in received:
            row = received[other]
            row[node] = row[chosen] + row[partner]
            row[[chosen, partner]] = 0.0
            if best_partner[other] in (chosen, partner):
                find_partner(other)
            elif row[node] / groups.sizes[node] > best_value[other]:
                best_value[other], best_partner[other] = row[node] / groups.sizes[node], node
        if step + 1 < n_steps:
            received[node] = _received(groups, rows, node, weights)
            find_partner(node)
        stage.update(step + 1)
