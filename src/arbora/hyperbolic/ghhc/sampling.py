"""Triples for the ranking cost: x_j among the nearest neighbors of x_i, x_k at random.

Neighbors are looked up in a pool of rows. Up to `pool_size` rows the pool is the data and the neighbors are
exact; beyond that, a new random pool is drawn at intervals, so that data of any size is only read in small
pieces. Randomness is a function of seed and step alone: training can resume at any step.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from arbora._base.types import AnyFloats, Ints
from arbora.hyperbolic.ghhc.model import blocks

_POOL_STREAM, _STEP_STREAM = 0, 1


def generator(seed: int, stream: int, index: int) -> np.random.Generator:
    """Independent generator for one use: the same arguments, the same numbers."""
    return np.random.Generator(np.random.Philox(key=seed, counter=[0, index, stream, 0]))


def step_generator(seed: int, step: int) -> np.random.Generator:
    """Generator of one training step."""
    return generator(seed, _STEP_STREAM, step)


class RowTripleSampler:
    """Draws triples of rows of a data set.

    Parameters
    ----------
    read : callable
        Takes sorted row numbers and returns these rows, placed in the ball.
    n_rows : int
    seed : int
    n_neighbors, pool_size : int
    pool_steps : int
        Steps a pool is used for.
    """

    def __init__(
        self,
        read: Callable[[Ints], AnyFloats],
        n_rows: int,
        seed: int,
        n_neighbors: int,
        pool_size: int,
        pool_steps: int,
    ) -> None:
        self._read, self._n_rows, self._seed = read, n_rows, seed
        self._n_neighbors, self._pool_size, self._pool_steps = n_neighbors, pool_size, pool_steps
        self._number = -1
        self.rows = np.empty(0, np.int64)

    def pool(self, step: int) -> AnyFloats:
        """Points of the pool used in this step; afterwards `rows` holds their row numbers."""
        number = 0 if self._n_rows <= self._pool_size else step // self._pool_steps
        if number != self._number:
            self.rows = draw_rows(self._n_rows, self._pool_size, generator(self._seed, _POOL_STREAM, number))
            self._points = np.ascontiguousarray(self._read(self.rows))
            self._neighbors = nearest_neighbors(self._points, min(self._n_neighbors, len(self.rows) - 1))
            self._number = number
        return self._points

    def draw(self, step: int, n_triples: int, rng: np.random.Generator) -> Ints:
        """Triples (i, j, k) of places in the pool, (i, j) the most similar pair: int64[3, n_triples]."""
        points = self.pool(step)
        n_pool, n_neighbors = self._neighbors.shape
        first = rng.integers(n_pool, size=n_triples)
        second = self._neighbors[first, rng.integers(n_neighbors, size=n_triples)]
        third = other_than(first, second, rng.integers(n_pool - 2, size=n_triples))
        return closest_pair_first(points, np.stack([first, second, third]))


def draw_rows(n_rows: int, size: int, rng: np.random.Generator) -> Ints:
    """Sorted distinct row numbers, at most `size` of them."""
    if n_rows <= size:
        return np.arange(n_rows)
    return np.sort(rng.choice(n_rows, size=size, replace=False, shuffle=False))


def other_than(first: Ints, second: Ints, drawn: Ints) -> Ints:
    """Numbers drawn from 0..n-3 spread over 0..n-1 without `first` and `second`."""
    low, high = np.minimum(first, second), np.maximum(first, second)
    drawn = drawn + (drawn >= low)
    return drawn + (drawn >= high)


def closest_pair_first(points: AnyFloats, triples: Ints) -> Ints:
    """Reorder each triple so that its first two members are the most similar (nearest) pair."""
    i, j, k = points[triples]
    apart = np.stack([((i - j) ** 2).sum(1), ((i - k) ** 2).sum(1), ((j - k) ** 2).sum(1)])
    order = np.array([[0, 1, 2], [0, 2, 1], [1, 2, 0]])[apart.argmin(axis=0)]
    return np.take_along_axis(triples, order.T, axis=0)


def nearest_neighbors(points: AnyFloats, n_neighbors: int) -> Ints:
    """The nearest other rows of every row, by Euclidean distance, in no order: int64[n, n_neighbors]."""
    half = 0.5 * np.einsum("nd,nd->n", points, points)
    nearest = np.empty((len(points), n_neighbors), np.int64)
    for part in blocks(len(points), len(points)):
        score = half - points[part] @ points.T
        score[np.arange(len(score)), np.arange(part.start, part.stop)] = np.inf
        nearest[part] = np.argpartition(score, n_neighbors - 1, axis=1)[:, :n_neighbors]
    return nearest
