"""Equal rows: found once, so that neighbors can be counted over different ones.

A point with more duplicates than neighbors would otherwise have only those, and the graph would fall apart.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from arbora._base.threads import allowed_threads, share_out
from arbora._base.types import Ints
from arbora.similarity import _knn_kernels as kernels
from arbora.similarity._few_rows import FEW, hash_few

_ROWS_AT_ONCE = 4096
# hashed at once
_ROWS_HASHED = 65_536
# of the members that points are joined to
_SEED = 0


class Groups(NamedTuple):
    """Points that are equal, as groups numbered by their first point."""

    # the first point of each group, ascending
    first: Ints
    # the group of each point
    group: Ints

    @property
    def has_duplicates(self) -> bool:
        """Whether any two points are equal."""
        return len(self.first) < len(self.group)


def group_equal_rows(rows: Any) -> Groups:
    """Groups of equal rows of a dense or sparse matrix. O(n d)."""
    keys = _sparse_keys(rows) if sp.issparse(rows) else _dense_keys(rows)
    groups = group_by_key(keys)
    if groups.has_duplicates and not _are_equal(rows, groups):
        # two different rows share a key: practically never
        dense = rows.toarray() if sp.issparse(rows) else rows
        groups = group_by_key(np.unique(dense + 0.0, axis=0, return_inverse=True)[1].ravel())
    return groups


def _dense_keys(rows: Any) -> Any:
    if len(rows) <= FEW:
        return hash_few(_bits(rows))
    keys = np.empty(len(rows), dtype=np.uint64)

    def hash_some(first: int, last: int) -> None:
        keys[first:last] = kernels.hash_rows(_bits(rows[first:last]))

    share_out(hash_some, len(rows), allowed_threads(), at_once=_ROWS_HASHED)
    return keys


def group_by_key(keys: Any) -> Groups:
    """Groups of points with equal keys."""
    ordered = np.sort(keys)
    if not (ordered[1:] == ordered[:-1]).any():
        return Groups(np.arange(len(keys)), np.arange(len(keys)))
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    number = np.empty(len(first), dtype=np.int64)
    number[order] = np.arange(len(first))
    return Groups(first[order].astype(np.int64), number[group.ravel()])


def link_groups(groups: Groups, near: Ints, weight: Any, n_links: int) -> sp.csr_array:
    """Directed edges of all points, given those of the groups: near[g] are groups, weight[g] their weights.

    A point is joined to a member of each neighboring group, and with weight 1 to members of its own: to all of them
    where they are few, else to the next one in each of `n_links` circles. So every group is connected, and no group has
    more edges than its points need. Few members take turns. Of many, members and circles are drawn, always the same
    ones: if they went by the order of rows, points of one place in their groups would be nearer to each other, all
    around, than a group's first member to its last, and a large group would be torn apart.
    """
    n_points = len(groups.group)
    members = np.argsort(groups.group, kind="stable")
    sizes = np.bincount(groups.group)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    grouped = groups.group[members]
    circles = _Circles(members, np.arange(n_points) - starts[grouped], sizes[grouped], starts[grouped])
    rng = np.random.default_rng(_SEED)
    rank = np.empty(n_points, dtype=np.int64)
    rank[members] = circles.place
    theirs = near[groups.group]
    drawn = (rng.random(theirs.shape) * sizes[theirs]).astype(np.int64)
    place = np.where(sizes[theirs] <= n_links + 1, rank[:, None] % sizes[theirs], drawn)
    rows = np.repeat(np.arange(n_points), near.shape[1])
    to_others = _edges(rows, members[starts[theirs] + place].ravel(), weight[groups.group].ravel(), n_points)
    return sp.csr_array(to_others + _edges_within(circles, n_links, rng))


class _Circles(NamedTuple):
    """Members in order of their groups: place in the group, and the group's size and beginning."""

    members: Ints
    place: Ints
    size: Ints
    start: Ints


def _edges_within(circles: _Circles, n_links: int, rng: np.random.Generator) -> sp.csr_array:
    """Each member joined to the next one in circles of its group, or to all of them where there are few."""
    members, place, size, start = circles
    is_small = size <= n_links + 1
    rows, columns = [], []
    for step in range(1, n_links + 1):
        circle = members[np.lexsort((np.where(is_small, place, rng.random(len(members))), start))]
        ahead = np.where(is_small, step, 1)
        some = np.flatnonzero(size > ahead)
        rows.append(circle[some])
        columns.append(circle[start[some] + (place[some] + ahead[some]) % size[some]])
    n_edges = sum(map(len, rows))
    edges = _edges(np.concatenate(rows), np.concatenate(columns), np.ones(n_edges, np.float32), len(members))
    # two circles may join the same two points
    edges.data[:] = 1
    return edges


def _edges(rows: Ints, columns: Ints, values: Any, n_points: int) -> sp.csr_array:
    index = np.int32 if max(len(rows), n_points) < 2**31 else np.int64
    return sp.csr_array((values, (rows.astype(index), columns.astype(index))), shape=(n_points, n_points))


def _bits(rows: Any) -> Any:
    """The rows as whole numbers; -0.0 and 0.0 are equal."""
    dense = np.ascontiguousarray(rows) + rows.dtype.type(0)
    return dense.view(np.uint32 if dense.dtype == np.float32 else np.uint64)


def _sparse_keys(rows: sp.csr_array) -> Any:
    stored = rows.copy()
    stored.eliminate_zeros()
    stored.sort_indices()
    bits = np.ascontiguousarray(stored.data, dtype=np.float64).view(np.uint64)
    return kernels.hash_sparse_rows(stored.indptr.astype(np.int64), stored.indices.astype(np.int64), bits)


def _are_equal(rows: Any, groups: Groups) -> bool:
    n = len(groups.group)
    for first in range(0, n, _ROWS_AT_ONCE):
        part = slice(first, min(first + _ROWS_AT_ONCE, n))
        differs = rows[part] != rows[groups.first[groups.group[part]]]
        if differs.nnz if sp.issparse(differs) else differs.any():
            return False
    return True
