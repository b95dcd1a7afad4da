"""FPH on a graph in shards: batches drawn from the shards, trees judged by sums over them.

What training asks of a graph are batches and the loss of decoded trees. Neither needs all edges on one machine.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from arbora._base.types import Ints, Objective
from arbora.metrics import dasgupta_cost, tree_sampling_divergence
from arbora.probabilistic import _batch_kernels as kernels
from arbora.probabilistic.batching import Batch, batch_of
from arbora.probabilistic.expected import most_likely_parents
from arbora.probabilistic.flat import flat_labels
from arbora.probabilistic.sparse import Model, Parents
from arbora.probabilistic.start import tree_of_parents
from arbora.scale import contracted_graph
from arbora.similarity.sharded import ShardedGraph
from arbora.tree import Tree


class SpreadDistribution:
    """The pair distribution of a graph whose edges are spread over machines."""

    def __init__(self, graph: ShardedGraph, dtype: DTypeLike = np.float64) -> None:
        if graph.total <= 0:
            raise ValueError("The graph must have an edge of positive weight. Got none.")
        self._graph, self._dtype = graph, dtype

    @property
    def n_nodes(self) -> int:
        """Number of graph nodes, the leaves of the hierarchy."""
        return self._graph.n_points

    def draw_batch(self, batch_size: int, batch_limit: int, rng: np.random.Generator) -> Batch | None:
        """As `arbora.probabilistic.batching.draw_batch`."""
        n = self.n_nodes
        seeds = rng.choice(n, size=min(batch_size, n), replace=False)
        near = self._graph.adjacent_to(seeds)
        position = np.full(n, -1, dtype=np.int32)
        nodes = np.sort(kernels.gather_nodes(near.indptr, near.indices, seeds, min(batch_limit, n), position))
        inside = self._graph.subset(nodes)
        total = self._graph.total
        pairs = inside.csr.astype(self._dtype)
        pairs.data /= 2 * total
        return batch_of(nodes, pairs, (inside.self_loops / total).astype(self._dtype))

    def decoded_loss(self, model: Model, objective: Objective) -> tuple[float, Parents]:
        """As `arbora.probabilistic.expected.decoded_loss`."""
        parents = most_likely_parents(model)
        tree = tree_of_parents(*parents)[0]
        if objective == "tsd":
            return -float(tree_sampling_divergence(tree, self._graph, normalize=False)), parents
        return float(dasgupta_cost(tree, self._graph, normalize=True)), parents


def labels_of_groups(tree: Tree, graph: ShardedGraph, n_clusters: int) -> Ints:
    """As `flat_labels`, where leaves with the same parent stay together: only sums over such groups are needed."""
    n = tree.n_leaves
    nodes, group = np.unique(tree.parent[:n], return_inverse=True)
    if n_clusters > len(nodes):
        raise ValueError(
            f"n_clusters must be at most {len(nodes)} here, the internal nodes that have leaves: on a graph in shards "
            f"the leaves of a node stay together. Got {n_clusters}. Choose a larger n_internal."
        )
    above = np.concatenate([nodes, tree.parent[n:]])
    over = Tree(np.where(above >= 0, above - n + len(nodes), -1), len(nodes)).collapse_unary()
    found: Ints = flat_labels(over, contracted_graph(graph, group, len(nodes)), n_clusters)[group]
    return np.asarray(np.unique(_first_leaf(found)[found], return_inverse=True)[1])


def _first_leaf(labels: Ints) -> Ints:
    return np.asarray(np.unique(labels, return_index=True)[1])
