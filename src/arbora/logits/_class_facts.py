"""What a report needs to know about logits, gathered in one pass with bounded memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arbora._base.memory import refuse_if_too_large
from arbora._base.types import Floats, Ints
from arbora.logits._rows import ArrayRows

# Numbers of the sample on which temperatures are tried: 40 MB.
_NUMBERS_IN_SAMPLE = 5_000_000
_LEAST_SAMPLE = 2_000


@dataclass(frozen=True)
class ClassFacts:
    """Sums over all points, and a random sample of them.

    Attributes
    ----------
    counts : int64[n_classes]
        Points predicted to be of each class.
    confidence_sums : float64[n_classes]
        Sum of the confidences of these points.
    relatedness : float64[n_classes, n_classes]
        Mean probability that the points predicted to be of one class (row) give another (column); 0 without points.
    predicted : int32[n_points]
    confidence : float64[n_points]
    sample : float64[m, n_classes]
        Probabilities of randomly chosen points.
    sample_points : int64[m]
        Which they are, ascending.
    """

    counts: Ints
    confidence_sums: Floats
    relatedness: Floats
    predicted: NDArray[np.int32]
    confidence: Floats
    sample: Floats
    sample_points: Ints

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.counts)

    @property
    def n_points(self) -> int:
        """Number of points."""
        return len(self.predicted)

    def mutual(self) -> Floats:
        """Relatedness of pairs of classes, the mean of both directions; 0 of a class with itself."""
        both = 0.5 * (self.relatedness + self.relatedness.T)
        np.fill_diagonal(both, 0.0)
        return both

    def confusion(self, y: Ints) -> Ints:
        """Points by true class (row) and predicted class (column)."""
        cell = y * self.n_classes + self.predicted
        return np.bincount(cell, minlength=self.n_classes**2).reshape(self.n_classes, self.n_classes)


def gather_facts(blocks: Iterable[ArrayRows], n_classes: int) -> ClassFacts:
    """Read all blocks once."""
    rng = np.random.default_rng(0)
    most = max(_LEAST_SAMPLE, _NUMBERS_IN_SAMPLE // n_classes)
    predicted, confidence = [], []
    refuse_if_too_large(
        32 * n_classes**2, f"The tables of {n_classes} x {n_classes} classes", "Report on fewer classes."
    )
    sums = np.zeros((n_classes, n_classes))
    keys, points, sample = np.empty(0), np.empty(0, np.int64), np.empty((0, n_classes))
    n_done = 0
    for rows in blocks:
        scan = rows.scan()
        predicted.append(scan.assigned)
        confidence.append(scan.confidence)
        sums += rows.probability_sums(scan)
        # a random number per point, of which the smallest win: a fair sample of any number of points
        key = rng.random(rows.n_points)
        bound = np.inf if len(keys) < most else keys.max()
        new = np.flatnonzero(key < bound)
        if len(new) > most:
            new = np.sort(new[np.argpartition(key[new], most - 1)[:most]])
        keys = np.concatenate([keys, key[new]])
        points = np.concatenate([points, n_done + new])
        sample = np.concatenate([sample, rows.take(new).probabilities()])
        if len(keys) > most:
            kept = np.sort(np.argpartition(keys, most - 1)[:most])
            keys, points, sample = keys[kept], points[kept], sample[kept]
        n_done += rows.n_points
    if not n_done:
        raise ValueError("There are no points to report on.")
    who, how_sure = np.concatenate(predicted), np.concatenate(confidence)
    counts = np.bincount(who, minlength=n_classes)
    return ClassFacts(
        counts,
        np.asarray(np.bincount(who, how_sure, minlength=n_classes), np.float64),
        sums / np.maximum(counts, 1)[:, None],
        who,
        how_sure,
        sample,
        points,
    )
