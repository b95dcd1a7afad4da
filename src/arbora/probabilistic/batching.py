"""The paper's batches (Sec. 3.5): K random leaves and their neighbors, at most C, and their edges."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from arbora._base.types import AnyFloats, Ints
from arbora.probabilistic import _batch_kernels as kernels
from arbora.probabilistic.row_blocks import csr_from_parts
from arbora.probabilistic.sparse import EdgeDistribution, Model


class Batch(NamedTuple):
    """Nodes of a subgraph, ascending, and its pair distribution (normalized within the subgraph)."""

    nodes: Ints
    graph: EdgeDistribution


def draw_batch(
    graph: EdgeDistribution, batch_size: int, batch_limit: int, rng: np.random.Generator
) -> Batch | None:
    """A random batch, or None if the chosen nodes have no edge among them."""
    pairs = graph.pairs
    n = graph.n_nodes
    position = np.full(n, -1, dtype=np.int32)
    seeds = rng.choice(n, size=min(batch_size, n), replace=False)
    nodes = np.sort(kernels.gather_nodes(pairs.indptr, pairs.indices, seeds, min(batch_limit, n), position))
    position[nodes] = np.arange(len(nodes))
    ptr, col, val = kernels.induced_edges(pairs.indptr, pairs.indices, pairs.data, nodes, position)
    return batch_of(nodes, csr_from_parts(ptr, col, val, (len(nodes), len(nodes))), graph.loops[nodes])


def batch_of(nodes: Ints, inside: sp.csr_array, loops: AnyFloats) -> Batch | None:
    """The batch of some nodes, from the weights of their pairs and loops; None where these are 0."""
    total = inside.data.sum() + loops.sum()
    if total <= 0:
        return None
    inside.data /= total
    loops = loops / total
    return Batch(nodes, EdgeDistribution(inside, loops, np.asarray(inside.sum(axis=1)).ravel() + loops))


def rows_of(model: Model, nodes: Ints) -> Model:
    """The model over some of the leaves."""
    return Model(model.A[nodes], model.B)


def with_rows(model: Model, nodes: Ints, part: Model) -> Model:
    """The model with the leaves of a batch replaced, and the batch's B."""
    A, new = model.A, part.A
    ptr, col, val = kernels.replace_rows(
        A.indptr, A.indices, A.data, nodes, new.indptr, new.indices, new.data
    )
    return Model(csr_from_parts(ptr, col, val, A.shape), part.B)
