"""Logits of other people's models: the right columns, on a scale that does not depend on units."""

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.cluster import DBSCAN, KMeans
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.mixture import GaussianMixture
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from arbora.logits import from_estimator

X, Y = make_blobs(90, centers=4, n_features=3, cluster_std=2.0, random_state=0)


@pytest.mark.parametrize("n_classes", [3, 4])
def test_columns_of_pairs_of_classes_are_refused_however_many_there_are(n_classes):
    """Three classes have three pairs: their number does not give them away."""
    model = SVC(decision_function_shape="ovo").fit(X[n_classes > Y], Y[n_classes > Y])
    with pytest.raises(ValueError, match="decision_function_shape='ovr'"):
        from_estimator(model, X)
    ok = SVC(decision_function_shape="ovr").fit(X[n_classes > Y], Y[n_classes > Y])
    assert from_estimator(ok, X).shape == (90, n_classes)


def test_two_classes_have_one_pair_which_is_a_binary_score():
    few = Y < 2
    model = SVC(decision_function_shape="ovo").fit(X[few], Y[few])
    logits = from_estimator(model, X[few])
    np.testing.assert_array_equal(logits[:, 0], 0)
    np.testing.assert_array_equal(logits.argmax(axis=1), model.predict(X[few]))


@pytest.mark.parametrize("model", [LinearSVC(), LogisticRegression()], ids=lambda m: type(m).__name__)
def test_linear_scores_are_taken_as_they_are(model):
    model.fit(X, Y)
    np.testing.assert_array_equal(from_estimator(model, X), model.decision_function(X))


@pytest.mark.parametrize("model", [GaussianNB(), KNeighborsClassifier(5)], ids=lambda m: type(m).__name__)
def test_probabilities_become_logarithms_and_zeros_stay_finite(model):
    model.fit(X, Y)
    p = model.predict_proba(X)
    logits = from_estimator(model, X)
    assert np.isfinite(logits).all() and logits.min() >= np.log(1e-30) - 1e-9
    np.testing.assert_allclose(softmax(logits, axis=1), p, atol=1e-6)


def test_a_pipeline_sees_what_its_last_step_sees():
    pipeline = make_pipeline(StandardScaler(), KMeans(4, n_init=1, random_state=0)).fit(X)
    scaled = StandardScaler().fit_transform(X)
    np.testing.assert_allclose(from_estimator(pipeline, X), from_estimator(pipeline[-1], scaled))
    alone = make_pipeline(KMeans(4, n_init=1, random_state=0)).fit(X)
    np.testing.assert_allclose(from_estimator(alone, X), from_estimator(alone[-1], X))


def test_distances_are_on_the_scale_of_the_difference_between_nearest_and_next():
    model = KMeans(4, n_init=1, random_state=0).fit(X)
    squared = ((X[:, None] - model.cluster_centers_) ** 2).sum(axis=2)
    ordered = np.sort(squared, axis=1)
    wanted = -squared / (ordered[:, 1] - ordered[:, 0]).mean()
    np.testing.assert_allclose(from_estimator(model, X), wanted, rtol=1e-8)


def test_one_cluster_and_points_on_one_spot_have_finite_logits():
    one = KMeans(1, n_init=1).fit(X)
    assert from_estimator(one, X).shape == (90, 1)
    model = KMeans(2, n_init=1, random_state=0).fit(X)
    model.cluster_centers_[1] = model.cluster_centers_[0]
    assert np.isfinite(from_estimator(model, X)).all(), "no difference anywhere: the scale is 1"


def test_noise_has_no_column():
    model = DBSCAN(eps=1.0, min_samples=3).fit(X)
    assert (model.labels_ == -1).any()
    assert from_estimator(model, X).shape == (90, model.labels_.max() + 1)


def test_a_component_that_died_out_is_finite():
    mixture = GaussianMixture(3, random_state=0).fit(X)
    mixture.weights_ = np.array([0.5, 0.5, 0.0])
    logits = from_estimator(mixture, X)
    assert np.isfinite(logits).all() and (logits.argmax(axis=1) != 2).all()


def test_a_model_that_was_not_fitted_is_refused():
    with pytest.raises(NotFittedError):
        from_estimator(KMeans(3), X)


def module_logits_of(module, data):
    return from_estimator(module, data)


def test_a_module_keeps_its_mode_and_needs_no_parameters():
    torch = pytest.importorskip("torch")
    module = torch.nn.Softplus()
    for is_training in (True, False):
        module.train(is_training)
        found = module_logits_of(module, X)
        assert module.training is is_training and found.dtype == np.float64
    np.testing.assert_allclose(found, np.log1p(np.exp(X)), rtol=1e-6)


def test_a_module_that_fails_keeps_its_mode_too():
    torch = pytest.importorskip("torch")

    class Fails(torch.nn.Module):
        def forward(self, x):
            raise RuntimeError("inside")

    module = Fails().train()
    with pytest.raises(RuntimeError, match="inside"):
        from_estimator(module, X)
    assert module.training


def test_outputs_with_an_attribute_logits_are_opened_and_others_refused():
    torch = pytest.importorskip("torch")

    class Output:
        def __init__(self, logits):
            self.logits = logits

    class Module(torch.nn.Module):
        def __init__(self, wrap):
            super().__init__()
            self.wrap = wrap

        def forward(self, x):
            return self.wrap(x)

    np.testing.assert_allclose(from_estimator(Module(Output), X), X)
    for wrap, words in ((lambda x: x.sum(dim=1), r"shape \(90,\)"), (lambda x: {"a": x}, "dict")):
        with pytest.raises(TypeError, match=f"must return logits.* It returned {words}"):
            from_estimator(Module(wrap), X)


def test_many_points_go_through_a_module_in_batches():
    torch = pytest.importorskip("torch")
    sizes = []

    class Module(torch.nn.Module):
        def forward(self, x):
            sizes.append(len(x))
            return x

    points = np.arange(2500.0).reshape(-1, 1)
    np.testing.assert_array_equal(from_estimator(Module(), points), points)
    assert sizes == [1024, 1024, 452]
    with pytest.raises(ValueError, match="X must not be empty"):
        from_estimator(Module(), torch.utils.data.DataLoader([], batch_size=2))
