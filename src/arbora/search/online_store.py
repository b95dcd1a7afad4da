"""What an `OnlineTree` holds: the changeable tree, the summed features of its nodes, and which points are in it.

Every change is one call of a kernel, which Python cannot interrupt, and more room is made in a new store that takes the
place of the old one once it is complete. So whenever a model is interrupted, its store holds a valid tree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from arbora._base.types import Bools, Floats, Ints
from arbora.errors import FormatError
from arbora.search import _bound_kernels as bound_kernels
from arbora.search import _insertion_kernels as kernels
from arbora.search._feature_kernels import regraft_online
from arbora.search._gather_kernels import Work, make_work
from arbora.search._numbering_kernels import Known, number_by_visits
from arbora.search._open_kernels import Stack, make_stack
from arbora.search._state import NO_NODE, State, empty_nodes, enlarged
from arbora.tree import Tree

FIRST_CAPACITY = 1024
# share of the points after which internal nodes are numbered anew, if there are so many that they fill a fast cache
RENUMBERED_SHARE = 0.25
RENUMBERED_FROM = 10_000
Bounds = npt.NDArray[np.void]


@dataclass(eq=False)
class Store:
    """Arrays with room for `capacity` leaves; leaf k is the point with number ``number[k]``.

    Attributes
    ----------
    root : int64[1]
        The root, -1 without points.
    largest_cosine : float
        Similarity that no two points exceed and that never changes, infinite if there is no such bound.
    extent : Extent
        Bounds that no row so far exceeds.
    has_all_rows : bool
        Whether the sums of all nodes are up to date, which moves need and insertions do not, see `Features`.
    numbered_at : int
        Number of points at which internal nodes get the numbers that descents like best.
    names : dict
        Names of points, where they have one, by number.
    next_number : int
        Of the next point that arrives.
    """

    state: State
    sums: Floats
    bounds: Bounds
    present: Bools
    number: Ints
    root: Ints
    work: Work
    stack: Stack
    largest_cosine: float
    names: dict[int, str] = field(default_factory=dict)
    next_number: int = 0
    n_used: int = 0
    extent: bound_kernels.Extent = bound_kernels.NO_EXTENT
    least_size: float = np.inf
    is_even: bool = True
    has_all_rows: bool = True
    numbered_at: int = field(default_factory=lambda: RENUMBERED_FROM)
    built: tuple[tuple[int, int], Tree] | None = None

    @classmethod
    def empty(cls, capacity: int, n_features: int, largest_cosine: float) -> Store:
        """A store without points."""
        n_nodes = 2 * capacity
        free = np.arange(n_nodes - 1, capacity - 1, -1)
        numbers = np.array([len(free), capacity, len(free)])
        state = State(empty_nodes(n_nodes), np.zeros((capacity, 2)), free, numbers)
        return cls._around(state, n_features, largest_cosine)

    @classmethod
    def _around(cls, state: State, n_features: int, largest_cosine: float) -> Store:
        n_nodes, capacity = len(state.nodes), int(state.numbers[1])
        work = make_work(n_nodes, n_nodes)
        work.dirty[:] = False
        return cls(
            state,
            np.zeros((n_nodes, n_features)),
            bound_kernels.empty_bounds(n_nodes),
            np.zeros(capacity, dtype=bool),
            np.full(capacity, -1, dtype=np.int64),
            np.array([NO_NODE]),
            work,
            make_stack(n_nodes),
            largest_cosine,
        )

    @property
    def capacity(self) -> int:
        """Leaves there is room for."""
        return len(self.present)

    @property
    def n_points(self) -> int:
        """Points in the tree."""
        return int(self.present.sum())

    def with_room_for(self, n_more: int) -> Store:
        """The store itself, or a larger one with the same content; internal nodes, which follow the leaves, move up."""
        if self.n_used + n_more <= self.capacity:
            return self
        capacity, old = max(2 * self.capacity, self.n_used + n_more), self.capacity
        state = enlarged(self.state, np.arange(old), capacity)
        grown = Store._around(state, self.sums.shape[1], self.largest_cosine)
        place = np.concatenate([np.arange(old), capacity + np.arange(len(self.state.nodes) - old)])
        grown.sums[place], grown.bounds[place] = self.sums, self.bounds
        grown.work.dirty[place] = self.work.dirty
        grown.present[:old], grown.number[:old] = self.present, self.number
        grown.root[:] = place[self.root] if self.root[0] >= 0 else NO_NODE
        grown.names, grown.next_number = self.names, self.next_number
        grown.n_used, grown.extent = self.n_used, self.extent
        grown.least_size, grown.is_even = self.least_size, self.is_even
        grown.has_all_rows, grown.numbered_at = self.has_all_rows, self.numbered_at
        return grown

    def reserve(self, rows: Floats, sizes: Floats, names: list[str] | None = None) -> Ints:
        """Leaves for new points, which get the next numbers; they are not in the tree yet."""
        leaves = np.arange(self.n_used, self.n_used + len(rows))
        numbers = self.next_number + np.arange(len(rows))
        self.sums[leaves], self.state.nodes["size"][leaves], self.number[leaves] = rows, sizes, numbers
        if names is not None:
            self.names |= dict(zip(numbers.tolist(), names))
        self.next_number += len(rows)
        before, self.extent = self.extent, self.extent.joined(bound_kernels.extent_of(rows))
        self.least_size = min(self.least_size, float(sizes.min()))
        self.n_used += len(rows)
        if self.is_even and (sizes != 1).any():
            self.is_even = False
            self.bounds["gap"][self.capacity :] = np.inf
        has_grown = self.extent != before and not np.isfinite(self.largest_cosine)
        self._measure_bounds(np.arange(self.n_used) if has_grown else leaves, has_grown)
        return leaves

    def _measure_bounds(self, leaves: Ints, has_grown: bool) -> None:
        """Set the bounds of leaves and, for rows longer than those before, of all nodes."""
        inner = np.empty(0, dtype=np.int64)
        if has_grown:
            inner = np.flatnonzero(self.used_nodes()[self.capacity :]) + self.capacity
        # parents have more leaves below them than their children
        children_first = np.argsort(self.state.nodes["size"][inner], kind="stable")
        bound_kernels.set_bounds(self.state, self.features, leaves, inner[children_first])

    def insert(self, leaves: Ints) -> None:
        """Put reserved leaves into the tree, each at its best place.

        When nodes are numbered anew depends on how many points there are, not on how many are passed at once: moves go
        by numbers, and callers pass as many as they can handle in some time.
        """
        self.has_all_rows = False
        n_points = self.n_points
        while len(leaves):
            if n_points >= self.numbered_at:
                self.number_by_visits()
                self.numbered_at = n_points + max(1, int(RENUMBERED_SHARE * n_points))
            some, leaves = np.split(leaves, [self.numbered_at - n_points])
            kernels.insert_rows(
                self.state, self.features, self.work, self.stack, self.root, some, self.present
            )
            n_points += len(some)

    def number_by_visits(self) -> None:
        """Let nodes that are visited one after the other lie side by side in memory."""
        known = Known(self.state.nodes, self.bounds, self.sums, self.work.dirty)
        spare = Known(*(np.empty_like(values[:1]) for values in known))
        order, place = (np.empty(len(self.state.nodes) - self.capacity, dtype=np.int64) for _ in range(2))
        number_by_visits(self.state, known, spare, order, place, self.root)

    def take_back(self, n_used: int, next_number: int) -> None:
        """Return to when this many leaves were used; inserting leaves changes nothing about those before them."""
        for leaf in n_used + np.flatnonzero(self.present[n_used:])[::-1]:
            self.remove(int(leaf))
        self.n_used, self.next_number = n_used, next_number

    def remove(self, leaf: int) -> None:
        """Take a leaf out of the tree."""
        if self.root[0] == leaf:
            self.present[leaf] = False
            self.root[0] = NO_NODE
            return
        self.has_all_rows = False
        kernels.remove_leaf(self.state, self.features, self.work, self.stack, self.root, leaf, self.present)

    def regraft(self, subtrees: Ints) -> int:
        """Move the touched ones of these subtrees to their best places; returns the number of moves."""
        if not self.has_all_rows:
            kernels.sum_rows_again(self.state, self.features, int(self.root[0]))
            self.has_all_rows = True
        some_leaf = int(np.argmax(self.present))
        n_moves = regraft_online(
            self.state, self.features, self.work, self.stack, self.root, subtrees, some_leaf
        )
        return int(n_moves)

    @property
    def features(self) -> bound_kernels.Features:
        """What the kernels read."""
        steepness = bound_kernels.steepness_of(self.extent.largest, self.least_size)
        # that of cosines never changes; where it grows, so do the bounds
        extent = bound_kernels.COSINES if np.isfinite(self.largest_cosine) else self.extent
        return bound_kernels.Features(self.sums, self.bounds, extent.if_even(self.is_even), steepness)

    # ---- as a tree ---------------------------------------------------------------------------------------------

    def used_nodes(self) -> Bools:
        """Which nodes belong to the tree."""
        used = np.ones(len(self.state.nodes), dtype=bool)
        used[: self.capacity] = self.present
        used[self.state.free[: self.state.numbers[0]]] = False
        return used

    def numbers(self) -> Ints:
        """Numbers of the points present, ascending."""
        return self.number[: self.n_used][self.present[: self.n_used]]

    def leaf_of(self, number: int) -> int | None:
        """The leaf of a point, if it is present."""
        leaf = int(np.searchsorted(self.number[: self.n_used], number))
        is_here = leaf < self.n_used and self.number[leaf] == number and bool(self.present[leaf])
        return leaf if is_here else None

    def tree(self) -> Tree:
        """The tree over the points present, by their numbers."""
        used = self.used_nodes()
        number = np.cumsum(used) - 1
        above = self.state.nodes["parent"][used]
        return Tree.from_parents(np.where(above >= 0, number[above], -1), self.n_points, sort=True)

    def named_tree(self) -> Tree:
        """The tree with the names of its points, built once for each state of the store."""
        # every change of the tree moves the clock of its kernels
        moment = int(self.work.clock[0]), self.n_points
        if self.built is None or self.built[0] != moment:
            tree = self.tree()
            names = [self.names.get(number, "") for number in self.numbers().tolist()]
            self.built = (moment, tree.replace(name=names) if any(names) else tree)
        return self.built[1]

    def compact(self) -> Store:
        """The same tree in a store of its own, which depends on nothing but the tree, its points and their weights."""
        return Store.from_arrays(self.to_arrays())

    def to_arrays(self) -> dict[str, Any]:
        """The complete state, for a file."""
        leaves = np.flatnonzero(self.present)
        return {
            "parent": self.tree().parent,
            "rows": self.sums[leaves],
            "sizes": self.state.nodes["size"][leaves],
            "number": self.number[leaves],
            "dirty": np.flatnonzero(self.work.dirty[leaves]),
            "largest_cosine": np.array(self.largest_cosine),
            "next_number": np.array(self.next_number),
            "names": np.array([self.names.get(number, "") for number in self.numbers().tolist()], dtype=str),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any]) -> Store:
        """What `to_arrays` gave; anything else is refused."""
        rows, sizes = _floats(arrays["rows"], 2), _floats(arrays["sizes"], 1)
        number, dirty = _numbers(arrays["number"]), _numbers(arrays["dirty"])
        n = len(rows)
        tree = Tree(arrays["parent"], n)
        is_sound = (
            len(sizes) == len(number) == len(arrays["names"]) == n
            and number[-1:].tolist() < [int(arrays["next_number"])]
            and (sizes > 0).all()
            and (np.diff(number) > 0).all()
            and (number[:1] >= 0).all()
            and (dirty < n).all()
            and (dirty >= 0).all()
            and (n == 1 or tree.is_binary)
        )
        if not is_sound:
            raise FormatError("its arrays do not fit together")
        store = cls.empty(max(FIRST_CAPACITY, n), rows.shape[1], float(arrays["largest_cosine"]))
        store.reserve(rows, sizes)
        store.number[:n], store.next_number = number, int(arrays["next_number"])
        store.names = {k: str(name) for k, name in zip(number.tolist(), arrays["names"]) if name}
        store._link(tree)
        store.work.dirty[dirty] = True
        store.work.dirty[store.state.nodes["parent"][dirty]] |= n > 1
        return store

    def _link(self, tree: Tree) -> None:
        """Make the reserved leaves those of a tree."""
        from arbora.search.engines import FeatureEngine
        from arbora.similarity import FeatureSimilarity

        n, capacity = tree.n_leaves, self.capacity
        rows, sizes = self.sums[:n], self.state.nodes["size"][:n].copy()
        engine = FeatureEngine(FeatureSimilarity(rows, is_non_negative=True), sizes)
        self.state = enlarged(engine.state(tree), np.arange(n), capacity)
        below = np.vstack([rows, np.zeros((tree.n_internal, rows.shape[1]))])
        bound_kernels.fill_sums(below, tree.parent)
        self.sums[capacity : capacity + tree.n_internal] = below[n:]
        self.present[:n] = True
        self.root[0] = 0 if n == 1 else capacity + tree.n_internal - 1
        inner = capacity + np.arange(tree.n_internal)
        measured = np.concatenate([np.arange(n), inner])
        bound_kernels.set_bounds(self.state, self.features, measured, inner)


def _floats(values: Any, n_dimensions: int) -> Floats:
    array = np.asarray(values)
    if array.ndim != n_dimensions or array.dtype != np.float64 or not np.isfinite(array).all():
        raise FormatError("its numbers are not finite or of another shape")
    return array


def _numbers(values: Any) -> Ints:
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype != np.int64:
        raise FormatError("its point numbers are damaged")
    return array
