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
    assert (
        ab.similarity.gaussian(large, random_state=0).scale
        == ab.similarity.gaussian(large, random_state=0).scale
    )
    assert ab.similarity.gaussian(np.ones((5, 2))).scale == 1.0
    assert ab.similarity.gaussian([[3.0]]).total == 0.0


@pytest.mark.parametrize("scale", [0.0, -1.0, np.nan, np.inf, "mean", True])
def test_a_bad_scale_is_refused(scale):
    with pytest.raises(ValueError, match="scale must be a positive number"):
        ab.similarity.gaussian([[0.0], [1.0]], scale)


def test_bad_vectors_are_refused():
    with pytest.raises(ValueError, match="NaN"):
        ab.similarity.gaussian([[0.0], [np.nan]])


@pytest.mark.parametrize("far", [1e8, 1e10, 1e150, 1e160])
def test_one_point_far_away_changes_nothing_between_the_others(far):
    X = np.random.default_rng(0).normal(size=(20, 2))
    X[0, 0] = far
    sim = module_function(X, scale=1.0)
    i, j = np.triu_indices(20, 1)
    pairs = sim.pairs(i, j)
    assert np.isfinite(pairs).all()
    assert sim.total == pytest.approx(pairs.sum(), rel=1e-12)
    assert sim.cross(ab.linkage(X[:, ::-1] * 1e-100)).sum() == pytest.approx(pairs.sum(), rel=1e-12)
    np.testing.assert_allclose(pairs[i > 0], module_function(X[1:], scale=1.0).pairs(*np.triu_indices(19, 1)))


def test_values_too_large_for_the_scale_are_refused_in_words():
    assert module_function([[1.7e308], [-1.7e308]], scale=1.0).total == 0
    with pytest.raises(ValueError, match="Divide X by a constant"):
        module_function([[1.0], [2.0]], scale=1e-310)
    large = module_function(np.array([[1.0], [2.0], [4.0]]) * 1e300)
    np.testing.assert_allclose(large.rows([0]), module_function([[1.0], [2.0], [4.0]]).rows([0]))
    assert module_function([[0.0], [1.0]], scale=1e300).pairs(0, 1) == 1.0
