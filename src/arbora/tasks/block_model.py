"""Degree-corrected stochastic block model (Karrer and Newman 2011): a baseline for link prediction.

The number of blocks is chosen by description length: moves and merges of blocks are taken as long as the
log-likelihood, less half the logarithm of the number of edges for each pair of blocks, grows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from arbora._base.memory import refuse_if_too_large
from arbora._base.pieces import pieces_of
from arbora._base.random import numpy_generator
from arbora._base.types import Floats, Ints, RandomState
from arbora.linkages.modularity import merged_communities
from arbora.similarity.graph import GraphSimilarity
from arbora.tasks._block_kernels import edges_between, move_to_best

# of each community, at random
_PARTS = (1, 2, 3, 4, 6, 8)
# pairs of blocks whose likelihood is computed in about a tenth of a second, after which Ctrl-C is noticed
_STEPS_PER_CALL = 1_000_000


def fit_block_model(
    similarity: GraphSimilarity, random_state: RandomState = None, n_sweeps: int = 20
) -> Ints:
    """Block of every node: Louvain's communities, then single nodes move wherever the likelihood grows most.

    Communities are first split in two at random as long as that pays after the moves.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from arbora.similarity import graph
    >>> from arbora.tasks.block_model import fit_block_model
    >>> two_cliques = graph(sp.csr_array(np.kron(np.eye(2), np.ones((8, 8)) - np.eye(8))))
    >>> blocks = fit_block_model(two_cliques, random_state=0)
    >>> len(set(blocks[:8])), len(set(blocks[8:])), bool(blocks[0] == blocks[8])
    (1, 1, False)
    """
    rng = numpy_generator(random_state)
    csr = similarity.csr
    if csr.nnz == 0:
        return np.zeros(csr.shape[0], dtype=np.int64)
    start = merged_communities(csr)
    _refuse_too_many(min(max(_PARTS) * (int(start.max()) + 1), len(start)))
    best, best_score = start, -np.inf
    for n_parts in _PARTS:
        blocks = start * n_parts + rng.integers(0, n_parts, len(start))
        blocks = np.unique(blocks, return_inverse=True)[1]
        for _ in range(n_sweeps):
            order = rng.permutation(len(blocks))
            moved = _sweep(similarity, order, blocks)
            if moved < 0.005 * len(blocks):
                break
        blocks = np.unique(blocks, return_inverse=True)[1]
        score = _log_likelihood(similarity, blocks) - _penalty(similarity, blocks)
        if score > best_score:
            best, best_score = blocks, score
    return np.asarray(best, dtype=np.int64)


def _sweep(similarity: GraphSimilarity, order: Ints, blocks: Ints) -> int:
    """Move each node, in this order, to the block that raises the log-likelihood most; returns how many moved."""
    csr, k = similarity.csr, int(blocks.max()) + 1
    graph = csr.indptr, csr.indices, csr.data
    edges, degree = edges_between(*graph, blocks, k)
    # of each block beside a node, the edges to all blocks are read
    work = k * np.minimum(np.diff(csr.indptr)[order], k) + k
    pieces = pieces_of(np.append(0, np.cumsum(work)), _STEPS_PER_CALL)
    return sum(move_to_best(*graph, order[first:last], blocks, edges, degree) for first, last in pieces)


def block_model_scores(blocks: Ints, similarity: GraphSimilarity, pairs: ArrayLike) -> Floats:
    """Expected number of edges of each pair: degrees times the blocks' affinity.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from arbora.similarity import graph
    >>> from arbora.tasks.block_model import block_model_scores
    >>> two_cliques = graph(sp.csr_array(np.kron(np.eye(2), np.ones((4, 4)) - np.eye(4))))
    >>> block_model_scores(np.repeat([0, 1], 4), two_cliques, [(0, 1), (0, 7)]).round(2).tolist()
    [0.75, 0.0]
    """
    degree = np.asarray(similarity.csr.sum(axis=1)).ravel()
    edges, block_degree = _block_sums(similarity, blocks)
    affinity = edges / np.maximum(np.outer(block_degree, block_degree), 1e-300)
    i, j = np.asarray(pairs).T
    return np.asarray(degree[i] * degree[j] * affinity[blocks[i], blocks[j]], dtype=np.float64)


def _refuse_too_many(n_blocks: int) -> None:
    refuse_if_too_large(
        32 * n_blocks**2, f"Edges between {n_blocks:,} blocks", "Use one component of the graph."
    )


def _block_sums(similarity: GraphSimilarity, blocks: Ints) -> tuple[Floats, Floats]:
    k = int(blocks.max()) + 1
    _refuse_too_many(k)
    coo = similarity.csr.tocoo()
    sums = np.bincount(blocks[coo.row] * k + blocks[coo.col], coo.data, minlength=k * k)
    edges = np.asarray(sums, dtype=np.float64).reshape(k, k)
    return edges, np.asarray(edges.sum(axis=1))


def _log_likelihood(similarity: GraphSimilarity, blocks: Ints) -> float:
    edges, degree = _block_sums(similarity, blocks)
    expected = np.outer(degree, degree)
    inside = edges > 0
    return 0.5 * float(np.sum(edges[inside] * np.log(edges[inside] / expected[inside])))


def _penalty(similarity: GraphSimilarity, blocks: Ints) -> float:
    k = int(blocks.max()) + 1
    return float(0.25 * k * (k + 1) * np.log(similarity.n_edges) + len(blocks) * np.log(k))
