"""One vocabulary: the table of CONTRIBUTING.md, held against every public signature.

Each rule takes a public callable and yields what is wrong with it. Packages in `NOT_YET` may still have offenders;
one that has none any more must leave the list.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
from sklearn.base import BaseEstimator

PACKAGES = (
    "arbora",
    "arbora.baselines",
    "arbora.hyperbolic",
    "arbora.insight",
    "arbora.linkages",
    "arbora.logits",
    "arbora.metrics",
    "arbora.nn",
    "arbora.probabilistic",
    "arbora.reading",
    "arbora.search",
    "arbora.similarity",
    "arbora.tasks",
    "arbora.tree",
    "arbora.view",
)

NOT_YET: set[str] = set()

INSTEAD_OF = {
    "sim": "similarity",
    "similarities": "similarity",
    "graph": "similarity",
    "dissimilarity": "distances",
    "assignments": "leaf_of_point",
    "y_true": "y",
    "y_pred": "labels",
    "restarts": "n_init or n_perturbations",
    "n_restarts": "n_init or n_perturbations",
    "return_report": "nothing: TreeClustering has report_",
    "callback": "progress, or scikit-learn's callbacks",
    "on_progress": "progress",
    "seed": "random_state",
    "rng": "random_state",
    "n_steps": "max_steps",
    "n_epochs": "max_epochs",
    "max_iter": "max_steps or max_epochs",
    "n_threads": "n_jobs",
    "workers": "n_jobs",
    "threads": "n_jobs",
    "neighbors": "n_neighbors",
    "n_neighbours": "n_neighbors",
    "k": "n_clusters or n_neighbors",
    "timeout": "max_seconds",
    "strips": "metadata",
    "colours": "colors",
    "normalise": "normalize",
    "n_nodes_internal": "n_internal",
}
# Words of the vocabulary that have another, well known meaning in one place.
ALLOWED = {
    # networkx's own word for what is converted
    "Tree.from_networkx": {"graph"},
    # PyTorch modules receive a batch of numbers, not a similarity
    "HypHCLoss.forward": {"similarities"},
}
IN_PICTURES_INSTEAD_OF = {
    "labels": "names (of leaves) or classes",
    "row_labels": "row_names",
    "col_labels": "col_names",
}
DEFAULTS: dict[str, tuple[Any, ...]] = {
    "n_jobs": (None,),
    "random_state": (None,),
    "verbose": (False,),
    "progress": (None,),
    "checkpoint": (None,),
    "max_seconds": (None,),
    "n_neighbors": (10, None),
    "n_init": (1,),
    "n_perturbations": (0, None),
    "normalize": (False,),
    "leaf_of_point": (None,),
    "objective": ("dasgupta",),
    "refine": (False,),
}
OTHER_DEFAULTS = {
    # as in its paper
    ("tree_sampling_divergence", "normalize"): True,
    # the paper compares each embedding with 50
    ("TEMI", "n_neighbors"): 50,
    # better than the tree without on every set tried
    ("L2H", "refine"): True,
    # measurements by sampling: the same each time unless asked otherwise
    ("ClusterReport.bounds", "random_state"): 0,
    ("measure_spread", "random_state"): 0,
}
KEYWORD_ONLY = (
    "n_jobs",
    "random_state",
    "verbose",
    "progress",
    "checkpoint",
    "checkpoint_every",
    "max_seconds",
    "normalize",
)
FLAT_MODELS = {"TURTLE", "TEMI"}


class Public(NamedTuple):
    """A public callable: its name as a user writes it, the package it is from, and its parameters without `self`."""

    name: str
    package: str
    is_estimator: bool
    parameters: dict[str, inspect.Parameter]

    def position(self, parameter: str) -> int | None:
        return list(self.parameters).index(parameter) if parameter in self.parameters else None

    def takes_by_position(self, parameter: str) -> bool:
        return self.parameters[parameter].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD


def public_callables() -> Iterator[Public]:
    seen: set[int] = set()
    for module in map(importlib.import_module, PACKAGES):
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            if inspect.ismodule(value) or not callable(value) or id(value) in seen:
                continue
            seen.add(id(value))
            yield from _callables_of(name, value)


def _callables_of(name: str, value: Any) -> Iterator[Public]:
    package = getattr(value, "__module__", "").removeprefix("arbora.").split(".")[0]
    if not inspect.isclass(value):
        yield Public(name, package, False, _parameters(value))
        return
    if getattr(value.__init__, "__module__", "").startswith("arbora"):
        yield Public(name, package, issubclass(value, BaseEstimator), _parameters(value.__init__))
    for attribute, method in inspect.getmembers(value, inspect.isroutine):
        if attribute.startswith("_") or not getattr(method, "__module__", "").startswith("arbora"):
            continue
        yield Public(f"{name}.{attribute}", package, False, _parameters(method))


def _parameters(call: Any) -> dict[str, inspect.Parameter]:
    found = dict(inspect.signature(call).parameters)
    found.pop("self", None)
    return found


# ---- the rules -----------------------------------------------------------------------------------------------


def forbidden_names(call: Public) -> Iterator[str]:
    allowed = ALLOWED.get(call.name, set())
    instead = {**INSTEAD_OF, **(IN_PICTURES_INSTEAD_OF if _is_picture(call) else {})}
    for parameter in call.parameters:
        if parameter in instead and parameter not in allowed:
            yield f"{parameter} is not in the vocabulary: say {instead[parameter]}"


def _is_picture(call: Public) -> bool:
    method = call.name.removeprefix("Tree.")
    return call.package == "view" or method in ("plot", "explore", "to_html", "to_itol")


def defaults(call: Public) -> Iterator[str]:
    for name, parameter in call.parameters.items():
        if parameter.default is inspect.Parameter.empty or name not in DEFAULTS:
            continue
        wanted = DEFAULTS[name]
        if (call.name, name) in OTHER_DEFAULTS:
            wanted = (OTHER_DEFAULTS[call.name, name],)
        if not any(parameter.default is value or parameter.default == value for value in wanted):
            yield f"{name} defaults to {parameter.default!r}, not to {' or '.join(map(repr, wanted))}"


def options_are_keyword_only(call: Public) -> Iterator[str]:
    for name in KEYWORD_ONLY:
        # `small_hsbm(0)`: the only parameter may come by position
        if name in call.parameters and call.takes_by_position(name) and len(call.parameters) > 1:
            yield f"{name} must be keyword-only"


def order_around_the_tree(call: Public) -> Iterator[str]:
    if "tree" not in call.parameters:
        return
    if call.position("tree") != 0:
        yield "tree must come first"
    for name, before in (("similarity", 1), ("y", 2)):
        position = call.position(name)
        if position is None or not call.takes_by_position(name):
            continue
        if position > before or (name == "y" and position == 2 and "similarity" not in call.parameters):
            yield f"{name} must come right after tree"


def points_and_leaves(call: Public) -> Iterator[str]:
    """`(tree, y, leaf_of_point=None)`, and `(y, labels)` for flat clusterings."""
    y = call.position("y")
    for later in ("leaf_of_point", "labels"):
        position = call.position(later)
        if y is not None and position is not None and position < y:
            yield f"y must come before {later}"


def data_first(call: Public) -> Iterator[str]:
    names = list(call.parameters)
    method = call.name.rpartition(".")[2]
    if "." in call.name and method in ("fit", "partial_fit", "predict", "predict_proba", "transform"):
        if names[:1] != ["X"]:
            yield f"X must come first, not {names[0]}"
    elif call.package == "linkages" and names[0] not in ("data", "similarity"):
        yield f"data (or similarity) must come first, not {names[0]}"


def estimators(call: Public) -> Iterator[str]:
    if not call.is_estimator:
        return
    first = next(iter(call.parameters), None)
    if first != "n_clusters":
        yield f"n_clusters must come first, not {first}"
    wanted = 8 if call.name in FLAT_MODELS else 2
    if "n_clusters" in call.parameters and call.parameters["n_clusters"].default != wanted:
        yield f"n_clusters defaults to {call.parameters['n_clusters'].default!r}, not to {wanted}"
    for name in list(call.parameters)[1:]:
        if call.takes_by_position(name):
            yield f"{name} must be keyword-only"


def predict_at_any_number_of_clusters(call: Public) -> Iterator[str]:
    """Estimators of trees predict at any number of clusters; flat models have only one."""
    owner, _, method = call.name.partition(".")
    if method != "predict" or owner in FLAT_MODELS:
        return
    if list(call.parameters)[1:2] != ["n_clusters"] or call.parameters["n_clusters"].default is not None:
        yield "must be predict(X, n_clusters=None)"


RULES: tuple[Callable[[Public], Iterator[str]], ...] = (
    forbidden_names,
    defaults,
    options_are_keyword_only,
    order_around_the_tree,
    points_and_leaves,
    data_first,
    estimators,
    predict_at_any_number_of_clusters,
)


# ---- the tests -----------------------------------------------------------------------------------------------


def offenders() -> dict[str, list[str]]:
    """What is wrong, by package."""
    found: dict[str, list[str]] = {}
    for call in public_callables():
        for rule in RULES:
            found.setdefault(call.package, []).extend(f"{call.name}: {problem}" for problem in rule(call))
    return {package: problems for package, problems in found.items() if problems}


def test_every_public_signature_keeps_to_the_vocabulary():
    found = {package: problems for package, problems in offenders().items() if package not in NOT_YET}
    assert not found, "\n" + "\n".join(line for problems in found.values() for line in problems)


def test_packages_without_offenders_leave_the_list_of_exceptions():
    assert not NOT_YET - set(offenders())


def test_every_public_name_is_held_to_the_table():
    names = {call.name for call in public_callables()}
    assert {"cluster", "TreeClustering", "TreeClustering.predict", "Tree.cut", "HypHC", "refine"} <= names
    assert len(names) > 100


@pytest.mark.parametrize(
    ("signature", "problem"),
    [
        (lambda tree, sim: None, "say similarity"),
        (lambda similarity, tree: None, "tree must come first"),
        (lambda tree, leaf_of_point, y: None, "y must come before leaf_of_point"),
        (lambda labels, y: None, "y must come before labels"),
        (lambda data, n_jobs=1: None, "n_jobs defaults to 1"),
        (lambda tree, similarity, normalize=False: None, "normalize must be keyword-only"),
    ],
)
def test_the_rules_notice(signature, problem):
    call = Public("example", "metrics", False, _parameters(signature))
    assert any(problem in words for rule in RULES for words in rule(call))
