"""How spread an embedding is (Def. 4.1 of HypHC), and what that says about its cost (Thm. 4.1)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arbora._base.memory import refuse_if_too_large
from arbora._base.random import numpy_generator
from arbora._base.types import Floats, Ints, RandomState
from arbora.hyperbolic import _spread_kernels as kernels
from arbora.hyperbolic.hyphc.decode import _checked, _gaps
from arbora.metrics import dasgupta_bounds

GROMOV_DELTA = math.log(1 + math.sqrt(2))  # how thin triangles of the hyperbolic plane are
_EXACT_UP_TO = 400  # leaves up to which all triples, 10.6 million, are examined


class Spread(NamedTuple):
    """What `measure_spread` reports.

    Attributes
    ----------
    spread : float
        Least difference between the deepest and the shallowest of the three ancestors of a triple.
    margin : float
        Least difference between the deepest and the second deepest: what the softmax sees.
    required : float
        `GROMOV_DELTA` times n, the order of spread that Def. 4.1 asks for.
    is_spread : bool
        Whether ``spread > required``.
    epsilon : float
        If a minimizer of the continuous cost has this margin, and so has an embedding of the best tree, then
        the decoded tree costs at most ``1 + epsilon`` times the best. Infinity if the margin gives no bound.
    n_triples : int
        Triples examined.
    is_exact : bool
        Whether these were all; otherwise spread and margin are upper estimates from a sample.
    """

    spread: float
    margin: float
    required: float
    is_spread: bool
    epsilon: float
    n_triples: int
    is_exact: bool


def measure_spread(
    embedding: ArrayLike,
    temperature: float,
    similarity: Any = None,
    *,
    n_triples: int = 1_000_000,
    random_state: int | None = 0,
) -> Spread:
    """How spread an embedding is, and the bound on the ratio of costs that follows.

    With margin m, the softmax puts at least 1 - η on the deepest ancestor, η = 2 exp(-m / temperature), so on
    each triple the continuous and the discrete cost differ by at most η times its range of similarities.
    Twice the sum of that over all triples, against the cost of the best tree, is epsilon. Without a
    similarity the sum is bounded by (n - 2) Σw and the best tree costs at least 2 Σw: epsilon = η (n - 2).
    With one, the range is that between `arbora.metrics.dasgupta_bounds`, and the lower bound stands for the
    best tree, which is much sharper.

    Parameters
    ----------
    embedding : array-like of shape (n, d)
        Leaves in the ball.
    temperature : float
        Of the cost that was minimized.
    similarity : Similarity, optional
    n_triples : int
        Above 400 leaves, examine this many random triples.
    random_state : int or None

    Examples
    --------
    >>> import arbora as ab
    >>> from arbora.hyperbolic.sarkar import sarkar_embedding
    >>> from arbora.hyperbolic.spread import measure_spread
    >>> tree = ab.Tree.from_newick("((a,b),(c,d));")
    >>> report = measure_spread(sarkar_embedding(tree)[:4], temperature=0.5)
    >>> report.is_spread, report.epsilon < 1e-4
    (True, True)
    """
    points = _checked(embedding)
    n = len(points)
    if not temperature > 0:
        raise ValueError(f"temperature must be positive. Got {temperature!r}.")
    if n < 3:
        return Spread(math.inf, math.inf, GROMOV_DELTA * n, True, 0.0, 0, True)
    is_exact = n <= _EXACT_UP_TO
    if is_exact:
        found, margin = kernels.least_margins(lca_depths(points))
        n_triples = n * (n - 1) * (n - 2) // 6
    else:
        found, margin = _sampled_margins(points, n_triples, random_state)
    loss = 2 * math.exp(-margin / temperature)
    epsilon = loss * _cost_per_loss(similarity, n) if loss < 1 else math.inf
    required = GROMOV_DELTA * n
    return Spread(float(found), float(margin), required, found > required, epsilon, n_triples, is_exact)


def _cost_per_loss(similarity: Any, n: int) -> float:
    if similarity is None:
        return float(n - 2)
    lower, upper = dasgupta_bounds(similarity)
    return 2 * (upper - lower) / lower if lower > 0 else math.inf


def lca_depths(embedding: ArrayLike) -> NDArray[np.float64]:
    """Depth of the LCA of every pair of leaves, float64[n, n]; for a few thousand leaves."""
    points = _checked(embedding)
    n = len(points)
    refuse_if_too_large(48 * n * n, f"The depths of all pairs of {n} leaves", "Use some of the leaves.")
    i, j = np.triu_indices(n)
    depths = np.empty((len(points), len(points)))
    depths[i, j] = depths[j, i] = _depths(points, _gaps(points), i, j)
    return depths


def _depths(points: Floats, gaps: Floats, i: Ints, j: Ints) -> Floats:
    from arbora.hyperbolic.hyphc._decode_kernels import ancestor_gaps

    return np.asarray(np.arccosh(np.maximum(1 / np.sqrt(ancestor_gaps(points, gaps, i, j)), 1.0)))


def _sampled_margins(points: Floats, n_triples: int, random_state: RandomState) -> tuple[float, float]:
    rng = numpy_generator(random_state)
    n, gaps = len(points), _gaps(points)
    found, margin = math.inf, math.inf
    for first in range(0, n_triples, 1 << 18):
        count = min(1 << 18, n_triples - first)
        i = rng.integers(n, size=count)
        j = (i + rng.integers(1, n, size=count)) % n
        k = rng.integers(n, size=count)
        keep = (k != i) & (k != j)
        pairs = ((i[keep], j[keep]), (i[keep], k[keep]), (j[keep], k[keep]))
        depths = np.sort(np.stack([_depths(points, gaps, a, b) for a, b in pairs]), axis=0)
        found = min(found, float((depths[2] - depths[0]).min(initial=math.inf)))
        margin = min(margin, float((depths[2] - depths[1]).min(initial=math.inf)))
    return found, margin
