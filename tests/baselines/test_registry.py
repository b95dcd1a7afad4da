"""One registry: every system of the table runs on what it says it takes, and gives what it says it gives."""

import inspect
import subprocess
import sys

import numpy as np
import pytest
from quick_systems import QUICK, SLOW
from sklearn.datasets import make_blobs

import arbora as ab
from arbora.baselines.registry import SYSTEMS, parameters
from arbora.baselines.system import System
from arbora.errors import MissingExtraError

X, Y = make_blobs(30, centers=[[9, 0, 0], [0, 9, 0], [0, 0, 9]], n_features=3, random_state=0)
X = np.abs(X)


def data_for(system):
    if system.takes[0] == "graph":
        return ab.similarity.knn(X, n_neighbors=5)
    if system.takes[0] == "partly labeled vectors":
        return X, np.where(np.arange(30) % 3 == 0, Y, -1)
    if system.takes[0] == "tasks":
        return X, np.where(np.arange(30) % 5 == 0, np.nan, X[:, 0]), np.arange(30) % 2
    return X


def options_for(system):
    pairs = {"pairs": [[0, 1], [2, 3]]} if system.gives == "scores" else {}
    return {**QUICK.get(system.name, {}), **pairs}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in ab.baselines.names()],
)
def test_every_system_gives_what_it_says(name):
    system = ab.baselines.describe(name)
    if system.reason is not None:
        pytest.skip(system.reason)
    found = ab.baselines.fit(name, data_for(system), random_state=0, **options_for(system))
    if system.gives == "tree":
        assert isinstance(found, ab.Tree)
        assert found.n_leaves == (3 if system.takes == ("logits",) else 30)
    elif system.gives == "labels":
        assert found.dtype == np.int64 and found.shape == (30,)
    else:
        assert found.shape == ((2,) if system.gives == "scores" else (30,)) and np.isfinite(found).all()


@pytest.mark.parametrize("name", ab.baselines.names())
def test_every_system_says_where_it_is_from_and_what_it_needs(name):
    system = ab.baselines.describe(name)
    assert system.paper and system.library and system.title
    assert inspect.getdoc(system.load())
    assert set(system.fixed) <= set(inspect.signature(system.load()).parameters)
    assert f"takes: {', '.join(system.takes)}" in str(system)


def test_names_can_be_asked_for_by_what_systems_take_and_give():
    assert {"average", "ward", "birch"} <= set(ab.baselines.names("vectors"))
    assert "birch" not in ab.baselines.names("graph")
    assert set(ab.baselines.names("labels")) & {"dcsbm", "label-propagation"}
    with pytest.raises(ValueError, match="kind must be one of"):
        ab.baselines.names("trees")


def test_a_number_of_clusters_turns_a_tree_into_labels():
    labels = ab.baselines.fit("average", X, n_clusters=3)
    assert len({*zip(labels.tolist(), Y.tolist())}) == 3


def test_the_same_seed_gives_the_same_answer():
    graph = ab.similarity.knn(X, n_neighbors=5)
    first, second = (ab.baselines.fit("deepwalk-ward", graph, random_state=3) for _ in range(2))
    assert first == second


def test_label_propagation_keeps_the_classes_that_were_known():
    graph = ab.similarity.knn(X, n_neighbors=5)
    labels = ab.baselines.fit("label-propagation", (graph, np.where(np.arange(30) % 3 == 0, Y + 4, -1)))
    assert (labels == Y + 4).all()


@pytest.mark.parametrize(
    ("name", "data", "options", "words"),
    [
        ("no-such", X, {}, "name must be one of"),
        ("louvain", X, {}, "louvain takes graph. Got vectors. Pass arbora.similarity.knn"),
        ("birch", ([0, 1], [1, 2]), {}, "birch takes vectors. Got graph"),
        ("ward", X, {"n_trees": 3}, "ward has no parameter 'n_trees'"),
        ("ward", X, {"method": "single"}, "ward has no parameter 'method'"),
        ("dcsbm", ([0, 1], [1, 2]), {"n_clusters": 2}, "chooses the number of clusters itself"),
        ("label-propagation", X, {}, "tuple"),
        ("mtrl", X, {}, "tuple"),
    ],
)
def test_wrong_calls_are_refused_in_words(name, data, options, words):
    with pytest.raises((ValueError, TypeError), match=words):
        ab.baselines.fit(name, data, **options)


def test_a_system_whose_package_is_absent_keeps_its_row_and_says_why(monkeypatch):
    absent = System(
        "absent", "Absent", ("vectors",), "tree", "nobody", "json:loads", needs=("no_such_package",)
    )
    monkeypatch.setitem(SYSTEMS, "absent", absent)
    assert "absent" in ab.baselines.names()
    assert "cannot run here: Absent needs no_such_package" in str(ab.baselines.describe("absent"))
    with pytest.raises(MissingExtraError, match="pip install no_such_package"):
        ab.baselines.fit("absent", X)


def test_a_system_that_cannot_run_anywhere_says_why():
    assert "needs a GPU" in ab.baselines.describe("tcl-images").reason
    with pytest.raises(ValueError, match="tcl-images cannot run: TCL trains"):
        ab.baselines.fit("tcl-images", X)


def test_eph_descends_the_expected_cost_by_its_published_gradient():
    """Straight-through at sampled trees (Kollovieh et al. 2024), which FPH has as one of its relaxations."""
    from arbora.probabilistic import small_hsbm

    graph = small_hsbm(0).adjacency
    options = {"n_internal": 16, "max_epochs": 5}
    expected = ab.FPH(relaxation="straight-through", random_state=0, **options).fit(graph).tree_
    assert ab.baselines.fit("eph", graph, random_state=0, **options) == expected


def test_parameters_leave_out_the_data_and_what_is_fixed():
    assert parameters(SYSTEMS["average"])[:2] == ["metric", "kind"]
    assert "dimension" in parameters(SYSTEMS["deepwalk-ward"])


def test_the_registry_loads_none_of_the_systems():
    code = (
        "import sys, arbora; arbora.baselines.names();"
        "print([m for m in ('torch', 'numba', 'sklearn', 'umap', 'genieclust') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", ["adamic-adar", "dcsbm-links"])
@pytest.mark.parametrize(
    "pairs", [1j, 3, None, "ab", [0, 1], [[0, 1, 2]], [[0.0, 1.0]], [[0, 3]], [[-1, 0]], [[0], [1, 2]]]
)
def test_pairs_that_are_none_of_the_graph_are_refused_by_name(name, pairs):
    with pytest.raises(ValueError, match="pairs must"):
        ab.baselines.fit(name, ([0, 1], [1, 2]), pairs=pairs, random_state=0)
