"""The estimator: inputs, starts, never worse than the start, sampling, checkpoints, callbacks."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score

import arbora as ab
from arbora.errors import FormatError, TooLargeError
from arbora.probabilistic import small_hsbm
from arbora.probabilistic.start import STARTS, start_tree

GRAPH = small_hsbm(0)
SIMILARITY = ab.similarity.graph(GRAPH.adjacency)
QUICK = {"n_internal": 16, "max_epochs": 15, "random_state": 0, "n_jobs": 1}


def start_score(objective, init="average", n_internal=16):
    seed = np.random.RandomState(0).randint(2**31 - 1)
    tree = start_tree(SIMILARITY, init, n_internal, objective, np.random.default_rng(seed))
    if objective == "tsd":
        return -ab.metrics.tree_sampling_divergence(tree, SIMILARITY)
    return ab.metrics.dasgupta_cost(tree, SIMILARITY, normalize=True)


def loss_of(model):
    return -model.score_ if model.objective == "tsd" else model.score_


@pytest.mark.parametrize("objective", ["dasgupta", "tsd"])
@pytest.mark.parametrize("relaxation", ["expected", "soft", "straight-through"])
def test_training_never_returns_a_worse_tree_than_it_started_from(objective, relaxation):
    model = ab.FPH(objective=objective, relaxation=relaxation, **QUICK).fit(GRAPH.adjacency)
    assert loss_of(model) <= start_score(objective) + 1e-12
    assert model.tree_.n_leaves == 100
    assert model.tree_.n_internal <= 16


def test_defaults_improve_on_the_start_and_find_the_communities():
    model = ab.FPH(8, n_internal=32, max_epochs=60, random_state=0).fit(GRAPH.adjacency)
    assert model.score_ < start_score("dasgupta", n_internal=32)
    assert adjusted_rand_score(model.labels_, GRAPH.levels[2]) > 0.4
    assert model.best_epoch_ > 0
    assert model.score_ <= model.history_["cost"].min() + 1e-9  # spare nodes may have made it better since


@pytest.mark.parametrize("init", STARTS)
def test_every_start_gives_a_tree_and_a_model(init):
    model = ab.FPH(init=init, **QUICK).fit(GRAPH.adjacency)
    assert loss_of(model) <= start_score("dasgupta", init) + 1e-9
    np.testing.assert_allclose(model.A_.sum(axis=1), 1.0, atol=1e-9)
    assert model.A_.shape == (100, model.n_internal_)
    assert model.B_.shape == (model.n_internal_, model.n_internal_)


@pytest.mark.parametrize("optimizer", ["softmax", "embedding"])
@pytest.mark.parametrize("relaxation", ["soft", "expected"])
def test_unconstrained_parameters_train(optimizer, relaxation):
    model = ab.FPH(optimizer=optimizer, relaxation=relaxation, objective="tsd", **QUICK).fit(GRAPH.adjacency)
    assert loss_of(model) <= start_score("tsd") + 1e-12
    losses = model.history_["loss"][1:]
    assert np.isfinite(losses).all()
    if relaxation == "soft":
        assert losses[-1] < losses[0]


def test_started_from_a_given_tree_it_is_not_worse_than_that_tree():
    searched = ab.refine(start_tree(SIMILARITY, "average", 99, "dasgupta", None), SIMILARITY, random_state=0)
    given = searched.compress(16, SIMILARITY)
    model = ab.FPH(init=searched, **QUICK).fit(GRAPH.adjacency)
    assert model.score_ <= ab.metrics.dasgupta_cost(given, SIMILARITY, normalize=True) + 1e-12


def test_refinement_does_not_make_it_worse_and_keeps_the_number_of_nodes():
    plain = ab.FPH(**QUICK).fit(GRAPH.adjacency)
    refined = ab.FPH(refine=True, **QUICK).fit(GRAPH.adjacency)
    assert refined.score_ <= plain.score_
    assert refined.tree_.n_internal <= 16


def test_all_forms_of_a_graph_give_the_same_tree():
    rows, cols = sp.triu(GRAPH.adjacency, 1).nonzero()
    network = nx.Graph(zip(rows.tolist(), cols.tolist()))
    ordered = nx.Graph()
    ordered.add_nodes_from(range(100))
    ordered.add_edges_from(network.edges)
    forms = [GRAPH.adjacency, SIMILARITY, (rows, cols), ordered, sp.coo_matrix(GRAPH.adjacency)]
    trees = [ab.FPH(**QUICK).fit(form).tree_ for form in forms]
    assert all(tree == trees[0] for tree in trees)


def test_directed_edges_are_added_up():
    directed = sp.csr_array(([1.0, 1.0, 1.0], ([0, 1, 1], [1, 0, 2])), shape=(3, 3))
    model = ab.FPH(**QUICK).fit(directed)
    assert model.similarity_.pairs([0, 1], [1, 2]).tolist() == [2.0, 1.0]
    assert ab.FPH(directed="max", **QUICK).fit(directed).similarity_.pairs([0], [1]).tolist() == [1.0]


def test_several_components_are_kept_apart():
    block = np.ones((4, 4)) - np.eye(4)
    model = ab.FPH(n_clusters=2, **{**QUICK, "n_internal": 3}).fit(sp.csr_array(np.kron(np.eye(2), block)))
    assert adjusted_rand_score(model.labels_, [0] * 4 + [1] * 4) == 1.0


@pytest.mark.parametrize("n", [1, 2, 3])
def test_tiny_graphs_have_a_tree(n):
    adjacency = sp.csr_array(np.ones((n, n)) - np.eye(n))
    model = ab.FPH(n_clusters=1, **QUICK).fit(adjacency)
    assert model.tree_.n_leaves == n
    assert model.labels_.tolist() == [0] * n
    assert len(model.sample_trees(2, random_state=0)) == 2


def test_a_graph_without_edges_has_a_tree_and_no_score():
    model = ab.FPH(**QUICK).fit(sp.csr_array((5, 5)))
    assert model.tree_.n_leaves == 5
    assert np.isnan(model.score_)


def test_batches_train_too():
    model = ab.FPH(batch_size=30, batch_limit=60, evaluate_every=5, **{**QUICK, "max_epochs": 40}).fit(
        GRAPH.adjacency
    )
    assert model.score_ <= start_score("dasgupta") + 1e-12
    assert model.history_["step"].tolist() == list(range(0, 41, 5))


def test_the_elbow_chooses_among_powers_of_two():
    model = ab.FPH(**{**QUICK, "n_internal": "elbow"}).fit(GRAPH.adjacency)
    assert list(model.elbow_) == [8, 16, 32, 64]
    assert model.n_internal_ <= 64
    losses = list(model.elbow_.values())
    assert losses[-1] < losses[0]


def test_sampled_trees_follow_the_model():
    model = ab.FPH(init="random", **QUICK).fit(GRAPH.adjacency)
    assert model.A_.nnz > 100  # not yet one tree
    trees = model.sample_trees(30, random_state=1)
    assert all(tree.n_leaves == 100 for tree in trees)
    assert len({tree.parent.tobytes() for tree in trees}) > 1
    assert trees[0] == model.sample_trees(1, random_state=1)[0]


def test_leaf_support_is_a_probability_and_certain_at_the_root():
    model = ab.FPH(init="random", **QUICK).fit(GRAPH.adjacency)
    support = model.leaf_support()
    np.testing.assert_allclose(support, model.A_.max(axis=1).toarray().ravel())
    np.testing.assert_allclose(model.leaf_support(model.tree_.root), 1.0, atol=1e-9)
    inner = model.tree_.n_leaves
    members = np.isin(np.arange(100), model.tree_.leaves(inner))
    assert model.leaf_support(inner)[members].min() > 0
    with pytest.raises(ValueError, match="internal node"):
        model.leaf_support(3)


class Listener:
    """A scikit-learn callback that notes the fitted models and stops after some epochs."""

    def __init__(self, n_epochs=3):
        self.n_epochs = n_epochs
        self.models = []

    def setup(self, estimator, context): ...

    def on_fit_task_begin(self, estimator, context): ...

    def on_fit_task_end(self, estimator, context, *, fitted_estimator):
        if context.task_name == "epoch":
            self.models.append(fitted_estimator)
        return len(self.models) >= self.n_epochs

    def teardown(self, estimator, context): ...


# within a round, and where the second of three begins; while sizes are compared
@pytest.mark.parametrize(
    ("stop", "changes"), [(6, {"n_rounds": 3}), (8, {"n_rounds": 3}), (4, {"n_internal": "elbow"})]
)
def test_stopped_and_resumed_training_ends_as_if_it_had_run_through(tmp_path, stop, changes):
    parameters = {**QUICK, **changes}
    whole = ab.FPH(**parameters).fit(GRAPH.adjacency)
    stopped = ab.FPH(checkpoint=tmp_path, **parameters).set_callbacks(Listener(stop))
    assert stopped.fit(GRAPH.adjacency).n_epochs_ == stop
    resumed = ab.FPH(checkpoint=tmp_path, **parameters).fit(GRAPH.adjacency)
    assert resumed.tree_ == whole.tree_
    assert (resumed.B_ == whole.B_).all()
    for field in ("step", "loss", "cost"):
        np.testing.assert_array_equal(resumed.history_[field], whole.history_[field])
    assert getattr(resumed, "elbow_", None) == getattr(whole, "elbow_", None)


def test_a_truncated_checkpoint_is_refused(tmp_path):
    ab.FPH(checkpoint=tmp_path, **QUICK).fit(GRAPH.adjacency)
    path = tmp_path / "state.npz"
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(FormatError, match=r"Delete .*state.npz"):
        ab.FPH(checkpoint=tmp_path, **QUICK).fit(GRAPH.adjacency)


OTHER = small_hsbm(1).adjacency
HEAVIER = GRAPH.adjacency.copy()
HEAVIER.data[-1] = HEAVIER[HEAVIER.nonzero()[1][-1], 99] = 2.0


@pytest.mark.parametrize(
    ("graph", "changes"),
    [
        (OTHER, {}),
        (HEAVIER, {}),
        (GRAPH.adjacency, {"objective": "tsd"}),
        (GRAPH.adjacency, {"n_internal": 15}),
        (GRAPH.adjacency, {"random_state": 1}),
        (GRAPH.adjacency, {"init": "louvain"}),
        (GRAPH.adjacency, {"max_epochs": 16}),
        (GRAPH.adjacency, {"learning_rate": 0.1}),
        (GRAPH.adjacency, {"use_spare_nodes": False}),
    ],
)
def test_a_checkpoint_of_another_graph_option_or_seed_is_refused(tmp_path, graph, changes):
    ab.FPH(checkpoint=tmp_path, **QUICK).fit(GRAPH.adjacency)
    with pytest.raises(ValueError, match="belongs to other work"):
        ab.FPH(checkpoint=tmp_path, **{**QUICK, **changes}).fit(graph)


def test_a_finished_checkpoint_serves_another_number_of_clusters_and_threads(tmp_path):
    first = ab.FPH(2, checkpoint=tmp_path, **QUICK).fit(GRAPH.adjacency)
    again = ab.FPH(5, checkpoint=tmp_path, **{**QUICK, "n_jobs": 2}).fit(GRAPH.adjacency)
    assert again.tree_ == first.tree_
    assert len(np.unique(again.labels_)) == 5


def test_scikit_learn_callbacks_see_every_epoch_and_can_stop():
    listener = Listener(3)
    model = ab.FPH(**QUICK).set_callbacks(listener).fit(GRAPH.adjacency)
    assert model.n_epochs_ == 3
    assert [seen.n_epochs_ for seen in listener.models] == [1, 2, 3]
    assert all(len(seen.labels_) == 100 for seen in listener.models)
    assert listener.models[-1].tree_.n_leaves == 100


def test_verbose_shows_a_bar_on_standard_error(capsys):
    ab.FPH(verbose=True, **QUICK).fit(GRAPH.adjacency)
    out, err = capsys.readouterr()
    assert out == ""
    assert "FPH epochs: done" in err


def test_the_history_is_one_record_per_evaluation():
    model = ab.FPH(**QUICK).fit(GRAPH.adjacency)
    assert model.history_.dtype.names == ("step", "loss", "cost")
    assert model.history_["step"].tolist() == list(range(model.n_epochs_ + 1))
    assert np.isnan(model.history_["loss"][0])
    assert model.history_["cost"][0] == pytest.approx(start_score("dasgupta"))


def test_labels_are_a_cut_of_the_tree_and_flat_labels_exactly_as_many_as_asked_for():
    for k in (1, 2, 7, 100):
        model = ab.FPH(k, **QUICK).fit(GRAPH.adjacency)
        how = {"by": "information", "similarity": model.similarity_, "min_size": "auto"}
        np.testing.assert_array_equal(model.labels_, model.tree_.cut(k, exact="nearest", **how))
        assert len(np.unique(model.labels_)) == model.n_clusters_
        assert len(np.unique(model.flat_labels())) == len(np.unique(model.flat_labels(k))) == k
    with pytest.raises(ValueError, match="n_clusters"):
        model.flat_labels(0)


def test_every_cluster_of_a_large_enough_cut_is_one_subtree():
    model = ab.FPH(4, **QUICK).fit(GRAPH.adjacency)
    for cluster in range(model.n_clusters_):
        members = np.flatnonzero(model.labels_ == cluster)
        assert model.tree_.sizes[model.tree_.lca(members[0], members).max()] == len(members)


@pytest.mark.parametrize("exponent", [-1000, -550, 0, 500, 1020])
def test_weights_of_any_size_give_the_same_tree(exponent):
    scaled = GRAPH.adjacency * 2.0**exponent
    model = ab.FPH(4, **QUICK).fit(scaled)
    plain = ab.FPH(4, **QUICK).fit(GRAPH.adjacency)
    assert model.tree_ == plain.tree_
    assert model.score_ == pytest.approx(plain.score_)
    np.testing.assert_array_equal(model.labels_, plain.labels_)


@pytest.mark.parametrize("n_clusters", [1, 2])
def test_one_node_is_one_cluster_with_or_without_a_loop(n_clusters):
    for weight in (0.0, 1.0):
        model = ab.FPH(n_clusters, **QUICK).fit(sp.csr_array([[weight]]))
        assert model.labels_.tolist() == [0]
        assert model.tree_.n_leaves == 1


@pytest.mark.parametrize("kind", [sp.csr_array, sp.coo_array, sp.dia_array, sp.csc_matrix])
def test_the_graph_given_is_not_changed(kind):
    rows, cols = [0, 1, 1, 0, 1, 2], [1, 0, 0, 1, 2, 1]
    given = kind(sp.coo_array((np.ones(6), (rows, cols)), shape=(3, 3)))
    before = {name: np.array(value) for name, value in vars(given).items() if isinstance(value, np.ndarray)}
    ab.FPH(**QUICK).fit(given)
    for name, value in before.items():
        np.testing.assert_array_equal(getattr(given, name), value)


def test_refine_takes_options_of_the_search():
    plain = ab.FPH(**QUICK).fit(GRAPH.adjacency)
    refined = ab.FPH(refine={"max_sweeps": 1}, **QUICK).fit(GRAPH.adjacency)
    assert refined.score_ <= plain.score_
    with pytest.raises(TypeError, match="refine must be"):
        ab.FPH(refine="yes", **QUICK).fit(GRAPH.adjacency)


@pytest.mark.parametrize("n_rounds", [1, 3])
def test_patience_ends_each_round(n_rounds):
    parameters = {**QUICK, "n_internal": 20, "max_epochs": 200, "patience": 5, "n_rounds": n_rounds}
    model = ab.FPH(init=GRAPH.tree, **parameters).fit(GRAPH.adjacency)
    assert model.best_epoch_ == 0  # the start is the planted tree
    assert model.n_epochs_ == 5 * n_rounds


def test_the_number_of_threads_does_not_change_the_result():
    one = ab.FPH(**QUICK).fit(GRAPH.adjacency)
    three = ab.FPH(**{**QUICK, "n_jobs": 3}).fit(GRAPH.adjacency)
    assert one.tree_ == three.tree_


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_internal": 0}, "n_internal"),
        ({"n_internal": "many"}, "elbow"),
        ({"objective": "cost"}, "objective"),
        ({"relaxation": "hard"}, "relaxation"),
        ({"optimizer": "adam"}, "optimizer"),
        ({"init": "kmeans"}, "init"),
        ({"init": GRAPH.tree.subtree(GRAPH.tree.root - 1)}, "100 nodes"),
        ({"learning_rate": -1.0}, "learning_rate"),
        ({"learning_rate": (0.1, 0.1, 0.1)}, "learning_rate"),
        ({"max_epochs": 0}, "max_epochs"),
        ({"n_rounds": 0}, "n_rounds"),
        ({"n_clusters": 101}, "n_clusters"),
        ({"batch_size": 10, "optimizer": "softmax"}, "batch_size"),
        ({"checkpoint": "x.npz", "optimizer": "softmax"}, "checkpoint"),
        ({"directed": "first"}, "directed"),
        ({"dtype": "float16"}, "dtype"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        ab.FPH(**{**QUICK, **parameters}).fit(GRAPH.adjacency)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (sp.csr_array(np.array([[0.0, np.nan], [np.nan, 0.0]])), "finite"),
        (sp.csr_array(np.array([[0.0, -1.0], [-1.0, 0.0]])), "negative"),
        (np.ones((5, 5)) - np.eye(5), "csr_array"),
        (([0, 1], [1]), "equally long"),
    ],
)
def test_wrong_graphs_are_refused(graph, message):
    with pytest.raises(ValueError, match=message):
        ab.FPH(**QUICK).fit(graph)


def test_vectors_become_a_graph_of_neighbors():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 1, (30, 4)), rng.normal(10, 1, (30, 4))])
    model = ab.FPH(**QUICK).fit(X)
    assert adjusted_rand_score(model.labels_, [0] * 30 + [1] * 30) == 1.0
    assert model.n_features_in_ == 4


def test_full_matrices_of_a_huge_graph_are_refused(monkeypatch):
    monkeypatch.setattr("arbora.probabilistic.stages.LARGEST_DENSE", 1000)
    with pytest.raises(TooLargeError, match="projected"):
        ab.FPH(optimizer="softmax", **QUICK).fit(GRAPH.adjacency)
