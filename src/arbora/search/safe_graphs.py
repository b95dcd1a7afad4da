"""Graphs as searches read them: weights far from the ends of the range of floats, and all pairs of a similarity."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from arbora._base.memory import refuse_if_too_large
from arbora.errors import TooLargeError
from arbora.similarity import GraphSimilarity, Similarity

# points whose n x n similarities a search may hold as a graph
LARGEST_FILLED_MATRIX = 12_000
# weights whose products with sizes and with each other stay far from the ends of the floating-point range
SAFE_WEIGHTS = (2.0**-200, 2.0**200)


def in_safe_range(graph: GraphSimilarity) -> GraphSimilarity:
    """The graph, or where its weights are near the ends of the floating-point range, one with all of them scaled.

    No comparison of trees depends on the scale. A power of two changes no digit of a weight.
    """
    largest = max(float(graph.csr.data.max(initial=0.0)), float(graph.self_loops.max(initial=0.0)))
    if largest == 0 or SAFE_WEIGHTS[0] <= largest <= SAFE_WEIGHTS[1]:
        return graph
    exponent = -int(np.frexp(largest)[1])
    csr = graph.csr
    data, loops = np.ldexp(csr.data, exponent), np.ldexp(graph.self_loops, exponent)
    return GraphSimilarity(sp.csr_array((data, csr.indices, csr.indptr), shape=csr.shape), loops)


def as_graph(similarity: Similarity) -> GraphSimilarity:
    """All pairs of a similarity as a graph.

    Negative similarities are first raised by a constant: it adds the same to the cost of every binary tree
    (Dasgupta 2016: all trees of a clique cost the same), so the best binary tree does not change.
    """
    n = similarity.n_points
    if n > LARGEST_FILLED_MATRIX:
        raise TooLargeError(
            f"A search on {type(similarity).__name__} holds all n^2 similarities, and stops at "
            f"{LARGEST_FILLED_MATRIX} points. Got {n}. Use similarity.knn(X) or similarity.cosine(X)."
        )
    refuse_if_too_large(
        48 * n * n, f"All pairs of {n} points as a graph", "Use similarity.knn(X) or similarity.cosine(X)."
    )
    matrix = np.empty((n, n))
    for points, rows in similarity.row_blocks():
        matrix[points] = rows
    lowest = matrix[~np.eye(n, dtype=bool)].min() if n > 1 else 0.0
    if lowest < 0:
        matrix -= lowest
    np.fill_diagonal(matrix, 0)
    return GraphSimilarity(sp.csr_array(matrix))
