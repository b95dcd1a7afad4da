"""Weights of many regressions: each task for itself, all with a learned covariance, or given a tree of the tasks.

All of it works on sums over the rows of each task, so that rows are read once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from arbora._base.types import Floats, Ints
from arbora.tree import Tree


class TaskStatistics(NamedTuple):
    """Sums over the rows of each task: everything that least squares needs."""

    gram: Floats  # [T, d, d]
    moment: Floats  # [T, d]
    square: Floats  # [T]
    n_rows: Ints  # [T]


def statistics(design: Floats, y: Floats, task: Ints, n_tasks: int) -> TaskStatistics:
    """Gram matrix, moments, squares and counts of every task."""
    gram = np.zeros((n_tasks, design.shape[1], design.shape[1]))
    moment = np.zeros((n_tasks, design.shape[1]))
    for t in range(n_tasks):
        rows = task == t
        gram[t] = design[rows].T @ design[rows]
        moment[t] = design[rows].T @ y[rows]
    square = np.bincount(task, weights=y**2, minlength=n_tasks).astype(np.float64)
    return TaskStatistics(gram, moment, square, np.bincount(task, minlength=n_tasks))


class TreePosterior(NamedTuple):
    """Means and covariances of all nodes' weights, and their expected squared deviations from parents."""

    mean: Floats  # [N, d]
    covariance: Floats  # [N, d, d]
    deviation: Floats  # [N, d]


def tree_posterior(
    tree: Tree, stats: TaskStatistics, noise: float, task_variance: Floats, node_variance: Floats
) -> TreePosterior:
    """Exact posterior of the weights when every child is its parent plus independent Gaussian deviations.

    Information flows up the tree (children come before parents), then means and covariances down. The root
    has a flat prior.
    """
    parent, n_tasks, n_nodes = tree.parent, tree.n_leaves, tree.n_nodes
    d = stats.moment.shape[1]
    information = np.zeros((n_nodes, d, d))
    shift = np.zeros((n_nodes, d))
    information[:n_tasks], shift[:n_tasks] = stats.gram / noise, stats.moment / noise
    precision = np.where(np.arange(n_nodes)[:, None] < n_tasks, 1.0 / task_variance, 1.0 / node_variance)
    # covariance of a node given its parent and all data below
    local = np.empty((n_nodes, d, d))
    for v in range(n_nodes - 1):
        tight = precision[v]
        local[v] = np.linalg.inv(information[v] + np.diag(tight))
        information[parent[v]] += np.diag(tight) - tight[:, None] * local[v] * tight
        shift[parent[v]] += tight * (local[v] @ shift[v])
    mean, covariance, deviation = np.empty((n_nodes, d)), np.empty((n_nodes, d, d)), np.zeros((n_nodes, d))
    root = n_nodes - 1
    covariance[root] = np.linalg.inv(information[root] + 1e-8 * np.eye(d))
    mean[root] = covariance[root] @ shift[root]
    for v in range(n_nodes - 2, -1, -1):
        above, gain = parent[v], local[v] * precision[v]
        mean[v] = local[v] @ shift[v] + gain @ mean[above]
        cross = gain @ covariance[above]
        covariance[v] = local[v] + cross @ gain.T
        spread = np.diag(covariance[v]) + np.diag(covariance[above]) - 2.0 * np.diag(cross)
        deviation[v] = (mean[v] - mean[above]) ** 2 + spread
    return TreePosterior(mean, covariance, deviation)


def estimate_variances(stats: TaskStatistics, n_rounds: int = 40) -> tuple[float, Floats]:
    """Variance of the noise and of each weight across tasks, by EM with one common parent."""
    n_tasks, d = stats.moment.shape
    star = Tree(np.append(np.full(n_tasks, n_tasks), -1), n_tasks)
    noise = float((stats.square.sum() / max(stats.n_rows.sum(), 1)) / 2.0) + 1e-12
    variance = np.ones(d)
    for _ in range(n_rounds):
        posterior = tree_posterior(star, stats, noise, variance, variance)
        variance = posterior.deviation[:n_tasks].mean(axis=0) + 1e-8
        noise = _expected_square_error(stats, posterior) / max(stats.n_rows.sum(), 1) + 1e-12
    return noise, variance


def _expected_square_error(stats: TaskStatistics, posterior: TreePosterior) -> float:
    weights = posterior.mean[: len(stats.moment)]
    fitted = np.einsum("td,tde,te->t", weights, stats.gram, weights) - 2.0 * (weights * stats.moment).sum(
        axis=1
    )
    doubt = np.einsum("tde,ted->t", posterior.covariance[: len(weights)], stats.gram)
    return float((stats.square + fitted + doubt).sum())


def ridge_weights(stats: TaskStatistics, alpha: float) -> Floats:
    """Weights of every task by ridge regression; the last column, the constant, is not penalized."""
    penalty = np.diag(np.append(np.full(stats.moment.shape[1] - 1, alpha), 1e-8))
    return np.asarray(np.linalg.solve(stats.gram + penalty, stats.moment[:, :, None])[:, :, 0], np.float64)


def relationship_weights(stats: TaskStatistics, strengths: tuple[float, float], n_rounds: int = 8) -> Floats:
    """Weights [T, d] that minimize mean squared errors plus both penalties of MTRL."""
    own, shared = strengths
    n_tasks, d = stats.moment.shape
    scale = 1.0 / np.maximum(stats.n_rows, 1)
    gram, moment = stats.gram * scale[:, None, None], stats.moment * scale[:, None]
    penalized = np.append(np.ones(d - 1), 0.0)
    relation = np.eye(n_tasks) / n_tasks
    weights = ridge_weights(stats, 1.0)
    for _ in range(n_rounds):
        inverse = np.linalg.inv(relation + 1e-6 * np.eye(n_tasks))

        def apply(w: Floats, inverse: Floats = inverse) -> Floats:
            smooth = own * w + shared / n_tasks * (inverse @ w)
            found: Floats = np.einsum("tde,te->td", gram, w) + penalized * smooth + 1e-9 * w
            return found

        weights = conjugate_gradient(apply, moment, weights)
        slopes = weights[:, :-1]
        values, vectors = np.linalg.eigh(slopes @ slopes.T)
        root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        relation = root / max(np.trace(root), 1e-12)
    return weights


def conjugate_gradient(
    apply: Callable[[Floats], Floats],
    target: Floats,
    start: Floats,
    n_steps: int = 200,
    tolerance: float = 1e-7,
) -> Floats:
    """Solution of ``apply(x) = target`` for a positive definite linear map on arrays."""
    x = start.copy()
    residual = target - apply(x)
    direction, size = residual.copy(), float((residual**2).sum())
    enough = tolerance**2 * float((target**2).sum())
    for _ in range(n_steps):
        if size <= enough:
            break
        image = apply(direction)
        step = size / float((direction * image).sum())
        x += step * direction
        residual -= step * image
        before, size = size, float((residual**2).sum())
        direction = residual + (size / before) * direction
    return x
