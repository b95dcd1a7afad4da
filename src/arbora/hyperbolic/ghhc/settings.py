"""Parameters of `GHHC`: what is allowed, and what "auto" means."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

from arbora.hyperbolic.ghhc.optimizers import OPTIMIZERS
from arbora.hyperbolic.ghhc.seeding import SEEDINGS
from arbora.hyperbolic.ghhc.train import TrainingPlan

LINKAGES = ("ward", "average", "complete", "single", "centroid", "median")
NORMS = ("centroid", "log")
PROJECTIONS = (None, "random", "learned")
MARGIN_NODES = 256  # children in a margin step
_EDGE = {
    np.dtype(np.float64): 1e-7,
    np.dtype(np.float32): 1e-4,
}  # as `poincare.project` keeps off the boundary


def check(model: Any) -> None:
    """Raise on a parameter that cannot be used."""
    for name in ("n_clusters", "n_internal", "n_neighbors", "batch_size", "checkpoint_every"):
        _check_count(getattr(model, name), name)
    _check_count(model.max_steps, "max_steps", least=0)
    _check_count(model.init_sweeps, "init_sweeps", least=0)
    _check_count(model.pool_size, "pool_size", least=3)
    if model.n_components is not None:
        _check_count(model.n_components, "n_components")
    if model.n_candidates not in ("auto", None):
        _check_count(model.n_candidates, "n_candidates", least=2)
    for name in ("learning_rate", "temperature"):
        _check_number(getattr(model, name), name, strictly=True)
    for name in ("noise", "margin", "margin_weight"):
        _check_number(getattr(model, name), name)
    if not isinstance(model.norm, Real) or not 0 < float(model.norm) <= 1:
        raise ValueError(f"norm must lie in (0, 1], where the data sits in the ball. Got {model.norm!r}.")
    choices = {
        "init": tuple(SEEDINGS),
        "init_linkage": LINKAGES,
        "init_norms": NORMS,
        "optimizer": tuple(OPTIMIZERS),
        "projection": PROJECTIONS,
    }
    for name, allowed in choices.items():
        if getattr(model, name) not in allowed:
            raise ValueError(f"{name} must be one of {allowed}. Got {getattr(model, name)!r}.")


def _check_count(value: Any, name: str, least: int = 1) -> None:
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} must be an integer. Got {value!r}.")
    if value < least:
        raise ValueError(f"{name} must be at least {least}. Got {value!r}.")


def _check_number(value: Any, name: str, strictly: bool = False) -> None:
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name} must be a number. Got {value!r}.")
    number = float(value)
    if not np.isfinite(number) or number < 0 or (strictly and number == 0):
        raise ValueError(f"{name} must be {'positive' if strictly else '0 or more'}. Got {value!r}.")


def placed_norm(model: Any, dtype: np.dtype) -> float:
    """Norm of the data in the ball; 1 becomes the edge as far as numbers reach."""
    return min(float(model.norm), 1.0 - _EDGE[np.dtype(dtype)])


def plan(model: Any, seed: int, n_steps: int, anneal: bool = True) -> TrainingPlan:
    """The training that the parameters describe."""
    return TrainingPlan(
        n_steps=n_steps,
        batch_size=model.batch_size,
        learning_rate=model.learning_rate,
        temperature=float(model.temperature),
        noise=float(model.noise),
        margin=float(model.margin),
        margin_weight=float(model.margin_weight),
        margin_nodes=MARGIN_NODES,
        n_candidates=model.n_candidates,
        optimizer=model.optimizer,
        seed=seed,
        learn_projection=model.projection == "learned",
        anneal=anneal,
    )
