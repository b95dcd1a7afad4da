"""What long work reports, and the bar that shows it.

Functions take ``progress``, a callable of ``(stage, done, total)``: the name of the stage, how much of it is done and
how much there is in all (None where that is unknown). Each stage begins with 0 done and ends with all of it done.
The bar for ``verbose=True`` is such a callable and writes to standard error.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, TextIO, TypeAlias

from arbora._base.params import check_seconds

ProgressCallback: TypeAlias = Callable[[str, float, float | None], None]


def silent(stage: str, done: float, total: float | None) -> None:
    """Report nothing."""


def check_progress(progress: Any) -> ProgressCallback:
    """The callable, or one that reports nothing for None."""
    if progress is None:
        return silent
    if not callable(progress):
        raise TypeError(
            f"progress must be callable with (stage, done, total). Got {type(progress).__name__}."
        )
    return progress  # type: ignore[no-any-return]


class Stage:
    """A stage of work as a context: reports its beginning, what is done in between, and its end.

    Examples
    --------
    >>> from arbora._base.progress import Stage
    >>> with Stage(print, "load", total=2) as stage:
    ...     stage.update(1)
    load 0.0 2
    load 1 2
    load 2 2
    """

    def __init__(self, progress: ProgressCallback, name: str, total: float | None = 1.0) -> None:
        self._progress, self.name, self.total = progress, name, total
        self._done = 0.0
        self.seconds = 0.0

    def __enter__(self) -> Stage:
        self._began = time.perf_counter()
        self._progress(self.name, 0.0, self.total)
        return self

    def update(self, done: float) -> None:
        """Report how much is done; an estimate that falls is not reported."""
        if done > self._done and (self.total is None or done < self.total):
            self._done = done
            self._progress(self.name, done, self.total)

    def __exit__(self, problem: object, *_: object) -> None:
        self.seconds = time.perf_counter() - self._began
        if problem is None:
            self._progress(self.name, self._done if self.total is None else self.total, self.total)


class Bar:
    """A line per stage on standard error, with the share done and the time left; one line at the end of a stage.

    Unless it writes to a terminal, only finished stages are shown.
    """

    def __init__(self, stream: TextIO | None = None, *, interval: float = 0.2) -> None:
        self._stream = stream
        self._interval = interval
        self._stage: str | None = None
        self._began = self._shown = 0.0
        self.note = ""

    def __call__(self, stage: str, done: float, total: float | None) -> None:
        now = time.monotonic()
        if stage != self._stage or done == 0:
            self._stage, self._began, self._shown = stage, now, 0.0
        is_finished = total is not None and done >= total
        stream = sys.stderr if self._stream is None else self._stream
        is_terminal = bool(getattr(stream, "isatty", lambda: False)())
        if not is_finished and (not is_terminal or now - self._shown < self._interval):
            return
        self._shown = now
        start, end = ("\r\x1b[K", "\n" if is_finished else "") if is_terminal else ("", "\n")
        stream.write(start + self._line(stage, done, total, now - self._began) + end)
        stream.flush()
        if is_finished:
            self._stage, self.note = None, ""

    def _line(self, stage: str, done: float, total: float | None, spent: float) -> str:
        note = f", {self.note}" if self.note else ""
        if total is None:
            return f"{stage}: {done:,.0f} in {_duration(spent)}{note}"
        if done >= total:
            return f"{stage}: done in {_duration(spent)}{note}"
        share = done / total if total else 0.0
        left = f", {_duration(spent * (1 / share - 1))} left" if share > 0.02 else ""
        return f"{stage}: {share:.0%}{left}{note}"


def both(*receivers: ProgressCallback) -> ProgressCallback:
    """Report to several."""
    listening = [receiver for receiver in receivers if receiver is not silent]
    if len(listening) < 2:
        return listening[0] if listening else silent

    def report(stage: str, done: float, total: float | None) -> None:
        for receiver in listening:
            receiver(stage, done, total)

    return report


class Deadline:
    """When to stop: after `max_seconds`, or never."""

    def __init__(self, max_seconds: float | None = None) -> None:
        self.max_seconds = check_seconds(max_seconds)
        self._began = time.monotonic()

    @property
    def is_over(self) -> bool:
        """Whether the time is up."""
        return self.share >= 1

    @property
    def share(self) -> float:
        """How much of the time is spent: 1 or more when it is up, 0 where there is no deadline."""
        if self.max_seconds is None:
            return 0.0
        return (time.monotonic() - self._began) / self.max_seconds if self.max_seconds > 0 else 1.0


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"
