"""How long a search may go on, and what it shows meanwhile."""

from __future__ import annotations

import time

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn


class Budget:
    """A deadline, a progress bar, and a stop that keeps what has been found.

    Used as a context manager around a search. Ctrl-C inside `guard` ends the search quietly: kernels run in
    short calls between which the tree is whole, so the caller returns the best tree so far.
    """

    def __init__(self, max_seconds: float | None = None, *, verbose: bool = False) -> None:
        self._deadline = None if max_seconds is None else time.monotonic() + max_seconds
        self.interrupted = False
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[note]}"),
            TimeElapsedColumn(),
        )
        self._progress = Progress(*columns, transient=True, disable=not verbose)
        self._task = self._progress.add_task("search", total=None, note="")

    def __enter__(self) -> Budget:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    @property
    def is_over(self) -> bool:
        """Whether the time is up or the user pressed Ctrl-C."""
        return self.interrupted or (self._deadline is not None and time.monotonic() >= self._deadline)

    @property
    def is_timed(self) -> bool:
        """Whether there is a deadline at all."""
        return self._deadline is not None

    def show(self, what: str, done: float, note: str = "") -> None:
        """Move the bar: `done` between 0 and 1."""
        self._progress.update(self._task, description=what, completed=done, total=1.0, note=note)
