"""Numba kernels of gHHC: plain arrays in and out, one pass over a batch each."""

from __future__ import annotations

import math

import numpy as np
from numba import njit


@njit(cache=True)
def ranking_terms(ratio, node_depth, point_depth, noise, temperature):
    """Ranking cost (Eq. 15) of every triple and its derivatives, over the given candidate nodes.

    Parameters
    ----------
    ratio : float[3, B, K]
        ``|x - z|^2 / ((1 - |x|^2)(1 - |z|^2))`` for the points i, j, k of a triple and its K candidates.
    node_depth : float[B, K], point_depth : float[3, B]
        Hyperbolic norms, for the penalty of Eq. 3.
    noise : float[B, K]
        Added to the logits of both LCA distributions (zeros: no exploration).

    Returns
    -------
    cost : float64[B]
    slope : float[3, B, K]
        Derivative by the hyperbolic distance of point and node.
    push : float[3, B, K]
        Derivative by the hyperbolic norm of the node (the penalty's part; the point's is its negative).
    """
    n_triples, n_candidates = node_depth.shape
    cost = np.zeros(n_triples)
    slope = np.empty_like(ratio)
    push = np.zeros_like(ratio)
    distance = np.empty((3, n_candidates))
    penalty = np.empty((3, n_candidates))
    pair = np.empty(n_candidates)
    triple = np.empty(n_candidates)
    pull = np.empty(n_candidates)
    lift = np.empty((3, n_candidates))
    far_pair = np.empty(n_candidates, dtype=np.int64)
    far_triple = np.empty(n_candidates, dtype=np.int64)
    for t in range(n_triples):
        best, top_pair, top_triple = 0, -np.inf, -np.inf
        for n in range(n_candidates):
            for p in range(3):
                distance[p, n] = 2.0 * math.asinh(math.sqrt(ratio[p, t, n]))
                penalty[p, n] = 1.0 + max(node_depth[t, n] - point_depth[p, t], 0.0)
            d_i = distance[0, n] * penalty[0, n]
            d_j = distance[1, n] * penalty[1, n]
            d_k = distance[2, n] * penalty[2, n]
            far_pair[n] = 0 if d_i >= d_j else 1
            largest = max(d_i, d_j)
            far_triple[n] = far_pair[n] if largest >= d_k else 2
            pair[n] = noise[t, n] - largest / temperature
            triple[n] = noise[t, n] - max(largest, d_k) / temperature
            if pair[n] > top_pair:
                best, top_pair = n, pair[n]
        for n in range(n_candidates):
            if n != best:
                top_triple = max(top_triple, triple[n])
        total_pair, total_triple = 0.0, 0.0
        for n in range(n_candidates):
            pair[n] = math.exp(pair[n] - top_pair)
            triple[n] = 0.0 if n == best else math.exp(triple[n] - top_triple)
            total_pair += pair[n]
            total_triple += triple[n]
        mean_pair, mean_triple = 0.0, 0.0
        for n in range(n_candidates):
            pair[n] /= total_pair
            if total_triple > 0.0:
                triple[n] /= total_triple
            change = pair[n] - triple[n]
            pull[n] = 0.0
            for p in range(3):
                sign = -1.0 if p == 2 else 1.0
                dissimilarity = distance[p, n] * penalty[p, n]
                sigmoid = 1.0 / (1.0 + math.exp(-sign * dissimilarity * change))
                steep = sigmoid * (1.0 - sigmoid) * sign
                cost[t] += sigmoid
                lift[p, n] = steep * change
                pull[n] += steep * dissimilarity
            mean_pair += pull[n] * pair[n]
            mean_triple += pull[n] * triple[n]
        for n in range(n_candidates):
            # softmax backwards; the maximum of Eq. 12 and 14 passes it to the farthest of the points
            lift[far_pair[n], n] -= pair[n] * (pull[n] - mean_pair) / temperature
            lift[far_triple[n], n] += triple[n] * (pull[n] - mean_triple) / temperature
            for p in range(3):
                slope[p, t, n] = lift[p, n] * penalty[p, n]
                if penalty[p, n] > 1.0:
                    push[p, t, n] = lift[p, n] * distance[p, n]
    return cost, slope, push
