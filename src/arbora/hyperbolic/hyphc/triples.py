"""Triples of leaves: every pair with a random third leaf, drawn on the fly.

A pass goes once through all pairs in a random order that needs O(n) memory: shuffle the leaves, then pair
each with the leaf s places further, for every shift s in random order. Any n consecutive triples touch each
leaf equally often, which also makes gradients less noisy than independent draws.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from arbora.hyperbolic.hyphc import _kernels as kernels
from arbora.hyperbolic.hyphc._kernels import Draw, Weights
from arbora.similarity.protocol import Similarity

BLOCK = 1 << 16  # triples held at once when they are handed out as arrays
_DENSE_BELOW = (
    512  # a matrix of this many points fits into the processor's cache: quicker than inner products
)
_NO_MATRIX = np.zeros((1, 1))
_NO_INDEX = np.zeros(1, dtype=np.int64)
_NO_DATA = np.zeros(1)


def count_pairs(n_points: int) -> int:
    """Number of unordered pairs."""
    return n_points * (n_points - 1) // 2


def arrays_of(similarity: Similarity) -> Weights | None:
    """The similarity as arrays that kernels read, or None for a kind they do not know."""
    if similarity.features is not None:
        features = np.ascontiguousarray(similarity.features)
        if len(features) <= _DENSE_BELOW:
            return Weights(kernels.MATRIX, features @ features.T, _NO_INDEX, _NO_INDEX, _NO_DATA)
        return Weights(kernels.FEATURES, features, _NO_INDEX, _NO_INDEX, _NO_DATA)
    if similarity.matrix is not None:
        matrix = np.ascontiguousarray(similarity.matrix)
        return Weights(kernels.MATRIX, matrix, _NO_INDEX, _NO_INDEX, _NO_DATA)
    csr = similarity.csr
    if csr is not None:
        return Weights(
            kernels.GRAPH,
            _NO_MATRIX,
            csr.indptr.astype(np.int64, copy=False),
            csr.indices.astype(np.int64, copy=False),
            csr.data.astype(np.float64, copy=False),
        )
    return None


def weigh(
    similarity: Similarity, triples: NDArray[np.int64], arrays: Weights | None = None
) -> NDArray[np.float64]:
    """Similarities (w_ij, w_ik, w_jk) of each triple, float64[count, 3]; for any kind of similarity.

    `arrays` are its `arrays_of`, where it has them.
    """
    if arrays is not None:
        return np.asarray(kernels.weigh_triples(arrays, triples))
    i, j, k = triples.T
    return np.column_stack([similarity.pairs(i, j), similarity.pairs(i, k), similarity.pairs(j, k)])


def neighbor_lists(similarity: Similarity, n_neighbors: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Most similar points of each point as (indptr, indices): a graph's own edges, else the nearest few."""
    csr = similarity.csr
    if csr is not None:
        return csr.indptr.astype(np.int64, copy=False), csr.indices.astype(np.int64, copy=False)
    n = similarity.n_points
    n_neighbors = min(n_neighbors, n - 1)
    rows = max(1, (1 << 24) // n)
    indices = np.empty((n, n_neighbors), dtype=np.int64)
    everyone = np.arange(n)
    for first in range(0, n, rows):
        some = everyone[first : first + rows]
        block = similarity.rows(some)
        block[np.arange(len(some)), some] = -np.inf
        indices[some] = np.argpartition(-block, n_neighbors - 1, axis=1)[:, :n_neighbors]
    return np.arange(n + 1, dtype=np.int64) * n_neighbors, indices.ravel()


class TripleSampler:
    """Draws the triples of each epoch; never more of them in memory than one block.

    Parameters
    ----------
    similarity : Similarity
        Between at least three points.
    n_triples : int, optional
        Triples per epoch. Below the number of pairs, a random part of the pairs; above, several passes over
        all pairs, each in a new order with new third leaves. By default every pair once.
    neighbor_bias : float in [0, 1], default 0
        Share of the triples whose second leaf is one of the first's nearest neighbors (for a graph, one of
        its neighbors). Samples the triples that matter more often, and so is no longer an unbiased estimate
        of the cost.
    n_neighbors : int, default 10
        How many nearest neighbors; a graph brings its own.
    seed : int or sequence of int, default 0
        The same seed gives the same triples, whatever the size of the blocks.

    Examples
    --------
    >>> import numpy as np
    >>> import arbora as ab
    >>> from arbora.hyperbolic.hyphc.triples import TripleSampler
    >>> similarity = ab.similarity.cosine(np.eye(5) + 0.1)
    >>> triples, weights = next(TripleSampler(similarity).blocks(epoch=0))
    >>> triples.shape, weights.shape
    ((10, 3), (10, 3))
    """

    def __init__(
        self,
        similarity: Similarity,
        n_triples: int | None = None,
        *,
        neighbor_bias: float = 0.0,
        n_neighbors: int = 10,
        seed: int | Sequence[int] = 0,
    ) -> None:
        self.similarity = similarity
        self.n_points = similarity.n_points
        if self.n_points < 3:
            raise ValueError(f"Triples need at least 3 points. Got {self.n_points}.")
        if n_triples is not None and n_triples < 1:
            raise ValueError(f"n_triples must be at least 1. Got {n_triples!r}.")
        if not 0 <= neighbor_bias <= 1:
            raise ValueError(f"neighbor_bias must lie in [0, 1]. Got {neighbor_bias!r}.")
        self.n_triples = count_pairs(self.n_points) if n_triples is None else int(n_triples)
        self.arrays = arrays_of(similarity)
        self.neighbor_bias = float(neighbor_bias)
        self.seed = [int(part) for part in np.atleast_1d(np.asarray(seed, dtype=object))]
        self._neighbors = (_NO_INDEX, _NO_INDEX)
        if neighbor_bias > 0:
            self._neighbors = neighbor_lists(similarity, n_neighbors)

    def passes(self, epoch: int) -> Iterator[tuple[Draw, int]]:
        """Yield what each pass over the pairs draws from, and how many triples of it this epoch uses."""
        n_pairs = count_pairs(self.n_points)
        for number, first in enumerate(range(0, self.n_triples, n_pairs)):
            yield self._draw(epoch, number), min(n_pairs, self.n_triples - first)

    def blocks(
        self, epoch: int, size: int = BLOCK
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """Yield the epoch's triples and their similarities (w_ij, w_ik, w_jk), `size` at a time."""
        for draw, count in self.passes(epoch):
            for first in range(0, count, size):
                triples = kernels.draw_triples(draw, first, min(size, count - first))
                yield triples, weigh(self.similarity, triples, self.arrays)

    def _draw(self, epoch: int, number: int) -> Draw:
        rng = np.random.default_rng([*self.seed, epoch, number])
        n = self.n_points
        shift = 1 + rng.permutation((n - 1) // 2)
        if n % 2 == 0:
            # reaches each pair from both ends: only its first half is used
            shift = np.append(shift, n // 2)
        key = rng.integers(0, 2**64, dtype=np.uint64)
        return Draw(rng.permutation(n), shift, key, self.neighbor_bias, *self._neighbors)
