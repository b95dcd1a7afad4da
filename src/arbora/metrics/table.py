"""Small tables of scores that print well and read like dictionaries."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence

LOWER, HIGHER = "lower", "higher"


class Scores(Mapping[str, float]):
    """Scores of one tree by name, each with the direction that is better.

    ``scores["dasgupta_cost"]`` is a number, ``dict(scores)`` all of them, ``scores.better`` the directions.
    """

    def __init__(self, values: Mapping[str, float], better: Mapping[str, str], title: str = "") -> None:
        self._values = dict(values)
        self.better = {name: better[name] for name in self._values}
        self.title = title

    def __getitem__(self, name: str) -> float:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        return ["score", "value", "better"], [
            [k, _number(v), self.better[k]] for k, v in self._values.items()
        ]

    def __repr__(self) -> str:
        return "\n".join(filter(None, [self.title, _aligned(*self._cells(), n_text=1)]))

    def _repr_html_(self) -> str:
        return _as_html(*self._cells(), caption=self.title)


class LevelScores(Mapping[str, dict[str, float]]):
    """Scores by level of the labels: ``scores[level]`` is a row, ``scores.column("nmi")`` a column."""

    def __init__(self, rows: Mapping[str, Mapping[str, float]]) -> None:
        self._rows = {name: dict(row) for name, row in rows.items()}

    def __getitem__(self, name: str) -> dict[str, float]:
        return dict(self._rows[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def column(self, score: str) -> dict[str, float]:
        """One score of every level."""
        return {name: row[score] for name, row in self._rows.items()}

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        columns = list(next(iter(self._rows.values())))
        rows = [[name, *(_share(row[c]) for c in columns)] for name, row in self._rows.items()]
        return ["level", *columns], rows

    def __repr__(self) -> str:
        return _aligned(*self._cells(), n_text=1)

    def _repr_html_(self) -> str:
        return _as_html(*self._cells())


def _share(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.3f}"


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.6g}"


def _aligned(header: Sequence[str], rows: Sequence[Sequence[str]], n_text: int) -> str:
    """Columns of equal width: the first `n_text` to the left, numbers to the right."""
    table = [header, *rows]
    widths = [max(len(row[k]) for row in table) for k in range(len(header))]
    lines = []
    for row in table:
        cells = [
            cell.ljust(w) if k < n_text else cell.rjust(w) for k, (cell, w) in enumerate(zip(row, widths))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def _as_html(header: Sequence[str], rows: Sequence[Sequence[str]], caption: str = "") -> str:
    def line(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    title = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    return f"<table>{title}{line(header, 'th')}{''.join(line(row, 'td') for row in rows)}</table>"
