"""What is done with columns before vectors are compared."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.preprocessing import QuantileTransformer, RobustScaler, StandardScaler

import arbora as ab
from arbora.similarity import _ways
from arbora.similarity.scaling import SCALES, choose, effective_columns, fit_scaling
from arbora.similarity.structure import Structure


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
        # of three columns, two components at most stand out
        assert scaled.shape == rows.shape or kind == "components"
        assert len(scaled) == len(rows)


@pytest.mark.parametrize("kind", ["standard", "components"])
def test_precision_is_kept(kind):
    X = load_iris().data.astype(np.float32)
    assert fit_scaling(kind, X).apply(X).dtype == np.float32


def noisy_groups(n_rows, n_columns, n_groups=4, apart=3.0):
    """Groups that differ in three hidden directions, under noise in all columns."""
    rng = np.random.default_rng(0)
    y = rng.integers(n_groups, size=n_rows)
    hidden = apart * rng.normal(size=(n_groups, 3))[y] + rng.normal(size=(n_rows, 3))
    return 5 + hidden @ rng.normal(size=(3, n_columns)) + rng.normal(size=(n_rows, n_columns)) * 3, y


@pytest.mark.parametrize("shape", [(400, 60), (60, 400)])
def test_components_are_those_of_scikit_learn_that_stand_out_of_noise(shape):
    X, _ = noisy_groups(*shape)
    found = fit_scaling("components", X).apply(X)
    assert found.shape[1] == 3
    expected = PCA(3).fit_transform(X)
    np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-8 * np.abs(expected).max())


def test_noise_has_no_components_and_two_are_left():
    X = np.random.default_rng(0).normal(size=(300, 50))
    assert fit_scaling("components", X).apply(X).shape == (300, 2)


def test_new_rows_are_projected_on_the_components_of_the_fitted_ones():
    X, _ = noisy_groups(300, 40)
    scaling = fit_scaling("components", X[:200])
    np.testing.assert_allclose(scaling.apply(X)[200:], scaling.apply(X[200:]))
    again = type(scaling).from_arrays("components", scaling.arrays())
    assert np.array_equal(again.apply(X), scaling.apply(X))


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


def test_one_column_that_rules_the_few_others_is_brought_to_their_scale():
    rows = np.random.default_rng(0).random((60, 3)) * [60, 90_000, 1]
    assert choose(rows)[:2] == ("euclidean", "standard")
    assert choose(rows / [1, 9000, 1])[:2] == choose(rows[:, :1])[:2] == ("euclidean", "none")


def test_missing_values_do_not_count_in_a_scale():
    rows = load_iris().data.copy()
    rows[3, 1] = np.nan
    for kind in ("standard", "robust", "rank"):
        scaled = fit_scaling(kind, rows).apply(rows)
        assert np.isnan(scaled).sum() == 1
        np.testing.assert_allclose(
            scaled[4:, 1], fit_scaling(kind, np.delete(rows, 3, axis=0)).apply(rows)[4:, 1], atol=1e-2
        )


@pytest.mark.parametrize("n_columns", [2, 3, 4, 5])
def test_one_column_of_large_numbers_among_few_is_brought_to_the_scale_of_the_others(n_columns):
    rows = np.random.default_rng(0).normal(5, 1, size=(100, n_columns)) * [20_000, *[1] * (n_columns - 1)]
    assert choose(rows).scale == "standard"


def test_few_columns_around_the_origin_are_compared_by_distance():
    rows = np.random.default_rng(0).normal(size=(200, 8))
    assert choose(rows)[:2] == ("euclidean", "none")
    assert choose(rows + 5)[:2] == ("cosine", "none")
    assert choose(np.random.default_rng(0).normal(size=(200, 40)))[:2] == ("cosine", "none")


def test_rows_of_one_length_are_compared_by_their_direction_even_in_half_precision():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(400, 40)) + 3 * rng.normal(size=(8, 40))[rng.integers(8, size=400)]
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    for given in (rows, rows.astype(np.float16), 7e180 * rows):
        choice = choose(given)
        assert choice[:2] == ("cosine", "none") and "one length" in choice.reason
    assert "one length" not in choose(rows * rng.uniform(0.5, 2, size=(400, 1))).reason


def test_the_way_by_which_groups_leak_least_is_taken_where_the_cosine_blurs_them():
    rng = np.random.default_rng(1)
    # scores from 1 to 10 that rise together: what tells the two groups apart is how high they are
    level = np.repeat([1.5, 6.0], 200)
    rows = np.clip(np.round(level[:, None] + rng.gamma(1.0, 1.5, size=(400, 9))), 1, 10)
    choice = choose(rows)
    assert choice.metric == "euclidean" and "clearest groups" in choice.reason


def test_groups_that_differ_in_length_are_not_compared_by_their_direction():
    # two normal clouds on one ray from the origin: their directions are the same
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=600)
    X = rng.normal(size=(600, 16)) + np.where(y, 12.0, 9.0)[:, None]
    choice = choose(X)
    assert choice.metric == "euclidean" and "clearest groups" in choice.reason
    assert choose(X[:, :8] - 2.2 * (y[:, None] == 1)).reason.startswith("most structure")
    by_choice = ab.metrics.dendrogram_purity(ab.cluster(X, random_state=0), y)
    by_cosine = ab.metrics.dendrogram_purity(ab.cluster(X, "cosine", random_state=0), y)
    assert by_choice > 0.95 > 0.6 > by_cosine


def test_groups_that_differ_in_direction_are_not_compared_by_their_length():
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=400)
    X = (rng.random((4, 12))[y] + 0.1 * rng.random((400, 12))) * rng.lognormal(sigma=0.3, size=(400, 1))
    assert choose(X)[:2] == ("cosine", "none")


def test_groups_under_noise_of_many_columns_are_found_along_components():
    rng = np.random.default_rng(0)
    y = rng.integers(6, size=300)
    hidden = rng.normal(size=(6, 5))[y] + 0.1 * rng.normal(size=(300, 5))
    X = hidden @ rng.normal(size=(5, 400)) + 8 * rng.normal(size=(300, 400))
    model = ab.TreeClustering(6, random_state=0).fit(X)
    assert (model.metric_, model.scale_) == ("euclidean", "components")
    by_cosine = ab.metrics.dendrogram_purity(ab.cluster(X, "cosine", random_state=0), y)
    assert ab.metrics.dendrogram_purity(model.tree_, y) > by_cosine + 0.05
    assert (model.predict(X) == model.labels_).mean() > 0.95


def test_of_many_rows_more_than_a_few_hundred_have_to_agree_with_another_way_than_the_cosine(monkeypatch):
    sizes = []

    def structure(rows, metric):
        sizes.append(len(rows))
        # what few rows say and more of them do not
        return Structure(gain=1.0 if metric == "euclidean" and len(rows) <= 300 else 0.2, leak=0.01)

    monkeypatch.setattr(_ways, "structure", structure)
    rows = np.random.default_rng(0).normal(size=(8000, 6))
    found = {n: _ways.most_structured(rows[:n]) for n in (1200, 2000, 8000)}
    assert found[1200][:2] == ("euclidean", "none") and found[2000] is found[8000] is None
    assert sorted(set(sizes)) == [300, 500, 1000]


def test_few_rows_or_columns_are_not_tried_in_several_ways():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 16)) + rng.choice([9.0, 12.0], size=(600, 1))
    assert choose(X[:40])[:2] == choose(X[:, :4])[:2] == ("cosine", "none")
    # the same few rows again and again are as few
    assert choose(np.repeat(X[:40], 20, axis=0))[:2] == ("cosine", "none")


def test_few_columns_sparse_rows_and_constant_columns_have_a_choice():
    assert choose(np.random.default_rng(0).normal(size=(50, 2))).metric == "euclidean"
    assert choose(sp.random(50, 40, density=0.1, format="csr", rng=0)).metric == "cosine"
    assert choose(np.ones((10, 5))).scale == "none"


def test_no_choice_depends_on_the_unit_of_all_columns_or_the_order_of_rows():
    for X in (load_iris().data, load_wine().data, load_digits().data[:300]):
        shuffled = X[np.random.default_rng(0).permutation(len(X))]
        assert choose(X * 1000)[:2] == choose(X)[:2] == choose(shuffled)[:2]


@pytest.mark.parametrize("unit", [2.0**-1000, 2.0**-500, 2.0**500, 2.0**1000])
@pytest.mark.parametrize("n_columns", [2, 5, 13])
def test_squares_beyond_the_range_of_numbers_change_no_choice_and_no_scale(unit, n_columns):
    X = load_wine().data[:, -n_columns:]
    assert choose(X * unit)[:2] == choose(X)[:2]
    for kind in ("standard", "robust", "rank"):
        assert np.array_equal(fit_scaling(kind, X * unit).apply(X * unit), fit_scaling(kind, X).apply(X))


def test_a_table_with_one_large_column_is_clustered_by_the_others_too():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(3), 60)
    X = rng.normal(size=(180, 6)) + 4 * rng.normal(size=(3, 6))[y]
    X[:, 0] = rng.normal(size=180) * 1e5
    tree = ab.cluster(X, metric="auto", random_state=0)
    assert (
        ab.metrics.dendrogram_purity(tree, y)
        > ab.metrics.dendrogram_purity(ab.cluster(X, metric="euclidean", scale="none", random_state=0), y)
        + 0.2
    )


def test_new_points_are_scaled_as_the_old_ones_and_a_saved_model_remembers_how(tmp_path):
    X = load_wine().data
    model = ab.TreeClustering(3, random_state=0).fit(X[::2])
    assert "standard" in model.report_.choices["metric"]
    scaler = StandardScaler().fit(X[::2])
    plain = ab.TreeClustering(3, metric="euclidean", random_state=0).fit(scaler.transform(X[::2]))
    assert (plain.labels_ == model.labels_).all()
    expected = plain.predict(scaler.transform(X[1::2]))
    assert (model.predict(X[1::2]) == expected).all()
    model.save(tmp_path / "model.npz")
    assert (ab.TreeClustering.load(tmp_path / "model.npz").predict(X[1::2]) == expected).all()
    assert model.partial_fit(X[1::2]).tree_.n_leaves == len(X)


def test_what_cannot_be_scaled_is_refused():
    with pytest.raises(ValueError, match="scale must be one of"):
        ab.cluster(load_iris().data, scale="large")
    with pytest.raises(ValueError, match="needs dense vectors"):
        ab.cluster(sp.random(50, 40, density=0.2, format="csr", rng=0), scale="standard")
