"""The options of GHHC, checked, and the training that they describe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from arbora._base.params import check_choice, check_real, check_switch, check_whole
from arbora._base.threads import count_threads
from arbora.hyperbolic.ghhc.initialize import Linkage, Norms
from arbora.hyperbolic.ghhc.optimizers import OptimizerKind
from arbora.hyperbolic.ghhc.placement import Projection
from arbora.hyperbolic.ghhc.seeding import Seeding
from arbora.hyperbolic.ghhc.train import TrainingPlan

if TYPE_CHECKING:
    from arbora.hyperbolic.ghhc.estimator import GHHC

Candidates: TypeAlias = int | Literal["auto"] | None

# children in a margin step
MARGIN_NODES = 256
# as far from the boundary as `poincare.project` stays
_EDGE = {np.dtype(np.float64): 1e-7, np.dtype(np.float32): 1e-4}


@dataclass(frozen=True)
class Options:
    """What a `GHHC` was asked for; every value has been checked."""

    n_internal: int
    max_steps: int
    batch_size: int
    learning_rate: float
    optimizer: OptimizerKind
    temperature: float
    noise: float
    margin: float
    margin_weight: float
    n_neighbors: int
    pool_size: int
    n_candidates: Candidates
    norm: float
    projection: Projection
    n_components: int | None
    init: Seeding
    init_linkage: Linkage
    init_norms: Norms
    init_sweeps: int
    checkpoint_every: int
    n_threads: int
    verbose: bool

    @classmethod
    def of(cls, model: GHHC) -> Options:
        """The options of an estimator; an error names the first that cannot be used."""
        return cls(
            n_internal=check_whole(model.n_internal, "n_internal"),
            max_steps=check_whole(model.max_steps, "max_steps", least=0),
            batch_size=check_whole(model.batch_size, "batch_size"),
            learning_rate=check_real(model.learning_rate, "learning_rate", above=0),
            optimizer=check_choice(model.optimizer, "optimizer", get_args(OptimizerKind)),
            temperature=check_real(model.temperature, "temperature", above=0),
            noise=check_real(model.noise, "noise", least=0),
            margin=check_real(model.margin, "margin", least=0),
            margin_weight=check_real(model.margin_weight, "margin_weight", least=0),
            n_neighbors=check_whole(model.n_neighbors, "n_neighbors"),
            pool_size=check_whole(model.pool_size, "pool_size", least=3),
            n_candidates=_candidates(model.n_candidates),
            norm=check_real(model.norm, "norm", above=0, most=1),
            projection=check_choice(model.projection, "projection", (None, "random", "learned")),
            n_components=None
            if model.n_components is None
            else check_whole(model.n_components, "n_components"),
            init=check_choice(model.init, "init", get_args(Seeding)),
            init_linkage=check_choice(model.init_linkage, "init_linkage", get_args(Linkage)),
            init_norms=check_choice(model.init_norms, "init_norms", get_args(Norms)),
            init_sweeps=check_whole(model.init_sweeps, "init_sweeps", least=0),
            checkpoint_every=check_whole(model.checkpoint_every, "checkpoint_every"),
            n_threads=count_threads(model.n_jobs),
            verbose=check_switch(model.verbose, "verbose"),
        )

    def norm_in(self, dtype: np.dtype[Any]) -> float:
        """Norm of the data in the ball; 1 becomes the largest norm that floating point can handle."""
        return min(self.norm, 1.0 - _EDGE[np.dtype(dtype)])

    def plan(self, seed: int, n_steps: int, anneal: bool = True) -> TrainingPlan:
        """The training that the options describe."""
        return TrainingPlan(
            n_steps=n_steps,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            temperature=self.temperature,
            noise=self.noise,
            margin=self.margin,
            margin_weight=self.margin_weight,
            margin_nodes=MARGIN_NODES,
            n_candidates=self.n_candidates,
            optimizer=self.optimizer,
            seed=seed,
            learn_projection=self.projection == "learned",
            anneal=anneal,
            n_threads=self.n_threads,
        )


def _candidates(value: Any) -> Candidates:
    if value is None:
        return None
    if isinstance(value, str):
        choice: Literal["auto"] = check_choice(value, "n_candidates", ("auto", None))
        return choice
    return check_whole(value, "n_candidates", least=2)
