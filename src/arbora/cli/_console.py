"""What a command prints: results on standard output, remarks and progress on standard error."""

from __future__ import annotations

import json
import math
import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from arbora._base.progress import Bar, ProgressCallback
from arbora.cli._exit import WrongOption, as_options, printable
from arbora.cli._tables import aligned


class Console:
    """Results and progress of one command.

    Parameters
    ----------
    quiet : bool
        Print nothing but errors (and JSON, if asked for).
    as_json : bool
        Print results as one JSON object instead of text.

    Attributes
    ----------
    seconds : dict of str to float
        Time spent per stage.
    """

    def __init__(self, quiet: bool = False, as_json: bool = False) -> None:
        self.quiet = quiet
        self.as_json = as_json
        self._words = sys.stdout
        self.seconds: dict[str, float] = {}
        self._began: dict[str, float] = {}
        # a terminal, or a test that asks for bars
        is_watched = sys.stderr.isatty() or bool(os.environ.get("ARBORA_PROGRESS"))
        self._bar = Bar() if is_watched and not quiet else None

    def give_way_to(self, out: Any) -> None:
        """If the main result goes to standard output ("-"), print words to standard error."""
        if str(out) == "-":
            if self.as_json:
                raise WrongOption("--json and --out - both need standard output. Write the result to a file.")
            self._words = sys.stderr

    def say(self, text: str) -> None:
        """A line for people."""
        if not self.quiet and not self.as_json:
            print(printable(text), file=self._words)

    def note(self, text: str) -> None:
        """A remark that is not a result: to standard error."""
        if not self.quiet:
            print(f"arbora: {printable(as_options(text))}", file=sys.stderr)

    def table(self, rows: Mapping[str, Any]) -> None:
        """Names and values, aligned."""
        if rows:
            self.say(aligned(rows))

    def result(self, facts: Mapping[str, Any]) -> None:
        """The one JSON object of ``--json``."""
        if self.as_json:
            text = json.dumps(plain(facts), indent=2 if sys.stdout.isatty() else None, ensure_ascii=False)
            print(text.encode("utf-8", "replace").decode("utf-8"))

    @property
    def shows_bars(self) -> bool:
        """Whether anyone is there to see the progress."""
        return self._bar is not None

    @property
    def progress(self) -> ProgressCallback:
        """What arbora's functions call with ``(stage, done, total)``: a bar, and the seconds of each stage."""

        def report(stage: str, done: float, total: float | None = 1.0) -> None:
            now = time.perf_counter()
            self.seconds[stage] = round(now - self._began.setdefault(stage, now), 3)
            if self._bar is not None:
                self._bar(stage, done, total)

        return report

    @contextmanager
    def stage(self, name: str, expected: float | None = None) -> Iterator[None]:
        """A part of the work: a bar, and its seconds for the report.

        If the number of seconds is `expected`, the bar moves with the clock, and slows down near its end if the work
        takes longer.
        """
        began = self._began[name] = time.perf_counter()
        report, over = self.progress, threading.Event()
        report(name, 0.0, 1.0)

        def move(seconds: float) -> None:
            while not over.wait(0.2):
                spent = time.perf_counter() - began
                report(name, min(spent / seconds, 1 - seconds / (10 * max(spent, seconds))), 1.0)

        clock = None
        if self._bar is not None and expected is not None:
            clock = threading.Thread(target=move, args=(expected,), daemon=True)
            clock.start()
        try:
            yield
        finally:
            over.set()
            if clock is not None:
                clock.join()
            self.seconds[name] = round(time.perf_counter() - began, 3)
        report(name, 1.0, 1.0)


def plain(value: Any) -> Any:
    """The same with NumPy's numbers as Python's, and without NaN or infinity, which JSON does not have."""
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
