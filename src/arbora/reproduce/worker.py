"""One cell in a process of its own, so that its peak memory and its CPU seconds are its own.

``python -m arbora.reproduce.worker PAPER TABLE DATASET METHOD SEED QUICK`` prints the outcome as one line of JSON, the
last of its output.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import sys
import time
from collections.abc import Iterator
from typing import Any

from arbora.reproduce.table import Found


class CompileClock:
    """CPU seconds that numba spent compiling, which a second run, with its cache on disk, would not spend."""

    def __init__(self) -> None:
        self.seconds, self._depth, self._began = 0.0, 0, 0.0

    def notify(self, event: Any) -> None:
        """Called by numba when a compilation starts and when it ends; one may start another."""
        self._depth += 1 if event.is_start else -1
        if event.is_start and self._depth == 1:
            self._began = time.process_time()
        elif not event.is_start and self._depth == 0:
            self.seconds += time.process_time() - self._began

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Count what is compiled meanwhile."""
        from numba.core import event

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
    clock = CompileClock()
    with clock.listening():
        began = _cpu()
        result = method.run(problem, seed, **method.parameters_for(quick))
        spent = _cpu() - began - clock.seconds
    found = table.score(problem, result)
    if not isinstance(found, Found):
        found = Found(found, {})
    values = {key: float(value) for key, value in found.values.items()}
    return {"values": values, "facts": found.facts, "cpu_seconds": round(max(spent, 0.0), 3)}


def _cpu() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _peak_megabytes() -> float:
    most = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return round(most / (1024 if sys.platform != "darwin" else 1024**2), 1)


def main(arguments: list[str]) -> None:
    """Run the cell that the arguments name and print its outcome."""
    table_key, dataset, method, seed, quick = arguments
    if os.environ.get("MPLBACKEND") is None:
        os.environ["MPLBACKEND"] = "Agg"
    try:
        outcome = run_cell(table_key, dataset, method, int(seed), quick == "quick")
    # whatever goes wrong in one cell is that cell's result; the table goes on
    except Exception as error:
        outcome = {"failure": f"{type(error).__name__}: {error}"}
    print(json.dumps({**outcome, "peak_megabytes": _peak_megabytes()}))


if __name__ == "__main__":
    main(sys.argv[1:])
