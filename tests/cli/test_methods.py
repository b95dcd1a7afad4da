"""Options and methods of the command line, in pairs: what goes together works, what does not is refused by name."""

import numpy as np
import pytest
import scipy.sparse as sp
from quick_systems import QUICK, SLOW
from sklearn.datasets import make_blobs

from arbora.baselines import describe
from arbora.cli._app import METHODS
from arbora.cli._console import Console
from arbora.cli._exit import UNUSABLE, USAGE, CommandError
from arbora.cli._options import Running
from arbora.cli._run import Run
from arbora.cli.fit import fit_tree
from arbora.cli.methods import BY_NAME, check_data, check_settings, chosen_metric, read_settings
from arbora.reading import Dataset

X, Y = make_blobs(24, centers=[[9, 0, 0], [0, 9, 0], [0, 0, 9]], n_features=3, random_state=0)
X = np.abs(X)
NAMES = [f"p{k}" for k in range(24)]
METRICS = (None, "cosine", "euclidean", "cityblock")


def data_of(kind):
    distances = np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))
    values = {
        "vectors": X,
        "graph": sp.csr_array(np.kron(np.eye(3), np.ones((8, 8))) - np.eye(24)),
        "distances": distances,
        "similarities": 1 / (1 + distances),
    }
    return Dataset(values[kind], kind, "blobs", "npy", names=NAMES)


def test_the_table_of_methods_is_the_one_in_the_help():
    assert tuple(BY_NAME) == METHODS


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("kind", ["vectors", "graph", "distances", "similarities"])
@pytest.mark.parametrize("method", METHODS)
def test_every_pair_of_method_data_and_metric_works_or_is_refused(method, kind, metric, monkeypatch):
    data = data_of(kind)
    known = BY_NAME[method]
    if method != "auto" and describe(method).reason is not None:
        pytest.skip(describe(method).reason)
    if metric is not None and (kind != "vectors" or metric not in known.metrics):
        with pytest.raises(CommandError, match="--metric") as caught:
            chosen_metric(method, metric, kind)
        assert caught.value.code == USAGE
        return
    run = Run(
        data,
        method,
        chosen_metric(method, metric, kind),
        Running(0, 1),
        Console(quiet=True),
        QUICK.get(method, {}),
    )
    if kind not in known.takes:
        with pytest.raises(CommandError, match=f"--method {method} takes") as caught:
            check_data(run)
        assert caught.value.code == UNUSABLE
        return
    check_data(run)
    if metric not in (None, "cosine", "euclidean") and method != "average":
        # one linkage stands for all of them
        return
    if method in SLOW:
        pytest.skip("run by tests/baselines/test_registry.py -m slow")
    if method in QUICK and method not in ("hyphc", "ghhc", "fph") and (kind, metric) != ("vectors", None):
        # those that train are given the same data in another form, which others show to work
        return
    tree = fit_tree(run).tree
    if method == "l2h":
        assert tree.n_leaves == 3
        return
    assert tree.n_leaves == 24
    assert [tree.label(leaf) for leaf in range(24)] == NAMES
    if method in ("auto", "average", "ward", "complete", "paris") and kind != "similarities":
        labels = tree.cut(n_clusters=3, exact="nearest")
        assert len(set(zip(labels.tolist(), np.sort(Y) if kind == "graph" else Y.tolist()))) == 3


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "cityblock", "correlation", "chebyshev"])
def test_the_metric_of_a_linkage_is_the_one_asked_for(metric):
    from scipy.cluster.hierarchy import linkage

    run = Run(
        data_of("vectors"), "average", chosen_metric("average", metric), Running(0, 1), Console(quiet=True)
    )
    heights = fit_tree(run).tree.height[24:]
    assert np.allclose(np.sort(heights), linkage(X, "average", metric)[:, 2])


@pytest.mark.parametrize("method", METHODS)
def test_a_parameter_that_a_method_does_not_have_is_refused(method):
    with pytest.raises(CommandError, match="no_such") as caught:
        check_settings({"no_such": 1}, method)
    assert caught.value.code == USAGE


@pytest.mark.parametrize(
    ("method", "name"),
    [
        ("average", "method"),
        ("ward", "metric"),
        ("auto", "random_state"),
        ("eph", "relaxation"),
        ("louvain", "similarity"),
    ],
)
def test_parameters_with_an_option_of_their_own_are_not_settings(method, name):
    with pytest.raises(CommandError, match="no parameter"):
        check_settings({name: "paris"}, method)


def test_settings_are_read_as_json_where_they_can_be():
    assert read_settings(["a=1", "b=true", "c=text", "d=[1, 2]"]) == {
        "a": 1,
        "b": True,
        "c": "text",
        "d": [1, 2],
    }
    with pytest.raises(CommandError, match="name=value"):
        read_settings(["nonsense"])


@pytest.mark.parametrize(
    ("method", "name"), [("auto", "n_neighbors"), ("hyphc", "max_epochs"), ("fph", "n_internal")]
)
def test_a_setting_of_the_wrong_type_is_an_error_in_arboras_words(method, name):
    run = Run(
        data_of("vectors"),
        method,
        chosen_metric(method, None),
        Running(0, 1),
        Console(quiet=True),
        {name: "abc"},
    )
    with pytest.raises((CommandError, ValueError, TypeError), match="abc"):
        fit_tree(run)


def test_a_system_that_reports_its_progress_is_heard():
    heard = Console(quiet=True)
    fit_tree(Run(data_of("vectors"), "ufit", "euclidean", Running(0, 1), heard, {"max_epochs": 3}))
    assert "fit" in heard.seconds


def test_costs_before_and_after_the_search_are_those_of_one_graph():
    run = Run(data_of("vectors"), "auto", "cosine", Running(0, 1), Console(quiet=True))
    cost = fit_tree(run).cost
    assert cost["after"] <= cost["before"]
    refined = Run(data_of("vectors"), "single", "euclidean", Running(0, 1), Console(quiet=True))
    cost = fit_tree(refined, refine=True).cost
    assert cost["after"] <= cost["before"]


def test_the_same_run_gives_the_same_tree():
    trees = [
        fit_tree(Run(data_of("vectors"), "auto", "cosine", Running(), Console(quiet=True))).tree
        for _ in range(2)
    ]
    assert trees[0] == trees[1]
