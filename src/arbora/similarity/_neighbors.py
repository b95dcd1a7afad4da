"""Nearest neighbors in a set of vectors: exact for small sets, among nearby k-means cells for large ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import pairwise
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from arbora._base.permutations import inverse_permutation
from arbora._base.threads import allowed_threads, share_out
from arbora._base.types import AnyFloats, Floats, Ints
from arbora.similarity import _knn_kernels as kernels
from arbora.similarity._cells import (
    ROWS_AT_ONCE,
    Report,
    Rooms,
    Singles,
    in_threads,
    kmeans_centers,
    nearby_order,
    nearest_centers,
    nearly_nearest_centers,
    silent_share,
)
from arbora.similarity.scaling import column_blocks

# rows; beyond, only nearby cells are searched
EXACT_UP_TO = 20_000
# searched for a row, and the nearest to its own cell among which they are
MOST_CELLS, NEARBY_CELLS = 24, 64
# share of a sample's neighbors within the cells searched: no need to search more
GOOD_RECALL = 0.95
# sampled for that, and of them compared at once
_SAMPLED_ROWS, _SAMPLED_AT_ONCE = 256, 64
# times sqrt(n)
_CELLS_PER_ROOT = 2
# times the mean
_LARGEST_CELL = 4
# brought to one scale, or to another place, at once
_ROWS_SHIFTED = 16_384
# of whom neighbors of neighbors are tried at once: about a quarter of a second. To look up a row costs as much as to
# read some values.
_VALUES_TRIED, _LOOKED_UP, _MOST_PIECES = 1 << 27, 32, 256
# in units of the extent of the points
_FARTHEST = 1e12
_FARTHEST_EXPONENT = 60

# (points int64[n, k], distances float64[n, k]), nearest first; the unit of distances is the index's own
Neighbors: TypeAlias = tuple[Ints, Floats]
# a cell, and which of the queries are compared with its rows
Group: TypeAlias = tuple[int, Ints]


class Index(Protocol):
    """What finds neighbors."""

    def neighbors(self, n_neighbors: int, n_threads: int, report: Report = silent_share) -> Neighbors:
        """Neighbors of every point, itself excluded."""

    def query(self, X: Any, n_neighbors: int, n_threads: int) -> Neighbors:
        """Neighbors of new points among the points."""

    def points(self) -> Any:
        """The points in order, in the index's own unit; None where only distances are known."""

    def nearby_order(self) -> Ints | None:
        """The points in an order in which near ones are together; None where none is known."""


class NeighborIndex:
    """Rows of vectors, sorted by cell, ready to be searched.

    A cell's rows are compared with all rows of the nearest cells by one matrix product: on the hardware
    measured, several times less work than scanning the same inverted lists row by row.

    Attributes
    ----------
    rows : ndarray of float, shape (n_points, n_features)
        The vectors, shifted and scaled, those of a cell together.
    order : ndarray of int, shape (n_points,)
        The point that each row is.
    offsets : ndarray of int, shape (n_cells + 1,)
        Where each cell starts.
    centers : ndarray or None
        Means of the cells; None when search is exact.
    """

    def __init__(
        self, X: AnyFloats, *, centered: bool, seed: int, n_threads: int, overwrite: bool = False
    ) -> None:
        n_points = len(X)
        self.is_exact = n_points <= EXACT_UP_TO
        self.dtype = np.dtype(X.dtype if self.is_exact else np.float32)
        # powers of two are exact: values near the largest float are squared and summed as well as any
        self.exponent = int(np.frexp(max(_of_pieces(_extent, X, n_threads)))[1])
        self.scale = 1.0
        self.shift = np.zeros(X.shape[1])
        if centered:
            sums = _of_pieces(
                lambda piece: np.ldexp(piece, -self.exponent).sum(axis=0, dtype=np.float64), X, n_threads
            )
            self.shift = np.sum(sums, axis=0) / n_points
        rows = self._scaled_rows(X, overwrite, n_threads)
        if self.is_exact:
            self.centers: AnyFloats | None = None
            self.order = np.arange(n_points)
            self.offsets = np.append(np.arange(0, n_points, ROWS_AT_ONCE), n_points)
            self.rows = rows
        else:
            self._sort_into_cells(rows, seed, n_threads)
        self.squares = np.einsum("ij,ij->i", self.rows, self.rows)

    def _scaled_rows(self, X: AnyFloats, overwrite: bool, n_threads: int) -> AnyFloats:
        """The rows shifted and divided by the largest value, piece by piece: no copy of all in double precision."""
        # 1 where all rows are equal
        self.scale = max(_of_pieces(lambda piece: _extent(self._shifted(piece)), X, n_threads)) or 1.0
        rows = X if overwrite and X.dtype == self.dtype else np.empty(X.shape, dtype=self.dtype)

        def scale(first: int) -> None:
            part = slice(first, first + _ROWS_SHIFTED)
            rows[part] = self._shifted(X[part]) / self.scale

        in_threads(scale, range(0, len(X), _ROWS_SHIFTED), n_threads)
        return rows

    def transform(self, X: AnyFloats) -> AnyFloats:
        """Vectors in the coordinates of `rows`; of those far beyond all rows only the direction matters."""
        placed = self._shifted(X)
        placed /= self.scale
        largest = np.abs(placed).max(axis=1, keepdims=True)
        placed *= _FARTHEST / np.maximum(largest, _FARTHEST)
        return placed.astype(self.dtype)

    def points(self) -> AnyFloats:
        """The points in order, in the index's own unit."""
        return _taken(self.rows, inverse_permutation(self.order), allowed_threads())

    def nearby_order(self) -> Ints | None:
        """The points cell by cell; None where there are no cells."""
        return None if self.is_exact else self.order

    def with_points(self, rows: AnyFloats, *, seed: int, n_threads: int) -> NeighborIndex:
        """An index of other points, given in the unit of this one, that takes new vectors in the same form."""
        index = NeighborIndex(rows, centered=False, seed=seed, n_threads=n_threads)
        index.scale = self.scale * float(np.ldexp(index.scale, index.exponent))
        index.shift, index.exponent = self.shift, self.exponent
        return index

    def _shifted(self, X: AnyFloats) -> Floats:
        own = np.frexp(np.abs(X).max(axis=1, keepdims=True))[1]
        exponent = np.minimum(-self.exponent, _FARTHEST_EXPONENT - own)
        return np.asarray(np.ldexp(X, exponent) - self.shift, dtype=np.float64)

    def _sort_into_cells(self, X: Singles, seed: int, n_threads: int) -> None:
        n_cells = int(_CELLS_PER_ROOT * np.sqrt(len(X)))
        self.centers = kmeans_centers(X, n_cells, seed, n_threads)
        # cells that are near in space have numbers that are near, and so have their rows
        self.centers = self.centers[nearby_order(self.centers)]
        cell = nearly_nearest_centers(X, self.centers, n_threads)
        self.order = np.argsort(cell, kind="stable")
        offsets = np.searchsorted(cell[self.order], np.arange(n_cells + 1))
        # near-duplicates fill one cell: cut it into pieces, or it would be compared with itself in O(n^2)
        largest = _LARGEST_CELL * len(X) // n_cells
        pieces = np.maximum(1, -(-np.diff(offsets) // largest))
        starts = [a + np.arange(p) * largest for a, p in zip(offsets[:-1], pieces)]
        self.offsets = np.append(np.concatenate(starts), len(X))
        self.centers = np.repeat(self.centers, pieces, axis=0)
        # column by column in place: at this size memory may not hold a second copy
        for some in column_blocks(X.shape):
            X[:, some] = _taken(X[:, some], self.order, n_threads)
        self.rows = X

    def neighbors(
        self, n_neighbors: int, n_threads: int, report: Report = silent_share, *, n_wanted: int | None = None
    ) -> Neighbors:
        """Neighbors of every point, itself excluded; of the first `n_wanted` points alone where that is given."""
        is_wanted = self.order < (len(self.rows) if n_wanted is None else n_wanted)
        who = np.full((len(self.rows), n_neighbors), -1, dtype=np.int32)
        if n_neighbors == 0:
            return np.empty((int(is_wanted.sum()), 0), dtype=np.int64), np.empty((int(is_wanted.sum()), 0))
        wanted, cell = np.flatnonzero(is_wanted), self._cell_of_rows()
        nearby, rooms = self._nearby_cells(), self._rooms()
        n_searched, recall = self._cells_enough(nearby, cell, wanted, n_neighbors, n_threads)

        def search(first: int) -> None:
            own = wanted[first : first + self._rows_together]
            groups = self._groups_nearby(self.rows[own], cell[own], nearby, n_searched)
            who[own] = self._search(self.rows[own], own, groups, n_neighbors, rooms)

        in_threads(search, range(0, len(wanted), self._rows_together), n_threads, report)
        if not self.is_exact:
            who = self._improved(who, int(recall < GOOD_RECALL), n_threads)
            self._complete(who, self.rows, np.arange(len(who)), wanted)
        if len(wanted) < len(who):
            who = who[wanted]
        queries = self.rows if len(wanted) == len(self.rows) else self.rows[wanted]
        distance = self._measured(queries, who, n_threads)
        points, distances = np.empty(who.shape, dtype=np.int64), np.empty(who.shape)

        def put_back(first: int, last: int) -> None:
            places = self.order[wanted[first:last]]
            points[places] = self.order[who[first:last]]
            distances[places] = distance[first:last]

        share_out(put_back, len(who), n_threads)
        return points, distances

    def query(self, X: AnyFloats, n_neighbors: int, n_threads: int) -> Neighbors:
        """Neighbors of new vectors among the points."""
        new = self.transform(X)
        who = np.full((len(new), n_neighbors), -1, dtype=np.int32)
        cell = np.zeros(len(new), dtype=np.int64)
        if self.centers is not None:
            cell = nearest_centers(new, self.centers, n_threads)
        # those of a cell together
        order, nearby, rooms = np.argsort(cell, kind="stable"), self._nearby_cells(), self._rooms()
        n_searched = len(nearby[0]) if self.is_exact else min(MOST_CELLS, len(nearby[0]))

        def search(first: int) -> None:
            rows = order[first : first + self._rows_together]
            nobody = np.full(len(rows), -1)
            groups = self._groups_nearby(new[rows], cell[rows], nearby, n_searched)
            who[rows] = self._search(new[rows], nobody, groups, n_neighbors, rooms)

        in_threads(search, range(0, len(new), self._rows_together), n_threads)
        self._complete(who, new, np.full(len(new), -1), np.arange(len(new)))
        return self.order[who], self._measured(new, who, n_threads)

    @property
    def _rows_together(self) -> int:
        """Rows searched by one call: rows of many neighboring cells, which search the same cells."""
        return ROWS_AT_ONCE if self.is_exact else 4 * ROWS_AT_ONCE

    def _cell_of_rows(self) -> Ints:
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def _measured(self, queries: AnyFloats, who: NDArray[np.int32], n_threads: int) -> Floats:
        """Exact distances to the rows `who`, which are sorted by them."""
        distance = np.empty(who.shape)

        def measure(first: int, last: int) -> None:
            some = slice(first, last)
            distance[some] = kernels.measure_and_sort(queries[some], self.rows, who[some])

        share_out(measure, len(who), n_threads)
        return distance

    def _nearby_cells(self) -> list[Ints]:
        """For each cell: the cell itself, then those with the nearest centers."""
        n_cells = len(self.offsets) - 1
        if self.centers is None:
            return [np.arange(n_cells)] * n_cells
        n_nearby = min(NEARBY_CELLS, n_cells)
        values = np.einsum("ij,ij->i", self.centers, self.centers) - 2 * (self.centers @ self.centers.T)
        np.fill_diagonal(values, -np.inf)
        nearest = np.argpartition(values, n_nearby - 1, axis=1)[:, :n_nearby]
        by_distance = np.argsort(np.take_along_axis(values, nearest, axis=1), axis=1, kind="stable")
        return list(np.take_along_axis(nearest, by_distance, axis=1))

    def _cells_enough(
        self, nearby: list[Ints], cell_of_row: Ints, wanted: Ints, n_neighbors: int, n_threads: int
    ) -> tuple[int, float]:
        """How many cells hold nearly all neighbors of sampled rows, and the share that they actually hold."""
        if self.is_exact:
            return len(nearby), 1.0
        rows = wanted[np.unique(np.linspace(0, len(wanted) - 1, _SAMPLED_ROWS).astype(np.int64))]
        found = np.empty((len(rows), n_neighbors), dtype=np.int32)
        rooms = self._rooms()

        def search(first: int) -> None:
            some = rows[first : first + _SAMPLED_AT_ONCE]
            everywhere = self._groups_everywhere(len(some))
            found[first : first + len(some)] = self._search(
                self.rows[some], some, everywhere, n_neighbors, rooms
            )

        in_threads(search, range(0, len(rows), _SAMPLED_AT_ONCE), n_threads)
        searched = np.array([nearby[cell] for cell in cell_of_row[rows]])
        for row, others in zip(rows, searched[:, 1:]):
            others[:] = others[np.argsort(self._center_values(self.rows[[row]], others)[0], kind="stable")]
        searched = searched[:, :MOST_CELLS]
        # sample, neighbor, cell in order of search
        held = cell_of_row[found][:, :, None] == searched[:, None, :]
        recall = np.cumsum(held.mean(axis=(0, 1)))
        enough = int(np.searchsorted(recall, GOOD_RECALL)) + 1
        n_cells = min(max(enough, 2), len(recall))
        return n_cells, float(recall[n_cells - 1])

    def _center_values(self, queries: AnyFloats, cells: Ints) -> AnyFloats:
        """Square distances from queries to the centers of cells, less what does not depend on the cell."""
        assert self.centers is not None
        centers = self.centers[cells]
        values: AnyFloats = np.einsum("ij,ij->i", centers, centers) - 2 * (queries @ centers.T)
        return values

    def _complete(self, who: NDArray[np.int32], queries: AnyFloats, own: Ints, wanted: Ints) -> None:
        """Search everywhere for those wanted rows whose nearby cells held too few points."""
        short = wanted[who[wanted, -1] < 0]
        rooms = self._rooms()
        for first in range(0, len(short), ROWS_AT_ONCE):
            rows = short[first : first + ROWS_AT_ONCE]
            everywhere = self._groups_everywhere(len(rows))
            who[rows] = self._search(queries[rows], own[rows], everywhere, who.shape[1], rooms)

    def _rooms(self) -> Rooms:
        """Room for the products of rows with those of a cell; made for each call, as it cannot be pickled."""
        return Rooms(ROWS_AT_ONCE * int(np.diff(self.offsets).max(initial=0)), self.rows.dtype)

    def _groups_everywhere(self, n_queries: int) -> list[Group]:
        """All queries search all cells."""
        every = np.arange(n_queries)
        return [(cell, every) for cell in range(len(self.offsets) - 1)]

    def _groups_nearby(
        self, queries: AnyFloats, cell: Ints, nearby: list[Ints], n_searched: int
    ) -> list[Group]:
        """Each query searches the cells whose centers are nearest to it, among those near its own cell.

        A cell is compared with all queries that want it at once. `cell` ascends, so that many do.
        """
        if n_searched == len(nearby[0]):
            return self._groups_everywhere(len(queries))
        # their own cell comes first: after it, few rows of other cells are near enough
        bounds = np.flatnonzero(np.diff(cell, prepend=-1, append=-1))
        groups = [(cell[a], np.arange(a, b)) for a, b in pairwise(bounds)]
        targets = np.empty((len(queries), n_searched - 1), dtype=np.int64)
        for own_cell, rows in groups:
            others = nearby[own_cell][1:]
            values = self._center_values(queries[rows], others)
            targets[rows] = others[np.argpartition(values, n_searched - 2, axis=1)[:, : n_searched - 1]]
        order = np.argsort(targets, axis=None, kind="stable")
        wanted = targets.ravel()[order]
        starts = np.flatnonzero(np.diff(wanted, prepend=-1))
        groups += zip(wanted[starts], np.split(order // (n_searched - 1), starts[1:]))
        return groups

    def _search(
        self, queries: AnyFloats, own: Ints, groups: Iterable[Group], n_neighbors: int, rooms: Rooms
    ) -> NDArray[np.int32]:
        """Neighbors of each query among the rows of the cells in whose groups it is."""
        best = np.full((len(queries), n_neighbors), np.inf, dtype=self.rows.dtype)
        who = np.full((len(queries), n_neighbors), -1, dtype=np.int32)
        for cell, rows in groups:
            first, last = self.offsets[cell], self.offsets[cell + 1]
            for start in range(0, len(rows) if first < last else 0, ROWS_AT_ONCE):
                some = rows[start : start + ROWS_AT_ONCE]
                room = rooms.room(len(some), last - first)
                products = np.matmul(queries[some], self.rows[first:last].T, out=room)
                kernels.select_nearest(products, self.squares, first, own, some, best, who)
        return who

    def _improved(self, who: NDArray[np.int32], n_passes: int, n_threads: int) -> NDArray[np.int32]:
        # pieces after which Ctrl-C is noticed; each begins with a pass over a mark per row, so they are not too many
        n_tried = 2 * who.shape[1] * (1 + who.shape[1])
        step = _VALUES_TRIED // (n_tried * (self.rows.shape[1] + _LOOKED_UP))
        step = max(1, step, len(who) // _MOST_PIECES)
        step = min(step, -(-len(who) // n_threads))
        firsts = range(0, len(who), step)
        for _ in range(n_passes):
            both = kernels.add_reverse_neighbors(who)
            improved = np.empty_like(who)
            improve = partial(kernels.try_neighbors_of_neighbors, self.rows, who, both)
            in_threads(lambda first: improve(first, min(first + step, len(who)), improved), firsts, n_threads)  # noqa: B023
            who = improved
        return who


def _of_pieces(measure: Callable[[AnyFloats], Any], X: AnyFloats, n_threads: int) -> list[Any]:
    """What a function says of the rows of each piece, in order."""
    firsts = range(0, len(X), _ROWS_SHIFTED)
    found: list[Any] = [None] * len(firsts)

    def note(number: int) -> None:
        found[number] = measure(X[firsts[number] : firsts[number] + _ROWS_SHIFTED])

    in_threads(note, range(len(firsts)), n_threads)
    return found


def _extent(rows: AnyFloats) -> float:
    """The largest absolute value."""
    return float(max(rows.max(), -rows.min()))


def _taken(rows: AnyFloats, order: Ints, n_threads: int) -> AnyFloats:
    """The rows in another order."""
    taken = np.empty(rows.shape, dtype=rows.dtype)

    def take(first: int, last: int) -> None:
        taken[first:last] = rows[order[first:last]]

    # in pieces: rows taken at once are in memory twice
    share_out(take, len(order), n_threads, at_once=_ROWS_SHIFTED)
    return taken
