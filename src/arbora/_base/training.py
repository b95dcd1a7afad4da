"""One training curve for every trained estimator, and scikit-learn's callbacks, typed.

A trained estimator has `history_`, a structured array with the fields ``step`` (epoch or step, from 1), ``loss``
(what is descended on) and ``cost`` (quality of the decoded tree, NaN where it was not computed). Progress goes to
scikit-learn's callbacks and, with ``verbose=True``, to a bar on standard error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.callback import with_callbacks as _untyped_with_callbacks

from arbora._base.progress import Bar, ProgressCallback, silent

HISTORY = np.dtype([("step", np.int64), ("loss", np.float64), ("cost", np.float64)])

_Method = TypeVar("_Method", bound=Callable[..., Any])


def with_callbacks(fit: _Method) -> _Method:
    """scikit-learn's decorator of `fit`, which keeps the signature for type checkers."""
    return _untyped_with_callbacks(fit)  # type: ignore[no-any-return]


def history(rows: Iterable[tuple[int, float, float]]) -> NDArray[np.void]:
    """Training curve from rows of (step, loss, cost).

    Examples
    --------
    >>> from arbora._base.training import history
    >>> history([(1, 0.5, float("nan")), (2, 0.25, 3.0)])["loss"]
    array([0.5 , 0.25])
    """
    return np.array([tuple(row) for row in rows], dtype=HISTORY)


# What changes how a fit runs, is reported, cut or refined, but not what training finds.
_WITHOUT_EFFECT = (
    "n_clusters",
    "refine",
    "checkpoint",
    "checkpoint_every",
    "n_jobs",
    "random_state",
    "verbose",
)


def deciding_params(estimator: Any, *without_effect: str) -> dict[str, Any]:
    """Parameters of an estimator that decide what training finds, for the identity of its checkpoint.

    A parameter counts unless it is known to have no effect: `n_clusters`, `refine`, how the fit runs and reports,
    and those named here.
    """
    ignored = {*_WITHOUT_EFFECT, *without_effect}
    params: dict[str, Any] = estimator.get_params(deep=False)
    return {name: value for name, value in params.items() if name not in ignored}


class FitProgress:
    """Steps of a fit, reported to scikit-learn's callbacks and, if asked for, to a bar on standard error.

    Parameters
    ----------
    estimator : estimator with scikit-learn's CallbackSupportMixin
    n_steps : int or None
        Most steps there can be, where known.
    unit : str
        What a step is: "epoch", "step".
    verbose : bool
    """

    def __init__(
        self, estimator: Any, n_steps: int | None, *, unit: str = "epoch", verbose: bool = False
    ) -> None:
        self._estimator, self._unit, self._total = estimator, unit, n_steps
        self._bar = Bar() if verbose else None
        self._context = estimator._init_callback_context(max_subtasks=n_steps)

    def __enter__(self) -> FitProgress:
        self._context.call_on_fit_task_begin(estimator=self._estimator)
        self._show(0)
        return self

    def __exit__(self, problem: object, *_: object) -> None:
        if problem is None:
            if self._bar is not None and self._total is not None:
                self._show(self._total)
            self._context.call_on_fit_task_end(estimator=self._estimator)

    def step(self, number: int, *, note: str = "", **details: Any) -> bool:
        """Report a finished step; whether a callback asks to stop. `details` go to the callbacks as they are."""
        if self._bar is not None:
            self._bar.note = note
        self._show(number)
        task = self._context.subcontext(task_name=self._unit)
        task.call_on_fit_task_begin(estimator=self._estimator)
        return bool(task.call_on_fit_task_end(estimator=self._estimator, **details))

    def _show(self, done: int) -> None:
        if self._bar is not None:
            self._bar(f"{type(self._estimator).__name__} {self._unit}s", done, self._total)


class FitStages:
    """Stages of a fit that has no steps: a progress callable that also informs scikit-learn's callbacks and a bar.

    Every stage is one task for the callbacks.

    Parameters
    ----------
    estimator : estimator with scikit-learn's CallbackSupportMixin
    verbose : bool
    """

    def __init__(self, estimator: Any, *, verbose: bool = False) -> None:
        self._estimator = estimator
        self._bar: ProgressCallback = Bar() if verbose else silent
        self._context = estimator._init_callback_context(max_subtasks=None)
        self._stage: str | None = None
        self._task: Any = None

    def __enter__(self) -> FitStages:
        self._context.call_on_fit_task_begin(estimator=self._estimator)
        return self

    def __call__(self, stage: str, done: float, total: float | None) -> None:
        if stage != self._stage or done == 0:
            self._end_stage()
            self._stage = stage
            self._task = self._context.subcontext(task_name=stage)
            self._task.call_on_fit_task_begin(estimator=self._estimator)
        self._bar(stage, done, total)

    def __exit__(self, problem: object, *_: object) -> None:
        if problem is None:
            self._end_stage()
            self._context.call_on_fit_task_end(estimator=self._estimator)

    def _end_stage(self) -> None:
        if self._task is not None:
            self._task.call_on_fit_task_end(estimator=self._estimator)
            self._task = None
