"""What FPH's parameters mean, checked: errors, defaults and the plan of training."""

from __future__ import annotations

import os
from numbers import Integral, Real
from typing import TYPE_CHECKING

import numpy as np

from arbora.errors import TooLargeError
from arbora.metrics import dasgupta_cost, tree_sampling_divergence
from arbora.probabilistic.start import STARTS, tree_of_parents
from arbora.probabilistic.training import Settings
from arbora.tree import Tree

if TYPE_CHECKING:
    from arbora.probabilistic.fph import FPH

RATES = {  # (leaf, internal), measured on the paper's graphs
    ("dasgupta", "expected"): (0.3, 0.3),
    ("dasgupta", "soft"): (0.05, 0.0005),
    ("dasgupta", "straight-through"): (0.05, 0.0005),
    ("tsd", "expected"): (0.3, 0.3),
    ("tsd", "soft"): (0.3, 1.0),
    ("tsd", "straight-through"): (0.3, 1.0),
}
LARGEST_DENSE = 200_000_000
ADAM_RATES = {"softmax": 0.1, "embedding": 0.1}
CHOICES = {
    "objective": ("dasgupta", "tsd"),
    "relaxation": ("auto", "expected", "soft", "straight-through"),
    "optimizer": ("projected", "softmax", "embedding"),
    "directed": ("sum", "max", "mean"),
    "similarity": ("auto", "graph", "knn"),
    "dtype": ("float64", "float32"),
}
COUNTS = (
    "n_clusters",
    "max_epochs",
    "patience",
    "batch_limit",
    "n_neighbors",
    "checkpoint_every",
)


def check(model: FPH) -> None:
    """Raise on a parameter that is not what it should be."""
    for name, allowed in CHOICES.items():
        if getattr(model, name) not in allowed:
            raise ValueError(f"{name} must be one of {allowed}. Got {getattr(model, name)!r}.")
    for name in COUNTS:
        _check_count(name, getattr(model, name))
    for name in ("batch_size", "evaluate_every", "n_rounds"):
        if getattr(model, name) is not None:
            _check_count(name, getattr(model, name))
    if model.n_internal != "elbow":
        _check_count("n_internal", model.n_internal, ' or "elbow"')
    if not isinstance(model.init, Tree) and model.init not in STARTS:
        raise ValueError(f"init must be one of {STARTS} or a Tree. Got {model.init!r}.")
    if model.batch_size is not None and model.optimizer != "projected":
        raise ValueError(f'batch_size needs optimizer="projected". Got {model.optimizer!r}.')
    if model.checkpoint is not None and model.optimizer != "projected":
        raise ValueError(f'checkpoint needs optimizer="projected". Got {model.optimizer!r}.')
    rates(model)


def _check_count(name, value, more=""):
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise ValueError(f"{name} must be a whole number of at least 1{more}. Got {value!r}.")


def check_n_clusters(n_clusters: int, n_points: int) -> None:
    """Raise where more clusters are asked for than there are points (one point: any number)."""
    if n_clusters > max(n_points, 2):
        raise ValueError(f"n_clusters must lie in [1, n_nodes={n_points}]. Got {n_clusters!r}.")


def refuse_matrix(X, similarity) -> None:
    """A symmetric square array may be an adjacency meant as a graph, or vectors: ask."""
    square = X.ndim == 2 and X.shape[0] == X.shape[1] and X.shape[0] > 2
    if similarity == "auto" and square and np.array_equal(X, X.T):
        raise ValueError(
            f"X is a symmetric array of shape {X.shape}. For an adjacency pass scipy.sparse.csr_array(X); "
            'for vectors, similarity="knn".'
        )


def relaxation(model: FPH) -> str:
    """What "auto" stands for."""
    if model.relaxation != "auto":
        return model.relaxation
    return "expected" if model.objective == "dasgupta" and model.optimizer == "projected" else "soft"


def rates(model: FPH) -> tuple[float, float]:
    """Learning rates for A and B."""
    given = model.learning_rate
    if given is None:
        if model.optimizer != "projected":
            return (ADAM_RATES[model.optimizer],) * 2
        return RATES[model.objective, relaxation(model)]
    pair = tuple(np.atleast_1d(given).tolist())
    pair = pair * 2 if len(pair) == 1 else pair
    if len(pair) != 2 or not all(isinstance(rate, Real) and np.isfinite(rate) and rate > 0 for rate in pair):
        raise ValueError(f"learning_rate must be a positive number or a pair of them. Got {given!r}.")
    return float(pair[0]), float(pair[1])


def rounds(model: FPH) -> int:
    """How many rounds; those of batches are not steps on one graph, and Adam has a state of its own."""
    if model.batch_size is not None or model.optimizer != "projected":
        return 1
    return model.n_rounds or (1 if relaxation(model) == "expected" else 3)


def plan(model: FPH) -> Settings:
    """How to descend."""
    leaf_rate, internal_rate = rates(model)
    every = model.evaluate_every or (1 if model.batch_size is None else 20)
    return Settings(
        objective=model.objective,
        relaxation=relaxation(model),
        leaf_rate=leaf_rate,
        internal_rate=internal_rate,
        max_epochs=model.max_epochs,
        patience=model.patience,
        exact_q=model.exact_q,
        batch_size=model.batch_size,
        batch_limit=model.batch_limit,
        evaluate_every=min(every, model.max_epochs),
        n_rounds=rounds(model),
        n_threads=count_threads(model.n_jobs),
    )


def count_threads(n_jobs) -> int:
    """Threads: None and -1 mean all cores this process may use."""
    if n_jobs is None or n_jobs < 0:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(int(n_jobs), 1)


def score(tree: Tree, similarity, objective: str) -> float:
    """Dasgupta cost over the total weight, or normalized TSD; NaN for a graph without edges."""
    if similarity.total <= 0:
        return float("nan")
    if objective == "tsd":
        return float(tree_sampling_divergence(tree, similarity))
    return float(dasgupta_cost(tree, similarity, normalize=True))


def unconstrained_step(model: FPH, graph, progress, similarity, settings: Settings):
    """The step of Adam on scores or embeddings, or None for the projected gradient."""
    if model.optimizer == "projected":
        return None
    n_entries = progress.model.A.shape[0] * progress.model.n_internal
    if n_entries > LARGEST_DENSE:
        raise TooLargeError(
            f"optimizer={model.optimizer!r} needs full n x n' matrices, {n_entries:,} numbers each. "
            'Use optimizer="projected", which keeps A sparse.'
        )
    import torch

    from arbora.probabilistic.parameterizations import AdamTrainer, EmbeddingParameters, SoftmaxParameters

    dtype = getattr(torch, model.dtype)
    seed = int(progress.rng.integers(2**31))
    leaf_parent = progress.model.A.indices.astype(np.int64)
    parent = np.append(progress.model.B[:-1].argmax(axis=1), len(progress.model.B) - 1)
    tree = tree_of_parents(leaf_parent, parent)[0]
    if model.optimizer == "softmax":
        parameters = SoftmaxParameters(tree, generator=torch.Generator().manual_seed(seed), dtype=dtype)
    else:
        from arbora.probabilistic.deepwalk import deepwalk

        start = (
            np.random.default_rng(seed).standard_normal((similarity.n_points, 32))
            if isinstance(model.init, str) and model.init == "random"
            else deepwalk(similarity, 32, random_state=seed)
        )
        parameters = EmbeddingParameters(tree, start, dtype=dtype)
    return AdamTrainer(
        graph, parameters, settings.objective, settings.relaxation, settings.leaf_rate, seed, settings.exact_q
    ).step
