"""What a table says of a method: its figures here and in the paper, and whether they are better or worse."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from arbora.reproduce.papers import Printed, printed
from arbora.reproduce.records import Record
from arbora.reproduce.runner import cannot_run
from arbora.reproduce.table import Data, Method, Metric, Table

BETTER, WITHIN, WORSE = "better", "within the deviation", "worse"
INCOMPARABLE, CANNOT, NOT_RUN = "not comparable", "not runnable here", "not run yet"
NOT_PRINTED = "the paper prints no such figure"
# A row that takes longer than this is better run by itself.
_LONG_SECONDS = 600.0


@dataclass(frozen=True)
class Figure:
    """A metric of a row: the values found here, one per seed, and the paper's."""

    metric: Metric
    values: tuple[float, ...]
    printed: Printed | None

    @property
    def mean(self) -> float:
        """Mean over the seeds."""
        return float(np.mean(self.values))

    @property
    def deviation(self) -> float:
        """Standard deviation over the seeds (0 for one)."""
        return float(np.std(self.values))

    @property
    def verdict(self) -> str | None:
        """Better, within the deviation or worse than the paper's figure; None where there is nothing to compare.

        The deviation is the largest of that over the seeds, the one the paper prints, and its rounding.
        """
        if not self.values or self.printed is None or self.metric.better == "neither":
            return None
        slack = max(self.deviation, self.printed.deviation, _rounding(self.metric, self.printed.value))
        gain = self.mean - self.printed.value
        if self.metric.better == "lower":
            gain = -gain
        return WITHIN if abs(gain) <= slack * (1 + 1e-9) else BETTER if gain > 0 else WORSE


@dataclass(frozen=True)
class Row:
    """A method on a data set."""

    table: Table
    data: Data
    method: Method
    figures: tuple[Figure, ...]
    records: tuple[Record, ...]
    failure: str

    @property
    def cpu_seconds(self) -> float:
        """Mean CPU seconds of a run."""
        return float(np.mean([record.cpu_seconds for record in self.records]))

    @property
    def peak_megabytes(self) -> float:
        """Largest peak memory of a run."""
        return max(record.peak_megabytes for record in self.records)

    @property
    def seconds(self) -> float:
        """Rough CPU seconds of a run, as the plan has them."""
        return self.method.seconds_on(self.data)

    @property
    def is_left(self) -> bool:
        """Whether it could run here and was not run."""
        return not self.records and not self.failure and not cannot_run(self.data, self.method)

    @property
    def _price(self) -> str:
        """What a run takes; for a long one also the command that runs this row alone."""
        price = f"about {_duration(self.seconds)} per run"
        if self.seconds < _LONG_SECONDS:
            return price
        alone = f"--datasets {shlex.quote(self.data.name)} --methods {shlex.quote(self.method.name)}"
        return f"{price}: arbora reproduce {self.table.paper} {self.table.name} {alone} --seeds 1"

    @property
    def mark(self) -> str:
        """Better, within the deviation, worse, not comparable, not runnable here or not run yet, with the reason."""
        if not self.records:
            reason = cannot_run(self.data, self.method) or self.failure
            return f"{CANNOT} ({reason})" if reason else f"{NOT_RUN} ({self._price})"
        reason = self.data.incomparable or self.method.incomparable
        if reason:
            return f"{INCOMPARABLE} ({reason})"
        verdicts = {figure.metric.title: figure.verdict for figure in self.figures if figure.verdict}
        if not verdicts:
            return f"{INCOMPARABLE} ({NOT_PRINTED})"
        if self.method.kind == "bound" and set(verdicts.values()) != {WITHIN}:
            return f"{INCOMPARABLE} (a bound, and no method; it differs from the paper's)"
        if len(set(verdicts.values())) == 1:
            return next(iter(verdicts.values()))
        grouped = {word: [t for t, v in verdicts.items() if v == word] for word in (BETTER, WITHIN, WORSE)}
        return "; ".join(f"{word}: {', '.join(titles)}" for word, titles in grouped.items() if titles)


def mark_of_set(rows: Sequence[Row]) -> str:
    """The mark of a data set of which there is nothing to show: why, or what a run of every method takes."""
    left = [row for row in rows if row.is_left]
    if rows[0].data.absent or not left:
        return rows[0].mark
    table, methods = rows[0].table, f"{len(left)} method{'s' if len(left) > 1 else ''}"
    price = f"{methods}, about {_duration(sum(row.seconds for row in left))} for one run of each"
    command = (
        f"arbora reproduce {table.paper} {table.name} --datasets {shlex.quote(rows[0].data.name)} --seeds 1"
    )
    return f"{NOT_RUN} ({price}: {command})"


def rows_of(table: Table, found: Iterable[Record]) -> list[Row]:
    """A row for every method and data set of a table, whether or not it was run."""
    of_table = [record for record in found if (record.paper, record.table) == (table.paper, table.name)]
    return [_row(table, data, method, of_table) for data in table.data for method in table.methods]


def _row(table: Table, data: Data, method: Method, found: Sequence[Record]) -> Row:
    own = [record for record in found if (record.dataset, record.method) == (data.name, method.name)]
    done = tuple(sorted((record for record in own if record.is_done), key=lambda record: record.seed))
    figures = tuple(
        Figure(
            metric,
            tuple(record.values[metric.key] for record in done if metric.key in record.values),
            printed(table.paper, table.name, data.name, method.printed, metric.key),
        )
        for metric in table.metrics
    )
    failure = next((record.failure for record in own if not record.is_done), "")
    return Row(table, data, method, figures, done, failure)


def _duration(seconds: float) -> str:
    """A rough time in words.

    Examples
    --------
    >>> _duration(2), _duration(250), _duration(4500)
    ('2 CPU seconds', '4 CPU minutes', '1.2 CPU hours')
    """
    if seconds < 90:
        return f"{max(round(seconds), 1)} CPU seconds"
    return f"{seconds / 60:.0f} CPU minutes" if seconds < 3600 else f"{seconds / 3600:.1f} CPU hours"


def _rounding(metric: Metric, value: float) -> float:
    """Half a unit of the last digit that the paper prints."""
    if metric.significant and value:
        return 0.5 * 10.0 ** (int(np.floor(np.log10(abs(value)))) + 1 - metric.significant)
    return 0.5 * 10.0 ** -metric.shown_decimals(value)
