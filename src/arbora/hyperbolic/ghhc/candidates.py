"""How many nodes must be considered as ancestors of a triple, so that the others have negligible mass."""

from __future__ import annotations

import numpy as np

from arbora._base.types import AnyFloats
from arbora.hyperbolic.ghhc import _kernels as kernels
from arbora.hyperbolic.ghhc.distances import NodeTable
from arbora.hyperbolic.ghhc.model import lca_distributions

# nodes: all of them are always considered where there are no more
EXACT_UP_TO = 512
CHOICES = (128, 256, 512, 1024)
# share of the nodes: picking more of them takes longer than considering all
WORTHWHILE_SHARE = 0.25
NEGLIGIBLE_MASS = 0.01
# triples of a batch by which the choice is made
SAMPLED = 32


def choose_candidates(table: NodeTable, points: AnyFloats, temperature: float) -> int | None:
    """The fewest nearest nodes that leave out negligible mass for the triples `points` [3, B, d]; None: all nodes.

    Examples
    --------
    >>> import numpy as np
    >>> from arbora.hyperbolic.ghhc.distances import NodeTable
    >>> rng = np.random.default_rng(0)
    >>> directions = rng.normal(size=(2000, 3))
    >>> directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    >>> table, triples = NodeTable(0.8 * directions), 0.99 * directions[:9].reshape(3, 3, 3)
    >>> [choose_candidates(table, triples, temperature) for temperature in (0.01, 1.0)]
    [128, None]
    """
    if len(table) <= EXACT_UP_TO:
        return None
    points = points[:, :SAMPLED]
    masses = lca_distributions(table, points, temperature)
    scores = table.scores(points)
    for n_candidates in CHOICES:
        if n_candidates > WORTHWHILE_SHARE * len(table):
            break
        if max(_left_out(scores, masses, n_candidates)) <= NEGLIGIBLE_MASS:
            return n_candidates
    return None


def left_out_mass(
    table: NodeTable, points: AnyFloats, temperature: float, n_candidates: int
) -> tuple[float, float]:
    """Mean mass of the LCA distributions of pairs and of triples beyond the nearest nodes."""
    return _left_out(table.scores(points), lca_distributions(table, points, temperature), n_candidates)


def _left_out(
    scores: AnyFloats, masses: tuple[AnyFloats, AnyFloats], n_candidates: int
) -> tuple[float, float]:
    near = kernels.nearest_candidates(scores, n_candidates)
    pair, triple = (1.0 - float(np.take_along_axis(mass, near, axis=1).sum(axis=1).mean()) for mass in masses)
    return pair, triple
