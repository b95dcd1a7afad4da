"""What FPH accepts as a graph, and how it becomes a `GraphSimilarity`."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from arbora.similarity.graph import GraphSimilarity, graph
from arbora.similarity.protocol import is_similarity

# between them sums and products of two weights stay far from overflow and from 0
_SMALLEST, _LARGEST = 1e-75, 1e75


def looks_like_graph(X: Any) -> bool:
    """Whether X is a graph as it stands: sparse square, networkx, edge tuple or similarity."""
    if is_similarity(X) or isinstance(X, tuple):
        return isinstance(X, tuple) or X.csr is not None
    if sp.issparse(X):
        return bool(X.shape[0] == X.shape[1])
    return hasattr(X, "adj") and hasattr(X, "is_directed")


def read_graph(X: Any, directed: Literal["sum", "max", "mean"] = "sum") -> GraphSimilarity:
    """The graph given; directed input is made undirected.

    An asymmetric adjacency (or a directed networkx graph) is joined by `directed`: by default the weights of
    i -> j and j -> i are added, so that a reciprocated edge counts twice, as in the paper.
    """
    if is_similarity(X) or isinstance(X, tuple):
        return graph(X)
    adjacency = X if sp.issparse(X) else _from_networkx(X)
    adjacency = sp.csr_array(adjacency, copy=True)
    if adjacency.shape[0] != adjacency.shape[1]:
        raise ValueError(f"The adjacency must be square. Got shape {adjacency.shape}.")
    return graph(adjacency, directed=None if _is_symmetric(adjacency) else directed)


def _from_networkx(network: Any) -> sp.csr_array:
    import networkx as nx

    return sp.csr_array(nx.to_scipy_sparse_array(network, dtype=np.float64))


def _is_symmetric(adjacency: sp.csr_array) -> bool:
    if adjacency.nnz == 0 or not np.isfinite(adjacency.data).all():
        # nothing to join, or refused with a better message by `graph`
        return True
    gap = abs(adjacency - sp.csr_array(adjacency.T))
    return gap.nnz == 0 or float(gap.max()) <= 1e-6 * max(1.0, float(abs(adjacency).max()))


def of_moderate_weights(similarity: GraphSimilarity) -> GraphSimilarity:
    """The graph, its weights multiplied by a power of two where their squares would overflow or vanish."""
    parts = (similarity.csr.data, similarity.self_loops)
    largest = max((float(part.max()) for part in parts if len(part)), default=0.0)
    if largest == 0.0 or _SMALLEST < largest < _LARGEST:
        return similarity
    exponent = -math.frexp(largest)[1]
    csr = similarity.csr.copy()
    csr.data = np.ldexp(csr.data, exponent)
    return GraphSimilarity(csr, np.ldexp(similarity.self_loops, exponent))
