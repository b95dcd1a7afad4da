"""A similarity given as an n x n matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from arbora._base.arrays import as_matrix, check_finite
from arbora._base.memory import refuse_if_too_large
from arbora._base.types import AnyFloats, Floats
from arbora.similarity import _kernels as kernels
from arbora.similarity._symmetry import check_symmetric
from arbora.similarity.checks import check_covers, check_pair_arrays, check_points, check_vectors_of_points
from arbora.similarity.protocol import Similarity, names_of_subset

if TYPE_CHECKING:
    from arbora.tree import Tree


class DenseSimilarity(Similarity):
    """Similarity from a symmetric matrix; build it with `arbora.similarity.dense`.

    Attributes
    ----------
    matrix : ndarray of float, shape (n_points, n_points)
        The diagonal is ignored.
    names : list of str or None
        Names of the points.

    Examples
    --------
    >>> import arbora as ab
    >>> similarity = ab.similarity.dense([[1.0, 0.9, 0.1], [0.9, 1.0, 0.2], [0.1, 0.2, 1.0]])
    >>> similarity.n_points, round(similarity.total, 6), similarity.pairs([0, 1], [1, 2]).tolist()
    (3, 1.2, [0.9, 0.2])
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


def dense(matrix: ArrayLike) -> DenseSimilarity:
    """Similarity from a symmetric, non-negative matrix: larger means more alike.

    The diagonal is ignored. For a matrix of distances D use ``similarity.knn(D, metric="precomputed")``, or pass
    ``D.max() - D`` here.

    Parameters
    ----------
    matrix : array-like or data frame of float, shape (n, n)
        The index of a data frame names the points.

    Examples
    --------
    >>> import arbora as ab
    >>> ab.similarity.dense([[1.0, 0.75, 0.25], [0.75, 1.0, 0.5], [0.25, 0.5, 1.0]]).total
    1.5
    """
    if isinstance(matrix, DenseSimilarity):
        return matrix
    values, names = read_square(matrix, "matrix", "similarities")
    if values.min() < 0:
        i, j = np.unravel_index(int(np.argmin(values)), values.shape)
        raise ValueError(
            f"matrix must not be negative: matrix[{i}, {j}] = {values[i, j]:.6g}. Shift or clip it, "
            f"or use similarity.cosine(X) for vectors."
        )
    _refuse_distances(values)
    found = DenseSimilarity(values, names)
    return found


def read_square(data: Any, argument: str, what: str) -> tuple[AnyFloats, list[str] | None]:
    """A square symmetric matrix of finite numbers, in float32 or float64, and the names of its rows."""
    found = as_matrix(data, argument=argument)
    values = found.values
    if values.shape[0] != values.shape[1] or len(values) == 0:
        raise ValueError(f"{argument} must be a square matrix of {what}. Got shape {values.shape}.")
    n = len(values)
    # checking takes a few more matrices of the size
    refuse_if_too_large(
        24 * n * n, f"The checks of {n} x {n} {what}", "Use similarity.knn(X) of the vectors behind them."
    )
    rows, columns = found.row_names, found.column_names
    if rows is not None and columns is not None and rows != columns and sorted(rows) == sorted(columns):
        raise ValueError(f"{argument} has the same names in its index and its columns, but in another order.")
    values = np.ascontiguousarray(values, dtype=np.float32 if values.dtype == np.float32 else np.float64)
    check_finite(values, argument)
    check_symmetric(values, argument)
    return values, rows


def _refuse_distances(matrix: AnyFloats) -> None:
    """A zero diagonal below every other entry is typical of a matrix of distances."""
    n = len(matrix)
    if n > 2 and not np.diagonal(matrix).any() and np.count_nonzero(matrix) == n * (n - 1):
        raise ValueError(
            "matrix has a zero diagonal and positive entries everywhere else: it looks like distances, not "
            'similarities. For distances D use similarity.knn(D, metric="precomputed"), or pass D.max() - D. If they '
            "are similarities, set the diagonal to the largest of them."
        )
