"""Runs the cells of tables: cheapest first, each in its own process, finished ones never again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arbora._base.progress import ProgressCallback, Stage, silent
from arbora._version import __version__
from arbora.reproduce import data as published
from arbora.reproduce import records
from arbora.reproduce.records import Record
from arbora.reproduce.table import Data, Method, Table

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
        return self.data.seconds * self.method.slower * (0.3 if self.quick else 1.0)

    @property
    def parameters(self) -> dict[str, Any]:
        """What the method is run with."""
        return self.method.parameters_for(self.quick)

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
        for data in table.data:
            for method in table.methods:
                if not _is_wanted(choice.datasets, data.name) or not _is_wanted(choice.methods, method.name):
                    continue
                reason = cannot_run(data, method) or published.missing(data.files)
                if reason is not None:
                    refused[f"{table.key}, {data.name}, {method.name}"] = reason
                    continue
                seeds = table.seeds(method, choice.quick, choice.n_seeds)
                cells += [Cell(table, data, method, seed, choice.quick) for seed in seeds]
    return sorted(cells, key=lambda cell: cell.seconds), refused


def cannot_run(data: Data, method: Method) -> str | None:
    """Why a method cannot run on a data set here, whatever files there are; None where it can."""
    return data.absent or method.skips.get(data.name) or method.reason()


def _is_wanted(wanted: Sequence[str], name: str) -> bool:
    return not wanted or any(part.lower() in name.lower() for part in wanted)


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
    found = []
    with Stage(progress, "reproduce", total=sum(cell.seconds for cell in cells) or 1.0) as stage:
        done = 0.0
        for cell in cells:
            record = None if again else _kept(out, cell)
            if record is None:
                record = run_in_process(cell, threads)
                records.save(out, record)
                say(record)
            found.append(record)
            done += cell.seconds
            stage.update(done)
    return found


def _kept(out: Path, cell: Cell) -> Record | None:
    """What an earlier run found, where this version would find the same."""
    path = records.path_of(out, cell.blank())
    if not path.exists():
        return None
    record = records.load(path)
    return record if record.answers(cell.parameters, __version__) else None


def run_in_process(cell: Cell, threads: int = 1) -> Record:
    """The record of a cell that was run in a process of its own."""
    command = [
        sys.executable, "-m", "arbora.reproduce.worker", cell.table.key, cell.data.name, cell.method.name,
        str(cell.seed), "quick" if cell.quick else "full",
    ]  # fmt: skip
    environment = {**os.environ, **dict.fromkeys(_THREAD_VARIABLES, str(threads))}
    finished = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    lines = finished.stdout.strip().splitlines()
    if finished.returncode == 0 and lines:
        outcome = json.loads(lines[-1])
    else:
        last = (finished.stderr.strip().splitlines() or [""])[-1]
        outcome = {"failure": f"its process ended with code {finished.returncode}. {last}".strip()}
    blank = cell.blank()
    return Record(**{**vars(blank), **outcome, **records.surroundings(), "arbora": __version__, "threads": threads})
