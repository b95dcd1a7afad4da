"""The training loop shared by both engines: epochs, decoded cost, early stopping, the best tree so far."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
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


@dataclass
class Progress:
    """Where a restart stands: epochs done, the two curves, and the best tree with the embedding it came from."""

    epoch: int = 0
    since_best: int = 0
    best: tuple[Tree | None, Any, float] = (None, None, np.inf)
    costs: list[float] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)

    def arrays(self) -> dict[str, Any]:
        """All of it, for a checkpoint."""
        tree, embedding, cost = self.best
        kept: dict[str, Any] = {"costs": self.costs, "losses": self.losses, "since_best": self.since_best}
        if tree is not None:
            kept |= {"parent": tree.parent, "embedding": embedding, "cost": cost}
            kept |= {"height": tree.height} if tree.height is not None else {}
        return kept

    @classmethod
    def from_arrays(cls, kept: dict[str, NDArray[Any]]) -> Progress:
        """What `arrays` gave; without any, the beginning."""
        if not kept:
            return cls()
        costs, losses = kept["costs"].tolist(), kept["losses"].tolist()
        best: tuple[Tree | None, Any, float] = (None, None, np.inf)
        if "parent" in kept:
            tree = Tree(kept["parent"], len(kept["embedding"]), height=kept.get("height"))
            best = (tree, kept["embedding"], float(kept["cost"]))
        return cls(len(losses), int(kept["since_best"]), best, costs, losses)


def train(
    engine: Any,
    similarity: Any,
    *,
    n_epochs: int,
    decoder: str,
    patience: int | None,
    restart: int,
    report: Callable[[Epoch], bool],
    progress: Progress,
    keep: Callable[[Progress], None],
) -> Run:
    """Run up to `n_epochs`; keep the embedding whose decoded tree costs least.

    Stops early after `patience` decoded epochs without a better tree, or when `report` returns True. Goes on
    from `progress`, which the engine must have reached; `keep` is told after every epoch.
    """
    now = progress
    while now.epoch < n_epochs and (patience is None or now.since_best < patience):
        epoch = now.epoch
        loss = engine.run_epoch(epoch)
        embedding = engine.embedding
        if not (np.isfinite(loss) and np.isfinite(embedding).all()):
            raise DivergedError(
                f"The loss is no longer finite in epoch {epoch} (restart {restart}). Lower learning_rate, "
                "raise temperature, or scale down the similarities. "
                "The best tree so far is this error's `tree`.",
                now.best[0],
            )
        now.losses.append(loss)
        now.epoch += 1
        stop = False
        if _is_decoded(epoch, n_epochs, len(embedding), decoder, embedding.shape[1]):
            tree = _decoded(engine, embedding, decoder)
            cost = dasgupta_cost(tree, similarity)
            if not np.isfinite(cost):
                raise DivergedError(
                    "The cost of the decoded tree is not finite. Scale down the similarities.", tree
                )
            now.costs.append(cost)
            now.since_best += 1
            if cost < now.best[2]:
                now.best, now.since_best = (tree, embedding, cost), 0
            stop = report(Epoch(epoch, n_epochs, restart, loss, cost, now.best[2], embedding, tree))
        else:
            now.costs.append(np.nan)
        keep(now)
        if stop:
            break
    return Run(*now.best, np.array(now.costs), np.array(now.losses))


def _is_decoded(epoch: int, n_epochs: int, n_leaves: int, decoder: str, dimension: int) -> bool:
    slow = n_leaves > _QUICK_EXACT and (decoder == "exact" or (decoder == "auto" and dimension > 2))
    return not slow or epoch % _DECODE_EVERY == _DECODE_EVERY - 1 or epoch == n_epochs - 1


def _decoded(engine: Any, embedding: NDArray[np.float64], decoder: str) -> Tree:
    if decoder in ("auto", "circle", "greedy") and hasattr(engine, "theta"):
        return decode_circle(engine.theta, engine.radius)
    return decode(embedding, decoder)
