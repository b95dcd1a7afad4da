"""The training loop of gHHC: ranking and margin steps in turn, on nodes that move one batch at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from arbora._base.types import AnyFloats, Ints
from arbora.errors import DivergedError
from arbora.hyperbolic.ghhc.candidates import choose_candidates
from arbora.hyperbolic.ghhc.distances import NodeTable
from arbora.hyperbolic.ghhc.model import LARGEST_NORM, node_parents, ranks
from arbora.hyperbolic.ghhc.objectives import RankingCost, RowGradient, margin_cost, ranking_cost
from arbora.hyperbolic.ghhc.optimizers import OPTIMIZERS, Optimizer, OptimizerKind
from arbora.hyperbolic.ghhc.placement import BallPlacement
from arbora.hyperbolic.ghhc.sampling import RowTripleSampler, step_generator

# steps after which it is checked again how many nodes matter to a triple
CHOOSE_EVERY = 500
# of the learning rate: how fast a learned projection follows
PROJECTION_SHARE = 0.05


@dataclass(frozen=True)
class TrainingPlan:
    """What a training run does, apart from the data."""

    n_steps: int
    batch_size: int
    learning_rate: float
    temperature: float
    noise: float
    margin: float
    margin_weight: float
    margin_nodes: int
    n_candidates: int | Literal["auto"] | None
    optimizer: OptimizerKind
    seed: int
    learn_projection: bool = False
    anneal: bool = True
    n_threads: int = 1


@dataclass
class TrainingState:
    """Where a training run stands: everything that a checkpoint holds."""

    table: NodeTable
    placement: BallPlacement
    optimizer: Optimizer
    step: int = 0
    costs: list[float] = field(default_factory=list)
    # nodes considered at present for a triple, None for all
    n_candidates: int | None = None

    def arrays(self) -> dict[str, Any]:
        """All of it, for a checkpoint."""
        arrays: dict[str, Any] = {f"optimizer_{key}": value for key, value in self.optimizer.state().items()}
        if self.placement.projection is not None:
            arrays["projection"] = self.placement.projection
        arrays |= {"step": self.step, "costs": np.array(self.costs)}
        arrays["n_candidates"] = -1 if self.n_candidates is None else self.n_candidates
        return arrays | {"nodes": self.table.nodes, "mean": self.placement.mean}


def restore(plan: TrainingPlan, saved: Mapping[str, NDArray[Any]], norm: float) -> TrainingState:
    """The state that `TrainingState.arrays` described."""
    prefix = "optimizer_"
    placement = BallPlacement(saved["mean"], saved.get("projection"), norm)
    state = start(plan, saved["nodes"], placement)
    state.optimizer.load({key.removeprefix(prefix): saved[key] for key in saved if key.startswith(prefix)})
    state.step, state.costs = int(saved["step"]), saved["costs"].tolist()
    if saved["n_candidates"] >= 0:
        state.n_candidates = int(saved["n_candidates"])
    return state


def start(plan: TrainingPlan, nodes: AnyFloats, placement: BallPlacement) -> TrainingState:
    """State before the first step."""
    optimizer = OPTIMIZERS[plan.optimizer](nodes.shape[0], nodes.shape[1], nodes.dtype)
    return TrainingState(NodeTable(nodes), placement, optimizer)


def train(
    plan: TrainingPlan,
    state: TrainingState,
    sampler: RowTripleSampler,
    read_raw: Callable[[Ints], AnyFloats] | None = None,
    after_step: Callable[[TrainingState], bool] | None = None,
    cost_of: Callable[..., RankingCost] = ranking_cost,
) -> TrainingState:
    """Run the steps that are left; `after_step` may stop early by returning True.

    `cost_of` takes the place of `ranking_cost`, where the triples of a batch are shared out.

    Every second step is followed by one on the margin cost, over a random part of the nodes when there are
    many. The ranking cost is averaged over the batch, the margin cost summed over its nodes and weighted.
    """
    # every step checks its own values
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        try:
            return _train(plan, state, sampler, read_raw, after_step, cost_of)
        except DivergedError as error:
            raise DivergedError(
                f"Training turned non-finite at step {state.step}. Lower learning_rate."
            ) from error


def _train(
    plan: TrainingPlan,
    state: TrainingState,
    sampler: RowTripleSampler,
    read_raw: Callable[[Ints], AnyFloats] | None,
    after_step: Callable[[TrainingState], bool] | None,
    cost_of: Callable[..., RankingCost],
) -> TrainingState:
    limit = state.placement.norm * LARGEST_NORM
    while state.step < plan.n_steps:
        rng = step_generator(plan.seed, state.step)
        rate = plan.learning_rate * (annealed(state.step, plan.n_steps, floor=0.1) if plan.anneal else 1.0)
        state.costs.append(_ranking_step(plan, state, sampler, rng, rate, limit, read_raw, cost_of))
        if plan.margin_weight > 0 and state.step % 2 == 1:
            margin_step(plan, state, rng, rate, limit)
        state.step += 1
        if after_step is not None and after_step(state):
            break
    return state


def annealed(step: int, n_steps: int, floor: float = 0.0) -> float:
    """Factor that falls linearly from 1 to `floor` over the run."""
    return 1.0 - (1.0 - floor) * step / max(n_steps, 1)


def _ranking_step(
    plan: TrainingPlan,
    state: TrainingState,
    sampler: RowTripleSampler,
    rng: np.random.Generator,
    rate: float,
    limit: float,
    read_raw: Callable[[Ints], AnyFloats] | None,
    cost_of: Callable[..., RankingCost],
) -> float:
    triples = sampler.draw(state.step, plan.batch_size, rng)
    points = sampler.pool(state.step)[triples]
    raw = None
    if plan.learn_projection and read_raw is not None:
        rows, place = np.unique(sampler.rows[triples], return_inverse=True)
        raw = read_raw(rows)[place.ravel()]
        points = state.placement(raw).reshape(3, plan.batch_size, -1)
    table = state.table
    update_candidates(plan, state, points)
    noise = _noise(plan, state, rng, len(table), points.dtype)
    result = cost_of(
        table,
        points,
        temperature=plan.temperature,
        noise=noise,
        n_candidates=state.n_candidates,
        with_points=plan.learn_projection,
        n_threads=plan.n_threads,
    )
    mean = RowGradient(result.nodes.rows, result.nodes.values / plan.batch_size)
    state.optimizer.step(table, mean, rate, limit)
    if raw is not None and result.points is not None:
        _projection_step(plan, state, raw, result.points, rate)
    # 1.5 per node is the cost of an undecided model
    return float(result.cost.mean()) - 1.5 * len(table)


def update_candidates(plan: TrainingPlan, state: TrainingState, points: AnyFloats) -> None:
    """Before a step on the triples `points` [3, B, d]: how many nodes to consider for each."""
    if plan.n_candidates != "auto":
        state.n_candidates = plan.n_candidates
    elif state.step % CHOOSE_EVERY == 0:
        state.n_candidates = choose_candidates(state.table, points, plan.temperature)


def _projection_step(
    plan: TrainingPlan, state: TrainingState, raw: AnyFloats, by_points: AnyFloats, rate: float
) -> None:
    """Move the projection; a step changes it by a small share of its size, whatever the scale of the data."""
    placement = state.placement
    assert placement.projection is not None
    gradient = placement.projection_gradient(raw, by_points.reshape(len(raw), -1))
    scale = np.linalg.norm(placement.projection) / max(float(np.linalg.norm(gradient)), 1e-12)
    placement.projection = placement.projection - (PROJECTION_SHARE * rate * scale) * gradient


def _noise(
    plan: TrainingPlan, state: TrainingState, rng: np.random.Generator, n_nodes: int, dtype: np.dtype[Any]
) -> AnyFloats | None:
    """Gumbel noise on the LCA logits, falling to zero over the run."""
    strength = plan.noise * (annealed(state.step, plan.n_steps) if plan.anneal else 1.0)
    if strength <= 0:
        return None
    width = n_nodes if state.n_candidates is None else min(n_nodes, max(state.n_candidates, 2))
    uniform = rng.random((plan.batch_size, width), dtype=dtype)
    return -strength * np.log(-np.log(np.maximum(uniform, np.finfo(dtype).tiny)))


def margin_step(
    plan: TrainingPlan, state: TrainingState, rng: np.random.Generator, rate: float, limit: float
) -> None:
    """One step on the margin cost (Eq. 17), over all nodes or a random part of many."""
    table = state.table
    place = ranks(table)
    children = np.flatnonzero(place > 0)
    if len(children) > plan.margin_nodes:
        children = np.sort(rng.choice(children, plan.margin_nodes, replace=False))
    if not len(children):
        return
    _, gradient = margin_cost(table, children, node_parents(table, children, place), plan.margin)
    state.optimizer.step(table, RowGradient(gradient.rows, plan.margin_weight * gradient.values), rate, limit)
