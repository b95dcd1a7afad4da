"""Trees from the top down: k-means splits each group again and again."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora.linkages import _kernels as kernels
from arbora.similarity.features import checked_vectors
from arbora.tree import Tree

_SMALL_GROUP = 1000  # up to here one compiled loop beats the overhead of scikit-learn's estimator
_STEPS = 30


def bisecting_kmeans(X: Any, *, min_size: int = 1, n_init: int = 1, random_state: Any = None) -> Tree:
    """Split the rows in two by 2-means, and each part again.

    A node's height is the square root of its sum of squared distances to the mean, so
    ``tree.cut(n_clusters=k)`` splits the group with the largest sum first, as bisecting k-means does.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_points, n_features)
        Rows to cluster; sparse input is stored densely.
    min_size : int
        A group of at most this many points is not split: its points hang directly below it.
    n_init : int
        Starts of each k-means; the best is kept.
    random_state : int, RandomState or None
        Seeds the starts; None always takes the same seed.

    Returns
    -------
    tree : Tree
        Over all points. Equal points share one parent.

    Examples
    --------
    >>> import arbora as ab
    >>> ab.bisecting_kmeans([[0.0], [1.0], [10.0], [12.0]]).to_newick(lengths=False)
    '((0,1),(2,3));'
    """
    return hierarchical_kmeans(X, 2, min_size=min_size, n_init=n_init, random_state=random_state)


def hierarchical_kmeans(
    X: Any, branching: int = 8, *, min_size: int | None = None, n_init: int = 1, random_state: Any = None
) -> Tree:
    """Split the rows into `branching` parts by k-means, and each part again.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_points, n_features)
        Rows to cluster; sparse input is stored densely.
    branching : int
        Parts of each split, at least 2 (fewer where a group has fewer different points).
    min_size : int, optional
        A group of at most this many points is not split: its points hang directly below it. By default
        `branching`; 1 for a binary tree.
    n_init : int
        Starts of each k-means; the best is kept.
    random_state : int, RandomState or None
        Seeds the starts; None always takes the same seed.

    Returns
    -------
    tree : Tree
        Over all points; heights as in `bisecting_kmeans`.

    Examples
    --------
    >>> import arbora as ab
    >>> tree = ab.hierarchical_kmeans([[0.0], [1.0], [10.0], [11.0], [20.0], [22.0]], branching=3, min_size=2)
    >>> tree.to_newick(lengths=False)
    '((0,1),(2,3),(4,5));'
    """
    rows = checked_vectors(X)
    _check_whole("branching", branching, 2)
    _check_whole("n_init", n_init, 1)
    if min_size is None:
        min_size = 1 if branching == 2 else branching
    _check_whole("min_size", min_size, 1)
    rows = rows - rows.mean(axis=0)
    rng = _generator(random_state)
    group_parent, group_of_row, spread = _split_all(rows, branching, min_size, n_init, rng)
    return _tree_of_groups(group_parent, group_of_row, spread)


def _split_all(
    rows: NDArray[np.float64], branching: int, min_size: int, n_init: int, rng: np.random.Generator
) -> tuple[list[int], NDArray[np.int64], list[float]]:
    """Split from the top down: (parent of each group, last group of each row, sums of squares)."""
    group_of_row = np.zeros(len(rows), dtype=np.int64)
    group_parent, spread = [-1], [_sum_of_squares(rows)]
    todo = [(0, np.arange(len(rows)))]
    while todo:
        group, members = todo.pop()
        group_of_row[members] = group
        if len(members) <= min_size or spread[group] == 0:
            continue
        label = _kmeans(rows[members], min(branching, len(members)), n_init, rng)
        parts = [members[label == k] for k in range(label.max() + 1)]
        parts = [part for part in parts if len(part)]
        if len(parts) == 1:  # points that differ by less than rounding
            spread[group] = 0.0
            continue
        for part in parts:
            todo.append((len(group_parent), part))
            group_parent.append(group)
            spread.append(min(_sum_of_squares(rows[part]), spread[group]))
    return group_parent, group_of_row, spread


def _sum_of_squares(rows: NDArray[np.float64]) -> float:
    if len(rows) == 1 or (rows == rows[0]).all():
        return 0.0
    centered = rows - rows.mean(axis=0)
    return float(np.einsum("ij,ij->", centered, centered))


def _kmeans(
    rows: NDArray[np.float64], n_parts: int, n_init: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    if len(rows) <= _SMALL_GROUP:
        runs = [kernels.kmeans(rows, rng.random(n_parts), _STEPS) for _ in range(n_init)]
        return min(runs, key=lambda run: run[1])[0]
    import warnings

    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    model = KMeans(n_parts, n_init=n_init, max_iter=_STEPS, random_state=int(rng.integers(2**31 - 1)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer different points than parts: fewer parts
        return model.fit(rows).labels_.astype(np.int64)


def _tree_of_groups(group_parent: list[int], group_of_row: NDArray[np.int64], spread: list[float]) -> Tree:
    """Tree in which each row hangs below its last group; a group of one row is that row."""
    n_rows, n_groups = len(group_of_row), len(group_parent)
    above = np.array(group_parent)
    has_parts = np.zeros(n_groups, dtype=bool)
    has_parts[above[above >= 0]] = True
    is_row = ~has_parts & (np.bincount(group_of_row, minlength=n_groups) == 1)
    if n_rows == 1:
        return Tree([-1], 1, height=[0.0])
    kept = np.flatnonzero(~is_row)[::-1]  # groups were made parents first: reversed, children come first
    number = np.full(n_groups, -1)
    number[kept] = np.arange(n_rows, n_rows + len(kept))
    row_parent = np.where(is_row[group_of_row], number[above[group_of_row]], number[group_of_row])
    kept_parent = np.where(above[kept] >= 0, number[above[kept]], -1)
    height = np.concatenate([np.zeros(n_rows), np.sqrt(np.array(spread)[kept])])
    return Tree(np.concatenate([row_parent, kept_parent]), n_rows, height=height)


def _check_whole(argument: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"{argument} must be a whole number of at least {least}. Got {value!r}.")


def _generator(random_state: Any) -> np.random.Generator:
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1))
    return np.random.default_rng(0 if random_state is None else random_state)
