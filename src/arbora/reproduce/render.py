"""Tables of results as text, reStructuredText and Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby

from arbora.reproduce.marks import Figure, Row, mark_of_set, rows_of
from arbora.reproduce.records import Record
from arbora.reproduce.table import Metric, Table

# An empty cell: a dash would be read as the beginning of a list.
NONE = ""
PAPER = ", paper"


def number(metric: Metric, value: float) -> str:
    """A figure to one digit more than the paper prints where it prints significant digits, else to as many.

    Examples
    --------
    >>> from arbora.reproduce.render import number
    >>> from arbora.reproduce.table import Metric
    >>> number(Metric("cost", "cost", "lower", significant=4), 280152.3), number(Metric("nmi", "NMI", "higher"), 0.5)
    ('2.8015e5', '0.500')
    """
    if metric.significant:
        return _scientific(value, metric.significant, _power(value, metric.significant))
    return f"{value:,.{metric.shown_decimals(value)}f}"


def _power(value: float, digits: int) -> int:
    """Power of ten that a figure with that many digits is written with: 99,999.9 rounds to 1.000e5."""
    return int(f"{value:.{digits}e}".partition("e")[2])


def _scientific(value: float, digits: int, power: int) -> str:
    return f"{value / 10.0**power:.{digits}f}e{power}"


def figure_here(figure: Figure) -> str:
    """Mean and deviation over the seeds."""
    if not figure.values:
        return NONE
    metric, text = figure.metric, number(figure.metric, figure.mean)
    if len(figure.values) == 1:
        return text
    if metric.significant:
        # of the mean, so that the two can be compared
        power = _power(figure.mean, metric.significant)
        return f"{text} ± {_scientific(figure.deviation, metric.significant, power)}"
    return f"{text} ± {figure.deviation:,.{metric.shown_decimals(figure.mean)}f}"


def figure_printed(figure: Figure) -> str:
    """The paper's, with its deviation."""
    if figure.printed is None:
        return NONE
    text = number(figure.metric, figure.printed.value)
    if figure.metric.significant:
        # the paper's own digits, no more
        short = Metric("", "", "neither", significant=figure.metric.significant - 1)
        text = number(short, figure.printed.value)
    if figure.printed.deviation:
        text += f" ± {number(figure.metric, figure.printed.deviation)}"
    return f"< {text}" if figure.printed.note.startswith("printed as <") else text


def header(table: Table) -> list[str]:
    """Titles of the columns of a table."""
    titles = ["data", "method", "kind"]
    for metric in table.metrics:
        way = {"lower": " ↓", "higher": " ↑", "neither": ""}[metric.better]
        titles += [f"{metric.title}{way}{PAPER}", "here"]
    return [*titles, "CPU s", "MB", "mark"]


def cells(row: Row) -> list[str]:
    """What the columns say of a row."""
    figures = [text for figure in row.figures for text in (figure_printed(figure), figure_here(figure))]
    if not row.records:
        return [row.data.name, row.method.name, row.method.kind, *figures, NONE, NONE, row.mark]
    spent = f"{row.cpu_seconds:,.1f}" if row.cpu_seconds < 100 else f"{row.cpu_seconds:,.0f}"
    memory = f"{row.peak_megabytes:,.0f}"
    return [row.data.name, row.method.name, row.method.kind, *figures, spent, memory, row.mark]


def text_table(table: Table, rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
    """Titles and rows for a terminal; methods that were not run, and have no figure in the paper, are left out."""
    shown = [row for row in rows if row.records or any(figure.printed for figure in row.figures)]
    return _without_empty(header(table), [cells(row) for row in shown])


def rst_table(table: Table, found: Iterable[Record]) -> str:
    """The whole table in reStructuredText: note, rows, notes on methods, what was not run."""
    rows = rows_of(table, found)
    body, reasons = _numbered(_grouped(rows))
    lines = [table.note, ""] if table.note else []
    lines += _rst_rows(*_without_empty(header(table), body))
    notes = [*_notes(rows), *reasons]
    lines += ["", *notes] if notes else []
    command = f"arbora reproduce {table.paper} {table.name}"
    lines += ["", f"Repeat with ``{command}``{_conditions(rows)}."]
    left = list(dict.fromkeys(row.method.name for row in rows if row.is_left))
    if left:
        lines[-1] += f" Not run yet, or not on every set: {', '.join(left)}; the same command runs them."
    return "\n".join(lines)


def _notes(rows: Sequence[Row]) -> list[str]:
    """What is to be said of methods; those of which the same is said together."""
    names: dict[str, list[str]] = {}
    for row in rows:
        kept = (str(record.facts.get("deviations", "")) for record in row.records)
        note = row.method.note or next(filter(None, kept), "")
        own = names.setdefault(note, [])
        if row.method.name not in own:
            own.append(row.method.name)
    return [f"* {', '.join(own)}: {note}" for note, own in names.items() if note]


def _conditions(rows: Sequence[Row]) -> str:
    """Where the figures come from: commits, threads, seeds."""
    done = [record for row in rows for record in row.records]
    if not done:
        return ""
    commits = sorted({record.commit.rstrip("+") for record in done if record.commit})
    threads = sorted({record.threads for record in done})
    seeds = max(len(row.records) for row in rows)
    words = f" (up to {seeds} seeds" if seeds > 1 else " (one seed"
    words += f", {' or '.join(map(str, threads))} thread{'s' if threads != [1] else ''}"
    return words + (f", commit{'s' if len(commits) > 1 else ''} {', '.join(commits)})" if commits else ")")


def _grouped(rows: Sequence[Row]) -> list[list[str]]:
    """One line per row, but a single one for a data set of which there is nothing to show."""
    shown: list[list[str]] = []
    for _, group in groupby(rows, key=lambda row: row.data.name):
        own = list(group)
        is_known = any(row.records or any(figure.printed for figure in row.figures) for row in own)
        if own[0].data.absent or (not is_known and len(own) > 1):
            empty = [NONE] * (2 * len(own[0].figures) + 2)
            shown.append([own[0].data.name, "every method", NONE, *empty, mark_of_set(own)])
        else:
            shown += [cells(row) for row in own]
    return shown


def _numbered(lines: Sequence[list[str]]) -> tuple[list[list[str]], list[str]]:
    """Lines whose mark gives a number where several have the same reason, and the reasons by their numbers."""
    split = [line[-1].partition(" (") for line in lines]
    often = [
        reason for reason, count in Counter(reason for *_, reason in split).items() if reason and count > 2
    ]
    number_of = {reason: str(k + 1) for k, reason in enumerate(often)}
    marks = [
        f"{mark} ({number_of[why]})" if why in number_of else mark + bar + why for mark, bar, why in split
    ]
    reasons = [f"* ({number}): {reason.removesuffix(')')}" for reason, number in number_of.items()]
    return [[*line[:-1], mark] for line, mark in zip(lines, marks)], reasons


def _without_empty(titles: Sequence[str], body: Sequence[Sequence[str]]) -> tuple[list[str], list[list[str]]]:
    """The table without columns for figures of which the paper prints none; what is "here" takes over the title."""
    titles = list(titles)
    kept = []
    for column, title in enumerate(titles):
        if title.endswith(PAPER) and not any(line[column] for line in body):
            titles[column + 1] = title.removesuffix(PAPER)
        else:
            kept.append(column)
    return [titles[column] for column in kept], [[line[column] for column in kept] for line in body]


def pivot(table: Table, found: Iterable[Record], metric_key: str, methods: Sequence[str]) -> list[list[str]]:
    """A line per data set, a column per method: figures here, the paper's in brackets; the first line is the header.

    Data sets on which none of the methods was run are left out.
    """
    found = list(found)
    rows = {(row.data.name, row.method.name): row for row in rows_of(table, found)}
    unknown = [name for name in methods if name not in {method.name for method in table.methods}]
    if unknown:
        raise ValueError(f"{table.key} has no method {', '.join(unknown)}.")
    lines = [["data", *methods]]
    left = left_out(table, found, methods)
    for data in table.data:
        if data.absent or data.name in left:
            continue
        line = [data.name]
        for name in methods:
            row = rows[data.name, name]
            figure = next(figure for figure in row.figures if figure.metric.key == metric_key)
            # where there is nothing to show, the mark without its reason
            here = figure_here(figure) if row.records else row.mark.partition(" (")[0]
            is_same = figure.printed is not None and not (row.data.incomparable or row.method.incomparable)
            line.append(f"{here} [{figure_printed(figure)}]" if is_same else here)
        lines.append(line)
    return lines


def transposed(lines: Sequence[Sequence[str]]) -> list[list[str]]:
    """A pivot with a line per method, for tables that would be wider than a page."""
    (_, *sets), *of_methods = zip(*lines)
    return [["method", *sets], *map(list, of_methods)]


def left_out(table: Table, found: Iterable[Record], methods: Sequence[str]) -> list[str]:
    """Data sets on which none of these methods was run, although they could be."""
    rows = [row for row in rows_of(table, found) if row.method.name in methods]
    run = {row.data.name for row in rows if row.records}
    return [data.name for data in table.data if not data.absent and data.name not in run]


def rst_rows(lines: Sequence[Sequence[str]]) -> str:
    """Lines, the first of them the header, as a table in reStructuredText."""
    return "\n".join(_rst_rows(lines[0], lines[1:]))


def markdown_rows(lines: Sequence[Sequence[str]]) -> str:
    """Lines, the first of them the header, as a table in Markdown."""
    rule = ["---"] * len(lines[0])
    return "\n".join(f"| {' | '.join(line)} |" for line in (lines[0], rule, *lines[1:]))


def _rst_rows(titles: Sequence[str], body: Iterable[Sequence[str]]) -> list[str]:
    lines = [".. csv-table::", "   :header-rows: 1", ""]
    return lines + ["   " + ",".join(map(_quoted, entries)) for entries in (titles, *body)]


def _quoted(entry: str) -> str:
    """A cell of a table in reStructuredText: quoted, and nothing in it taken for markup."""
    for letter in "\\*`|":
        entry = entry.replace(letter, f"\\{letter}")
    return '"' + entry.replace('"', '""') + '"'
