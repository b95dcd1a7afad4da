"""Points of which only the largest probabilities were kept: what their groups would answer, estimated."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arbora._base.types import Floats, Ints
from arbora.logits import _stream_kernels as kernels


class Kept(NamedTuple):
    """Largest entries of each point as log-weights relative to the largest, their classes, and the other weights' sum.

    Attributes
    ----------
    n_classes : int
    values : float32[n_points, n_kept]
    classes : uint16 or int32[n_points, n_kept]
    tail : float64[n_points]
    """

    n_classes: int
    values: NDArray[np.float32]
    classes: NDArray[np.uint16] | NDArray[np.int32]
    tail: Floats

    def reassign(self, points: Ints, classes: Ints) -> tuple[NDArray[np.int32], Floats]:
        """As `PointQueries.reassign`, estimated."""
        excluded = np.zeros(self.n_classes, np.bool_)
        excluded[classes] = True
        reassigned, probability = np.empty(len(points), np.int32), np.empty(len(points))
        kernels.reassign_kept(
            self.values, self.classes, self.tail, points, 0, len(points), excluded, len(classes),
            reassigned, probability,
        )  # fmt: skip
        return reassigned, probability

    def affinity_sums(self, assigned: NDArray[np.int32], empty: Ints) -> Floats:
        """Probability that the points of each class give the classes without points: float64[n_classes, n_empty]."""
        column = np.full(self.n_classes, -1)
        column[empty] = np.arange(len(empty))
        point, slot = np.nonzero(column[self.classes] >= 0)
        weight = np.exp(self.values[point, slot], dtype=np.float64)
        whole = np.exp(self.values, dtype=np.float64).sum(axis=1) + self.tail
        sums = np.zeros((self.n_classes, len(empty)))
        np.add.at(sums, (assigned[point], column[self.classes[point, slot]]), weight / whole[point])
        return sums
