"""The training loop shared by both engines: epochs, decoded cost, early stopping, the best tree so far."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arbora.errors import DivergedError
from arbora.hyperbolic.hyphc.decode import decode, decode_circle
from arbora.metrics import dasgupta_cost
from arbora.tree import Tree

_QUICK_EXACT = 4096  # above, exact decoding takes seconds: decode every few epochs only
_DECODE_EVERY = 5


class Epoch(NamedTuple):
    """What a callback learns after an epoch.

    Attributes
    ----------
    epoch, n_epochs, restart : int
        Counted from 0.
    loss : float
        Mean loss of the epoch's triples.
    cost : float
        Dasgupta's cost of the decoded tree.
    best_cost : float
        The lowest so far in this restart.
    embedding : ndarray of shape (n, dimension)
    tree : Tree
        Decoded from the embedding.
    """

    epoch: int
    n_epochs: int
    restart: int
    loss: float
    cost: float
    best_cost: float
    embedding: NDArray[np.float64]
    tree: Tree


class Run(NamedTuple):
    """Outcome of one restart: the best tree, where it was found, and the two curves (NaN: not decoded)."""

    tree: Tree
    embedding: NDArray[np.float64]
    cost: float
    costs: NDArray[np.float64]
    losses: NDArray[np.float64]


def train(
    engine: Any,
    similarity: Any,
    *,
    n_epochs: int,
    decoder: str,
    patience: int | None,
    restart: int,
    report: Callable[[Epoch], bool],
) -> Run:
    """Run up to `n_epochs`; keep the embedding whose decoded tree costs least.

    Stops early after `patience` decoded epochs without a better tree, or when `report` returns True.
    """
    best: tuple[Tree | None, Any, float] = (None, None, np.inf)
    costs, losses = [], []
    since_best = 0
    for epoch in range(n_epochs):
        loss = engine.run_epoch(epoch)
        embedding = engine.embedding
        if not (np.isfinite(loss) and np.isfinite(embedding).all()):
            raise DivergedError(
                f"The loss is no longer finite in epoch {epoch} (restart {restart}). Lower learning_rate, "
                "raise temperature, or scale down the similarities. "
                "The best tree so far is this error's `tree`.",
                best[0],
            )
        losses.append(loss)
        if not _is_decoded(epoch, n_epochs, len(embedding), decoder, embedding.shape[1]):
            costs.append(np.nan)
            continue
        tree = _decoded(engine, embedding, decoder)
        cost = dasgupta_cost(tree, similarity)
        costs.append(cost)
        since_best += 1
        if cost < best[2]:
            best, since_best = (tree, embedding, cost), 0
        state = Epoch(epoch, n_epochs, restart, loss, cost, best[2], embedding, tree)
        if report(state) or (patience is not None and since_best >= patience):
            break
    if best[0] is None:  # no cost is below infinity: the similarities are too large to add up
        raise DivergedError("The cost of the decoded tree is not finite. Scale down the similarities.", tree)
    return Run(*best, np.array(costs), np.array(losses))


def _is_decoded(epoch: int, n_epochs: int, n_leaves: int, decoder: str, dimension: int) -> bool:
    slow = n_leaves > _QUICK_EXACT and (decoder == "exact" or (decoder == "auto" and dimension > 2))
    return not slow or epoch % _DECODE_EVERY == _DECODE_EVERY - 1 or epoch == n_epochs - 1


def _decoded(engine: Any, embedding: NDArray[np.float64], decoder: str) -> Tree:
    if decoder in ("auto", "circle", "greedy") and hasattr(engine, "theta"):
        return decode_circle(engine.theta, engine.radius)
    return decode(embedding, decoder)
