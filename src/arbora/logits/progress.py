"""Progress of a fit, on the terminal and to scikit-learn's callbacks."""

from __future__ import annotations

import sys
import time
from typing import Any, TextIO


class Reporter:
    """Called with (phase, done, total): prints a line a phase that counts up, and tells callbacks of each phase.

    Parameters
    ----------
    estimator : estimator with callback support
    verbose : bool
    stream : text stream, optional
        Standard error by default.
    """

    def __init__(self, estimator: Any, verbose: bool, stream: TextIO | None = None) -> None:
        self._estimator, self._verbose = estimator, verbose
        self._stream = sys.stderr if stream is None else stream
        self._phase, self._began, self._printed = "", 0.0, 0.0
        self._root = estimator._init_callback_context(max_subtasks=None)
        self._root.call_on_fit_task_begin(estimator=estimator)
        self._task: Any = None

    def __call__(self, phase: str, done: int, total: int) -> None:
        now = time.monotonic()
        if phase != self._phase or done == 1:
            self._end_phase()
            self._phase, self._began, self._printed = phase, now, 0.0
            self._task = self._root.subcontext(task_name=phase)
            self._task.call_on_fit_task_begin(estimator=self._estimator)
        finished = done == total
        if self._verbose and (finished or now - self._printed > 0.2):
            self._printed = now
            of = f"/{total:,}" if total else ""
            self._stream.write(f"\r{phase}: {done:,}{of} ({now - self._began:.1f} s)" + "\n" * finished)
            self._stream.flush()

    def _end_phase(self) -> None:
        if self._task is not None:
            self._task.call_on_fit_task_end(estimator=self._estimator)
            self._task = None

    def finish(self) -> None:
        """End the last phase and the fit."""
        self._end_phase()
        self._root.call_on_fit_task_end(estimator=self._estimator)
