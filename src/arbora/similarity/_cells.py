"""k-means cells of vectors, found in threads; the same on any number of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from arbora._base.threads import in_turns, limited_libraries
from arbora._base.types import Floats, Ints

# of k-means, and those before which centers are grouped anew
_STEPS, _STEPS_REGROUPED = 6, 2
# sampled for k-means
_ROWS_PER_CENTER = 48
# compared with all centers by one matrix product, at most
ROWS_AT_ONCE = 1024
# products that a core's cache holds
_PRODUCTS_AT_ONCE = 1 << 18
# centers from which on a row is compared only with those near its group, and of those this many or so times the root
_MANY_CENTERS, _FEWEST_NEARBY, _NEARBY_PER_ROOT, _GROUPS_PER_ROOT = 768, 256, 6, 2

Singles: TypeAlias = NDArray[np.float32]
# called with the share of the work that is done
Report: TypeAlias = Callable[[float], None]


def silent_share(share: float) -> None:
    """Report nothing."""


def kmeans_centers(X: Singles, n_cells: int, seed: int, n_threads: int) -> Singles:
    """Means of k-means cells, from a sample of the rows; cells that become empty start again at a sampled row.

    Examples
    --------
    >>> import numpy as np
    >>> from arbora.similarity._cells import kmeans_centers
    >>> rows = np.array([[0.0], [1.0], [8.0], [9.0]], dtype=np.float32)
    >>> np.sort(kmeans_centers(rows, 2, seed=0, n_threads=1).ravel())
    array([0.5, 8.5], dtype=float32)
    """
    rng = np.random.default_rng(seed)
    sample = X[rng.choice(len(X), min(len(X), n_cells * _ROWS_PER_CENTER), replace=False)]
    centers = sample[:n_cells].copy()
    groups: list[Ints] = []
    for step in range(_STEPS):
        # rows that became means are elsewhere; means stay about where they are
        groups = center_groups(centers) if step < _STEPS_REGROUPED else groups
        cell = nearly_nearest_centers(sample, centers, n_threads, groups)
        sizes = np.bincount(cell, minlength=n_cells)
        ends = cell, np.arange(len(sample))
        member = sp.csr_array((1 / sizes[cell].astype(np.float32), ends), shape=(n_cells, len(sample)))
        centers = member @ sample
        empty = np.flatnonzero(sizes == 0)
        centers[empty] = sample[rng.integers(len(sample), size=len(empty))]
    return centers


def nearest_centers(X: Singles, centers: Singles, n_threads: int) -> Ints:
    """The nearest center of each row."""
    cell = np.empty(len(X), dtype=np.int64)
    nearest = _NearestOf(centers)

    def assign(first: int) -> None:
        some = slice(first, first + nearest.n_rows)
        cell[some] = nearest(X[some])

    in_threads(assign, range(0, len(X), nearest.n_rows), n_threads)
    return cell


class _NearestOf:
    """Finds the nearest of some centers for as many rows at once as their products fit in a core's cache."""

    def __init__(self, centers: Singles) -> None:
        # a power of two, so that blocks of 1,024 rows are always cut alike
        self.n_rows = min(ROWS_AT_ONCE, max(64, 1 << (_PRODUCTS_AT_ONCE // len(centers)).bit_length() - 1))
        self._squares, self._doubled = np.einsum("ij,ij->i", centers, centers), -2 * centers.T
        self._rooms = Rooms(self.n_rows * len(centers), centers.dtype)

    def __call__(self, rows: Singles) -> Ints:
        """The nearest center of each row, by number."""
        values = np.matmul(rows, self._doubled, out=self._rooms.room(len(rows), len(self._squares)))
        values += self._squares
        return np.asarray(values.argmin(axis=1))


def center_groups(centers: Singles) -> list[Ints]:
    """Many centers in groups of near ones; none of few."""
    if len(centers) < _MANY_CENTERS:
        return []
    n_groups = int(_GROUPS_PER_ROOT * np.sqrt(len(centers)))
    return np.array_split(nearby_order(centers, len(centers) // n_groups), n_groups)


def nearly_nearest_centers(
    X: Singles, centers: Singles, n_threads: int, groups: list[Ints] | None = None
) -> Ints:
    """The nearest center of each row, or, of one row in some thousand, another near one: O(sqrt(n_centers)) per row.

    A row is compared with groups of centers, then with the centers around its group.
    """
    groups = center_groups(centers) if groups is None else groups
    if not groups:
        return nearest_centers(X, centers, n_threads)
    root = float(np.sqrt(len(centers)))
    middles = np.stack([centers[group].mean(axis=0) for group in groups])
    n_nearby = min(len(centers), max(_FEWEST_NEARBY, int(_NEARBY_PER_ROOT * root)))
    apart = np.einsum("ij,ij->i", centers, centers) - 2 * (middles @ centers.T)
    # in order, so that of equally near centers the first is taken, as among all
    nearby = np.sort(np.argpartition(apart, n_nearby - 1, axis=1)[:, :n_nearby], axis=1)
    group = nearest_centers(X, middles, n_threads)
    order = np.argsort(group, kind="stable")
    offsets = np.searchsorted(group[order], np.arange(len(groups) + 1))
    cell = np.empty(len(X), dtype=np.int64)

    def assign(number: int) -> None:
        rows, own = order[offsets[number] : offsets[number + 1]], nearby[number]
        nearest = _NearestOf(centers[own])
        for first in range(0, len(rows), nearest.n_rows):
            some = rows[first : first + nearest.n_rows]
            cell[some] = own[nearest(X[some])]

    # the largest first: none is left when the others are done
    in_threads(assign, np.argsort(-np.diff(offsets), kind="stable").tolist(), n_threads)
    return cell


class Rooms:
    """Memory for one matrix at a time in each thread, used again and again: new memory has to be cleared first."""

    def __init__(self, size: int, dtype: Any) -> None:
        self._size, self._dtype = size, dtype
        self._own = threading.local()

    def room(self, n_rows: int, n_columns: int) -> Any:
        """A matrix of this shape, whose values are whatever was there."""
        flat = getattr(self._own, "flat", None)
        if flat is None or len(flat) < n_rows * n_columns:
            flat = self._own.flat = np.empty(max(self._size, n_rows * n_columns), dtype=self._dtype)
        return flat[: n_rows * n_columns].reshape(n_rows, n_columns)


def nearby_order(centers: Singles, at_most: int = 1) -> Ints:
    """An order in which near centers are together: halves along the longest direction, halved again.

    Halves of `at_most` centers stay as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from arbora.similarity._cells import nearby_order
    >>> nearby_order(np.array([[5.0], [1.0], [4.0], [0.0]], dtype=np.float32)).tolist()
    [1, 3, 0, 2]
    """
    order = np.arange(len(centers))
    todo = [(0, len(order))]
    while todo:
        first, last = todo.pop()
        if last - first <= at_most:
            continue
        some = order[first:last]
        order[first:last] = some[np.argsort(_along_longest_direction(centers[some]), kind="stable")]
        middle = (first + last) // 2
        todo += [(first, middle), (middle, last)]
    return order


def _along_longest_direction(points: Singles) -> Floats:
    """Places along about the direction in which points differ most: two steps of power iteration suffice here."""
    shifted = points.astype(np.float64) - points.mean(axis=0, dtype=np.float64)
    lengths = np.einsum("ij,ij->i", shifted, shifted)
    direction = shifted[int(np.argmax(lengths))]
    for _ in range(2):
        direction = (shifted @ direction) @ shifted
        direction /= np.abs(direction).max() or 1.0
    return np.asarray(shifted @ direction)


def in_threads(
    work: Callable[[Any], None], items: Sequence[Any], n_threads: int, report: Report = silent_share
) -> None:
    """Do independent work in threads; each thread's matrix products stay in that thread."""
    with limited_libraries(1, "blas"):
        in_turns(work, items, n_threads, report)
