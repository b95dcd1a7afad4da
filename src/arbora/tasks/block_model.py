"""Degree-corrected stochastic block model (Karrer and Newman 2011): a baseline for link prediction.

The number of blocks is chosen by description length: moves and merges of blocks are taken as long as the
log-likelihood, less half a logarithm of the number of edges for each pair of blocks, grows.
"""

from __future__ import annotations

import numpy as np

from arbora._base.jit import kernel
from arbora.similarity.graph import GraphSimilarity


def fit_block_model(similarity: GraphSimilarity, random_state=None, n_sweeps: int = 20) -> np.ndarray:
    """Block of every node: Louvain's communities, then single nodes move wherever the likelihood grows most.

    Communities are first split in two at random as long as that pays after the moves.
    """
    from scipy.sparse import csr_matrix
    from sknetwork.clustering import Louvain

    rng = np.random.default_rng(random_state)
    csr = similarity.csr
    start = Louvain(random_state=int(rng.integers(2**31))).fit_predict(csr_matrix(csr)).astype(np.int64)
    best, best_score = None, -np.inf
    for n_parts in (1, 2, 3, 4, 6, 8):
        blocks = start * n_parts + rng.integers(0, n_parts, len(start))
        blocks = np.unique(blocks, return_inverse=True)[1]
        for _ in range(n_sweeps):
            order = rng.permutation(len(blocks))
            moved = _sweep(csr.indptr, csr.indices, csr.data, order, blocks, blocks.max() + 1)
            if moved < 0.005 * len(blocks):
                break
        blocks = np.unique(blocks, return_inverse=True)[1]
        score = _log_likelihood(similarity, blocks) - _penalty(similarity, blocks)
        if score > best_score:
            best, best_score = blocks, score
    return best


def block_model_scores(blocks, similarity: GraphSimilarity, pairs) -> np.ndarray:
    """Expected number of edges of each pair: degrees times the blocks' affinity."""
    pairs = np.asarray(pairs)
    degree = np.asarray(similarity.csr.sum(axis=1)).ravel()
    edges, block_degree = _block_sums(similarity, blocks)
    affinity = edges / np.maximum(np.outer(block_degree, block_degree), 1e-300)
    i, j = pairs.T
    return degree[i] * degree[j] * affinity[blocks[i], blocks[j]]


def _block_sums(similarity, blocks):
    k = int(blocks.max()) + 1
    coo = similarity.csr.tocoo()
    edges = np.bincount(blocks[coo.row] * k + blocks[coo.col], coo.data, minlength=k * k).reshape(k, k)
    return edges, edges.sum(axis=1)


def _log_likelihood(similarity, blocks):
    edges, degree = _block_sums(similarity, blocks)
    expected = np.outer(degree, degree)
    inside = edges > 0
    return 0.5 * float(np.sum(edges[inside] * np.log(edges[inside] / expected[inside])))


def _penalty(similarity, blocks):
    k = int(blocks.max()) + 1
    return 0.25 * k * (k + 1) * np.log(similarity.n_edges) + len(blocks) * np.log(k)


@kernel()
def _term(edges, degree_r, degree_s):
    """Share of a pair of blocks in the log-likelihood."""
    return edges * np.log(edges / (degree_r * degree_s)) if edges > 0.0 else 0.0


@kernel()
def _gain(r, own, other, to_block, edges, degree, node_degree):
    """Log-likelihood of the rows of blocks `own` and `other` after the node has moved from one to the other."""
    total = 0.0
    new_own, new_other = degree[own] - node_degree, degree[other] + node_degree
    for t in range(degree.shape[0]):
        if t in (own, other):
            continue
        total += 2.0 * _term(edges[own, t] - to_block[t], max(new_own, 1e-300), degree[t])
        total += 2.0 * _term(edges[other, t] + to_block[t], new_other, degree[t])
        total -= 2.0 * _term(edges[own, t], degree[own], degree[t])
        total -= 2.0 * _term(edges[other, t], degree[other], degree[t])
    within = edges[own, own] - 2.0 * to_block[own]
    across = edges[own, other] + to_block[own] - to_block[other]
    joined = edges[other, other] + 2.0 * to_block[other]
    total += _term(within, max(new_own, 1e-300), max(new_own, 1e-300))
    total += 2.0 * _term(across, max(new_own, 1e-300), new_other) + _term(joined, new_other, new_other)
    total -= _term(edges[own, own], degree[own], degree[own]) + _term(
        edges[other, other], degree[other], degree[other]
    )
    return total - 2.0 * _term(edges[own, other], degree[own], degree[other])


@kernel()
def _sweep(ptr, col, val, order, blocks, n_blocks):
    """Move each node to the neighboring block that raises the log-likelihood most; returns how many moved."""
    edges = np.zeros((n_blocks, n_blocks))
    for i in range(blocks.shape[0]):
        for e in range(ptr[i], ptr[i + 1]):
            edges[blocks[i], blocks[col[e]]] += val[e]
    degree = edges.sum(axis=1)
    to_block = np.zeros(n_blocks)
    moved = 0
    for i in order:
        to_block[:] = 0.0
        node_degree = 0.0
        for e in range(ptr[i], ptr[i + 1]):
            to_block[blocks[col[e]]] += val[e]
            node_degree += val[e]
        own, best, best_gain = blocks[i], blocks[i], 1e-9
        for other in range(n_blocks):
            if other == own or to_block[other] == 0.0:
                continue
            gain = _gain(i, own, other, to_block, edges, degree, node_degree)
            if gain > best_gain:
                best, best_gain = other, gain
        if best != own:
            moved += 1
            blocks[i] = best
            for t in range(n_blocks):
                edges[own, t] -= to_block[t]
                edges[t, own] -= to_block[t]
                edges[best, t] += to_block[t]
                edges[t, best] += to_block[t]
            degree[own] -= node_degree
            degree[best] += node_degree
    return moved
