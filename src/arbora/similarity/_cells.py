"""k-means cells of vectors, found in threads; the same on any number of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from arbora._base.threads import limited_libraries
from arbora._base.types import Floats, Ints

_STEPS = 6
# sampled for k-means
_ROWS_PER_CENTER = 48
# compared with all centers by one matrix product, at most
ROWS_AT_ONCE = 1024
# products that a core's cache holds
_PRODUCTS_AT_ONCE = 1 << 18

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
    for _ in range(_STEPS):
        cell = nearest_centers(sample, centers, n_threads)
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
    squares, doubled = np.einsum("ij,ij->i", centers, centers), -2 * centers.T
    # a power of two, so that blocks of 1,024 rows are always cut alike
    n_rows = min(ROWS_AT_ONCE, max(64, 1 << (_PRODUCTS_AT_ONCE // len(centers)).bit_length() - 1))

    rooms = Rooms(n_rows * len(centers), X.dtype)

    def assign(first: int) -> None:
        rows = X[first : first + n_rows]
        values = np.matmul(rows, doubled, out=rooms.room(len(rows), len(centers)))
        values += squares
        cell[first : first + n_rows] = values.argmin(axis=1)

    in_threads(assign, range(0, len(X), n_rows), n_threads)
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


def nearby_order(centers: Singles) -> Ints:
    """An order in which near centers are together: halves along the longest direction, halved again.

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
        if last - first < 2:
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
    with limited_libraries(1, "blas"), ThreadPoolExecutor(n_threads) as pool:
        finished = map(work, items) if n_threads == 1 else pool.map(work, items)
        try:
            for k, _ in enumerate(finished):
                report((k + 1) / len(items))
        except BaseException:
            # what has not begun is not waited for
            pool.shutdown(wait=False, cancel_futures=True)
            raise
