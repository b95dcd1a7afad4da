"""How long a search may go on, what it shows meanwhile, and what it keeps."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from arbora.search.steps import Steps
from arbora.tree import Tree

Report = Callable[[str, float], None]  # a stage's name, and how much of it is done: 0 to 1


class Budget:
    """A deadline, a progress bar, and a stop that keeps what has been found.

    Used as a context manager around a search. Ctrl-C inside `guard` ends the search quietly: kernels run in
    short calls between which the tree is whole, so the caller returns the best tree so far.

    Parameters
    ----------
    max_seconds : float, optional
    verbose : bool
        Draw a bar.
    progress : callable, optional
        Called with ``("refine", share)``, the share of the search that is done, by estimate.
    steps : Steps, optional
        Where finished steps are kept.
    """

    def __init__(
        self,
        max_seconds: float | None = None,
        *,
        verbose: bool = False,
        progress: Report | None = None,
        steps: Steps | None = None,
    ) -> None:
        self._began = time.monotonic()
        self._max_seconds = max_seconds
        self.interrupted = False
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[note]}"),
            TimeRemainingColumn(elapsed_when_finished=True),
        )
        self._bars = Progress(*columns, transient=True, disable=not verbose)
        self._task = self._bars.add_task("search", total=1.0, note="")
        self._report = progress
        self._steps = steps
        self._portion = (0.0, 1.0)
        self._done = 0.0

    def __enter__(self) -> Budget:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    @property
    def is_over(self) -> bool:
        """Whether the time is up or the user pressed Ctrl-C."""
        return self.interrupted or (self.is_timed and self.share_of_time >= 1)

    @property
    def is_timed(self) -> bool:
        """Whether there is a deadline at all."""
        return self._max_seconds is not None

    @property
    def share_of_time(self) -> float:
        """How much of the time is spent, 1 or more when it is up; asked only where there is a deadline."""
        assert self._max_seconds is not None
        return (time.monotonic() - self._began) / self._max_seconds if self._max_seconds > 0 else 1.0

    @contextmanager
    def portion(self, start: float, stop: float) -> Iterator[None]:
        """What is shown inside moves the bar from `start` to `stop`, shares of what the portion around moves."""
        outer = self._portion
        low, width = outer[0], outer[1] - outer[0]
        self._portion = (low + start * width, low + stop * width)
        try:
            yield
        finally:
            self._portion = outer

    def show(self, what: str, done: float, note: str = "") -> None:
        """Move the bar: `done` between 0 and 1; an estimate that falls back leaves it where it was."""
        low, high = self._portion
        share = min(self.share_of_time, 1.0) if self.is_timed else low + (high - low) * done
        self._done = max(self._done, share)
        self._bars.update(self._task, description=what, completed=self._done, note=note)
        if self._report is not None:
            self._report("refine", self._done)

    def step(self, compute: Callable[[], Tree], rng: np.random.Generator | None = None) -> Tree:
        """A step of the search, taken from the folder of steps if it was finished before."""
        if self._steps is None:
            return compute()
        return self._steps.take(compute, rng, lambda: not self.is_over)
