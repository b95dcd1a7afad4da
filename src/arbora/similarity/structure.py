"""How much structure a way of comparing vectors finds, without labels.

A few hundred rows become a graph of nearest neighbors and a tree by average linkage. Points drawn from a normal
distribution of the same mean and covariance are treated alike. They have no clusters: the fraction by which the tree of
the data costs less (Dasgupta's cost) is structure, whatever the number of columns and however strongly they correlate.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, NamedTuple

import fastcluster
import numpy as np
from numpy.typing import NDArray

from arbora._base.types import Floats
from arbora.similarity._weights import Weighting

N_NEIGHBORS = 10
# Draws of the normal distribution: at least so many, and so many rows in all of them where rows are few.
_LEAST_DRAWS, _MOST_DRAWS, _DRAWN_ROWS = 2, 8, 800
# A branch is large from this share of all rows on.
_LARGE = 0.1


class Structure(NamedTuple):
    """What a way of comparing rows finds.

    `gain` is the logarithm of how many times less a tree of the rows costs than one of normal noise of the same shape.
    `leak` is the least share of its weight by which a large branch is tied to the rest: 0 where groups are clear. A few
    groups far apart gain little, because noise of that shape is a line or a plane, but they do not leak.
    """

    gain: float
    leak: float


def structure(rows: Floats, metric: Literal["cosine", "euclidean"]) -> Structure:
    """How much structure a way of comparing rows finds.

    Takes time and memory for all pairs of rows: it is meant for a few hundred.

    Examples
    --------
    >>> import numpy as np
    >>> from arbora.similarity.structure import structure
    >>> rng = np.random.default_rng(0)
    >>> noise = rng.normal(size=(200, 5))
    >>> groups = noise + 6 * rng.normal(size=(8, 5))[rng.integers(8, size=200)]
    >>> [round(structure(rows, "euclidean").gain, 1) for rows in (noise, groups)]
    [-0.1, 1.1]
    """
    rows = _narrowed(rows)
    mean = rows.mean(axis=0)
    centered = rows - mean
    n_draws = min(_MOST_DRAWS, max(_LEAST_DRAWS, round(_DRAWN_ROWS / len(rows))))
    # a random combination of centered rows has their covariance
    drawn = (_Linked.of(_draw(len(rows), seed) @ centered + mean, metric) for seed in range(n_draws))
    found = _Linked.of(rows, metric)
    return Structure(float(np.mean([one.log_cost() for one in drawn])) - found.log_cost(), found.leak())


def _narrowed(rows: Floats) -> Floats:
    """Rows with the same inner products in no more columns than there are rows."""
    n, n_columns = rows.shape
    if n_columns <= n:
        return rows
    products = rows @ rows.T
    # rounding must not make the smallest eigenvalue negative
    products[np.diag_indices(n)] += 1e-10 * np.trace(products) / n
    return np.asarray(np.linalg.cholesky(products), np.float64)


@lru_cache(maxsize=_MOST_DRAWS)
def _draw(n: int, seed: int) -> Floats:
    draw: Floats = np.random.default_rng(seed).normal(size=(n, n)) / np.sqrt(n)
    return draw


class _Linked(NamedTuple):
    """Average linkage on the graph of neighbors: both sides of each join, sizes of nodes, weight that meets there."""

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    size: Floats
    meeting: Floats
    degree: Floats

    @classmethod
    def of(cls, rows: Floats, metric: Literal["cosine", "euclidean"]) -> _Linked:
        """The tree of rows."""
        weights = _neighbor_weights(_distances(rows, metric))
        n = len(weights)
        # average linkage of 1 - w joins the groups that are most similar in the mean: that of the graph
        joins = fastcluster.linkage(1 - weights[np.triu_indices(n, 1)], "average")
        left, right = (joins[:, side].astype(np.int64) for side in (0, 1))
        size = np.concatenate([np.ones(n), joins[:, 3]])
        return cls(left, right, size, (1 - joins[:, 2]) * size[left] * size[right], weights.sum(axis=1))

    def log_cost(self) -> float:
        """Logarithm of Dasgupta's cost per weight and point."""
        n = len(self.degree)
        return float(np.log((self.size[n:] * self.meeting).sum() / self.meeting.sum() / n))

    def leak(self) -> float:
        """Least share of the weight at a branch, or at the rest if that has less, that crosses between the two."""
        n = len(self.degree)
        # all weight at the leaves below a node, and that between two of them
        volume, inside = np.concatenate([self.degree, np.zeros(n - 1)]), np.zeros(2 * n - 1)
        for join, (a, b) in enumerate(zip(self.left, self.right, strict=True)):
            volume[n + join] = volume[a] + volume[b]
            inside[n + join] = inside[a] + inside[b] + self.meeting[join]
        is_large = (self.size >= _LARGE * n) & (self.size <= (1 - _LARGE) * n)
        if not is_large.any():
            return 1.0
        smaller = np.minimum(volume, volume[-1] - volume)[is_large]
        crossing = (volume - 2 * inside)[is_large]
        return max(0.0, float((crossing / smaller).min()))


def _distances(rows: Floats, metric: Literal["cosine", "euclidean"]) -> Floats:
    products = rows @ rows.T
    squares = np.diagonal(products).copy()
    if metric == "cosine":
        lengths = np.sqrt(np.maximum(squares, np.finfo(np.float64).tiny))
        return np.maximum(1 - products / lengths[:, None] / lengths[None, :], 0)
    return np.sqrt(np.maximum(squares[:, None] + squares[None, :] - 2 * products, 0))


def _neighbor_weights(distance: Floats) -> Floats:
    """The graph of neighbors as a full matrix, weighted as `arbora.similarity.knn` weights it."""
    n = len(distance)
    np.fill_diagonal(distance, np.inf)
    k = min(N_NEIGHBORS, n - 1)
    near = np.argpartition(distance, k - 1, axis=1)[:, :k]
    distance = np.take_along_axis(distance, near, axis=1)
    # the weights read the nearest first
    order = np.argsort(distance, axis=1, kind="stable")
    near, distance = np.take_along_axis(near, order, axis=1), np.take_along_axis(distance, order, axis=1)
    weights = np.zeros((n, n))
    np.put_along_axis(weights, near, Weighting("fuzzy", distance).of_own(distance), axis=1)
    joined: Floats = weights + weights.T - weights * weights.T
    return joined
