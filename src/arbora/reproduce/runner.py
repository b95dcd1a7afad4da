"""Runs the cells of tables: cheapest first, each in its own process, finished ones never again."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from arbora._base.progress import ProgressCallback, Stage, silent
from arbora._version import __version__
from arbora.reproduce import data as published
from arbora.reproduce import records
from arbora.reproduce.records import Record
from arbora.reproduce.table import Data, Method, Table

# What a worker's line begins with that holds an outcome, and the one that ends a request.
OUTCOME, END = "arbora-outcome ", "arbora-end "
_THREAD_VARIABLES = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS",
)  # fmt: skip


@dataclass(frozen=True)
class Choice:
    """Which cells are wanted."""

    methods: tuple[str, ...] = ()
    datasets: tuple[str, ...] = ()
    n_seeds: int | None = None
    quick: bool = False


@dataclass(frozen=True)
class Cell:
    """One method on one data set with one seed."""

    table: Table
    data: Data
    method: Method
    seed: int
    quick: bool

    @property
    def seconds(self) -> float:
        """Rough CPU seconds."""
        return self.method.seconds_on(self.data) * (0.3 if self.quick else 1.0)

    @property
    def parameters(self) -> dict[str, Any]:
        """What the method is run with."""
        return self.method.parameters_for(self.quick)

    @property
    def work(self) -> tuple[Any, ...]:
        """All that decides its result: cells of which this is equal differ only in the table that shows them."""
        return _work(self.table, self.data, self.method, self.quick)

    def blank(self) -> Record:
        """Its record before it ran."""
        return Record(
            paper=self.table.paper, table=self.table.name, dataset=self.data.name, method=self.method.name,
            seed=self.seed, quick=self.quick, parameters=self.parameters,
        )  # fmt: skip


def plan(tables: Iterable[Table], choice: Choice) -> tuple[list[Cell], dict[str, str]]:
    """The cells that can run here, cheapest first, and why the others cannot."""
    cells, refused = [], {}
    for table in tables:
        wanted_data = _wanted(choice.datasets, [data.name for data in table.data])
        wanted_methods = _wanted(choice.methods, [method.name for method in table.methods])
        for data in table.data:
            for method in table.methods:
                if data.name not in wanted_data or method.name not in wanted_methods:
                    continue
                reason = cannot_run(data, method) or method.missing() or published.missing(data.files)
                if reason:
                    refused[f"{table.key}, {data.name}, {method.name}"] = reason
                    continue
                seeds = table.seeds(method, choice.quick, choice.n_seeds)
                cells += [Cell(table, data, method, seed, choice.quick) for seed in seeds]
    return sorted(cells, key=lambda cell: cell.seconds), refused


def cannot_run(data: Data, method: Method) -> str:
    """Why a method cannot run on a data set here, whatever is installed; empty where it can."""
    return data.absent or method.skips.get(data.name, "")


def _wanted(parts: Sequence[str], names: Sequence[str]) -> set[str]:
    """Names that are one of the parts, or else hold one; all without any part."""
    found = set(names) if not parts else set()
    for part in parts:
        whole = {name for name in names if name.lower() == part.lower()}
        found |= whole or {name for name in names if part.lower() in name.lower()}
    return found


def run(
    cells: Sequence[Cell],
    out: Path,
    *,
    again: bool = False,
    threads: int = 1,
    progress: ProgressCallback = silent,
    say: Callable[[Record], None] = lambda record: None,
) -> list[Record]:
    """Records of the cells; those that a folder already holds are read, all others are run and saved there."""
    earlier = [None if again else _kept(out, cell) for cell in cells]
    found = [record for record in earlier if record is not None]
    for record in found:
        # what another table ran is kept for this one, too
        if not records.path_of(out, record).exists():
            records.save(out, record)
    left = [cell for cell, record in zip(cells, earlier) if record is None]
    total = sum(cell.seconds for cell in left) or 1.0
    with Stage(progress, "reproduce", total=total) as stage, Worker(threads) as worker:
        done = 0.0
        for group in _groups(left):
            # another table may have run the same meanwhile
            known = [] if again else [kept for cell in group if (kept := _kept(out, cell)) is not None]
            seeds = {record.seed for record in known}
            rest = [cell for cell in group if cell.seed not in seeds]
            for record in itertools.chain(known, worker.run(rest) if rest else ()):
                records.save(out, record)
                say(record)
                found.append(record)
                done += group[0].seconds
                stage.update(done)
    return found


def _groups(cells: Sequence[Cell]) -> list[list[Cell]]:
    """Cells that differ only in their seed, which share a process and so its start."""
    groups: dict[tuple[str, str, str], list[Cell]] = {}
    for cell in cells:
        groups.setdefault((cell.table.key, cell.data.name, cell.method.name), []).append(cell)
    return list(groups.values())


def _kept(out: Path, cell: Cell) -> Record | None:
    """What an earlier run found, for this table or for another that asks the same, where this version would find it."""
    blank = cell.blank()
    for table, method in [(cell.table, cell.method), *_tables_by_work(cell.quick).get(cell.work, [])]:
        path = records.path_of(out, replace(blank, paper=table.paper, table=table.name, method=method.name))
        if not path.exists():
            continue
        record = records.load(path)
        if record.answers(cell.parameters, __version__) and cell.table.shows(record.values):
            return replace(record, paper=blank.paper, table=blank.table, method=blank.method)
    return None


@cache
def _tables_by_work(quick: bool) -> dict[tuple[Any, ...], list[tuple[Table, Method]]]:
    """Tables and methods by what they run."""
    from arbora.reproduce.tables import all_tables

    found: dict[tuple[Any, ...], list[tuple[Table, Method]]] = {}
    for table in all_tables():
        for data, method in itertools.product(table.data, table.methods):
            found.setdefault(_work(table, data, method, quick), []).append((table, method))
    return found


def _work(table: Table, data: Data, method: Method, quick: bool) -> tuple[Any, ...]:
    run = method.run
    parts = (run.func, *run.args) if isinstance(run, partial) else (run,)
    parameters = json.dumps(method.parameters_for(quick), sort_keys=True)
    return (table.load, table.score, *parts, parameters, data.name)


class Worker:
    """The process that forks one for every method (`arbora.reproduce.worker`); started when first needed."""

    def __init__(self, threads: int = 1) -> None:
        self.threads = threads
        self._process: subprocess.Popen[str] | None = None
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed in __exit__

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            # the worker and the method it is running
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGTERM)
            # closes its pipes and waits for its end
            self._process.communicate()
        self._errors.close()

    def run(self, cells: Sequence[Cell]) -> Iterator[Record]:
        """Records of cells that differ only in their seed, each as soon as it is there."""
        first = cells[0]
        speed = "quick" if first.quick else "full"
        request = [first.table.key, first.data.name, first.method.name, speed, *(cell.seed for cell in cells)]
        around = {**records.surroundings(), "arbora": __version__, "threads": self.threads}
        for cell, outcome in zip(cells, self._outcomes(request), strict=True):
            answered = outcome.pop("request", request)
            if answered != request:
                raise RuntimeError(f"The worker answered {answered} instead of {request}.")
            yield Record(**{**vars(cell.blank()), **outcome, **around})

    def _outcomes(self, request: list[Any]) -> Iterator[dict[str, Any]]:
        """What the worker says of each seed; where its process dies, the same failure for all that are left."""
        process = self._started()
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        n_left = len(request) - 4
        code = "unknown"
        for line in process.stdout:
            if line.startswith(OUTCOME):
                n_left -= 1
                yield json.loads(line[len(OUTCOME) :])
            elif line.startswith(END):
                code = line[len(END) :].strip()
                break
        for _ in range(n_left):
            yield {"failure": f"its process ended with code {code}. {self._last_error()}".strip()}

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None or self._process.poll() is not None:
            environment = {**os.environ, **dict.fromkeys(_THREAD_VARIABLES, str(self.threads))}
            self._process = subprocess.Popen(
                [sys.executable, "-m", "arbora.reproduce.worker", str(os.getpid())], env=environment,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True, bufsize=1,
                start_new_session=True,
            )  # fmt: skip
        return self._process

    def _last_error(self) -> str:
        self._errors.seek(0)
        return (self._errors.read().strip().splitlines() or [""])[-1]
