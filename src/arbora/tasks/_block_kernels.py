"""Moves of nodes between the blocks of a degree-corrected stochastic block model."""

from __future__ import annotations

import numpy as np

from arbora._base.jit import kernel


@kernel()
def pair_term(edges, degree_r, degree_s):
    """Share of a pair of blocks in the log-likelihood."""
    expected = degree_r * degree_s
    # rounding may leave a block that its last node left a little above nothing
    return edges * np.log(edges / expected) if edges > 0.0 and expected > 0.0 else 0.0


@kernel()
def gain_of_move(r, own, other, to_block, edges, degree, node_degree):
    """Log-likelihood of the rows of blocks `own` and `other` after the node has moved from one to the other."""
    total = 0.0
    new_own, new_other = degree[own] - node_degree, degree[other] + node_degree
    for t in range(degree.shape[0]):
        if t in (own, other):
            continue
        total += 2.0 * pair_term(edges[own, t] - to_block[t], max(new_own, 1e-300), degree[t])
        total += 2.0 * pair_term(edges[other, t] + to_block[t], new_other, degree[t])
        total -= 2.0 * pair_term(edges[own, t], degree[own], degree[t])
        total -= 2.0 * pair_term(edges[other, t], degree[other], degree[t])
    within = edges[own, own] - 2.0 * to_block[own]
    across = edges[own, other] + to_block[own] - to_block[other]
    joined = edges[other, other] + 2.0 * to_block[other]
    total += pair_term(within, max(new_own, 1e-300), max(new_own, 1e-300))
    total += 2.0 * pair_term(across, max(new_own, 1e-300), new_other) + pair_term(
        joined, new_other, new_other
    )
    total -= pair_term(edges[own, own], degree[own], degree[own]) + pair_term(
        edges[other, other], degree[other], degree[other]
    )
    return total - 2.0 * pair_term(edges[own, other], degree[own], degree[other])


@kernel(nogil=True)
def edges_between(ptr, col, val, blocks, n_blocks):
    """(edges between every two blocks, sum of each row)."""
    edges = np.zeros((n_blocks, n_blocks))
    for i in range(blocks.shape[0]):
        for e in range(ptr[i], ptr[i + 1]):
            edges[blocks[i], blocks[col[e]]] += val[e]
    return edges, edges.sum(axis=1)


@kernel(nogil=True)
def move_to_best(ptr, col, val, nodes, blocks, edges, degree):
    """Move each node to the neighboring block that raises the log-likelihood most; returns how many moved."""
    n_blocks = degree.shape[0]
    to_block = np.zeros(n_blocks)
    moved = 0
    for i in nodes:
        to_block[:] = 0.0
        node_degree = 0.0
        for e in range(ptr[i], ptr[i + 1]):
            to_block[blocks[col[e]]] += val[e]
            node_degree += val[e]
        own, best, best_gain = blocks[i], blocks[i], 1e-9
        for other in range(n_blocks):
            if other == own or to_block[other] == 0.0:
                continue
            gain = gain_of_move(i, own, other, to_block, edges, degree, node_degree)
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
