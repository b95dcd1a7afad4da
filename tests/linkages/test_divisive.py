"""k-means hierarchies, BIRCH and Louvain: always a whole tree over all points."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import Birch
from sklearn.datasets import load_digits, make_blobs

import arbora as ab
from arbora.linkages import birch, louvain


@given(st.integers(1, 40), st.integers(2, 5), st.integers(1, 6), st.integers(0, 10**6))
def test_hierarchical_kmeans_is_a_whole_tree_within_its_branching(n, branching, min_size, seed):
    X = np.random.default_rng(seed).integers(0, 6, size=(n, 2)).astype(float)  # many duplicates
    tree = ab.hierarchical_kmeans(X, branching, min_size=min_size, random_state=seed)
    assert tree.n_leaves == n
    for node in range(n, tree.n_nodes):
        children, leaves = tree.children(node), tree.leaves(node)
        all_equal = (X[leaves] == X[leaves[0]]).all()
        assert len(children) >= 2
        assert len(children) <= branching or len(leaves) <= min_size or all_equal
    inner = np.arange(n, tree.root)
    assert (tree.height[inner] <= tree.height[tree.parent[inner]]).all()


def test_bisecting_kmeans_is_binary_and_finds_blobs():
    X, y = make_blobs(3000, 5, centers=6, cluster_std=0.5, random_state=0)
    tree = ab.bisecting_kmeans(X, random_state=0)
    assert tree.is_binary
    assert ab.metrics.dendrogram_purity(tree, y) > 0.99
    assert len(set(tree.cut(n_clusters=6))) == 6
    assert tree == ab.bisecting_kmeans(X, random_state=0)


def test_height_is_the_root_of_the_sum_of_squares():
    X = np.random.default_rng(0).normal(size=(50, 3))
    tree = ab.hierarchical_kmeans(X, 3, random_state=1)
    for node in range(50, tree.n_nodes):
        rows = X[tree.leaves(node)]
        assert tree.height[node] == pytest.approx(np.sqrt(((rows - rows.mean(axis=0)) ** 2).sum()))


def test_more_starts_are_never_worse_at_the_top():
    X = load_digits().data[:400]

    def kept(n_init):
        tree = ab.hierarchical_kmeans(X, 10, n_init=n_init, random_state=3)
        return (tree.height[tree.children(tree.root)] ** 2).sum()

    assert kept(10) <= kept(1) * 1.001


def test_birch_groups_points_as_scikit_learn_does():
    X, _ = make_blobs(500, 3, centers=20, random_state=1)
    tree = birch(X, threshold=1.0, branching_factor=5)
    labels = Birch(threshold=1.0, branching_factor=5, n_clusters=None).fit(X).labels_
    parents = tree.parent[:500]
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        if len(members) > 1:
            assert len(set(parents[members])) == 1
            assert tree.sizes[parents[members[0]]] == len(members)
    assert (tree.n_children >= 2).all()
    assert birch(X).n_leaves == 500


def test_louvain_starts_from_scikit_networks_communities():
    from sknetwork.clustering import Louvain

    adjacency = sp.csr_matrix(nx.to_scipy_sparse_array(nx.karate_club_graph(), dtype=float))
    tree = louvain(adjacency)
    labels = Louvain(n_aggregations=1, random_state=0).fit_predict(adjacency)
    groups = {frozenset(tree.leaves(v).tolist()) for v in range(tree.n_nodes)}
    for label in np.unique(labels):
        assert frozenset(np.flatnonzero(labels == label).tolist()) in groups
    assert (tree.n_children >= 2).all()


def test_smallest_inputs():
    for build in (ab.bisecting_kmeans, ab.hierarchical_kmeans, birch):
        assert build([[1.0]]).n_nodes == 1
        assert build([[1.0], [2.0]]).parent.tolist() == [2, 2, -1]
        assert build(np.ones((4, 2))).parent.tolist() == [4, 4, 4, 4, -1]
    assert louvain(sp.csr_array((1, 1))).n_nodes == 1
    assert louvain(sp.csr_array((3, 3))).parent.tolist() == [3, 3, 3, -1]
    assert louvain(([0], [1])).parent.tolist() == [2, 2, -1]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ab.hierarchical_kmeans([[0.0]], 1), "branching must"),
        (lambda: ab.bisecting_kmeans([[0.0]], min_size=0), "min_size must"),
        (lambda: ab.bisecting_kmeans([[0.0]], n_init=0), "n_init must"),
        (lambda: ab.bisecting_kmeans([[np.nan]]), "NaN"),
        (lambda: birch([[0.0]], threshold=-1.0), "threshold must"),
        (lambda: birch([[0.0]], branching_factor=1), "branching_factor must"),
        (lambda: louvain(([0], [1]), resolution=0.0), "resolution must"),
    ],
)
def test_bad_input_is_refused_with_its_reason(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("scale", [1e-305, 1e155, 1e307])
def test_values_of_any_size_are_split_alike(scale):
    X = np.random.default_rng(0).uniform(-1, 1, size=(40, 3))
    for build in (ab.bisecting_kmeans, ab.hierarchical_kmeans):
        plain, scaled = build(X, random_state=0), build(X * scale, random_state=0)
        assert np.isfinite(scaled.height).all() and scaled.n_leaves == plain.n_leaves
    assert birch(X * scale).n_leaves == 40


def test_the_same_seed_gives_the_same_tree_and_options_of_another_kind_are_refused():
    X, _ = make_blobs(200, 3, centers=8, random_state=0)
    graph = ab.similarity.knn(X, 5)
    assert louvain(graph, random_state=3) == louvain(graph, random_state=3)
    assert ab.bisecting_kmeans(X, random_state=3) == ab.bisecting_kmeans(X, random_state=3)
    for call, name in (
        (lambda: ab.hierarchical_kmeans(X, 2.5), "branching"),
        (lambda: ab.hierarchical_kmeans(X, 3, n_init="a"), "n_init"),
        (lambda: birch(X, threshold="a"), "threshold"),
        (lambda: louvain(graph, resolution=None), "resolution"),
        (lambda: louvain(graph, random_state="a"), "random_state"),
        (lambda: louvain(ab.similarity.cosine(X)), "no sparse form"),
    ):
        with pytest.raises(TypeError, match=name):
            call()
