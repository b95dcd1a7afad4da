"""A similarity given as an n x n matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arbora._base.arrays import check_finite
from arbora._base.types import AnyFloats, Floats
from arbora.similarity import _kernels as kernels
from arbora.similarity.protocol import (
    Similarity,
    check_covers,
    check_pair_arrays,
    check_points,
    check_vectors_of_points,
    names_of_subset,
)

if TYPE_CHECKING:
    from arbora.tree import Tree


class DenseSimilarity(Similarity):
    """Similarity from a symmetric matrix; build it with `arbora.similarity.dense`.

    Attributes
    ----------
    matrix : ndarray of float, shape (n_points, n_points)
        The diagonal means nothing.
    names : list of str or None
        Names of the points.
    """

    matrix: AnyFloats

    def __init__(self, matrix: AnyFloats, names: list[str] | None = None) -> None:
        self.matrix = matrix
        self.names = names

    @property
    def n_points(self) -> int:
        return len(self.matrix)

    @property
    def total(self) -> float:
        return float(self.matrix.sum(dtype=np.float64) - np.trace(self.matrix, dtype=np.float64)) / 2

    @property
    def degrees(self) -> Floats:
        return np.asarray(self.matrix.sum(axis=1, dtype=np.float64) - np.diagonal(self.matrix))

    @property
    def is_non_negative(self) -> bool:
        return bool((self.matrix >= 0).all()) or super().is_non_negative

    def pairs(self, i: ArrayLike, j: ArrayLike) -> Floats:
        """Similarity of given pairs."""
        left, right = check_pair_arrays(i, j, self.n_points)
        return self.matrix[left, right].astype(np.float64)

    def rows(self, i: ArrayLike) -> Floats:
        """Similarity of the points i to all points."""
        return self.matrix[check_points(i, self.n_points)].astype(np.float64, copy=False)

    def multiply(self, x: ArrayLike) -> Floats:
        """Sum over j ≠ i of similarity(i, j) x[j]."""
        vectors = check_vectors_of_points(x, self.n_points)
        own = np.diagonal(self.matrix).reshape(-1, *[1] * (vectors.ndim - 1))
        return np.asarray(self.matrix @ vectors - own * vectors, dtype=np.float64)

    def cross(self, tree: Tree) -> Floats:
        """Similarity that meets at each internal node. O(n^2)."""
        check_covers(self, tree)
        cross: Floats = kernels.cross_of_matrix(
            self.matrix, tree.leaf_order, tree.neighbor_lca, tree.n_leaves, tree.n_internal
        )
        return cross

    def subset(self, points: ArrayLike) -> DenseSimilarity:
        """The similarity of some of the points, in the given order."""
        some = check_points(points, self.n_points)
        matrix = np.ascontiguousarray(self.matrix[np.ix_(some, some)])
        return DenseSimilarity(matrix, names_of_subset(self.names, some))

    def identity(self) -> dict[str, Any]:
        """What decides the similarity, for `identity_of`."""
        return {"matrix": self.matrix}


def dense(W: ArrayLike) -> DenseSimilarity:
    """Similarity from a symmetric, non-negative matrix: larger means more alike.

    The diagonal is ignored. For a matrix of distances D, pass for example ``D.max() - D``.

    Parameters
    ----------
    W : array-like of float, shape (n, n)

    Examples
    --------
    >>> import arbora as ab
    >>> ab.similarity.dense([[1.0, 0.75, 0.25], [0.75, 1.0, 0.5], [0.25, 0.5, 1.0]]).total
    1.5
    """
    if isinstance(W, DenseSimilarity):
        return W
    matrix = np.asarray(W)
    if matrix.dtype not in (np.float32, np.float64):
        matrix = _to_float64(matrix)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) == 0:
        raise ValueError(f"W must be a square matrix of similarities. Got shape {matrix.shape}.")
    check_finite(matrix, "W")
    if matrix.min() < 0:
        i, j = np.unravel_index(int(np.argmin(matrix)), matrix.shape)
        raise ValueError(
            f"W must not be negative: W[{i}, {j}] = {matrix[i, j]:.6g}. Shift or clip it, "
            f"or use similarity.cosine(X) for vectors."
        )
    _check_symmetric(matrix)
    _refuse_distances(matrix)
    return DenseSimilarity(np.ascontiguousarray(matrix))


def _to_float64(matrix: NDArray) -> NDArray[np.float64]:
    if matrix.dtype.kind not in "biuf":
        raise TypeError(f"W must hold real numbers. Got dtype {matrix.dtype}.")
    return matrix.astype(np.float64)


def _check_symmetric(matrix: NDArray[np.floating]) -> None:
    tolerance = 1e-5 if matrix.dtype == np.float32 else 1e-9
    worst, where = 0.0, (0, 0)
    step = max(
        1, 4_000_000 // len(matrix)
    )  # in blocks: a transposed copy of everything would double the memory
    for first in range(0, len(matrix), step):
        gap = np.abs(matrix[first : first + step] - matrix[:, first : first + step].T)
        if gap.max() > worst:
            i, j = np.unravel_index(int(np.argmax(gap)), gap.shape)
            worst, where = float(gap.max()), (first + int(i), int(j))
    if worst > tolerance * max(1.0, float(matrix.max())):
        raise ValueError(
            f"W must be symmetric: W[{where[0]}, {where[1]}] and its mirror differ by {worst:.3g}. "
            f"Use (W + W.T) / 2 if that is what you mean."
        )


def _refuse_distances(matrix: NDArray[np.floating]) -> None:
    """A zero diagonal below every other entry is how a matrix of distances looks."""
    n = len(matrix)
    if n > 2 and not np.diagonal(matrix).any() and matrix.sum(dtype=np.float64) > 0:
        off_diagonal_minimum = np.partition(matrix.ravel(), n)[n] if n <= 2000 else 0.0
        if off_diagonal_minimum > 0:
            raise ValueError(
                "W has a zero diagonal and positive entries everywhere else: it looks like distances, "
                "not similarities. Pass D.max() - D, or set the diagonal to the largest similarity."
            )
