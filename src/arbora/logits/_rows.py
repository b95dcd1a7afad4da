"""Rows of logits that can be looked at in any order: arrays in memory and memory-mapped files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora.logits import _kernels as kernels

# Below this many numbers a second thread costs more than it saves.
_NUMBERS_WORTH_A_THREAD = 200_000
_NUMBERS_PER_REPORT = 1 << 26

_PROBLEMS = {
    kernels.NOT_FINITE: "Input X contains NaN or infinity (first in row {row}). L2H needs finite logits: replace "
    "-inf by a large negative number, or pass probabilities with from_probabilities=True.",
    kernels.NEGATIVE: "Input X contains negative values (first in row {row}), but from_probabilities=True was given. "
    "Pass probabilities, or logits with from_probabilities=False.",
    kernels.ALL_ZERO: "Row {row} of X has no positive probability. With from_probabilities=True every row needs one.",
}

Progress = Callable[[str, int, int], None]


def silent(phase: str, done: int, total: int) -> None:
    """Report nothing."""


@dataclass(frozen=True)
class Assignment:
    """What a first look at the logits gives: every point's class and how sure the model is.

    Attributes
    ----------
    n_classes : int
    assigned, second : int32[n_points]
        Best class, and the best one without it.
    confidence, second_confidence : float64[n_points]
        Probability of the best class, and of the second one if the best did not exist.
    """

    n_classes: int
    assigned: NDArray[np.int32]
    confidence: NDArray[np.float64]
    second: NDArray[np.int32]
    second_confidence: NDArray[np.float64]

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """Points of each class."""
        return np.bincount(self.assigned, minlength=self.n_classes)

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """Points sorted by class, by number within a class."""
        return np.argsort(self.assigned, kind="stable")

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Class c owns ``order[offsets[c]:offsets[c + 1]]``."""
        return np.concatenate([[0], np.cumsum(self.counts)])

    def points_of(self, classes: Any) -> NDArray[np.int64]:
        """Points assigned to any of the classes, class by class."""
        if len(classes) == 1:
            return self.order[self.offsets[classes[0]] : self.offsets[classes[0] + 1]]
        return np.concatenate([self.order[self.offsets[c] : self.offsets[c + 1]] for c in classes])


class Rows:
    """An (n_points, n_classes) array whose rows are looked at where they lie.

    Parameters
    ----------
    array : ndarray of float32 or float64, or of uint16 that holds 16-bit floats
    code : int
        How 16-bit storage is read (`_kernels.PLAIN`, `HALF`, `BFLOAT`).
    from_probabilities : bool
    temperature : float
        Logits are divided by it.
    n_threads : int
    """

    exact = True
    sums_by_class = False  # `class_sums` looks again; only a stream must know beforehand

    def __init__(
        self,
        array: NDArray[Any],
        code: int = kernels.PLAIN,
        *,
        from_probabilities: bool = False,
        temperature: float = 1.0,
        n_threads: int = 1,
    ) -> None:
        self.array, self.code = array, code
        self.mode = kernels.PROBABILITIES if from_probabilities else kernels.LOGITS
        self.work_dtype = np.dtype(np.float64 if array.dtype == np.float64 else np.float32)
        self.sharpness = self.work_dtype.type(1.0 / temperature)
        self.n_threads = n_threads

    @property
    def n_points(self) -> int:
        """Number of rows."""
        return self.array.shape[0]

    @property
    def n_classes(self) -> int:
        """Number of columns."""
        return self.array.shape[1]

    def slice(self, start: int, stop: int) -> Rows:
        """Some of the rows."""
        part = copy(self)
        part.array = self.array[start:stop]
        return part

    def _buffers(self) -> tuple[NDArray[Any], NDArray[Any]]:
        bits = np.int64 if self.work_dtype == np.float64 else np.int32
        return np.empty(self.n_classes, self.work_dtype), np.empty(self.n_classes, bits)

    def _spans(self, first: int, last: int) -> list[tuple[int, int]]:
        wanted = max(1, (last - first) * self.n_classes // _NUMBERS_WORTH_A_THREAD)
        edges = np.linspace(first, last, min(self.n_threads, wanted) + 1).astype(np.int64)
        return [(int(a), int(b)) for a, b in pairwise(edges)]

    def _run(self, job: Callable[[int, int], Any], first: int, last: int) -> list[Any]:
        """`job(start, stop)` over first..last-1, shared among threads (kernels release the interpreter's lock)."""
        spans = self._spans(first, last)
        if len(spans) == 1:
            return [job(*spans[0])]
        with ThreadPoolExecutor(len(spans)) as pool:
            return list(pool.map(lambda span: job(*span), spans))

    def scan(self, progress: Progress = silent, *, first_row: int = 0) -> Assignment:
        """First look at every row; raises ValueError at a row that cannot be used (counted from `first_row`)."""
        n = self.n_points
        assigned, second = np.empty(n, np.int32), np.empty(n, np.int32)
        confidence, second_confidence = np.empty(n), np.empty(n)

        def job(start: int, stop: int) -> tuple[int, int]:
            return kernels.scan_rows(
                self.array, self.code, self.mode, self.sharpness, start, stop, *self._buffers(),
                assigned, confidence, second, second_confidence,
            )  # fmt: skip

        block = max(1, _NUMBERS_PER_REPORT // self.n_classes)
        for start in range(0, n, block):
            stop = min(n, start + block)
            for problem, row in self._run(job, start, stop):
                if problem != kernels.OK:
                    raise ValueError(_PROBLEMS[problem].format(row=first_row + row))
            progress("scan", stop, n)
        return Assignment(self.n_classes, assigned, confidence, second, second_confidence)

    def reassign(
        self, points: NDArray[np.int64], classes: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Best class outside `classes` of each point, and its probability among those outside."""
        penalty = np.zeros(self.n_classes, self.work_dtype)
        penalty[classes] = kernels.EXCLUDED
        reassigned, probability = np.empty(len(points), np.int32), np.empty(len(points))

        def job(start: int, stop: int) -> None:
            kernels.reassign_rows(
                self.array, self.code, self.mode, self.sharpness, points, start, stop, penalty,
                *self._buffers(), reassigned, probability,
            )  # fmt: skip

        self._run(job, 0, len(points))
        return reassigned, probability

    def mean_probability(self, points: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
        """Mean softmax probability of each column over the points."""

        def job(start: int, stop: int) -> NDArray[np.float64]:
            sums = np.zeros(len(columns))
            kernels.sum_columns(
                self.array, self.code, self.mode, self.sharpness, points, start, stop, columns,
                *self._buffers(), sums,
            )  # fmt: skip
            return sums

        return np.sum(self._run(job, 0, len(points)), axis=0) / max(1, len(points))

    def class_sums(self, assignment: Assignment) -> NDArray[np.float64]:
        """Sum of the centered logits of each class's points: float64[n_classes, n_classes]."""
        sums = np.zeros((self.n_classes, self.n_classes))

        def job(start: int, stop: int) -> None:
            kernels.sum_by_class(
                self.array, self.code, self.mode, self.sharpness, assignment.order, assignment.offsets,
                start, stop, *self._buffers(), sums,
            )  # fmt: skip

        edges = np.linspace(0, self.n_classes, self.n_threads + 1).astype(np.int64)
        with ThreadPoolExecutor(self.n_threads) as pool:
            list(pool.map(job, edges[:-1].tolist(), edges[1:].tolist()))
        return sums

    def affinities(
        self, assignment: Assignment, empty: NDArray[np.int64]
    ) -> Iterator[tuple[int, NDArray[np.float64]]]:
        """For each class with points, the mean probability its points give the classes without."""
        for c in np.flatnonzero(assignment.counts):
            yield int(c), self.mean_probability(assignment.points_of([c]), empty)


def count_threads(n_jobs: int | None) -> int:
    """Threads meant by scikit-learn's `n_jobs`: None all cores, negative counted from all.

    Unlike scikit-learn's default of one: rows are independent and results do not depend on it.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    if n_jobs is None:
        return cores
    if n_jobs == 0:
        raise ValueError("n_jobs must not be 0. Use None or -1 for all cores.")
    return n_jobs if n_jobs > 0 else max(1, cores + 1 + n_jobs)
