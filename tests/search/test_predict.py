"""Where new points belong, and how sure that is."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits, make_blobs
from trees import insert_above, trees

import arbora as ab
from arbora.search import place, predict
from arbora.search.predict import largest_of_rows

KINDS = ("cosine", "negative cosine", "gaussian", "dense", "graph", "knn")


def old_and_new(kind, n, m, rng):
    """A similarity of n points, m new ones as `predict` takes them, and their similarity to the n."""
    X = rng.normal(size=(n + m, 3))
    if kind == "cosine":
        return ab.similarity.cosine(X[:n]), X[n:], ab.similarity.cosine(X).rows(np.arange(n, n + m))[:, :n]
    if kind == "negative cosine":
        every = ab.similarity.cosine(X, affine=False)
        return ab.similarity.cosine(X[:n], affine=False), X[n:], every.rows(np.arange(n, n + m))[:, :n]
    if kind == "gaussian":
        every = ab.similarity.gaussian(X, scale=1.0)
        return ab.similarity.gaussian(X[:n], scale=1.0), X[n:], every.rows(np.arange(n, n + m))[:, :n]
    if kind == "knn":
        similarity = ab.similarity.knn(X[:n], 3)
        return similarity, X[n:], similarity.query(X[n:]).toarray()
    W = np.triu(rng.random((n, n)), 1)
    rows = rng.random((m, n))
    if kind == "graph":
        W *= rng.random((n, n)) < 0.4
        rows *= rng.random((m, n)) < 0.3
        return ab.similarity.graph(sp.csr_array(W + W.T)), rows, rows
    return ab.similarity.dense(W + W.T + np.eye(n)), rows, rows


@pytest.mark.parametrize("kind", KINDS)
@given(tree=trees(min_leaves=4, max_leaves=10, max_branching=2), seed=st.integers(0, 10**6))
def test_the_place_is_the_best_of_all_edges(kind, tree, seed):
    n = tree.n_leaves
    similarity, X, rows = old_and_new(kind, n, 2, np.random.default_rng(seed))
    W = similarity.rows(np.arange(n))
    np.fill_diagonal(W, 0)
    for k, node in enumerate(predict(tree, similarity, X)):
        every = np.zeros((n + 1, n + 1))
        every[:n, :n] = W
        every[n, :n] = every[:n, n] = rows[k]
        pairs = [(i, j) for i in range(n + 1) for j in range(i)]

        def cost(grown, every=every, pairs=pairs):
            return sum(every[i, j] * grown.sizes[grown.lca(i, j)] for i, j in pairs)

        costs = [cost(insert_above(tree, place)) for place in range(tree.n_nodes)]
        assert costs[node] <= min(costs) + 1e-6 * max(1, abs(min(costs)))


@pytest.mark.parametrize("kind", KINDS)
def test_labels_nodes_and_placements_agree_whatever_the_threads(kind):
    similarity, X, _ = old_and_new(kind, 40, 12, np.random.default_rng(0))
    tree = ab.cluster(similarity, random_state=0)
    found = place(tree, similarity, X, n_clusters=4)
    np.testing.assert_array_equal(found.node, predict(tree, similarity, X, n_jobs=1))
    np.testing.assert_array_equal(found.label, predict(tree, similarity, X, n_clusters=4))
    np.testing.assert_array_equal(found.label, predict(tree, similarity, X, labels=tree.cut(4)))
    assert ((found.node >= 0) & (found.node < tree.n_nodes)).all()
    assert ((found.confidence >= 0) & (found.confidence <= 1)).all()
    assert ((found.outlier_score >= 0) & (found.outlier_score <= 1)).all()
    assert place(tree, similarity, X).label is None


def test_a_point_that_resembles_nothing_goes_above_the_root_and_has_no_label():
    graph = ab.similarity.graph(([0, 1, 2], [1, 2, 3]), n_points=4)
    tree = ab.cluster(graph, random_state=0)
    found = place(tree, graph, np.zeros((1, 4)), n_clusters=2)
    assert found.node.tolist() == [tree.root] and found.label.tolist() == [-1]
    assert found.confidence.tolist() == [0.0] and found.outlier_score.tolist() == [1.0]


def test_points_labeled_as_outliers_lend_no_label():
    graph = ab.similarity.graph(([0, 1, 2], [1, 2, 3]), n_points=4)
    tree = ab.Tree.from_merges([(0, 1), (2, 3), (4, 5)])
    labels = predict(tree, graph, np.array([[1.0, 1, 0, 0], [0, 0, 0, 1.0]]), labels=[0, 0, -1, -1])
    assert labels.tolist() == [0, -1]


@pytest.mark.parametrize("kind", ("knn", "cosine", "gaussian"))
def test_noise_has_a_high_outlier_score_and_more_of_the_same_has_not(kind):
    X, _ = make_blobs(400, n_features=6, centers=4, cluster_std=0.5, center_box=(2, 9), random_state=0)
    makers = {"knn": partial(ab.similarity.knn, metric="euclidean"), "cosine": ab.similarity.cosine}
    similarity = makers.get(kind, lambda X: ab.similarity.gaussian(X, scale=2.0))(X[:300])
    tree = ab.cluster(similarity, random_state=0)
    same = place(tree, similarity, X[300:], n_clusters=4)
    noise = place(
        tree, similarity, -10 * np.abs(np.random.default_rng(0).normal(size=(50, 6))) - 5, n_clusters=4
    )
    assert np.median(same.outlier_score) < 0.7
    assert np.median(noise.outlier_score) > 0.97


def test_confidence_tells_right_labels_from_wrong_ones():
    X, y = load_digits(return_X_y=True)
    similarity = ab.similarity.knn(X[:1200], n_neighbors=10, metric="cosine")
    tree = ab.cluster(similarity, random_state=0)
    found = place(tree, similarity, X[1200:], n_clusters=20)
    cut = tree.cut(20)
    digit = np.array([np.bincount(y[:1200][cut == k]).argmax() for k in range(20)])
    right = digit[found.label] == y[1200:]
    assert found.confidence[right].mean() > found.confidence[~right].mean() + 0.1


def test_values_near_the_largest_float_are_placed():
    W = np.array([[0, 1.0, 0], [1, 0, 0.5], [0, 0.5, 0]]) * 1e300
    graph = ab.similarity.graph(sp.csr_array(W))
    tree = ab.linkage(graph)
    assert predict(tree, graph, [[0, 0, 1e305]]).tolist() == [2]


def test_rows_keep_only_their_largest_entries():
    rows = sp.csr_array(np.array([[1.0, 5, 3, 0], [0, 0, 2, 0]]))
    np.testing.assert_array_equal(largest_of_rows(rows, 2).toarray(), [[0, 5, 3, 0], [0, 0, 2, 0]])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_clusters": 2, "height": 1.0}, "n_clusters or height, not both"),
        ({"n_clusters": 2, "labels": [0, 0, 1, 1]}, "labels cannot be combined"),
        ({"labels": [0, 1]}, "for each of the 4 points"),
        ({"labels": [0, 0, 1, -2]}, "from -1"),
        ({"n_clusters": 9}, "n_clusters must lie in"),
    ],
)
def test_wrong_cuts_are_named(options, message):
    similarity = ab.similarity.cosine(np.eye(4))
    with pytest.raises(ValueError, match=message):
        predict(ab.linkage(similarity), similarity, np.eye(4), **options)


@pytest.mark.parametrize("kind", KINDS)
def test_another_number_of_features_is_refused(kind):
    similarity, X, _ = old_and_new(kind, 12, 2, np.random.default_rng(0))
    tree = ab.linkage(similarity)
    for wrong in (X[:, :-1], np.hstack([X, X[:, :1]])):
        with pytest.raises(ValueError, match=r"features|shape"):
            predict(tree, similarity, wrong)


@pytest.mark.parametrize("function", [ab.search.predict, ab.search.place])
def test_vectors_where_a_similarity_is_due_are_refused_by_name(function):
    X = np.random.default_rng(0).normal(size=(9, 2))
    with pytest.raises(TypeError, match="similarity must be a similarity"):
        function(ab.linkage(X), X, X)
