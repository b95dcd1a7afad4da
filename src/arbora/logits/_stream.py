"""Logits that do not fit memory: at most two passes, and whether the result is exact.

The first pass keeps, of every point, its largest probabilities and the sum of the others: enough to propose a tree.
The second looks at every point again through all groups of that tree at once (in leaf order a group is a slice, so
what is outside it is a prefix and a suffix). The merging is then repeated with those exact figures; a group that
the proposal did not have is judged by what was kept, and counted.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora.logits import _stream_kernels as kernels
from arbora.logits._merge import Merges
from arbora.logits._rows import Assignment, Progress, Rows, silent
from arbora.logits.sources import Batches, kernel_array, open_batches, sliced
from arbora.tree import Tree

_KEPT_AT_FIRST = 128
_KEPT_AT_LEAST = 8


def open_rows(X: Any, *, max_memory: int, **settings: Any) -> Rows | StreamedRows:
    """Rows of X that can be looked at in any order if they fit `max_memory` bytes, otherwise streamed.

    An array already in memory is used where it lies, whatever its size.
    """
    opened = open_batches(X)
    if isinstance(opened, np.ndarray) and opened.nbytes <= max_memory:
        return _whole([_checked_matrix(opened, "The file")], settings)
    source = sliced([opened]) if isinstance(opened, np.ndarray) else opened
    if source.n_bytes is not None and source.n_bytes > max_memory:
        return StreamedRows(source, max_memory, settings)
    read = source.open()
    collected: list[Any] = []
    size = 0
    for batch in read:
        collected.append(batch)
        size += _n_bytes(batch)
        if size > max_memory:
            return StreamedRows(source, max_memory, settings, begun=itertools.chain(collected, read))
    return _whole(_checked_batches(collected), settings)


def _n_bytes(batch: Any) -> int:
    given = getattr(batch, "nbytes", None)
    return int(np.asarray(batch).nbytes if given is None else given)


def _checked_matrix(array: Any, what: str) -> Any:
    if getattr(array, "ndim", None) is None:
        array = np.asarray(array)
    if array.ndim != 2 or array.shape[1] == 0:
        raise ValueError(f"{what} must be two-dimensional (points, classes). Got shape {tuple(array.shape)}.")
    return array


def _checked_batches(batches: Any) -> Iterator[Any]:
    """Batches with rows, all with the same number of classes."""
    n_classes = None
    for number, batch in enumerate(batches):
        matrix = _checked_matrix(batch, f"Batch {number}")
        if n_classes is None:
            n_classes = matrix.shape[1]
        if matrix.shape[1] != n_classes:
            raise ValueError(f"Batch {number} has {matrix.shape[1]} classes, the first one {n_classes}.")
        if matrix.shape[0]:
            yield matrix


def _whole(batches: Any, settings: dict[str, Any]) -> Rows:
    parts = [kernel_array(batch) for batch in batches]
    if not parts:
        raise ValueError("Found array with 0 sample(s): no batch of logits has a row.")
    if len(parts) == 1:
        return Rows(*parts[0], **settings)
    if len({(array.dtype, code) for array, code in parts}) > 1:
        raise ValueError("Batches of logits must all have the same dtype.")
    return Rows(np.concatenate([array for array, _ in parts]), parts[0][1], **settings)


class StreamedRows:
    """Logits read batch by batch; offers what `Rows` offers to the merging.

    Parameters
    ----------
    source : Batches
    max_memory : int
        Bytes that may be kept of the points.
    settings : dict
        `from_probabilities`, `temperature`, `n_threads` as in `Rows`.
    begun : iterator, optional
        A first pass that has begun already.
    """

    def __init__(
        self, source: Batches, max_memory: int, settings: dict[str, Any], begun: Iterator[Any] | None = None
    ) -> None:
        self.source, self.max_memory, self.settings = source, max_memory, settings
        self._begun = begun
        self._known: dict[tuple[int, ...], tuple[NDArray[np.int32], NDArray[np.float64]]] = {}
        self._exact_affinity: NDArray[np.float64] | None = None
        self.n_estimated = 0
        self.sums_by_class = False
        self._class_sums: NDArray[np.float64] = np.zeros((0, 0))

    @property
    def exact(self) -> bool:
        """Whether every answer since the last `forget_estimates` was exact."""
        return self.n_estimated == 0 or self._kept.shape[1] == self.n_classes

    @property
    def n_kept(self) -> int:
        """Entries kept of each row."""
        return self._kept.shape[1]

    def _pass(self) -> Iterator[Rows]:
        begun, self._begun = self._begun, None
        batches = begun if begun is not None else self.source.open()
        for batch in _checked_batches(batches):
            yield Rows(*kernel_array(batch), **self.settings)

    # ---- first pass ----------------------------------------------------------------------------------

    def scan(self, progress: Progress = silent) -> Assignment:
        """First look at every row, keeping the largest entries of each; sums logits by class where asked to."""
        looks: list[Assignment] = []
        kept: list[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]] = []
        n_done, n_kept = 0, 0
        for rows in self._pass():
            looks.append(rows.scan(first_row=n_done))
            n_kept = n_kept or self._first_n_kept(rows.n_classes)
            kept.append(_keep_largest(rows, n_kept))
            if self.sums_by_class:
                sums = rows.class_sums(looks[-1])
                self._class_sums = sums + self._class_sums if n_done else sums
            n_done += rows.n_points
            while n_kept > _KEPT_AT_LEAST and n_done * n_kept * 8 > self.max_memory:
                n_kept = max(_KEPT_AT_LEAST, n_kept // 2)
                kept = [_keep_fewer(*part, n_kept) for part in kept]
            progress("first pass", n_done, self.source.n_points or 0)
        if not looks:
            raise ValueError("Found array with 0 sample(s): no batch of logits has a row.")
        self.n_classes = looks[0].n_classes
        self._kept, self._kept_class, self._tail = (
            np.concatenate([part[k] for part in kept]) for k in range(3)
        )
        fields = ("assigned", "confidence", "second", "second_confidence")
        return Assignment(
            self.n_classes, *(np.concatenate([getattr(look, name) for look in looks]) for name in fields)
        )

    def _first_n_kept(self, n_classes: int) -> int:
        if self.source.n_points:
            affordable = self.max_memory // (8 * self.source.n_points)
            return min(n_classes, max(_KEPT_AT_LEAST, int(affordable)))
        return min(n_classes, _KEPT_AT_FIRST)

    # ---- answers for the merging ---------------------------------------------------------------------

    def reassign(
        self, points: NDArray[np.int64], classes: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """As `Rows.reassign`: exact for groups looked at in the second pass, otherwise estimated."""
        known = self._known.get(tuple(classes.tolist()))
        if known is not None:
            return known
        self.n_estimated += 1
        excluded = np.zeros(self.n_classes, np.bool_)
        excluded[classes] = True
        reassigned, probability = np.empty(len(points), np.int32), np.empty(len(points))
        kernels.reassign_kept(
            self._kept, self._kept_class, self._tail, points, 0, len(points), excluded, len(classes),
            reassigned, probability,
        )  # fmt: skip
        return reassigned, probability

    def affinities(
        self, assignment: Assignment, empty: NDArray[np.int64]
    ) -> Iterator[tuple[int, NDArray[np.float64]]]:
        """As `Rows.affinities`; from what was kept until the second pass has summed them."""
        sums = self._exact_affinity
        if sums is None:
            sums = self._kept_affinity(assignment, empty)
        for c in np.flatnonzero(assignment.counts):
            yield int(c), sums[c] / assignment.counts[c]

    def _kept_affinity(self, assignment: Assignment, empty: NDArray[np.int64]) -> NDArray[np.float64]:
        column = np.full(self.n_classes, -1)
        column[empty] = np.arange(len(empty))
        point, slot = np.nonzero(column[self._kept_class] >= 0)
        weight = np.exp(self._kept[point, slot], dtype=np.float64)
        whole = np.exp(self._kept, dtype=np.float64).sum(axis=1) + self._tail
        sums = np.zeros((self.n_classes, len(empty)))
        cell = (assignment.assigned[point], column[self._kept_class[point, slot]])
        np.add.at(sums, cell, weight / whole[point])
        return sums

    def class_sums(self, assignment: Assignment) -> NDArray[np.float64]:
        """As `Rows.class_sums`; summed in the first pass."""
        return self._class_sums

    # ---- second pass ---------------------------------------------------------------------------------

    def reexamine(
        self,
        assignment: Assignment,
        merges: Merges,
        progress: Progress = silent,
        *,
        every_group: bool = False,
    ) -> None:
        """Read everything once more to know the groups that merges chose exactly, or every group they made."""
        paths = _Paths(assignment, merges, every_group)
        empty = np.flatnonzero(assignment.counts == 0)
        affinity = np.zeros((self.n_classes, len(empty)))
        seen = np.zeros(self.n_classes, np.int64)
        n_done, n_points = 0, len(assignment.assigned)
        for rows in self._pass():
            if n_done + rows.n_points > n_points:
                raise ValueError("The batches of logits held more rows when read a second time.")
            assigned = assignment.assigned[n_done : n_done + rows.n_points]
            paths.look(rows, assigned, seen)
            if len(empty):
                _add_columns(rows, assigned, empty, affinity)
            n_done += rows.n_points
            progress("second pass", n_done, n_points)
        if n_done != n_points:
            raise ValueError(f"The batches held {n_points} rows when read first, {n_done} the second time.")
        self._known = paths.results()
        self._exact_affinity = affinity
        self.n_estimated = 0


class _Paths:
    """For every class the groups it is in when they are chosen for merging, as slices of the leaf order."""

    def __init__(self, assignment: Assignment, merges: Merges, every_group: bool) -> None:
        n = assignment.n_classes
        asked = merges.pairs if every_group else merges.pairs[:, :1]
        tree = Tree.from_merges(merges.pairs, n)
        chosen = np.array([v for v in asked.ravel().tolist() if v >= n], dtype=np.int64)
        self.class_at = tree.leaf_order
        entries: list[tuple[int, int, int, int]] = []  # class, low, high, base
        self.groups: list[tuple[tuple[int, ...], list[tuple[int, int, int]]]] = []
        base = 0
        for v in chosen.tolist():
            low, high = int(tree.leaf_start[v]), int(tree.leaf_start[v] + tree.sizes[v])
            parts = []
            for c in tree.leaves(v).tolist():
                entries.append((c, low, high, base))
                parts.append((c, base, base + int(assignment.counts[c])))
                base += int(assignment.counts[c])
            self.groups.append((tuple(sorted(tree.leaves(v).tolist())), parts))
        table = np.array(sorted(entries), dtype=np.int64).reshape(-1, 4)
        self.offsets = np.searchsorted(table[:, 0], np.arange(n + 1))
        self.low, self.high, self.base = (np.ascontiguousarray(table[:, k]) for k in (1, 2, 3))
        self.reassigned, self.probability = np.zeros(base, np.int32), np.zeros(base)
        self.assignment = assignment

    def look(self, rows: Rows, assigned: NDArray[np.int32], seen: NDArray[np.int64]) -> None:
        """Fill in the results of one batch."""
        n = rows.n_classes
        rank = np.empty(len(assigned), np.int64)
        kernels.rank_within_class(assigned, seen, rank)

        def job(start: int, stop: int) -> None:
            kernels.reexamine_rows(
                rows.array, rows.code, rows.mode, rows.sharpness, start, stop, *rows._buffers(),
                np.empty(n), np.empty(n, np.int64), assigned, rank, self.class_at,
                self.offsets, self.low, self.high, self.base,
                np.empty(n + 1), np.empty(n + 1, np.int64), np.empty(n + 1), np.empty(n + 1, np.int64),
                self.reassigned, self.probability,
            )  # fmt: skip

        rows._run(job, 0, rows.n_points)

    def results(self) -> dict[tuple[int, ...], tuple[NDArray[np.int32], NDArray[np.float64]]]:
        """Per group, the reassignment of its points, class by class."""
        found = {}
        for key, parts in self.groups:
            slots = np.concatenate([np.arange(first, last) for _, first, last in sorted(parts)])
            found[key] = (self.reassigned[slots], self.probability[slots])
        return found


def _keep_largest(rows: Rows, m: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    kept = np.empty((rows.n_points, m), np.float32)
    kept_class = np.empty((rows.n_points, m), np.uint16 if rows.n_classes <= 1 << 16 else np.int32)
    tail = np.empty(rows.n_points)

    def job(start: int, stop: int) -> None:
        kernels.keep_largest(
            rows.array, rows.code, rows.mode, rows.sharpness, start, stop, *rows._buffers(),
            np.empty(m, rows.work_dtype), np.empty(m, np.int64), kept, kept_class, tail,
        )  # fmt: skip

    rows._run(job, 0, rows.n_points)
    return kept, kept_class, tail


def _keep_fewer(
    kept: NDArray[Any], kept_class: NDArray[Any], tail: NDArray[Any], m: int
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    dropped = np.exp(kept[:, m:], dtype=np.float64).sum(axis=1)
    return kept[:, :m].copy(), kept_class[:, :m].copy(), tail + dropped


def _add_columns(
    rows: Rows, assigned: NDArray[np.int32], columns: NDArray[np.int64], sums: NDArray[np.float64]
) -> None:
    out = np.empty((rows.n_points, len(columns)), np.float64)

    def job(start: int, stop: int) -> None:
        kernels.column_probabilities(
            rows.array, rows.code, rows.mode, rows.sharpness, start, stop, *rows._buffers(), columns, out
        )

    rows._run(job, 0, rows.n_points)
    order = np.argsort(assigned, kind="stable")
    classes, first = np.unique(assigned[order], return_index=True)
    sums[classes] += np.add.reduceat(out[order], first, axis=0)
