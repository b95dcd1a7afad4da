"""The two costs of gHHC with their gradients derived by hand: ranking (Eq. 15) and child–parent margin (Eq.
17).

With ``q = |x - z|² / ((1 - |x|²)(1 - |z|²))`` the distance is ``2 arsinh √q`` and

    ∂d/∂z = s · ((1 + |x - z|² / (1 - |z|²)) z - x),    s = 2 / ((1 - |x|²)(1 - |z|²) √(q (1 + q))),

so the gradient of a sum over points is one product of weights with points, plus a multiple of each node.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arbora._base.types import AnyFloats, Ints
from arbora.hyperbolic.ghhc import _kernels as kernels
from arbora.hyperbolic.ghhc.distances import SMALLEST, NodeTable
from arbora.hyperbolic.ghhc.ranking import Considered, RankingTerms, consider, depth_slope, ranking_terms


class RowGradient(NamedTuple):
    """Euclidean gradient of the nodes `rows` (distinct); the gradient of every other node is zero."""

    rows: Ints
    values: AnyFloats


class RankingCost(NamedTuple):
    """Cost of every triple, gradient by the nodes, and by the points [3, B, d] where asked for."""

    cost: AnyFloats
    nodes: RowGradient
    points: AnyFloats | None


def ranking_cost(
    table: NodeTable,
    points: AnyFloats,
    *,
    temperature: float = 1.0,
    noise: AnyFloats | None = None,
    n_candidates: int | None = None,
    with_points: bool = False,
    n_threads: int = 1,
) -> RankingCost:
    """Ranking cost (Eq. 15) of the triples `points` [3, B, d], where (i, j) is the most similar pair.

    Parameters
    ----------
    temperature : float
        Divides the dissimilarities in the LCA distributions; 1 in the paper.
    noise : float[B, K], optional
        Gumbel noise on the logits of the K nodes considered.
    n_candidates : int, optional
        Consider only this many nodes per triple: the nearest to the pair and to the triple (Eq. 12 and 13
        restricted to them). By default all, which is exact. A node that is left out has no mass in either
        distribution and counts as σ(0) three times, as it does in the exact cost when its mass vanishes.
    with_points : bool
        Also return the gradient by the points.
    n_threads : int
        Threads among which the triples of a large batch are shared.

    Examples
    --------
    >>> import numpy as np
    >>> from arbora.hyperbolic.ghhc.distances import NodeTable
    >>> from arbora.hyperbolic.ghhc.objectives import ranking_cost
    >>> table = NodeTable(np.array([[0.5, 0.0], [0.0, 0.1]]))
    >>> good = np.array([[[0.9, 0.0]], [[0.85, 0.1]], [[-0.9, 0.0]]])
    >>> bad = good[[0, 2, 1]]
    >>> bool(ranking_cost(table, good).cost < ranking_cost(table, bad).cost)
    True
    """
    n_nodes = len(table)
    if points.shape[1] == 0:
        raise ValueError("points must hold at least one triple. Got none.")
    batch, candidates = consider(table, points, n_candidates, noise)
    terms = ranking_terms(batch, float(temperature), n_threads)
    cost = terms.cost + 1.5 * (n_nodes - batch.noise.shape[1])
    if candidates is not None:
        gradient = _sparse_gradient(table, candidates, terms.towards, terms.along, points)
    else:
        values = terms.along.sum(axis=0)[:, None] * table.nodes
        values -= terms.towards.reshape(-1, n_nodes).T @ points.reshape(-1, points.shape[2])
        gradient = RowGradient(np.arange(n_nodes), values)
    by_points = _point_gradient(table, candidates, batch, terms, points) if with_points else None
    return RankingCost(cost, gradient, by_points)


def _sparse_gradient(
    table: NodeTable, candidates: Ints, towards: AnyFloats, along: AnyFloats, points: AnyFloats
) -> RowGradient:
    rows, position = np.unique(candidates), np.zeros(len(table), np.int64)
    position[rows] = np.arange(len(rows))
    values = kernels.scatter_gradient(candidates, towards, along, points, table.nodes, position, len(rows))
    return RowGradient(rows, values)


def _point_gradient(
    table: NodeTable, candidates: Ints | None, batch: Considered, terms: RankingTerms, points: AnyFloats
) -> AnyFloats:
    """By symmetry ``∂d/∂x = s ((1 + |x - z|²/(1 - |x|²)) x - z)``."""
    along = (terms.towards * (1.0 + batch.scores * batch.node_gap / batch.point_gap)).sum(
        axis=2, keepdims=True
    )
    along -= terms.lowered[:, :, None] * depth_slope(batch.point_gap)
    if candidates is None:
        pulled = terms.towards @ table.nodes
    else:
        pulled = np.einsum("ptc,tcd->ptd", terms.towards, table.nodes[candidates], optimize=True)
    return np.asarray(along * points - pulled)


def margin_cost(table: NodeTable, children: Ints, parents: Ints, margin: float) -> tuple[float, RowGradient]:
    """Child–parent margin cost (Eq. 17) of the given edges between nodes, and its gradient by the nodes.

    Examples
    --------
    >>> import numpy as np
    >>> from arbora.hyperbolic.ghhc.distances import NodeTable
    >>> from arbora.hyperbolic.ghhc.objectives import margin_cost
    >>> table = NodeTable(np.array([[0.5, 0.0], [0.0, 0.0]]))
    >>> cost, gradient = margin_cost(table, np.array([0]), np.array([1]), margin=0.0)
    >>> round(cost, 4), gradient.rows.tolist()
    (1.0986, [0, 1])
    """
    child, parent = table.nodes[children], table.nodes[parents]
    child_gap, parent_gap = table.gap[children], table.gap[parents]
    square = np.einsum("ed,ed->e", child - parent, child - parent)
    ratio = np.maximum(square / (child_gap * parent_gap), SMALLEST)
    distance = 2.0 * np.arcsinh(np.sqrt(ratio))
    excess = np.maximum(table.depth[parents] - table.depth[children] + margin, 0.0)
    weight = 1.0 + excess
    slope = (weight * 2.0 / (child_gap * parent_gap * np.sqrt(ratio * (1.0 + ratio))))[:, None]
    push = np.where(excess > 0, distance, 0.0)
    by_child = slope * (child - parent + (square / child_gap)[:, None] * child)
    by_child -= (push * depth_slope(child_gap))[:, None] * child
    by_parent = slope * (parent - child + (square / parent_gap)[:, None] * parent)
    by_parent += (push * depth_slope(parent_gap))[:, None] * parent
    rows, place = np.unique(np.concatenate([children, parents]), return_inverse=True)
    values = np.zeros((len(rows), table.nodes.shape[1]), table.nodes.dtype)
    np.add.at(values, place, np.concatenate([by_child, by_parent]))
    return float((distance * weight).sum()), RowGradient(rows, values)
