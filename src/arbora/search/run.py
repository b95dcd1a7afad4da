"""What a search shares with its caller: when to stop, what to report, and which steps are saved."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from types import FrameType

import numpy as np

from arbora._base.checkpoint import Checkpoint, rng_from_array, rng_to_array
from arbora._base.interrupts import is_in_main_thread, is_plain
from arbora._base.progress import Bar, Deadline, ProgressCallback, Stage, both, silent
from arbora.errors import FormatError
from arbora.tree import Tree


class Watch:
    """Says when to stop: the time is up, or Ctrl-C was pressed.

    While it listens, Ctrl-C only sets a flag. The search asks for it many times a second, always where the tree is
    whole, and returns what it has. A second Ctrl-C interrupts at once.
    """

    def __init__(self, deadline: Deadline | None = None, outer: Watch | None = None) -> None:
        self.deadline = Deadline() if deadline is None else deadline
        self._outer = outer
        self._is_interrupted = False

    @property
    def is_interrupted(self) -> bool:
        """Whether Ctrl-C was pressed."""
        return self._is_interrupted or (self._outer is not None and self._outer.is_interrupted)

    def interrupt(self) -> None:
        """Ask the search to stop."""
        self._is_interrupted = True

    @property
    def is_over(self) -> bool:
        """Whether to stop."""
        return self.is_interrupted or self.deadline.is_over

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Take Ctrl-C as a request to stop, unless the program handles it itself."""
        before = signal.getsignal(signal.SIGINT)
        # the handler of another watch stays behind if a foreign signal interrupted it
        is_ours = is_plain(before) or isinstance(before, _Note)
        if not is_in_main_thread() or not is_ours:
            yield
            return
        signal.signal(signal.SIGINT, _Note(self))
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before if is_plain(before) else signal.default_int_handler)


class _Note:
    """Handler of Ctrl-C that asks a search to stop, and interrupts it when asked again."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self._watch.is_interrupted:
            raise KeyboardInterrupt
        self._watch.interrupt()


class ShareDone:
    """How much of a search is done, reported as a share between 0 and 1 that never falls."""

    def __init__(self, stage: Stage | None = None, bar: Bar | None = None) -> None:
        self._stage, self._bar = stage, bar
        self._low, self._high = 0.0, 1.0

    @contextmanager
    def portion(self, start: float, stop: float) -> Iterator[None]:
        """What is reported inside goes from `start` to `stop`, shares of what the portion around covers."""
        outer = self._low, self._high
        self._low, self._high = self.within(start), self.within(stop)
        try:
            yield
        finally:
            self._low, self._high = outer

    def within(self, share: float) -> float:
        """A share of the present portion as a share of the whole."""
        return self._low + share * (self._high - self._low)

    def report(self, share: float, note: str) -> None:
        """Report a share of the whole."""
        if self._bar is not None:
            self._bar.note = note
        if self._stage is not None:
            self._stage.update(share)


class SavedSteps:
    """Trees that the steps of a search ended with, in the order in which the steps are made.

    A step depends only on the steps before it and on the random numbers drawn so far, both of which are saved. A
    search that is repeated reads what is there and computes the rest: the result is that of an undisturbed search.
    """

    def __init__(self, checkpoint: Checkpoint | None = None) -> None:
        self._checkpoint = checkpoint
        self._n_made = 0

    def take(
        self, compute: Callable[[], Tree], rng: np.random.Generator, is_whole: Callable[[], bool]
    ) -> Tree:
        """The next step's tree: as saved, or computed and then saved if the step `is_whole`."""
        if self._checkpoint is None:
            return compute()
        name = f"step{self._n_made:04d}"
        self._n_made += 1
        saved = self._checkpoint.load(name)
        if saved is not None:
            try:
                tree = Tree(saved["parent"], int(saved["n_leaves"]))
                rng_from_array(rng, saved["rng"])
            except (KeyError, TypeError, ValueError) as problem:
                raise FormatError(
                    f"{self._checkpoint.folder / name}.npz is damaged: {problem}. Delete it to repeat the step."
                ) from problem
            return tree
        tree = compute()
        if is_whole():
            arrays = {"parent": tree.parent, "n_leaves": tree.n_leaves, "rng": rng_to_array(rng)}
            self._checkpoint.keep(arrays, name)
        return tree


@dataclass(frozen=True)
class Run:
    """A search under way."""

    watch: Watch = field(default_factory=Watch)
    shares: ShareDone = field(default_factory=ShareDone)
    steps: SavedSteps = field(default_factory=SavedSteps)

    @property
    def is_over(self) -> bool:
        """Whether to stop."""
        return self.watch.is_over

    @property
    def is_timed(self) -> bool:
        """Whether there is a deadline at all."""
        return self.watch.deadline.max_seconds is not None

    def has_time(self, until: float = 1.0) -> bool:
        """Whether less than this share of the present portion's time is spent."""
        return self.watch.deadline.share < self.shares.within(until)

    def portion(self, start: float, stop: float) -> AbstractContextManager[None]:
        """What happens inside is this portion of the present one, in time and in what is reported."""
        return self.shares.portion(start, stop)

    def show(self, done: float, note: str = "") -> None:
        """Report what share of the present portion is done; with a deadline, the time counts."""
        share = min(self.watch.deadline.share, 1.0) if self.is_timed else self.shares.within(done)
        try:
            self.shares.report(share, note)
        except KeyboardInterrupt:
            self.watch.interrupt()

    def step(self, compute: Callable[[], Tree], rng: np.random.Generator) -> Tree:
        """A step of the search, read from the checkpoint if it was finished before."""
        return self.steps.take(compute, rng, lambda: not self.is_over)

    def finishing(self) -> Run:
        """For short work that must be done when the time is up: only Ctrl-C stops it, nothing is reported."""
        return Run(Watch(outer=self.watch))

    def silent(self) -> Run:
        """The same clock, without reports: for what runs in a thread of its own."""
        return Run(self.watch)


@contextmanager
def started(
    name: str,
    progress: ProgressCallback = silent,
    *,
    max_seconds: float | None = None,
    verbose: bool = False,
    checkpoint: Checkpoint | None = None,
) -> Iterator[Run]:
    """A search with a beginning and an end that are reported, and that notices Ctrl-C."""
    bar = Bar() if verbose else None
    watch = Watch(Deadline(max_seconds))
    report = progress if bar is None else both(progress, bar)
    with Stage(report, name) as stage, watch.listening():
        yield Run(watch, ShareDone(stage, bar), SavedSteps(checkpoint))
