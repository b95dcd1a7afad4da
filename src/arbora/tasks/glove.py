"""GloVe: word vectors whose products fit the logarithms of co-occurrences (Pennington et al., 2014)."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array

from arbora._base.types import AnyFloats, Ints
from arbora.hyperbolic.ghhc.placement import BallPlacement
from arbora.tasks import _glove_kernels as kernels


class GloVe:
    """State of GloVe's factorization, words and contexts with their biases in the last column."""

    def __init__(
        self,
        counts: coo_array,
        *,
        dimension: int,
        x_max: float,
        alpha: float,
        learning_rate: float,
        rng: np.random.Generator,
    ) -> None:
        self.rows, self.columns = counts.row.astype(np.int32), counts.col.astype(np.int32)
        self.logs = np.log(counts.data).astype(np.float32)
        self.strengths = np.minimum((counts.data / x_max) ** alpha, 1.0).astype(np.float32)
        shape = (counts.shape[0], dimension + 1)
        self.word, self.context = (
            ((rng.random(shape) - 0.5) / dimension).astype(np.float32) for _ in range(2)
        )
        self.word_square, self.context_square = np.ones(shape, np.float32), np.ones(shape, np.float32)
        self.rate = learning_rate

    def run_epoch(self, rng: np.random.Generator) -> float:
        """One pass over the co-occurrences in random order; the mean cost."""
        order = rng.permutation(len(self.rows))
        cost: float = kernels.glove_epoch(
            self.rows,
            self.columns,
            self.logs,
            self.strengths,
            order,
            self.word,
            self.context,
            self.word_square,
            self.context_square,
            self.rate,
        )
        return cost

    def vectors(self, rows: Ints | slice = slice(None)) -> AnyFloats:
        """Word plus context vector, as GloVe recommends."""
        return self.word[rows, :-1] + self.context[rows, :-1]

    def turn(self, rows: Ints, placement: BallPlacement, by_points: AnyFloats, weight: float) -> None:
        """Turn words against the gradient of the tree's cost by their places; lengths stay GloVe's."""
        words, place = np.unique(rows, return_inverse=True)
        gradient = np.zeros((len(words), by_points.shape[1]), by_points.dtype)
        np.add.at(gradient, place.ravel(), by_points)
        centered = self.vectors(words) - placement.mean
        length = np.linalg.norm(centered, axis=1, keepdims=True)
        unit = centered / np.maximum(length, 1e-12)
        across = gradient - (gradient * unit).sum(axis=1, keepdims=True) * unit
        size = np.linalg.norm(across, axis=1, keepdims=True)
        turned = unit - weight * across / np.maximum(size, np.median(size) + 1e-12)
        turned *= length / np.linalg.norm(turned, axis=1, keepdims=True)
        change = (0.5 * (turned - centered)).astype(np.float32)
        self.word[words, :-1] += change
        self.context[words, :-1] += change
