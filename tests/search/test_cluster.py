import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, make_blobs

import arbora as ab
from arbora.search import predict


def blobs(n=90, seed=0):
    return make_blobs(n, n_features=4, centers=3, cluster_std=0.5, random_state=seed)


def test_cluster_finds_separate_groups_in_vectors():
    X, y = blobs()
    for metric in ("cosine", "euclidean"):
        tree = ab.cluster(X, metric=metric, random_state=0)
        assert tree.is_binary and tree.n_leaves == len(X)
    assert ab.metrics.dendrogram_purity(tree, y) == 1.0
    assert ab.metrics.clustering_accuracy(y, tree.cut(n_clusters=3)) == 1.0


def test_cluster_of_digits_is_purer_than_ward_and_average_linkage():
    X, y = load_digits(return_X_y=True)
    purity = {
        name: ab.metrics.dendrogram_purity(tree, y)
        for name, tree in {
            "cluster": ab.cluster(X, random_state=0),
            "ward": ab.linkage(X, "ward"),
            "average": ab.linkage(X, "average"),
        }.items()
    }
    assert purity["cluster"] >= 0.90
    assert purity["cluster"] > max(purity["ward"], purity["average"])


def test_cluster_takes_graphs_in_every_form_and_gives_the_same_tree():
    network = nx.karate_club_graph()
    adjacency = nx.to_scipy_sparse_array(network, dtype=float)
    rows, cols = sp.triu(adjacency).coords
    forms = (network, adjacency, (rows, cols, sp.triu(adjacency).data), ab.similarity.graph(adjacency))
    trees = [ab.cluster(form, random_state=0) for form in forms]
    assert all(tree == trees[0] for tree in trees[1:])


def test_cluster_takes_dense_similarities_and_all_pairs_of_vectors():
    X, y = blobs(40)
    W = ab.similarity.gaussian(X).pairs(*np.indices((40, 40)))
    assert ab.metrics.dendrogram_purity(ab.cluster(ab.similarity.dense(W), random_state=0), y) == 1.0
    assert ab.cluster(X, similarity="cosine", random_state=0).n_leaves == 40


def test_verbose_shows_progress_and_the_report_on_standard_error_only(capsys):
    ab.cluster(blobs(20)[0], random_state=0, verbose=True)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "refine: done" in shown.err and "Dasgupta cost (normalized)" in shown.err


def test_the_same_seed_gives_the_same_tree_on_any_number_of_threads():
    X, _ = blobs(200)
    assert ab.cluster(X, random_state=3, n_jobs=1) == ab.cluster(X, random_state=3, n_jobs=2)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_points(n):
    assert ab.cluster(np.eye(5)[:n]).n_leaves == n


def test_equal_points_constant_columns_and_disconnected_graphs():
    assert ab.cluster(np.ones((12, 3))).is_binary
    assert ab.cluster(np.hstack([np.ones((12, 1)), np.random.default_rng(0).normal(size=(12, 2))])).is_binary
    assert ab.cluster(([0, 2, 4], [1, 3, 5])).n_leaves == 6
    assert ab.cluster(sp.csr_array((4, 4))).n_leaves == 4


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        ([[1.0, np.nan]] * 3, {}, "data must be finite"),
        ([1.0, 2.0], {}, "must have shape"),
        (np.zeros((0, 3)), {}, "must not be empty"),
        (np.zeros((3, 0)), {}, "must not be empty"),
        (np.eye(4), {}, "square symmetric array"),
        (np.full((9, 3), 1 / 3), {}, "arbora.L2H"),
        (np.log(np.full((9, 3), 1 / 3)), {}, "arbora.L2H"),
        (np.ones((4, 2)), {"metric": "manhattan"}, "metric must be"),
        (np.ones((4, 2)), {"similarity": "rbf"}, "similarity must be one of"),
        (np.ones((4, 2)), {"directed": "sum"}, "directed applies to graphs"),
        (sp.csr_array((0, 0)), {}, "must not be empty"),
        (sp.csr_array([[1.0, np.nan]] * 3), {}, "row 0, column 1"),
        (sp.csr_array([[1j, 2.0]] * 3), {}, "Complex data not supported"),
        (nx.Graph(), {}, "no nodes"),
        (np.ones((3, 2)) * 1j, {}, "Complex data not supported"),
        (np.ones((4, 2)), {"similarity": "cosine", "metric": "euclidean"}, 'similarity="knn"'),
        (([0, 1], [1, 2], [1.0, -1.0]), {}, "must not be negative"),
    ],
)
def test_bad_data_is_refused_by_name(data, options, message):
    with pytest.raises(ValueError, match=message):
        ab.cluster(data, **options)


def test_text_is_refused():
    with pytest.raises(TypeError, match="data must hold real numbers"):
        ab.cluster([["a", "b"]])


def test_rows_of_probabilities_are_taken_as_vectors_when_asked():
    P = np.random.default_rng(0).dirichlet(np.ones(3), size=20)
    assert ab.cluster(P, similarity="knn").n_leaves == 20


@pytest.mark.parametrize("kind", ["cosine", "knn", "dense", "graph"])
def test_predict_puts_new_points_where_their_like_are(kind):
    X, y = blobs(120)
    old, new = X[:90], X[90:]
    if kind == "cosine":
        similarity, rows = ab.similarity.cosine(old), new
    elif kind == "knn":
        similarity, rows = ab.similarity.knn(old, n_neighbors=8), new
    else:
        W = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / 2)
        rows = W[90:, :90]
        similarity = (
            ab.similarity.dense(W[:90, :90])
            if kind == "dense"
            else ab.similarity.graph(sp.csr_array(W[:90, :90]))
        )
    tree = ab.cluster(similarity, random_state=0)
    labels, found = tree.cut(n_clusters=3), predict(tree, similarity, rows, n_clusters=3)
    class_of = {int(label): y[:90][labels == label][0] for label in np.unique(labels)}
    assert np.mean([class_of[int(label)] == truth for label, truth in zip(found, y[90:])]) > 0.9
    places = predict(tree, similarity, rows)
    assert places.shape == (30,) and places.max() < tree.n_nodes
    np.testing.assert_array_equal(places, predict(tree, similarity, rows, n_jobs=1))


def test_a_new_point_like_nothing_belongs_nowhere():
    graph = ab.similarity.graph(([0, 2], [1, 3]))
    assert predict(ab.cluster(graph, random_state=0), graph, np.zeros((1, 4)), n_clusters=2).tolist() == [-1]


def test_predict_refuses_rows_of_another_length():
    graph = ab.similarity.graph(([0, 2], [1, 3]))
    with pytest.raises(ValueError, match="similarities to the 4 points"):
        predict(ab.cluster(graph, random_state=0), graph, np.zeros((1, 3)))


def test_components_of_the_neighbor_graph_are_joined_by_their_distances():
    rng = np.random.default_rng(0)
    centers = np.array([[0.0, 0], [1, 0], [100, 0], [101, 0], [0, 300]])
    y = np.repeat(np.arange(5), 20)
    X = centers[y] + rng.normal(size=(100, 2)) * 0.02
    tree = ab.cluster(X, metric="euclidean", n_neighbors=4, random_state=0)
    assert len(np.unique(y[tree.cut(3) == tree.cut(3)[0]])) == 2
    for n_clusters, group_of in ((5, [0, 1, 2, 3, 4]), (3, [0, 0, 1, 1, 2]), (2, [0, 0, 0, 0, 1])):
        assert ab.metrics.clustering_accuracy(np.array(group_of)[y], tree.cut(n_clusters)) == 1.0
    assert (np.diff(tree.height[[tree.lca(0, 20), tree.lca(0, 40), tree.root]]) > 0).all()
