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
import scipy.sparse as sp

from arbora._base.types import Bools, Floats, Ints
from arbora.search.engines import GraphEngine
from arbora.search.moves import Moves
from arbora.search.run import Run
from arbora.similarity import GraphSimilarity
from arbora.tree import Tree
from arbora.tree.pass_kernels import sum_to_root

# each round repairs most of what is left; those that remain after so many hardly gain by rounding
MAX_ROUNDS = 50


def join_related(engine: GraphEngine, tree: Tree, run: Run) -> Tree:
    """The tree, its joins of unrelated points repaired; it never costs more."""
    for _ in range(MAX_ROUNDS):
        sides = unrelated_sides(tree, engine.graph)
        if len(sides) == 0 or run.is_over:
            break
        repaired = engine.improve(tree, run, Moves(around=sides, spreads=False, max_sweeps=1))
        if np.array_equal(repaired.parent, tree.parent):
            break
        tree = repaired
    return tree


def unrelated_sides(tree: Tree, graph: GraphSimilarity) -> Ints:
    """Children, but for the largest, of the nodes where no edge meets though some edge leaves them."""
    is_unrelated = np.zeros(tree.n_nodes, dtype=bool)
    is_unrelated[tree.n_leaves :] = unrelated_joins(tree, graph)
    sides = np.flatnonzero((tree.parent >= 0) & is_unrelated[tree.parent])
    by_size = sides[np.argsort(tree.sizes[sides], kind="stable")]
    # of each parent the last, which is the largest, stays
    _, last = np.unique(tree.parent[by_size][::-1], return_index=True)
    return np.delete(by_size, len(by_size) - 1 - last)


def unrelated_joins(tree: Tree, graph: GraphSimilarity) -> Bools:
    """Which internal nodes join what no edge relates, though some edge leads from there to elsewhere.

    Edges that leave are counted, not weighed: counts are exact.
    """
    without_loops = graph.without_self_loops()
    # a sum of weights that are not negative is 0 just where all of them are
    is_unrelated: Bools = without_loops.cross(tree) == 0
    if not is_unrelated.any():
        return is_unrelated
    csr = graph.csr
    has_weight = (csr.data > 0).astype(csr.data.dtype)
    counts = GraphSimilarity(sp.csr_array((has_weight, csr.indices, csr.indptr), shape=csr.shape))
    meeting = np.zeros(tree.n_nodes)
    meeting[tree.n_leaves :] = counts.cross(tree)
    ends = np.zeros(tree.n_nodes)
    ends[: tree.n_leaves] = counts.degrees
    leaving: Floats = sum_to_root(tree.parent, ends) - 2 * sum_to_root(tree.parent, meeting)
    return is_unrelated & (leaving[tree.n_leaves :] > 0.5)
