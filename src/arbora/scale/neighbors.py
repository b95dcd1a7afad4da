"""The neighbors of a part's rows, among its own and those that border it; and the two directions of edges joined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from arbora._base.types import Ints
from arbora.scale.division import Sent
from arbora.similarity.part_neighbors import join_directions, neighbor_edges


class Directed(NamedTuple):
    """Edges from the points of a part to their neighbors, seen from the points.

    Attributes
    ----------
    ids : ndarray of int64
        Row numbers of the points, ascending.
    cell : ndarray of int32
        k-means cell of each point.
    indptr, target, weight : ndarray
        The edges of point i are indptr[i] to indptr[i + 1]; a target is a row number.
    owner : ndarray of int32
        The part of each target.
    """

    ids: Ints
    cell: NDArray[np.int32]
    indptr: Ints
    target: Ints
    weight: NDArray[np.float32]
    owner: NDArray[np.int32]


def find_neighbors(
    sent: Sequence[Sent | None], part: int, n_neighbors: int, metric: str, seed: int
) -> Directed:
    """Neighbors of the rows that the blocks sent to a part."""
    given = [block for block in sent if block is not None]
    own_ids, cell, near_ids, near_owner = (
        np.concatenate([getattr(block, name) for block in given])
        for name in ("own_ids", "own_cell", "near_ids", "near_owner")
    )
    rows = np.concatenate([block.own_rows for block in given] + [block.near_rows for block in given])
    n_own = len(own_ids)
    ids = np.concatenate([own_ids, near_ids])
    owner = np.concatenate([np.full(n_own, part, dtype=np.int32), near_owner])
    if n_own == 0:
        empty = np.empty(0, dtype=np.int64)
        return Directed(own_ids, cell, np.zeros(1, np.int64), empty, np.empty(0, np.float32), owner[:0])
    edges = neighbor_edges(rows, n_own, n_neighbors, metric, seed)
    return Directed(
        own_ids, cell, edges.indptr.astype(np.int64), ids[edges.indices], edges.data, owner[edges.indices]
    )


class PartGraph(NamedTuple):
    """The symmetric graph of a part's points, and their edges to other parts.

    Attributes
    ----------
    ids, cell
        As in `Directed`.
    indptr, indices, data : ndarray
        CSR arrays of the edges within the part.
    out_point, out_id, out_owner, out_weight : ndarray
        An edge from a point (by its place in `ids`) to the row `out_id` of another part each; sorted by point, then id.
    """

    ids: Ints
    cell: NDArray[np.int32]
    indptr: Ints
    indices: Ints
    data: NDArray[np.float32]
    out_point: NDArray[np.int32]
    out_id: Ints
    out_owner: NDArray[np.int32]
    out_weight: NDArray[np.float32]

    @property
    def csr(self) -> sp.csr_array:
        """The edges within the part."""
        n = len(self.ids)
        return sp.csr_array((self.data, self.indices, self.indptr), shape=(n, n))


class Mail(NamedTuple):
    """Directed edges that leave a part for one other part: (row there, row here, weight)."""

    there: Ints
    here: Ints
    weight: NDArray[np.float32]


def mail_edges(directed: Directed, part: int) -> dict[int, Mail]:
    """The edges that end in other parts, for those parts."""
    leaving = np.flatnonzero(directed.owner != part)
    point = np.repeat(np.arange(len(directed.ids)), np.diff(directed.indptr))[leaving]
    owner = directed.owner[leaving]
    mail = {}
    for other in np.unique(owner).tolist():
        some = leaving[owner == other]
        here = directed.ids[point[owner == other]]
        mail[other] = Mail(directed.target[some], here, directed.weight[some])
    return mail


def join_part(directed: Directed, part: int, mail: Mapping[int, Mail | None]) -> PartGraph:
    """The symmetric graph of a part, from its own directed edges and those that other parts sent."""
    n = len(directed.ids)
    point = np.repeat(np.arange(n), np.diff(directed.indptr))
    is_inside = directed.owner == part
    inside = sp.csr_array(
        (
            directed.weight[is_inside],
            (point[is_inside], np.searchsorted(directed.ids, directed.target[is_inside])),
        ),
        shape=(n, n),
    )
    joined = join_directions(inside, "fuzzy")
    came = [
        (
            np.searchsorted(directed.ids, letter.there),
            letter.here,
            np.full(len(letter.here), other),
            letter.weight,
        )
        for other, letter in sorted(mail.items())
        if letter is not None
    ]
    leaving = [
        (
            point[~is_inside],
            directed.target[~is_inside],
            directed.owner[~is_inside],
            directed.weight[~is_inside],
        )
    ]
    columns = [np.concatenate(column) for column in zip(*leaving, *came)]
    out_point, out_id, out_owner, out_weight = _join_pairs(*columns)
    return PartGraph(
        directed.ids,
        directed.cell,
        joined.indptr,
        joined.indices,
        joined.data,
        out_point.astype(np.int32),
        out_id,
        out_owner.astype(np.int32),
        out_weight,
    )


def _join_pairs(
    point: Ints, other: Ints, owner: Ints, weight: NDArray[np.float32]
) -> tuple[Ints, Ints, Ints, NDArray[np.float32]]:
    """Sorted by point, then by the other end; where both directions are there, they are joined as a + b - ab."""
    order = np.lexsort((other, point))
    point, other, owner, weight = point[order], other[order], owner[order], weight[order]
    is_second = np.zeros(len(point), dtype=bool)
    is_second[1:] = (point[1:] == point[:-1]) & (other[1:] == other[:-1])
    second = np.flatnonzero(is_second)
    a, b = weight[second - 1], weight[second]
    weight[second - 1] = a + b - a * b
    keep = ~is_second
    return point[keep], other[keep], owner[keep], weight[keep]
