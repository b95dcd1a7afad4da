import numpy as np
import pytest
import scipy.sparse as sp
from data_sets import hyphc_features
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score

import arbora as ab
from arbora.errors import DivergedError
from arbora.hyperbolic.hyphc.decode import decode

QUICK = {"max_epochs": 8, "n_triples": 4000, "random_state": 0}
CENTERS = [[10, 0, 0, 0], [0, 10, 0, 0], [0, 0, 10, 0], [0, 0, 0, 10]]


def blobs(n=60, seed=0):
    X, y = make_blobs(n, centers=np.array(CENTERS, dtype=float), random_state=seed)
    return X, y


def test_clusters_are_found_and_attributes_agree_with_each_other():
    X, y = blobs()
    model = ab.HypHC(4, **QUICK).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1.0
    assert model.tree_.is_binary and model.tree_.n_leaves == 60
    np.testing.assert_array_equal(model.labels_, model.tree_.cut(n_clusters=4))
    assert model.cost_ == pytest.approx(ab.metrics.dasgupta_cost(model.tree_, ab.similarity.cosine(X)))
    assert model.cost_ == pytest.approx(np.nanmin(model.history_["cost"]))
    assert model.history_["step"].tolist() == list(range(1, 9))
    assert model.n_epochs_ == 8
    assert decode(model.embedding_).same_topology(model.tree_)


@pytest.mark.parametrize("engine", ["circle", "torch"])
def test_same_seed_same_tree_whatever_the_threads(engine):
    X, _ = blobs(30)
    model = ab.HypHC(engine=engine, n_init=2, **{**QUICK, "n_triples": 600})
    first, second = clone(model).fit(X), clone(model).set_params(n_jobs=1).fit(X)
    assert first.tree_ == second.tree_
    np.testing.assert_array_equal(first.embedding_, second.embedding_)
    np.testing.assert_array_equal(first.init_costs_, second.init_costs_)


@pytest.mark.parametrize(
    "options",
    [
        {"engine": "torch"},
        {"engine": "torch", "learn_radius": True},
        {"dimension": 4},
        {"dimension": 3, "equal_radii": False},
        {"learn_radius": True, "radius": 2.0},
        {"init": "random", "n_init": 2},
        {"decoder": "exact"},
        {"decoder": "greedy"},
        {"neighbor_bias": 0.5},
        {"temperature": 0.1, "learning_rate": 0.01},
    ],
)
def test_every_setting_finds_clear_clusters(options):
    X, _ = blobs(32)
    steps = {"max_epochs": 10, "n_triples": 1600, "batch_size": 400, "random_state": 0}
    model = ab.HypHC(4, **{**steps, **options}).fit(X)
    similarity = ab.similarity.cosine(X)
    reference = ab.metrics.dasgupta_cost(ab.refine(model.tree_, similarity, random_state=0), similarity)
    assert model.cost_ < 1.1 * reference
    assert np.linalg.norm(model.embedding_, axis=1).max() < 1
    assert model.embedding_.shape == (32, options.get("dimension", 2))


def test_any_similarity_will_do():
    X, y = blobs(40)
    W = (1 + X @ X.T / np.outer(*[np.linalg.norm(X, axis=1)] * 2)) / 2
    A = ab.similarity.knn(X, n_neighbors=5)
    for data, options in (
        (ab.similarity.dense(W), {}),
        (W, {"similarity": "precomputed"}),
        (A, {"n_triples": 40_000, "max_epochs": 50}),
        (X, {"similarity": "knn", "n_neighbors": 5, "n_triples": 40_000, "max_epochs": 50}),
        (X, {"similarity": "gaussian", "n_triples": 40_000}),
    ):
        model = ab.HypHC(4, **{**QUICK, **options}).fit(data)
        assert adjusted_rand_score(y, model.labels_) > 0.9, options
    np.testing.assert_allclose(
        ab.HypHC(**QUICK).fit(ab.similarity.dense(W)).cost_, ab.HypHC(**QUICK).fit(X).cost_, rtol=0.02
    )


def test_biased_triples_come_near_the_best_tree_of_a_graph_in_pieces():
    X, _ = blobs(40)
    graph = ab.similarity.knn(X, n_neighbors=5)
    # fewer triples leave the result to the processor's rounding
    model = ab.HypHC(neighbor_bias=0.8, n_triples=100_000, max_epochs=20, random_state=0).fit(graph)
    best = ab.metrics.dasgupta_cost(ab.refine(model.tree_, graph, random_state=0), graph)
    assert model.cost_ < 1.25 * best


def test_training_can_start_from_a_tree():
    X, _ = blobs(30)
    tree = ab.cluster(ab.similarity.cosine(X), random_state=0)
    start = ab.HypHC(init=tree, max_epochs=1, n_triples=1, learning_rate=1e-9, random_state=0).fit(X)
    assert start.tree_.same_topology(tree)
    with pytest.raises(ValueError, match="one leaf per point"):
        ab.HypHC(init=tree, **QUICK).fit(X[:10])


def test_refinement_never_costs_more():
    X, _ = blobs(50, seed=3)
    plain, refined = (ab.HypHC(refine=refine, **QUICK).fit(X) for refine in (False, True))
    assert refined.cost_ <= plain.cost_
    assert refined.cost_ == pytest.approx(ab.metrics.dasgupta_cost(refined.tree_, refined.similarity_))


def test_new_points_go_where_they_are_inserted():
    X, y = blobs(60)
    model = ab.HypHC(4, **QUICK).fit(X)
    new, truth = blobs(40, seed=9)
    to_label = dict(zip(y, model.labels_))
    np.testing.assert_array_equal(model.predict(new), [to_label[label] for label in truth])
    with pytest.raises(NotFittedError):
        ab.HypHC().predict(X)
    with pytest.raises(ValueError, match="features"):
        model.predict(X[:, :2])


class Recorder:
    def setup(self, estimator, context):
        self.epochs, self.costs = 0, []

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        if context.task_name == "epoch":
            self.epochs += 1
            self.costs.append(fitted_estimator.cost_)
            return self.epochs == 4


def test_scikit_learn_callbacks_follow_and_stop_the_fit():
    recorder = Recorder()
    X, _ = blobs(20)
    model = ab.HypHC(**QUICK).set_callbacks(recorder).fit(X)
    assert recorder.epochs == model.n_epochs_ == 4
    np.testing.assert_allclose(recorder.costs, model.history_["cost"])


def test_several_starts_report_all_their_epochs_and_the_cheapest_counts():
    class Count(Recorder):
        def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
            self.epochs += context.task_name == "epoch"

    count = Count()
    X, _ = blobs(20)
    model = ab.HypHC(n_init=3, init="random", **QUICK).set_callbacks(count).fit(X)
    assert count.epochs == 3 * 8
    assert model.cost_ == model.init_costs_.min() < model.init_costs_.max()
    first = ab.HypHC(init="random", **QUICK).fit(X)
    assert model.init_costs_[0] == first.cost_


def test_verbose_shows_a_bar_on_standard_error(capsys):
    X, _ = blobs(20)
    ab.HypHC(verbose=True, **QUICK).fit(X)
    out, err = capsys.readouterr()
    assert out == ""
    assert "HypHC epochs: done" in err


def test_predict_cuts_at_any_number_of_clusters():
    X, _ = blobs(30)
    model = ab.HypHC(4, **QUICK).fit(X)
    for k in (1, 3, 9):
        cut = model.tree_.cut(n_clusters=k)
        assert (model.predict(X, n_clusters=k) == cut).mean() > 0.9


def test_refine_takes_options_of_the_search():
    X, _ = blobs(30)
    plain = ab.HypHC(**QUICK).fit(X)
    refined = ab.HypHC(refine={"max_sweeps": 1}, **QUICK).fit(X)
    assert refined.cost_ <= plain.cost_


def test_patience_stops_when_the_decoded_cost_stalls():
    X, _ = blobs(12)
    model = ab.HypHC(max_epochs=50, n_triples=2000, patience=3, random_state=0).fit(X)
    assert model.n_epochs_ < 50
    best = int(np.nanargmin(model.history_["cost"]))
    assert model.n_epochs_ == best + 4


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("dimension", [2, 3])
def test_one_and_two_points_give_the_trivial_tree(n, dimension):
    model = ab.HypHC(dimension=dimension, random_state=0).fit(np.eye(n, 3))
    assert model.tree_.n_leaves == n and model.embedding_.shape == (n, dimension)
    assert sorted(model.labels_) == list(range(n))
    assert model.predict(np.ones((3, 3))).shape == (3,)


def test_equal_similarities_and_duplicates_give_some_tree():
    same = ab.HypHC(**QUICK).fit(np.ones((12, 3)))
    assert same.tree_.is_binary and np.isfinite(same.embedding_).all()
    apart = ab.HypHC(**QUICK).fit(np.eye(12))
    n_pairs_times_lca = ab.metrics.dasgupta_cost(same.tree_, ab.similarity.dense(np.ones((12, 12))))
    assert apart.cost_ == pytest.approx(n_pairs_times_lca / 2)
    zeros = np.hstack([np.zeros((8, 2)), np.ones((8, 1))])
    assert ab.HypHC(**QUICK).fit(zeros).tree_.n_leaves == 8
    no_edges = ab.similarity.graph(sp.csr_array((6, 6)))
    assert ab.HypHC(**QUICK).fit(no_edges).cost_ == 0


@pytest.mark.parametrize("engine", ["circle", "torch"])
def test_divergence_stops_with_the_epoch_the_parameter_and_the_best_tree(engine):
    X, _ = blobs(20)

    class Explode(Recorder):
        """After two good epochs the leaves are sent to infinity."""

        def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
            if context.task_name == "epoch" and fitted_estimator.n_epochs_ == 2:
                moved = getattr(engines[0], "_circle", None)
                if moved is not None:
                    moved.theta[:] = np.nan
                    moved.half[:] = np.nan
                else:
                    engines[0]._points.data[:] = np.nan

    model = ab.HypHC(engine=engine, max_epochs=5, n_triples=500, random_state=0).set_callbacks(Explode())
    engines = []
    start = model._engine
    model._engine = lambda *arguments: engines.append(start(*arguments)) or engines[0]
    with pytest.raises(DivergedError, match=r"epoch 2.*learning_rate") as caught:
        model.fit(X)
    assert caught.value.tree.n_leaves == 20


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_an_absurd_learning_rate_diverges_in_words():
    X, _ = blobs(20)
    with pytest.raises(DivergedError, match="learning_rate"):
        ab.HypHC(learning_rate=1e308, **QUICK).fit(X)


@pytest.mark.parametrize(
    ("options", "error", "name"),
    [
        ({"temperature": 0.0}, ValueError, "temperature"),
        ({"temperature": (1.0, -0.1)}, ValueError, "temperature"),
        ({"temperature": "hot"}, TypeError, "temperature"),
        ({"learning_rate": (1.0, 2.0, 3.0)}, TypeError, "learning_rate"),
        ({"learning_rate": np.inf}, ValueError, "learning_rate"),
        ({"radius": 99.0}, ValueError, "radius"),
        ({"dimension": 1}, ValueError, "dimension"),
        ({"dimension": 2.5}, TypeError, "dimension"),
        ({"dimension": 3, "engine": "circle"}, ValueError, "engine"),
        ({"equal_radii": False, "decoder": "circle"}, ValueError, "decoder"),
        ({"dimension": 3, "decoder": "greedy"}, ValueError, "decoder"),
        ({"engine": "cuda"}, ValueError, "engine"),
        ({"similarity": "euclid"}, ValueError, "similarity"),
        ({"max_epochs": 0}, ValueError, "max_epochs"),
        ({"n_triples": 0}, ValueError, "n_triples"),
        ({"n_init": 0}, ValueError, "n_init"),
        ({"n_clusters": 21}, ValueError, "n_clusters"),
        ({"neighbor_bias": 2.0}, ValueError, "neighbor_bias"),
        ({"init": "best"}, ValueError, "init"),
        ({"init": np.zeros((3, 2))}, ValueError, "init"),
        ({"n_jobs": 0}, ValueError, "n_jobs"),
    ],
)
def test_bad_parameters_are_named(options, error, name):
    X, _ = blobs(20)
    with pytest.raises(error, match=name):
        ab.HypHC(**{**QUICK, **options}).fit(X)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.array([[0.0, np.nan], [1, 1], [2, 2]]), "NaN"),
        (np.array([[0.0, np.inf], [1, 1], [2, 2]]), "infinity"),
        (np.zeros((0, 3)), "0 sample"),
        (np.zeros(5), "1D array"),
        (-np.ones((3, 3)), "negative"),
    ],
)
def test_bad_data_is_named(X, message):
    options = {"similarity": "precomputed"} if message == "negative" else {}
    with pytest.raises(ValueError, match=message):
        ab.HypHC(**QUICK, **options).fit(X)


TARGETS = {"zoo": 2.806e5, "iris": 7.90e5, "glass": 2.91e6}


@pytest.mark.data
@pytest.mark.parametrize("name", TARGETS)
def test_published_costs_are_reached_without_refinement(name):
    X = hyphc_features(name)
    costs = [2 * ab.HypHC(random_state=seed).fit(X).cost_ for seed in range(5)]
    assert np.mean(costs) <= TARGETS[name]


@pytest.mark.data
def test_segmentation_is_reached_in_a_few_epochs():
    X = hyphc_features("segmentation")
    model = ab.HypHC(random_state=0, max_epochs=5).fit(X)
    assert 2 * model.cost_ <= 3.35e9
    exact, greedy = (
        ab.metrics.dasgupta_cost(decode(model.embedding_, method), model.similarity_)
        for method in ("exact", "greedy")
    )
    assert greedy == pytest.approx(exact, rel=5e-4)
