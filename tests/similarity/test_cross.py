import sys

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from trees import chain, lca_by_definition, trees

import arbora as ab
from arbora._base.threads import allowing_threads
from arbora.similarity.graph import cross_in_leaf_order


def cross_by_definition(tree, weight):
    """Sum of weight over the pairs whose LCA is each internal node; the diagonal goes to the leaf's parent."""
    cross = np.zeros(tree.n_internal)
    for i in range(tree.n_leaves):
        for j in range(i + 1, tree.n_leaves):
            cross[lca_by_definition(tree, i, j) - tree.n_leaves] += weight[i, j]
        if tree.n_internal:
            cross[tree.parent[i] - tree.n_leaves] += weight[i, i]
    return cross


def symmetric(n, rng):
    W = rng.random((n, n)) + 0.01
    W = W + W.T
    np.fill_diagonal(W, 2.0)
    return W


@given(trees(unary=0.2), st.integers(0, 10**6))
def test_cross_of_a_dense_matrix_equals_its_definition(tree, seed):
    W = symmetric(tree.n_leaves, np.random.default_rng(seed))
    expected = cross_by_definition(tree, W - np.diag(np.diag(W)))
    np.testing.assert_allclose(ab.similarity.dense(W).cross(tree), expected, rtol=1e-12)


@given(trees(unary=0.2), st.integers(0, 10**6), st.booleans())
def test_cross_of_cosine_features_equals_its_definition(tree, seed, affine):
    X = np.random.default_rng(seed).normal(size=(tree.n_leaves, 3))
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    W = unit @ unit.T
    W = (1 + W) / 2 if affine else W
    np.fill_diagonal(W, 0)
    similarity = ab.similarity.cosine(X, affine=affine)
    np.testing.assert_allclose(similarity.cross(tree), cross_by_definition(tree, W), atol=1e-12)
    np.testing.assert_allclose(similarity.total, np.triu(W, 1).sum(), atol=1e-12)


@given(trees(unary=0.2), st.integers(0, 10**6))
def test_cross_of_a_graph_equals_its_definition_self_loops_included(tree, seed):
    rng = np.random.default_rng(seed)
    W = symmetric(tree.n_leaves, rng) * (rng.random((tree.n_leaves, tree.n_leaves)) < 0.4)
    W = np.maximum(W, W.T)
    similarity = ab.similarity.graph(sp.csr_array(W))
    np.testing.assert_allclose(similarity.cross(tree), cross_by_definition(tree, W), rtol=1e-12)
    np.testing.assert_allclose(similarity.total, np.triu(W).sum(), rtol=1e-12)
    np.testing.assert_allclose(similarity.degrees.sum(), 2 * similarity.total, rtol=1e-12)


@given(trees(min_leaves=2), st.integers(0, 10**6))
def test_cross_in_leaf_order_is_that_of_the_graph(tree, seed):
    W = symmetric(tree.n_leaves, np.random.default_rng(seed))
    np.fill_diagonal(W, 0)
    order = tree.leaf_order
    in_order = cross_in_leaf_order(sp.csr_array(W[order][:, order]), tree)
    np.testing.assert_allclose(in_order, cross_by_definition(tree, W), rtol=1e-12)


@given(trees(unary=0.2), st.integers(0, 10**6), st.booleans())
def test_cross_of_a_large_graph_equals_its_definition_with_and_without_self_loops(tree, seed, has_loops):
    W = symmetric(tree.n_leaves, np.random.default_rng(seed))
    np.fill_diagonal(W, 2.0 if has_loops else 0.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules["arbora.similarity.graph"], "_SHARED_FROM_ENTRIES", 0)
        found = ab.similarity.graph(sp.csr_array(W)).cross(tree)
    np.testing.assert_allclose(found, cross_by_definition(tree, W), rtol=1e-12)


def test_cross_adds_up_to_the_total_on_a_deep_chain():
    tree = chain(20_000)
    similarity = ab.similarity.cosine(np.random.default_rng(0).normal(size=(20_000, 4)))
    np.testing.assert_allclose(similarity.cross(tree).sum(), similarity.total, rtol=1e-10)


def test_three_kinds_agree_on_the_same_numbers():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 5))
    features = ab.similarity.cosine(X)
    i, j = np.indices((40, 40))
    W = features.pairs(i, j)
    tree = chain(40)
    W0 = W.copy()
    np.fill_diagonal(W0, 0)
    for other in (ab.similarity.dense(W), ab.similarity.graph(sp.csr_array(W0))):
        np.testing.assert_allclose(other.cross(tree), features.cross(tree), rtol=1e-10)
        np.testing.assert_allclose(other.pairs([0, 3], [5, 9]), features.pairs([0, 3], [5, 9]), rtol=1e-10)


def test_tree_and_similarity_of_different_sizes_are_refused():
    with pytest.raises(ValueError, match="3 points and 5 leaves"):
        ab.similarity.cosine(np.eye(3)).cross(chain(5))


@pytest.mark.parametrize("n_threads", [1, 2, 7])
def test_edges_shared_out_among_threads_give_the_same_sums(monkeypatch, n_threads):
    rng = np.random.default_rng(5)
    ends = rng.integers(300, size=(2, 2_000))
    similarity = ab.similarity.graph((*ends, rng.random(2_000)), n_points=300)
    tree = ab.linkage(similarity, "average")
    at_once = similarity.cross(tree)
    # the name arbora.similarity.graph is the function
    monkeypatch.setattr(sys.modules["arbora.similarity.graph"], "_SHARED_FROM_ENTRIES", 0)
    with allowing_threads(1):
        in_turn = similarity.cross(tree)
    with allowing_threads(n_threads):
        np.testing.assert_array_equal(similarity.cross(tree), in_turn)
    np.testing.assert_allclose(in_turn, at_once, rtol=1e-12)
