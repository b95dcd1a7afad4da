"""Rows of logits that can be read in any order: arrays in memory and files mapped into it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora._base.exact_sums import joined, rounders
from arbora._base.progress import ProgressCallback, Stage, silent
from arbora._base.threads import share_out
from arbora._base.types import Floats, Ints
from arbora.logits import _kernels as kernels
from arbora.logits import _row_kernels as row_kernels
from arbora.logits import _stream_kernels as stream_kernels
from arbora.logits._numbers import kernel_array
from arbora.logits._protocol import Assignment, ClassTotals, Merges, PointQueries, Reading

# Below this many numbers a second thread costs more than it saves.
_NUMBERS_WORTH_A_THREAD = 200_000
_NUMBERS_PER_REPORT = 1 << 26

_PROBLEMS = {
    row_kernels.NOT_FINITE: "Input X contains NaN or infinity (first in row {row}). L2H needs finite logits: replace "
    "-inf by a large negative number, or pass probabilities with from_probabilities=True.",
    row_kernels.NEGATIVE: "Input X contains negative values (first in row {row}), but from_probabilities=True was "
    "given. Pass probabilities, or logits with from_probabilities=False.",
    row_kernels.ALL_ZERO: "Row {row} of X has no positive probability. With from_probabilities=True every row "
    "needs one.",
}


# Logits up to here can be summed over all points there may be.
_LARGEST_SUMMED = 1e290
# Levels in which the probabilities of classes without points are summed: they can be very small.
_AFFINITY_LEVELS = 4


def affinity_rounders(n_points: int) -> Floats:
    """What makes sums over points of small probabilities exact; below 2**-120 or so they count as 0."""
    return rounders(n_points, n_levels=_AFFINITY_LEVELS)


def class_rounder(assignment: ClassTotals) -> float:
    """What makes the sums of centered logits over the points of a class exact."""
    if assignment.largest > _LARGEST_SUMMED:
        raise ValueError(
            f"Input X contains logits as large as {assignment.largest:.3g}, whose sums over points are no numbers. "
            "Divide X by its largest value."
        )
    # a logit is at most as far from the mean as any two are apart
    return float(rounders(int(assignment.counts.max()), 2 * assignment.largest, n_levels=1)[0])


class ArrayRows(PointQueries):
    """An (n_points, n_classes) array whose rows are read where they are.

    Parameters
    ----------
    array : ndarray or tensor
        Copied only where the kernels cannot read it.
    reading : Reading
    """

    exact = True
    n_estimated = 0

    def __init__(self, array: Any, reading: Reading | None = None) -> None:
        reading = Reading() if reading is None else reading
        self.array, self.code = kernel_array(array)
        self.mode = row_kernels.PROBABILITIES if reading.from_probabilities else row_kernels.LOGITS
        self.work_dtype = np.dtype(np.float64 if self.array.dtype == np.float64 else np.float32)
        self.sharpness = self.work_dtype.type(1.0 / reading.temperature)
        self.n_threads = reading.n_threads

    @property
    def n_points(self) -> int:
        """Number of rows."""
        return int(self.array.shape[0])

    @property
    def n_classes(self) -> int:
        """Number of columns."""
        return int(self.array.shape[1])

    @property
    def n_kept(self) -> int:
        """All numbers of a row are there."""
        return self.n_classes

    def slice(self, start: int, stop: int) -> ArrayRows:
        """Some of the rows."""
        part = copy(self)
        part.array = self.array[start:stop]
        return part

    def take(self, points: Ints) -> ArrayRows:
        """Some of the rows, copied."""
        part = copy(self)
        part.array = self.array[points]
        return part

    # ---- kernels -------------------------------------------------------------------------------------

    @property
    def stored(self) -> tuple[NDArray[Any], int, int, Any]:
        """First arguments of every kernel: the numbers and how to read them."""
        return self.array, self.code, self.mode, self.sharpness

    def buffers(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Scratch for one row and for its bits, one pair per thread."""
        bits = np.int64 if self.work_dtype == np.float64 else np.int32
        return np.empty(self.n_classes, self.work_dtype), np.empty(self.n_classes, bits)

    def run(self, job: Callable[[int, int], None], first: int, last: int) -> None:
        """`job(start, stop)` over first..last-1, shared among threads (kernels release the interpreter's lock)."""
        wanted = max(1, (last - first) * self.n_classes // _NUMBERS_WORTH_A_THREAD)
        share_out(lambda a, b: job(first + a, first + b), last - first, min(self.n_threads, wanted))

    # ---- what merging asks ---------------------------------------------------------------------------

    def scan(self, progress: ProgressCallback = silent, *, first_row: int = 0) -> Assignment:
        """First reading of every row; ValueError at a row that cannot be used (counted from `first_row`)."""
        n = self.n_points
        assigned, second = np.empty(n, np.int32), np.empty(n, np.int32)
        confidence, second_confidence = np.empty(n), np.empty(n)
        problems: list[tuple[int, int]] = []
        magnitudes = [0.0]

        def job(start: int, stop: int) -> None:
            problem, row, magnitude = kernels.scan_rows(
                *self.stored, start, stop, *self.buffers(), assigned, confidence, second, second_confidence
            )
            magnitudes.append(magnitude)
            if problem != row_kernels.OK:
                problems.append((row, problem))

        block = max(1, _NUMBERS_PER_REPORT // self.n_classes)
        with Stage(progress, "scan", n) as stage:
            for start, stop in pairwise([*range(0, n, block), n]):
                self.run(job, start, stop)
                if problems:
                    row, problem = min(problems)
                    raise ValueError(_PROBLEMS[problem].format(row=first_row + row))
                stage.update(stop)
        largest = max(magnitudes)
        if self.mode == row_kernels.PROBABILITIES:
            largest = row_kernels.LARGEST_LOGARITHM * float(self.sharpness)
        return Assignment(self.n_classes, assigned, confidence, second, second_confidence, largest)

    def reassign(self, points: Ints, classes: Ints) -> tuple[NDArray[np.int32], Floats]:
        """As `PointQueries.reassign`; the points may be any."""
        penalty = np.zeros(self.n_classes, self.work_dtype)
        penalty[classes] = row_kernels.EXCLUDED
        reassigned, probability = np.empty(len(points), np.int32), np.empty(len(points))

        def job(start: int, stop: int) -> None:
            kernels.reassign_rows(
                *self.stored, points, start, stop, penalty, *self.buffers(), reassigned, probability
            )

        self.run(job, 0, len(points))
        return reassigned, probability

    def affinities(self, assignment: Assignment, empty: Ints) -> Iterator[tuple[int, Floats]]:
        """As `MergeQueries.affinities`."""
        by = affinity_rounders(self.n_points)
        for c in np.flatnonzero(assignment.counts).tolist():
            yield c, joined(self.column_sums(assignment.points_of([c]), empty, by)) / assignment.counts[c]

    def column_sums(self, points: Ints, columns: Ints, by: Floats) -> Floats:
        """Sum of the probabilities that points give some classes, in the levels of `exact_sums` that `by` makes."""
        sums = np.zeros((len(by), len(columns)))
        kernels.sum_columns(*self.stored, points, 0, len(points), columns, *self.buffers(), by, sums)
        return sums

    def settle(
        self, assignment: Assignment, merges: Merges, progress: ProgressCallback, *, every_group: bool
    ) -> bool:
        """Nothing to do: all answers are exact."""
        return False

    def class_sums(self, assignment: Assignment, weights: Floats | None = None) -> Floats:
        """As `LogitRows.class_sums`."""
        return self.rounded_class_sums(assignment, class_rounder(assignment), weights)

    def rounded_class_sums(
        self, assignment: Assignment, rounder: float, weights: Floats | None = None
    ) -> Floats:
        """`class_sums` of rows that are part of others, whose `class_rounder` is given: they add up exactly."""
        return self._summed_by_class(kernels.sum_by_class, assignment, weights, rounder)

    # ---- probabilities -------------------------------------------------------------------------------

    def probability_sums(self, assignment: Assignment) -> Floats:
        """Sum of the probabilities that the points assigned to each class give every class."""
        return self._summed_by_class(kernels.sum_probabilities_by_class, assignment, None)

    def _summed_by_class(
        self, kernel: Callable[..., None], assignment: Assignment, weights: Floats | None, *options: float
    ) -> Floats:
        sums = np.zeros((self.n_classes, self.n_classes))
        weight = np.ones(self.n_points) if weights is None else weights
        points = (assignment.order, assignment.offsets, weight)

        # each class has its own row in the sums: threads never collide
        def job(start: int, stop: int) -> None:
            kernel(*self.stored, *points, start, stop, *self.buffers(), sums, *options)

        share_out(job, self.n_classes, self.n_threads)
        return sums

    def probabilities(self, columns: Ints | None = None) -> Floats:
        """Probability of the given classes, or of all, for each point; rows must have been scanned."""
        columns = np.arange(self.n_classes) if columns is None else columns
        out = np.empty((self.n_points, len(columns)))

        def job(start: int, stop: int) -> None:
            stream_kernels.column_probabilities(*self.stored, start, stop, *self.buffers(), columns, out)

        self.run(job, 0, self.n_points)
        return out

    def largest(self, m: int) -> tuple[NDArray[np.float32], NDArray[Any], Floats]:
        """The m largest entries of each row as log-weights relative to the largest, their classes, and the sum of the
        other weights.
        """
        kept = np.empty((self.n_points, m), np.float32)
        kept_class = np.empty((self.n_points, m), np.uint16 if self.n_classes <= 1 << 16 else np.int32)
        tail = np.empty(self.n_points)

        def job(start: int, stop: int) -> None:
            stream_kernels.keep_largest(
                *self.stored, start, stop, *self.buffers(),
                np.empty(m, self.work_dtype), np.empty(m, np.int64), kept, kept_class, tail,
            )  # fmt: skip

        self.run(job, 0, self.n_points)
        return kept, kept_class, tail
