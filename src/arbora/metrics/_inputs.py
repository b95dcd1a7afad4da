"""What every metric asks of its arguments: a similarity that covers the tree, and one label a point."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from arbora.tree import Tree

UNLABELED = -1


class Labels(NamedTuple):
    """Class of each point as ``0 .. n_classes-1`` in sorted order, -1 where it has none."""

    codes: NDArray[np.int64]
    n_classes: int


def as_labels(y: ArrayLike, argument: str = "y") -> Labels:
    """Classes as numbers; -1, NaN and None mark points without a class."""
    values = np.asarray(y)
    if values.ndim != 1:
        raise ValueError(
            f"{argument} must have one label a point, shape (n_points,). Got shape {values.shape}."
        )
    known = _has_class(values, argument)
    codes = np.full(len(values), UNLABELED, dtype=np.int64)
    try:
        classes, codes[known] = np.unique(values[known], return_inverse=True)
    except TypeError as problem:  # objects without an order, such as 1 and "a"
        raise TypeError(f"{argument} must hold labels of one type. Got a mixture: {problem}.") from problem
    if not known.all() and len(classes) == 1 and values.dtype.kind in "iuf":
        raise ValueError(
            f"{argument} has one class, {classes[0]}, besides -1 or NaN, which mean: no label. "
            f"If -1 is a class of its own, number the classes from 0."
        )
    return Labels(codes, len(classes))


def _has_class(values: NDArray[Any], argument: str) -> NDArray[np.bool_]:
    kind = values.dtype.kind
    if kind in "bUS":
        return np.ones(len(values), dtype=bool)
    if kind in "iu":
        return values != UNLABELED
    if kind == "f":
        if np.isinf(values).any():
            raise ValueError(
                f"{argument} must not hold infinity. Point {int(np.argmax(np.isinf(values)))} does."
            )
        return ~np.isnan(values) & (values != UNLABELED)
    if kind == "O":
        return np.array([not _is_missing(value) for value in values], dtype=bool)
    raise TypeError(f"{argument} must hold numbers or strings. Got dtype {values.dtype}.")


def _is_missing(value: Any) -> bool:
    if value is None or (isinstance(value, (int, np.integer)) and value == UNLABELED):
        return True
    try:
        return bool(value != value)
    except TypeError:  # pandas.NA does not even compare with itself
        return True


def check_same_length(first: Any, second: Any, names: tuple[str, str]) -> None:
    """Raise, with both lengths, unless two arrays have as many points."""
    if len(first) != len(second):
        raise ValueError(
            f"{names[0]} and {names[1]} must be equally long. Got {len(first)} and {len(second)}."
        )


def as_leaf_of_point(leaf_of_point: ArrayLike | None, tree: Tree, n_points: int) -> NDArray[np.int64]:
    """Leaf that holds each labeled point; by default point i is leaf i."""
    if leaf_of_point is None:
        if n_points != tree.n_leaves:
            raise ValueError(
                f"y must have one label a leaf. Got {n_points} labels and {tree.n_leaves} leaves. "
                f"Where a leaf holds several points, pass leaf_of_point."
            )
        return np.arange(n_points)
    leaves = np.asarray(leaf_of_point)
    if leaves.dtype.kind not in "iu" or leaves.ndim != 1:
        raise TypeError(
            f"leaf_of_point must be a one-dimensional array of leaf numbers. "
            f"Got dtype {leaves.dtype}, shape {leaves.shape}."
        )
    if len(leaves) != n_points:
        raise ValueError(f"leaf_of_point and y must be equally long. Got {len(leaves)} and {n_points}.")
    if leaves.size and (leaves.min() < 0 or leaves.max() >= tree.n_leaves):
        raise ValueError(
            f"leaf_of_point must lie in [0, n_leaves={tree.n_leaves}). Got {leaves.min()}..{leaves.max()}."
        )
    return leaves.astype(np.int64)
