"""Search a large tree region by region, in threads: Dasgupta's cost on a graph without self-loops.

A region is a subtree of the tree as it was given. First every small region is searched by itself, then what might have
a better place outside its region is tried in the larger region around it, and at last in the whole tree. Neither the
regions nor the order of work within one depend on the number of threads, so the result does not either.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from arbora._base.threads import in_turns, share_out
from arbora._base.types import Floats, Ints
from arbora.search import _region_kernels as kernels
from arbora.search._place_kernels import NODE, Edges, Heap
from arbora.search._region_kernels import Flags, Reach
from arbora.search._settled_kernels import find_settled
from arbora.search.moves import short_chunks
from arbora.search.run import Run
from arbora.similarity.graph import cross_in_leaf_order
from arbora.similarity.renumbering import renumbered
from arbora.tree import Tree

# mean depth from which on it pays to look for subtrees that cannot gain before any is tried
_DEEP = 100
# nodes from which on a pass over all of them is shared out, and the least number of subtrees of about one size for it
_SHARED_FROM_NODES, _SMALL_SUBTREES = 100_000, 64
# a size below that of any subtree
_NONE = -1.0
# rounds of repairing joins of unrelated points; each mends most of what is left
_MOST_REPAIRS = 20
# climbs are identified by 32-bit numbers
_LAST_CLOCK = 2**31 - 1


@dataclass(frozen=True)
class Phase:
    """One way through the tree: regions of at most this many leaves, each swept at most this often."""

    region: int
    max_sweeps: int = 1


@dataclass
class Region:
    """A subtree: leaves low .. high-1, and as many internal nodes less one, from `first` on."""

    low: int
    high: int
    first: int
    # the clock and the node at the top, as the kernel keeps them
    numbers: Ints

    def waiting(self, flags: Flags) -> Ints:
        """Its leaves, then its internal nodes, that are dirty or pending."""
        leaves, inner = slice(self.low, self.high), slice(self.first, self.first + self.high - self.low - 1)
        found = [
            np.flatnonzero(flags.dirty[part] | flags.pending[part]) + part.start for part in (leaves, inner)
        ]
        return np.concatenate(found)


class RegionSearch:
    """A binary tree that changes: leaves numbered in depth-first order, internal nodes in postorder."""

    def __init__(self, tree: Tree, graph: sp.csr_array, leaf_size: Floats, n_threads: int = 1) -> None:
        n = tree.n_leaves
        self._given, self._n_threads = tree, n_threads
        self._order = np.array(tree.leaf_order)
        begin = tree.leaf_start[n:]
        # children before parents, and all that is below a node together: a node of m leaves comes after the m - 2
        # others of its subtree and after those whose last leaf is before its first
        n_ended = np.cumsum(np.bincount(begin + tree.sizes[n:], minlength=n + 1))
        self._number = np.empty(tree.n_nodes, dtype=np.int64)
        self._number[:n] = tree.leaf_start[:n]
        self._number[n:] = n + tree.sizes[n:] - 2 + n_ended[begin]
        self.nodes = np.zeros(tree.n_nodes, dtype=NODE)
        csr = renumbered(graph, self._order, n_threads)
        cross = np.zeros(tree.n_nodes)
        cross[n:] = cross_in_leaf_order(csr, tree)
        size = np.zeros(tree.n_nodes)
        size[:n] = leaf_size
        kernels.fill_nodes(self.nodes, tree.parent, self._number, size, cross)
        self._edges = Edges(
            csr.indptr.astype(np.int64, copy=False), csr.indices.astype(np.int32, copy=False), csr.data
        )
        self.flags = Flags(*(np.full(tree.n_nodes, is_set) for is_set in (True, False, False)))
        self._tops: dict[tuple[int, int], Ints] = {}
        self._clock = 0
        self._smallest = float(np.min(leaf_size))
        # many subtrees within each other, as around a hub
        self._is_deep = tree.depths[:n].mean() > _DEEP

    def try_only(self, nodes: Ints) -> None:
        """Try only these nodes of the tree as it was given and their parents at first, then what is near moves."""
        above = self._given.parent[nodes]
        self.flags.dirty[:] = False
        self.flags.dirty[self._number[nodes]] = True
        self.flags.dirty[self._number[above[above >= 0]]] = True

    def search(self, phases: Sequence[Phase], reach: Reach, run: Run) -> int:
        """Go through the tree phase by phase; what a phase leaves pending is tried in the next. Returns the moves."""
        n_moves = 0
        for number, phase in enumerate(phases):
            if run.is_over:
                break
            if number and phase.max_sweeps == 1:
                # what changed near those that were tried waits for another search
                self.flags.dirty[:] = False
            with run.portion(number / len(phases), (number + 1) / len(phases)):
                n_moves += self._search_regions(self._regions(phase.region), phase.max_sweeps, reach, run)
        return n_moves

    def relate(self, run: Run) -> None:
        """Move the smaller sides of joins that no edge relates to better places, until none has one.

        `arbora.search.related` says why they have one, and looks again at sums without what moves leave of rounding.
        """
        weights = self._edges.data[self._edges.data > 0]
        if len(weights) == 0:
            return
        root = self._region(self._given.root)
        is_tried = np.zeros(len(self.nodes), dtype=bool)
        for _ in range(_MOST_REPAIRS):
            sides = self._unrelated_sides(float(weights.min()) / 2)
            # nothing changed around the others since they were tried: whole components have no better place
            sides = sides[~is_tried[sides] | self.flags.dirty[sides]]
            is_tried[sides] = True
            self.flags.dirty[:] = False
            self.flags.pending[:] = False
            self.flags.dirty[sides] = True
            if len(sides) == 0 or run.is_over or self._search_regions([root], 1, Reach(), run) == 0:
                break

    def _unrelated_sides(self, most: float) -> Ints:
        """The smaller child of every node at which no more similarity than this meets."""
        n = self._given.n_leaves
        joins = n + np.flatnonzero(self.nodes["cross"][n:] <= most)
        left, right = self.nodes["left"][joins], self.nodes["right"][joins]
        is_left = self.nodes["size"][left] <= self.nodes["size"][right]
        return np.where(is_left, left, right).astype(np.int64)

    def number_of(self, node: int) -> int:
        """The number here of a node of the tree as it was given."""
        return int(self._number[node])

    def tree(self) -> Tree:
        """The tree as it is now, over the points as they were given."""
        n = self._given.n_leaves
        parent = np.empty(len(self.nodes), dtype=np.int64)
        parent[np.concatenate([self._order, np.arange(n, len(self.nodes))])] = self.nodes["parent"]
        return Tree.from_parents(parent, n, sort=True)

    def _regions(self, size: int) -> list[Region]:
        """The highest subtrees of at most this many leaves in the tree as it was given, large ones first."""
        tree = self._given
        tops = np.array([tree.root]) if size >= tree.n_leaves else tree.cut_nodes(max_size=size)
        tops = tops[tree.sizes[tops] > 2]
        tops = tops[np.argsort(-tree.sizes[tops], kind="stable")]
        return [self._region(int(top)) for top in tops]

    def _region(self, top: int) -> Region:
        low, size, number = (
            int(self._given.leaf_start[top]),
            int(self._given.sizes[top]),
            int(self._number[top]),
        )
        numbers = self._tops.setdefault((low, low + size), np.array([0, number]))
        return Region(low, low + size, number - (size - 2), numbers)

    def _search_regions(self, regions: list[Region], max_sweeps: int, reach: Reach, run: Run) -> int:
        n_nodes, n_moves = len(self.nodes), 0
        for sweep in range(max_sweeps):
            self._set_rise()
            if self._is_deep:
                self._pass_over_settled()
            if self._clock + n_nodes > _LAST_CLOCK:
                self.nodes["mark"], self._clock = 0, 0
            for region in regions:
                # a region has fewer nodes than twice its leaves: no two climbs get the same number
                region.numbers[0] = self._clock + 2 * region.low
            moved_now = self._sweep(regions, reach, run, sweep)
            n_moves += moved_now
            self._clock += 2 * self._given.n_leaves
            self._note_later()
            if moved_now == 0 or run.is_over:
                break
        return n_moves

    def _sweep(self, regions: list[Region], reach: Reach, run: Run, sweep: int) -> int:
        done = 0

        def search(region: Region) -> int:
            nonlocal done
            n_moves = self._search_region(region, reach, run)
            done += region.high - region.low
            # each sweep has about half the work of the one before
            share = 1 - 0.5 ** (sweep + done / self._given.n_leaves)
            if self._n_threads == 1 or len(regions) == 1:
                run.show(share, f"regions, sweep {sweep + 1}")
            return n_moves

        return sum(in_turns(search, regions, self._n_threads))

    def _search_region(self, region: Region, reach: Reach, run: Run) -> int:
        waiting = region.waiting(self.flags)
        size = region.high - region.low
        nodes, paths, leaves = (np.empty(n, dtype=np.int32) for n in (2 * size, size + 2, size + 2))
        heap = Heap(np.empty(2 * size), nodes, paths, leaves)
        n_moves = 0
        for some in short_chunks(waiting):
            if run.is_over:
                break
            n_moves += kernels.sweep_region(
                self.nodes,
                self._edges,
                self.flags,
                heap,
                region.numbers,
                some,
                region.low,
                region.high,
                reach,
            )
        return n_moves

    def _root(self) -> int:
        top = self._tops.get((0, self._given.n_leaves))
        return int(self._number[self._given.root] if top is None else top[1])

    def _pass_over_settled(self) -> None:
        """Leave out subtrees that are at their best place, as far as a bound shows it."""
        n, n_nodes = self._given.n_leaves, len(self.nodes)
        degree = np.add.reduceat(np.append(self._edges.data, 0.0), self._edges.indptr[:-1], dtype=np.float64)
        degree[np.diff(self._edges.indptr) == 0] = 0.0
        by_degree = np.argsort(-degree, kind="stable")
        leaving, rank = np.zeros(n_nodes), np.zeros(n_nodes, dtype=np.int64)
        leaving[:n], rank[by_degree] = degree, np.arange(n)
        ranked = degree[by_degree]
        before, ranked_before = (
            np.append(0.0, np.cumsum(some)) for some in (ranked, ranked * np.arange(1, n + 1))
        )
        order, paid, settled = (
            np.empty(n_nodes, dtype=np.int32),
            np.empty(n_nodes),
            np.zeros(n_nodes, dtype=np.bool_),
        )
        find_settled(
            self.nodes,
            self._root(),
            leaving,
            rank,
            before,
            ranked_before,
            self._smallest,
            order,
            paid,
            settled,
        )
        self.flags.dirty[settled] = False
        self.flags.pending[settled] = False

    def _set_rise(self) -> None:
        """Set the rise of all nodes: of the large ones first, then inside the small subtrees, in threads."""
        n_nodes, root = len(self.nodes), self._root()
        gathered, corner = np.empty(n_nodes), np.empty(n_nodes, dtype=np.int32)
        n_threads = self._n_threads if n_nodes >= _SHARED_FROM_NODES else 1
        small = self.nodes["size"][root] / _SMALL_SUBTREES if n_threads > 1 else _NONE
        tops, stack = np.empty(n_nodes, dtype=np.int32), np.empty(n_nodes, dtype=np.int32)
        self.nodes["rise"][root], gathered[root], corner[root] = 0.0, 0.0, root
        n_tops = kernels.set_rise(self.nodes, root, small, gathered, corner, stack, tops)

        def go_on(first: int, last: int) -> None:
            own = np.empty(n_nodes, dtype=np.int32)
            for top in tops[first:last].tolist():
                kernels.set_rise(self.nodes, top, _NONE, gathered, corner, own, own)

        share_out(go_on, n_tops, n_threads)

    def _note_later(self) -> None:
        """Neighbors of what moved in another region meet it elsewhere now."""
        leaves = np.flatnonzero(self.flags.later)
        self.flags.later[leaves] = False
        self.flags.pending[leaves] = True
        self.flags.pending[self.nodes["parent"][leaves]] = True
