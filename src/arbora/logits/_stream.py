"""Logits that do not fit memory: at most two passes, and whether the result is exact.

The first pass keeps, of every point, its largest probabilities and the sum of the others: enough to propose a tree.
The second reads every point again through all groups of that tree at once (in leaf order a group is a slice, so
what is outside it is a prefix and a suffix). The merging is then repeated with those exact figures; a group that
the proposal did not have is estimated from what was kept, and counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora._base.progress import ProgressCallback, Stage, silent
from arbora._base.rows import Rows
from arbora._base.types import Floats, Ints
from arbora.logits import _stream_kernels as kernels
from arbora.logits._kept import Kept
from arbora.logits._protocol import Assignment, Merges, PointQueries, Reading
from arbora.logits._rows import ArrayRows
from arbora.tree import Tree

_KEPT_AT_FIRST = 128
_KEPT_AT_LEAST = 8


class StreamedLogits(PointQueries):
    """Logits read chunk by chunk.

    Parameters
    ----------
    source : Rows
    reading : Reading
    max_memory : int
        Bytes that may be kept of the points.
    with_class_sums : bool
        Prepare `class_sums` in the first pass.
    begun : iterator of arrays, optional
        A first pass that has begun already.
    """

    def __init__(
        self,
        source: Rows,
        reading: Reading,
        max_memory: int,
        *,
        with_class_sums: bool = False,
        begun: Iterator[NDArray[Any]] | None = None,
    ) -> None:
        self._source, self._reading, self._max_memory = source, reading, max_memory
        self._with_class_sums, self._begun = with_class_sums, begun
        self._known: dict[tuple[int, ...], tuple[NDArray[np.int32], Floats]] = {}
        self._exact_affinity: Floats | None = None
        self._n_estimated = 0
        self._is_settled = False
        self._n_classes = source.shape[1]
        self._class_sums = np.zeros((self._n_classes, self._n_classes) if with_class_sums else (0, 0))

    @property
    def exact(self) -> bool:
        """Whether every answer since the last pass was exact: known from that pass, or nothing was left out."""
        return self._n_estimated == 0 or self.n_kept == self._n_classes

    @property
    def n_estimated(self) -> int:
        """Answers since the last pass that rest on what was kept."""
        return self._n_estimated

    @property
    def n_kept(self) -> int:
        """Entries kept of each row."""
        return int(self._kept.values.shape[1])

    def _pass(self) -> Iterator[ArrayRows]:
        begun, self._begun = self._begun, None
        chunks = begun if begun is not None else (chunk for _, chunk in self._source.chunks())
        for chunk in chunks:
            if len(chunk):
                yield ArrayRows(chunk, self._reading)

    # ---- first pass ----------------------------------------------------------------------------------

    def scan(self, progress: ProgressCallback = silent) -> Assignment:
        """Read every row, keeping its largest entries."""
        parts: list[Assignment] = []
        kept: list[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]] = []
        n_done, n_kept = 0, self._first_n_kept()
        with Stage(progress, "first pass", self._source.shape[0]) as stage:
            for rows in self._pass():
                parts.append(rows.scan(first_row=n_done))
                kept.append(rows.largest(n_kept))
                if self._with_class_sums:
                    self._class_sums += rows.class_sums(parts[-1])
                n_done += rows.n_points
                while n_kept > _KEPT_AT_LEAST and n_done * n_kept * 8 > self._max_memory:
                    n_kept = max(_KEPT_AT_LEAST, n_kept // 2)
                    kept = [_keep_fewer(*entry, n_kept) for entry in kept]
                stage.update(n_done)
        if not parts:
            raise ValueError("X must not be empty. It has 0 sample(s): no chunk of logits has a row.")
        self._kept = Kept(self._n_classes, *(np.concatenate([entry[k] for entry in kept]) for k in range(3)))
        fields = ("assigned", "confidence", "second", "second_confidence")
        joined = {name: np.concatenate([getattr(part, name) for part in parts]) for name in fields}
        return Assignment(self._n_classes, **joined, largest=max(part.largest for part in parts))

    def _first_n_kept(self) -> int:
        n_points = self._source.shape[0]
        if n_points:
            affordable = self._max_memory // (8 * n_points)
            return min(self._n_classes, max(_KEPT_AT_LEAST, int(affordable)))
        return min(self._n_classes, _KEPT_AT_FIRST)

    # ---- answers for the merging ---------------------------------------------------------------------

    def reassign(self, points: Ints, classes: Ints) -> tuple[NDArray[np.int32], Floats]:
        """As `PointQueries.reassign`: exact for groups of the second pass, otherwise estimated."""
        known = self._known.get(tuple(classes.tolist()))
        if known is not None:
            return known
        self._n_estimated += 1
        return self._kept.reassign(points, classes)

    def affinities(self, assignment: Assignment, empty: Ints) -> Iterator[tuple[int, Floats]]:
        """As `MergeQueries.affinities`; from what was kept until the second pass has summed them."""
        sums = self._exact_affinity
        if sums is None:
            sums = self._kept.affinity_sums(assignment.assigned, empty)
        for c in np.flatnonzero(assignment.counts).tolist():
            yield c, sums[c] / assignment.counts[c]

    def class_sums(self, assignment: Assignment, weights: Floats | None = None) -> Floats:
        """As `LogitRows.class_sums`; without weights summed in the first pass, with weights by another one."""
        if weights is None:
            if not self._with_class_sums:
                raise RuntimeError("A stream sums by class only if it was opened with with_class_sums=True.")
            return self._class_sums
        sums = np.zeros((self._n_classes, self._n_classes))
        n_done = 0
        for rows in self._pass():
            place = slice(n_done, n_done + rows.n_points)
            sums += rows.class_sums(assignment.part(place), weights[place])
            n_done += rows.n_points
        return sums

    # ---- second pass ---------------------------------------------------------------------------------

    def settle(
        self, assignment: Assignment, merges: Merges, progress: ProgressCallback, *, every_group: bool
    ) -> bool:
        """Read everything once more, if that is needed and possible, to know the groups of `merges` exactly."""
        if self.exact or self._is_settled or not self._source.is_repeatable:
            return False
        self._is_settled = True
        paths = _Paths(assignment, merges, every_group)
        empty = np.flatnonzero(assignment.counts == 0)
        affinity = np.zeros((self._n_classes, len(empty)))
        seen = np.zeros(self._n_classes, np.int64)
        n_done = 0
        with Stage(progress, "second pass", len(assignment.assigned)) as stage:
            for rows in self._pass():
                assigned = assignment.assigned[n_done : n_done + rows.n_points]
                paths.read(rows, assigned, seen)
                if len(empty):
                    _add_columns(rows, assigned, empty, affinity)
                n_done += rows.n_points
                stage.update(n_done)
        self._known = paths.results()
        self._exact_affinity = affinity
        self._n_estimated = 0
        return True


class _Paths:
    """For every class the groups it is in when they are chosen for merging, as slices of the leaf order."""

    def __init__(self, assignment: Assignment, merges: Merges, every_group: bool) -> None:
        n = assignment.n_classes
        asked = merges.pairs if every_group else merges.pairs[:, :1]
        tree = Tree.from_merges(merges.pairs, n)
        self._class_at = tree.leaf_order
        # class, low, high, base
        entries: list[tuple[int, int, int, int]] = []
        self._groups: list[tuple[tuple[int, ...], list[tuple[int, int, int]]]] = []
        base = 0
        for v in asked.ravel().tolist():
            if v < n:
                continue
            low, high = int(tree.leaf_start[v]), int(tree.leaf_start[v] + tree.sizes[v])
            parts = []
            for c in tree.leaves(v).tolist():
                entries.append((c, low, high, base))
                parts.append((c, base, base + int(assignment.counts[c])))
                base += int(assignment.counts[c])
            self._groups.append((tuple(sorted(tree.leaves(v).tolist())), parts))
        table = np.array(sorted(entries), dtype=np.int64).reshape(-1, 4)
        offsets = np.searchsorted(table[:, 0], np.arange(n + 1))
        self._slices = (offsets, *(np.ascontiguousarray(table[:, k]) for k in (1, 2, 3)))
        self._reassigned, self._probability = np.zeros(base, np.int32), np.zeros(base)

    def read(self, rows: ArrayRows, assigned: NDArray[np.int32], seen: Ints) -> None:
        """Fill in the results of one chunk."""
        n = rows.n_classes
        rank = np.empty(len(assigned), np.int64)
        kernels.rank_within_class(assigned, seen, rank)

        def job(start: int, stop: int) -> None:
            kernels.reexamine_rows(
                *rows.stored, start, stop, *rows.buffers(), np.empty(n), np.empty(n, np.int64), assigned, rank,
                self._class_at, *self._slices,
                np.empty(n + 1), np.empty(n + 1, np.int64), np.empty(n + 1), np.empty(n + 1, np.int64),
                self._reassigned, self._probability,
            )  # fmt: skip

        rows.run(job, 0, rows.n_points)

    def results(self) -> dict[tuple[int, ...], tuple[NDArray[np.int32], Floats]]:
        """Per group, the reassignment of its points, class by class."""
        found = {}
        for key, parts in self._groups:
            slots = np.concatenate([np.arange(first, last) for _, first, last in sorted(parts)])
            found[key] = (self._reassigned[slots], self._probability[slots])
        return found


def _keep_fewer(
    kept: NDArray[Any], kept_class: NDArray[Any], tail: Floats, m: int
) -> tuple[NDArray[Any], NDArray[Any], Floats]:
    dropped = np.exp(kept[:, m:], dtype=np.float64).sum(axis=1)
    return kept[:, :m].copy(), kept_class[:, :m].copy(), tail + dropped


def _add_columns(rows: ArrayRows, assigned: NDArray[np.int32], columns: Ints, sums: Floats) -> None:
    out = rows.probabilities(columns)
    order = np.argsort(assigned, kind="stable")
    classes, first = np.unique(assigned[order], return_index=True)
    sums[classes] += np.add.reduceat(out[order], first, axis=0)
