"""Parameters of `HypHC`: what is allowed, and what "by default" means."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any

import numba
import numpy as np

import arbora.similarity as similarities
from arbora.hyperbolic.hyphc.decode import DECODERS
from arbora.hyperbolic.hyphc.triples import count_pairs

PARALLEL_FROM = 1 << 14  # triples; smaller batches are done before other threads have woken up
MAX_RADIUS = 16.0  # beyond it, embeddings come too near the boundary to be told apart
_FEWEST_TRIPLES, _MOST_TRIPLES = 40_000, 20_000_000
_SMALLEST_BATCH, _LARGEST_BATCH = 256, 1 << 16
_LEAF_BATCH, _PARALLEL_LEAF_BATCH = 4, 8  # triples a step for each leaf
_TORCH_BATCH = 1 << 12
_ENGINES = ("auto", "circle", "torch")
_SIMILARITIES = ("cosine", "knn", "gaussian", "precomputed")


def check(model: Any) -> None:
    """Raise on a parameter that cannot be used."""
    for name in ("n_clusters", "max_epochs", "restarts", "n_neighbors", "checkpoint_every"):
        _check_count(getattr(model, name), name)
    for name in ("n_triples", "batch_size", "patience"):
        if getattr(model, name) is not None:
            _check_count(getattr(model, name), name)
    _check_count(model.dimension, "dimension", least=2)
    for name in ("learning_rate", "temperature", "radius"):
        span(getattr(model, name), name)
    if max(span(model.radius, "radius")) > MAX_RADIUS:
        raise ValueError(
            f"radius must not exceed {MAX_RADIUS}, where the ball ends in numbers. Got {model.radius!r}."
        )
    if not isinstance(model.neighbor_bias, Real) or not 0 <= model.neighbor_bias <= 1:
        raise ValueError(f"neighbor_bias must lie in [0, 1]. Got {model.neighbor_bias!r}.")
    for name, allowed in (("engine", _ENGINES), ("decoder", DECODERS), ("similarity", _SIMILARITIES)):
        if getattr(model, name) not in allowed:
            raise ValueError(f"{name} must be one of {allowed}. Got {getattr(model, name)!r}.")
    if model.callback is not None and not callable(model.callback):
        raise TypeError(f"callback must be callable. Got {type(model.callback).__name__}.")
    _check_fits_engine(model)


def _check_fits_engine(model: Any) -> None:
    on_circle = model.dimension == 2 and model.normalize
    if model.engine == "circle" and not on_circle:
        raise ValueError(
            "engine='circle' needs dimension=2 and normalize=True. "
            f"Got dimension={model.dimension}, normalize={model.normalize}. Use engine='torch'."
        )
    if model.decoder == "greedy" and model.dimension != 2:
        raise ValueError(f"decoder='greedy' needs dimension=2. Got {model.dimension}. Use decoder='exact'.")
    if model.decoder == "circle" and not on_circle:
        raise ValueError("decoder='circle' needs dimension=2 and normalize=True. Use decoder='exact'.")


def _check_count(value: Any, name: str, least: int = 1) -> None:
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} must be a whole number. Got {value!r}.")
    if value < least:
        raise ValueError(f"{name} must be at least {least}. Got {value!r}.")


def check_n_clusters(n_clusters: int, n_points: int) -> None:
    """Raise if there are fewer points than clusters (one point is one cluster whatever was asked)."""
    if n_clusters > n_points > 1:
        raise ValueError(f"n_clusters must lie in [1, n_points={n_points}]. Got {n_clusters!r}.")


def span(value: Any, name: str) -> tuple[float, float]:
    """Start and end of a parameter given as a number or a pair."""
    pair = (value, value) if isinstance(value, Real) else value
    if not (isinstance(pair, (tuple, list, np.ndarray)) and len(pair) == 2):
        raise TypeError(f"{name} must be a number or a pair (start, end). Got {value!r}.")
    if not all(isinstance(end, Real) and 0 < end < math.inf for end in pair):
        raise ValueError(f"{name} must be positive and finite. Got {value!r}.")
    return float(pair[0]), float(pair[1])


def engine(model: Any) -> str:
    """The engine that "auto" means."""
    if model.engine == "auto":
        return "circle" if model.dimension == 2 and model.normalize else "torch"
    return model.engine


def n_triples(model: Any, n_points: int) -> int:
    """Triples an epoch."""
    if model.n_triples is not None:
        return int(model.n_triples)
    return min(max(count_pairs(n_points), _FEWEST_TRIPLES), _MOST_TRIPLES)


def batch_size(model: Any, n_points: int) -> int:
    """Triples a step."""
    if model.batch_size is not None:
        return int(model.batch_size)
    a_leaf = _PARALLEL_LEAF_BATCH if _PARALLEL_LEAF_BATCH * n_points >= PARALLEL_FROM else _LEAF_BATCH
    by_points = min(max(a_leaf * n_points, _SMALLEST_BATCH), _LARGEST_BATCH)
    return by_points if engine(model) == "circle" else max(by_points, _TORCH_BATCH)


def similarity_of(X: np.ndarray, kind: str, n_neighbors: int) -> Any:
    """The similarity of vectors, or of a matrix of similarities."""
    if kind == "precomputed":
        return similarities.dense(X)
    if kind == "knn" and len(X) > 1:
        return similarities.knn(X, n_neighbors=min(n_neighbors, len(X) - 1), metric="euclidean")
    if kind == "gaussian" and len(X) > 1:
        return similarities.gaussian(X)
    return similarities.cosine(X)


def count_threads(n_jobs: int | None) -> int:
    """Number of threads that n_jobs asks for."""
    if n_jobs is None or n_jobs == -1:
        return os.cpu_count() or 1
    if not isinstance(n_jobs, Integral) or n_jobs < 1:
        raise ValueError(f"n_jobs must be None, -1 or a positive whole number. Got {n_jobs!r}.")
    return int(n_jobs)


@contextlib.contextmanager
def limited_threads(n_jobs: int | None) -> Iterator[None]:
    """Let compiled loops use only so many threads."""
    before = numba.get_num_threads()
    numba.set_num_threads(min(count_threads(n_jobs), numba.config.NUMBA_NUM_THREADS))
    try:
        yield
    finally:
        numba.set_num_threads(before)
