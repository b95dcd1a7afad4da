"""Indices of neighbors that get more rows, and who is near them: the work of the new rows, not of all."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import scipy.sparse as sp

from arbora._base.types import AnyFloats, Floats, Ints
from arbora.similarity._cells import ROWS_AT_ONCE, nearest_centers
from arbora.similarity._neighbors import NeighborIndex, Neighbors
from arbora.similarity._other_indices import SparseIndex

# neighbors asked for, per neighbor wanted, where only nearby cells are searched for those in whose reach a row lies
_WIDER = 4
# what rounding may add to a squared distance that is computed from inner products, in units of the last place
_SLACK = 64
_PAIRS_AT_ONCE = 16_384
# cells are found again once there are this many times the points that they were made for
_OUTGROWN = 2.0
# in units of the extent of the points: farther rows need a unit of their own
_FAR = 4.0


def can_take(index: NeighborIndex | SparseIndex, rows: Any, *, most_exact: int) -> bool:
    """Whether new rows, in the index's unit, fit an index that stays as it is; otherwise it has to be built again."""
    if isinstance(index, SparseIndex):
        return True
    n_points = len(index.rows) + len(rows)
    if np.abs(rows).max(initial=0.0) > _FAR or len(rows) > len(index.rows):
        return False
    if index.is_exact:
        return n_points <= most_exact
    n_cells = len(index.offsets) - 1
    # twice as many cells as the root of the points: see NeighborIndex
    return n_points <= _OUTGROWN * (n_cells / 2) ** 2


def with_more_rows(
    index: NeighborIndex | SparseIndex, rows: Any, n_threads: int
) -> NeighborIndex | SparseIndex:
    """The index with more rows, given in its unit, numbered after those it has."""
    if isinstance(index, SparseIndex):
        return SparseIndex(sp.csr_array(sp.vstack([index.points(), rows])), index.unit)
    n_old, n_points = len(index.rows), len(index.rows) + len(rows)
    larger = copy.copy(index)
    larger.order = np.concatenate([index.order, np.arange(n_old, n_points)])
    larger.rows = np.vstack([index.rows, rows])
    larger.squares = np.concatenate([index.squares, np.einsum("ij,ij->i", rows, rows)])
    if index.centers is None:
        larger.offsets = np.append(np.arange(0, n_points, ROWS_AT_ONCE), n_points)
        return larger
    old_cell = np.repeat(np.arange(len(index.offsets) - 1), np.diff(index.offsets))
    cell = np.concatenate([old_cell, nearest_centers(rows, index.centers, n_threads)])
    by_cell = np.argsort(cell, kind="stable")
    larger.offsets = np.searchsorted(cell[by_cell], np.arange(len(index.offsets)))
    larger.order, larger.squares = larger.order[by_cell], larger.squares[by_cell]
    larger.rows = larger.rows[by_cell]
    return larger


def neighbors_of_new(
    index: NeighborIndex | SparseIndex, placed: Any, rows: Any, n_neighbors: int, n_threads: int
) -> Neighbors:
    """Neighbors of new points among the old ones and each other, the new numbered after the old.

    `placed` are the new points as the index's `query` takes them, `rows` the same in its unit.
    """
    n_old = _count(index)
    near, distance = index.query(placed, min(n_neighbors, n_old), n_threads)
    n_others = min(n_neighbors, rows.shape[0] - 1)
    if n_others > 0:
        others, apart = _among(index, rows, n_others, n_threads)
        near, distance = np.hstack([near, n_old + others]), np.hstack([distance, apart])
    best = np.lexsort((near, distance), axis=1)[:, :n_neighbors]
    return np.take_along_axis(near, best, axis=1), np.take_along_axis(distance, best, axis=1)


def _among(index: NeighborIndex | SparseIndex, rows: Any, n_neighbors: int, n_threads: int) -> Neighbors:
    """Neighbors of rows among themselves, at distances in the unit of the index."""
    if isinstance(index, SparseIndex):
        return SparseIndex(sp.csr_array(rows), index.unit).neighbors(n_neighbors, n_threads)
    small = index.with_points(rows, seed=0, n_threads=n_threads)
    near, distance = small.neighbors(n_neighbors, n_threads)
    return near, distance * (small.scale / index.scale)


def in_reach(
    index: NeighborIndex | SparseIndex,
    placed: Any,
    rows: Any,
    reach: Floats,
    n_neighbors: int,
    n_threads: int,
) -> tuple[Ints, Ints, Floats]:
    """Which new points lie nearer to which old ones than `reach` of the old: (new, old, distance) of each such pair.

    All of them where the index compares all pairs; otherwise those among the nearest old points of a new one.
    """
    if isinstance(index, NeighborIndex) and not index.is_exact:
        wider = min(_WIDER * n_neighbors, _count(index))
        old, distance = index.query(placed, wider, n_threads)
        new, place = np.nonzero(distance < reach[old])
        return new, old[new, place], distance[new, place]
    known = index.points()
    pairs = [_pairs_in_reach(known, rows, first, reach) for first in range(0, rows.shape[0], ROWS_AT_ONCE)]
    new, old = (np.concatenate(ends) for ends in zip(*pairs, strict=True))
    distance = lengths_of_pairs(rows, new, known, old)
    is_near = distance < reach[old]
    return new[is_near], old[is_near], distance[is_near]


def _pairs_in_reach(known: Any, rows: Any, first: int, reach: Floats) -> tuple[Ints, Ints]:
    """Pairs of a block of new rows with old ones that may be within reach, a little too many for rounding."""
    some = rows[first : first + ROWS_AT_ONCE]
    slack = _SLACK * np.finfo(known.dtype).eps
    new, old = [], []
    for start in range(0, known.shape[0], ROWS_AT_ONCE):
        others = known[start : start + ROWS_AT_ONCE]
        products = some @ others.T
        products = products.toarray() if sp.issparse(products) else products
        sizes = _squares(some)[:, None] + _squares(others)
        limit = reach[start : start + ROWS_AT_ONCE] ** 2
        i, j = np.nonzero(sizes - 2 * products <= limit + slack * (limit + sizes))
        new.append(first + i)
        old.append(start + j)
    return np.concatenate(new), np.concatenate(old)


def lengths_of_pairs(rows: Any, i: Ints, others: Any, j: Ints) -> Floats:
    """Distance of ``rows[i]`` and ``others[j]``, pair by pair, without cancellation."""
    lengths = np.empty(len(i))
    for first in range(0, len(i), _PAIRS_AT_ONCE):
        some = slice(first, first + _PAIRS_AT_ONCE)
        lengths[some] = np.sqrt(_squares(rows[i[some]] - others[j[some]]))
    return lengths


def _squares(rows: Any) -> Floats:
    """Sum of squares of each row."""
    if sp.issparse(rows):
        return np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    dense: AnyFloats = rows
    return np.asarray(np.einsum("ij,ij->i", dense, dense, dtype=np.float64))


def _count(index: NeighborIndex | SparseIndex) -> int:
    return int(index.points().shape[0]) if isinstance(index, SparseIndex) else len(index.rows)
