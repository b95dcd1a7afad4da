"""Systems that learn from some known answers, and those that are put together from parts."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

import arbora as ab
from arbora.baselines import on_graphs
from arbora.baselines.packages import bridged, tree_of_layers
from arbora.baselines.registry import FIT_NAMES, SYSTEMS, _kind_of, parameters
from arbora.baselines.supervised import label_propagation, relationship_learning, single_task
from arbora.baselines.system import GIVES, TAKES, System

X = np.vstack([np.random.default_rng(0).normal(c, 0.3, size=(10, 2)) for c in ([5, 0], [0, 5])])
Y = np.repeat([3, 8], 10)
SOME = np.where(np.arange(20) % 5 == 0, Y, -1)
EDGES = ([0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3])


# ---- label propagation -------------------------------------------------------------------------------------------


def test_labels_spread_and_keep_their_numbers():
    np.testing.assert_array_equal(label_propagation((np.abs(X), SOME)), Y)
    assert label_propagation((np.abs(X), SOME)).dtype == np.int64


def test_a_similarity_serves_as_well_as_vectors():
    np.testing.assert_array_equal(label_propagation((ab.similarity.knn(X, 5), SOME)), Y)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (SOME[:5], r"y must hold one whole number per point.*\(20,\). Got shape \(5,\)"),
        (SOME.astype(float), "dtype float64"),
        (np.full(20, -1), "the class of at least one point. Got only -1"),
    ],
)
def test_classes_that_cannot_be_spread_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        label_propagation((np.abs(X), y))


@pytest.mark.parametrize("data", [[X, SOME], (X,), (X, SOME, SOME), X])
def test_data_that_is_no_pair_is_refused(data):
    with pytest.raises(TypeError, match=r"data must be a tuple \(X, y\)"):
        label_propagation(data)


# ---- regressions -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("system", [single_task, relationship_learning])
def test_missing_targets_are_predicted_task_by_task(system):
    rng = np.random.default_rng(0)
    rows, task = rng.normal(size=(120, 2)), np.repeat(["a", "b", "c"], 40)
    true = {"a": [2.0, 0.0], "b": [-2.0, 1.0], "c": [0.0, -3.0]}
    y = np.array([row @ true[t] for row, t in zip(rows, task)])
    hidden = np.arange(120) % 4 == 0
    guess = system((rows, np.where(hidden, np.nan, y), task))
    assert guess.shape == (120,) and np.corrcoef(guess[hidden], y[hidden])[0, 1] > 0.98


@pytest.mark.parametrize("data", [(X, Y), [X, Y, Y], X])
def test_data_that_is_no_triple_is_refused(data):
    with pytest.raises(TypeError, match=r"data must be a tuple \(X, y, task\)"):
        single_task(data)


# ---- graphs ------------------------------------------------------------------------------------------------------

ADJACENCY = ab.similarity.graph(EDGES).csr


@pytest.mark.parametrize(
    "same", [EDGES, ADJACENCY, sp.coo_array(ADJACENCY), ab.similarity.graph(EDGES), nx.Graph(zip(*EDGES))],
    ids=["edges", "csr", "coo", "similarity", "networkx"],
)  # fmt: skip
def test_a_graph_is_read_in_every_form(same):
    assert on_graphs.is_graph(same)
    np.testing.assert_array_equal(on_graphs.read_graph(same, "x").csr.toarray(), ADJACENCY.toarray())


def test_vectors_are_no_graph():
    assert not on_graphs.is_graph(X)
    with pytest.raises(TypeError, match=r"x needs a graph. .* has no sparse form: use similarity.knn\(X\)"):
        on_graphs.read_graph(ab.similarity.cosine(X), "x")


def test_names_of_a_networkx_graph_are_those_of_the_leaves():
    named = nx.relabel_nodes(nx.Graph(zip(*EDGES)), dict(enumerate("abcdef")))
    for system in (on_graphs.deepwalk_linkage, on_graphs.deepwalk_ufit):
        options = {"max_epochs": 3} if system is on_graphs.deepwalk_ufit else {}
        tree = system(named, dimension=3, random_state=0, **options)
        assert sorted(tree.label(leaf) for leaf in range(6)) == list("abcdef")


def test_adamic_adar_counts_common_neighbors_by_their_degree():
    pairs = [(i, j) for i in range(6) for j in range(i)]
    W = ADJACENCY.toarray() > 0
    degree = W.sum(axis=1)
    wanted = [sum(1 / np.log(degree[k]) for k in range(6) if W[i, k] and W[j, k]) for i, j in pairs]
    np.testing.assert_allclose(on_graphs.adamic_adar(EDGES, pairs), wanted)


@pytest.mark.parametrize("system", [on_graphs.block_model_links, on_graphs.deepwalk_links])
def test_scores_of_pairs_repeat_and_do_not_depend_on_the_order_of_a_pair(system):
    pairs = [(0, 1), (1, 0), (0, 5)]
    first, second = (system(EDGES, pairs, random_state=0) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert first[0] == pytest.approx(first[1]) and first[0] > first[2]


# ---- packages ----------------------------------------------------------------------------------------------------


def test_heights_at_infinity_become_twice_the_largest():
    merges = np.array([[0, 1, 0.5, 2], [2, 3, np.inf, 2], [4, 5, np.inf, 4]])
    assert bridged(merges)[:, 2].tolist() == [0.5, 1.0, 1.0]
    np.testing.assert_array_equal(bridged(merges)[:, [0, 1, 3]], merges[:, [0, 1, 3]])
    assert bridged(np.array([[0, 1, np.inf, 2]]))[:, 2].tolist() == [1.0]


@pytest.mark.parametrize(
    ("layers", "newick"),
    [
        ([], "(0,1,2,3);"),
        ([[0, 0, 1, 1]], "((0,1),(2,3));"),
        ([[-1, -1, -1, -1]], "(0,1,2,3);"),
        ([[0, 0, -1, -1], [0, 0, 0, -1]], "(((0,1),2),3);"),
        ([[0, 0, 2, 2]], "((0,1),(2,3));"),
        ([[0, 0, 0, 1], [0, 0, 1, 1]], "((0,1,2),3);"),
    ],
)
def test_layers_become_the_tree_of_their_nesting(layers, newick):
    found = tree_of_layers([np.array(layer) for layer in layers], 4)
    assert found.collapse_unary().same_topology(ab.Tree.from_newick(newick).replace(name=None))


# ---- records -----------------------------------------------------------------------------------------------------


def test_every_record_uses_the_words_of_the_registry():
    for name, system in SYSTEMS.items():
        assert name == system.name and name == name.lower()
        assert set(system.takes) <= set(TAKES) and system.gives in GIVES
        assert not set(system.fixed) & set(parameters(system)), name


def test_what_the_command_offers_takes_plain_data_and_gives_clusters():
    for name in FIT_NAMES:
        system = SYSTEMS[name]
        assert system.gives in ("tree", "labels") and not system.cannot
        assert not {"tasks", "partly labeled vectors"} & set(system.takes)
    assert {"average", "ward", "hyphc", "fph", "l2h"} <= set(FIT_NAMES)


def test_a_record_in_words():
    record = System("x", "X", ("vectors",), "tree", "Nobody 1900", "json:loads", deviations="none of note")
    assert str(record).splitlines()[:2] == ["X (x)", "takes: vectors"]
    assert record.reason is None and record.missing == () and record.load()("[1]") == [1]
    missing = System(
        "x", "X", ("graph",), "tree", "", "json:loads", needs=("no_such_thing",), extra="baselines"
    )
    assert missing.reason == "X needs no_such_thing. Install it with: pip install 'arbora[baselines]'"


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (X, "vectors"),
        (X.tolist(), "vectors"),
        (sp.csr_array(X), "vectors"),
        (ADJACENCY, "graph"),
        (EDGES, "graph"),
        (nx.path_graph(3), "graph"),
        (ab.similarity.graph(EDGES), "graph"),
        (ab.similarity.cosine(X), "similarities"),
    ],
)
def test_data_is_taken_for_what_it_is(data, kind):
    assert _kind_of(data) == kind
