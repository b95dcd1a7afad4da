"""Names of classes: from the caller or from the input, and never two alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from arbora._base.types import Ints
from arbora.tree import Tree


def column_names(estimator: Any, columns: Sequence[str] | None) -> Sequence[str] | None:
    """Names the caller gave, else those of the columns of the input; None if there are none."""
    if estimator.class_names is not None:
        if isinstance(estimator.class_names, (str, bytes)):
            raise TypeError(
                f"class_names must be a sequence of names. Got the string {estimator.class_names!r:.60}."
            )
        return list(estimator.class_names)
    if columns is not None:
        return columns
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else list(names)


def unique_names(names: Sequence[str] | None, n_classes: int) -> list[str] | None:
    """One name per class; equal ones get their column number.

    >>> unique_names(["maillot", "bikini", "maillot"], 3)
    ['maillot (0)', 'bikini', 'maillot (2)']
    """
    if names is None:
        return None
    if len(names) != n_classes:
        raise ValueError(f"class_names must name all {n_classes} classes. Got {len(names)} names.")
    found = [str(name) for name in names]
    times = Counter(found)
    return [name if times[name] == 1 else f"{name} ({number})" for number, name in enumerate(found)]


def class_numbers(y: ArrayLike, tree: Tree, n_points: int) -> Ints:
    """True classes as leaf numbers of a tree of classes, from numbers or names; every point must have one."""
    values = np.asarray(y)
    if values.ndim != 1 or len(values) != n_points:
        raise ValueError(f"y must hold one class per point, {n_points}. Got shape {values.shape}.")
    if values.dtype.kind == "f" and np.array_equal(values, np.floor(values)):
        # whole numbers that a frame turned into floats
        values = values.astype(np.int64)
    if values.dtype.kind in "iu":
        if n_points and (values.min() < 0 or values.max() >= tree.n_leaves):
            raise ValueError(
                f"y must lie in [0, n_classes={tree.n_leaves}). Got {values.min()}..{values.max()}."
            )
        return np.asarray(values, np.int64)
    place = {tree.label(c): c for c in range(tree.n_leaves)}
    unknown = sorted({str(value) for value in values.tolist() if str(value) not in place})
    if unknown:
        raise ValueError(
            f"y must hold class numbers or names of classes. No class is called {', '.join(map(repr, unknown[:5]))}; "
            f"there are {', '.join(map(repr, list(place)[:5]))} and so on."
        )
    return np.array([place[str(value)] for value in values.tolist()], np.int64)
