"""The options of FPH, checked, and what "by default" means for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from arbora._base.params import (
    check_choice,
    check_real,
    check_refine,
    check_switch,
    check_whole,
)
from arbora._base.threads import count_threads
from arbora._base.types import Objective
from arbora.probabilistic.start import STARTS, Start
from arbora.probabilistic.training import Relaxation, TrainingPlan
from arbora.tree import Tree

if TYPE_CHECKING:
    from arbora.probabilistic.fph import FPH

Optimizer: TypeAlias = Literal["projected", "softmax", "embedding"]
Directed: TypeAlias = Literal["sum", "max", "mean"]
GraphSource: TypeAlias = Literal["auto", "graph", "knn"]
Precision: TypeAlias = Literal["float64", "float32"]

# (leaf, internal), measured on the paper's graphs
_RATES: dict[tuple[Objective, Relaxation], tuple[float, float]] = {
    ("dasgupta", "expected"): (0.3, 0.3),
    ("dasgupta", "soft"): (0.05, 0.0005),
    ("dasgupta", "straight-through"): (0.05, 0.0005),
    ("tsd", "expected"): (0.3, 0.3),
    ("tsd", "soft"): (0.3, 1.0),
    ("tsd", "straight-through"): (0.3, 1.0),
}
_ADAM_RATE = 0.1


@dataclass(frozen=True)
class Options:
    """What an `FPH` was asked for; every value has been checked."""

    n_internal: int | Literal["elbow"]
    optimizer: Optimizer
    init: Start
    directed: Directed
    source: GraphSource
    n_neighbors: int
    use_spare_nodes: bool
    refine: dict[str, Any] | None
    checkpoint_every: int
    dtype: np.dtype[Any]
    verbose: bool
    plan: TrainingPlan

    @property
    def objective(self) -> Objective:
        """What training improves."""
        return self.plan.objective

    @classmethod
    def of(cls, model: FPH) -> Options:
        """The options of an estimator; an error names the first that cannot be used."""
        optimizer: Optimizer = check_choice(model.optimizer, "optimizer", get_args(Optimizer))
        for name in ("batch_size", "checkpoint"):
            if getattr(model, name) is not None and optimizer != "projected":
                raise ValueError(f'{name} needs optimizer="projected". Got {optimizer!r}.')
        return cls(
            n_internal=_n_internal(model.n_internal),
            optimizer=optimizer,
            init=_init(model.init),
            directed=check_choice(model.directed, "directed", get_args(Directed)),
            source=check_choice(model.similarity, "similarity", get_args(GraphSource)),
            n_neighbors=check_whole(model.n_neighbors, "n_neighbors"),
            use_spare_nodes=check_switch(model.use_spare_nodes, "use_spare_nodes")
            and model.batch_size is None,
            refine=check_refine(model.refine),
            checkpoint_every=check_whole(model.checkpoint_every, "checkpoint_every"),
            dtype=np.dtype(check_choice(model.dtype, "dtype", get_args(Precision))),
            verbose=check_switch(model.verbose, "verbose"),
            plan=_plan(model, optimizer),
        )


def _plan(model: FPH, optimizer: Optimizer) -> TrainingPlan:
    """How to descend."""
    objective: Objective = check_choice(model.objective, "objective", get_args(Objective))
    choice = check_choice(model.relaxation, "relaxation", ("auto", *get_args(Relaxation)))
    relaxation = _relaxation(choice, objective, optimizer)
    leaf_rate, internal_rate = _rates(model.learning_rate, objective, relaxation, optimizer)
    max_epochs = check_whole(model.max_epochs, "max_epochs")
    batch_size = _whole_or_none(model.batch_size, "batch_size")
    every = _whole_or_none(model.evaluate_every, "evaluate_every") or (1 if batch_size is None else 20)
    n_rounds = _whole_or_none(model.n_rounds, "n_rounds") or (1 if relaxation == "expected" else 3)
    # batches are not steps on one graph, and Adam has its own state
    knows_one_round = batch_size is not None or optimizer != "projected"
    return TrainingPlan(
        objective=objective,
        relaxation=relaxation,
        leaf_rate=leaf_rate,
        internal_rate=internal_rate,
        max_epochs=max_epochs,
        patience=check_whole(model.patience, "patience"),
        exact_q=check_switch(model.exact_q, "exact_q"),
        batch_size=batch_size,
        batch_limit=check_whole(model.batch_limit, "batch_limit"),
        evaluate_every=min(every, max_epochs),
        n_rounds=1 if knows_one_round else n_rounds,
        n_threads=count_threads(model.n_jobs),
    )


def _relaxation(
    choice: Literal["auto"] | Relaxation, objective: Objective, optimizer: Optimizer
) -> Relaxation:
    if choice != "auto":
        return choice
    return "expected" if objective == "dasgupta" and optimizer == "projected" else "soft"


def _rates(
    given: Any, objective: Objective, relaxation: Relaxation, optimizer: Optimizer
) -> tuple[float, float]:
    """Learning rates for A and B."""
    if given is None:
        return _RATES[objective, relaxation] if optimizer == "projected" else (_ADAM_RATE, _ADAM_RATE)
    pair = tuple(np.atleast_1d(given).tolist())
    if len(pair) not in (1, 2):
        raise ValueError(f"learning_rate must be a positive number or a pair of them. Got {given!r}.")
    leaf_rate, internal_rate = (check_real(rate, "learning_rate", above=0) for rate in (pair[0], pair[-1]))
    return leaf_rate, internal_rate


def _n_internal(value: Any) -> int | Literal["elbow"]:
    if isinstance(value, str):
        if value != "elbow":
            raise ValueError(f'n_internal must be a whole number or "elbow". Got {value!r}.')
        return "elbow"
    return check_whole(value, "n_internal")


def _init(value: Any) -> Start:
    if isinstance(value, Tree):
        return value
    if value not in STARTS:
        raise ValueError(f"init must be a Tree or one of {', '.join(map(repr, STARTS))}. Got {value!r}.")
    return value  # type: ignore[no-any-return]


def _whole_or_none(value: Any, name: str) -> int | None:
    return None if value is None else check_whole(value, name)
