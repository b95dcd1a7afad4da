"""Trees from the top down: k-means splits each group again and again."""

from __future__ import annotations

from typing import Any

import numpy as np

from arbora._base.arrays import as_vectors, row_names
from arbora._base.params import check_whole
from arbora._base.random import generator
from arbora._base.types import Floats, Ints, RandomState
from arbora.linkages import _kernels as kernels
from arbora.tree import Tree

# up to here one compiled loop beats the overhead of scikit-learn's estimator
_SMALL_GROUP = 1000
_STEPS = 30


def bisecting_kmeans(
    data: Any, *, min_size: int = 1, n_init: int = 1, random_state: RandomState = None
) -> Tree:
    """Split the rows in two by 2-means, and each part again.

    A node's height is the square root of its sum of squared distances to the mean, so
    ``tree.cut(n_clusters=k, min_size=1)`` splits the group with the largest sum first, as bisecting k-means does.

    Parameters
    ----------
    data : array-like, data frame or sparse matrix of shape (n_points, n_features)
        Rows to cluster; sparse input is stored densely.
    min_size : int
        A group of at most this many points is not split: its points hang directly below it.
    n_init : int
        Starts of each k-means; the best one counts.
    random_state : int, RandomState, Generator or None
        Seeds the starts.

    Returns
    -------
    tree : Tree
        Over all points. Equal points share one parent.

    Examples
    --------
    >>> import arbora as ab
    >>> ab.bisecting_kmeans([[0.0], [1.0], [10.0], [12.0]], random_state=0).to_newick(lengths=False)
    '((0,1),(2,3));'
    """
    return hierarchical_kmeans(data, 2, min_size=min_size, n_init=n_init, random_state=random_state)


def hierarchical_kmeans(
    data: Any,
    branching: int = 8,
    *,
    min_size: int | None = None,
    n_init: int = 1,
    random_state: RandomState = None,
) -> Tree:
    """Split the rows into `branching` parts by k-means, and each part again.

    Parameters
    ----------
    data : array-like, data frame or sparse matrix of shape (n_points, n_features)
        Rows to cluster; sparse input is stored densely.
    branching : int
        Parts of each split, at least 2 (fewer where a group has fewer different points).
    min_size : int, optional
        A group of at most this many points is not split: its points hang directly below it. By default
        `branching`; 1 for a binary tree.
    n_init : int
        Starts of each k-means; the best one counts.
    random_state : int, RandomState, Generator or None
        Seeds the starts.

    Returns
    -------
    tree : Tree
        Over all points; heights as in `bisecting_kmeans`.

    Examples
    --------
    >>> import arbora as ab
    >>> tree = ab.hierarchical_kmeans([[0.0], [1.0], [10.0], [11.0], [20.0], [22.0]], branching=3, min_size=2,
    ...                               n_init=10, random_state=0)
    >>> tree.to_newick(lengths=False)
    '((0,1),(2,3),(4,5));'
    """
    branching = check_whole(branching, "branching", least=2)
    n_init = check_whole(n_init, "n_init")
    if min_size is None:
        min_size = 1 if branching == 2 else branching
    min_size = check_whole(min_size, "min_size")
    rng = generator(random_state)
    # by a power of two, which is exact: squares neither overflow nor vanish
    rows = as_vectors(data, argument="data")
    exponent = int(np.frexp(np.abs(rows).max())[1])
    rows = np.ldexp(rows, -exponent)
    rows = rows - rows.mean(axis=0)
    group_parent, group_of_row, spread = _split_all(rows, branching, min_size, n_init, rng)
    with np.errstate(over="ignore"):
        height = np.minimum(np.ldexp(np.sqrt(spread), exponent), np.finfo(np.float64).max / 4)
    return Tree.from_groups(group_parent, group_of_row, height=height, leaf_name=row_names(data))


def _split_all(
    rows: Floats, branching: int, min_size: int, n_init: int, rng: np.random.Generator
) -> tuple[list[int], Ints, list[float]]:
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
        # points that differ by less than rounding
        if len(parts) == 1:
            spread[group] = 0.0
            continue
        for part in parts:
            todo.append((len(group_parent), part))
            group_parent.append(group)
            spread.append(min(_sum_of_squares(rows[part]), spread[group]))
    return group_parent, group_of_row, spread


def _sum_of_squares(rows: Floats) -> float:
    if len(rows) == 1 or (rows == rows[0]).all():
        return 0.0
    centered = rows - rows.mean(axis=0)
    return float(np.einsum("ij,ij->", centered, centered))


def _kmeans(rows: Floats, n_parts: int, n_init: int, rng: np.random.Generator) -> Ints:
    if len(rows) <= _SMALL_GROUP:
        runs = [kernels.kmeans(rows, rng.random(n_parts), _STEPS) for _ in range(n_init)]
        label: Ints = min(runs, key=lambda run: run[1])[0]
        return label
    import warnings

    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    model = KMeans(n_parts, n_init=n_init, max_iter=_STEPS, random_state=int(rng.integers(2**31 - 1)))
    with warnings.catch_warnings():
        # fewer different points than parts: fewer parts
        warnings.simplefilter("ignore", ConvergenceWarning)
        return np.asarray(model.fit(rows).labels_, dtype=np.int64)
