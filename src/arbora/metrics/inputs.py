"""What metrics take for classes, clusters and leaves of points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arbora._base.arrays import is_missing, row_names
from arbora.tree.same_order import leaf_of_row

if TYPE_CHECKING:
    from arbora.tree import Tree

UNLABELED = -1


class Labels(NamedTuple):
    """Class of each point as ``0 .. n_classes-1`` in sorted order, -1 where it has none."""

    codes: NDArray[np.int64]
    n_classes: int


def as_labels(y: Any, argument: str = "y") -> Labels:
    """Classes as numbers; -1, NaN and None (any library's missing value) mark points without a class."""
    values = as_array(y)
    if values.ndim != 1:
        raise ValueError(
            f"{argument} must have one label per point, shape (n_points,). Got shape {values.shape}."
        )
    known = _has_class(values, argument)
    codes = np.full(len(values), UNLABELED, dtype=np.int64)
    try:
        classes, codes[known] = np.unique(values[known], return_inverse=True)
    # objects without an order, such as 1 and "a"
    except TypeError as problem:
        raise TypeError(f"{argument} must hold labels of one type. Got a mixture: {problem}.") from problem
    if not known.all() and len(classes) == 1 and values.dtype.kind in "iuf":
        raise ValueError(
            f"{argument} has one class, {classes[0]}, besides -1 or NaN, which mean: no label. "
            f"If -1 is a class of its own, number the classes from 0."
        )
    return Labels(codes, len(classes))


def as_clusters(labels: Any, argument: str = "labels") -> NDArray[Any]:
    """Clusters of points, every one of which has one."""
    values = as_array(labels)
    if values.ndim != 1:
        raise ValueError(f"{argument} must have one entry per point. Got shape {values.shape}.")
    is_float = values.dtype.kind == "f"
    if is_float and not np.isfinite(values).all():
        raise ValueError(f"{argument} must not hold NaN or infinity.")
    if values.dtype.kind == "O" and any(is_missing(value) for value in values):
        raise ValueError(f"{argument} must hold a cluster for every point. Some are missing.")
    return values


def as_array(values: Any) -> NDArray[Any]:
    """The array of a list or column, in which a missing value is still recognizable.

    NumPy itself turns a NaN among strings into the text "nan".
    """
    array = np.asarray(values)
    if array.dtype.kind in "US" and not hasattr(values, "dtype"):
        objects = np.empty(array.shape, dtype=object)
        objects[...] = values
        return objects
    return array


def _has_class(values: NDArray[Any], argument: str) -> NDArray[np.bool_]:
    kind = values.dtype.kind
    if kind in "bUS":
        return np.ones(len(values), dtype=bool)
    if kind == "T":
        # NumPy's own strings, whose missing value is chosen by the user
        return np.array([not is_missing(value) for value in values], dtype=bool)
    if kind in "iu":
        return np.asarray(values != UNLABELED)
    if kind == "f":
        if np.isinf(values).any():
            raise ValueError(
                f"{argument} must not hold infinity. Point {int(np.argmax(np.isinf(values)))} does."
            )
        return np.asarray(~np.isnan(values) & (values != UNLABELED))
    if kind == "O":
        return np.array([not _is_unlabeled(value) for value in values], dtype=bool)
    raise TypeError(f"{argument} must hold numbers or strings. Got dtype {values.dtype}.")


def _is_unlabeled(value: Any) -> bool:
    is_number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    return is_missing(value) or (is_number and value == UNLABELED)


def check_same_length(first: Any, second: Any, names: tuple[str, str]) -> None:
    """Raise, with both lengths, unless two arrays have the same number of points."""
    if len(first) != len(second):
        raise ValueError(
            f"{names[0]} and {names[1]} must be equally long. Got {len(first)} and {len(second)}."
        )


def by_name(tree: Tree, y: Any, leaf_of_point: ArrayLike | None) -> ArrayLike | None:
    """Leaf of each label of a pandas object whose index names the leaves, in whatever order; else as given.

    A tree that was read from text has its leaves in the order of the text: by position, labels would be others'. So
    labels some of whose names are those of other leaves are refused.
    """
    if leaf_of_point is not None or len(y) != tree.n_leaves:
        return leaf_of_point
    return leaf_of_row(tree, row_names(y), "y")


def as_leaf_of_point(leaf_of_point: ArrayLike | None, tree: Tree, n_points: int) -> NDArray[np.int64]:
    """Leaf that holds each labeled point; by default point i is leaf i."""
    if leaf_of_point is None:
        if n_points != tree.n_leaves:
            raise ValueError(
                f"y must have one label per leaf. Got {n_points} labels and {tree.n_leaves} leaves. "
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
