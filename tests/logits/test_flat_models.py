"""TURTLE, TEMI, logits of scikit-learn models, calibration, expansion to points, evaluation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_softmax, softmax
from sklearn.cluster import DBSCAN, AgglomerativeClustering, Birch, KMeans, MeanShift
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import arbora as ab
from arbora.logits import calibration_error, choose_n_clusters, expand, fit_temperature, from_estimator

pytest.importorskip("torch")

BLOBS, CLASSES = make_blobs(400, n_features=6, centers=5, cluster_std=1.0, random_state=3)
TURTLE = {"max_steps": 80, "learning_rate": 1e-2, "inner_learning_rate": 1e-2, "random_state": 0}
TEMI = {"max_steps": 150, "n_heads": 3, "random_state": 0}


@pytest.fixture(params=["turtle", "temi"])
def model(request):
    return ab.TURTLE(5, **TURTLE) if request.param == "turtle" else ab.TEMI(5, **TEMI)


def test_clear_clusters_are_found(model):
    model.fit(BLOBS)
    assert ab.metrics.clustering_accuracy(CLASSES, model.labels_) > 0.95
    assert np.array_equal(model.labels_, model.predict(BLOBS))


def test_logits_are_those_of_the_probabilities(model):
    model.fit(BLOBS)
    logits = model.decision_function(BLOBS)
    assert np.allclose(softmax(logits, axis=1), model.predict_proba(BLOBS), atol=1e-5)
    assert ab.L2H(n_bootstraps=0).fit(logits).tree_.n_leaves == 5


def test_two_spaces(model):
    # units of a space make no difference
    spaces = [BLOBS[:, :3], 100 * BLOBS[:, 3:]]
    model.fit(spaces)
    assert ab.metrics.clustering_accuracy(CLASSES, model.labels_) > 0.9
    assert model.n_features_in_ == 6
    assert np.allclose(
        softmax(model.decision_function(spaces), axis=1), model.predict_proba(spaces), atol=1e-5
    )
    with pytest.raises(ValueError, match="spaces of"):
        model.predict([BLOBS[:, :2], BLOBS[:, 2:]])
    with pytest.raises(ValueError, match="same points"):
        model.fit([BLOBS, BLOBS[:5]])


def test_same_seed_same_labels(model):
    import torch

    first = model.fit(BLOBS).labels_
    # the global generator has no say
    torch.manual_seed(123)
    assert np.array_equal(first, model.fit(BLOBS).labels_)


@pytest.mark.parametrize(
    "bad",
    [{"n_clusters": 0}, {"n_clusters": 401}, {"max_steps": 0}, {"learning_rate": -1.0}, {"batch_size": 0}],
)
def test_bad_parameters_are_refused(model, bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        model.set_params(**bad).fit(BLOBS)


def test_other_bad_parameters_are_refused():
    with pytest.raises(ValueError, match="entropy_weight"):
        ab.TURTLE(2, entropy_weight=-1).fit(BLOBS)
    with pytest.raises(ValueError, match="beta"):
        ab.TEMI(2, beta=0.5).fit(BLOBS)


@pytest.mark.parametrize("X", [np.ones((6, 3)), np.zeros((1, 2)), np.repeat([[0.0, 1.0]], 5, axis=0)])
@pytest.mark.parametrize("kind", [ab.TURTLE, ab.TEMI])
def test_constant_single_and_duplicate_points(kind, X):
    model = kind(1, max_steps=3).fit(X)
    assert (model.labels_ == 0).all() and np.isfinite(model.decision_function(X)).all()


def test_entropy_keeps_clusters_from_emptying():
    used = [len(np.unique(ab.TURTLE(5, entropy_weight=w, **TURTLE).fit(BLOBS).labels_)) for w in (0.0, 10.0)]
    assert used[1] == 5 and used[0] <= used[1]


def test_cold_start_trains_new_classifiers_at_every_step():
    model = ab.TURTLE(5, warm_start_inner=False, inner_steps=30, **TURTLE).fit(BLOBS)
    assert ab.metrics.clustering_accuracy(CLASSES, model.labels_) > 0.6


def test_callbacks_can_stop_training(model):
    class Stop:
        def setup(self, estimator, context): ...
        def teardown(self, estimator, context): ...
        def on_fit_task_begin(self, estimator, context): ...
        def on_fit_task_end(self, estimator, context):
            return context.task_name == "step" and context.task_id == 4

    assert model.set_callbacks(Stop()).fit(BLOBS).n_steps_ == 5


def test_number_of_clusters_by_normalized_loss():
    X, _ = make_blobs(400, n_features=6, centers=5, cluster_std=0.6, random_state=3)
    turtle = ab.TURTLE(max_steps=100, learning_rate=1e-2, inner_learning_rate=1e-2, random_state=0)
    choice = choose_n_clusters(turtle, X, [3, 5, 12])
    assert choice.best.n_clusters == 5 and set(choice.losses) == {3, 5, 12}
    for wrong in ([1], []):
        with pytest.raises(ValueError, match="candidates"):
            choose_n_clusters(ab.TURTLE(), X, wrong)


def test_several_starts_have_seeds_of_their_own_and_are_reported():
    reported = []
    turtle = ab.TURTLE(max_steps=3, random_state=0)
    one = choose_n_clusters(turtle, BLOBS, [3])
    both = choose_n_clusters(turtle, BLOBS, [3], n_init=2, progress=lambda *step: reported.append(step))
    assert one.losses[3] == turtle.set_params(n_clusters=3).fit(BLOBS).normalized_loss_
    assert both.losses[3] != one.losses[3]
    assert reported[0][1:] == (0.0, 2) and reported[-1][1:] == (2, 2)


@pytest.mark.slow
def test_turtle_is_ahead_of_kmeans_on_digits():
    X, y = load_digits(return_X_y=True)
    kmeans = [KMeans(10, n_init=10, random_state=s).fit_predict(X) for s in range(3)]
    turtle = ab.TURTLE(10, max_steps=300, random_state=0).fit(X).labels_
    assert ab.metrics.clustering_accuracy(y, turtle) > np.mean(
        [ab.metrics.clustering_accuracy(y, k) for k in kmeans]
    )


# ---- logits of scikit-learn models ---------------------------------------------------------------------

IRIS, SPECIES = load_iris(return_X_y=True)


@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(max_iter=1000),
        RandomForestClassifier(20, random_state=0),
        SVC(),
        make_pipeline(StandardScaler(), LogisticRegression()),
    ],
    ids=lambda e: type(e).__name__,
)
def test_logits_of_a_classifier_give_its_predictions(estimator):
    estimator.fit(IRIS, SPECIES)
    logits = from_estimator(estimator, IRIS)
    assert logits.shape == (150, 3) and np.isfinite(logits).all()
    assert (logits.argmax(axis=1) == estimator.predict(IRIS)).mean() > 0.99


def test_a_binary_classifier_has_two_columns():
    estimator = LogisticRegression().fit(IRIS[:100], SPECIES[:100])
    p = softmax(from_estimator(estimator, IRIS[:100]), axis=1)
    assert np.allclose(p, estimator.predict_proba(IRIS[:100]))


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_logits_of_a_mixture_are_log_responsibilities(kind):
    mixture = GaussianMixture(4, covariance_type=kind, random_state=0).fit(IRIS)
    logits = from_estimator(mixture, IRIS)
    assert np.allclose(softmax(logits, axis=1), mixture.predict_proba(IRIS), atol=1e-8)
    # responsibilities underflow here, their logarithms do not
    far = from_estimator(mixture, IRIS + 1e3)
    assert np.isfinite(far).all()


@pytest.mark.parametrize(
    "estimator",
    [
        KMeans(5, n_init=2, random_state=0),
        MeanShift(bandwidth=1.5),
        AgglomerativeClustering(5),
        Birch(n_clusters=5),
    ],
    ids=lambda e: type(e).__name__,
)
def test_logits_of_a_clusterer(estimator):
    labels = estimator.fit(IRIS).labels_
    logits = from_estimator(estimator, IRIS)
    assert ab.metrics.clustering_accuracy(labels, logits.argmax(axis=1)) > 0.9
    assert ab.L2H(n_bootstraps=0).fit(logits).tree_.n_leaves == labels.max() + 1


def test_scale_of_distances_does_not_depend_on_units():
    small, large = (
        from_estimator(KMeans(5, n_init=1, random_state=0).fit(X), X) for X in (IRIS, 1000 * IRIS)
    )
    assert np.allclose(small, large, atol=1e-6)


def test_a_module_gives_its_outputs_for_arrays_tensors_and_loaders():
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 3))
    tensor = torch.from_numpy(IRIS).float()
    data = torch.utils.data.TensorDataset(tensor, torch.zeros(len(IRIS)))
    expected = module.eval()(tensor).detach().numpy()
    module.train()
    for X in (IRIS, tensor, torch.utils.data.DataLoader(data, batch_size=32)):
        assert np.allclose(from_estimator(module, X), expected, atol=1e-6)
    assert module.training
    with pytest.raises(TypeError, match="must return logits"):
        from_estimator(torch.nn.Flatten(0), IRIS)


def test_models_without_logits_are_refused():
    with pytest.raises(TypeError, match="gives no logits"):
        from_estimator(StandardScaler().fit(IRIS), IRIS)
    with pytest.raises(ValueError, match="training points"):
        from_estimator(AgglomerativeClustering(3).fit(IRIS), IRIS[:5])
    with pytest.raises(ValueError, match="noise"):
        from_estimator(DBSCAN(eps=1e-9).fit(IRIS), IRIS)


# ---- calibration ---------------------------------------------------------------------------------------


def test_calibration_error_equals_its_definition():
    rng = np.random.default_rng(0)
    logits, y = rng.normal(size=(500, 4)) * 2, rng.integers(0, 4, 500)
    p = softmax(logits, axis=1)
    confidence, hit = p.max(axis=1), p.argmax(axis=1) == y
    expected = sum(
        abs(confidence[m].mean() - hit[m].mean()) * m.mean()
        for k in range(15)
        if (m := (confidence >= k / 15) & (confidence < (k + 1) / 15)).any()
    )
    assert calibration_error(logits, y).error == pytest.approx(expected)


def test_temperature_minimizes_the_loss():
    rng = np.random.default_rng(0)
    logits, y = rng.normal(size=(500, 4)) * 2, rng.integers(0, 4, 500)
    y[:300] = logits[:300].argmax(axis=1)
    best = fit_temperature(logits, y)

    def loss(t):
        return -log_softmax(logits / t, axis=1)[np.arange(500), y].mean()

    assert loss(best) <= min(loss(best * 1.01), loss(best / 1.01))
    with pytest.raises(ValueError, match="y must lie"):
        fit_temperature(logits, y + 1)


# ---- trees over points ---------------------------------------------------------------------------------


def test_expanded_purity_equals_that_of_the_class_tree():
    rng = np.random.default_rng(0)
    tree = ab.L2H(n_bootstraps=0).fit(rng.normal(size=(300, 12))).tree_
    leaf, y = rng.integers(0, 12, 200), rng.integers(0, 5, 200)
    # a class without points
    leaf[leaf == 7] = 3
    leaf[0], leaf[leaf == 9] = 9, 2
    # and one with few
    leaf[1] = 9
    points = expand(tree, leaf)
    assert points.n_leaves == 200
    assert ab.metrics.dendrogram_purity(points, y) == pytest.approx(
        ab.metrics.dendrogram_purity(tree, y, leaf)
    )


def test_expanding_single_points_gives_the_tree_back():
    tree = ab.L2H(n_bootstraps=0).fit(np.random.default_rng(0).normal(size=(300, 12))).tree_
    assert expand(tree, np.arange(12)).same_topology(tree)
    assert expand(tree, [4]).n_nodes == 1 or expand(tree, [4]).n_leaves == 1
    assert expand(tree, [4, 4, 4]).n_nodes == 4
    with pytest.raises(ValueError, match="leaf_of_point"):
        expand(tree, [12])
    with pytest.raises(ValueError, match="leaf_of_point"):
        expand(tree, [])


def test_evaluation_follows_the_paper():
    logits = np.repeat(np.eye(4) * 5 + np.kron(np.eye(2), np.full((2, 2), 2)), 10, axis=0)
    y = np.repeat(np.arange(4), 10)
    l2h = ab.L2H(n_bootstraps=0).fit(logits)
    scores = l2h.evaluate(logits, y, coarse={"half": y // 2})
    assert scores["acc"] == scores["nmi"] == scores["dendrogram_purity"] == 1.0
    assert scores["levels"]["half"]["acc"] == 1.0
    assert np.isnan(scores["lhd"])  # no class reaches into two leaves
    split = l2h.evaluate(logits, y // 2)
    assert split["acc"] == 1.0 and split["lhd"] == 0.0
    with pytest.raises(ValueError, match="equally long"):
        l2h.evaluate(logits, y[:5])
