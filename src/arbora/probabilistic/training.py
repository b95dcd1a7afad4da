"""Projected gradient descent, judged by the decoded tree.

The soft loss falls far below what the most likely tree reaches, and that tree often gets worse before it gets
better; so the model returned is the one whose decoded tree was best, and patience is counted on it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from arbora._base.checkpoint import rng_from_array, rng_to_array
from arbora._base.types import Objective
from arbora.errors import DivergedError
from arbora.probabilistic.batching import draw_batch, rows_of, with_rows
from arbora.probabilistic.expected import decoded_loss, expected_step, sample_parents
from arbora.probabilistic.row_blocks import csr_from_parts
from arbora.probabilistic.sparse import EdgeDistribution, Model, Parents, binary_model, soft_step
from arbora.probabilistic.spread import SpreadDistribution
from arbora.probabilistic.start import tree_of_parents

Relaxation: TypeAlias = Literal["expected", "soft", "straight-through"]
# a graph here, or one whose edges are on other machines
Distribution: TypeAlias = EdgeDistribution | SpreadDistribution
TakeStep: TypeAlias = Callable[[], tuple[Model, float]]


@dataclass(frozen=True)
class TrainingPlan:
    """How to descend."""

    objective: Objective = "dasgupta"
    relaxation: Relaxation = "expected"
    leaf_rate: float = 0.3
    internal_rate: float = 0.3
    max_epochs: int = 500
    patience: int = 100
    exact_q: bool = True
    batch_size: int | None = None
    batch_limit: int = 200_000
    evaluate_every: int = 1
    n_rounds: int = 1
    n_threads: int = 1

    def round_starts(self) -> list[int]:
        """First epoch of every round: the first takes half of the epochs, the next half of what is left, ..."""
        return [self.max_epochs - self.max_epochs // 2**done for done in range(self.n_rounds)]


class Best(NamedTuple):
    """The best tree so far: its loss, the model whose most likely tree it is, its parents, and when it was found."""

    loss: float
    model: Model
    parents: Parents
    epoch: int


@dataclass
class TrainingState:
    """Where training is: enough to stop and resume later as if nothing had happened."""

    model: Model
    rng: np.random.Generator
    best: Best
    epoch: int = 0
    # (epoch, training loss before the step, decoded loss)
    history: list[tuple[int, float, float]] = field(default_factory=list)
    round: int = 0
    round_start: int = 0

    @classmethod
    def start(
        cls, graph: Distribution, model: Model, rng: np.random.Generator, objective: Objective
    ) -> TrainingState:
        """The beginning; the tree that training starts from counts as epoch 0."""
        loss, parents = _decoded(graph, model, objective)
        return cls(model, rng, Best(loss, model, parents, 0), history=[(0, np.nan, loss)])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All of it, for a checkpoint."""
        best = self.best
        arrays: dict[str, NDArray[Any]] = {
            "B": self.model.B,
            "best_B": best.model.B,
            "best_leaf_parent": best.parents[0],
            "best_parent": best.parents[1],
            "best_loss": np.array(best.loss),
            "history": np.array(self.history, dtype=np.float64).reshape(-1, 3),
            "numbers": np.array([self.epoch, best.epoch, self.round, self.round_start]),
            "rng": rng_to_array(self.rng),
        }
        for name, A in (("A", self.model.A), ("best_A", best.model.A)):
            arrays |= {f"{name}_ptr": A.indptr, f"{name}_col": A.indices, f"{name}_val": A.data}
        return arrays

    @classmethod
    def from_arrays(cls, saved: Mapping[str, NDArray[Any]]) -> TrainingState:
        """The state that `arrays` described."""
        rng = np.random.default_rng()
        rng_from_array(rng, saved["rng"])
        model, best_model = (_model_from(saved, prefix) for prefix in ("", "best_"))
        epoch, best_epoch, round_number, round_start = (int(number) for number in saved["numbers"])
        parents = (saved["best_leaf_parent"], saved["best_parent"])
        best = Best(float(saved["best_loss"]), best_model, parents, best_epoch)
        history = [(int(row[0]), float(row[1]), float(row[2])) for row in saved["history"]]
        return cls(model, rng, best, epoch, history, round_number, round_start)


def _model_from(saved: Mapping[str, NDArray[Any]], prefix: str) -> Model:
    ptr, col, val = (saved[f"{prefix}A_{part}"] for part in ("ptr", "col", "val"))
    B = saved[f"{prefix}B"]
    return Model(csr_from_parts(ptr, col, val, (len(ptr) - 1, len(B))), B)


def train(
    graph: Distribution,
    state: TrainingState,
    plan: TrainingPlan,
    *,
    on_epoch: Callable[[TrainingState], bool] = lambda state: False,
    take_step: TakeStep | None = None,
    start_round: Callable[[TrainingState], Model] | None = None,
) -> TrainingState:
    """Descend until `max_epochs`, until patience ends, or until `on_epoch` says to stop.

    What comes out is never worse than what went in. `take_step` replaces the projected step (an optimizer with its
    own state, which checkpoints do not hold). A round after the first starts from what `start_round` makes of the
    state, by default from the best model.
    """
    while state.epoch < plan.max_epochs:
        if _round_is_over(state, plan):
            if state.round + 1 >= plan.n_rounds:
                break
            state.round, state.round_start = state.round + 1, state.epoch
            state.model = state.best.model if start_round is None else start_round(state)
        if take_step is None:
            state.model, loss = step(graph, state.model, plan, state.rng)
        else:
            state.model, loss = take_step()
        state.epoch += 1
        _check_converges(state, plan, loss)
        if state.epoch % plan.evaluate_every == 0 or state.epoch == plan.max_epochs:
            judge(graph, state, plan.objective, loss)
        if on_epoch(state):
            break
    return state


def _check_converges(state: TrainingState, plan: TrainingPlan, loss: float) -> None:
    if np.isfinite(loss) and np.isfinite(state.model.B).all():
        return
    raise DivergedError(
        f"The loss turned {loss} in epoch {state.epoch}. Lower learning_rate "
        f"(leaf {plan.leaf_rate}, internal {plan.internal_rate}).",
        tree=tree_of_parents(*state.best.parents)[0],
    )


def _round_is_over(state: TrainingState, plan: TrainingPlan) -> bool:
    """Whether nothing got better for too long, or the next round is due."""
    stale = state.epoch - max(state.best.epoch, state.round_start) >= plan.patience
    following = plan.round_starts()[state.round + 1 :]
    return stale or (len(following) > 0 and state.epoch >= following[0])


def judge(graph: Distribution, state: TrainingState, objective: Objective, loss: float) -> None:
    """Decode, and remember the model if its tree is the best so far."""
    decoded, parents = _decoded(graph, state.model, objective)
    state.history.append((state.epoch, loss, decoded))
    if decoded < state.best.loss - 1e-12 * abs(state.best.loss):
        state.best = Best(decoded, state.model, parents, state.epoch)


def _decoded(graph: Distribution, model: Model, objective: Objective) -> tuple[float, Parents]:
    if isinstance(graph, SpreadDistribution):
        return graph.decoded_loss(model, objective)
    return decoded_loss(graph, model, objective)


def step(
    graph: Distribution, model: Model, plan: TrainingPlan, rng: np.random.Generator
) -> tuple[Model, float]:
    """One epoch: a step on the whole graph, or on one batch."""
    if plan.batch_size is None and isinstance(graph, EdgeDistribution):
        return _step_on(graph, model, plan, rng)
    size = plan.batch_size or graph.n_nodes
    if isinstance(graph, SpreadDistribution):
        batch = graph.draw_batch(size, plan.batch_limit, rng)
    else:
        batch = draw_batch(graph, size, plan.batch_limit, rng)
    if batch is None:
        return model, 0.0
    part, loss = _step_on(batch.graph, rows_of(model, batch.nodes), plan, rng)
    return with_rows(model, batch.nodes, part), loss


def _step_on(
    graph: EdgeDistribution, model: Model, plan: TrainingPlan, rng: np.random.Generator
) -> tuple[Model, float]:
    rates = plan.leaf_rate, plan.internal_rate
    if plan.relaxation == "expected":
        return expected_step(graph, model, plan.objective, *rates, rng, plan.n_threads)
    at = None
    if plan.relaxation == "straight-through":
        at = binary_model(*sample_parents(model, rng), dtype=model.B.dtype)
    return soft_step(graph, model, plan.objective, *rates, plan.n_threads, plan.exact_q, at)
