"""What every similarity offers. Metrics and search ask for nothing more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from arbora.tree import Tree


@runtime_checkable
class Similarity(Protocol):
    """How alike n points are.

    `cross(tree)` is the one operation that internal metrics need: for each internal node, the sum of the
    similarity over the unordered pairs of leaves whose lowest common ancestor it is.
    """

    @property
    def n_points(self) -> int:
        """Number of points."""

    @property
    def total(self) -> float:
        """Sum of the similarity over all unordered pairs (self-loops of a graph included, once)."""

    def pairs(self, i: ArrayLike, j: ArrayLike) -> NDArray[np.float64]:
        """Similarity of given pairs of points (arrays broadcast)."""

    def cross(self, tree: Tree) -> NDArray[np.float64]:
        """Similarity that meets at each internal node: float64[n_internal]."""


def is_similarity(value: Any) -> bool:
    """Whether a value follows the protocol. `isinstance` would evaluate `total`, a pass over the data."""
    return callable(getattr(value, "cross", None)) and callable(getattr(value, "pairs", None))


def check_covers(similarity: Similarity, tree: Tree) -> None:
    """Raise unless the similarity and the tree speak of the same number of points."""
    if similarity.n_points != tree.n_leaves:
        raise ValueError(
            f"similarity and tree must have the same points. "
            f"Got {similarity.n_points} points and {tree.n_leaves} leaves."
        )


def check_finite(values: NDArray[Any], argument: str) -> None:
    """Raise on NaN or infinity, naming the first offending row."""
    finite = np.isfinite(values)
    if not finite.all():
        row = int(np.argmin(finite.reshape(len(values), -1).all(axis=1)))
        raise ValueError(f"{argument} must be finite. Row {row} holds NaN or infinity.")


def check_pair_arrays(
    i: ArrayLike, j: ArrayLike, n_points: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Index arrays broadcast against each other, refused outside [0, n_points)."""
    left, right = np.broadcast_arrays(np.asarray(i, dtype=np.int64), np.asarray(j, dtype=np.int64))
    for argument, index in (("i", left), ("j", right)):
        if index.size and not (0 <= index.min() and index.max() < n_points):
            raise ValueError(
                f"{argument} must lie in [0, n_points={n_points}). Got {index.min()}..{index.max()}."
            )
    return left, right
