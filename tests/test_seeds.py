"""Examples and tests give the same outcome every time: what draws at random is given a seed."""

import ast
import doctest
import importlib
import inspect
import pkgutil

import numpy as np
import pytest

import arbora

# docstrings whose examples call something that can draw, but not as it is called there
DRAW_NOTHING = {
    "arbora.baselines.registry.fit": "Ward's linkage is not random",
    "arbora.errors.ConstraintError": "the call is refused",
    "arbora.metrics.bounds.dasgupta_bounds": "all triples, unless n_samples is given",
    "arbora.metrics.bounds.wang_base_cost": "all triples, unless n_samples is given",
    "arbora.metrics.bounds.wang_cost": "all triples, unless n_samples is given",
    "arbora.insight.members.similar": "only an unknown scale is estimated from a sample",
    "arbora.search.insert.insert": "neighbors are drawn from among more than 20,000 rows only",
    "arbora.similarity.gaussian.GaussianSimilarity": "only an unknown scale is estimated from a sample",
    "arbora.similarity.gaussian.gaussian": "only an unknown scale is estimated from a sample",
    "arbora.similarity.growth.grown": "neighbors are drawn from among more than 20,000 rows only",
    "arbora.similarity.knn.KnnSimilarity": "neighbors are drawn from among more than 20,000 rows only",
    "arbora.similarity.knn.knn": "neighbors are drawn from among more than 20,000 rows only",
    "arbora.similarity.knn_growth.neighbors_in_graph": "neighbors are drawn from among more than 20,000 rows only",
}


def modules():
    for module in pkgutil.walk_packages(arbora.__path__, "arbora."):
        # programs, which run when they are imported
        if not module.name.endswith(("__main__", ".worker")):
            yield importlib.import_module(module.name)


def examples():
    """Every docstring with examples, once, as (name, what its names mean, source)."""
    found = {}
    for module in modules():
        for test in doctest.DocTestFinder(exclude_empty=True).find(module):
            if test.examples:
                found[test.name] = (vars(module), "".join(example.source for example in test.examples))
    return found


def resolved(expression, names):
    """What a name or an attribute of one means; None where only running it would say."""
    if isinstance(expression, ast.Name):
        return names.get(expression.id)
    if isinstance(expression, ast.Attribute):
        return getattr(resolved(expression.value, names), expression.attr, None)
    return None


def names_in(source, known):
    """Names that a program imports, beside those already known."""
    names = dict(known)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                names[alias.asname or alias.name.split(".")[0]] = importlib.import_module(
                    alias.name if alias.asname else alias.name.split(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            module = importlib.import_module(node.module)
            names |= {alias.asname or alias.name: getattr(module, alias.name, None) for alias in node.names}
    return names


def can_draw(function):
    """Whether a call draws from a new seed unless it is given one."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
    return "random_state" in parameters and parameters["random_state"].default is None


def is_seeded(call, function):
    """Whether a call passes a seed, or keyword arguments that may hold one."""
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    if None in given:
        return True
    names = [
        name
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind is not inspect.Parameter.KEYWORD_ONLY
    ]
    seed = given.get("random_state", dict(zip(names, call.args)).get("random_state"))
    return seed is not None and not (isinstance(seed, ast.Constant) and seed.value is None)


def draws_anew(call, function):
    """Whether a call makes a generator without a seed, draws from the one of the process, or leaves the seed open."""
    if function in (np.random.default_rng, np.random.RandomState):
        return not (call.args or call.keywords)
    if getattr(function, "__self__", None) is np.random.normal.__self__:
        return function.__name__ != "seed"
    return can_draw(function) and not is_seeded(call, function)


def unseeded(source, known):
    """Calls in a program that draw from a new seed, each as it is written."""
    names = names_in(source, known)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and draws_anew(node, resolved(node.func, names)):
            yield ast.unparse(node)


def test_examples_in_docstrings_have_seeds():
    found = {
        name: list(calls)
        for name, (known, source) in examples().items()
        if (calls := list(unseeded(source, known)))
    }
    assert {name: calls for name, calls in found.items() if name not in DRAW_NOTHING} == {}
    assert sorted(set(DRAW_NOTHING) - set(found)) == [], "no exceptions any more"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import arbora as ab\nab.cluster(X)", ["ab.cluster(X)"]),
        ("import arbora as ab\nab.cluster(X, random_state=None)", ["ab.cluster(X, random_state=None)"]),
        ("import arbora as ab\nab.cluster(X, random_state=0).cut(2)", []),
        ("import arbora as ab\nab.cluster(X, **options)", []),
        ("from arbora import TreeClustering\nTreeClustering(3).fit(X)", ["TreeClustering(3)"]),
        ("from arbora.probabilistic import small_hsbm\nsmall_hsbm(0), small_hsbm()", ["small_hsbm()"]),
        ("import numpy as np\nnp.random.default_rng().random()", ["np.random.default_rng()"]),
        ("import numpy as np\nnp.random.normal(size=3)", ["np.random.normal(size=3)"]),
        ("import numpy as np\nnp.random.default_rng(0).random()", []),
    ],
)
def test_a_call_without_a_seed_is_found(source, expected):
    assert list(unseeded(source, {})) == expected
