"""Search on large trees: blocks in parallel, then ever larger pieces as if they were points.

A subtree that stays together is a heavy point: its inner structure costs the same wherever it goes. So the
top of a tree can be searched on the small graph of its blocks, exactly; and what happens inside a block does not
touch the rest, so blocks are searched side by side.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy.sparse as sp

from arbora._base.types import Ints
from arbora.search._block_kernels import slice_square
from arbora.search.engines import GraphEngine
from arbora.search.moves import Moves
from arbora.search.run import Run
from arbora.similarity import GraphSimilarity
from arbora.tree import Tree
from arbora.tree.surgery import graft, labels_by_position, top_over, with_top

_BLOCKS_DONE, _PIECES_DONE = 0.6, 0.75  # share of the time when blocks and pieces are through


@dataclass(frozen=True)
class Levels:
    """From which size on and by which steps a tree is searched by levels.

    Parameters
    ----------
    large : int
        Leaves from which a graph is searched by levels.
    block : int
        Leaves searched as one piece: its arrays fit a core's cache.
    pieces : tuple of int
        Sizes of the subtrees that move as one, large to small.
    block_sweeps, top_sweeps : int
        Sweeps inside blocks, and between pieces and over the whole, at most.
    max_visits : int
        Nodes visited before a subtree makes do with the best place so far.
    moved_at_once : int
        Pieces (or points) in the largest subtree that one level moves: the level above moves larger ones.
    """

    large: int = 30_000
    block: int = 8192
    pieces: tuple[int, ...] = (4096, 512, 64, 8)
    block_sweeps: int = 12
    top_sweeps: int = 3
    max_visits: int = 1000
    moved_at_once: int = 16


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
            max_size=levels.moved_at_once * float(engine.leaf_size.mean()),
            max_visits=levels.max_visits,
            max_sweeps=min(max_sweeps, levels.top_sweeps),
            certain=False,
        )
        with run.portion(_PIECES_DONE, 1):
            tree = run.step(partial(engine.improve, tree, run, moves), rng)
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    return tree.restrict(back)


def in_leaf_order(tree: Tree, engine: GraphEngine) -> tuple[Tree, GraphEngine, Ints]:
    """Renumber leaves in depth-first order, so that what is near in the tree is near in memory."""
    order = np.array(tree.leaf_order)
    return tree.restrict(order), engine.restrict(order), order


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
    nodes = tree.cut_nodes(max_size=levels.block)
    firsts, sizes = tree.leaf_start[nodes], tree.sizes[nodes]
    moves = Moves(
        max_size=levels.moved_at_once * float(engine.leaf_size.mean()),
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

    with ThreadPoolExecutor(max_workers=n_threads) as pool:
        parts = list(pool.map(improve_block, range(len(nodes))))
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
    nodes = tree.cut_nodes(max_size=piece)
    labels = np.empty(tree.n_leaves, dtype=np.int64)
    labels[tree.leaf_order] = labels_by_position(tree, nodes)
    heavy = engine.contract(labels, len(nodes))
    max_size = levels.moved_at_once * piece * float(engine.leaf_size.mean())
    moves = Moves(
        max_size=max_size, max_visits=levels.max_visits, max_sweeps=levels.top_sweeps, certain=False
    )
    return with_top(tree, nodes, heavy.improve(top_over(tree, nodes), run, moves))
