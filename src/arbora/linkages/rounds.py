"""Agglomeration of a large graph in rounds: all pairs that are each other's nearest neighbor merge at once.

Average linkage is reducible: a merged cluster is no nearer to a third one than the nearer of its parts. So a mutual
pair stays mutual whatever else merges, and the tree is that of merging one pair after the other, up to ties. A round
reads the graph row by row and writes the smaller one of the next round, in threads, with nothing but rows in order:
several times less work than keeping heaps of edges up to date, as long as a fair share of the clusters merges.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from arbora._base.threads import share_out
from arbora._base.types import Floats, Ints
from arbora.linkages import _kernels as chains
from arbora.linkages import _round_kernels as kernels
from arbora.linkages._round_kernels import NOTHING, SUMS, Clusters, Rows

# at least one cluster out of this many must merge in a round; otherwise chains take over
FEWEST_MERGED = 100
# clusters that are left to chains
FEW_CLUSTERS = 256
_SHARES_PER_THREAD = 4

# left and right part and similarity of each merge
Merges: TypeAlias = tuple[Ints, Ints, Floats]


def merge_in_rounds(rows: Rows, mass: Floats, leaf: Ints, n_threads: int) -> Merges:
    """Merges of average linkage: merge t joins nodes left[t] and right[t] into node n_points + t.

    Row c of the graph is the leaf ``leaf[c]``. Parts without an edge between them stay apart.
    """
    n_points = len(mass)
    clusters = Clusters(mass, leaf.astype(np.int64), np.zeros(n_points, dtype=np.int64))
    near, closeness = np.full(n_points, NOTHING), np.zeros(n_points)
    rooms, found = Rooms(n_points), list[Merges]()
    n_made = n_points
    while len(near) > FEW_CLUSTERS:
        _find_nearest(rows, clusters, near, closeness, n_threads)
        is_mutual = (near >= 0) & (near[near] == np.arange(len(near)))
        if int(is_mutual.sum()) < 2 * (len(near) / FEWEST_MERGED):
            break
        one, other, code = _number_pairs(near, is_mutual)
        merged = np.flatnonzero(other >= 0)
        left, right = clusters.label[one[merged]], clusters.label[other[merged]]
        found.append((np.minimum(left, right), np.maximum(left, right), closeness[one[merged]]))
        rows = _contracted(rows, one, other, code, rooms, n_threads)
        near, closeness = _still_nearest(near, closeness, is_mutual, one, other, code)
        clusters = _joined(clusters, one, other, n_made, len(found))
        n_made += len(merged)
    found.append(_finish_by_chains(rows, clusters, n_made))
    left, right, similarity = (np.concatenate(parts) for parts in zip(*found))
    return left, right, similarity


def _find_nearest(rows: Rows, clusters: Clusters, near: Ints, closeness: Floats, n_threads: int) -> None:
    bounds = _balanced(rows.start, len(rows.far), n_threads)

    def find(first: int, last: int) -> None:
        kernels.find_nearest(rows, clusters, bounds[first], bounds[last], near, closeness)

    share_out(find, len(bounds) - 1, n_threads, at_once=1)


def _number_pairs(near: Ints, is_mutual: NDArray[np.bool_]) -> tuple[Ints, Ints, NDArray[np.int32]]:
    """First and second old cluster of each new one (NOTHING: it has one), and the code of each old one."""
    old = np.arange(len(near))
    is_second = is_mutual & (near < old)
    number = np.cumsum(~is_second) - 1
    number[is_second] = number[near[is_second]]
    one = np.flatnonzero(~is_second)
    other = np.where(is_mutual[one], near[one], NOTHING)
    return one, other, (2 * number + is_second).astype(np.int32)


class Rooms:
    """Memory for the graphs of two rounds in turn, and for sums: fresh memory would be cleared page by page."""

    def __init__(self, n_points: int) -> None:
        self._n_points, self._n_rows_done = n_points, 0
        self._far: list[NDArray[np.int32]] = []
        self._weight: list[Floats] = []
        # of threads that are at no share now
        self._spare_sums: list[NDArray[np.void]] = []

    def next(self, n_entries: int) -> tuple[NDArray[np.int32], Floats]:
        """Room for this many edges that is not that of the last round; rounds need less and less."""
        if len(self._far) < 2:
            self._far.append(np.empty(n_entries, dtype=np.int32))
            self._weight.append(np.empty(n_entries))
        else:
            self._far.reverse()
            self._weight.reverse()
        return self._far[-1][:n_entries], self._weight[-1][:n_entries]

    def first_row(self, n_rows: int) -> int:
        """What to count the rows of this round from, so that no two rounds have the same: sums are never cleared."""
        first, self._n_rows_done = self._n_rows_done, self._n_rows_done + n_rows
        return first

    @contextlib.contextmanager
    def sums(self) -> Iterator[NDArray[np.void]]:
        """Sums for all clusters, of no row yet, that no other thread uses meanwhile."""
        try:
            own = self._spare_sums.pop()
        except IndexError:
            own = np.empty(self._n_points, dtype=SUMS)
            own["row"] = NOTHING
        yield own
        self._spare_sums.append(own)


def _contracted(
    rows: Rows, one: Ints, other: Ints, code: NDArray[np.int32], rooms: Rooms, n_threads: int
) -> Rows:
    """The graph after the merges; rows have room for all edges of their parts."""
    has_other = other >= 0
    room = rows.length[one].astype(np.int64)
    room[has_other] += rows.length[other[has_other]]
    start = np.cumsum(room) - room
    n_entries = int(room.sum())
    merged = Rows(start, np.empty(len(one), dtype=np.int32), *rooms.next(n_entries))
    bounds, first_row = _balanced(start, n_entries, n_threads), rooms.first_row(len(one))

    def contract(first: int, last: int) -> None:
        with rooms.sums() as sums:
            kernels.contract_rows(
                rows, code, one, other, merged, bounds[first], bounds[last], sums, first_row
            )

    share_out(contract, len(bounds) - 1, n_threads, at_once=1)
    return merged


def _still_nearest(
    near: Ints,
    closeness: Floats,
    is_mutual: NDArray[np.bool_],
    one: Ints,
    other: Ints,
    code: NDArray[np.int32],
) -> tuple[Ints, Floats]:
    """The nearest neighbors that are known after the merges: where neither side has merged."""
    before = near[one]
    is_known = (other < 0) & (before >= 0) & ~is_mutual[before]
    return np.where(is_known, code[before] >> 1, NOTHING), closeness[one]


def _joined(clusters: Clusters, one: Ints, other: Ints, n_made: int, this_round: int) -> Clusters:
    """The clusters after the merges, which are numbered from `n_made` on."""
    mass, label, born = (values[one] for values in clusters)
    merged = np.flatnonzero(other >= 0)
    mass[merged] += clusters.mass[other[merged]]
    label[merged] = n_made + np.arange(len(merged))
    born[merged] = this_round
    return Clusters(mass, label, born)


def _finish_by_chains(rows: Rows, clusters: Clusters, n_made: int) -> Merges:
    """The merges of what is left, one pair after the other."""
    n_left = len(clusters.mass)
    here = np.repeat(np.arange(n_left, dtype=np.int32), rows.length)
    place = np.arange(len(here)) + np.repeat(rows.start - (np.cumsum(rows.length) - rows.length), rows.length)
    far = rows.far[place]
    upper = here < far
    end = np.column_stack([here[upper], far[upper]]).ravel()
    left, right, similarity = chains.agglomerate(
        end, rows.weight[place[upper]], clusters.mass.copy(), chains.AVERAGE
    )
    # nodes made by the chains follow those of the rounds
    label = np.concatenate([clusters.label, n_made + np.arange(n_left)])
    return label[left], label[right], similarity


def _balanced(start: Ints, n_entries: int, n_threads: int) -> Ints:
    """Bounds of rows, in shares of about as many entries: some for each thread, as entries take unlike time."""
    n_shares = 1 if n_threads == 1 else _SHARES_PER_THREAD * n_threads
    inner = np.searchsorted(start, np.linspace(0, n_entries, n_shares + 1)[1:-1])
    return np.concatenate([[0], inner, [len(start)]])
