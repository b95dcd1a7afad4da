"""What a command says: results on standard output, progress on standard error."""

from __future__ import annotations

import json
import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from arbora.cli._exit import Unusable
from arbora.cli._tables import aligned

_SPEED_OVER = 120.0  # seconds over which the speed of a bar is averaged


class Console:
    """Results and progress of one command.

    Parameters
    ----------
    quiet : bool
        Say nothing but errors (and JSON, if asked for).
    as_json : bool
        Print results as one JSON object instead of text.
    out : path, optional
        Where the command's main result goes. If that is standard output ("-"), words go to standard error.
    """

    def __init__(self, quiet: bool, as_json: bool, out: Any = None) -> None:
        if as_json and str(out) == "-":
            raise Unusable("--json and --out - both want standard output. Give the tree a file.")
        self.quiet = quiet
        self.as_json = as_json
        self._words = sys.stderr if str(out) == "-" else sys.stdout
        self.seconds: dict[str, float] = {}
        self._bars: Any = None

    def say(self, text: str) -> None:
        """A line for people."""
        if not self.quiet and not self.as_json:
            print(text, file=self._words)

    def note(self, text: str) -> None:
        """A remark that is no result: to standard error."""
        if not self.quiet:
            print(f"arbora: {text}", file=sys.stderr)

    def table(self, rows: Mapping[str, Any]) -> None:
        """Names and values, aligned."""
        self.say(aligned(rows))

    def result(self, facts: Mapping[str, Any]) -> None:
        """The one JSON object of ``--json``."""
        if self.as_json:
            print(json.dumps(plain(facts), indent=2 if sys.stdout.isatty() else None, ensure_ascii=False))

    @property
    def shows_bars(self) -> bool:
        """Whether there is anybody to show progress to."""
        return self._bars is not None

    @contextmanager
    def stage(self, name: str, expected: float | None = None) -> Iterator[None]:
        """A part of the work: a bar on a terminal, and its seconds for the report.

        The bar moves with the clock where it is known how many seconds are `expected` (and stops short of its
        end where they are over), and pulses otherwise.
        """
        began = time.perf_counter()
        bar = None if self._bars is None else self._bars.add_task(name, total=expected)
        over = threading.Event()

        def move() -> None:
            while not over.wait(0.2):
                spent = time.perf_counter() - began
                self._bars.update(bar, completed=spent, total=max(expected, 1.1 * spent))

        clock = (
            threading.Thread(target=move, daemon=True) if bar is not None and expected is not None else None
        )
        if clock is not None:
            clock.start()
        try:
            yield
        finally:
            over.set()
            if clock is not None:
                clock.join()
            self.seconds[name] = round(time.perf_counter() - began, 3)
            if bar is not None:
                self._bars.update(bar, total=1, completed=1)

    @contextmanager
    def progress(self) -> Iterator[None]:
        """Bars with the time left, on standard error, if that is a terminal (or ARBORA_PROGRESS is set)."""
        if self.quiet or not (sys.stderr.isatty() or os.environ.get("ARBORA_PROGRESS")):
            yield
            return
        from rich.console import Console as RichConsole
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(elapsed_when_finished=True),
        )
        console = RichConsole(stderr=True)
        with Progress(*columns, console=console, speed_estimate_period=_SPEED_OVER) as self._bars:
            yield
        self._bars = None

    def reporter(self) -> Callable[..., None]:
        """What arbora's functions call with a stage, what is done and what there is: a bar and its seconds each."""
        began: dict[str, float] = {}
        bars: dict[str, Any] = {}

        def report(stage: str, done: float, total: float | None = 1.0) -> None:
            now = time.perf_counter()
            self.seconds[stage] = round(now - began.setdefault(stage, now), 3)
            if self._bars is None:
                return
            if stage not in bars:
                bars[stage] = self._bars.add_task(stage, total=None)
            if done > 0:
                self._bars.update(bars[stage], total=total, completed=done)

        return report

    def fit_callback(self) -> Any:
        """A scikit-learn callback that shows a fit's steps as a bar; None where nothing is shown."""
        return None if self._bars is None else FitBar(self._bars)


class FitBar:
    """scikit-learn's callback protocol on a rich bar: one bar, a step for every task below the fit itself."""

    def __init__(self, bars: Any) -> None:
        self._bars = bars
        self._task: Any = None

    def setup(self, estimator: Any, context: Any) -> None:
        """Open the bar."""
        total = getattr(context, "max_subtasks", None)
        self._task = self._bars.add_task(type(estimator).__name__, total=total)

    def on_fit_task_begin(self, estimator: Any, context: Any, **_: Any) -> None:
        """Nothing to show yet."""

    def on_fit_task_end(self, estimator: Any, context: Any, **_: Any) -> None:
        """One step further."""
        if getattr(context, "parent", None) is not None:
            self._bars.advance(self._task)

    def teardown(self, estimator: Any, context: Any) -> None:
        """Stop the clock, also after an early stop."""
        done = self._bars.tasks[self._task].completed if self._task < len(self._bars.tasks) else 1
        self._bars.update(self._task, total=max(done, 1), completed=max(done, 1))


def plain(value: Any) -> Any:
    """The same with NumPy's numbers as Python's, and without NaN or infinity, which JSON does not know."""
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, (str, int, float, bool)) or value is None:
        return value
    return str(value)
