"""What TURTLE and TEMI have in common: checked parameters, a seeded generator, a loop of steps, predictions."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.utils import check_random_state

from arbora.errors import DivergedError
from arbora.logits._spaces import Scaling, as_spaces, import_torch


class FlatModel(CallbackSupportMixin, ClusterMixin, BaseEstimator):
    """A clustering trained by steps of gradient descent, with logits for any point."""

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> FlatModel:
        """Cluster the points.

        Parameters
        ----------
        X : array-like of shape (n_points, n_features), or a list of several with the same rows
            Representations of the points in one or more spaces; each is centered and scaled to mean square 1.
        y : ignored
        """
        spaces = as_spaces(self, X, reset=True)
        self._check_parameters(len(spaces[0]))
        self._scaling = Scaling(spaces)
        self._learn(self._scaling(spaces))
        return self

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Most probable cluster of each point."""
        return self.decision_function(X).argmax(axis=1)

    def _check_counts(self, n_points: int, **least: int) -> None:
        """Whole numbers, each with its smallest value; no more clusters than points."""
        for name, lowest in {"n_clusters": 1, "n_steps": 1, "batch_size": 1, **least}.items():
            value = getattr(self, name)
            if not isinstance(value, Integral) or isinstance(value, bool) or value < lowest:
                raise ValueError(f"{name} must be a whole number, {lowest} or more. Got {value!r}.")
        if self.n_clusters > n_points:
            raise ValueError(
                f"n_clusters={self.n_clusters} must not exceed the number of points, {n_points}."
            )

    def _check_positive(self, **highest: float) -> None:
        """Numbers above 0 and up to a largest value."""
        for name, high in highest.items():
            value = getattr(self, name)
            if not isinstance(value, (int, float, np.number)) or not 0 < value <= high or math.isinf(value):
                allowed = "a positive number" if math.isinf(high) else f"in (0, {high}]"
                raise ValueError(f"{name} must be {allowed}. Got {value!r}.")

    def _generator(self) -> Any:
        """PyTorch's random numbers, seeded by `random_state`."""
        seed = int(check_random_state(self.random_state).randint(2**31))
        return import_torch().Generator().manual_seed(seed)

    def _take_steps(self, step: Callable[[], Any]) -> Any:
        """Take `n_steps` steps, or fewer if a callback says so; the losses averaged over the last tenth of them.

        A step returns one loss or several, of which the lowest is shown.
        """
        torch = import_torch()
        total = int(self.n_steps)
        context = self._init_callback_context(max_subtasks=total)
        context.call_on_fit_task_begin(estimator=self)
        losses: list[Any] = []
        for _ in range(total):
            task = context.subcontext(task_name="step").call_on_fit_task_begin(estimator=self)
            losses.append(step())
            lowest = float(losses[-1].min())
            if not math.isfinite(lowest):
                raise DivergedError(f"The loss turned {lowest} at step {len(losses)}. Lower learning_rate.")
            if task.call_on_fit_task_end(estimator=self, metadata={"loss": lowest}):
                break
        context.call_on_fit_task_end(estimator=self)
        self.n_steps_ = len(losses)
        return torch.stack(losses[-max(1, len(losses) // 10) :]).mean(dim=0)
