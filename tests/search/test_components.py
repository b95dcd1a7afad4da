"""Components of a graph, read off a tree over it."""

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components
from sklearn.datasets import make_blobs
from trees import binary_trees

import arbora as ab
from arbora.search.components import components_seen, join_components


def sparse_graph(n, share, seed):
    rng = np.random.default_rng(seed)
    W = np.triu(rng.random((n, n)) * (rng.random((n, n)) < share), 1)
    return ab.similarity.graph(sp.csr_array(W + W.T))


def partition(label):
    return {frozenset(np.flatnonzero(label == k).tolist()) for k in np.unique(label)}


@given(binary_trees(min_leaves=2, max_leaves=12), st.floats(0, 1), st.integers(0, 10**6))
def test_components_that_a_tree_shows_are_those_of_the_graph(tree, share, seed):
    graph = sparse_graph(tree.n_leaves, share, seed)
    label = components_seen(tree, graph.cross(tree))
    if label is not None:
        assert partition(label) == partition(connected_components(graph.csr, directed=False)[1])


@given(st.integers(3, 30), st.floats(0, 0.2), st.integers(0, 10**6))
def test_a_refined_tree_shows_its_components(n, share, seed):
    graph = sparse_graph(n, share, seed)
    tree = ab.refine(ab.linkage(graph, "average"), graph)
    label = components_seen(tree, graph.cross(tree))
    assert label is not None
    assert partition(label) == partition(connected_components(graph.csr, directed=False)[1])


def test_components_are_joined_alike_whether_the_tree_shows_them_or_the_graph_is_asked():
    X, _ = make_blobs(200, centers=6, cluster_std=0.3, random_state=0)
    similarity = ab.similarity.knn(X, 5, metric="euclidean")
    tree = ab.refine(ab.linkage(similarity, "average"), similarity)
    seen, asked = join_components(tree, similarity, similarity.cross(tree)), join_components(tree, similarity)
    assert seen[1] == asked[1] > 2
    assert seen[0] == asked[0]
