"""Multi-task regression: exact posterior, baselines, and what a tree is good for."""

import data_sets
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arbora.tasks import multitask, task_weights
from arbora.tasks.multitask import (
    RIDGE_GRID,
    RelationshipRegression,
    SingleTaskRegression,
    split_by_task,
)


def tasks(seed, n_tasks=12, n_rows=8, d=3):
    """Two families of tasks with nearly equal weights each."""
    rng = np.random.default_rng(seed)
    family = rng.standard_normal((2, d)) * 2
    weights = family[np.arange(n_tasks) % 2] + 0.1 * rng.standard_normal((n_tasks, d))
    task = np.repeat(np.arange(n_tasks), n_rows)
    X = rng.standard_normal((len(task), d))
    y = np.einsum("nd,nd->n", X, weights[task]) + 0.5 * rng.standard_normal(len(task))
    return X, y, task


def test_estimated_noise_and_deviations_are_those_of_the_data():
    rng = np.random.default_rng(1)
    task = np.repeat(np.arange(200), 15)
    spread = np.array([0.2, 1.0, 3.0])
    weights = 1.0 + spread * rng.standard_normal((200, 3))
    X = rng.standard_normal((len(task), 3))
    y = np.einsum("nd,nd->n", X, weights[task]) + 0.7 * rng.standard_normal(len(task))
    noise, variance = task_weights.estimate_variances(task_weights.statistics(X, y, task, 200))
    assert np.sqrt(noise) == pytest.approx(0.7, rel=0.05)
    np.testing.assert_allclose(np.sqrt(variance), spread, rtol=0.2)


def test_a_tree_of_tasks_beats_each_task_for_itself_and_finds_the_families():
    X, y, task = tasks(2, n_tasks=30, n_rows=12)
    train = multitask.split_by_task(task, 0.5, seed=0)
    rest = (X[~train], y[~train], task[~train])
    alone = multitask.SingleTaskRegression().fit(X[train], y[train], task[train])
    tree = multitask.TreeRegression(n_internal=7, random_state=0).fit(X[train], y[train], task[train])
    assert tree.score(*rest) > alone.score(*rest) + 1
    labels = tree.tree_.cut(n_clusters=2)
    agreement = np.mean(labels == np.arange(30) % 2)
    assert max(agreement, 1 - agreement) == 1
    assert tree.node_coef_.shape == (tree.tree_.n_nodes, 4)


def test_relationship_learning_with_unrelated_tasks_is_ridge_regression():
    X, y, task = tasks(3)
    design = np.column_stack([X, np.ones(len(y))])
    stats = task_weights.statistics(design, y, task, 12)
    found = task_weights.relationship_weights(stats, (0.25, 1e-9))
    expected = task_weights.ridge_weights(stats, 0.25 * 8)  # squared errors are means over 8 rows there
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_explained_variance_of_the_mean_is_zero():
    y = np.array([1.0, 2.0, 4.0])
    assert multitask.explained_variance_percent(y, np.full(3, y.mean())) == pytest.approx(0)
    assert multitask.explained_variance_percent(y, y) == 100


def test_unknown_tasks_and_wrong_lengths_are_refused():
    X, y, task = tasks(5)
    model = multitask.SingleTaskRegression().fit(X, y, task)
    with pytest.raises(ValueError, match="labels not seen in fit"):
        model.predict(X[:1], [99])
    with pytest.raises(ValueError, match="task must hold one label"):
        model.fit(X, y, task[:-1])


def test_one_task_alone_and_names_as_labels_are_fine():
    X, y, _ = tasks(6)
    model = multitask.TreeRegression(random_state=0).fit(X, y, np.full(len(y), "north"))
    assert model.predict(X[:2], ["north", "north"]).shape == (2,)


@pytest.mark.data
@pytest.mark.slow
def test_school_beats_both_baselines():
    data = data_sets.load("vectors/school")
    X, y, task = data["X"], data["score"], data["y"]
    train = multitask.split_by_task(task, 0.75, seed=0)
    scores = {
        model: model.fit(X[train], y[train], task[train]).score(X[~train], y[~train], task[~train])
        for model in (
            multitask.SingleTaskRegression(),
            multitask.RelationshipRegression(),
            multitask.TreeRegression(inner_shares=(0.01,), random_state=0),
        )
    }
    single, relationship, tree = scores.values()
    assert tree > 36
    assert tree > relationship > single - 0.5


@pytest.mark.parametrize("model", [SingleTaskRegression(), RelationshipRegression()])
def test_rows_of_another_width_or_number_are_refused_instead_of_spread_over_all_columns(model):
    rng = np.random.default_rng(0)
    X, task = rng.normal(size=(40, 3)), np.repeat([0, 1], 20)
    model.fit(X, X[:, 0], task)
    assert model.predict(X, task).shape == (40,)
    for width in (1, 2, 4):
        with pytest.raises(ValueError, match=f"X must have 3 features, as in fit. Got {width}"):
            model.predict(np.ones((40, width)), task)
    with pytest.raises(ValueError, match="task must hold one label for each of the 40 rows"):
        model.predict(X, task[:5])
    with pytest.raises(ValueError, match="NaN"):
        model.predict(np.full((2, 3), np.nan), [0, 1])


@given(st.lists(st.integers(0, 3), min_size=1, max_size=40), st.floats(0.1, 0.9), st.integers(0, 9))
def test_every_task_keeps_its_share_of_training_rows_and_at_least_one(task, share, seed):
    task = np.array(task)
    train = split_by_task(task, share, seed)
    for one in np.unique(task):
        n = (task == one).sum()
        assert train[task == one].sum() == max(1, round(share * n))
    np.testing.assert_array_equal(train, split_by_task(task, share, seed))


def test_units_of_features_and_the_order_of_rows_do_not_matter():
    rng = np.random.default_rng(1)
    X, task = rng.normal(size=(60, 2)), np.repeat(["a", "b", "c"], 20)
    y = X[:, 0] * np.where(task == "a", 1, -1) + 0.1 * rng.normal(size=60)
    plain = SingleTaskRegression().fit(X, y, task).predict(X, task)
    scaled = SingleTaskRegression().fit(X * [1000, 0.01] + 7, y, task).predict(X * [1000, 0.01] + 7, task)
    np.testing.assert_allclose(plain, scaled, atol=1e-8)
    constant = np.column_stack([X, np.full(60, 3.0)])
    same = SingleTaskRegression().fit(constant, y, task).predict(constant, task)
    np.testing.assert_allclose(plain, same, atol=1e-6)


def test_a_held_out_row_decides_the_strength_and_none_takes_the_first():
    X, task = np.arange(6.0)[:, None], np.arange(6)
    model = SingleTaskRegression().fit(X, X[:, 0], task)
    assert model.alpha_ == RIDGE_GRID[0], "one row per task leaves nothing to hold out"
