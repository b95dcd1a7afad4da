"""Runs methods, each in a process of its own, so that peak memory and CPU seconds are its own.

``python -m arbora.reproduce.worker PID`` imports what every method needs once and then waits: for each line of its
input, the JSON list ``[table, dataset, method, "quick" or "full", seed, ...]``, it forks a process that prints, for
each seed as soon as it is done, a line of `OUTCOME` and JSON; a line of `END` and the process's exit status follows.
PID is the command that starts it: once that is gone, nothing more is run.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import math
import os
import resource
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any

from numba.core import event

from arbora.reproduce.runner import END, OUTCOME
from arbora.reproduce.table import Found, Method

# A run shorter than this is timed a second time, when its kernels are loaded.
_SHORT_SECONDS = 3.0
_SECONDS_BETWEEN_LOOKS = 0.05
_GONE = "The command that asked for this run has ended."
# What most methods import; PyTorch, which takes longer, is left to those that need it.
_NEEDED = (
    "sklearn.cluster", "sklearn.metrics", "scipy.stats", "arbora.search", "arbora.hyperbolic",
    "arbora.probabilistic", "arbora.logits", "arbora.metrics", "arbora.reproduce.tables",
)  # fmt: skip


class CompileClock(event.Listener):
    """CPU seconds that numba spent compiling, which a second run, with its cache on disk, would not spend."""

    def __init__(self) -> None:
        self.seconds, self._depth, self._began = 0.0, 0, 0.0

    def on_start(self, event: Any) -> None:
        """Called when a compilation starts, perhaps within another."""
        if self._depth == 0:
            self._began = time.process_time()
        self._depth += 1

    def on_end(self, event: Any) -> None:
        """Called when a compilation ends."""
        self._depth -= 1
        if self._depth == 0:
            self.seconds += time.process_time() - self._began

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Count what is compiled meanwhile."""
        event.register("numba:compile", self)  # type: ignore[no-untyped-call]
        try:
            yield
        finally:
            event.unregister("numba:compile", self)  # type: ignore[no-untyped-call]


def run_cell(table_key: str, dataset: str, method_name: str, seed: int, quick: bool) -> dict[str, Any]:
    """Values, facts and CPU seconds of a cell; its failure, in words, where it fails."""
    from arbora.reproduce.tables import find

    table = find(table_key)
    method = table.method(method_name)
    problem = table.load(dataset, seed, quick)
    result, spent = _timed(method, problem, seed, quick)
    if spent < _SHORT_SECONDS:
        result, spent = _timed(method, problem, seed, quick)
    found = table.score(problem, result)
    if not isinstance(found, Found):
        found = Found(found, {})
    values = _numbers(found.values)
    facts = {**found.facts, **({"deviations": text} if (text := method.deviations()) else {})}
    return {"values": values, "facts": facts, "cpu_seconds": round(spent, 3)}


def _numbers(values: Mapping[str, float]) -> dict[str, float]:
    """The values that are numbers: a tree of one cluster has no distance between its leaves."""
    numbers = {key: float(value) for key, value in values.items() if math.isfinite(value)}
    if values and not numbers:
        raise ValueError(f"none of {', '.join(values)} is a number")
    return numbers


def _timed(method: Method, problem: Any, seed: int, quick: bool) -> tuple[Any, float]:
    """What a method returns, and its CPU seconds without those of compiling."""
    clock = CompileClock()
    with clock.listening():
        began = _cpu()
        result = method.run(problem, seed, **method.parameters_for(quick))
        spent = _cpu() - began - clock.seconds
    return result, max(spent, 0.0)


def _cpu() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _peak_megabytes() -> float:
    most = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return round(most / (1024 if sys.platform != "darwin" else 1024**2), 1)


def _run(request: list[Any]) -> None:
    """Print the outcome of every seed of a request."""
    table_key, dataset, method, speed, *seeds = request
    for seed in seeds:
        try:
            outcome = run_cell(table_key, dataset, method, int(seed), speed == "quick")
        # whatever goes wrong in one cell is that cell's result; the table goes on
        except Exception as error:
            outcome = {"failure": " ".join(f"{type(error).__name__}: {error}".split())}
        outcome |= {"peak_megabytes": _peak_megabytes(), "request": request}
        print(OUTCOME + json.dumps(outcome), flush=True)


def main(command: int) -> None:
    """Answer the requests of the process `command` until the input ends or that process is gone."""
    os.environ.setdefault("MPLBACKEND", "Agg")
    for name in _NEEDED:
        importlib.import_module(name)
    for line in sys.stdin:
        # it may have ended during the imports, with its request already in the pipe
        if os.getppid() != command:
            sys.exit(_GONE)
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            try:
                _run(json.loads(line))
            finally:
                sys.stdout.flush()
                os._exit(0)
        print(f"{END}{_exit_code(child, command)}", flush=True)


def _exit_code(child: int, command: int) -> int:
    """How a run ended; it is ended with this process once the command that asked for it is gone."""
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if os.getppid() != command:
            os.kill(child, signal.SIGKILL)
            sys.exit(_GONE)
        time.sleep(_SECONDS_BETWEEN_LOOKS)


if __name__ == "__main__":
    main(int(sys.argv[1]))
