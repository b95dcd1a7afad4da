"""Search on large trees: blocks in parallel, then ever larger pieces as if they were points.

A subtree that stays together is a heavy point: its inner structure costs the same wherever it goes. So the
top of a tree can be searched on the small graph of its blocks, exactly; and what happens inside a block does not
touch the rest, so blocks are searched side by side.

Dasgupta's cost on a graph without self-loops has kernels of its own (`arbora.search.regions`), in which every level is
searched by regions in threads. Other objectives search blocks in threads, and the levels above one after the other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy.sparse as sp

from arbora._base.permutations import inverse_permutation
from arbora._base.threads import in_turns
from arbora._base.types import Ints
from arbora.search._block_kernels import slice_square
from arbora.search._region_kernels import Reach
from arbora.search.engines import GraphEngine
from arbora.search.moves import Moves
from arbora.search.regions import Phase, RegionSearch
from arbora.search.run import Run
from arbora.similarity import GraphSimilarity
from arbora.tree import Tree
from arbora.tree.matching import renumbered
from arbora.tree.surgery import (
    graft,
    in_depth_first_order,
    labels_by_position,
    top_over,
    with_top,
)

# sweeps of the smallest pieces, inside blocks and over larger regions
_BRIEF_SWEEPS = (2, 1)
_BLOCKS_DONE, _PIECES_DONE = 0.6, 0.75  # share of the time at which blocks and pieces are finished


@dataclass(frozen=True)
class Levels:
    """From which size on and by which steps a tree is searched by levels.

    Parameters
    ----------
    regions : int
        Leaves from which regions are searched in threads where engines are plain (`GraphEngine.is_plain`), until no
        single move helps.
    large : int
        Leaves from which a graph is searched by levels.
    block : int
        Leaves searched as one piece, at least.
    most_blocks : int
        Of a tree with more leaves than so many blocks hold, blocks grow: groups that they tear apart are mended late,
        point by point, and never wholly.
    pieces : tuple of int
        Sizes of the subtrees that move as one, large to small.
    block_sweeps, top_sweeps : int
        Sweeps inside blocks, and between pieces and over the whole, at most.
    max_visits : int
        Nodes visited before a subtree makes do with the best place so far.
    moved_at_once : int
        Pieces (or points) in the largest subtree that one level moves: the level above moves larger ones.
    moved_at_once_elsewhere : int
        The same for objectives that are not searched by regions: four cost DBLP's tree a point of TSD.
    growth : int
        How many times larger regions become from phase to phase.
    least_gain : float
        Share of the cost that a pass over all levels must save for another one to follow.
    most_passes : int
        Passes over all levels, at most.
    """

    regions: int = 4_000
    large: int = 30_000
    block: int = 8192
    most_blocks: int = 32
    pieces: tuple[int, ...] = (4096, 512, 64, 8)
    block_sweeps: int = 12
    top_sweeps: int = 3
    max_visits: int = 1000
    moved_at_once: int = 4
    moved_at_once_elsewhere: int = 16
    growth: int = 8
    least_gain: float = 0.05
    most_passes: int = 8

    def block_of(self, n_leaves: int) -> int:
        """Leaves searched as one piece in a tree of this many."""
        return max(self.block, n_leaves // self.most_blocks)

    def phases(self, n_points: int, block: int, sweeps: int, top_sweeps: int) -> list[Phase]:
        """Ever larger regions, from blocks to the whole."""
        sizes = [block]
        while sizes[-1] * self.growth < n_points:
            sizes.append(sizes[-1] * self.growth)
        return [Phase(block, sweeps), *(Phase(size, top_sweeps) for size in (*sizes[1:], n_points))]


LEVELS = Levels()


def improve_by_levels(
    engine: GraphEngine,
    tree: Tree,
    run: Run,
    rng: np.random.Generator,
    *,
    levels: Levels = LEVELS,
    n_threads: int = 1,
    max_sweeps: int = 100,
) -> Tree:
    """Improve a large tree: inside blocks, between ever smaller pieces, and point by point over the whole."""
    if engine.is_plain:
        by_regions = ByRegions(engine, levels, n_threads, max_sweeps)
        return by_regions.improve(tree.binarize(), run, rng)
    tree, engine, order = in_leaf_order(tree, engine)
    with run.portion(0, _BLOCKS_DONE):
        improve = partial(
            improve_blocks, engine, tree, run, levels=levels, n_threads=n_threads, max_sweeps=max_sweeps
        )
        tree = run.step(improve, rng)
    pieces = [piece for piece in levels.pieces if piece * 4 < tree.n_leaves]
    bounds = np.linspace(_BLOCKS_DONE, _PIECES_DONE, len(pieces) + 1)
    for piece, low, high in zip(pieces, bounds, bounds[1:]):
        if not run.is_over:
            with run.portion(low, high):
                tree = run.step(partial(improve_top, engine, tree, piece, run, levels), rng)
    if not run.is_over:
        tree, engine, again = in_leaf_order(tree, engine)
        order = order[again]
        moves = Moves(
            max_size=levels.moved_at_once_elsewhere * float(engine.leaf_size.mean()),
            max_visits=levels.max_visits,
            max_sweeps=min(max_sweeps, levels.top_sweeps),
            certain=False,
        )
        with run.portion(_PIECES_DONE, 1):
            tree = run.step(partial(engine.improve, tree, run, moves), rng)
    return renumbered(tree, inverse_permutation(order))


def in_leaf_order(tree: Tree, engine: GraphEngine) -> tuple[Tree, GraphEngine, Ints]:
    """Renumber points in depth-first order, so that what is near in the tree is near in memory."""
    ordered, order = in_depth_first_order(tree)
    return ordered, engine.in_order(order), order


def improve_blocks(
    engine: GraphEngine,
    tree: Tree,
    run: Run,
    *,
    levels: Levels = LEVELS,
    n_threads: int = 1,
    max_sweeps: int = 100,
) -> Tree:
    """Search inside each block; leaves must be numbered in depth-first order."""
    nodes = tree.cut_nodes(max_size=levels.block_of(tree.n_leaves))
    firsts, sizes = tree.leaf_start[nodes], tree.sizes[nodes]
    moves = Moves(
        max_size=levels.moved_at_once_elsewhere * float(engine.leaf_size.mean()),
        max_sweeps=min(max_sweeps, levels.block_sweeps),
        certain=False,
    )
    done = 0

    def improve_block(k: int) -> Tree:
        nonlocal done
        part = tree.subtree(int(nodes[k]))
        if sizes[k] < 3 or run.is_over:
            return part
        local = _engine_of_rows(engine, int(firsts[k]), int(firsts[k] + sizes[k]))
        improved = local.improve(part, run.silent(), moves)
        done += 1
        run.show(done / len(nodes), f"{done} of {len(nodes)} blocks")
        return improved

    parts = in_turns(improve_block, range(len(nodes)), n_threads)
    leaves = [np.arange(low, low + size) for low, size in zip(firsts, sizes)]
    return graft(top_over(tree, nodes), parts, leaves)


def _engine_of_rows(engine: GraphEngine, low: int, high: int) -> GraphEngine:
    """The engine of the points low .. high-1."""
    csr = engine.graph.csr
    indptr, indices, data = slice_square(csr.indptr, csr.indices, csr.data, low, high)
    inside = sp.csr_array((data, indices, indptr), shape=(high - low, high - low))
    graph = GraphSimilarity(inside, engine.graph.self_loops[low:high])
    sizes, is_lone = engine.leaf_size[low:high], engine.is_lone[low:high]
    return GraphEngine(graph, engine.objective, sizes, engine.total, is_lone)


def improve_top(
    engine: GraphEngine,
    tree: Tree,
    piece: int,
    run: Run,
    levels: Levels = LEVELS,
) -> Tree:
    """Search the tree above its subtrees of at most `piece` leaves, each moved as one heavy point."""
    nodes, labels = _pieces_of(tree, piece)
    heavy = engine.contract(labels, len(nodes))
    max_size = levels.moved_at_once_elsewhere * piece * float(engine.leaf_size.mean())
    moves = Moves(
        max_size=max_size, max_visits=levels.max_visits, max_sweeps=levels.top_sweeps, certain=False
    )
    return with_top(tree, nodes, heavy.improve(top_over(tree, nodes), run, moves))


@dataclass(frozen=True)
class ByRegions:
    """The levels of a search by regions, in threads."""

    engine: GraphEngine
    levels: Levels
    n_threads: int
    max_sweeps: int

    def improve(self, tree: Tree, run: Run, rng: np.random.Generator) -> Tree:
        """Pass after pass over all levels, as long as one gains enough; a single pass if there is but one sweep."""
        ordered, engine, order = in_leaf_order(tree, self.engine)
        levels = replace(self, engine=engine)
        improve = levels._improve_once if self.max_sweeps == 1 else levels._pass_after_pass
        return renumbered(improve(ordered, run, rng), inverse_permutation(order))

    def _pass_after_pass(self, tree: Tree, run: Run, rng: np.random.Generator) -> Tree:
        cost = float(self.engine.costs(tree).sum())
        for number in range(self.levels.most_passes):
            with run.portion(1 - 0.3**number, 1 - 0.3 ** (number + 1)):
                tree = self._improve_once(tree, run, rng)
            before, cost = cost, float(self.engine.costs(tree).sum())
            if run.is_over or before - cost <= self.levels.least_gain * before:
                break
        return tree

    def _improve_once(self, tree: Tree, run: Run, rng: np.random.Generator) -> Tree:
        """Inside blocks, between ever smaller pieces, and point by point over ever larger regions."""
        block_sweeps = min(self.max_sweeps, self.levels.block_sweeps)
        block = self.levels.block_of(tree.n_leaves)
        blocks = [Phase(block, block_sweeps)]
        with run.portion(0, 0.4):
            tree = run.step(partial(self.improve_points, tree, run, blocks), rng)
        pieces = [piece for piece in self.levels.pieces if piece * 4 < tree.n_leaves]
        if pieces and not run.is_over:
            with run.portion(0.4, 0.6):
                tree = run.step(partial(self.improve_pieces, tree, run, pieces), rng)
        top_sweeps = min(self.max_sweeps, self.levels.top_sweeps)
        phases = self.levels.phases(tree.n_leaves, block, max(2, block_sweeps), top_sweeps)
        if not run.is_over:
            with run.portion(0.6, 1):
                tree = run.step(partial(self.improve_points, tree, run, phases, relates=True), rng)
        return tree

    def improve_until_still(self, tree: Tree, run: Run, certain: bool = True) -> Tree:
        """Move any subtree anywhere until no single move helps; if `certain`, until all were tried and none moved."""
        for number in range(self.max_sweeps if certain else 1):
            search = self._search_of(tree)
            with run.portion(1 - 0.5**number, 1 - 0.5 ** (number + 1)):
                n_moves = search.search(self._all_phases(tree), Reach(), run)
            if n_moves:
                tree = search.tree()
            if n_moves == 0 or run.is_over:
                break
        return tree

    def improve_around(self, tree: Tree, nodes: Ints, run: Run, max_visits: int) -> Tree:
        """Until no move near these nodes helps, and near those that moved."""
        search = self._search_of(tree)
        search.try_only(nodes)
        search.search(self._all_phases(tree), Reach(max_visits=max_visits), run)
        return search.tree()

    def _search_of(self, tree: Tree) -> RegionSearch:
        return RegionSearch(tree, self.engine.graph.csr, self.engine.leaf_size, self.n_threads)

    def _all_phases(self, tree: Tree) -> list[Phase]:
        block = self.levels.block_of(tree.n_leaves) // self.levels.growth
        return self.levels.phases(tree.n_leaves, block, self.max_sweeps, self.max_sweeps)

    def improve_points(self, tree: Tree, run: Run, phases: list[Phase], *, relates: bool = False) -> Tree:
        """Move points and small subtrees; if asked to, repair joins of unrelated points afterwards."""
        return self._searched(self.engine, tree, phases, 0, 1, run, relates=relates)

    def improve_pieces(self, tree: Tree, run: Run, pieces: list[int]) -> Tree:
        """Move subtrees made of pieces, large ones first; each level leaves small ones to the next."""
        nodes, labels = _pieces_of(tree, pieces[-1])
        # pieces of every level consist of the smallest ones: only those are summed over all points
        smallest = self.engine.contract(labels, len(nodes))
        member = np.empty(len(nodes), dtype=np.int64)
        member[labels] = np.arange(tree.n_leaves)
        block = self.levels.block_of(tree.n_leaves) // self.levels.growth
        for number, (piece, finer) in enumerate(zip(pieces, [*pieces[1:], 1])):
            if run.is_over:
                break
            nodes, labels = _pieces_of(tree, piece)
            heavy = smallest.contract(labels[member], len(nodes))
            # the smallest pieces are most of the work, and single points still follow
            sweeps = _BRIEF_SWEEPS if finer == 1 else (self.levels.top_sweeps, self.levels.top_sweeps)
            phases = self.levels.phases(len(nodes), block, *sweeps)
            with run.portion(number / len(pieces), (number + 1) / len(pieces)):
                top = self._searched(heavy, top_over(tree, nodes), phases, finer, piece, run)
            tree = with_top(tree, nodes, top)
        return tree

    def _searched(
        self,
        engine: GraphEngine,
        tree: Tree,
        phases: list[Phase],
        finer: int,
        piece: int,
        run: Run,
        *,
        relates: bool = False,
    ) -> Tree:
        """The tree with subtrees moved that are too large for pieces of the finer size, up to what this one allows."""
        if tree.n_leaves < 3:
            return tree
        unit = self.levels.moved_at_once * float(self.engine.leaf_size.mean())
        search = RegionSearch(tree, engine.graph.csr, engine.leaf_size, self.n_threads)
        search.search(phases, Reach(finer * unit, piece * unit, self.levels.max_visits), run)
        if relates:
            search.relate(run)
        return search.tree()


def _pieces_of(tree: Tree, piece: int) -> tuple[Ints, Ints]:
    """The largest subtrees with at most this many leaves, and which of them each leaf is in."""
    nodes = tree.cut_nodes(max_size=piece)
    labels = np.empty(tree.n_leaves, dtype=np.int64)
    labels[tree.leaf_order] = labels_by_position(tree, nodes)
    return nodes, labels
