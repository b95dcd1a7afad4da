"""Summed features below the nodes of a tree, and the least that a place below a node can cost.

The similarity between two leaf sets is the product of their summed features, so any node can be weighed in O(d).
`least_cost` bounds all places below a node at once; what it needs is kept for every node (`reach`, `gap`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arbora._base.jit import inlined, kernel
from arbora.search._graph_kernels import SCANNED_CHILDREN

# One record per node, half a cache line.
BOUND = np.dtype(
    [
        ("gap", np.float64),  # 0 at leaves: see `least_cost`
        ("reach", np.float64),  # see `set_reach`
        ("last", np.float64),  # last of the node's summed features
        ("rest", np.float64),  # sum of the squares of the others
    ],
    align=True,
)
# share of a squared length that sums of many steps may be wrong by
DRIFT = 1e-15


class Features(NamedTuple):
    """Summed features below each node (rows of leaves are their own features), and what bounds need to know.

    Insertion reads and updates no rows of last children, which would be the longest sums: they are what those of
    their siblings leave of the parent's weight. So after insertions such rows of internal nodes are out of date until
    `sum_rows_again`, the root's excepted.
    """

    sums: np.ndarray  # float64[n_nodes, n_features]
    bounds: np.ndarray  # records of BOUND
    extent: Extent
    steepness: float  # see `steepness_of`
    price: float = 0.0  # of an internal node


class Extent(NamedTuple):
    """Bounds that no row exceeds; the last feature, which cosines have in common, is bounded apart from the others."""

    # no two leaves are more similar; inf where leaves are not all of size 1, where gaps are of no use
    largest: float
    last: float
    rest: float

    def joined(self, other: Extent) -> Extent:
        """Of the rows of both."""
        return Extent(*map(max, self, other))

    def if_even(self, is_even: bool) -> Extent:
        """With a largest similarity only where all leaves have size 1."""
        return self if is_even else self._replace(largest=np.inf)


# of rows (v, 1) / sqrt(2), v of length 1, whose products are (1 + cos) / 2; beyond rounding
COSINES = Extent(1.0, *[np.sqrt(0.5) * (1 + 1e-12)] * 2)


NO_EXTENT = Extent(0.0, 0.0, 0.0)


def extent_of(rows: np.ndarray) -> Extent:
    """What none of the rows exceeds; two of them are no more similar than the longest with itself."""
    squares = np.einsum("ij,ij->i", rows, rows)
    last = np.abs(rows[:, -1])
    rest = np.einsum("ij,ij->i", rows[:, :-1], rows[:, :-1])
    return Extent(*(float(values.max(initial=0.0)) for values in (squares, last, np.sqrt(rest))))


def steepness_of(largest: float, least_size: float) -> float:
    """What `least_cost` must know of the leaves: (least size)^2 / (2 * largest similarity)."""
    return least_size**2 / (2 * largest) if largest > 0 else 0.0


def make_features(leaf_rows: np.ndarray, leaf_size: np.ndarray, parent: np.ndarray, n_nodes: int) -> Features:
    """Summed features of all nodes of a tree, with room for `n_nodes`."""
    sums = np.zeros((n_nodes, leaf_rows.shape[1]))
    sums[: len(leaf_rows)] = leaf_rows
    fill_sums(sums, parent)
    extent, is_even = extent_of(leaf_rows), bool((leaf_size == 1).all())
    steepness = steepness_of(extent.largest, float(leaf_size.min()))
    return Features(sums, empty_bounds(n_nodes), extent.if_even(is_even), steepness)


def empty_bounds(n_nodes: int) -> np.ndarray:
    """Records of nodes without leaves."""
    return np.zeros(n_nodes, dtype=BOUND)


@inlined
def product(a, b):
    """Inner product of two rows, in four sums, which do not wait for each other."""
    n_features = a.shape[0]
    first, second, third, fourth = 0.0, 0.0, 0.0, 0.0
    for f in range(0, n_features - 3, 4):
        first += a[f] * b[f]
        second += a[f + 1] * b[f + 1]
        third += a[f + 2] * b[f + 2]
        fourth += a[f + 3] * b[f + 3]
    for f in range(n_features - n_features % 4, n_features):
        first += a[f] * b[f]
    return (first + second) + (third + fourth)


@kernel()
def fill_sums(sums, parent):
    """Sum the leaves' rows into all internal ones; needs the node order of `Tree`."""
    for node in range(parent.shape[0] - 1):
        above = parent[node]
        for f in range(sums.shape[1]):
            sums[above, f] += sums[node, f]


@inlined
def copy_row(into, row):
    """Write a row over another."""
    for f in range(row.shape[0]):
        into[f] = row[f]


@inlined
def add_row(into, row, sign):
    """Add a row to another, or take it away."""
    for f in range(row.shape[0]):
        into[f] += sign * row[f]


@inlined
def set_reach(features, node):
    """The most similarity that a row can have with the leaves of a node (Cauchy and Schwarz).

    What all rows have in common is in the last feature: only the others can point away from the leaves.
    """
    here = features.bounds[node]
    square = here.last * here.last
    rest = np.sqrt(max(here.rest, 0.0) + DRIFT * (here.rest + square))
    here.reach = features.extent.last * abs(here.last) + features.extent.rest * rest


@inlined
def measure_row(features, node):
    """Set what is known of a node's row, from the row."""
    row, here = features.sums[node], features.bounds[node]
    here.last = row[row.shape[0] - 1]
    here.rest = product(row, row) - here.last * here.last
    set_reach(features, node)


@inlined
def measure_sum(features, node, weight, last, rest, sign):
    """Add a row to what is known of a node's row, or take it away.

    The row has this last feature, its others this sum of squares, and its product with the node's without it is
    `weight`: |a + b|^2 = |a|^2 + 2ab + |b|^2.
    """
    here = features.bounds[node]
    without = here.last if sign > 0 else here.last - last
    here.rest += sign * (2 * (weight - without * last) + rest)
    here.last += sign * last
    set_reach(features, node)


@inlined
def add_upwards(state, features, node, row, sign):
    """Add a row, or take it away, from a node to the root."""
    while node >= 0:
        add_row(features.sums[node], row, sign)
        measure_row(features, node)
        node = state.nodes[node].parent


@inlined
def least_cost(size, cross, gap, weight, moved_size, steepness):
    """What a subtree pays at least, at this node and below, on the edge above the node or anywhere below it.

    On the edge all its weight to the node pays for the whole. Below, two bounds hold.

    Few leaves are met in small clusters: the pairs that meet at the node pay for the moved leaves, and the weight pays
    for more and more leaves. Of those it meets, at most k are in a cluster k times as large as the smallest, and none
    is more similar to it than its own leaves times the largest similarity w. Filling the smallest clusters first
    gives weight^2 * least_size^2 / (2 w moved_size), the curve of `steepness`.

    Going from the edge above u to that above its child t saves weight(t) times the leaves of u outside t, and costs the
    moved leaves times cross(u). A weight is no more than the node's `reach` for each moved leaf, so that on all the way
    down at most `gap` is saved for each. (Where all similarities are w, no way down saves anything: a clique is flat.)
    """
    on_edge = (size + moved_size) * weight
    by_size = moved_size * (cross + weight) + steepness / moved_size * weight * weight
    return min(on_edge, max(by_size, on_edge - moved_size * gap))


@inlined
def set_gap(state, features, node):
    """The most that a row can save on a way down from the edge above the node, see `least_cost`."""
    bounds, largest = features.bounds, features.extent.largest
    here = state.nodes[node]
    if largest == np.inf or here.n_children > SCANNED_CHILDREN:
        bounds[node].gap = np.inf
        return
    size, cross, saved = here.size, here.cross, 0.0
    child = here.first
    while child >= 0:
        below = state.nodes[child]
        reach = min(bounds[child].reach, largest * below.size)
        saved = max(saved, (size - below.size) * reach + bounds[child].gap - cross)
        child = below.after
    bounds[node].gap = saved


@inlined
def update_gaps(state, features, node):
    """Set the gaps from a node to the root."""
    while node >= 0:
        set_gap(state, features, node)
        node = state.nodes[node].parent


@kernel()
def set_bounds(state, features, measured, nodes):
    """Measure the rows of some nodes, and set reach and gap of internal nodes, given children first."""
    for node in measured:
        measure_row(features, node)
    for node in nodes:
        set_reach(features, node)
        set_gap(state, features, node)


def fill_bounds(state, features, n_leaves, n_nodes):
    """Set the bounds of all nodes; needs the node order of `Tree`."""
    set_bounds(state, features, np.arange(n_nodes), np.arange(n_leaves, n_nodes))
