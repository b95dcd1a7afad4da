"""Multi-task regression: exact posterior, baselines, and what a tree is good for."""

import data_sets
import numpy as np
import pytest

from arbora import Tree
from arbora.tasks import multitask, task_weights


def tasks(seed, n_tasks=12, n_rows=8, d=3):
    """Two families of tasks with nearly equal weights each."""
    rng = np.random.default_rng(seed)
    family = rng.standard_normal((2, d)) * 2
    weights = family[np.arange(n_tasks) % 2] + 0.1 * rng.standard_normal((n_tasks, d))
    task = np.repeat(np.arange(n_tasks), n_rows)
    X = rng.standard_normal((len(task), d))
    y = np.einsum("nd,nd->n", X, weights[task]) + 0.5 * rng.standard_normal(len(task))
    return X, y, task


def posterior_by_definition(tree, stats, noise, task_variance, node_variance):
    """Solve the normal equations of all nodes at once."""
    d, n = stats.moment.shape[1], tree.n_nodes
    system, target = np.zeros((n * d, n * d)), np.zeros(n * d)
    block = [slice(v * d, (v + 1) * d) for v in range(n)]
    for v in range(n):
        if v < tree.n_leaves:
            system[block[v], block[v]] += stats.gram[v] / noise
            target[block[v]] += stats.moment[v] / noise
        if v != tree.root:
            tight = np.diag(1 / (task_variance if v < tree.n_leaves else node_variance))
            p = tree.parent[v]
            for a, b, sign in ((v, v, 1), (p, p, 1), (v, p, -1), (p, v, -1)):
                system[block[a], block[b]] += sign * tight
    system[block[tree.root], block[tree.root]] += 1e-8 * np.eye(d)
    covariance = np.linalg.inv(system)
    mean = (covariance @ target).reshape(n, d)
    blocks = np.array([covariance[block[v], block[v]] for v in range(n)])
    return mean, blocks


def test_messages_on_the_tree_give_the_solution_of_the_whole_system():
    X, y, task = tasks(0, n_tasks=5)
    tree = Tree([5, 5, 6, 6, 7, 7, 7, -1], 5)
    stats = task_weights.statistics(X, y, task, 5)
    settings = (0.3, np.array([0.5, 1.0, 2.0]), np.array([0.1, 0.2, 0.3]))
    found = task_weights.tree_posterior(tree, stats, *settings)
    mean, covariance = posterior_by_definition(tree, stats, *settings)
    np.testing.assert_allclose(found.mean, mean, atol=1e-7)
    np.testing.assert_allclose(found.covariance, covariance, atol=1e-7)


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


def test_conjugate_gradients_solve_the_system():
    rng = np.random.default_rng(4)
    root = rng.standard_normal((6, 6))
    matrix = root @ root.T + np.eye(6)
    target = rng.standard_normal((6, 2))
    found = task_weights.conjugate_gradient(lambda w: matrix @ w, target, np.zeros((6, 2)))
    np.testing.assert_allclose(matrix @ found, target, atol=1e-5)


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
