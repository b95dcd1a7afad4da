"""Weights of many regressions against dense linear algebra."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import random_tree

from arbora.tasks.task_weights import (
    conjugate_gradient,
    relationship_weights,
    ridge_weights,
    statistics,
    tree_posterior,
)


def world(seed, n_tasks=4, d=3, n=40):
    rng = np.random.default_rng(seed)
    design = np.column_stack([rng.normal(size=(n, d - 1)), np.ones(n)])
    task = rng.integers(0, n_tasks, n)
    true = rng.normal(size=(n_tasks, d))
    y = (design * true[task]).sum(axis=1) + 0.1 * rng.normal(size=n)
    return design, y, task, true


@settings(max_examples=15)
@given(st.integers(0, 1000))
def test_statistics_are_sums_over_the_rows_of_each_task(seed):
    design, y, task, _ = world(seed)
    # a task may have no rows
    stats = statistics(design, y, task, 5)
    for t in range(5):
        rows = task == t
        np.testing.assert_allclose(stats.gram[t], design[rows].T @ design[rows])
        np.testing.assert_allclose(stats.moment[t], design[rows].T @ y[rows], atol=1e-12)
        assert stats.square[t] == pytest.approx((y[rows] ** 2).sum()) and stats.n_rows[t] == rows.sum()


def posterior_by_dense_algebra(tree, stats, noise, task_variance, node_variance):
    """The joint precision of all nodes' weights, inverted as one matrix."""
    d, n = stats.moment.shape[1], tree.n_nodes
    precision, shift = np.zeros((n * d, n * d)), np.zeros(n * d)
    for v in range(n):
        own = slice(v * d, (v + 1) * d)
        if v < tree.n_leaves:
            precision[own, own] += stats.gram[v] / noise
            shift[own] += stats.moment[v] / noise
        if tree.parent[v] >= 0:
            above = slice(tree.parent[v] * d, (tree.parent[v] + 1) * d)
            tight = np.diag(1 / (task_variance if v < tree.n_leaves else node_variance))
            precision[own, own] += tight
            precision[above, above] += tight
            precision[own, above] -= tight
            precision[above, own] -= tight
    root = slice((n - 1) * d, n * d)
    precision[root, root] += 1e-8 * np.eye(d)
    covariance = np.linalg.inv(precision)
    return (covariance @ shift).reshape(n, d), covariance


@settings(max_examples=20)
@given(st.integers(2, 5), st.integers(0, 1000))
def test_the_posterior_on_a_tree_equals_that_of_dense_algebra(n_tasks, seed):
    design, y, task, _ = world(seed, n_tasks)
    stats = statistics(design, y, task, n_tasks)
    tree = random_tree(n_tasks, np.random.default_rng(seed), max_branching=3)
    rng = np.random.default_rng(seed)
    variances = rng.random(3) + 0.1, rng.random(3) + 0.1
    found = tree_posterior(tree, stats, 0.3, *variances)
    mean, covariance = posterior_by_dense_algebra(tree, stats, 0.3, *variances)
    np.testing.assert_allclose(found.mean, mean, rtol=1e-5, atol=1e-6)
    for v in range(tree.n_nodes - 1):
        own, above = slice(3 * v, 3 * v + 3), slice(3 * tree.parent[v], 3 * tree.parent[v] + 3)
        np.testing.assert_allclose(found.covariance[v], covariance[own, own], rtol=1e-4, atol=1e-6)
        spread = np.diag(covariance[own, own] + covariance[above, above] - 2 * covariance[own, above])
        wanted = (mean[v] - mean[tree.parent[v]]) ** 2 + spread
        np.testing.assert_allclose(found.deviation[v], wanted, rtol=1e-4, atol=1e-6)


def test_ridge_equals_the_normal_equations_and_spares_the_constant():
    design, y, task, _ = world(0)
    weights = ridge_weights(statistics(design, y, task, 4), 2.0)
    for t in range(4):
        rows = task == t
        penalty = np.diag([2.0, 2.0, 1e-8])
        wanted = np.linalg.solve(design[rows].T @ design[rows] + penalty, design[rows].T @ y[rows])
        np.testing.assert_allclose(weights[t], wanted)
    shifted = ridge_weights(statistics(design, y + 100, task, 4), 2.0)
    np.testing.assert_allclose(shifted[:, :2], weights[:, :2], atol=1e-4)
    np.testing.assert_allclose(shifted[:, 2], weights[:, 2] + 100, atol=1e-4)


def test_strong_sharing_brings_tasks_together_and_none_leaves_them_apart():
    design, y, task, true = world(1, n=200)
    stats = statistics(design, y, task, 4)
    apart, together = (relationship_weights(stats, (1e-6, shared)) for shared in (1e-6, 1e3))
    np.testing.assert_allclose(apart, true, atol=0.15)
    assert np.abs(together[:, :2]).mean() < 0.5 * np.abs(apart[:, :2]).mean()


@settings(max_examples=20)
@given(st.integers(1, 6), st.integers(0, 1000))
def test_conjugate_gradients_solve_linear_systems(n, seed):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, n))
    A = root @ root.T + np.eye(n)
    target = rng.normal(size=(n, 2))
    found = conjugate_gradient(lambda x: A @ x, target, np.zeros((n, 2)))
    np.testing.assert_allclose(found, np.linalg.solve(A, target), atol=1e-5)


def test_a_solution_is_left_as_it_is():
    target = np.ones((2, 1))
    calls = []
    found = conjugate_gradient(lambda x: calls.append(1) or 2 * x, target, target / 2)
    np.testing.assert_array_equal(found, target / 2)
    assert len(calls) == 1
