"""Rows divided into parts: k-means cells of a sample, a coarse tree over them, and a block's rows sent to the parts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arbora._base.threads import limited_libraries
from arbora._base.types import AnyFloats, Bools, Floats, Ints
from arbora.linkages import linkage
from arbora.scale.plan import ROWS_AT_ONCE, Plan
from arbora.similarity.features import directions_apart_from_zero
from arbora.similarity.part_neighbors import kmeans_centers, nearest_centers
from arbora.similarity.scaling import Scaling
from arbora.tree import Tree
from arbora.tree.pass_kernels import sum_to_root

# In units of the sample's extent: of rows beyond, only the direction matters.
_FARTHEST = 1e12
_LARGEST_EXPONENT = 60
# Brought into coordinates at once: that is done in double precision.
_ROWS_PLACED = 8 * ROWS_AT_ONCE


class Coordinates(NamedTuple):
    """How rows are compared: scaled, for the cosine brought to length 1, in a unit that float32 represents well."""

    metric: str
    scaling: Scaling | None
    exponent: int
    shift: Floats
    unit: float

    @classmethod
    def of_sample(cls, rows: AnyFloats, metric: str, scaling: Scaling | None) -> Coordinates:
        """Coordinates whose origin and unit are those of a sample, which is scaled already."""
        if metric == "cosine":
            return cls(metric, scaling, 0, np.zeros(rows.shape[1] + 1), 1.0)
        exponent = int(np.frexp(np.abs(rows).max())[1])
        small = np.ldexp(rows.astype(np.float64), -exponent)
        shift = small.mean(axis=0)
        return cls(metric, scaling, exponent, shift, float(np.abs(small - shift).max()) or 1.0)

    def of(self, rows: AnyFloats) -> NDArray[np.float32]:
        """Rows as the caller has them, in these coordinates."""
        pieces = [rows[first : first + _ROWS_PLACED] for first in range(0, len(rows), _ROWS_PLACED)]
        return np.concatenate(
            [self.of_scaled(some if self.scaling is None else self.scaling.apply(some)) for some in pieces]
        )

    def of_scaled(self, rows: AnyFloats) -> NDArray[np.float32]:
        """Rows that are scaled already, in these coordinates."""
        if self.metric == "cosine":
            return np.asarray(directions_apart_from_zero(rows), dtype=np.float32)
        own = np.frexp(np.abs(rows).max(axis=1, keepdims=True))[1]
        small = np.ldexp(rows.astype(np.float64), np.minimum(-self.exponent, _LARGEST_EXPONENT - own))
        placed = (small - self.shift) / self.unit
        placed *= _FARTHEST / np.maximum(np.abs(placed).max(axis=1, keepdims=True), _FARTHEST)
        return np.asarray(placed, dtype=np.float32)


class Division(NamedTuple):
    """Which part a row goes to.

    Attributes
    ----------
    centers : ndarray of float32, shape (n_cells, n_features)
    first_part, n_parts_of : ndarray of int64, shape (n_cells,)
        The part of each cell; a cell larger than a part has several, from the first on, which share its rows.
    n_parts : int
    """

    coordinates: Coordinates
    centers: NDArray[np.float32]
    first_part: Ints
    n_parts_of: Ints
    n_parts: int
    places: int
    nearness: float

    @property
    def group(self) -> Ints:
        """A number per cell; rows of cells of one number are sent to the same parts."""
        return np.asarray(self.first_part * (self.n_parts + 1) + self.n_parts_of)

    def part_of(self, cell: Ints, row: Ints) -> Ints:
        """Part of rows of given cells; rows of a divided cell take turns."""
        part: Ints = self.first_part[cell] + row % self.n_parts_of[cell]
        return part


class Sent(NamedTuple):
    """Rows of a block that one part gets: its own, and those of other parts that may be neighbors of its own."""

    own_rows: NDArray[np.float32]
    own_ids: Ints
    own_cell: NDArray[np.int32]
    near_rows: NDArray[np.float32]
    near_ids: Ints
    near_owner: NDArray[np.int32]


def divide(
    sample: NDArray[np.float32], coordinates: Coordinates, plan: Plan, seed: int, n_threads: int
) -> Division:
    """Cells of a sample, and the parts that they make up along a tree over their centers."""
    limits = plan.limits
    n_cells = min(plan.n_cells, len(sample))
    centers = kmeans_centers(sample, n_cells, seed, n_threads)
    counts = np.bincount(nearest_centers(sample, centers, n_threads), minlength=n_cells).astype(np.float64)
    expected: Floats = counts * (plan.n_rows / len(sample))
    tree = linkage(centers.astype(np.float64), "ward", kind="vectors")
    bundle = bundled(tree, expected, plan.part).label
    cells, distance = nearest_cells(sample, centers, limits.places, limits.nearness, bundle)
    n_copies = is_place(bundle[cells], distance, limits.nearness).sum() / len(sample)
    most = plan.rows_of_part(n_copies * sample.itemsize * sample.shape[1])
    if most < plan.part:
        bundle = bundled(tree, expected, most).label
    n_bundles = int(bundle.max()) + 1
    # equal rows, or nearly equal ones, can fill a cell beyond the size of a part
    n_parts_of = np.maximum(1, np.ceil(expected / (2 * plan.part)).astype(np.int64))
    more = np.zeros(n_bundles, dtype=np.int64)
    np.maximum.at(more, bundle, n_parts_of)
    first = np.concatenate([[0], np.cumsum(more)])
    return Division(
        coordinates, centers, first[bundle], n_parts_of, int(first[-1]), limits.places, limits.nearness
    )


class Bundles(NamedTuple):
    """An antichain of subtrees of bounded weight, put together to bundles of bounded weight."""

    nodes: Ints
    # which of the nodes each leaf lies below
    node_of_leaf: Ints
    # the bundle of each node
    of_node: Ints
    # the weight of each bundle
    weight: Floats

    @property
    def label(self) -> Ints:
        """The bundle of each leaf."""
        label: Ints = self.of_node[self.node_of_leaf]
        return label


def bundled(tree: Tree, weight: Floats, most: float) -> Bundles:
    """The largest subtrees of at most this weight (or single leaves), and neighbors among them put together."""
    below = np.zeros(tree.n_nodes)
    below[: tree.n_leaves] = weight
    below = np.asarray(sum_to_root(tree.parent, below))
    is_small = below <= most
    is_small[: tree.n_leaves] = True
    nodes = highest(tree, is_small)
    nodes = nodes[np.argsort(tree.leaf_start[nodes])]
    of_node = np.zeros(len(nodes), dtype=np.int64)
    total, bundle = 0.0, 0
    for k, node in enumerate(nodes.tolist()):
        if total + below[node] > most and total > 0:
            total, bundle = 0.0, bundle + 1
        total += below[node]
        of_node[k] = bundle
    node_of_leaf = np.empty(tree.n_leaves, dtype=np.int64)
    node_of_leaf[tree.leaf_order] = np.repeat(np.arange(len(nodes)), tree.sizes[nodes])
    return Bundles(nodes, node_of_leaf, of_node, np.bincount(of_node, below[nodes]).astype(np.float64))


def highest(tree: Tree, is_allowed: Bools) -> Ints:
    """The allowed nodes whose parent is not; what is allowed must hold for all nodes below an allowed one."""
    above = np.where(tree.parent >= 0, is_allowed[tree.parent], False)
    return np.flatnonzero(is_allowed & ~above)


def nearest_cells(
    rows: NDArray[np.float32], centers: NDArray[np.float32], count: int, nearness: float, group: Ints
) -> tuple[Ints, NDArray[np.float32]]:
    """Up to `count` cells with the nearest centers, nearest first, and the squared distances to them.

    Cells beyond the nearest are only needed where one of another group lies within `nearness` times its squared
    distance. Of all other rows, places after the first hold the nearest cell again, at an infinite distance.
    """
    count = min(count, len(centers))
    cells = np.empty((len(rows), count), dtype=np.int64)
    distance = np.full((len(rows), count), np.inf, dtype=np.float32)
    squares = np.einsum("ij,ij->i", centers, centers)
    with limited_libraries(1, "blas"):
        for first in range(0, len(rows), ROWS_AT_ONCE):
            some = slice(first, first + ROWS_AT_ONCE)
            values = _square_distances(rows[some], centers, squares)
            nearest = values.argmin(axis=1)
            least = np.take_along_axis(values, nearest[:, None], axis=1)
            cells[some], distance[some, 0] = nearest[:, None], least[:, 0]
            is_other = (values <= nearness * least) & (group != group[nearest][:, None])
            at_border = np.flatnonzero(is_other.any(axis=1))
            found = _smallest(values[at_border], count)
            cells[first + at_border] = found
            distance[first + at_border] = np.take_along_axis(values[at_border], found, axis=1)
    return cells, distance


def _square_distances(
    rows: NDArray[np.float32], centers: NDArray[np.float32], squares: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Squared distances of rows to centers, whose squared lengths are given."""
    values: NDArray[np.float32] = rows @ centers.T
    values *= -2
    values += squares
    values += np.einsum("ij,ij->i", rows, rows)[:, None]
    np.maximum(values, 0, out=values)
    return values


def _smallest(values: NDArray[np.float32], count: int) -> Ints:
    if count < values.shape[1]:
        found = np.argpartition(values, count, axis=1)[:, :count]
    else:
        found = np.broadcast_to(np.arange(count), values.shape)
    order = np.argsort(np.take_along_axis(values, found, axis=1), axis=1, kind="stable")
    return np.take_along_axis(found, order, axis=1)


def is_place(parts: Ints, distance: NDArray[np.float32], nearness: float) -> Bools:
    """For the parts of a row's nearest cells, nearest first: whether it goes there, and not for an earlier cell."""
    is_wanted: Bools = distance <= nearness * distance[:, :1]
    for k in range(1, parts.shape[1]):
        is_wanted[:, k] &= (parts[:, k, None] != parts[:, :k]).all(axis=1)
    return is_wanted


def send_to_parts(block: AnyFloats, first_row: int, division: Division) -> dict[int, Sent]:
    """What each part gets of a block of rows."""
    rows = division.coordinates.of(natural(block))
    ids = first_row + np.arange(len(rows))
    cells, distance = nearest_cells(
        rows, division.centers, division.places, division.nearness, division.group
    )
    parts = division.part_of(cells, ids[:, None])
    own = parts[:, 0]
    row, place = np.nonzero(is_place(parts, distance, division.nearness)[:, 1:])
    target = parts[row, place + 1]
    sent = {}
    for part in np.union1d(own, target).tolist():
        mine = np.flatnonzero(own == part)
        near = row[target == part]
        sent[part] = Sent(
            rows[mine],
            ids[mine],
            cells[mine, 0].astype(np.int32),
            rows[near],
            ids[near],
            own[near].astype(np.int32),
        )
    return sent


def natural(block: AnyFloats) -> AnyFloats:
    """float32 as it is, everything else as float64, as for arrays in memory."""
    return np.ascontiguousarray(block, dtype=np.float32 if block.dtype == np.float32 else np.float64)
