"""The Gaussian similarity against the matrix it never stores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist, squareform
from trees import trees

import arbora as ab
from arbora.similarity import gaussian as module_function


@given(trees(unary=0.2), st.integers(0, 10**6), st.sampled_from([0.3, 1.0, 20.0]))
def test_cross_equals_that_of_the_dense_matrix(tree, seed, scale):
    X = np.random.default_rng(seed).normal(size=(tree.n_leaves, 3)) + 100
    sim = module_function(X, scale)
    W = (
        np.exp(-squareform(pdist(X, "sqeuclidean")) / (2 * scale**2))
        if tree.n_leaves > 1
        else np.ones((1, 1))
    )
    dense = ab.similarity.dense(W)
    np.testing.assert_allclose(sim.cross(tree), dense.cross(tree), rtol=1e-9, atol=1e-12)
    assert sim.total == pytest.approx(dense.total, abs=1e-9)
    i, j = np.triu_indices(tree.n_leaves, 1)
    np.testing.assert_allclose(sim.pairs(i, j), dense.pairs(i, j), rtol=1e-9)


def test_blocks_do_not_show():
    X = np.random.default_rng(0).normal(size=(70, 2))
    tree = ab.linkage(X)
    whole = ab.similarity.gaussian(X)
    expected, total = whole.cross(tree), whole.total
    whole.values_at_once = 150
    np.testing.assert_allclose(whole.cross(tree), expected)
    assert whole.total == pytest.approx(total)


def test_median_scale():
    X = np.random.default_rng(1).normal(size=(100, 3))
    assert ab.similarity.gaussian(X).scale == pytest.approx(np.median(pdist(X)))
    large = np.random.default_rng(2).normal(size=(2000, 3))
    assert ab.similarity.gaussian(large).scale == pytest.approx(np.median(pdist(large)), rel=0.02)
    assert ab.similarity.gaussian(large).scale == ab.similarity.gaussian(large).scale
    assert ab.similarity.gaussian(np.ones((5, 2))).scale == 1.0
    assert ab.similarity.gaussian([[3.0]]).total == 0.0


@pytest.mark.parametrize("scale", [0.0, -1.0, np.nan, np.inf, "mean", True])
def test_a_bad_scale_is_refused(scale):
    with pytest.raises(ValueError, match="scale must be a positive number"):
        ab.similarity.gaussian([[0.0], [1.0]], scale)


def test_bad_vectors_are_refused():
    with pytest.raises(ValueError, match="NaN"):
        ab.similarity.gaussian([[0.0], [np.nan]])
