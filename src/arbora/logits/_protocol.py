"""What the merging asks of logits, wherever they are: in memory, or read in pieces."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from arbora._base.exact_sums import exact_sum_by_key, rounders
from arbora._base.progress import ProgressCallback, silent
from arbora._base.types import Floats, Ints

Aggregation: TypeAlias = str | Callable[[Sequence[Floats]], float]
AGGREGATIONS = ("sum_of_means", "sum", "mean_of_means")


@dataclass(frozen=True)
class Reading:
    """How the numbers of a row become probabilities, and with how many threads.

    Attributes
    ----------
    from_probabilities : bool
        The numbers are probabilities (up to a factor per row), not logits.
    temperature : float
        Logits are divided by it; probabilities are raised to its inverse, which is the same.
    n_threads : int
    """

    from_probabilities: bool = False
    temperature: float = 1.0
    n_threads: int = 1


@dataclass(frozen=True)
class Assignment:
    """What the first reading of the logits gives: the class of every point and how sure the model is.

    Attributes
    ----------
    n_classes : int
    assigned, second : int32[n_points]
        Best class, and the best one without it.
    confidence, second_confidence : float64[n_points]
        Probability of the best class, and of the second one if the best one did not exist.
    largest : float
        No logit, divided by the temperature, is larger or more negative.
    """

    n_classes: int
    assigned: NDArray[np.int32]
    confidence: Floats
    second: NDArray[np.int32]
    second_confidence: Floats
    largest: float

    @cached_property
    def rounders(self) -> Floats:
        """What makes sums of probabilities over these points exact, in any order."""
        return rounders(len(self.assigned))

    @cached_property
    def counts(self) -> Ints:
        """Points of each class."""
        return np.bincount(self.assigned, minlength=self.n_classes)

    @cached_property
    def order(self) -> Ints:
        """Points sorted by class, by number within a class."""
        return np.argsort(self.assigned, kind="stable")

    @cached_property
    def offsets(self) -> Ints:
        """Class c owns ``order[offsets[c]:offsets[c + 1]]``."""
        return np.concatenate([[0], np.cumsum(self.counts)])

    def part(self, place: slice) -> Assignment:
        """The same of some of the points."""
        return Assignment(
            self.n_classes,
            self.assigned[place],
            self.confidence[place],
            self.second[place],
            self.second_confidence[place],
            self.largest,
        )

    def points_of(self, classes: Sequence[int]) -> Ints:
        """Points assigned to any of the classes, class by class."""
        if len(classes) == 1:
            return self.order[self.offsets[classes[0]] : self.offsets[classes[0] + 1]]
        return np.concatenate([self.order[self.offsets[c] : self.offsets[c + 1]] for c in classes])

    def confidence_sums(self, weights: Floats | None = None) -> tuple[Floats, Floats]:
        """Sum of the confidences of each class's points, and how many they are; each counts `weights` times."""
        sums = exact_sum_by_key(self.assigned, self.confidence, self.n_classes, self.rounders, weights)
        counts = self.counts if weights is None else np.bincount(self.assigned, weights, self.n_classes)
        return sums, counts.astype(np.float64)

    def confidences_of(self, cls: int) -> Floats:
        """Confidences of the points of a class."""
        return self.confidence[self.points_of([cls])]

    def confidences(self) -> Floats:
        """Confidences of all points."""
        return self.confidence

    def mapped(self, label: Ints) -> Ints:
        """Label of the class of each point."""
        return np.asarray(label, np.int64)[self.assigned]

    def received(
        self, points: Ints, reassigned: NDArray[np.int32], probability: Floats, weights: Floats | None
    ) -> Floats:
        """Probability that each class receives when points are reassigned, each counting `weights` times."""
        times = None if weights is None else weights[points]
        return exact_sum_by_key(reassigned, probability, self.n_classes, self.rounders, times)


class ClassTotals(Protocol):
    """What merging needs to know of the points of each class: an `Assignment`, or the sums over one."""

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        ...

    @property
    def largest(self) -> float:
        """As `Assignment.largest`."""
        ...

    @property
    def counts(self) -> Ints:
        """Points of each class."""
        ...

    def confidence_sums(self, weights: Floats | None = None) -> tuple[Floats, Floats]:
        """As `Assignment.confidence_sums`."""
        ...

    def confidences_of(self, cls: int) -> Floats:
        """As `Assignment.confidences_of`."""
        ...

    def confidences(self) -> Any:
        """As `Assignment.confidences`, or the same as a Dask array."""
        ...

    def mapped(self, label: Ints) -> Any:
        """As `Assignment.mapped`, or the same as a Dask array."""
        ...


@dataclass(frozen=True)
class Merges:
    """The steps of L2H.

    Attributes
    ----------
    pairs : int64[n_classes - 1, 2]
        The group merged (the lowest scoring) and the one it joined; step t makes group ``n_classes + t``.
    score : float64[n_classes - 1]
        Score of the lowest-scoring group at each step.
    share : float64[n_classes - 1]
        Part of that group's reassigned probability that went to the group it joined (NaN: it had no points).
    """

    pairs: Ints
    score: Floats
    share: Floats


class MergeQueries(Protocol):
    """What one merging of classes asks of the logits. `assignment` is what their own `scan` returned."""

    def received(self, assignment: Any, classes: Sequence[int], weights: Floats | None = None) -> Floats:
        """Total probability that each class receives from the points of `classes` (ascending) if these did not exist.

        Every point gives the probability of the best class outside, among those outside, to that class.
        """
        ...

    def affinities(self, assignment: Any, empty: Ints) -> Iterator[tuple[int, Floats]]:
        """For each class with points, the mean probability that its points give the classes without."""
        ...


class PointQueries(ABC):
    """Logits that answer point by point."""

    @abstractmethod
    def reassign(self, points: Ints, classes: Ints) -> tuple[NDArray[np.int32], Floats]:
        """Best class outside `classes` (ascending) of each of their points, and its probability among those outside.

        The points are those assigned to the classes, class by class.
        """

    def received(
        self, assignment: Assignment, classes: Sequence[int], weights: Floats | None = None
    ) -> Floats:
        """As `MergeQueries.received`."""
        points = assignment.points_of(classes)
        # the second best class of each point is known from the first reading
        if len(classes) == 1:
            reassigned, probability = assignment.second[points], assignment.second_confidence[points]
        else:
            reassigned, probability = self.reassign(points, np.array(classes))
        return assignment.received(points, reassigned, probability, weights)


class PointRows(MergeQueries, Protocol):
    """Logits that answer point by point, as merging sees them."""

    def reassign(self, points: Ints, classes: Ints) -> tuple[NDArray[np.int32], Floats]:
        """As `PointQueries.reassign`."""
        ...


class LogitRows(MergeQueries, Protocol):
    """Logits of points, wherever they are."""

    @property
    def exact(self) -> bool:
        """Whether every answer so far was exact."""
        ...

    @property
    def n_estimated(self) -> int:
        """Answers so far that were not exact."""
        ...

    @property
    def n_kept(self) -> int:
        """Numbers of each row from which answers that are not exact are estimated."""
        ...

    def scan(self, progress: ProgressCallback = silent) -> Any:
        """Read every row for the first time, for `ClassTotals`; ValueError at a row that cannot be used."""
        ...

    def settle(
        self, assignment: Any, merges: Merges, progress: ProgressCallback, *, every_group: bool
    ) -> bool:
        """Make the answers that `merges` needed exact, where they were estimated and that is possible.

        Returns whether anything changed, so that the merging must be repeated. `every_group`: the merging asks about
        all groups it makes, not only about those it chooses.
        """
        ...

    def class_sums(self, assignment: Any, weights: Floats | None = None) -> Floats:
        """Sum of the centered logits of each class's points: float64[n_classes, n_classes].

        With weights, each point counts that many times.
        """
        ...
