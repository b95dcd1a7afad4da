"""The ways to build a tree, by name."""

from __future__ import annotations

import inspect
import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from arbora.cli._app import METHODS
from arbora.cli._console import Console
from arbora.cli._exit import MISSING, CommandError, Unusable
from arbora.cli.checkpoint import Checkpoint
from arbora.cli.reading import Data
from arbora.tree import Tree

_ESTIMATORS = {"hyphc": "HypHC", "ghhc": "GHHC", "fph": "FPH", "l2h": "L2H"}
_LINKAGES = ("average", "ward", "complete", "single", "weighted", "centroid", "median")
_NOT_SETTINGS = (  # the data, and what has an option of its own or only makes sense in Python
    "self", "data", "X", "random_state", "n_jobs", "verbose", "progress", "checkpoint", "callback",
)  # fmt: skip
_SAMPLED_ROWS = 2000  # by which the time of a linkage is estimated
_FUNCTIONS = {"bisecting-kmeans": "bisecting_kmeans", "hierarchical-kmeans": "hierarchical_kmeans"}


def build_tree(
    data: Data,
    method: str,
    *,
    metric: str,
    settings: dict[str, Any],
    seed: int | None,
    threads: int | None,
    console: Console,
    kept: Checkpoint,
) -> Tree:
    """The tree of `data` by `method`."""
    if method not in METHODS:
        raise Unusable(f"--method must be one of {', '.join(METHODS)}. Got {method!r}.")
    if data.kind == "tree":
        raise Unusable(
            f"{data.source} is a tree already. Improve it with: arbora refine {data.source} --data DATA"
        )
    data.check_usable()
    if metric not in ("cosine", "euclidean"):
        raise Unusable(f"--metric must be cosine or euclidean. Got {metric!r}.")
    if method in _ESTIMATORS:
        return _fit_estimator(data, method, settings, seed, threads, console, kept)
    if method == "auto":
        call = public("cluster")
        known = {"metric": metric} if data.kind == "vectors" else {}
    elif method in _FUNCTIONS:
        if data.kind != "vectors":
            raise Unusable(
                f"--method {method} needs vectors. {data.source} is a graph: use auto, fph or average."
            )
        call, known = public(_FUNCTIONS[method]), {}
    else:
        call, known = public("linkage"), {"method": method}
        if data.kind == "vectors" and metric == "cosine" and method == "average":
            known["metric"] = metric
    return _call(call, data.values, known, settings, seed, threads, console, kept)


def public(name: str) -> Any:
    """A public name of arbora, or one clear line when this installation lacks it."""
    import arbora

    try:
        return getattr(arbora, name)
    except AttributeError:
        raise CommandError(
            MISSING, f"This arbora has no {name}. Update it, or choose another --method."
        ) from None
    except ImportError as error:
        needs = getattr(error, "name", None) or str(error)
        extra = "torch" if "torch" in str(needs) else "all"
        raise CommandError(
            MISSING,
            f"{name} needs {needs}, which is not installed. Install it with: pip install 'arbora[{extra}]'",
        ) from error


def read_settings(given: list[str]) -> dict[str, Any]:
    """``name=value`` pairs; values are JSON where they can be (numbers, true, lists), otherwise text."""
    settings: dict[str, Any] = {}
    for pair in given:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip().isidentifier():
            raise Unusable(f"--set takes name=value. Got {pair!r}.")
        try:
            settings[name.strip()] = json.loads(value)
        except json.JSONDecodeError:
            settings[name.strip()] = value
    return settings


def _call(
    call: Callable[..., Tree],
    values: Any,
    known: dict[str, Any],
    settings: dict[str, Any],
    seed: int | None,
    threads: int | None,
    console: Console,
    kept: Checkpoint,
) -> Tree:
    accepted = inspect.signature(call).parameters
    options = {**known, "random_state": seed, "n_jobs": threads}
    options = {name: value for name, value in options.items() if name in accepted}
    name = getattr(call, "__name__", "fit")
    _check_settings(settings, accepted, name)
    if "progress" in accepted:  # it tells its stages itself
        return call(
            values,
            **{**options, **settings},
            progress=console.reporter(),
            checkpoint=kept.inner_path("search"),
        )
    with console.stage(
        name, _expected_seconds(call, values, {**options, **settings}) if console.shows_bars else None
    ):
        return call(values, **{**options, **settings})


def _expected_seconds(call: Callable[..., Tree], values: Any, options: dict[str, Any]) -> float | None:
    """How long a linkage of vectors will take, which is one long call: by a sample, as it grows with the square."""
    if call.__name__ != "linkage" or len(values) < 4 * _SAMPLED_ROWS:
        return None
    sample = values[:: len(values) // _SAMPLED_ROWS][:_SAMPLED_ROWS]
    call(sample[:10], **options)  # loads and compiles
    began = time.perf_counter()
    call(sample, **options)
    return (time.perf_counter() - began) * (len(values) / len(sample)) ** 2


def _fit_estimator(
    data: Data,
    method: str,
    settings: dict[str, Any],
    seed: int | None,
    threads: int | None,
    console: Console,
    kept: Checkpoint,
) -> Tree:
    kind = public(_ESTIMATORS[method])
    accepted = inspect.signature(kind.__init__).parameters
    options: dict[str, Any] = {
        "random_state": seed,
        "n_jobs": threads,
        "checkpoint": kept.inner_path("method"),
    }
    options = {name: value for name, value in options.items() if name in accepted and value is not None}
    if method == "l2h" and data.feature_names is not None:
        options["class_names"] = data.feature_names
    _check_settings(settings, accepted, kind.__name__)
    model = kind(**{**options, **settings})
    callback = console.fit_callback()
    if callback is not None and hasattr(model, "set_callbacks"):
        model.set_callbacks(callback)
    values = data.values
    if data.kind == "graph" and method in ("hyphc", "ghhc"):
        from arbora import similarity

        values = similarity.graph(values)
    with console.stage(method):
        return model.fit(values).tree_


def _check_settings(settings: dict[str, Any], accepted: Any, owner: str) -> None:
    names = [name for name in accepted if name not in _NOT_SETTINGS]
    for name in settings:
        if name not in names:
            raise Unusable(f"{owner} has no parameter {name!r} (--set). It has {', '.join(names)}.")


def similarity_of(data: Data, metric: str, *, neighbors: bool, seed: int | None = None) -> Any:
    """What "alike" means for this data: the graph, or, for vectors, all cosines or nearest neighbors.

    Costs over all cosines compare with the literature; over neighbors a lower cost means purer clusters.
    """
    from arbora import similarity

    if metric not in ("cosine", "euclidean"):
        raise Unusable(f"--metric must be cosine or euclidean. Got {metric!r}.")
    if data.kind == "graph":
        return similarity.graph(data.values)
    data.check_usable()
    if neighbors or metric == "euclidean":
        return similarity.knn(data.values, metric=metric, random_state=seed)
    values = data.values.toarray() if hasattr(data.values, "toarray") else data.values
    return similarity.cosine(np.asarray(values, dtype=np.float64))
