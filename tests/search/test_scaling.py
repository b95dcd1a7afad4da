"""What is done with columns before vectors are compared."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.preprocessing import QuantileTransformer, RobustScaler, StandardScaler

from arbora.search.scaling import SCALES, choose, effective_columns, fit_scaling


def test_standard_and_robust_are_those_of_scikit_learn():
    X = load_wine().data
    assert fit_scaling("standard", X).apply(X) == pytest.approx(StandardScaler().fit_transform(X))
    assert fit_scaling("robust", X).apply(X) == pytest.approx(RobustScaler().fit_transform(X))


def test_ranks_are_quantiles():
    X = np.random.default_rng(0).lognormal(size=(200, 3))
    expected = QuantileTransformer(n_quantiles=200).fit_transform(X) - 0.5
    assert fit_scaling("rank", X).apply(X) == pytest.approx(expected, abs=1e-6)
    assert fit_scaling("rank", X).apply(X * 1e9).max() <= 0.5


@pytest.mark.parametrize("kind", SCALES[1:])
def test_constant_columns_and_single_rows_stay_finite(kind):
    X = np.column_stack([np.full(9, 0.1), np.arange(9.0), np.repeat([0.0, 1.0], [8, 1])])
    for rows in (X, X[:1]):
        scaling = fit_scaling(kind, rows)
        scaled = rows if scaling is None else scaling.apply(rows)
        assert np.isfinite(scaled).all()
        assert scaled.shape == rows.shape


def test_precision_is_kept():
    X = load_iris().data.astype(np.float32)
    assert fit_scaling("standard", X).apply(X).dtype == np.float32


def test_effective_columns_counts_those_that_carry_the_variance():
    rng = np.random.default_rng(0)
    assert effective_columns(rng.normal(size=(5000, 8))) == pytest.approx(8, rel=0.05)
    assert effective_columns(rng.normal(size=(5000, 8)) * [100, 1, 1, 1, 1, 1, 1, 1]) == pytest.approx(
        1, rel=0.01
    )


def test_tables_of_unlike_units_are_standardized():
    assert choose(load_breast_cancer().data)[:2] == ("euclidean", "standard")
    assert choose(load_wine().data)[:2] == ("euclidean", "standard")


def test_pixels_and_embeddings_are_left_as_they_are():
    assert choose(load_digits().data)[:2] == ("cosine", "none")
    embeddings = np.random.default_rng(0).normal(size=(300, 64))
    assert choose(embeddings / np.linalg.norm(embeddings, axis=1, keepdims=True))[:2] == ("cosine", "none")


def test_principal_components_are_compared_by_distance():
    assert choose(PCA(20).fit_transform(load_digits().data))[:2] == ("euclidean", "none")


def test_heavy_tails_are_replaced_by_ranks():
    assert choose(np.random.default_rng(0).lognormal(sigma=2, size=(500, 6)))[:2] == ("euclidean", "rank")


def test_few_columns_sparse_rows_and_constant_columns_have_a_choice():
    assert choose(np.random.default_rng(0).normal(size=(50, 2))).metric == "euclidean"
    assert choose(sp.random(50, 40, density=0.1, format="csr")).metric == "cosine"
    assert choose(np.ones((10, 5))).scale == "none"


def test_no_choice_depends_on_the_unit_of_all_columns_or_the_order_of_rows():
    for X in (load_iris().data, load_wine().data, load_digits().data[:300]):
        shuffled = X[np.random.default_rng(0).permutation(len(X))]
        assert choose(X * 1000)[:2] == choose(X)[:2] == choose(shuffled)[:2]
