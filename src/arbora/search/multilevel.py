"""Search on large trees: blocks in parallel, then ever larger pieces as if they were points.

A subtree that stays together is a heavy point: its inner structure costs the same wherever it goes. So the
top of a tree can be searched on the small graph of its blocks, exactly; and what happens inside a block does not
touch the rest, so blocks are searched side by side.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import scipy.sparse as sp

from arbora.search._block_kernels import slice_square
from arbora.search.budget import Budget
from arbora.search.engines import GraphEngine
from arbora.search.moves import Moves
from arbora.similarity import GraphSimilarity
from arbora.tree import Tree
from arbora.tree.surgery import graft, labels_by_position, top_over, with_top

BLOCK = 8192  # leaves searched as one piece: its arrays fit a core's cache
BLOCK_SWEEPS, TOP_SWEEPS = 12, 3  # at most so many inside blocks; between pieces, and over the whole
LOOKS = 1000  # nodes a subtree looks at before it makes do with the best place so far
PIECES = (4096, 512, 64, 8)  # sizes of the subtrees that move as one, large to small
_BLOCKS_DONE, _PIECES_DONE = 0.6, 0.75  # share of the time when blocks and pieces are through
MOVED_AT_ONCE = (
    16  # pieces (or points) in the largest subtree that one level moves: the level above moves larger ones
)


def improve_by_levels(
    engine: GraphEngine,
    tree: Tree,
    budget: Budget,
    *,
    n_jobs: int = 1,
    max_sweeps: int = BLOCK_SWEEPS,
    rng: np.random.Generator | None = None,
) -> Tree:
    """Improve a large tree: inside blocks, between ever smaller pieces, and point by point over the whole."""
    tree, engine, order = in_leaf_order(tree, engine)
    with budget.portion(0, _BLOCKS_DONE):
        improve = partial(improve_blocks, engine, tree, budget, n_jobs=n_jobs, max_sweeps=max_sweeps, rng=rng)
        tree = budget.step(improve, rng)
    pieces = [piece for piece in PIECES if piece * 4 < tree.n_leaves]
    bounds = np.linspace(_BLOCKS_DONE, _PIECES_DONE, len(pieces) + 1)
    for piece, low, high in zip(pieces, bounds, bounds[1:]):
        if not budget.is_over:
            improve = partial(improve_top, engine, tree, piece, budget, rng=rng)
            with budget.portion(low, high):
                tree = budget.step(improve, rng)
    if not budget.is_over:
        tree, engine, again = in_leaf_order(tree, engine)
        order = order[again]
        moves = Moves(
            max_size=_size_cap(engine),
            max_looks=LOOKS,
            max_sweeps=min(max_sweeps, TOP_SWEEPS),
            certain=False,
            rng=rng,
        )
        with budget.portion(_PIECES_DONE, 1):
            tree = budget.step(partial(engine.improve, tree, budget, moves), rng)
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    return tree.restrict(back)


def _size_cap(engine: GraphEngine) -> float:
    return MOVED_AT_ONCE * float(engine.leaf_size.mean())


def in_leaf_order(tree: Tree, engine: GraphEngine) -> tuple[Tree, GraphEngine, np.ndarray]:
    """Renumber leaves in depth-first order, so that what is near in the tree is near in memory."""
    order = np.array(tree.leaf_order)
    return tree.restrict(order), engine.restrict(order), order


def improve_blocks(
    engine: GraphEngine,
    tree: Tree,
    budget: Budget,
    *,
    n_jobs: int = 1,
    max_sweeps: int = BLOCK_SWEEPS,
    rng: np.random.Generator | None = None,
) -> Tree:
    """Search inside each block of at most BLOCK leaves; leaves must be numbered in depth-first order."""
    nodes = tree.cut_nodes(max_size=BLOCK)
    firsts, sizes = tree.leaf_start[nodes], tree.sizes[nodes]
    csr, loops = engine.graph.csr, engine.graph.self_loops
    moves = Moves(max_size=_size_cap(engine), max_sweeps=min(max_sweeps, BLOCK_SWEEPS), certain=False)
    done = 0

    def improve_block(k: int) -> Tree:
        nonlocal done
        part = tree.subtree(int(nodes[k]))
        if sizes[k] < 3 or budget.is_over:
            return part
        low, high = int(firsts[k]), int(firsts[k] + sizes[k])
        indptr, indices, data = slice_square(csr.indptr, csr.indices, csr.data, low, high)
        inside = sp.csr_array((data, indices, indptr), shape=(high - low, high - low))
        graph = GraphSimilarity(inside, loops[low:high])
        local = GraphEngine(
            graph, engine.objective, engine.leaf_size[low:high], engine.total, engine.is_lone[low:high]
        )
        improved = local.improve(part, _Quiet(budget), moves)
        done += 1
        budget.show("blocks", done / len(nodes), f"{done} of {len(nodes)}")
        return improved

    with ThreadPoolExecutor(max_workers=n_jobs) as pool:
        parts = list(pool.map(improve_block, range(len(nodes))))
    leaves = [np.arange(low, low + size) for low, size in zip(firsts, sizes)]
    return graft(top_over(tree, nodes), parts, leaves)


class _Quiet(Budget):
    """A budget seen from inside a block: its clock, without its bar."""

    def __init__(self, budget: Budget) -> None:
        super().__init__()
        self._budget = budget

    @property
    def is_over(self) -> bool:
        return self._budget.is_over

    def show(self, what: str, done: float, note: str = "") -> None:
        """Blocks show nothing of their own."""


def improve_top(
    engine: GraphEngine,
    tree: Tree,
    piece: int,
    budget: Budget,
    *,
    rng: np.random.Generator | None = None,
) -> Tree:
    """Search the tree above its subtrees of at most `piece` leaves, each moved as one heavy point."""
    nodes = tree.cut_nodes(max_size=piece)
    labels = np.empty(tree.n_leaves, dtype=np.int64)
    labels[tree.leaf_order] = labels_by_position(tree, nodes)
    heavy = engine.contract(labels, len(nodes))
    max_size = MOVED_AT_ONCE * piece * float(engine.leaf_size.mean())
    moves = Moves(max_size=max_size, max_looks=LOOKS, max_sweeps=TOP_SWEEPS, certain=False, rng=rng)
    return with_top(tree, nodes, heavy.improve(top_over(tree, nodes), budget, moves))
