"""Parts of a report as data, and the same as text, Markdown, HTML and JSON."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass, field
from typing import Any

from arbora._base.types import Ints

_LARGEST_MATRIX_SHOWN = 40


@dataclass(frozen=True)
class Section:
    """One part of a report.

    Attributes
    ----------
    name : str
        Stable key: "summary", "calibration", "pairs", "conflicts", "spurious", "nodes" or "confusion".
    title : str
    text : str
        What it says, in a sentence or two.
    columns : dict
        Meaning of each column of the table, in order.
    rows : list of dict
        The table; every row has the keys of `columns`.
    matrix : int64[n, n] or None
        For "confusion": points by true class (row) and predicted class (column), in tree order.
    names : list of str
        Names of the rows and columns of the matrix.
    """

    name: str
    title: str
    text: str
    columns: dict[str, str] = field(default_factory=dict)
    rows: list[dict[str, Any]] = field(default_factory=list)
    matrix: Ints | None = None
    names: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Plain values that JSON takes; NaN becomes None."""
        found: dict[str, Any] = {"name": self.name, "title": self.title, "text": self.text}
        found["columns"] = dict(self.columns)
        found["rows"] = [{key: _plain(value) for key, value in row.items()} for row in self.rows]
        if self.matrix is not None:
            found |= {"matrix": self.matrix.tolist(), "names": list(self.names)}
        return found

    def to_text(self) -> str:
        """Title and aligned table."""
        return self.title + "\n" + (_aligned(self._cells()) if self._cells() else self.text)

    def to_markdown(self) -> str:
        """Heading, text, table, and what its columns mean."""
        cells = self._cells()
        parts = [f"## {self.title}", self.text]
        if cells:
            lines = [[cell.replace("|", "\\|").replace("\n", " ") for cell in line] for line in cells]
            table = ["| " + " | ".join(line) + " |" for line in lines]
            table.insert(1, "|" + " --- |" * len(lines[0]))
            parts.append("\n".join(table))
        legend = [f"- `{key}`: {meaning}" for key, meaning in self.columns.items() if meaning]
        return "\n\n".join(part for part in [*parts, "\n".join(legend)] if part)

    def to_html(self) -> str:
        """The same as HTML; every text is escaped, and meanings of columns are titles of their headers."""
        parts = [f"<h3>{html.escape(self.title)}</h3>", f"<p>{html.escape(self.text)}</p>"]
        cells = self._cells()
        if cells:
            heads = "".join(
                f'<th title="{html.escape(self.columns.get(key, ""))}">{html.escape(key)}</th>'
                for key in cells[0]
            )
            body = "".join(
                "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in line) + "</tr>"
                for line in cells[1:]
            )
            parts.append(f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>")
        return "".join(parts)

    def _cells(self) -> list[list[str]]:
        if self.matrix is not None:
            if len(self.names) > _LARGEST_MATRIX_SHOWN:
                return []
            body = [[name, *map(str, line)] for name, line in zip(self.names, self.matrix.tolist())]
            return [["true \\ predicted", *self.names], *body]
        if not self.rows:
            return []
        head = list(self.rows[0])
        return [head] + [[_cell(row[key]) for key in head] for row in self.rows]


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "-" if math.isnan(value) else f"{value:.3g}"
    return str(value)


def _aligned(cells: list[list[str]]) -> str:
    widths = [max(len(line[k]) for line in cells) for k in range(len(cells[0]))]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(line, widths)).rstrip() for line in cells
    )
