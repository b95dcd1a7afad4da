"""The ways to build a tree, by name: what each takes, how it compares vectors, and how it is called."""

from __future__ import annotations

import inspect
import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

import numpy as np

from arbora.baselines.registry import FIT_NAMES, SYSTEMS
from arbora.baselines.system import System
from arbora.cli._console import Console
from arbora.cli._exit import Unusable, WrongOption
from arbora.cli._options import Reading, Running
from arbora.cli._run import GRAPH_METRICS, Comparing, Run, neighbor_graph, read_dataset
from arbora.tree import Tree

# What can be given as a graph; anything else becomes a graph of nearest neighbors.
_TO_GRAPH = ("vectors", "graph", "distances")
# The data, and what has an option of its own or only makes sense in Python.
_NOT_SETTINGS = (
    "self", "data", "X", "graph", "metric", "method", "kind", "random_state", "n_jobs", "verbose", "progress",
    "checkpoint", "callback",
)  # fmt: skip
# Rows by which the time of a linkage is estimated.
_SAMPLED_ROWS = 2000


@dataclass(frozen=True)
class Method:
    """A way to build a tree.

    Attributes
    ----------
    call : str
        Public function or estimator, as ``module:name``.
    takes : tuple of str
        Kinds of data.
    metrics : tuple of str
        Ways to compare vectors, the default first.
    fixed : dict
        Parameters that make this method of the function.
    needs_graph : bool
        Whether vectors are given as the graph of their nearest neighbors.
    """

    call: str
    takes: tuple[str, ...]
    metrics: tuple[str, ...]
    fixed: Mapping[str, Any] = field(default_factory=dict)
    needs_graph: bool = False


def _of_registry(system: System) -> Method:
    """A system of `arbora.baselines` as the command line runs it."""
    needs_graph = system.takes == ("graph",)
    takes = tuple("vectors" if kind == "logits" else kind for kind in system.takes)
    if needs_graph:
        return Method(system.call, _TO_GRAPH, GRAPH_METRICS, system.fixed, needs_graph)
    return Method(system.call, takes, system.metrics, system.fixed)


BY_NAME: dict[str, Method] = {
    "auto": Method("arbora.search:cluster", ("vectors", "graph", "distances", "similarities"), GRAPH_METRICS),
    **{name: _of_registry(SYSTEMS[name]) for name in FIT_NAMES},
}


def chosen_method(name: str) -> Method:
    """A method by its name."""
    if name not in BY_NAME:
        raise WrongOption(f"--method must be one of {', '.join(BY_NAME)}. Got {name!r}.")
    return BY_NAME[name]


def chosen_metric(name: str, metric: str | None, kind: str | None = None) -> str | None:
    """The metric that a method uses: the one asked for, or its default; refused if it does not support that metric."""
    known = chosen_method(name).metrics
    if kind is not None and kind != "vectors":
        if metric is not None:
            raise WrongOption(
                f"--metric compares vectors. The data is a matrix or graph ({kind}) and needs none."
            )
        return None
    if metric is not None and metric not in known:
        allowed = f"knows {', '.join(known)}" if known else "uses none"
        raise WrongOption(f"--metric {metric} cannot be combined with --method {name}, which {allowed}.")
    return metric or (known[0] if known else None)


def run_on_graph(
    source: str, command: str, metric: str | None, reading: Reading, running: Running, console: Console
) -> Run:
    """Data on whose graph of nearest neighbors a tree is measured or refined; the graph scales vectors itself."""
    data = read_dataset(source, replace(reading, scale="auto"), console)
    chosen = chosen_metric("auto", metric, data.kind)
    return Run(data, command, chosen, running, console, comparing=Comparing.asked(metric, reading.scale))


def scales_itself(name: str) -> bool:
    """Whether a method compares vectors by the graph of nearest neighbors, which scales them as it needs."""
    return chosen_method(name).metrics == GRAPH_METRICS


def check_data(run: Run) -> None:
    """Refuse data that the method cannot take, before any work."""
    takes = chosen_method(run.method).takes
    if run.data.kind not in takes:
        others = [name for name, method in BY_NAME.items() if run.data.kind in method.takes]
        raise Unusable(
            f"--method {run.method} takes {' or '.join(takes)}. {run.data.source} holds a {_words(run.data.kind)}: "
            f"use {', '.join(others)}."
        )
    run.data.check_usable()


def _words(kind: str) -> str:
    return {"graph": "graph", "vectors": "table of vectors"}.get(kind, f"matrix of {kind}")


def read_settings(given: Iterable[str]) -> dict[str, Any]:
    """``name=value`` pairs; values are JSON where they can be (numbers, true, lists), otherwise text."""
    settings: dict[str, Any] = {}
    for pair in given:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip().isidentifier():
            raise WrongOption(f"--set takes name=value. Got {pair!r}.")
        try:
            settings[name.strip()] = json.loads(value)
        except json.JSONDecodeError:
            settings[name.strip()] = value
    return settings


def check_settings(settings: Mapping[str, Any], method: str) -> None:
    """Refuse parameters that the method does not have."""
    without = (*_NOT_SETTINGS, *BY_NAME[method].fixed)
    # the first is the data, or the estimator itself
    names = [name for name in list(_parameters(method))[1:] if name not in without]
    for name in settings:
        if name not in names:
            raise WrongOption(
                f"--method {method} has no parameter {name!r} (--set). It has {', '.join(names) or 'none'}."
            )


def _load(method: Method) -> Any:
    """The function or estimator behind a method."""
    module, _, name = method.call.partition(":")
    return getattr(import_module(module), name)


def _parameters(method: str) -> Mapping[str, inspect.Parameter]:
    call = _load(BY_NAME[method])
    return inspect.signature(call.__init__ if inspect.isclass(call) else call).parameters


def build_tree(run: Run) -> Tree:
    """The tree of any method but auto, which `fit` builds together with its report."""
    method = BY_NAME[run.method]
    values = run.data.as_input()
    if method.needs_graph and run.data.kind != "graph":
        with run.console.stage("neighbors"):
            values = neighbor_graph(run)
    call = _load(method)
    options = {**method.fixed, **_options(run, method)}
    build = _fit_estimator if inspect.isclass(call) else _call
    try:
        return build(run, call, values, options)
    except TypeError as error:
        if run.settings and not str(error).endswith("."):
            # a parameter of the wrong type, met deep inside
            given = ", ".join(f"{name}={value!r}" for name, value in run.settings.items())
            raise WrongOption(f"--set {given} does not work with --method {run.method}: {error}.") from error
        raise


def _options(run: Run, method: Method) -> dict[str, Any]:
    """What the command line decides besides ``--set``, if the method has such a parameter."""
    is_array = run.data.kind in ("vectors", "distances") and not method.needs_graph
    known = {
        "metric": run.metric if run.data.kind == "vectors" and is_array else None,
        "kind": run.data.kind if is_array else None,
        "random_state": run.seed,
        "n_jobs": run.running.threads,
    }
    accepted = _parameters(run.method)
    return {name: value for name, value in known.items() if name in accepted and value is not None}


def _call(run: Run, call: Callable[..., Tree], values: Any, options: dict[str, Any]) -> Tree:
    options = {**options, **run.settings}
    if "progress" in inspect.signature(call).parameters:
        return _as_tree(call(values, progress=run.console.progress, **options))
    expected = _expected_seconds(call, values, options) if run.console.shows_bars else None
    with run.console.stage(run.method, expected):
        return _as_tree(call(values, **options))


def _as_tree(found: Any) -> Tree:
    """The tree; flat clusters become the children of its root."""
    if isinstance(found, Tree):
        return found
    groups = np.unique(found, return_inverse=True)[1]
    return Tree.from_groups([-1] + [0] * (int(groups.max()) + 1), groups + 1)


def _expected_seconds(call: Callable[..., Tree], values: Any, options: dict[str, Any]) -> float | None:
    """How long a linkage of vectors will take, which is one long call: by a sample, as it grows with the square."""
    if call.__name__ != "linkage" or not hasattr(values, "__len__") or len(values) < 4 * _SAMPLED_ROWS:
        return None
    sample = values[:: len(values) // _SAMPLED_ROWS][:_SAMPLED_ROWS]
    # loads and compiles
    call(sample[:10], **options)
    began = time.perf_counter()
    call(sample, **options)
    return (time.perf_counter() - began) * (len(values) / len(sample)) ** 2


def _fit_estimator(run: Run, call: Any, values: Any, options: dict[str, Any]) -> Tree:
    accepted = _parameters(run.method)
    if "checkpoint" in accepted and run.folder is not None:
        options["checkpoint"] = run.inner_folder("method")
    if "verbose" in accepted:
        options["verbose"] = run.console.shows_bars
    if run.method == "l2h" and run.data.feature_names is not None and "class_names" not in run.settings:
        options["class_names"] = run.data.feature_names
    with run.console.stage(run.method):
        model = call(**{**options, **run.settings}).fit(values)
    return _as_tree(model.tree_ if hasattr(model, "tree_") else model.labels_)
