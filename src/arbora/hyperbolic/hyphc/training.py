"""Training from one start: epochs, decoded cost, early stopping, the best tree so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from arbora._base.types import Floats
from arbora.errors import DivergedError
from arbora.hyperbolic.hyphc.decode import Decoder
from arbora.metrics import dasgupta_cost
from arbora.similarity.protocol import Similarity
from arbora.tree import Tree

# above, exact decoding takes seconds: decode every few epochs only
_QUICK_EXACT = 4096
_DECODE_EVERY = 5


class LeafMover(Protocol):
    """What moves the leaves."""

    @property
    def embedding(self) -> Floats:
        """Leaves in the ball: float64[n, d]."""

    def run_epoch(self, epoch: int) -> float:
        """Train on the triples of one epoch; the mean loss of a triple."""

    def decode(self, decoder: Decoder) -> Tree:
        """Tree of the leaves as they are."""

    def state(self) -> dict[str, NDArray[Any]]:
        """Arrays from which `load` resumes to the same result."""

    def load(self, state: dict[str, NDArray[Any]]) -> None:
        """Resume from a `state`."""


class Best(NamedTuple):
    """The cheapest tree so far, and the embedding it was decoded from."""

    tree: Tree
    embedding: Floats
    cost: float


class Outcome(NamedTuple):
    """The outcome of training from one start: the best tree, and the training curve."""

    best: Best
    history: list[tuple[int, float, float]]


@dataclass
class Run:
    """Training from one start, an epoch at a time.

    Attributes
    ----------
    number : int
        Which start it is, from 0.
    epoch : int
        Epochs done.
    best : Best or None
    history : list of (epoch, loss, cost)
        Epochs from 1, mean loss of a triple, cost of the decoded tree (NaN: not decoded).
    """

    engine: LeafMover
    similarity: Similarity
    max_epochs: int
    decoder: Decoder
    patience: int | None
    number: int = 0
    epoch: int = 0
    since_best: int = 0
    is_stopped: bool = False
    best: Best | None = None
    history: list[tuple[int, float, float]] = field(default_factory=list)
    tree: Tree | None = None

    @property
    def is_over(self) -> bool:
        """Whether all epochs are done, nothing has improved for too long, or a callback asked to stop."""
        is_stale = self.patience is not None and self.since_best >= self.patience
        return self.is_stopped or is_stale or self.epoch >= self.max_epochs

    def advance(self) -> None:
        """Run one epoch; remember the embedding if its decoded tree is the cheapest so far."""
        loss = self.engine.run_epoch(self.epoch)
        embedding = self.engine.embedding
        if not (np.isfinite(loss) and np.isfinite(embedding).all()):
            raise DivergedError(
                f"The loss is no longer finite in epoch {self.epoch} (start {self.number}). Lower learning_rate, "
                "raise temperature, or scale down the similarities. "
                "The best tree so far is this error's `tree`.",
                None if self.best is None else self.best.tree,
            )
        self.epoch += 1
        self.tree, cost = None, np.nan
        if self._is_decoded(embedding):
            cost = self._judge(self.decoded(), embedding)
        self.history.append((self.epoch, loss, cost))

    def decoded(self) -> Tree:
        """Tree of the leaves as they are; decoded now if the last epoch was not."""
        if self.tree is None:
            self.tree = self.engine.decode(self.decoder)
        return self.tree

    def _judge(self, tree: Tree, embedding: Floats) -> float:
        cost = float(dasgupta_cost(tree, self.similarity))
        if not np.isfinite(cost):
            raise DivergedError(
                "The cost of the decoded tree is not finite. Scale down the similarities.", tree
            )
        self.since_best += 1
        if self.best is None or cost < self.best.cost:
            self.best, self.since_best = Best(tree, embedding, cost), 0
        return cost

    def _is_decoded(self, embedding: Floats) -> bool:
        """Whether to decode after this epoch: always, unless decoding is slow."""
        n_leaves, dimension = embedding.shape
        is_exact = self.decoder == "exact" or (self.decoder == "auto" and dimension > 2)
        is_slow = is_exact and n_leaves > _QUICK_EXACT
        return not is_slow or self.epoch % _DECODE_EVERY == 0 or self.epoch == self.max_epochs

    def outcome(self) -> Outcome:
        """The best tree; decoded now if training was stopped before any was."""
        if self.best is None:
            self._judge(self.decoded(), self.engine.embedding)
        assert self.best is not None
        return Outcome(self.best, self.history)

    def arrays(self) -> dict[str, Any]:
        """All of it, for a checkpoint."""
        kept: dict[str, Any] = {f"engine_{name}": value for name, value in self.engine.state().items()}
        kept |= {"history": np.array(self.history, dtype=np.float64).reshape(-1, 3)}
        kept["since_best"] = self.since_best
        if self.best is not None:
            tree, embedding, cost = self.best
            kept |= {"parent": tree.parent, "embedding": embedding, "cost": cost}
            kept |= {"height": tree.height} if tree.height is not None else {}
        return kept

    def load(self, kept: Mapping[str, NDArray[Any]]) -> None:
        """Resume from what `arrays` gave."""
        prefix = "engine_"
        self.engine.load({name.removeprefix(prefix): kept[name] for name in kept if name.startswith(prefix)})
        self.history = [(int(step), float(loss), float(cost)) for step, loss, cost in kept["history"]]
        self.epoch, self.since_best = len(self.history), int(kept["since_best"])
        if "parent" in kept:
            tree = Tree(kept["parent"], len(kept["embedding"]), height=kept.get("height"))
            self.best = Best(tree, kept["embedding"], float(kept["cost"]))
