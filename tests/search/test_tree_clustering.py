"""The estimator of the main job; scikit-learn's own checks are in tests/test_estimators.py."""

import pickle

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import arbora as ab
from arbora.errors import FormatError

X, Y = make_blobs(120, n_features=4, centers=3, cluster_std=0.5, random_state=0)


def fitted(**options):
    return ab.TreeClustering(**{"n_clusters": 3, "random_state": 0, **options}).fit(X)


@pytest.mark.parametrize(
    "options", ({}, {"metric": "euclidean"}, {"similarity": "cosine"}, {"n_neighbors": 4})
)
def test_the_tree_is_that_of_cluster(options):
    model = fitted(**options)
    assert model.tree_ == ab.cluster(X, random_state=0, **options)
    np.testing.assert_array_equal(model.labels_, model.tree_.cut(n_clusters=3))
    assert model.n_features_in_ == 4


def test_it_takes_what_cluster_takes():
    network = nx.karate_club_graph()
    adjacency = sp.csr_array(nx.to_scipy_sparse_array(network, dtype=float))
    forms = (network, adjacency, sp.coo_array(adjacency), ab.similarity.graph(adjacency))
    models = [ab.TreeClustering(random_state=0).fit(form) for form in forms]
    assert all(model.tree_ == models[0].tree_ for model in models)
    assert not hasattr(models[0], "n_features_in_")
    assert ab.TreeClustering(random_state=0).fit(([0, 1, 2], [1, 2, 3])).tree_.n_leaves == 4
    assert ab.TreeClustering(random_state=0).fit(ab.similarity.gaussian(X)).tree_.n_leaves == 120


def test_columns_in_another_order_are_refused_in_whatever_form_they_come():
    frame = pd.DataFrame(X, columns=list("abcd"), index=[f"r{k}" for k in range(len(X))])
    moved = frame[list("dabc")]
    for first in (frame, ab.read(frame)):
        model = ab.TreeClustering(3, random_state=0).fit(first)
        for form in (lambda rows: rows, ab.read):
            assert np.array_equal(model.predict(form(frame)), model.labels_)
            for use in (model.predict, model.place, model.score_samples, model.partial_fit):
                with pytest.raises(ValueError, match="feature names should match"):
                    use(form(moved))


def test_names_and_feature_names_come_from_the_frame():
    frame = pd.DataFrame(X, columns=list("abcd"), index=[f"p{k}" for k in range(len(X))])
    model = fitted().fit(frame)
    assert model.tree_.name[:120].tolist() == list(frame.index)
    assert model.feature_names_in_.tolist() == list("abcd")
    np.testing.assert_array_equal(model.predict(frame), model.predict(frame.iloc[:, ::1]))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[list("bacd")])
    assert not hasattr(model.fit(([0, 1, 2], [1, 2, 3])), "feature_names_in_")


def test_new_points_go_where_their_like_are_at_any_number_of_clusters():
    model = ab.TreeClustering(3, metric="euclidean", random_state=0).fit(X[:90])
    assert adjusted_rand_score(Y[90:], model.predict(X[90:])) == 1.0
    assert model.predict(X[90:], n_clusters=2).max() <= 1
    np.testing.assert_array_equal(model.predict(X[:90]), model.labels_)
    with pytest.raises(ValueError, match="n_clusters must lie in"):
        model.predict(X, n_clusters=91)


def test_after_a_graph_new_points_are_rows_of_similarities():
    graph = nx.disjoint_union(nx.complete_graph(5), nx.complete_graph(4))
    model = ab.TreeClustering(2, random_state=0).fit(graph)
    row = np.zeros((1, 9))
    row[0, 6:] = 1
    assert model.predict(row)[0] == model.labels_[6]
    with pytest.raises(ValueError, match="similarities to the 9 points"):
        model.predict(np.ones((1, 4)))


def test_refine_continues_on_the_same_similarity_and_never_worsens():
    digits = load_digits().data[:600]
    model = ab.TreeClustering(10, n_perturbations=0, random_state=0).fit(digits)
    before, similarity = model.report_.cost_after, model.similarity_
    model.refine(n_perturbations=4)
    assert model.similarity_ is similarity
    assert model.report_.cost_after < before <= model.report_.cost_before
    assert model.report_.cost_after == pytest.approx(
        ab.metrics.dasgupta_cost(model.tree_, similarity, normalize=True)
    )
    assert len(set(model.labels_)) == 10


def test_refine_leaves_components_joined_by_their_distances():
    rng = np.random.default_rng(0)
    centers = np.array([[0.0, 0], [1, 0], [100, 0], [101, 0], [0, 300]])
    y = np.repeat(np.arange(5), 20)
    points = centers[y] + rng.normal(size=(100, 2)) * 0.02
    model = ab.TreeClustering(3, metric="euclidean", n_neighbors=4, random_state=0).fit(points)
    model.refine(n_perturbations=2)
    assert adjusted_rand_score(np.array([0, 0, 1, 1, 2])[y], model.labels_) == 1.0


def test_it_stands_at_the_end_of_a_pipeline():
    data = load_iris().data
    steps = make_pipeline(StandardScaler(), ab.TreeClustering(3, metric="euclidean", random_state=0))
    np.testing.assert_array_equal(steps.fit_predict(data), steps.predict(data))


def test_pickling_keeps_everything():
    model = fitted()
    again = pickle.loads(pickle.dumps(model))
    assert again.tree_ == model.tree_
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.report_.bounds() == model.report_.bounds()


@pytest.mark.parametrize(
    ("options", "problem", "message"),
    [
        ({"metric": "manhattan"}, ValueError, "metric must be one of"),
        ({"similarity": ["knn"]}, ValueError, "similarity must be one of"),
        ({"n_neighbors": "3"}, TypeError, "n_neighbors must be a whole number"),
        ({"n_neighbors": 0}, ValueError, "n_neighbors must be at least 1"),
        ({"n_neighbors": None}, TypeError, "n_neighbors must be a whole number"),
        ({"n_perturbations": -1}, ValueError, "n_perturbations must be at least 0"),
        ({"n_perturbations": 1.5}, TypeError, "n_perturbations must be a whole number"),
        ({"max_seconds": "a"}, TypeError, "max_seconds must be a number"),
        ({"n_jobs": "a"}, TypeError, "n_jobs must be a whole number"),
        ({"n_jobs": 0}, ValueError, "n_jobs must not be 0"),
        ({"random_state": -1}, ValueError, "random_state must lie in"),
        ({"random_state": "a"}, TypeError, "random_state must be"),
        ({"verbose": "yes"}, TypeError, "verbose must be True or False"),
        ({"directed": "both"}, ValueError, "directed must be one of"),
        ({"n_clusters": 121}, ValueError, "n_clusters must lie in"),
        ({"n_clusters": 2.0}, TypeError, "n_clusters must be a whole number"),
    ],
)
def test_wrong_parameters_are_refused_by_name_before_any_work(options, problem, message, monkeypatch):
    monkeypatch.setattr("arbora.search.tree_clustering.build", None)
    with pytest.raises(problem, match=message):
        fitted(**options)


def test_the_callbacks_of_scikit_learn_hear_each_stage():
    heard = []

    class Listener:
        def setup(self, estimator, context): ...

        def teardown(self, estimator, context): ...

        def on_fit_task_begin(self, estimator, context): ...

        def on_fit_task_end(self, estimator, context, **details):
            heard.append(context.task_name)

    model = ab.TreeClustering(random_state=0)
    model.set_callbacks(Listener())
    model.fit(X)
    assert heard[:4] == ["similarity", "average linkage", "refine", "components"]
    heard.clear()
    model.partial_fit(X[:5])
    assert heard[:3] == ["similarity", "insert", "components"]


def test_a_clone_is_unfitted_with_the_same_parameters():
    model = fitted(n_neighbors=5)
    assert clone(model).get_params() == model.get_params()
    assert not hasattr(clone(model), "tree_")


@pytest.mark.parametrize("kind", ["knn", "cosine", "graph", "dense", "gaussian", "frame"])
def test_a_saved_model_answers_as_before(tmp_path, kind):
    W = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / 4)
    frame = pd.DataFrame(X, columns=list("abcd"), index=[f"é{k}" for k in range(len(X))])
    data, new = {
        "knn": (X[:90], X[90:]),
        "cosine": (ab.similarity.cosine(X[:90]), X[90:]),
        "graph": (sp.csr_array(W[:90, :90]), W[90:, :90]),
        "dense": (ab.similarity.dense(W[:90, :90]), W[90:, :90]),
        "gaussian": (ab.similarity.gaussian(X[:90]), X[90:]),
        "frame": (frame[:90], frame[90:]),
    }[kind]
    model = ab.TreeClustering(3, n_perturbations=1, random_state=np.int64(0)).fit(data)
    model.save(tmp_path / "model.npz")
    again = ab.TreeClustering.load(tmp_path / "model.npz")
    assert again.get_params() == model.get_params() and again.tree_ == model.tree_
    np.testing.assert_array_equal(again.labels_, model.labels_)
    np.testing.assert_array_equal(again.predict(new, n_clusters=5), model.predict(new, n_clusters=5))
    assert again.report_ == model.report_ and again.report_.bounds() == model.report_.bounds()
    assert again.refine(n_perturbations=1).tree_ == model.refine(n_perturbations=1).tree_
    assert vars(again).keys() == vars(model).keys()


def test_a_file_that_is_not_a_model_is_refused(tmp_path):
    fitted().tree_.save(tmp_path / "tree.npz")
    with pytest.raises(FormatError, match=r"not an arbora\.tree-clustering file"):
        ab.TreeClustering.load(tmp_path / "tree.npz")
    path = tmp_path / "model.npz"
    fitted().save(path)
    whole = path.read_bytes()
    for length in (10, len(whole) // 2, len(whole) - 40):
        path.write_bytes(whole[:length])
        with pytest.raises(FormatError):
            ab.TreeClustering.load(path)
    with pytest.raises(FileNotFoundError):
        ab.TreeClustering.load(tmp_path / "nothing.npz")


def test_a_model_that_is_not_fitted_is_not_saved(tmp_path):
    with pytest.raises(NotFittedError):
        ab.TreeClustering().save(tmp_path / "model.npz")
    assert not list(tmp_path.iterdir())


def test_a_placement_says_how_sure_it_is_and_finds_outliers():
    model = ab.TreeClustering(3, metric="euclidean", random_state=0).fit(X[:90])
    found = model.place(np.r_[X[90:], [[1e3, 0, 0, 0]]])
    np.testing.assert_array_equal(found.label[:-1], model.predict(X[90:]))
    assert found.confidence[:-1].mean() > 0.95
    assert found.outlier_score[-1] == 1.0 > found.outlier_score[:-1].mean()
    scores = model.score_samples(np.r_[X[90:], [[1e3, 0, 0, 0]]])
    np.testing.assert_allclose(scores, 1 - found.outlier_score)
    assert set(model.place(X[90:], n_clusters=2).label) <= {0, 1}
