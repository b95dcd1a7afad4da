"""Logits in a Dask array: every pass is a sum over its blocks, and the merges are those of the same array in memory.

Only sums travel. The first pass also keeps some points of every class, from which a tree is guessed. The next one asks
all blocks about the groups of that tree at once, and the merging is repeated with what they say. Where that leads to
groups that have not been asked about yet, another pass asks about those, until none is left: the result does not
depend on the guess, only the number of passes does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np

from arbora._base.distributed import Workers, array_of, checked_array, row_blocks, sum_as_tree, workers_for
from arbora._base.exact_sums import joined, rounders
from arbora._base.lazily import mapped_rows
from arbora._base.memory import refuse_if_too_large
from arbora._base.optional import require
from arbora._base.progress import ProgressCallback, Stage, silent
from arbora._base.types import Floats, Ints
from arbora.logits import _block_sums as blocks
from arbora.logits._kept import Kept
from arbora.logits._protocol import Assignment, Merges, Reading
from arbora.logits._rows import affinity_rounders, class_rounder
from arbora.logits._warnings import warn_of_probabilities

# Of the points from which a tree is guessed: how many largest entries are kept of each, and bytes of all of them.
_KEPT_OF_A_POINT = 32
_BYTES_OF_SAMPLE = 1 << 25
# Parts in which sums come to the coordinator, so that progress shows; fewer where they are large.
_MOST_PARTS = 16
_BYTES_AT_ONCE = 1 << 28


@dataclass(frozen=True)
class SummedAssignment:
    """What `Assignment` says of all points, summed by class; of single points only when asked, and lazily."""

    X: Any
    workers: Workers
    reading: Reading
    counts: Ints
    confidence: Floats
    largest: float

    @property
    def n_classes(self) -> int:
        """Number of columns."""
        return len(self.counts)

    def confidence_sums(self, weights: Floats | None = None) -> tuple[Floats, Floats]:
        """As `Assignment.confidence_sums`, without weights."""
        assert weights is None
        return self.confidence, self.counts.astype(np.float64)

    def confidences_of(self, cls: int) -> Floats:
        """As `Assignment.confidences_of`; the confidences of all points are fetched once."""
        return self._points.confidences_of(cls)

    @cached_property
    def _points(self) -> Assignment:
        refuse_if_too_large(
            16 * self.X.shape[0],
            "The confidences of all points, which an aggregation function needs,",
            'Use aggregation="sum_of_means", "sum" or "mean_of_means", which only need their sums.',
        )
        parts = self.workers.gather(row_blocks(self.mapped(np.arange(self.n_classes))[:, None]))
        confidence = self.workers.gather(row_blocks(self.confidences()[:, None]))
        nothing = np.empty(0, np.int32), np.empty(0)
        assigned = np.concatenate(parts)[:, 0].astype(np.int32)
        return Assignment(self.n_classes, assigned, np.concatenate(confidence)[:, 0], *nothing, self.largest)

    def mapped(self, label: Ints) -> Any:
        """Label of the class of each point: a Dask array, computed when asked for."""
        of_class = np.asarray(label, np.int64)
        return mapped_rows([self.X], np.empty(0, np.int64), blocks.assign_block, self.reading, of_class)

    def confidences(self) -> Any:
        """Probability of the class of each point: a Dask array, computed when asked for."""
        return mapped_rows([self.X], np.empty(0), blocks.confidence_of_block, self.reading)


def open_dask(X: Any, reading: Reading, *, with_class_sums: bool) -> tuple[DaskLogits, list[str] | None]:
    """Logits of a Dask array or frame, checked, and the names of its columns."""
    X, names = array_of(X)
    workers = workers_for(X)
    rows = DaskLogits(checked_array(X, workers), workers, reading, with_class_sums=with_class_sums)
    return rows, names


def refuse_bootstrap(n_bootstraps: Any) -> None:
    """Raise where replicates are asked for."""
    if n_bootstraps not in ("auto", 0):
        raise ValueError(
            f"n_bootstraps={n_bootstraps} draws single points again, which needs logits in memory. With a Dask array "
            "use n_bootstraps=0, and fit some of its rows in memory for the support of splits: "
            "L2H().fit(X[rows].compute())."
        )


class DaskLogits:
    """Logits in the blocks of a checked Dask array; answers as `LogitRows`.

    Parameters
    ----------
    X : dask.array.Array
        Checked by `arbora._base.distributed.checked_array`.
    workers : Workers
    reading : Reading
    with_class_sums : bool
        Sum by class in the second pass.
    """

    def __init__(self, X: Any, workers: Workers, reading: Reading, *, with_class_sums: bool = False) -> None:
        self._X, self._workers, self._reading = X, workers, replace(reading, n_threads=1)
        self._with_class_sums = with_class_sums
        # classes that receive probability from a group, and how much
        self._known: dict[tuple[int, ...], tuple[Ints, Floats]] = {}
        self._known_with: list[list[tuple[int, ...]]] = [[] for _ in range(X.shape[1])]
        self._guessed: list[tuple[int, ...]] = []
        self._class_sums: Floats | None = None
        self._empty_sums: Floats | None = None
        self._n_passes = 0
        n_points, n_classes = X.shape
        self._by = rounders(n_points)
        n_kept = min(n_classes, _KEPT_OF_A_POINT)
        n_per_class = max(1, _BYTES_OF_SAMPLE // (n_classes * (8 * n_kept + 24)))
        self._plan = blocks.ScanPlan(self._reading, self._by, n_per_class, n_kept)

    # every answer that the last merging used is exact: `settle` returns False only then
    exact = True
    n_estimated = 0

    @property
    def n_classes(self) -> int:
        """Number of columns."""
        return int(self._X.shape[1])

    @property
    def n_kept(self) -> int:
        """Entries kept of the points from which groups are guessed."""
        return self._plan.n_kept

    @property
    def _can_tell(self) -> bool:
        """Whether there are enough rows and columns to distinguish probabilities from logits."""
        n_points, n_classes = self._X.shape
        return bool(3 <= n_classes < n_points)

    # ---- passes --------------------------------------------------------------------------------------

    def scan(self, progress: ProgressCallback = silent) -> SummedAssignment:
        """The first pass."""
        starts = np.concatenate([[0], np.cumsum(self._X.chunks[0])]).tolist()
        plan = require("dask", "A Dask array").delayed(self._plan, traverse=False)
        n_bytes = _BYTES_OF_SAMPLE + 24 * min(self._X.shape[1] ** 2, max(self._X.chunks[0]))
        scan: blocks.BlockScan = self._summed(
            lambda delayed: [
                delayed(blocks.scan_block)(block, first, plan)
                for block, first in zip(row_blocks(self._X), starts)
            ],
            partial(blocks.join_scans, plan=self._plan),
            n_bytes,
            progress,
        )
        if scan.is_like_probabilities and not self._reading.from_probabilities and self._can_tell:
            warn_of_probabilities(stacklevel=5)
        found = SummedAssignment(
            self._X, self._workers, self._reading, scan.counts, joined(scan.confidence), scan.largest
        )
        self._know([(c,) for c in range(found.n_classes)], scan.second)
        sample = scan.sample
        self._kept = Kept(found.n_classes, sample.values, sample.classes, sample.tail)
        self._sampled = Assignment(
            found.n_classes, sample.assigned, sample.tail, sample.assigned, sample.tail, scan.largest
        )
        # how many points each of the sample stands for
        self._stands_for = (scan.counts / np.maximum(self._sampled.counts, 1))[sample.assigned]
        return found

    def _know(self, groups: list[tuple[int, ...]], received: blocks.KeyedSums) -> None:
        rows = received.rows(self._X.shape[1])
        nothing = np.empty(0, np.int64), np.empty(0)
        for number, key in enumerate(groups):
            self._known[key] = rows.get(number, nothing)
            for cls in key:
                self._known_with[cls].append(key)

    def settle(
        self, assignment: SummedAssignment, merges: Merges, progress: ProgressCallback, *, every_group: bool
    ) -> bool:
        """Ask all blocks about the groups of `merges` that were guessed; whether there were any."""
        empty = np.flatnonzero((assignment.counts == 0) & (self._empty_sums is None))
        if not self._guessed and len(empty) == 0:
            return False
        wanted, self._guessed = list(dict.fromkeys(self._guessed)), []
        self._ask(assignment, wanted, empty, progress)
        return True

    def _ask(
        self,
        assignment: SummedAssignment,
        groups: list[tuple[int, ...]],
        empty: Ints,
        progress: ProgressCallback,
    ) -> None:
        n = assignment.n_classes
        with_class_sums = self._with_class_sums and self._class_sums is None
        asked = blocks.Questions(
            self._reading,
            [np.array(group, np.int64) for group in groups],
            self._by,
            class_rounder(assignment) if with_class_sums else None,
            empty,
            affinity_rounders(self._X.shape[0]),
        )
        questions = require("dask", "A Dask array").delayed(asked, traverse=False)
        n_bytes = 8 * n * n * with_class_sums + 32 * n * len(empty) + 24 * n * min(n, 64)
        answers: blocks.Answers = self._summed(
            lambda delayed: [delayed(blocks.answer_block)(block, questions) for block in row_blocks(self._X)],
            blocks.join_answers,
            n_bytes,
            progress,
        )
        self._know(groups, answers.received)
        if answers.class_sums is not None:
            self._class_sums = answers.class_sums
        if len(empty):
            self._empty_sums = joined(answers.empty_sums)

    def _summed(
        self,
        tasks_of: Callable[[Any], list[Any]],
        join: Callable[[list[Any]], Any],
        n_bytes: int,
        progress: ProgressCallback,
    ) -> Any:
        """Sum of one task per block, in parts that the coordinator joins as they are of `n_bytes` each."""
        self._n_passes += 1
        tasks = tasks_of(require("dask", "A Dask array").delayed)
        n_parts = max(1, min(_MOST_PARTS, len(tasks), _BYTES_AT_ONCE // max(1, n_bytes)))
        bounds = np.linspace(0, len(tasks), n_parts + 1).astype(int)
        parts = [sum_as_tree(tasks[first:last], join) for first, last in pairwise(bounds)]
        with Stage(progress, f"pass {self._n_passes}", self._X.shape[0]) as stage:
            return join(self._workers.gather(parts, stage))

    # ---- answers for the merging ---------------------------------------------------------------------

    def received(
        self, assignment: SummedAssignment, classes: Sequence[int], weights: Floats | None = None
    ) -> Floats:
        """As `MergeQueries.received`: exact where blocks were asked about the group, otherwise a guess."""
        key = tuple(classes)
        if key in self._known:
            return self._exact(key)
        self._guessed.append(key)
        guess = self._sample_says(key)
        # what the sample gets wrong for the parts of a group it gets wrong for the group as well
        for part in self._known_parts(key):
            guess += self._exact(part) - self._sample_says(part)
        guess[list(key)] = 0.0
        return np.maximum(guess, 0.0)

    def _exact(self, key: tuple[int, ...]) -> Floats:
        return np.asarray(np.bincount(*self._known[key], minlength=self.n_classes), dtype=np.float64)

    def _sample_says(self, key: tuple[int, ...]) -> Floats:
        points = self._sampled.points_of(key)
        reassigned, probability = self._kept.reassign(points, np.array(key))
        weight = probability * self._stands_for[points]
        return np.asarray(np.bincount(reassigned, weight, self.n_classes), dtype=np.float64)

    def _known_parts(self, key: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        """Groups that blocks were asked about, and that a group consists of: each time the largest that fits."""
        left = set(key)
        while left:
            found = [part for part in self._known_with[min(left)] if left.issuperset(part)]
            largest = max(found, key=len)
            left.difference_update(largest)
            yield largest

    def affinities(self, assignment: SummedAssignment, empty: Ints) -> Iterator[tuple[int, Floats]]:
        """As `MergeQueries.affinities`; a guess until a pass has summed them."""
        sums, counts = self._empty_sums, assignment.counts
        if sums is None:
            sums, counts = self._kept.affinity_sums(self._sampled.assigned, empty), self._sampled.counts
        for c in np.flatnonzero(counts).tolist():
            yield c, sums[c] / counts[c]

    def class_sums(self, assignment: SummedAssignment, weights: Floats | None = None) -> Floats:
        """As `LogitRows.class_sums`, without weights."""
        assert weights is None
        if self._class_sums is None:
            self._with_class_sums = True
            self._ask(assignment, [], np.empty(0, np.int64), silent)
        assert self._class_sums is not None
        return self._class_sums
