"""k-means cells of vectors, found in threads; the same on any number of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from arbora._base.threads import limited_libraries
from arbora._base.types import Ints

_STEPS = 6
# sampled for k-means
_ROWS_PER_CENTER = 48
# compared with all centers by one matrix product
ROWS_AT_ONCE = 1024

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
    squares = np.einsum("ij,ij->i", centers, centers)

    def assign(first: int) -> None:
        values = X[first : first + ROWS_AT_ONCE] @ centers.T
        values *= -2
        values += squares
        cell[first : first + ROWS_AT_ONCE] = values.argmin(axis=1)

    in_threads(assign, range(0, len(X), ROWS_AT_ONCE), n_threads)
    return cell


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
