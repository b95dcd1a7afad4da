"""What FPH accepts as a graph, and how it becomes a `GraphSimilarity`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp

from arbora._base.distributed import is_dask_frame
from arbora._base.sharing import Shares
from arbora.similarity.graph import GraphSimilarity, is_network
from arbora.similarity.protocol import is_similarity

# between them sums and products of two weights stay far from overflow and from 0
_SMALLEST, _LARGEST = 1e-75, 1e75


def looks_like_graph(X: Any) -> bool:
    """Whether X is a graph as it stands: sparse square, networkx, edges, shards of edges, or similarity."""
    if isinstance(X, tuple) or is_dask_frame(X):
        return True
    if is_similarity(X):
        return X.in_shards() is not None or X.csr is not None
    if sp.issparse(X):
        return bool(X.shape[0] == X.shape[1])
    return is_network(X)


def shares_of(similarity: GraphSimilarity) -> Shares:
    """Where the rows of large steps are processed: where the shards of the graph are, else here."""
    return Shares(similarity.workers)


def of_moderate_weights(similarity: GraphSimilarity) -> GraphSimilarity:
    """The graph, its weights multiplied by a power of two where their squares would overflow or vanish.

    Here: edges in shards are fetched.
    """
    if similarity.in_shards() is not None:
        similarity = GraphSimilarity(similarity.csr, similarity.self_loops)
    parts = (similarity.csr.data, similarity.self_loops)
    largest = max((float(part.max()) for part in parts if len(part)), default=0.0)
    if largest == 0.0 or _SMALLEST < largest < _LARGEST:
        return similarity
    exponent = -math.frexp(largest)[1]
    csr = similarity.csr.copy()
    csr.data = np.ldexp(csr.data, exponent)
    return GraphSimilarity(csr, np.ldexp(similarity.self_loops, exponent))
