"""The training loop of gHHC: ranking and margin steps in turn, on nodes that move one batch at a time."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from arbora._base.files import read_archive, write_archive
from arbora.errors import DivergedError, FormatError
from arbora.hyperbolic.ghhc.candidates import choose_candidates
from arbora.hyperbolic.ghhc.distances import Floats, NodeTable
from arbora.hyperbolic.ghhc.model import LARGEST_NORM, node_parents, ranks
from arbora.hyperbolic.ghhc.objectives import RowGradient, margin_cost, ranking_cost
from arbora.hyperbolic.ghhc.optimizers import OPTIMIZERS, Optimizer
from arbora.hyperbolic.ghhc.rows import BallPlacement
from arbora.hyperbolic.ghhc.sampling import TripleSampler, step_generator

MARKER = "arbora.ghhc"
CHOOSE_EVERY = 500  # steps after which it is looked again how many nodes matter to a triple
PROJECTION_SHARE = 0.05  # of the learning rate: how fast a learned projection follows


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
    n_candidates: int | str | None
    optimizer: str
    seed: int
    learn_projection: bool = False
    anneal: bool = True


@dataclass
class TrainingState:
    """Where a training run stands: all that a checkpoint keeps."""

    table: NodeTable
    placement: BallPlacement
    optimizer: Optimizer
    step: int = 0
    costs: list[float] = field(default_factory=list)
    n_candidates: int | None = None  # nodes considered at present for a triple, None for all


def start(plan: TrainingPlan, nodes: Floats, placement: BallPlacement) -> TrainingState:
    """State before the first step."""
    optimizer = OPTIMIZERS[plan.optimizer](nodes.shape[0], nodes.shape[1], nodes.dtype)
    return TrainingState(NodeTable(nodes), placement, optimizer)


def train(
    plan: TrainingPlan,
    state: TrainingState,
    sampler: TripleSampler,
    read_raw: Callable | None = None,
    after_step: Callable[[TrainingState], bool] | None = None,
) -> TrainingState:
    """Run the steps that are left; `after_step` may stop early by returning True.

    Every second step is followed by one on the margin cost, over a random part of the nodes when there are
    many. The ranking cost is averaged over the batch, the margin cost summed over its nodes and weighted.
    """
    with np.errstate(
        over="ignore", invalid="ignore", divide="ignore"
    ):  # every step checks its numbers itself
        try:
            return _train(plan, state, sampler, read_raw, after_step)
        except DivergedError as error:
            raise DivergedError(
                f"Training turned non-finite at step {state.step}. Lower learning_rate."
            ) from error


def _train(plan, state, sampler, read_raw, after_step) -> TrainingState:
    limit = state.placement.norm * LARGEST_NORM
    while state.step < plan.n_steps:
        rng = step_generator(plan.seed, state.step)
        rate = plan.learning_rate * (annealed(state.step, plan.n_steps, floor=0.1) if plan.anneal else 1.0)
        state.costs.append(_ranking_step(plan, state, sampler, rng, rate, limit, read_raw))
        if plan.margin_weight > 0 and state.step % 2 == 1:
            margin_step(plan, state, rng, rate, limit)
        state.step += 1
        if after_step is not None and after_step(state):
            break
    return state


def annealed(step: int, n_steps: int, floor: float = 0.0) -> float:
    """Factor that falls linearly from 1 to `floor` over the run."""
    return 1.0 - (1.0 - floor) * step / max(n_steps, 1)


def _ranking_step(plan, state, sampler, rng, rate, limit, read_raw) -> float:
    triples = sampler.draw(state.step, plan.batch_size, rng)
    points = sampler.pool(state.step)[triples]
    if plan.learn_projection:
        rows, place = np.unique(sampler.rows[triples], return_inverse=True)
        raw = read_raw(rows)[place.ravel()]
        points = state.placement(raw).reshape(3, plan.batch_size, -1)
    table = state.table
    update_candidates(plan, state, points)
    noise = _noise(plan, state, rng, len(table), points.dtype)
    result = ranking_cost(
        table,
        points,
        temperature=plan.temperature,
        noise=noise,
        n_candidates=state.n_candidates,
        with_points=plan.learn_projection,
    )
    mean = RowGradient(result.nodes.rows, result.nodes.values / plan.batch_size)
    state.optimizer.step(table, mean, rate, limit)
    if plan.learn_projection:
        _projection_step(plan, state, raw, result.points, rate)
    return float(result.cost.mean()) - 1.5 * len(table)  # 1.5 a node is the cost of deciding nothing


def update_candidates(plan: TrainingPlan, state: TrainingState, points: Floats) -> None:
    """Before a step on the triples `points` [3, B, d]: how many nodes to consider for each."""
    if plan.n_candidates != "auto":
        state.n_candidates = plan.n_candidates
    elif state.step % CHOOSE_EVERY == 0:
        state.n_candidates = choose_candidates(state.table, points, plan.temperature)


def _projection_step(plan, state, raw, by_points, rate) -> None:
    """Move the projection; a step changes it by a small share of its size, whatever the scale of the data."""
    placement = state.placement
    gradient = placement.projection_gradient(raw, by_points.reshape(len(raw), -1))
    scale = np.linalg.norm(placement.projection) / max(float(np.linalg.norm(gradient)), 1e-12)
    placement.projection = placement.projection - (PROJECTION_SHARE * rate * scale) * gradient


def _noise(plan, state, rng, n_nodes, dtype) -> Floats | None:
    """Gumbel noise on the LCA logits, falling to zero over the run."""
    strength = plan.noise * (annealed(state.step, plan.n_steps) if plan.anneal else 1.0)
    if strength <= 0:
        return None
    width = n_nodes if state.n_candidates is None else min(n_nodes, max(state.n_candidates, 2))
    uniform = rng.random((plan.batch_size, width), dtype=dtype)
    return -strength * np.log(-np.log(np.maximum(uniform, np.finfo(dtype).tiny)))


def margin_step(plan: TrainingPlan, state: TrainingState, rng, rate: float, limit: float) -> None:
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


# ---- checkpoints -----------------------------------------------------------------------------------------


def fingerprint(settings: dict, sample: Floats) -> str:
    """Short name of a run: what it does and on what, so that a checkpoint is not taken up by another run."""
    text = repr(sorted(settings.items())).encode()
    return hashlib.sha256(text + np.ascontiguousarray(sample).tobytes()).hexdigest()[:16]


def save_checkpoint(path: str | os.PathLike, state: TrainingState, name: str, seed: int) -> None:
    """Write the state; a crash leaves the last one whole."""
    arrays: dict[str, Any] = {f"optimizer_{key}": value for key, value in state.optimizer.state().items()}
    if state.placement.projection is not None:
        arrays["projection"] = state.placement.projection
    arrays |= {"name": name, "seed": seed, "step": state.step, "costs": np.array(state.costs)}
    arrays["n_candidates"] = -1 if state.n_candidates is None else state.n_candidates
    arrays |= {"nodes": state.table.nodes, "mean": state.placement.mean}
    write_archive(path, MARKER, arrays)


def read_checkpoint(path: str | os.PathLike) -> dict[str, np.ndarray] | None:
    """Arrays of a checkpoint, None where there is no file; a file that is none is refused."""
    if not Path(path).exists():
        return None
    try:
        return read_archive(path, MARKER)
    except FormatError as error:
        raise FormatError(
            f"{path} is not a whole checkpoint of GHHC ({error}). Delete it to start anew."
        ) from error


def restore(plan: TrainingPlan, stored: dict[str, np.ndarray], norm: float) -> TrainingState:
    """The state a checkpoint keeps."""
    placement = BallPlacement(stored["mean"], stored.get("projection"), norm)
    state = start(plan, stored["nodes"], placement)
    state.optimizer.load(
        {
            key.removeprefix("optimizer_"): value
            for key, value in stored.items()
            if key.startswith("optimizer_")
        }
    )
    state.step, state.costs = int(stored["step"]), stored["costs"].tolist()
    if stored["n_candidates"] >= 0:
        state.n_candidates = int(stored["n_candidates"])
    return state
