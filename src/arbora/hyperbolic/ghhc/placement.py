"""Where data sits in the ball: centered, projected if asked for, at one distance from the origin."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np

from arbora._base.rows import Rows
from arbora._base.types import AnyFloats, Ints

Projection: TypeAlias = Literal["random", "learned"] | None

# rows read at a time
CHUNK = 16_384
# sizes of coordinates whose squares neither overflow nor vanish, also when many are added
_SAFE = {np.dtype(np.float64): (1e-140, 1e140), np.dtype(np.float32): (1e-16, 1e16)}


class BallPlacement:
    """Places rows at the edge of the ball: center, project, scale to one norm.

    Attributes
    ----------
    mean : float[D]
    projection : float[D, d] or None
        None leaves the columns as they are.
    norm : float
        Euclidean norm of every placed row (a row that is exactly the mean stays at the origin).
    """

    def __init__(self, mean: AnyFloats, projection: AnyFloats | None, norm: float) -> None:
        self.mean, self.projection, self.norm = mean, projection, norm

    def project(self, rows: AnyFloats) -> AnyFloats:
        """Centered and projected rows, before they are scaled."""
        with np.errstate(over="ignore", invalid="ignore"):
            projected = rows - self.mean
            if self.projection is not None:
                projected = projected @ self.projection
        smallest, largest = _SAFE[projected.dtype]
        size = float(np.abs(projected).max(initial=0.0))
        # a projection is learned from all rows together, so that single ones cannot be rescaled
        is_extreme = self.projection is not None and size > 0 and not smallest <= size <= largest
        if is_extreme or not np.isfinite(size):
            raise ValueError(
                f"X has values that {projected.dtype} cannot square: centered, the largest is {size:.3g}. "
                "Divide X by a constant."
            )
        return projected

    def __call__(self, rows: AnyFloats) -> AnyFloats:
        """Rows in the ball."""
        placed = of_moderate_size(self.project(rows))
        length = np.sqrt(np.einsum("nd,nd->n", placed, placed))
        placed *= (self.norm / np.where(length > 0, length, 1.0))[:, None].astype(placed.dtype)
        return placed

    def reader(self, rows: Rows) -> Callable[[Ints], AnyFloats]:
        """Function from row numbers to placed rows."""
        return lambda wanted: self(rows.take(wanted))

    def projection_gradient(self, rows: AnyFloats, by_placed: AnyFloats) -> AnyFloats:
        """Gradient by the projection of a cost whose gradient by the placed rows is given: float[D, d].

        Scaling to one norm leaves only the part of the gradient across the row.
        """
        projected = self.project(rows)
        length = np.sqrt(np.einsum("nd,nd->n", projected, projected))
        unit = projected / np.where(length > 0, length, 1.0)[:, None]
        across = by_placed - np.einsum("nd,nd->n", by_placed, unit)[:, None] * unit
        across *= np.where(length > 0, self.norm / np.maximum(length, 1e-12), 0.0)[:, None]
        gradient: AnyFloats = (rows - self.mean).T @ across
        return gradient


def of_moderate_size(rows: AnyFloats) -> AnyFloats:
    """The rows; those whose squares would overflow or vanish divided by their largest coordinate, in place."""
    smallest, largest = _SAFE[rows.dtype]
    size = np.abs(rows).max(axis=1, initial=0.0)
    extreme = (size > 0) & ((size < smallest) | (size > largest))
    if extreme.any():
        rows[extreme] /= size[extreme, None]
    return rows


def column_means(rows: Rows) -> AnyFloats:
    """Mean of each column, the rows checked to be finite on the way."""
    total = np.zeros(rows.shape[1])
    for _, part in rows.mapped(partial(_part_of_means, n_rows=rows.count_rows()), CHUNK):
        total += part
    return total.astype(rows.dtype)


def _part_of_means(chunk: AnyFloats, n_rows: int) -> AnyFloats:
    with np.errstate(over="ignore", invalid="ignore"):
        part = chunk.sum(axis=0, dtype=np.float64) / n_rows
        if not np.isfinite(part).all():
            # sums of values near the largest float overflow where their mean does not
            part = (chunk / n_rows).sum(axis=0, dtype=np.float64)
    return np.asarray(part)


def first_projection(
    kind: Projection,
    n_features: int,
    n_components: int | None,
    rng: np.random.Generator,
    dtype: np.dtype[Any],
) -> AnyFloats | None:
    """Projection to start with: none, or Gaussian; a learned one of full size starts as the identity."""
    if kind is None:
        return None
    width = n_features if n_components is None else n_components
    if kind == "learned" and width == n_features:
        return np.eye(n_features, dtype=dtype)
    return np.asarray(rng.standard_normal((n_features, width)) / np.sqrt(width), dtype=dtype)
