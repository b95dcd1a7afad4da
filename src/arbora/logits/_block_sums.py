"""What L2H asks of one block of logits where blocks are spread over machines, and how answers of blocks add up.

Every sum is exact (`arbora._base.exact_sums`): how the rows are divided into blocks, and in which order blocks are
joined, changes no digit.
"""

from __future__ import annotations

from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arbora._base.arrays import refuse_mask
from arbora._base.exact_sums import in_levels, joined, sum_by_key
from arbora._base.types import Floats, Ints
from arbora.logits._protocol import Assignment, Reading
from arbora.logits._rows import ArrayRows
from arbora.logits._warnings import look_like_probabilities

_ROWS_OF_HEAD = 1000


class KeyedSums(NamedTuple):
    """Sums, in levels, of what was found for some of many keys: ``keys`` ascending, ``levels[n_levels, n_keys]``."""

    keys: Ints
    levels: Floats

    @classmethod
    def of(cls, keys: Ints, levels: Floats) -> KeyedSums:
        """The sums of values with keys."""
        found, place = np.unique(keys, return_inverse=True)
        return cls(found, sum_by_key(place.ravel(), levels, len(found)))

    @classmethod
    def join(cls, parts: list[KeyedSums]) -> KeyedSums:
        """The sums of all parts."""
        return cls.of(
            np.concatenate([part.keys for part in parts]),
            np.concatenate([part.levels for part in parts], axis=1),
        )

    def rows(self, n_columns: int) -> dict[int, tuple[Ints, Floats]]:
        """Sums by row, of keys ``row * n_columns + column``: columns and values of each row that has any."""
        row, column = np.divmod(self.keys, n_columns)
        starts = np.flatnonzero(np.diff(row, prepend=-1))
        parts = zip(np.split(column, starts[1:]), np.split(joined(self.levels), starts[1:]))
        return dict(zip(row[starts].tolist(), parts))


# ---- first pass ----------------------------------------------------------------------------------------------


class Sample(NamedTuple):
    """Some points of every class, chosen by a code that depends only on the row, and the largest entries of each."""

    code: NDArray[np.uint64]
    assigned: NDArray[np.int32]
    values: NDArray[np.float32]
    classes: NDArray[Any]
    tail: Floats

    def take(self, points: Ints) -> Sample:
        """Some of the points."""
        return Sample._make(field[points] for field in self)


class BlockScan(NamedTuple):
    """First reading of some rows, summed.

    Attributes
    ----------
    counts : int64[n_classes]
    confidence : float64[n_levels, n_classes]
        Sums of the probabilities of the best class.
    second : KeyedSums
        Sums of the probabilities of the second best class without the best, by ``best * n_classes + second``.
    largest : float
    sample : Sample
    is_like_probabilities : bool
        Whether the first rows of all could be probabilities.
    """

    counts: Ints
    confidence: Floats
    second: KeyedSums
    largest: float
    sample: Sample
    is_like_probabilities: bool


class ScanPlan(NamedTuple):
    """How blocks are read for the first time: what makes sums exact, and how much is kept for a first guess."""

    reading: Reading
    by: Floats
    n_per_class: int
    n_kept: int


def scan_block(block: NDArray[Any], first_row: int, plan: ScanPlan) -> BlockScan:
    """First reading of the rows from `first_row` on."""
    refuse_mask(block, "X")
    rows = ArrayRows(block, plan.reading)
    found = rows.scan(first_row=first_row)
    n = rows.n_classes
    key = found.assigned.astype(np.int64) * n + found.second
    codes = _codes(np.arange(first_row, first_row + rows.n_points, dtype=np.uint64))
    chosen = _first_of_classes(codes, found.assigned, plan.n_per_class)
    largest_entries = rows.take(chosen).largest(plan.n_kept)
    return BlockScan(
        found.counts,
        sum_by_key(found.assigned, in_levels(found.confidence, plan.by), n),
        KeyedSums.of(key, in_levels(found.second_confidence, plan.by)),
        found.largest,
        Sample(codes[chosen], found.assigned[chosen], *largest_entries),
        first_row > 0 or look_like_probabilities(np.asarray(block[:_ROWS_OF_HEAD])),
    )


def join_scans(parts: list[BlockScan], plan: ScanPlan) -> BlockScan:
    """First reading of the rows of all parts."""
    samples = [part.sample for part in parts]
    sample = Sample(*(np.concatenate(fields) for fields in zip(*samples)))
    return BlockScan(
        reduce(np.add, [part.counts for part in parts]),
        reduce(np.add, [part.confidence for part in parts]),
        KeyedSums.join([part.second for part in parts]),
        max(part.largest for part in parts),
        sample.take(_first_of_classes(sample.code, sample.assigned, plan.n_per_class)),
        all(part.is_like_probabilities for part in parts),
    )


def _codes(rows: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A pseudo-random number per row (the finalizer of SplitMix64)."""
    code = (rows + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    code = (code ^ (code >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    code = (code ^ (code >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(code ^ (code >> np.uint64(31)))


def _first_of_classes(codes: NDArray[np.uint64], assigned: NDArray[np.int32], n_per_class: int) -> Ints:
    """The points of each class with the smallest codes, class by class."""
    order = np.lexsort((codes, assigned))
    starts = np.flatnonzero(np.diff(assigned[order], prepend=-1))
    place = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
    return np.asarray(order[place < n_per_class])


# ---- later passes --------------------------------------------------------------------------------------------


class Questions(NamedTuple):
    """What a later pass asks: groups of classes, and, where they are given, sums by class and of empty classes.

    Attributes
    ----------
    reading : Reading
    groups : list of int64 arrays
        Classes of each group, ascending.
    by : float64[n_levels]
        For sums of probabilities.
    class_rounder : float or None
        For sums of centered logits.
    empty : int64[n_empty]
    empty_by : float64[n_levels]
        For sums of the probabilities of the empty classes.
    """

    reading: Reading
    groups: list[Ints]
    by: Floats
    class_rounder: float | None
    empty: Ints
    empty_by: Floats


class Answers(NamedTuple):
    """Sums over some rows: what classes receive by ``group * n_classes + class``, and those by class."""

    received: KeyedSums
    class_sums: Floats | None
    empty_sums: Floats


def answer_block(block: NDArray[Any], asked: Questions) -> Answers:
    """Answers of the rows of a block."""
    rows = ArrayRows(block, asked.reading)
    found = rows.scan()
    class_sums = None
    if asked.class_rounder is not None:
        class_sums = rows.rounded_class_sums(found, asked.class_rounder)
    empty_sums = np.zeros((len(asked.empty_by), rows.n_classes, len(asked.empty)))
    if len(asked.empty):
        for c in np.flatnonzero(found.counts).tolist():
            empty_sums[:, c] = rows.column_sums(found.points_of([c]), asked.empty, asked.empty_by)
    return Answers(_received(rows, found, asked), class_sums, empty_sums)


def _received(rows: ArrayRows, found: Assignment, asked: Questions) -> KeyedSums:
    keys, values = [np.empty(0, np.int64)], [np.empty(0)]
    for number, classes in enumerate(asked.groups):
        points = found.points_of(classes.tolist())
        if len(points):
            reassigned, probability = rows.reassign(points, classes)
            keys.append(number * rows.n_classes + reassigned.astype(np.int64))
            values.append(probability)
    return KeyedSums.of(np.concatenate(keys), in_levels(np.concatenate(values), asked.by))


def join_answers(parts: list[Answers]) -> Answers:
    """Answers of the rows of all parts."""
    by_class = [part.class_sums for part in parts if part.class_sums is not None]
    return Answers(
        KeyedSums.join([part.received for part in parts]),
        reduce(np.add, by_class) if by_class else None,
        reduce(np.add, [part.empty_sums for part in parts]),
    )


# ---- points --------------------------------------------------------------------------------------------------


def assign_block(block: NDArray[Any], reading: Reading, label: Ints) -> Ints:
    """Label of the class of each row."""
    return label[ArrayRows(block, reading).scan().assigned]


def confidence_of_block(block: NDArray[Any], reading: Reading) -> Floats:
    """Probability of the class of each row."""
    return ArrayRows(block, reading).scan().confidence
