"""Similarities that are inner products of features: exact costs in O(n d), never an n x n matrix."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, DTypeLike

from arbora._base.arrays import as_vectors, row_names
from arbora._base.memory import refuse_if_too_large
from arbora._base.params import check_switch
from arbora._base.threads import share_out
from arbora._base.types import AnyFloats, Floats
from arbora.similarity import _kernels as kernels
from arbora.similarity.checks import check_covers, check_pair_arrays, check_points, check_vectors_of_points
from arbora.similarity.protocol import Similarity, names_of_subset

if TYPE_CHECKING:
    from arbora.tree import Tree

# values gathered at once when pairs are evaluated
_PAIRS_PER_BLOCK = 1 << 20
# values scaled at once
_VALUES_AT_ONCE = 1 << 18


class FeatureSimilarity(Similarity):
    """Similarity ``features[i] @ features[j]``; build it with `arbora.similarity.cosine`.

    Attributes
    ----------
    features : ndarray of float, shape (n_points, n_features)
        With the affine form, the last column is the constant that turns cos into (1 + cos) / 2.
    names : list of str or None
        Names of the points.

    Examples
    --------
    >>> import arbora as ab
    >>> similarity = ab.similarity.cosine([[1.0, 0.0], [0.0, 2.0], [3.0, 3.0]])
    >>> similarity.pairs([0, 0], [1, 2]).round(2).tolist()
    [0.5, 0.85]
    """

    features: AnyFloats

    def __init__(
        self,
        features: AnyFloats,
        *,
        is_non_negative: bool,
        affine: bool = False,
        names: list[str] | None = None,
    ) -> None:
        self.features = features
        self._is_non_negative = is_non_negative
        self.affine = affine
        self.names = names

    @property
    def is_non_negative(self) -> bool:
        return self._is_non_negative

    @property
    def n_points(self) -> int:
        return len(self.features)

    @property
    def total(self) -> float:
        sums = self.features.sum(axis=0, dtype=np.float64)
        return float(sums @ sums - np.einsum("ij,ij->", self.features, self.features, dtype=np.float64)) / 2

    def pairs(self, i: ArrayLike, j: ArrayLike) -> Floats:
        """Similarity of given pairs."""
        left, right = check_pair_arrays(i, j, self.n_points)
        values = np.empty(left.size)
        flat_left, flat_right = left.ravel(), right.ravel()
        step = max(1, _PAIRS_PER_BLOCK // self.features.shape[1])
        for first in range(0, left.size, step):
            block = slice(first, first + step)
            values[block] = np.einsum(
                "ij,ij->i", self.features[flat_left[block]], self.features[flat_right[block]]
            )
        return values.reshape(left.shape)

    def rows(self, i: ArrayLike) -> Floats:
        """Similarity of the points i to all points. O(m n d)."""
        return (self.features[check_points(i, self.n_points)] @ self.features.T).astype(
            np.float64, copy=False
        )

    def multiply(self, x: ArrayLike) -> Floats:
        """Sum over j ≠ i of similarity(i, j) x[j]. O(n d)."""
        vectors = check_vectors_of_points(x, self.n_points)
        own = np.einsum("ij,ij->i", self.features, self.features, dtype=np.float64)
        product = self.features @ (self.features.T @ vectors)
        return np.asarray(product - own.reshape(-1, *[1] * (vectors.ndim - 1)) * vectors)

    def sum_of_squares(self, center: float = 0.0) -> float:
        """Sum over pairs of (similarity - center)², in O(n d²): the squares sum to the squared norm of F^T F."""
        features = self.features.astype(np.float64, copy=False)
        own = np.einsum("ij,ij->i", features, features)
        gram = features.T @ features
        squares = (float((gram**2).sum()) - float(own @ own)) / 2
        n_pairs = self.n_points * (self.n_points - 1) / 2
        return squares - 2 * center * self.total + n_pairs * center**2

    def cross(self, tree: Tree) -> Floats:
        """Similarity that meets at each internal node. O(n d)."""
        check_covers(self, tree)
        sums = np.array(self.features, dtype=np.float64)
        cross: Floats = kernels.cross_of_features(sums, tree.n_leaves, tree.child_offsets, tree.child_index)
        return cross

    def subset(self, points: ArrayLike) -> FeatureSimilarity:
        """The similarity of some of the points, in the given order."""
        some = check_points(points, self.n_points)
        return FeatureSimilarity(
            self.features[some],
            is_non_negative=self.is_non_negative,
            affine=self.affine,
            names=names_of_subset(self.names, some),
        )

    def features_of(self, X: Any) -> AnyFloats:
        """Features of new points, made as those of the fitted ones."""
        features = _cosine_features(X, self.affine, self.features.dtype)
        if features.shape[1] != self.features.shape[1]:
            n_features = self.features.shape[1] - self.affine
            raise ValueError(
                f"X must have the {n_features} features of the fitted rows. Got {features.shape[1] - self.affine}."
            )
        return features

    def query(self, X: Any, *, n_jobs: int | None = None) -> sp.csr_array:
        """Similarity of new points to these, as sparse rows; those below 0 count as 0."""
        new = self.features_of(X)
        step = max(1, self.values_at_once // self.n_points)
        blocks = [
            sp.csr_array(np.maximum(new[first : first + step] @ self.features.T, 0).astype(np.float64))
            for first in range(0, len(new), step)
        ]
        return sp.csr_array(sp.vstack(blocks))

    def vectors(self) -> AnyFloats:
        """The directions of the points, all scaled alike."""
        return self.features[:, :-1] if self.affine else self.features

    def identity(self) -> dict[str, Any]:
        """What decides the similarity, for `identity_of`."""
        return {"features": self.features, "affine": self.affine, "is_non_negative": self.is_non_negative}

    def __repr__(self) -> str:
        return f"FeatureSimilarity(n_points={self.n_points}, n_features={self.features.shape[1]})"


def cosine(X: Any, *, affine: bool = True) -> FeatureSimilarity:
    """Cosine similarity of the rows of X, by default (1 + cos) / 2 as in HypHC.

    A row of zeros has no direction: its cosine with every row is taken as 0.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix of shape (n_points, n_features)
        Sparse input is stored densely, as inner products of sums of rows are dense anyway.
    affine : bool
        Shift to [0, 1]. With ``affine=False`` similarities may be negative.

    Examples
    --------
    >>> import arbora as ab
    >>> similarity = ab.similarity.cosine([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]])
    >>> similarity.pairs([0, 0], [1, 2]).round(6)
    array([0.5, 1. ])
    """
    affine = check_switch(affine, "affine")
    features = _cosine_features(X, affine, None)
    is_non_negative = affine or bool((features >= 0).all())
    return FeatureSimilarity(features, is_non_negative=is_non_negative, affine=affine, names=row_names(X))


def _cosine_features(X: Any, affine: bool, dtype: DTypeLike | None) -> AnyFloats:
    if sp.issparse(X):
        refuse_if_too_large(
            8 * X.shape[0] * X.shape[1],
            f"The values of {X.shape[0]} x {X.shape[1]} sparse rows, zeros included,",
            "Use similarity.knn(X), which keeps wide rows sparse.",
        )
    vectors = as_vectors(X, dtype=dtype)
    features = np.empty((len(vectors), vectors.shape[1] + affine), vectors.dtype)
    half = vectors.dtype.type(np.sqrt(0.5) if affine else 1.0)
    for some in row_blocks(vectors.shape):
        features[some, : vectors.shape[1]] = directions(vectors[some]) * half
    if affine:
        features[:, -1] = half
    return features


def directions_of_sparse(rows: sp.csr_array) -> sp.csr_array:
    """The same for sparse rows."""
    counts = np.diff(rows.indptr)
    largest = np.zeros(rows.shape[0])
    np.maximum.at(largest, np.repeat(np.arange(len(counts)), counts), np.abs(rows.data))
    data = rows.data / np.repeat(np.where(largest > 0, largest, 1), counts)
    scaled = sp.csr_array((data, rows.indices, rows.indptr), shape=rows.shape)
    norms = np.sqrt(np.asarray(scaled.multiply(scaled).sum(axis=1))).ravel()
    return sp.csr_array(sp.diags_array(1 / np.where(norms > 0, norms, 1)) @ scaled)


def row_blocks(shape: tuple[int, ...]) -> Iterator[slice]:
    """Rows to work on at once, so that what is computed on the way to them stays small."""
    step = max(1, _VALUES_AT_ONCE // max(1, shape[1]))
    return (slice(first, first + step) for first in range(0, shape[0], step))


def directions_apart_from_zero(rows: AnyFloats, n_threads: int = 1) -> AnyFloats:
    """The rows scaled to length 1, with one more column: 1 for rows of zeros.

    A row of zeros has no direction: on an axis of its own it is at cosine 0 from every other row.
    """
    unit = np.empty((len(rows), rows.shape[1] + 1), rows.dtype)
    blocks = list(row_blocks(rows.shape))

    def scale(first: int, last: int) -> None:
        for some in blocks[first:last]:
            unit[some, :-1] = directions(rows[some])
            unit[some, -1] = np.logical_not(rows[some].any(axis=1))

    share_out(scale, len(blocks), n_threads)
    return unit


def directions(rows: AnyFloats) -> AnyFloats:
    """The rows scaled to length 1, whatever their scale; rows of zeros stay."""
    largest = np.abs(rows).max(axis=1, keepdims=True)
    # squares of huge or tiny rows must neither overflow nor vanish
    scaled = rows / np.where(largest > 0, largest, 1)
    norms = np.sqrt(np.einsum("ij,ij->i", scaled, scaled, dtype=np.float64))
    unit: AnyFloats = scaled / np.where(norms > 0, norms, 1).astype(rows.dtype)[:, None]
    return unit
