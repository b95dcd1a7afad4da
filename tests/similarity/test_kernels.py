"""Cross weights and local scales, against plain loops."""

import numpy as np
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import binary_trees, lca_matrix, trees

from arbora.similarity import _kernels as kernels
from arbora.similarity._few_rows import hash_few, scales_of_few
from arbora.similarity._knn_kernels import hash_rows, smooth_local_scales


def symmetric(n, seed, density=1.0):
    rng = np.random.default_rng(seed)
    W = np.triu(rng.random((n, n)) * (rng.random((n, n)) < density), 1)
    return W + W.T


def cross_by_definition(tree, W):
    meet, cross = lca_matrix(tree), np.zeros(tree.n_internal)
    for i in range(tree.n_leaves):
        for j in range(i):
            cross[meet[i, j] - tree.n_leaves] += W[i, j]
    return cross


@settings(max_examples=30)
@given(trees(min_leaves=2, max_leaves=9), st.integers(0, 1000))
def test_cross_weights_of_a_matrix_equal_their_definition(tree, seed):
    W = symmetric(tree.n_leaves, seed)
    found = kernels.cross_of_matrix(W, tree.leaf_order, tree.neighbor_lca, tree.n_leaves, tree.n_internal)
    np.testing.assert_allclose(found, cross_by_definition(tree, W), atol=1e-12)


@settings(max_examples=30)
@given(trees(min_leaves=2, max_leaves=9), st.integers(1, 4), st.integers(0, 1000))
def test_rows_may_come_in_blocks_of_any_height(tree, height, seed):
    W = symmetric(tree.n_leaves, seed)
    cross = np.zeros(tree.n_internal)
    for first in range(0, tree.n_leaves, height):
        rows = W[tree.leaf_order[first : first + height]]
        kernels.cross_of_rows(rows, tree.leaf_order, first, tree.neighbor_lca, tree.n_leaves, cross)
    np.testing.assert_allclose(cross, cross_by_definition(tree, W), atol=1e-12)


@settings(max_examples=30)
@given(trees(min_leaves=2, max_leaves=9), st.integers(1, 4), st.integers(0, 1000))
def test_cross_weights_of_features_are_those_of_their_products(tree, d, seed):
    X = np.random.default_rng(seed).normal(size=(tree.n_leaves, d))
    found = kernels.cross_of_features(X.copy(), tree.n_leaves, tree.child_offsets, tree.child_index)
    np.testing.assert_allclose(found, cross_by_definition(tree, X @ X.T), atol=1e-9)


@settings(max_examples=30)
@given(binary_trees(min_leaves=2, max_leaves=9), st.integers(0, 1000), st.integers(0, 9))
def test_edges_of_some_leaves_add_to_those_of_the_others(tree, seed, cut):
    n = tree.n_leaves
    W, loops = symmetric(n, seed, 0.5), np.random.default_rng(seed).random(n)
    csr = sp.csr_array(W)
    cross, cut = np.zeros(tree.n_internal), min(cut, n)
    for first, last in ((0, cut), (cut, n)):
        kernels.add_cross_of_rows(
            csr.indptr, csr.indices, csr.data, loops, tree.parent, tree.leaf_start, tree.neighbor_lca,
            tree.range_maxima,            first, last, cross,
        )  # fmt: skip
    wanted = cross_by_definition(tree, W)
    np.add.at(wanted, tree.parent[:n] - n, loops)
    np.testing.assert_allclose(cross, wanted, atol=1e-12)


@settings(max_examples=25)
@given(st.integers(1, 12), st.integers(1, 6), st.integers(0, 1000), st.booleans())
def test_scales_of_few_rows_equal_those_of_the_kernel_to_the_last_bit(n, k, seed, with_zeros):
    distance = np.sort(np.random.default_rng(seed).random((n, k)), axis=1)
    if with_zeros:
        distance[::2, 0] = 0
    for few, many in zip(scales_of_few(distance), smooth_local_scales(distance)):
        np.testing.assert_array_equal(few, many)


def test_the_weights_of_a_row_at_its_scale_sum_to_the_logarithm_of_their_number():
    distance = np.sort(np.random.default_rng(0).random((20, 8)), axis=1)
    nearest, scale = scales_of_few(distance)
    total = np.exp(-np.maximum(distance - nearest[:, None], 0) / scale[:, None]).sum(axis=1)
    np.testing.assert_allclose(total, 3.0, atol=1e-4)


def test_equal_rows_have_equal_keys_and_others_do_not():
    bits = np.random.default_rng(0).integers(0, 3, size=(60, 4))
    keys = hash_few(bits)
    np.testing.assert_array_equal(keys, hash_rows(bits))
    rows = {tuple(row) for row in bits.tolist()}
    assert len(set(keys.tolist())) == len(rows)
    assert len(set(zip(map(tuple, bits.tolist()), keys.tolist()))) == len(rows)
