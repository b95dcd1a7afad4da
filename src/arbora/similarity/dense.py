"""A similarity given as an n x n matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arbora.similarity import _kernels as kernels
from arbora.similarity._protocol import check_covers, check_finite, check_pair_arrays

if TYPE_CHECKING:
    from arbora.tree import Tree


class DenseSimilarity:
    """Similarity from a symmetric matrix; build it with `arbora.similarity.dense`."""

    def __init__(self, matrix: NDArray[np.floating]) -> None:
        self.matrix = matrix

    @property
    def n_points(self) -> int:
        return len(self.matrix)

    @property
    def total(self) -> float:
        return float(self.matrix.sum(dtype=np.float64) - np.trace(self.matrix, dtype=np.float64)) / 2

    def pairs(self, i: ArrayLike, j: ArrayLike) -> NDArray[np.float64]:
        """Similarity of given pairs."""
        left, right = check_pair_arrays(i, j, self.n_points)
        return self.matrix[left, right].astype(np.float64)

    def cross(self, tree: Tree) -> NDArray[np.float64]:
        """Similarity that meets at each internal node. O(n^2)."""
        check_covers(self, tree)
        return kernels.cross_of_matrix(
            self.matrix, tree.leaf_order, tree.neighbor_lca, tree.n_leaves, tree.n_internal
        )

    def identity(self) -> tuple[Any, ...]:
        """What the similarities are made of, for `identity_of`."""
        return (self.matrix,)

    def __repr__(self) -> str:
        return f"DenseSimilarity(n_points={self.n_points})"


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
