"""The ranking cost of gHHC (Eq. 15) and its derivatives, over the nodes considered for each triple.

Plain NumPy, whose square roots, inverse hyperbolic sines and exponentials run in vector registers, while those
of compiled loops do not. Triples are taken in blocks that stay in the cache, shared among the cores.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arbora._base.threads import in_turns
from arbora._base.types import AnyFloats, Ints
from arbora.hyperbolic.ghhc import _kernels as kernels
from arbora.hyperbolic.ghhc.distances import SMALLEST, NodeTable, depths, gaps
from arbora.hyperbolic.ghhc.model import ancestors

# scores worked on at a time: the arrays over them stay in the cache
BLOCK = 240_000


class Considered(NamedTuple):
    """Triples (i, j, k) against the K nodes considered for each.

    Attributes
    ----------
    scores : float[3, B, K]
        ``|x - z|² / (1 - |z|²)`` for the points of a triple and its nodes.
    node_gap, node_depth : float[B, K]
        ``1 - |z|²`` and the hyperbolic norm of the nodes.
    point_gap, point_depth : float[3, B, 1]
        The same of the points.
    noise : float[B, K]
        Added to the logits of both LCA distributions.
    """

    scores: AnyFloats
    node_gap: AnyFloats
    node_depth: AnyFloats
    point_gap: AnyFloats
    point_depth: AnyFloats
    noise: AnyFloats

    def of_triples(self, rows: slice) -> Considered:
        """The part of some triples."""
        return Considered(
            self.scores[:, rows],
            self.node_gap[rows],
            self.node_depth[rows],
            self.point_gap[:, rows],
            self.point_depth[:, rows],
            self.noise[rows],
        )


def consider(
    table: NodeTable, points: AnyFloats, n_candidates: int | None, noise: AnyFloats | None
) -> tuple[Considered, Ints | None]:
    """The triples `points` [3, B, d] against all nodes, or the `n_candidates` nearest; and which these are."""
    scores, n_triples = table.scores(points), points.shape[1]
    candidates = None
    if n_candidates is not None and n_candidates < len(table):
        candidates = kernels.nearest_candidates(scores, max(n_candidates, 2))
        scores = kernels.take_candidates(scores, candidates)
        nodes = table.gap[candidates], table.depth[candidates]
    else:
        shape = (n_triples, len(table))
        nodes = np.broadcast_to(table.gap, shape), np.broadcast_to(table.depth, shape)
    noise = (
        np.zeros(scores.shape[1:], scores.dtype) if noise is None else noise.astype(scores.dtype, copy=False)
    )
    return Considered(scores, *nodes, gaps(points)[..., None], depths(points)[..., None], noise), candidates


class RankingTerms(NamedTuple):
    """Cost of every triple, float[B], and what its derivatives are made of.

    A point x adds ``-towards * x`` to the gradient of a node z, and its triple ``along * z``. `lowered` is the
    derivative by the hyperbolic norm of each point, through the penalties, with the sign reversed.
    """

    cost: AnyFloats
    # [3, B, K]
    towards: AnyFloats
    # [B, K]
    along: AnyFloats
    # [3, B]
    lowered: AnyFloats


def ranking_terms(batch: Considered, temperature: float, n_threads: int = 1) -> RankingTerms:
    """Ranking cost of all triples and its derivatives; the result does not depend on the threads."""
    _, n_triples, n_nodes = batch.scores.shape
    step = max(1, BLOCK // (3 * n_nodes))
    starts = range(0, n_triples, step)
    if len(starts) == 1:
        return _block_terms(batch, temperature)
    scores = batch.scores
    out = RankingTerms(
        np.empty(n_triples), np.empty_like(scores), np.empty_like(scores[0]), np.empty_like(scores[:, :, 0])
    )

    def compute(first: int) -> None:
        rows = slice(first, first + step)
        found = _block_terms(batch.of_triples(rows), temperature)
        out.cost[rows], out.along[rows] = found.cost, found.along
        out.towards[:, rows], out.lowered[:, rows] = found.towards, found.lowered

    in_turns(compute, starts, n_threads)
    return out


def _block_terms(batch: Considered, temperature: float) -> RankingTerms:
    ratio = np.maximum(batch.scores / batch.point_gap, batch.scores.dtype.type(SMALLEST))
    distance = 2.0 * np.arcsinh(np.sqrt(ratio))
    excess = _excess(batch)
    # Eq. 3
    dissimilarity = distance if excess is None else distance * (1.0 + excess)
    pair, triple = ancestors(dissimilarity, batch.noise, temperature)
    change = pair - triple
    # 2 σ - 1, to the last digits where σ is nearly a half
    half = np.tanh(0.5 * change * dissimilarity)
    slope = 0.25 - 0.25 * half * half
    # the points i and j should be near the LCA of the pair, k far from it
    slope[2] *= -1.0
    lift = slope * change
    _add_softmax_backwards(
        lift, dissimilarity, pair, triple, (slope * dissimilarity).sum(axis=0), temperature
    )
    towards = 2.0 * lift / (batch.point_gap * batch.node_gap * np.sqrt(ratio * (1.0 + ratio)))
    lowered = np.zeros_like(ratio[:, :, 0])
    if excess is not None:
        towards *= 1.0 + excess
        push = (excess > 0) * lift * distance
        lowered = push.sum(axis=2)
    along = (towards * (1.0 + batch.scores)).sum(axis=0)
    if excess is not None:
        along += push.sum(axis=0) * depth_slope(batch.node_gap)
    by_point = half.sum(axis=2, dtype=np.float64)
    cost = 1.5 * ratio.shape[2] + 0.5 * (by_point[0] + by_point[1] - by_point[2])
    return RankingTerms(cost, towards, along, lowered)


def _excess(batch: Considered) -> AnyFloats | None:
    """By how much the norms of nodes exceed those of points; None where none does, as in training by `GHHC`."""
    if batch.node_depth.max() <= batch.point_depth.min():
        return None
    return np.maximum(batch.node_depth - batch.point_depth, 0.0)


def _add_softmax_backwards(
    lift: AnyFloats,
    dissimilarity: AnyFloats,
    pair: AnyFloats,
    triple: AnyFloats,
    pull: AnyFloats,
    temperature: float,
) -> None:
    """Derivatives through the two distributions; the maxima of Eq. 12 and 14 pass them to the farthest point."""
    by_pair, by_triple = (
        mass * (pull - (pull * mass).sum(axis=1, keepdims=True)) / temperature for mass in (pair, triple)
    )
    i, j, k = dissimilarity
    to_third = (k > np.maximum(i, j)) * by_triple
    to_farther = by_triple - to_third - by_pair
    to_first = (i >= j) * to_farther
    lift[0] += to_first
    lift[1] += to_farther - to_first
    lift[2] += to_third


def depth_slope(gap: AnyFloats) -> AnyFloats:
    """``∂(2 artanh |z|)/∂z`` divided by z: ``2 / ((1 - |z|²) |z|)``, finite at the origin."""
    return np.asarray(2.0 / (gap * np.sqrt(np.maximum(1.0 - gap, SMALLEST))))
