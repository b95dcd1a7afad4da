"""Bounds of Dasgupta's cost from triples of points, and the ratio to the lower one.

In a tree every triple {i, j, k} has one pair that meets first. Dasgupta's cost is twice the total weight
plus, for each triple, the weights of the other two pairs (of all three where they meet at once). Choosing the
best or the worst pair of every triple by itself bounds the cost of any binary tree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from arbora._base.memory import refuse_if_too_large
from arbora._base.params import check_whole
from arbora._base.random import generator
from arbora._base.types import RandomState
from arbora.errors import TooLargeError
from arbora.metrics import _kernels as kernels
from arbora.metrics.dasgupta import dasgupta_cost
from arbora.similarity import Similarity, as_similarity
from arbora.similarity.inputs import covering_similarity

if TYPE_CHECKING:
    from arbora.tree import Tree

# Beyond this, n^3 / 6 triples take hours and the matrix gigabytes.
_MAX_EXACT_POINTS = 20_000
# Triples that one call of a kernel sums, and its least number of tasks, which threads share.
_TRIPLES_AT_ONCE = 5e8
_LEAST_TASKS = 8
_TRIPLES_PER_BLOCK = 1 << 18


class Bounds(tuple[float, float]):
    """The pair (lower, upper), with the standard error of each when they were sampled.

    Attributes
    ----------
    lower, upper : float
        The two entries of the tuple.
    lower_error, upper_error : float
        Standard errors; 0 for exact bounds.
    """

    lower_error: float
    upper_error: float

    def __new__(
        cls, lower: float, upper: float, lower_error: float = 0.0, upper_error: float = 0.0
    ) -> Bounds:
        self = super().__new__(cls, (float(lower), float(upper)))
        self.lower_error, self.upper_error = float(lower_error), float(upper_error)
        return self

    def __getnewargs__(self) -> tuple[float, ...]:
        return self.lower, self.upper, self.lower_error, self.upper_error

    @property
    def lower(self) -> float:
        """The lower bound."""
        return self[0]

    @property
    def upper(self) -> float:
        """The upper bound."""
        return self[1]

    def __repr__(self) -> str:
        if not self.lower_error and not self.upper_error:
            return f"Bounds(lower={self.lower:.6g}, upper={self.upper:.6g})"
        return (
            f"Bounds(lower={self.lower:.6g} ± {self.lower_error:.2g}, "
            f"upper={self.upper:.6g} ± {self.upper_error:.2g})"
        )


def dasgupta_bounds(
    similarity: Any,
    *,
    n_samples: int | None = None,
    random_state: RandomState = None,
    normalize: bool = False,
) -> Bounds:
    """Lower and upper bound of Dasgupta's cost over all binary trees, from triples of points.

    Exact by default: O(n^3) with a small constant for matrices and vectors (about a second for 2,000 points),
    and for graphs as fast as their triangles can be listed. Sampled with `n_samples`.

    Parameters
    ----------
    similarity : Similarity, sparse adjacency or networkx graph
    n_samples : int, optional
        Estimate from this many random triples instead. The estimates are unbiased, so a sampled lower bound
        may lie above a tree's cost by a few of its standard errors.
    random_state : int, RandomState, Generator or None
        Seed of the sampling.
    normalize : bool
        Divide by the total weight, as `dasgupta_cost` does.

    Returns
    -------
    bounds : Bounds
        The tuple (lower, upper), with attributes `lower_error` and `upper_error`. In a graph with self-loops
        of total weight s, which meet at a leaf's parent, they count at least 2 s and at most n s.

    Notes
    -----
    Trees with unary or n-ary nodes are bounded from below as well, n-ary ones not from above: three leaves
    that meet at once count all their weights.

    References
    ----------
    Wang and Wang, "An improved cost function for hierarchical cluster trees", 2018; reported in Chami et
    al., "From trees to continuous embeddings and back", NeurIPS 2020 (over ordered pairs: twice this).

    Examples
    --------
    >>> import arbora as ab
    >>> similarity = ab.similarity.dense([[1, 0.8, 0.1], [0.8, 1, 0.3], [0.1, 0.3, 1]])
    >>> lower, upper = ab.metrics.dasgupta_bounds(similarity)
    >>> round(lower, 6), round(upper, 6)
    (2.8, 3.5)
    """
    similarity = as_similarity(similarity)
    weight, loops = _weights(similarity)
    lower, upper, errors = _triple_sums(similarity, weight, n_samples, random_state)
    # a loop meets at its leaf's parent, over at least two leaves where there are two
    lower += 2 * weight + min(2, similarity.n_points) * loops
    upper += 2 * weight + similarity.n_points * loops
    scale = 1.0
    if normalize:
        total = weight + loops
        scale = 1 / total if total > 0 else float("nan")
    return Bounds(lower * scale, upper * scale, errors[0] * scale, errors[1] * scale)


def wang_cost(
    tree: Tree,
    similarity: Any,
    *,
    base: float | None = None,
    n_samples: int | None = None,
    random_state: RandomState = None,
) -> float:
    """Wang and Wang's ratio cost: Dasgupta's cost over its lower bound, both without the constant part.

    The sum over triples of the weights that the tree separates, divided by the least that any tree could
    separate in each triple. At least 1 (for exact bounds), and 1 exactly when the tree fits every triple.
    Lower is better, and unlike Dasgupta's cost it can be compared between data sets.

    Parameters
    ----------
    tree : Tree
    similarity : Similarity, sparse adjacency or networkx graph
        Self-loops belong to no triple and are left out.
    base : float, optional
        The denominator, as returned by `wang_base_cost`, when several trees are compared.
    n_samples, random_state
        As in `dasgupta_bounds`.

    References
    ----------
    Wang and Wang, "An improved cost function for hierarchical cluster trees", 2018.

    Examples
    --------
    >>> import arbora as ab
    >>> similarity = ab.similarity.dense([[1, 0.8, 0.1], [0.8, 1, 0.3], [0.1, 0.3, 1]])
    >>> round(ab.metrics.wang_cost(ab.Tree([3, 3, 4, 4, -1], n_leaves=3), similarity), 6)
    1.0
    """
    similarity = covering_similarity(similarity, tree).without_self_loops()
    weight, _ = _weights(similarity)
    separated = dasgupta_cost(tree, similarity) - 2 * weight
    if base is None:
        base = wang_base_cost(similarity, n_samples=n_samples, random_state=random_state)
    # what is left of a difference of two equal sums
    rounding = 1e-12 * weight
    if base > rounding:
        return separated / base
    return 1.0 if separated <= rounding else float("inf")


def wang_base_cost(
    similarity: Any, *, n_samples: int | None = None, random_state: RandomState = None
) -> float:
    """The least that any tree could separate, summed over triples: the denominator of `wang_cost`.

    Examples
    --------
    >>> import arbora as ab
    >>> similarity = ab.similarity.dense([[1, 0.8, 0.1], [0.8, 1, 0.3], [0.1, 0.3, 1]])
    >>> round(ab.metrics.wang_base_cost(similarity), 6)
    0.4
    """
    similarity = as_similarity(similarity)
    return _triple_sums(similarity, _weights(similarity)[0], n_samples, random_state)[0]


def _weights(similarity: Similarity) -> tuple[float, float]:
    """Total weight of the pairs, and of the self-loops."""
    loops = float(similarity.self_loops.sum())
    return similarity.total - loops, loops


def _triple_sums(
    similarity: Similarity, weight: float, n_samples: int | None, random_state: RandomState
) -> tuple[float, float, tuple[float, float]]:
    """Sums over triples of all weights but the largest and all but the smallest; their standard errors."""
    n = similarity.n_points
    if n < 3:
        return 0.0, 0.0, (0.0, 0.0)
    if n_samples is not None:
        return _sampled_sums(similarity, n_samples, random_state)
    csr = similarity.csr
    if csr is not None:
        wedges = kernels.minimum_of_graph_wedges(csr.indptr, csr.data)
        smallest = kernels.minimum_of_triangles(csr.indptr, csr.indices, csr.data)
    else:
        matrix = _as_matrix(similarity)
        wedges = kernels.minimum_of_wedges(matrix)
        smallest = _minimum_of_triples(matrix)
    # Weights a <= b <= c of a triple: its three wedges have minima a, a, b, and a + b is all but the largest.
    return wedges - smallest, (n - 2) * weight - smallest, (0.0, 0.0)


def _minimum_of_triples(matrix: NDArray[np.float64]) -> float:
    """The sum over all triples, in parts of about a second: between two of them Ctrl-C is noticed."""
    n = len(matrix)
    n_tasks = -(-n // kernels.ROWS_AT_ONCE)
    at_once = max(_LEAST_TASKS, int(_TRIPLES_AT_ONCE / (kernels.ROWS_AT_ONCE * n * n / 6)))
    starts = range(0, n_tasks, at_once)
    return float(sum(kernels.minimum_of_triples(matrix, a, min(a + at_once, n_tasks)) for a in starts))


def _as_matrix(similarity: Similarity) -> NDArray[np.float64]:
    n = similarity.n_points
    if n > _MAX_EXACT_POINTS:
        raise TooLargeError(
            f"Exact bounds take n^3 / 6 triples; {n} points are more than {_MAX_EXACT_POINTS}. "
            f"Pass n_samples=, for example 1_000_000."
        )
    if similarity.matrix is not None:
        return np.ascontiguousarray(similarity.matrix, dtype=np.float64)
    refuse_if_too_large(16 * n * n, f"All pairs of {n} points", "Pass n_samples=, for example 1_000_000.")
    matrix = np.empty((n, n))
    for points, rows in similarity.row_blocks():
        matrix[points] = rows
    return matrix


def _sampled_sums(
    similarity: Similarity, n_samples: int, random_state: RandomState
) -> tuple[float, float, tuple[float, float]]:
    check_whole(n_samples, "n_samples", least=2)
    rng = generator(random_state)
    n = similarity.n_points
    # sum and sum of squares, of all but the largest and all but the smallest
    moments = np.zeros((2, 2))
    origin: Any = None
    for first in range(0, n_samples, _TRIPLES_PER_BLOCK):
        i, j, k = _random_triples(n, min(_TRIPLES_PER_BLOCK, n_samples - first), rng)
        weights = np.stack([similarity.pairs(i, j), similarity.pairs(i, k), similarity.pairs(j, k)])
        all_three = weights.sum(axis=0)
        values = np.stack([all_three - weights.max(axis=0), all_three - weights.min(axis=0)])
        origin = values.mean(axis=1, keepdims=True) if origin is None else origin
        # about the first block's mean: nothing cancels
        moments[0] += (values - origin).sum(axis=1)
        moments[1] += ((values - origin) ** 2).sum(axis=1)
    n_triples = n * (n - 1) * (n - 2) / 6
    shift = moments[0] / n_samples
    spread = np.sqrt(np.maximum(moments[1] / n_samples - shift**2, 0) / (n_samples - 1))
    lower, upper = n_triples * (origin[:, 0] + shift)
    return float(lower), float(upper), tuple((n_triples * spread).tolist())


def _random_triples(n: int, size: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], ...]:
    """Triples of distinct points, each ordered triple equally likely."""
    i, j, k = rng.integers(0, n, size), rng.integers(0, n - 1, size), rng.integers(0, n - 2, size)
    # the j-th of the points that are left
    j += j >= i
    low, high = np.minimum(i, j), np.maximum(i, j)
    k += k >= low
    k += k >= high
    return i, j, k
