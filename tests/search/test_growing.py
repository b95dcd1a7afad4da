"""Trees that grow: `TreeClustering.partial_fit`."""

import itertools

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, make_blobs
from sklearn.metrics import adjusted_rand_score

import arbora as ab

X, Y = make_blobs(150, n_features=4, centers=3, cluster_std=0.5, random_state=0)


def model(**options):
    return ab.TreeClustering(**{"n_clusters": 3, "metric": "euclidean", "random_state": 0, **options})


def test_the_first_batch_is_a_fit():
    assert model().partial_fit(X).tree_ == model().fit(X).tree_


@pytest.mark.parametrize("batches", [(100, 150), (5, 9, 150), (1, 150), (60, 61, 62, 150)])
@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_batches_of_any_size_end_in_the_clusters_of_one_fit(batches, metric):
    grown = model(metric=metric, n_clusters=1).fit(X[: batches[0]])
    for first, last in itertools.pairwise(batches):
        grown.partial_fit(X[first:last])
    whole = model(metric=metric).fit(X)
    assert grown.tree_.n_leaves == grown.similarity_.n_points == len(grown.labels_) == 150
    np.testing.assert_allclose(grown.similarity_.csr.toarray(), whole.similarity_.csr.toarray(), atol=1e-4)
    assert adjusted_rand_score(grown.tree_.cut(3), whole.tree_.cut(3)) > 0.95
    cost = grown.report_.cost_after
    assert cost == pytest.approx(ab.metrics.dasgupta_cost(grown.tree_, grown.similarity_, normalize=True))
    assert cost <= 1.02 * whole.report_.cost_after


def test_a_grown_tree_of_digits_is_as_pure_as_one_built_at_once():
    digits, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    digits, y = digits[order], y[order]
    grown = ab.TreeClustering(10, random_state=0).fit(digits[:900])
    for first in range(900, len(y), 300):
        grown.partial_fit(digits[first : first + 300])
    whole = ab.TreeClustering(10, random_state=0).fit(digits)
    purity = [ab.metrics.dendrogram_purity(each.tree_, y) for each in (grown, whole)]
    assert purity[0] >= purity[1] - 0.02


def test_what_is_far_from_the_new_points_stays_as_it_is():
    first = model().fit(X)
    clusters = [np.flatnonzero(first.labels_ == label) for label in range(3)]
    before = [first.tree_.restrict(points) for points in clusters]
    rng = np.random.default_rng(0)
    first.partial_fit(X[clusters[0]] + 0.01 * rng.normal(size=(len(clusters[0]), 4)))
    for points, tree in zip(clusters[1:], before[1:], strict=True):
        assert first.tree_.restrict(points).same_topology(tree)


def test_names_go_on():
    frame = pd.DataFrame(X, index=[f"doc {k}" for k in range(150)], columns=list("abcd"))
    grown = model().fit(frame[:100]).partial_fit(frame[100:])
    assert grown.tree_.name[:150].tolist() == grown.similarity_.names == list(frame.index)
    unnamed = model().fit(frame[:100]).partial_fit(frame[100:].reset_index(drop=True))
    assert unnamed.tree_.name[[0, 100]].tolist() == ["doc 0", "100"]
    few = model(n_clusters=1).fit(frame[:3]).partial_fit(frame[3:])
    assert few.tree_.name[:150].tolist() == list(frame.index)


@pytest.mark.parametrize("kind", ["graph", "dense", "cosine", "gaussian", "all pairs"])
def test_every_kind_of_similarity_grows(kind):
    W = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / 4)
    data, new, options = {
        "graph": (sp.csr_array(W[:100, :100]), sp.csr_array(W[100:]), {}),
        "dense": (ab.similarity.dense(W[:100, :100]), W[100:], {}),
        "cosine": (ab.similarity.cosine(X[:100]), X[100:], {}),
        "gaussian": (ab.similarity.gaussian(X[:100]), X[100:], {}),
        "all pairs": (X[:100], X[100:], {"similarity": "cosine", "metric": "cosine"}),
    }[kind]
    grown = model(**options).fit(data).partial_fit(new)
    assert grown.tree_.n_leaves == 150 and grown.tree_.is_binary
    assert ab.metrics.dendrogram_purity(grown.tree_, Y) > 0.95


def test_a_loaded_model_grows_as_the_saved_one(tmp_path):
    saved = model().fit(X[:100])
    saved.save(tmp_path / "model.npz")
    loaded = ab.TreeClustering.load(tmp_path / "model.npz").partial_fit(X[100:])
    assert loaded.tree_ == saved.partial_fit(X[100:]).tree_


def test_duplicates_of_known_points_lie_beside_them():
    grown = model().fit(X).partial_fit(X[:20])
    together = [grown.tree_.sizes[grown.tree_.lca(k, 150 + k)] for k in range(20)]
    assert np.median(together) <= 3


def test_what_does_not_fit_is_refused_and_changes_nothing():
    first = model().fit(X)
    tree = first.tree_
    for new, message in ((X[:, :3], "3 features"), ([[np.nan] * 4], "finite"), (X[0], "Reshape")):
        with pytest.raises(ValueError, match=message):
            first.partial_fit(new)
    assert first.tree_ is tree


def test_the_report_says_what_was_added(capsys):
    grown = model().fit(X[:100]).set_params(verbose=True).partial_fit(X[100:])
    assert "50 points added to 100" in str(grown.report_)
    assert set(grown.report_.seconds) == {"similarity", "insert", "components"}
    shown = capsys.readouterr()
    assert shown.out == "" and "insert: done" in shown.err
