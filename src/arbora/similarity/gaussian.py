"""The Gaussian kernel, exact, in blocks: O(n^2) time and O(n) memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arbora.similarity import _kernels as kernels
from arbora.similarity._protocol import check_covers, check_pair_arrays
from arbora.similarity.features import checked_vectors

if TYPE_CHECKING:
    from arbora.tree import Tree

_VALUES_PER_BLOCK = 1 << 22  # similarities computed at once
_MEDIAN_PAIRS = 100_000


class GaussianSimilarity:
    """Similarity ``exp(-|x - y|^2 / (2 scale^2))``; build it with `arbora.similarity.gaussian`.

    Attributes
    ----------
    X : ndarray of float64, shape (n_points, n_features)
        The points, centered.
    scale : float
        Standard deviation of the kernel.
    """

    def __init__(self, X: NDArray[np.float64], scale: float) -> None:
        self.X = X
        self.scale = scale
        self._squares = np.einsum("ij,ij->i", X, X)

    @property
    def n_points(self) -> int:
        return len(self.X)

    @property
    def total(self) -> float:
        inner = sum(float(block.sum()) for _, block in self._blocks(self.X, self._squares))
        return (inner - self.n_points) / 2  # the diagonal is 1

    def pairs(self, i: ArrayLike, j: ArrayLike) -> NDArray[np.float64]:
        """Similarity of given pairs."""
        left, right = check_pair_arrays(i, j, self.n_points)
        flat_left, flat_right = left.ravel(), right.ravel()
        values = np.empty(left.size)
        step = max(1, _VALUES_PER_BLOCK // self.X.shape[1])
        for first in range(0, left.size, step):
            gap = self.X[flat_left[first : first + step]] - self.X[flat_right[first : first + step]]
            values[first : first + step] = np.einsum("ij,ij->i", gap, gap)
        return np.exp(values / (-2 * self.scale**2)).reshape(left.shape)

    def rows(self, first: int, last: int) -> NDArray[np.float64]:
        """Similarity of points first..last-1 to all points: float64[last - first, n_points]."""
        return self._kernel(self.X[first:last], self._squares[first:last], self.X, self._squares)

    def cross(self, tree: Tree) -> NDArray[np.float64]:
        """Similarity that meets at each internal node. O(n^2) time, a block of rows at a time."""
        check_covers(self, tree)
        cross = np.zeros(tree.n_internal)
        order = tree.leaf_order
        position = np.arange(self.n_points)
        for first, block in self._blocks(self.X[order], self._squares[order]):
            kernels.cross_of_rows(block, position, first, tree.neighbor_lca, tree.n_leaves, cross)
        return cross

    def _blocks(self, X: NDArray[np.float64], squares: NDArray[np.float64]) -> Any:
        step = max(1, _VALUES_PER_BLOCK // len(X))
        for first in range(0, len(X), step):
            part = slice(first, first + step)
            block = self._kernel(X[part], squares[part], X, squares)
            block[np.arange(len(block)), np.arange(first, first + len(block))] = 1.0
            yield first, block

    def _kernel(self, A: NDArray, squares_a: NDArray, B: NDArray, squares_b: NDArray) -> NDArray[np.float64]:
        block = A @ B.T
        block *= -2
        block += squares_a[:, None]
        block += squares_b
        np.maximum(block, 0, out=block)  # rounding can leave a tiny negative square
        block /= -2 * self.scale**2
        return np.exp(block, out=block)

    def identity(self) -> tuple[Any, ...]:
        """What the similarities are made of, for `identity_of`."""
        return self.X, self.scale

    def __repr__(self) -> str:
        return f"GaussianSimilarity(n_points={self.n_points}, scale={self.scale:.6g})"


def gaussian(X: Any, scale: float | str = "median", *, random_state: Any = None) -> GaussianSimilarity:
    """Gaussian similarity ``exp(-|x - y|^2 / (2 scale^2))`` of the rows of X, never stored as a matrix.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_points, n_features)
        Rows to compare.
    scale : float or "median"
        Standard deviation of the kernel; "median" takes the median distance of pairs of different points
        (of all pairs of small data, of 100,000 drawn ones otherwise).
    random_state : int, RandomState or None
        Draws those pairs; None always draws the same.

    Examples
    --------
    >>> import arbora as ab
    >>> sim = ab.similarity.gaussian([[0.0], [1.0], [3.0]], scale=1.0)
    >>> sim.pairs([0, 0], [1, 2]).round(4)
    array([0.6065, 0.0111])
    """
    rows = checked_vectors(X)
    rows = rows - rows.mean(axis=0)
    if isinstance(scale, str):
        if scale != "median":
            raise ValueError(f'scale must be a positive number or "median". Got {scale!r}.')
        scale = _median_distance(rows, random_state)
    elif isinstance(scale, bool) or not np.isreal(scale) or not np.isfinite(scale) or scale <= 0:
        raise ValueError(f'scale must be a positive number or "median". Got {scale!r}.')
    return GaussianSimilarity(rows, float(scale))


def _median_distance(X: NDArray[np.float64], random_state: Any) -> float:
    n = len(X)
    if n * (n - 1) // 2 <= _MEDIAN_PAIRS:
        i, j = np.triu_indices(n, 1)
    else:
        rng = np.random.default_rng(0 if random_state is None else random_state)
        i, j = rng.integers(n, size=(2, _MEDIAN_PAIRS))
    distance = np.concatenate(
        [
            np.linalg.norm(X[i[a : a + 10_000]] - X[j[a : a + 10_000]], axis=1)
            for a in range(0, len(i), 10_000)
        ]
        or [[]]
    )
    distance = distance[distance > 0]
    return float(np.median(distance)) if len(distance) else 1.0
