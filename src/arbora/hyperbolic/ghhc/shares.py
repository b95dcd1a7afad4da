"""The ranking cost of a batch, its triples shared out among the workers of a cluster."""

from __future__ import annotations

import numpy as np

from arbora._base.sharing import Shares, share_bounds
from arbora._base.types import AnyFloats, Ints
from arbora.hyperbolic.ghhc.distances import NodeTable
from arbora.hyperbolic.ghhc.objectives import RankingCost, RowGradient, ranking_cost

# Scores of a batch below which it takes longer to send the triples than to work on them.
_WORTH_SENDING = 1 << 22


class SharedRankingCost:
    """`ranking_cost` of a batch as the sum over a fixed number of shares of its triples, added in order.

    Equal to that of the whole batch up to rounding, and to itself to the last bit, no matter which worker computes
    the shares.
    """

    def __init__(self, shares: Shares) -> None:
        self._shares = shares

    def __call__(
        self,
        table: NodeTable,
        points: AnyFloats,
        *,
        temperature: float = 1.0,
        noise: AnyFloats | None = None,
        n_candidates: int | None = None,
        with_points: bool = False,
        n_threads: int = 1,
    ) -> RankingCost:
        """As `ranking_cost`."""
        bounds = share_bounds(points.shape[1])
        considered = len(table) if n_candidates is None else min(n_candidates, len(table))
        found = self._shares.run(
            _cost_of_share,
            (table, temperature, n_candidates, with_points),
            [(points[:, first:last], None if noise is None else noise[first:last]) for first, last in bounds],
            here=3 * points.shape[1] * considered < _WORTH_SENDING,
        )
        return RankingCost(
            np.concatenate([part.cost for part in found]),
            _added([part.nodes for part in found], len(table)),
            np.concatenate([part.points for part in found], axis=1) if with_points else None,
        )


def _cost_of_share(
    table: NodeTable,
    temperature: float,
    n_candidates: int | None,
    with_points: bool,
    points: AnyFloats,
    noise: AnyFloats | None,
) -> RankingCost:
    # values that are not finite are detected when the nodes move
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        return ranking_cost(
            table,
            np.ascontiguousarray(points),
            temperature=temperature,
            noise=noise,
            n_candidates=n_candidates,
            with_points=with_points,
        )


def _added(parts: list[RowGradient], n_nodes: int) -> RowGradient:
    """Sum of gradients, in order."""
    touched = np.zeros(n_nodes, bool)
    for part in parts:
        touched[part.rows] = True
    rows: Ints = np.flatnonzero(touched)
    place = np.cumsum(touched) - 1
    values = np.zeros((len(rows), parts[0].values.shape[1]), parts[0].values.dtype)
    for part in parts:
        values[place[part.rows]] += part.values
    return RowGradient(rows, values)
