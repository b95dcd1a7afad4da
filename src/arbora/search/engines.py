"""Prune-and-regraft until no single move helps, for each kind of similarity."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import scipy.sparse as sp

from arbora._base.threads import allowed_threads
from arbora._base.types import Floats
from arbora.search import _bound_kernels as bound_kernels
from arbora.search import _feature_kernels as feature_kernels
from arbora.search import _gather_kernels as gather_kernels
from arbora.search import _graph_kernels as graph_kernels
from arbora.search import _insertion_kernels as insertion_kernels
from arbora.search import _near_kernels as near_kernels
from arbora.search._feature_kernels import find_root
from arbora.search._open_kernels import make_stack
from arbora.search._state import (
    DASGUPTA,
    OBJECTIVES,
    State,
    enlarged,
    make_state,
    measure_again,
    node_costs,
    to_tree,
)
from arbora.search.moves import Moves
from arbora.search.run import Run
from arbora.search.safe_graphs import SAFE_WEIGHTS, as_graph, in_safe_range
from arbora.similarity import FeatureSimilarity, GraphSimilarity, Similarity
from arbora.similarity.contraction import contracted
from arbora.similarity.renumbering import renumbered
from arbora.tree import Tree
from arbora.tree.edit_kernels import DASGUPTA as DASGUPTA_LOSS
from arbora.tree.edit_kernels import SAMPLING_DIVERGENCE as SAMPLING_LOSS
from arbora.tree.edit_kernels import contract_greedily, contraction_losses
from arbora.tree.surgery import keep_internal

# edges or points that a perturbation counts double, by expectation, however small its share
FEWEST_DOUBLED = 3
# share of the whole from which adding a weight changes a sum of them for certain
_ADDS = 2.0**-50
# ratio of degrees below which what moves add and subtract under TSD, products of two degrees, is measured again before
# every sweep: rounding would leave fewer than four digits of the smallest
_DRIFTS = 1e-6


class Engine(Protocol):
    """Improves a tree for one similarity and objective."""

    objective: str

    def improve(self, tree: Tree, run: Run, moves: Moves | None = None) -> Tree:
        """Move subtrees as `moves` says; by default until no single move helps."""

    def costs(self, tree: Tree) -> np.ndarray:
        """What each node of a tree adds to the objective, smaller is better."""

    def perturb(self, share: float, rng: np.random.Generator) -> tuple[Engine, np.ndarray]:
        """An engine that counts a random share of the similarities double, and the points that this touches."""

    def price_of_node(self, tree: Tree) -> float:
        """What it costs to contract the internal node that costs least; 0 where there is none but the root."""

    def squeeze(self, tree: Tree, n_internal: int) -> Tree:
        """The tree with the internal nodes contracted that cost least."""

    def restrict(self, leaves: np.ndarray) -> Engine:
        """The engine of some of the points, in the given order."""

    def contract(self, labels: np.ndarray, n_groups: int) -> Engine:
        """The engine whose points are groups of points that stay together."""

    def similarity_to(self, point: int) -> np.ndarray:
        """Similarity of each point to one of them, summed over the points that it stands for."""

    def insert(self, tree: Tree, old: np.ndarray, new: np.ndarray) -> Tree:
        """The tree over the points `old` with the points `new` inserted, one by one, at their best places."""


class GraphEngine:
    """Search on a sparse graph: Dasgupta's cost or tree sampling divergence."""

    def __init__(
        self,
        graph: GraphSimilarity,
        objective: str = "dasgupta",
        leaf_size: np.ndarray | None = None,
        total: float | None = None,
        is_lone: np.ndarray | None = None,
    ) -> None:
        self.graph = graph
        self.objective = objective
        self._code = OBJECTIVES[objective]
        if leaf_size is None:
            leaf_size = np.ones(graph.n_points) if self._code == DASGUPTA else graph.degrees
        self.leaf_size = np.asarray(leaf_size, dtype=np.float64)
        self.is_lone = np.ones(graph.n_points, dtype=bool) if is_lone is None else is_lone
        csr = graph.csr
        self.total = graph.total if total is None else total
        self._arrays = gather_kernels.Graph(csr.indptr, csr.indices, csr.data, float(self.total), 0.0)
        self._crossed: tuple[Tree, np.ndarray] | None = None

    def cross(self, tree: Tree) -> np.ndarray:
        """``graph.cross(tree)``, remembered for the last tree it was asked for: trees never change."""
        if self._crossed is None or self._crossed[0] is not tree:
            self._crossed = tree, self.graph.cross(tree)
        return self._crossed[1]

    def state(self, tree: Tree, n_internal: int | None = None, cross: np.ndarray | None = None) -> State:
        """Changeable arrays of a tree; `cross` is ``graph.cross(tree)`` where that is known already."""
        return make_state(
            tree,
            self.graph.cross(tree) if cross is None else cross,
            self.leaf_size,
            self._code,
            self_loops=self.graph.self_loops,
            own=self._own,
            n_internal=n_internal,
        )

    @property
    def _own(self) -> np.ndarray:
        """What a leaf's pair with itself adds to its parent's spread; pairs within a group meet inside it."""
        if self._code == DASGUPTA:
            return np.zeros(len(self.leaf_size))
        return np.where(self.is_lone, 0.5 * self.leaf_size**2, 0.0)

    @property
    def is_plain(self) -> bool:
        """Whether it is Dasgupta's cost that counts, on a graph without self-loops, and sizes tell what is above what.

        Where weights of points lie so far apart that adding the smaller changes no sum, climbs that go by size would
        not end.
        """
        if self._code != DASGUPTA or self.graph.self_loops.any():
            return False
        return bool(self.leaf_size.min(initial=1.0) > _ADDS * self.leaf_size.sum())

    @property
    def _drifts(self) -> bool:
        """Whether sums that moves change by differences lose the smallest of what they sum."""
        sizes = self.leaf_size[self.leaf_size > 0]
        return self._code != DASGUPTA and len(sizes) > 0 and bool(sizes.min() < _DRIFTS * sizes.max())

    def similarity_to(self, point: int) -> np.ndarray:
        """Similarity of each point to one of them, summed over the points that it stands for."""
        csr, row = self.graph.csr, np.zeros(self.graph.n_points)
        entries = slice(csr.indptr[point], csr.indptr[point + 1])
        row[csr.indices[entries]] = csr.data[entries]
        return row

    def costs(self, tree: Tree) -> np.ndarray:
        """What each node of a tree adds to the objective, smaller is better."""
        costs: np.ndarray = node_costs(self.state(tree), self._code, self.total)[: tree.n_nodes]
        return costs

    def perturb(self, share: float, rng: np.random.Generator) -> tuple[GraphEngine, np.ndarray]:
        """An engine that counts a random share of the edges double, and the ends of those edges."""
        csr, n = self.graph.csr, self.graph.n_points
        row = np.repeat(np.arange(n), np.diff(csr.indptr))
        share = min(max(share, 2 * FEWEST_DOUBLED / max(csr.nnz, 1)), 1.0)
        is_chosen = symmetric_draw(row, csr.indices, int(rng.integers(2**63)), share)
        added = np.where(is_chosen, csr.data, 0)
        doubled = sp.csr_array((csr.data + added, csr.indices, csr.indptr), shape=csr.shape)
        graph = GraphSimilarity(doubled, self.graph.self_loops)
        degree = np.bincount(row, added, minlength=n)
        leaf_size = self.leaf_size if self._code == DASGUPTA else self.leaf_size + degree
        total = self.total + float(degree.sum()) / 2
        return GraphEngine(graph, self.objective, leaf_size, total, self.is_lone), np.unique(row[is_chosen])

    def price_of_node(self, tree: Tree) -> float:
        """What it costs to contract the internal node that costs least."""
        return _price_of_node(tree, self.state(tree), self._code, self.total)

    def squeeze(self, tree: Tree, n_internal: int) -> Tree:
        """The tree with the internal nodes contracted that cost least."""
        return _squeeze(tree, self.state(tree), self._code, self.total, n_internal)

    def restrict(self, leaves: np.ndarray) -> GraphEngine:
        """The engine of some of the points, in the given order."""
        csr = sp.csr_array(self.graph.csr[leaves][:, leaves])
        csr.sort_indices()
        graph = GraphSimilarity(csr, self.graph.self_loops[leaves])
        return GraphEngine(graph, self.objective, self.leaf_size[leaves], self.total, self.is_lone[leaves])

    def in_order(self, order: np.ndarray) -> GraphEngine:
        """The engine of all points in another order."""
        csr = renumbered(self.graph.csr, order, allowed_threads())
        graph = GraphSimilarity(csr, self.graph.self_loops[order])
        return GraphEngine(graph, self.objective, self.leaf_size[order], self.total, self.is_lone[order])

    def contract(self, labels: np.ndarray, n_groups: int) -> GraphEngine:
        """The engine whose points are groups. Pairs within a group no longer count; a lone point's loop does."""
        between = contracted(self.graph.csr, labels, n_groups)
        is_alone = np.bincount(labels, minlength=n_groups) == 1
        is_lone = is_alone & (np.bincount(labels, weights=self.is_lone, minlength=n_groups) == 1)
        loops = np.bincount(labels, weights=self.graph.self_loops, minlength=n_groups)
        graph = GraphSimilarity(between, np.where(is_alone, loops, 0.0))
        sizes = np.bincount(labels, weights=self.leaf_size, minlength=n_groups)
        return GraphEngine(graph, self.objective, sizes, self.total, is_lone)

    def improve(
        self, tree: Tree, run: Run, moves: Moves | None = None, cross: np.ndarray | None = None
    ) -> Tree:
        """Move subtrees as `moves` says; by default until no single move helps. `cross` is the tree's, where known."""
        if tree.n_leaves < 3:
            return tree
        moves = moves or Moves()
        state = self.state(tree, moves.n_internal, cross)
        work = gather_kernels.make_work(tree.n_leaves, len(state.nodes))
        can_stop_early, drifts = self.is_plain, self._drifts
        # what ends climbs early takes a pass over all nodes: few climbs are quicker without it
        ends_climbs = can_stop_early and not moves.climb_little(tree)
        graph = self._arrays._replace(price=moves.price)

        def before_sweep() -> None:
            if ends_climbs:
                near_kernels.update_rise(state, work)
            elif drifts:
                measure_again(state, self.graph.cross)

        def regraft(subtrees: np.ndarray) -> int:
            arrays = state, graph, work, subtrees, moves.max_size
            if can_stop_early:
                n_moves: int = near_kernels.regraft_near(*arrays, moves.max_visits)[0]
            else:
                n_moves = graph_kernels.regraft(*arrays, self._code)[0]
            return n_moves

        moves.sweep_over(tree, regraft, work.dirty, run, before_sweep)
        improved: Tree = to_tree(state, tree)
        return improved

    def insert(self, tree: Tree, old: np.ndarray, new: np.ndarray) -> Tree:
        """The tree over the points `old` with the points `new` inserted, one by one, at their best places."""
        state = enlarged(self.restrict(old).state(tree), old, self.graph.n_points)
        state.nodes["size"][new] = self.leaf_size[new]
        state.self_pairs[new, 0] = self.graph.self_loops[new]
        work = gather_kernels.make_work(self.graph.n_points, len(state.nodes))
        root = find_root(state, int(old[0]))
        graph_kernels.insert_leaves(state, self._arrays, work, root, new)
        grown: Tree = to_tree(state)
        return grown


class FeatureEngine:
    """Search on inner-product features, for Dasgupta's cost."""

    objective = "dasgupta"

    def __init__(self, similarity: FeatureSimilarity, leaf_size: np.ndarray | None = None) -> None:
        self.similarity = similarity
        self.leaf_size = (
            np.ones(similarity.n_points) if leaf_size is None else np.asarray(leaf_size, dtype=np.float64)
        )

    def costs(self, tree: Tree) -> np.ndarray:
        """What each node of a tree adds to the objective, smaller is better."""
        costs: np.ndarray = node_costs(self.state(tree), DASGUPTA, 1.0)[: tree.n_nodes]
        return costs

    def perturb(self, share: float, rng: np.random.Generator) -> tuple[FeatureEngine, np.ndarray]:
        """An engine that counts the similarities of a random share of the points double, and those points."""
        n = self.similarity.n_points
        chosen = np.flatnonzero(rng.random(n) < max(share, FEWEST_DOUBLED / n))
        features = self.similarity.features.copy()
        features[chosen] *= 2
        return FeatureEngine(FeatureSimilarity(features, is_non_negative=True), self.leaf_size), chosen

    def similarity_to(self, point: int) -> np.ndarray:
        """Similarity of each point to one of them, summed over the points that it stands for."""
        return np.asarray(self.similarity.features @ self.similarity.features[point])

    def state(self, tree: Tree, n_internal: int | None = None) -> State:
        """Changeable arrays of a tree."""
        return make_state(tree, self.similarity.cross(tree), self.leaf_size, DASGUPTA, n_internal=n_internal)

    def price_of_node(self, tree: Tree) -> float:
        """What it costs to contract the internal node that costs least."""
        return _price_of_node(tree, self.state(tree), DASGUPTA, 1.0)

    def squeeze(self, tree: Tree, n_internal: int) -> Tree:
        """The tree with the internal nodes contracted that cost least."""
        return _squeeze(tree, self.state(tree), DASGUPTA, 1.0, n_internal)

    def restrict(self, leaves: np.ndarray) -> FeatureEngine:
        """The engine of some of the points, in the given order."""
        rows = FeatureSimilarity(self.similarity.features[leaves], is_non_negative=True)
        return FeatureEngine(rows, self.leaf_size[leaves])

    def contract(self, labels: np.ndarray, n_groups: int) -> FeatureEngine:
        """The engine whose points are groups: their features and sizes add up."""
        n = self.similarity.n_points
        member = sp.csr_array((np.ones(n), (labels, np.arange(n))), shape=(n_groups, n))
        rows = FeatureSimilarity(
            np.ascontiguousarray(member @ self.similarity.features), is_non_negative=True
        )
        return FeatureEngine(rows, np.bincount(labels, weights=self.leaf_size, minlength=n_groups))

    def improve(self, tree: Tree, run: Run, moves: Moves | None = None) -> Tree:
        """Move subtrees as `moves` says; by default until no single move helps."""
        if tree.n_leaves < 3:
            return tree
        moves = moves or Moves()
        state = self.state(tree, moves.n_internal)
        n_nodes = len(state.nodes)
        features = bound_kernels.make_features(
            self.similarity.features, self.leaf_size, tree.parent, n_nodes
        )._replace(price=moves.price)
        bound_kernels.fill_bounds(state, features, tree.n_leaves, tree.n_nodes)
        work, stack = gather_kernels.make_work(n_nodes, n_nodes), make_stack(n_nodes)

        def regraft(subtrees: np.ndarray) -> int:
            n_moves: int = feature_kernels.regraft(state, features, work, stack, subtrees, moves.max_size)[0]
            return n_moves

        moves.sweep_over(tree, regraft, work.dirty, run)
        improved: Tree = to_tree(state, tree)
        return improved

    def insert(self, tree: Tree, old: np.ndarray, new: np.ndarray) -> Tree:
        """The tree over the points `old` with the points `new` inserted, one by one, at their best places."""
        n = self.similarity.n_points
        state = enlarged(self.restrict(old).state(tree), old, n)
        state.nodes["size"][new] = self.leaf_size[new]
        n_nodes = len(state.nodes)
        sums = np.zeros((n_nodes, self.similarity.features.shape[1]))
        sums[:n] = self.similarity.features
        inner = np.arange(tree.n_internal)
        below = np.vstack([sums[old], np.zeros((tree.n_internal, sums.shape[1]))])
        bound_kernels.fill_sums(below, tree.parent)
        sums[n + inner] = below[tree.n_leaves :]
        extent = bound_kernels.extent_of(self.similarity.features)
        features = bound_kernels.Features(
            sums,
            bound_kernels.empty_bounds(n_nodes),
            extent.if_even(bool((self.leaf_size == 1).all())),
            bound_kernels.steepness_of(extent.largest, float(self.leaf_size.min())),
        )
        bound_kernels.fill_bounds(state, features, n, n + tree.n_internal)
        work, stack = gather_kernels.make_work(n_nodes, n_nodes), make_stack(n_nodes)
        root = np.array([find_root(state, int(old[0]))])
        insertion_kernels.insert_rows(state, features, work, stack, root, new, np.zeros(n, dtype=bool))
        grown: Tree = to_tree(state)
        return grown


def _squeeze(tree: Tree, state: State, objective: int, total: float, n_internal: int) -> Tree:
    if tree.n_internal <= n_internal:
        return tree
    weight, level, code = _what_contraction_sees(tree, state, objective, total)
    keep = contract_greedily(tree.parent, tree.n_leaves, weight, level, code, n_internal)
    return keep_internal(tree, keep)


def _price_of_node(tree: Tree, state: State, objective: int, total: float) -> float:
    weight, level, code = _what_contraction_sees(tree, state, objective, total)
    losses = contraction_losses(tree.parent, tree.n_leaves, weight, level, code)
    return max(float(losses.min()), 0.0) if len(losses) else 0.0


def _what_contraction_sees(
    tree: Tree, state: State, objective: int, total: float
) -> tuple[np.ndarray, np.ndarray, int]:
    nodes = state.nodes[: tree.n_nodes]
    if objective == DASGUPTA:
        return nodes["cross"].copy(), nodes["size"].copy(), DASGUPTA_LOSS
    total = total if total > 0 else 1.0
    return nodes["cross"] / total, nodes["spread"] / (2 * total**2), SAMPLING_LOSS


def symmetric_draw(row: np.ndarray, column: np.ndarray, seed: int, share: float) -> np.ndarray:
    """Whether each entry of a matrix is drawn, alike for (i, j) and (j, i): a hash of the pair decides.

    The hash is the finalizer of SplitMix64 (Steele, Lea and Flood 2014).
    """
    low, high = np.minimum(row, column), np.maximum(row, column)
    code = (low.astype(np.uint64) << np.uint64(32)) + high.astype(np.uint64) + np.uint64(seed)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        code = (code ^ (code >> np.uint64(shift))) * np.uint64(factor)
    is_drawn: np.ndarray = (code ^ (code >> np.uint64(31))) < np.uint64(share * (2**64 - 2**11))
    return is_drawn


def make_engine(similarity: Similarity, objective: str, leaf_size: np.ndarray | None = None) -> Engine:
    """The engine for a similarity; a dense matrix is searched as the graph of all its pairs."""
    if objective not in OBJECTIVES:
        raise ValueError(f"objective must be one of {tuple(OBJECTIVES)}. Got {objective!r}.")
    if isinstance(similarity, GraphSimilarity):
        return GraphEngine(in_safe_range(similarity), objective, leaf_size)
    if isinstance(similarity, FeatureSimilarity) and objective == "dasgupta" and similarity.is_non_negative:
        return FeatureEngine(similarity, leaf_size)
    return GraphEngine(in_safe_range(as_graph(similarity)), objective, leaf_size)


def comparable_features(similarity: Similarity, new: Floats) -> tuple[Floats, Floats]:
    """Features of the points and of new ones, float64, whose products are safe and not negative.

    Where similarities may be negative, one feature more adds the same to all of them, which changes no comparison of
    places in a binary tree.
    """
    old = np.asarray(similarity.features, dtype=np.float64)
    largest = max(float(np.abs(old).max(initial=0.0)), float(np.abs(new).max(initial=0.0)))
    if largest > 0 and not SAFE_WEIGHTS[0] <= largest**2 <= SAFE_WEIGHTS[1]:
        exponent = -int(np.frexp(largest)[1])
        old, new = np.ldexp(old, exponent), np.ldexp(new, exponent)
    is_cosine = isinstance(similarity, FeatureSimilarity) and similarity.affine
    if similarity.is_non_negative and (is_cosine or bool((new >= 0).all() and (old >= 0).all())):
        return old, new
    longest = max(float(np.einsum("ij,ij->i", rows, rows).max(initial=0.0)) for rows in (old, new))
    added = np.sqrt(longest)
    longer = [np.column_stack([rows, np.full(len(rows), added)]) for rows in (old, new)]
    return longer[0], longer[1]
