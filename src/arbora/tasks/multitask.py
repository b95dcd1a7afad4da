"""Multi-task regression regularized over a tree of the tasks that is learned with it (gHHC, Sec. 5).

Eq. 21 adds the cost of a tree over the tasks' weights to the cost of the regressions. It is minimized in
turns: gHHC moves its nodes to the present weights and the tree is decoded; then, given the tree, each task's
weights are its parent's plus a Gaussian deviation, each node's its parent's in turn, and the weights of all
tasks and nodes follow exactly by passing messages up and down the tree. How much weights deviate, feature by
feature, and how noisy the targets are, is estimated along the way; which share of the deviations belongs to
the inner edges is chosen on held-out rows. The two baselines of the paper are here as well: each task for
itself, and multi-task relationship learning.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, check_X_y

from arbora._base.types import Bools, Floats, Ints
from arbora.hyperbolic.ghhc import GHHC
from arbora.tasks.task_weights import (
    TaskStatistics,
    TreePosterior,
    estimate_variances,
    relationship_weights,
    ridge_weights,
    statistics,
    tree_posterior,
)
from arbora.tree import Tree

# Share of the training rows of each task by which a regularization is chosen.
HELD_OUT = 0.2
RIDGE_GRID = (0.1, 1.0, 3.0, 10.0, 30.0, 100.0)


def split_by_task(task: ArrayLike, train_share: float = 0.75, seed: int = 0) -> Bools:
    """True for training rows: the same share of every task, drawn at random.

    Examples
    --------
    >>> import numpy as np
    >>> from arbora.tasks.multitask import split_by_task
    >>> task = np.repeat([0, 1], [8, 4])
    >>> train = split_by_task(task, 0.75)
    >>> np.bincount(task[train]).tolist()
    [6, 3]
    """
    task = np.asarray(task)
    rng = np.random.default_rng(seed)
    train = np.zeros(len(task), bool)
    for t in np.unique(task):
        rows = rng.permutation(np.flatnonzero(task == t))
        train[rows[: max(1, round(train_share * len(rows)))]] = True
    return train


def explained_variance_percent(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """100 (1 - mean squared error / variance of the targets), over all tasks together.

    Examples
    --------
    >>> from arbora.tasks.multitask import explained_variance_percent
    >>> explained_variance_percent([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    100.0
    >>> explained_variance_percent([1.0, 2.0, 3.0], [2.0, 2.0, 2.0])
    0.0
    """
    y_true, y_pred = np.asarray(y_true, float), np.asarray(y_pred, float)
    return float(100.0 * (1.0 - np.mean((y_true - y_pred) ** 2) / np.var(y_true)))


class _TaskRegression(RegressorMixin, BaseEstimator):
    """What the estimators share: standardized features with a constant, weights per task, prediction."""

    def fit(self, X: ArrayLike, y: ArrayLike, task: ArrayLike) -> Self:
        """Learn the weights of every task.

        Parameters
        ----------
        X : float[n, d]
        y : float[n]
        task : array of n labels
            The task of each row.
        """
        rows, targets = check_X_y(X, y, dtype=np.float64, y_numeric=True)
        task = np.asarray(task)
        if task.shape != targets.shape:
            raise ValueError(
                f"task must hold one label for each of the {len(targets)} rows. Got shape {task.shape}."
            )
        self.tasks_, code = np.unique(task, return_inverse=True)
        self.n_features_in_ = rows.shape[1]
        self.mean_, scale = rows.mean(axis=0), rows.std(axis=0)
        self.scale_ = np.where(scale > 0, scale, 1.0)
        self._solve(self._design(rows), targets.astype(np.float64), code)
        return self

    def _design(self, X: ArrayLike) -> Floats:
        scaled = (np.asarray(X, np.float64) - self.mean_) / self.scale_
        return np.column_stack([scaled, np.ones(len(scaled))])

    def predict(self, X: ArrayLike, task: ArrayLike) -> Floats:
        """Predictions for rows of known tasks."""
        check_is_fitted(self, "coef_")
        rows, task = check_array(X, dtype=np.float64), np.asarray(task)
        if rows.shape[1] != self.n_features_in_:
            raise ValueError(f"X must have {self.n_features_in_} features, as in fit. Got {rows.shape[1]}.")
        if task.shape != (len(rows),):
            raise ValueError(
                f"task must hold one label for each of the {len(rows)} rows. Got shape {task.shape}."
            )
        code = np.searchsorted(self.tasks_, task)
        known = code < len(self.tasks_)
        known[known] = self.tasks_[code[known]] == task[known]
        if not known.all():
            raise ValueError(f"task holds labels not seen in fit: {np.unique(task[~known])[:5].tolist()}.")
        return np.asarray(np.einsum("nd,nd->n", self._design(rows), self.coef_[code]), dtype=np.float64)

    def score(self, X: ArrayLike, y: ArrayLike, task: ArrayLike) -> float:
        """Explained variance in percent."""
        return explained_variance_percent(y, self.predict(X, task))

    def _best_on_held_out(
        self,
        design: Floats,
        y: Floats,
        code: Ints,
        candidates: Sequence[Any],
        weights_for: Callable[[TaskStatistics, Any], Floats],
    ) -> Any:
        """Candidate whose weights, learned on most rows, predict the others best."""
        train = split_by_task(code, 1.0 - HELD_OUT, seed=0)
        stats = statistics(design[train], y[train], code[train], len(self.tasks_))
        held, targets = design[~train], y[~train]
        if not len(targets):
            return candidates[0]
        errors = []
        for candidate in candidates:
            weights = weights_for(stats, candidate)
            errors.append(np.mean((targets - np.einsum("nd,nd->n", held, weights[code[~train]])) ** 2))
        return candidates[int(np.argmin(errors))]


class SingleTaskRegression(_TaskRegression):
    """Ridge regression of each task for itself, its strength chosen on held-out rows.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> task = np.repeat(["north", "south", "west"], 20)
    >>> X = rng.standard_normal((60, 2))
    >>> y = X[:, 0] * np.where(task == "west", -1.0, 1.0) + 0.1 * rng.standard_normal(60)
    >>> from arbora.tasks.multitask import SingleTaskRegression
    >>> model = SingleTaskRegression().fit(X, y, task)
    >>> model.coef_[:, 0].round().tolist(), model.score(X, y, task) > 90
    ([1.0, 1.0, -1.0], True)
    """

    def _solve(self, design: Floats, y: Floats, code: Ints) -> None:
        self.alpha_ = self._best_on_held_out(design, y, code, RIDGE_GRID, ridge_weights)
        self.coef_ = ridge_weights(statistics(design, y, code, len(self.tasks_)), self.alpha_)


class RelationshipRegression(_TaskRegression):
    """Multi-task relationship learning (MTRL, Zhang and Yeung, 2010).

    Ridge regression of all tasks with a learned covariance between them: the weights and the matrix
    ``(WᵀW)^½ / trace`` are found in turns. Strengths are chosen on held-out rows; constants are not
    penalized.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> task = np.repeat(["north", "south", "west"], 20)
    >>> X = rng.standard_normal((60, 2))
    >>> y = X[:, 0] * np.where(task == "west", -1.0, 1.0) + 0.1 * rng.standard_normal(60)
    >>> from arbora.tasks.multitask import RelationshipRegression
    >>> model = RelationshipRegression().fit(X, y, task)
    >>> model.coef_[:, 0].round().tolist(), model.score(X, y, task) > 90
    ([1.0, 1.0, -1.0], True)
    """

    _GRID = tuple((own, shared) for own in (0.03, 0.1, 0.3) for shared in (0.1, 0.3, 1.0, 3.0))

    def _solve(self, design: Floats, y: Floats, code: Ints) -> None:
        self.strengths_ = self._best_on_held_out(design, y, code, self._GRID, relationship_weights)
        self.coef_ = relationship_weights(statistics(design, y, code, len(self.tasks_)), self.strengths_)


class TreeRegression(_TaskRegression):
    """Multi-task regression with weights regularized over a tree of the tasks learned by gHHC.

    Parameters
    ----------
    n_internal : int, default 31
        Largest number of internal nodes of the tree.
    n_rounds : int, default 3
        Turns between moving the tree and solving for the weights.
    steps_per_round : int, default 100
        Steps of gHHC in a turn.
    inner_shares : sequence of float
        Shares of the deviations on inner edges to choose from.
    random_state : int, RandomState or None

    Attributes
    ----------
    tree_ : Tree
        Over the tasks.
    coef_ : float64[T, d + 1]
        Weights of each task for standardized features, the constant last.
    node_coef_ : array with one row per node, d + 1 columns
        The same for every node of the tree.
    inner_share_ : float
    tasks_ : array[T]

    Examples
    --------
    >>> import numpy as np
    >>> from arbora.tasks.multitask import TreeRegression
    >>> rng = np.random.default_rng(0)
    >>> task = np.repeat(np.arange(12), 10)
    >>> X = rng.standard_normal((120, 3))
    >>> y = X[:, 0] * np.where(task < 6, 1.0, -1.0) + 0.1 * rng.standard_normal(120)
    >>> model = TreeRegression(random_state=0).fit(X, y, task)
    >>> model.score(X, y, task) > 95
    True
    """

    def __init__(
        self,
        n_internal: int = 31,
        *,
        n_rounds: int = 3,
        steps_per_round: int = 100,
        inner_shares: tuple[float, ...] = (0.01, 0.03, 0.1, 0.3),
        random_state: Any = None,
    ) -> None:
        self.n_internal = n_internal
        self.n_rounds = n_rounds
        self.steps_per_round = steps_per_round
        self.inner_shares = inner_shares
        self.random_state = random_state

    def _solve(self, design: Floats, y: Floats, code: Ints) -> None:
        candidates = tuple(self.inner_shares)
        share = self._best_on_held_out(
            design, y, code, candidates, lambda stats, share: self._learn(stats, share)[1].mean
        )
        self.inner_share_ = share
        stats = statistics(design, y, code, len(self.tasks_))
        self.tree_, posterior = self._learn(stats, share)
        self.node_coef_ = posterior.mean
        self.coef_ = posterior.mean[: len(self.tasks_)]

    def _learn(self, stats: TaskStatistics, share: float) -> tuple[Tree, TreePosterior]:
        noise, variance = estimate_variances(stats)
        n_tasks = len(stats.moment)
        tree = Tree(np.append(np.full(n_tasks, n_tasks), -1), n_tasks) if n_tasks > 1 else Tree([-1], 1)
        posterior = tree_posterior(tree, stats, noise, variance, variance)
        if n_tasks < 3:
            return tree, posterior
        clustering = GHHC(
            n_internal=self.n_internal,
            batch_size=max(1, n_tasks // self.steps_per_round),
            n_neighbors=min(5, n_tasks - 1),
            random_state=self.random_state,
        )
        for _ in range(self.n_rounds):
            weights = posterior.mean[:n_tasks] / np.sqrt(variance)
            tree = clustering.partial_fit(weights - weights.mean(axis=0)).tree_
            posterior = tree_posterior(tree, stats, noise, (1 - share) * variance, share * variance)
        return tree, posterior
