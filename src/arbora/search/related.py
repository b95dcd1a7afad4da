"""No join of unrelated points where a related place exists.

A search that ends before nothing moves any longer leaves joins without any similarity: what once related the two
sides has moved elsewhere. Under Dasgupta's cost some side of such a join always has a better place, as long as an
edge leaves the join. Let no edge lead from A to B in ((A, B), C), but some from A or B to C: if from B, then
(A, (B, C)) costs less; if from A, then ((A, C), B) does. Where none leads to C either, the join above is such a join
itself. Whichever of A and B is smaller can make either move. So the smaller sides alone are moved to their best places
until no such join is left, which takes about as long as there is something to repair.
"""

from __future__ import annotations

import numpy as np

from arbora._base.threads import allowed_threads, share_out
from arbora._base.types import Bools, Floats, Ints
from arbora.search.engines import GraphEngine
from arbora.search.moves import Moves
from arbora.search.run import Run
from arbora.similarity import GraphSimilarity
from arbora.tree import Tree
from arbora.tree.pass_kernels import max_to_root, note_farthest

# each round repairs most of what is left; after this many, what remains differs by little more than rounding
MAX_ROUNDS = 50


def join_related(engine: GraphEngine, tree: Tree, run: Run) -> Tree:
    """The tree, its joins of unrelated points repaired; it never costs more."""
    for _ in range(MAX_ROUNDS):
        cross = engine.cross(tree)
        sides = unrelated_sides(tree, engine.graph, cross)
        if len(sides) == 0 or run.is_over:
            break
        moves = Moves(around=sides, spreads=False, max_sweeps=1)
        repaired = engine.improve(tree, run, moves, cross)
        if np.array_equal(repaired.parent, tree.parent):
            break
        tree = repaired
    return tree


def unrelated_sides(tree: Tree, graph: GraphSimilarity, cross: Floats | None = None) -> Ints:
    """Children, but for the largest, of the nodes where no edge meets though some edge leaves them."""
    is_unrelated = np.zeros(tree.n_nodes, dtype=bool)
    is_unrelated[tree.n_leaves :] = unrelated_joins(tree, graph, cross)
    sides = np.flatnonzero((tree.parent >= 0) & is_unrelated[tree.parent])
    by_size = sides[np.argsort(tree.sizes[sides], kind="stable")]
    # of each parent the last, which is the largest, stays
    _, last = np.unique(tree.parent[by_size][::-1], return_index=True)
    return np.delete(by_size, len(by_size) - 1 - last)


def unrelated_joins(tree: Tree, graph: GraphSimilarity, cross: Floats | None = None) -> Bools:
    """Which internal nodes join what no edge relates, though some edge leads from there to elsewhere.

    `cross` is ``graph.cross(tree)`` where that is known already.
    """
    without_loops = graph.without_self_loops()
    if cross is None or without_loops is not graph:
        cross = without_loops.cross(tree)
    # a sum of weights that are not negative is 0 just where all of them are
    is_unrelated: Bools = cross == 0
    if not is_unrelated.any():
        return is_unrelated
    return is_unrelated & _are_left(tree, graph)


def _are_left(tree: Tree, graph: GraphSimilarity) -> Bools:
    """Which internal nodes have an edge from inside to outside: to a leaf before their first or after their last."""
    csr, place = graph.csr, tree.leaf_start[: tree.n_leaves].astype(np.int32)
    earliest, latest = (np.full(tree.n_nodes, -tree.n_leaves, dtype=np.int64) for _ in range(2))

    def note(first: int, last: int) -> None:
        note_farthest(csr.indptr, csr.indices, csr.data, place, first, last, earliest, latest)

    share_out(note, tree.n_leaves, allowed_threads())
    first = tree.leaf_start
    leaves_before = -max_to_root(tree.parent, earliest) < first
    leaves_after = max_to_root(tree.parent, latest) >= first + tree.sizes
    are_left: Bools = (leaves_before | leaves_after)[tree.n_leaves :]
    return are_left
