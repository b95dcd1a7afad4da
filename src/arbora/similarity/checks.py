"""Checks of what similarities are asked: pairs, points, vectors over the points, similarities of new points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from arbora._base.arrays import as_matrix, check_finite
from arbora._base.types import Floats, Ints

if TYPE_CHECKING:
    from arbora.similarity.protocol import Similarity
    from arbora.tree import Tree


def check_covers(similarity: Similarity, tree: Tree) -> None:
    """Raise unless the similarity and the tree have the same number of points."""
    if similarity.n_points != tree.n_leaves:
        raise ValueError(
            f"similarity and tree must have the same points. "
            f"Got {similarity.n_points} points and {tree.n_leaves} leaves."
        )


def check_pair_arrays(i: ArrayLike, j: ArrayLike, n_points: int) -> tuple[Ints, Ints]:
    """Index arrays broadcast against each other, refused outside [0, n_points)."""
    left, right = np.broadcast_arrays(_whole_numbers(i, "i"), _whole_numbers(j, "j"))
    for argument, index in (("i", left), ("j", right)):
        _check_range(index, argument, n_points)
    return left, right


def check_points(points: ArrayLike, n_points: int) -> Ints:
    """Numbers of points as a one-dimensional array, refused outside [0, n_points)."""
    index = np.atleast_1d(_whole_numbers(points, "points"))
    if index.ndim != 1:
        raise ValueError(f"points must be one-dimensional. Got shape {index.shape}.")
    _check_range(index, "points", n_points)
    return index


def check_vectors_of_points(x: ArrayLike, n_points: int) -> Floats:
    """One number or one row of numbers per point."""
    vectors = np.asarray(x, dtype=np.float64)
    if vectors.ndim not in (1, 2) or len(vectors) != n_points:
        raise ValueError(f"x must have shape ({n_points},) or ({n_points}, m). Got {vectors.shape}.")
    return vectors


def check_similarity_rows(X: Any, n_points: int) -> sp.csr_array:
    """Similarities of new points to the old as sparse rows, finite and not negative."""
    if sp.issparse(X):
        rows = sp.csr_array(X, dtype=np.float64, copy=True)
        rows.sum_duplicates()
    else:
        rows = sp.csr_array(as_matrix(X).values.astype(np.float64, copy=False))
    if rows.shape[1] != n_points:
        raise ValueError(
            f"X must hold similarities to the {n_points} points of the tree, one row per new point: shape "
            f"(m, {n_points}). Got {rows.shape}. New vectors can be compared by a similarity that was built from "
            f"vectors: similarity.knn(X), cosine(X) or gaussian(X)."
        )
    check_finite(rows.data, "X (stored values)")
    if rows.nnz and rows.data.min() < 0:
        raise ValueError(
            f"X must hold similarities that are not negative. The smallest is {rows.data.min():.6g}."
        )
    return rows


def _whole_numbers(index: ArrayLike, argument: str) -> Ints:
    array = np.asarray(index)
    if array.size and array.dtype.kind not in "iu":
        raise TypeError(f"{argument} must hold whole numbers. Got dtype {array.dtype}.")
    return array.astype(np.int64, copy=False)


def _check_range(index: Ints, argument: str, n_points: int) -> None:
    if index.size and not (0 <= index.min() and index.max() < n_points):
        raise ValueError(
            f"{argument} must lie in [0, n_points={n_points}). Got {index.min()}..{index.max()}."
        )
