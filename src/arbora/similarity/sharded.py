"""A graph whose edges are spread over machines, or over files: a similarity whose sums are made shard by shard."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from arbora._base.distributed import Workers, sum_as_tree, workers_for
from arbora._base.exact_sums import joined, rounders
from arbora._base.memory import refuse_if_too_large
from arbora._base.optional import require
from arbora._base.params import check_whole
from arbora._base.types import Floats
from arbora.similarity import shards
from arbora.similarity.checks import check_covers, check_pair_arrays, check_points, check_vectors_of_points
from arbora.similarity.graph import GraphSimilarity

if TYPE_CHECKING:
    from arbora.tree import Tree


class ShardedGraph(GraphSimilarity):
    """A graph in shards; build it with `arbora.similarity.graph(edges)`.

    Metrics sum over its shards, where these are: weights never travel, only one number per node of a tree does. What
    needs all edges at once (linkages, other objectives) asks for `csr`, which fetches them where they fit into the
    memory of this machine and is refused where they do not. `arbora.cluster`, `arbora.refine` and batches of
    `arbora.FPH` do not need them.

    Parameters
    ----------
    parts : list of delayed edges
    n_points : int, optional
        By default the largest node number plus one.

    Attributes
    ----------
    parts : list of delayed edges
    n_pieces : int
        Edges as they were given, before those between the same nodes are added up.
    rounders : ndarray of float64
        What rounds weights for exact sums (`arbora._base.exact_sums`).
    """

    def __init__(self, parts: list[Any], n_points: int | None = None) -> None:
        self.parts = parts
        self.delayed = require("dask", "Edges in shards").delayed
        found = self._gather([self.delayed(shards.facts_of)(part) for part in parts])
        self.n_pieces = sum(fact.n_edges for fact in found)
        least = max((fact.n_points for fact in found), default=0)
        self._n_points = least if n_points is None else check_whole(n_points, "n_points", least=max(1, least))
        if self._n_points == 0:
            raise ValueError("There are no edges and n_points is not given: the graph has no nodes.")
        # ends of edges are counted twice
        self.rounders = rounders(2 * self.n_pieces, max((fact.largest for fact in found), default=1.0))
        self._has_loops = True
        self.names = None

    @property
    def workers(self) -> Workers:  # type: ignore[override]
        """Where the shards are worked on."""
        return workers_for(*self.parts)

    def _gather(self, tasks: list[Any]) -> list[Any]:
        return self.workers.gather(tasks)

    def _summed(self, function: Callable[..., Floats], *arguments: Any) -> Floats:
        """Exact sum over the shards of what a function answers in levels."""
        shared = [self.delayed(argument, traverse=False) for argument in arguments]
        tasks = [self.delayed(function)(part, *shared) for part in self.parts]
        return joined(self._gather([sum_as_tree(tasks, sum)])[0])

    def in_shards(self) -> ShardedGraph:
        """Itself."""
        return self

    @property
    def n_points(self) -> int:
        return self._n_points

    def persisted(self) -> ShardedGraph:
        """The same graph with its edges read once, and kept where they were read."""
        kept = copy(self)
        kept.parts = self.workers.persist(self.parts)
        return kept

    # ---- everything at once --------------------------------------------------------------------------

    @cached_property
    def csr(self) -> sp.csr_array:  # type: ignore[override]
        """All edges, fetched to this machine; TooLargeError where they do not fit."""
        # both directions of 8-byte weights and column numbers, and as much again while they are sorted
        refuse_if_too_large(
            80 * self.n_pieces,
            f"The {self.n_pieces:,} edges, all of which this needs at once on one machine,",
            "arbora.cluster, arbora.refine, metrics and arbora.FPH(batch_size=...) take the graph as it is.",
        )
        return shards.adjacency_of(self._gather(self.parts), self._n_points)

    @cached_property
    def self_loops(self) -> Floats:  # type: ignore[override]
        """Weight of the edge from each node to itself."""
        if not self._has_loops:
            return np.zeros(self._n_points)
        return self._summed(shards.loops_of, self._n_points, self.rounders)

    def without_self_loops(self) -> ShardedGraph:
        """The same graph without edges from a node to itself."""
        if not self._has_loops:
            return self
        loopless = copy(self)
        for known in ("self_loops", "degrees"):
            loopless.__dict__.pop(known, None)
        loopless.parts = [self.delayed(shards.without_loops)(part) for part in self.parts]
        loopless._has_loops = False
        return loopless

    # ---- sums over shards ----------------------------------------------------------------------------

    @property
    def n_edges(self) -> int:
        """Number of edges, each counted once, self-loops included."""
        return sum(self._gather([self.delayed(_n_positive)(part) for part in self.distinct()]))

    @property
    def total(self) -> float:
        return float(self.degrees.sum()) / 2

    @cached_property
    def degrees(self) -> Floats:  # type: ignore[override]
        """Sum of the weights at each node; a self-loop counts twice, so that degrees sum to 2 * total."""
        return self._summed(shards.degrees_of, self._n_points, self.rounders)

    @property
    def is_non_negative(self) -> bool:
        """Always: shards with negative weights are refused."""
        return True

    def cross(self, tree: Tree) -> Floats:
        """Similarity that meets at each internal node. O(m), where the edges are."""
        check_covers(self, tree)
        if tree.n_internal == 0:
            return np.zeros(0)
        return self._summed(shards.cross_of, tree, self.rounders)

    def multiply(self, x: ArrayLike) -> Floats:
        """Sum over j ≠ i of similarity(i, j) x[j]. O(m), where the edges are."""
        vectors = self.delayed(check_vectors_of_points(x, self._n_points), traverse=False)
        tasks = [self.delayed(shards.product_of)(part, vectors) for part in self.parts]
        return np.asarray(self._gather([sum_as_tree(tasks, sum)])[0], np.float64)

    def information(self, log_node_law: Floats) -> float:
        """As `Similarity.information`."""
        law, twice = self.delayed(log_node_law, traverse=False), 2 * self.total
        tasks = [self.delayed(_information_of)(part, law, twice) for part in self.distinct()]
        return float(sum(self._gather(tasks)))

    def sum_of_squares(self, center: float = 0.0) -> float:
        """Sum over unordered pairs of different points of (similarity - center)². O(m)."""
        tasks = [self.delayed(_squares_of)(part, center) for part in self.distinct()]
        found = self._gather(tasks)
        n_pairs = self._n_points * (self._n_points - 1) / 2
        return float(sum(square for square, _ in found) + center**2 * (n_pairs - sum(n for _, n in found)))

    def distinct(self) -> list[Any]:
        """Delayed shards in which every edge is in one piece: pieces are exchanged by the ends of edges."""
        n = len(self.parts)
        sent = [self.delayed(shards.in_buckets, nout=n)(part, n) for part in self.parts]
        return [self.delayed(shards.joined_edges)([one[number] for one in sent]) for number in range(n)]

    # ---- single points -------------------------------------------------------------------------------

    def pairs(self, i: ArrayLike, j: ArrayLike) -> Floats:
        """Similarity of given pairs; 0 where there is no edge."""
        left, right = check_pair_arrays(i, j, self._n_points)
        ends = np.minimum(left, right).ravel(), np.maximum(left, right).ravel()
        keys, place = np.unique(shards.Edges(*ends, np.empty(0)).keys, return_inverse=True)
        if len(keys) == 0:
            return np.zeros(left.shape)
        return self._summed(shards.weights_of_pairs, keys, self.rounders)[place.ravel()].reshape(left.shape)

    def adjacent_to(self, points: ArrayLike) -> sp.csr_array:
        """Adjacency that holds the edges of some of the points, self-loops left out: csr_array[n_points, n_points]."""
        wanted = self.delayed(check_points(points, self._n_points), traverse=False)
        found = self._gather(
            [self.delayed(shards.neighbors_of)(part, wanted, self._n_points) for part in self.parts]
        )
        return shards.adjacency_of(found, self._n_points)

    def rows(self, i: ArrayLike) -> Floats:
        """Similarity of the points i to all points."""
        points = check_points(i, self._n_points)
        rows: Floats = self.adjacent_to(points)[points].toarray()
        rows[np.arange(len(points)), points] = self.self_loops[points]
        return rows

    def subset(self, points: ArrayLike) -> GraphSimilarity:
        """The graph of some of the nodes, in the given order, in the memory of this machine."""
        some = check_points(points, self._n_points)
        wanted = self.delayed(some, traverse=False)
        found = self._gather(
            [self.delayed(shards.edges_among)(part, wanted, self._n_points) for part in self.parts]
        )
        return GraphSimilarity(shards.adjacency_of(found, len(some)), self.self_loops[some])

    def identity(self) -> dict[str, Any]:
        """What decides the similarity, for `identity_of`."""
        codes = self._gather([self.delayed(_code_of)(part) for part in self.distinct()])
        return {"n_points": self._n_points, "edges": str(sum(codes) % 2**64)}

    def __repr__(self) -> str:
        return f"ShardedGraph(n_points={self.n_points}, n_shards={len(self.parts)})"


def sharded_graph(data: Any, n_points: int | None = None) -> ShardedGraph:
    """The graph of a Dask frame of edges, or of files of edges."""
    return ShardedGraph(shards.open_shards(data), n_points)


def _n_positive(edges: shards.Edges) -> int:
    return int(np.count_nonzero(edges.weight))


def _information_of(edges: shards.Edges, log_node_law: Floats, total: float) -> float:
    """Part of `Similarity.information` of some edges: both directions of each."""
    drawn = (edges.low != edges.high) & (edges.weight > 0)
    low, high, law = edges.low[drawn], edges.high[drawn], edges.weight[drawn] / total
    return 2 * float(law @ (np.log(law) - log_node_law[low] - log_node_law[high]))


def _squares_of(edges: shards.Edges, center: float) -> tuple[float, int]:
    """Sum over some edges between different points of (weight - center)², and how many they are."""
    weight = shards.without_loops(edges).weight
    return float(((weight - center) ** 2).sum()), len(weight)


def _code_of(edges: shards.Edges) -> int:
    """A number that depends on all edges but not on their order."""
    code = shards.mixed(edges.keys) ^ edges.weight.view(np.uint64)
    # mixed twice more, so that ends and weights cannot be exchanged between edges
    for shift in (np.uint64(29), np.uint64(32)):
        code = shards.mixed(code ^ (code >> shift))
    return int(code.sum(dtype=np.uint64))
