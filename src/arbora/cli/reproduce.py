"""``arbora reproduce``: the papers' tables, run again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arbora.cli._console import Console
from arbora.cli._exit import Unwritable, WrongOption
from arbora.cli._options import Running
from arbora.cli._tables import columns
from arbora.reproduce import pictures, render, runner
from arbora.reproduce.marks import Row, rows_of
from arbora.reproduce.records import Record
from arbora.reproduce.runner import Choice
from arbora.reproduce.table import Table
from arbora.reproduce.tables import PAPERS, all_tables


@dataclass(frozen=True)
class ReproduceTask:
    """What is asked for."""

    paper: str | None
    table: str | None
    choice: Choice
    out: Path
    again: bool
    shows_list: bool


def run_reproduce(task: ReproduceTask, running: Running, console: Console) -> None:
    """Run what is not there yet, and print every table with the papers' figures beside ours."""
    tables = wanted_tables(task.paper, task.table)
    if task.shows_list:
        console.say(columns(["table", "data sets", "methods", "title"], [_line(table) for table in tables]))
        console.result({"tables": [table.key for table in tables]})
        return
    _check_names(tables, task.choice)
    try:
        task.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unwritable(f"{task.out} cannot be made: {error.strerror}.") from error
    cells, refused = runner.plan(tables, task.choice)
    console.note(f"{len(cells)} cells; those in {task.out} that this version finished are not run again")
    found = runner.run(
        cells, task.out, again=task.again, threads=running.threads or 1, progress=console.progress,
        say=lambda record: console.note(_spoken(record)),
    )  # fmt: skip
    shown = [(table, _rows(table, found)) for table in tables]
    for table, rows in shown:
        if rows:
            console.say(f"\n{table.key}: {table.title}\n{table.note}".rstrip())
            console.say(columns(*render.text_table(table, rows)))
    for where, reason in refused.items():
        console.note(f"{where}: {reason}")
    full = [record for record in found if not record.quick]
    drawn = pictures.draw_all([table.key for table in tables], full, task.out / "pictures") if full else []
    for path in drawn:
        console.say(f"wrote {path}")
    console.result({"rows": [_facts(row) for _, rows in shown for row in rows], "refused": refused})


def wanted_tables(paper: str | None, name: str | None) -> list[Table]:
    """The tables that a paper and a name choose; all without either."""
    if paper is not None and paper not in PAPERS:
        raise WrongOption(f"PAPER must be one of {', '.join(PAPERS)}. Got {paper!r}.")
    tables = [table for table in all_tables() if paper in (None, table.paper)]
    if name is None:
        return tables
    names = [table.name for table in tables]
    if name not in names:
        raise WrongOption(f"TABLE of {paper} must be one of {', '.join(names)}. Got {name!r}.")
    return [table for table in tables if table.name == name]


def _check_names(tables: Sequence[Table], choice: Choice) -> None:
    """Refuse a part of a name that no method, or no data set, has."""
    known = {
        "--methods": (choice.methods, {method.name for table in tables for method in table.methods}),
        "--datasets": (choice.datasets, {data.name for table in tables for data in table.data}),
    }
    for option, (parts, names) in known.items():
        for part in parts:
            if not any(part.lower() in name.lower() for name in names):
                raise WrongOption(
                    f"{option} must be part of one of {', '.join(sorted(names))}. Got {part!r}."
                )


def _rows(table: Table, found: Sequence[Record]) -> list[Row]:
    return [row for row in rows_of(table, found) if row.records or row.failure]


def _line(table: Table) -> list[Any]:
    return [table.key, len(table.data), len(table.methods), table.title]


def _spoken(record: Record) -> str:
    where = f"{record.paper}/{record.table}, {record.dataset}, {record.method}, seed {record.seed}"
    if record.failure:
        return f"{where}: failed: {record.failure}"
    values = ", ".join(f"{key} {value:.5g}" for key, value in record.values.items())
    return f"{where}: {values}; {record.cpu_seconds:.1f} CPU s, {record.peak_megabytes:.0f} MB"


def _facts(row: Row) -> dict[str, Any]:
    figures = {
        figure.metric.key: {
            "values": list(figure.values),
            "paper": None if figure.printed is None else figure.printed.value,
        }
        for figure in row.figures
    }
    spent = {"cpu_seconds": row.cpu_seconds, "peak_megabytes": row.peak_megabytes} if row.records else {}
    return {
        "table": row.table.key, "dataset": row.data.name, "method": row.method.name, "kind": row.method.kind,
        **figures, **spent, "mark": row.mark,
    }  # fmt: skip
