"""Linkage of sparse graphs against the definition, SciPy on the filled-in matrix, and scikit-network."""

import data_sets
import numpy as np
import pytest
import scipy.cluster.hierarchy as sch
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from linkage_definitions import assert_greedy, random_weights
from scipy.spatial.distance import squareform

import arbora as ab
from arbora.linkages import graph_linkage


def clades(tree, nodes):
    return {frozenset(tree.leaves(node).tolist()) for node in nodes}


@given(
    st.integers(2, 11),
    st.sampled_from([0.15, 0.4, 1.0]),
    st.booleans(),
    st.sampled_from(["average", "single", "complete", "paris"]),
    st.integers(0, 10**6),
)
def test_every_merge_is_greedy_ties_included(n, density, whole, method, seed):
    W = random_weights(n, density, np.random.default_rng(seed), whole=whole)
    if method == "paris" and (W.sum(axis=1) == 0).any():
        W = W + 1 - np.eye(n)  # an isolated node has no degree to weigh by
    assert_greedy(graph_linkage(ab.similarity.graph(sp.csr_array(W)), method), W, method)


@pytest.mark.parametrize("method", ["average", "single", "complete"])
@pytest.mark.parametrize("density", [0.05, 0.3, 1.0])
def test_linkage_of_a_graph_equals_scipy_on_the_filled_in_matrix(method, density):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(20, 70))
        W = random_weights(n, density, rng)
        tree = graph_linkage(ab.similarity.graph(sp.csr_array(W)), method)
        Z = sch.linkage(squareform(1 - W, checks=False), method)
        reference = ab.Tree.from_linkage(Z)
        n_joined = int((Z[:, 2] < 1 - 1e-12).sum())  # beyond, all pairs are equally unlike
        joined = range(n, n + n_joined)
        np.testing.assert_allclose(1 - 1 / tree.height[joined], Z[:n_joined, 2], atol=1e-12)
        assert clades(tree, joined) == clades(reference, joined)


def test_paris_equals_scikit_network():
    from sknetwork.hierarchy import Paris

    for seed in range(6):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(10, 60))
        W = random_weights(n, 0.5, rng) + np.diag(rng.random(n))
        tree = graph_linkage(ab.similarity.graph(sp.csr_array(W)), "paris")
        rows = Paris(reorder=False).fit_predict(sp.csr_matrix(W))
        reference = ab.Tree.from_merges(rows[:, :2].astype(int), n)
        assert clades(tree, range(n, tree.n_nodes)) == clades(reference, range(n, reference.n_nodes))
        np.testing.assert_allclose(tree.height[n:], np.sort(rows[:, 2]), rtol=1e-4)  # theirs is float32


def test_disconnected_parts_and_isolated_nodes_are_joined_above_all_others():
    graph = ab.similarity.graph(([0, 1, 3, 5], [1, 2, 4, 6], [1.0, 0.5, 0.25, 4.0]), n_points=9)
    for method in ("average", "single", "complete", "paris"):
        tree = graph_linkage(graph, method)
        assert tree.is_binary
        assert np.isfinite(tree.height).all()
        assert (np.diff(tree.height[9:]) >= 0).all()
        labels = tree.cut(height=tree.height[tree.root] * 0.99)
        assert len(set(labels[[0, 3, 5, 7, 8]])) == 5
        assert labels[5] == labels[6] and labels[3] == labels[4]
    assert graph_linkage(graph, "average").cut(n_clusters=5)[0] == graph_linkage(graph).cut(n_clusters=5)[2]


@pytest.mark.parametrize("method", ["average", "single", "complete", "paris"])
def test_smallest_graphs(method):
    assert graph_linkage(ab.similarity.graph(sp.csr_array((1, 1))), method).n_nodes == 1
    empty = graph_linkage(ab.similarity.graph(sp.csr_array((3, 3))), method)
    assert empty.is_binary and empty.height[empty.root] == 1
    pair = graph_linkage(ab.similarity.graph(([0], [1], [0.5])), method)
    assert pair.parent.tolist() == [2, 2, -1]


def test_a_star_a_path_and_a_clique_take_no_quadratic_time():
    n = 50_000
    leaves = np.arange(1, n)
    star = graph_linkage(ab.similarity.graph((np.zeros(n - 1, dtype=int), leaves)))
    assert star.is_binary and star.depths.max() == n - 1  # the hub takes in one leaf after the other
    path = graph_linkage(ab.similarity.graph((leaves - 1, leaves)))
    assert path.is_binary and path.depths.max() < 100
    i, j = np.triu_indices(300, 1)
    assert graph_linkage(ab.similarity.graph((i, j)), "complete").is_binary


def test_scaling_the_weights_and_repeating_the_call_change_nothing():
    W = random_weights(200, 0.1, np.random.default_rng(0))
    one = graph_linkage(ab.similarity.graph(sp.csr_array(W)))
    np.testing.assert_array_equal(one.parent, graph_linkage(ab.similarity.graph(sp.csr_array(W))).parent)
    scaled = graph_linkage(ab.similarity.graph(sp.csr_array(W * 1024)))
    np.testing.assert_array_equal(one.parent, scaled.parent)


def test_tiny_weights_keep_heights_finite():
    tree = graph_linkage(ab.similarity.graph(([0, 1, 2], [1, 2, 3], [1.0, 1e-300, 1e-308])))
    assert np.isfinite(tree.height).all() and (np.diff(tree.height[4:]) >= 0).all()


def test_an_unknown_method_is_named():
    with pytest.raises(ValueError, match=r"method must be one of .*'ward'"):
        graph_linkage(ab.similarity.graph(([0], [1])), "ward")


def test_ties_are_broken_as_in_scikit_network():
    from sknetwork.hierarchy import Paris

    for seed in range(6):  # a power of two of nodes: scikit-network's float32 similarities are exact then
        n = 32
        W = random_weights(n, 0.15, np.random.default_rng(seed), whole=True) > 0
        W[0] = W[:, 0] = True
        W[0, 0] = False
        adjacency = sp.csr_matrix(W.astype(float))
        tree = graph_linkage(ab.similarity.graph(sp.csr_array(adjacency)), "average")
        rows = Paris(weights="uniform", reorder=False).fit_predict(adjacency)
        reference = ab.Tree.from_merges(rows[:, :2].astype(int), n)
        assert clades(tree, range(n, tree.n_nodes)) == clades(reference, range(n, reference.n_nodes))


@pytest.mark.data
@pytest.mark.parametrize("name", ["polblogs", "citeseer", "cora_ml", "openflight"])
def test_average_linkage_of_real_graphs_costs_what_scikit_networks_does(name):
    from sknetwork.hierarchy import Paris

    data = data_sets.load(f"graphs/{name}")
    edges = [data[key] for key in ("rows", "cols", "weights") if key in data]
    graph = ab.similarity.graph(tuple(edges), n_points=int(data["n"]))
    ours = ab.metrics.dasgupta_cost(graph_linkage(graph), graph)
    rows = Paris(weights="uniform", reorder=False).fit_predict(sp.csr_matrix(graph.csr))
    theirs = ab.metrics.dasgupta_cost(ab.Tree.from_merges(rows[:, :2].astype(int), graph.n_points), graph)
    assert ours == pytest.approx(theirs, rel=0.03)  # its float32 similarities make more ties than there are


@pytest.mark.parametrize("method", ["average", "single", "complete", "paris"])
@pytest.mark.parametrize("scale", [5e-324, 1e-310, 1e-170, 1e-100, 1e140])
def test_weights_of_any_size_are_linked_alike(method, scale):
    W = np.kron(np.eye(3), np.ones((4, 4)) - np.eye(4)) * scale
    W[3, 4] = W[4, 3] = W[7, 8] = W[8, 7] = scale
    tree = graph_linkage(ab.similarity.graph(sp.csr_array(W)), method)
    assert tree.same_topology(graph_linkage(ab.similarity.graph(sp.csr_array(W / scale)), method))
    assert np.isfinite(tree.height).all()


def test_weights_a_hundred_orders_of_magnitude_apart_are_linked():
    graph = ab.similarity.graph(([0, 2, 4, 1], [1, 3, 5, 2], [1.0, 1e-170, 1e-300, 1e-320]))
    for method in ("average", "single", "complete", "paris"):
        tree = graph_linkage(graph, method)
        assert tree.n_leaves == 6 and np.isfinite(tree.height).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -1.0])
def test_weights_that_are_no_similarities_are_refused_instead_of_looping(bad):
    csr = sp.csr_array(np.array([[0.0, bad, 0.0], [bad, 0.0, 1.0], [0.0, 1.0, 0.0]]))
    with pytest.raises(ValueError, match="weights"):
        graph_linkage(ab.similarity.GraphSimilarity(csr))


def test_a_similarity_without_edges_is_refused():
    with pytest.raises(TypeError, match="no sparse form"):
        graph_linkage(ab.similarity.cosine(np.eye(3)))
