"""What every similarity offers. Metrics, searches, estimators and checkpoints ask for nothing more.

The base class computes everything from `pairs` alone. A similarity that knows a quicker way overrides it, and one
that has a form which compiled loops can read (`csr`, `matrix` or `features`) says so by having it: there is no need
to ask what kind a similarity is.
"""

from __future__ import annotations

import functools
import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from arbora._base.arrays import check_finite
from arbora._base.types import AnyFloats, Floats, Ints
from arbora.similarity import _kernels as kernels
from arbora.similarity.checks import (
    check_covers,
    check_pair_arrays,
    check_points,
    check_similarity_rows,
    check_vectors_of_points,
)

if TYPE_CHECKING:
    from arbora._base.distributed import Workers
    from arbora.similarity.sharded import ShardedGraph
    from arbora.tree import Tree


# nearest points whose mean similarity says how remote a point is, and points of which that is known
_N_NEAREST, _N_SAMPLED = 10, 2000


class Similarity(ABC):
    """How alike n points are: symmetric, larger means more alike, the same at every call.

    Your own similarity is a subclass with `n_points` and `pairs`; everything else follows from them in O(n²)
    time and O(n) memory, and may be overridden where there is a quicker way. What a point's similarity with itself
    is does not matter: only `self_loops` count, which are 0 unless overridden.

    Attributes
    ----------
    names : list of str or None
        Names of the points, which trees built from the similarity take over.
    csr : scipy.sparse.csr_array of shape (n_points, n_points), or None
        All similarities that are not 0, where most are: symmetric, without diagonal, indices sorted.
    matrix : ndarray of shape (n_points, n_points), or None
        All similarities, where they are held in memory. The diagonal means nothing.
    workers : Workers or None
        Where its parts are processed, if they are spread over machines.
    features : ndarray of shape (n_points, n_features), or None
        Vectors whose inner products are the similarities, where there are such; `features_of` makes those of
        new points.

    Examples
    --------
    >>> import numpy as np
    >>> import arbora as ab
    >>> class SameLetters(ab.similarity.Similarity):
    ...     def __init__(self, words):
    ...         self.words = words
    ...
    ...     @property
    ...     def n_points(self):
    ...         return len(self.words)
    ...
    ...     def pairs(self, i, j):
    ...         shared = lambda a, b: len(set(self.words[a]) & set(self.words[b]))
    ...         return np.vectorize(shared, otypes=[float])(i, j)
    >>> similarity = SameLetters(["tree", "three", "loss", "lasso"])
    >>> similarity.total
    6.0
    >>> ab.metrics.dasgupta_cost(ab.linkage(similarity), similarity)
    12.0
    """

    names: list[str] | None = None
    csr: sp.csr_array | None = None
    matrix: AnyFloats | None = None
    features: AnyFloats | None = None
    workers: Workers | None = None
    # similarities held at once where all pairs are passed through
    values_at_once = 1 << 22

    @property
    @abstractmethod
    def n_points(self) -> int:
        """Number of points."""

    @abstractmethod
    def pairs(self, i: ArrayLike, j: ArrayLike) -> Floats:
        """Similarity of given pairs of points: float64, of the shape to which i and j broadcast."""

    # ---- all pairs, a block of rows at a time -----------------------------------------------------------------

    def rows(self, i: ArrayLike) -> Floats:
        """Similarity of the points i to all points: float64[m, n_points]."""
        points = check_points(i, self.n_points)
        left, right = np.broadcast_arrays(points[:, None], np.arange(self.n_points)[None, :])
        values = np.asarray(self.pairs(left, right), dtype=np.float64)
        what = f"The result of {type(self).__name__}.pairs(i, j)"
        if values.shape != left.shape:
            raise ValueError(
                f"{what} must have the shape to which i and j broadcast, {left.shape}. Got {values.shape}."
            )
        check_finite(values, what)
        return values

    def row_blocks(self, order: Ints | None = None) -> Iterator[tuple[Ints, Floats]]:
        """All rows in pieces that fit into memory: pairs (points, rows of these points), the caller's to change.

        `order` lists the points in the order in which their rows come.
        """
        points = np.arange(self.n_points) if order is None else np.asarray(order, dtype=np.int64)
        step = max(1, self.values_at_once // max(1, self.n_points))
        for first in range(0, len(points), step):
            some = points[first : first + step]
            yield some, self.rows(some)

    @functools.cached_property
    def self_loops(self) -> Floats:
        """Similarity of each point with itself, float64[n_points]. In a tree it meets at the leaf's parent."""
        return np.zeros(self.n_points)

    def nearby_order(self) -> Ints | None:
        """The points in an order in which similar ones are near each other; None where none is known."""
        return None

    def in_shards(self) -> ShardedGraph | None:
        """The graph whose edges are spread over machines, where it is one."""
        return None

    def without_self_loops(self) -> Similarity:
        """The same similarity of different points; itself where there are no self-loops."""
        if not self.self_loops.any():
            return self
        loopless = self.subset(np.arange(self.n_points))
        loopless.self_loops = np.zeros(self.n_points)
        return loopless

    @property
    def total(self) -> float:
        """Sum of the similarity over all unordered pairs, plus the self-loops."""
        return float(self.multiply(np.ones(self.n_points)).sum()) / 2 + float(self.self_loops.sum())

    @property
    def degrees(self) -> Floats:
        """Sum of each point's similarities to the others, plus twice its self-loop: they sum to 2 * total."""
        return self.multiply(np.ones(self.n_points)) + 2 * self.self_loops

    @property
    def is_non_negative(self) -> bool:
        """Whether no two points have a negative similarity."""
        return all(bool((_without_own(*block) >= 0).all()) for block in self.row_blocks())

    def multiply(self, x: ArrayLike) -> Floats:
        """Sum over j ≠ i of similarity(i, j) x[j]: float64 of the shape of x, (n_points,) or (n_points, m)."""
        vectors = check_vectors_of_points(x, self.n_points)
        product = np.empty(vectors.shape)
        for points, rows in self.row_blocks():
            product[points] = _without_own(points, rows) @ vectors
        return product

    def sum_of_squares(self, center: float = 0.0) -> float:
        """Sum over unordered pairs of different points of (similarity - center)²."""
        total = 0.0
        for points, rows in self.row_blocks():
            gap = rows - center
            total += float(np.einsum("ij,ij->", gap, gap) - (gap[np.arange(len(points)), points] ** 2).sum())
        return total / 2

    def information(self, log_node_law: Floats) -> float:
        """Divergence, in nats, of drawing two different points by their similarity from drawing them independently.

        The sum over ordered pairs of ``p log(p / (p_i p_j))``, p being the similarity over twice the `total`;
        `log_node_law` holds the logarithms of the p_i.
        """
        twice, found = 2 * self.total, 0.0
        for points, rows in self.row_blocks():
            rows[np.arange(len(points)), points] = 0
            found += information_of(rows, twice, log_node_law[points, None] + log_node_law)
        return found

    # ---- trees ------------------------------------------------------------------------------------------------

    def cross(self, tree: Tree) -> Floats:
        """Similarity that meets at each internal node of a tree: float64[n_internal].

        The sum over the unordered pairs of leaves whose lowest common ancestor the node is: the one operation that
        internal metrics need.
        """
        check_covers(self, tree)
        cross = np.zeros(tree.n_internal)
        first = 0
        for points, rows in self.row_blocks(tree.leaf_order):
            kernels.cross_of_rows(rows, tree.leaf_order, first, tree.neighbor_lca, tree.n_leaves, cross)
            first += len(points)
        loops = self.self_loops
        if tree.n_internal and loops.any():
            above = tree.parent[: tree.n_leaves] - tree.n_leaves
            cross += np.bincount(above, weights=loops, minlength=tree.n_internal)
        return cross

    # ---- other points -----------------------------------------------------------------------------------------

    def subset(self, points: ArrayLike) -> Similarity:
        """The similarity of some of the points, in the given order."""
        return _Subset(self, check_points(points, self.n_points))

    def query(self, X: Any, *, n_jobs: int | None = None) -> sp.csr_array:
        """Similarity of new points to these, as sparse rows: csr_array of shape (m, n_points).

        Parameters
        ----------
        X : array-like or sparse matrix
            New points as the similarity was built from: vectors where it was built from vectors. Otherwise one row
            per new point with its similarity to each of these points, shape (m, n_points).
        n_jobs : int, optional
            Threads; None means all cores.
        """
        return check_similarity_rows(X, self.n_points)

    def remoteness(self, X: Any = None, *, n_jobs: int | None = None) -> Floats:
        """How far each new point is from its nearest points: a number that is meaningful only in comparisons.

        Without X, the same for the points themselves, or for a sample of them where there are many. Here it is minus
        the mean similarity to the ten nearest points; kinds that know distances compare these.
        """
        count = max(1, min(_N_NEAREST, self.n_points - 1))
        step = max(1, self.values_at_once // max(1, self.n_points))
        if X is not None and self.features is None:
            return -_mean_of_largest(self.query(X, n_jobs=n_jobs), count)
        if X is not None:
            new = self.features_of(X)
            old = np.asarray(self.features)
            similar = (new[first : first + step] @ old.T for first in range(0, len(new), step))
        else:
            sample = np.linspace(0, self.n_points - 1, min(self.n_points, _N_SAMPLED)).astype(np.int64)
            if self.csr is not None:
                return -_mean_of_largest(self.csr[sample], count)
            blocks = (sample[first : first + step] for first in range(0, len(sample), step))
            similar = (_without_own(some, self.rows(some)) for some in blocks)
        parts = [_mean_of_largest(sp.csr_array(np.maximum(rows, 0)), count) for rows in similar]
        return -np.concatenate(parts) if parts else np.empty(0)

    def features_of(self, X: Any) -> AnyFloats:
        """Features of new points; only for a similarity with `features`."""
        raise TypeError(
            f"{type(self).__name__} has no features. Use query(X), which every similarity offers."
        )

    def for_new_points(self, tree: Tree) -> tuple[Tree, Similarity, Ints | None]:
        """What new points are compared with: a tree, the similarity of its leaves, and which leaves of `tree` they are.

        All of them (None), except where the similarities of all points are on no single machine.
        """
        return tree, self, None

    def vectors(self) -> AnyFloats | sp.csr_array | None:
        """Vectors of the points, up to shift and scale, where they were compared as vectors; else None."""
        return None

    # ---- checkpoints ------------------------------------------------------------------------------------------

    def identity(self) -> dict[str, Any]:
        """What decides the similarity, for `identity_of`: a checkpoint of other data must be refused."""
        digest = hashlib.sha256()
        for _, rows in self.row_blocks():
            digest.update(np.ascontiguousarray(rows).data)
        return {"n_points": self.n_points, "pairs": digest.hexdigest(), "self_loops": self.self_loops}

    def __repr__(self) -> str:
        return f"{type(self).__name__}(n_points={self.n_points})"


class _Subset(Similarity):
    """Some of the points of a similarity that offers nothing but pairs."""

    def __init__(self, whole: Similarity, points: Ints) -> None:
        self._whole = whole
        self._points = points
        self.self_loops = whole.self_loops[points]
        self.names = names_of_subset(whole.names, points)

    @property
    def n_points(self) -> int:
        return len(self._points)

    def pairs(self, i: ArrayLike, j: ArrayLike) -> Floats:
        left, right = check_pair_arrays(i, j, self.n_points)
        return self._whole.pairs(self._points[left], self._points[right])


def information_of(weights: NDArray[np.floating], total: float, log_independent: Floats) -> float:
    """Sum of ``p log(p / q)``, where p is a weight over the total and q is given by its logarithm."""
    drawn = weights > 0
    law = weights[drawn].astype(np.float64) / total
    return float(law @ (np.log(law) - log_independent[drawn]))


def is_similarity(value: Any) -> bool:
    """Whether a value is a similarity."""
    return isinstance(value, Similarity)


def _mean_of_largest(rows: sp.csr_array, count: int) -> Floats:
    """Sum of the largest entries of each sparse row, over `count`: what is absent is 0."""
    rows = sp.csr_array(rows)
    largest = np.zeros(rows.shape[0])
    for row, (first, last) in enumerate(zip(rows.indptr[:-1], rows.indptr[1:])):
        values = rows.data[first:last]
        if len(values) > count:
            values = np.partition(values, -count)[-count:]
        largest[row] = values.sum(dtype=np.float64) / count
    return largest


def names_of_subset(names: list[str] | None, points: Ints) -> list[str] | None:
    """Names of some of the points."""
    return None if names is None else [names[point] for point in points.tolist()]


def _without_own(points: Ints, rows: Floats) -> NDArray[np.float64]:
    """The rows, changed in place: a point's similarity with itself becomes 0."""
    rows[np.arange(len(points)), points] = 0
    return rows
