"""Small aligned tables for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def aligned(rows: Mapping[str, Any]) -> str:
    """Two columns: names and values."""
    width = max((len(str(name)) for name in rows), default=0)
    return "\n".join(f"{name:<{width}}  {number(value)}" for name, value in rows.items())


def columns(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A header and rows; the first column to the left, the others to the right."""
    cells = [[str(one) for one in header], *[[number(one) for one in row] for row in rows]]
    widths = [max(len(row[k]) for row in cells) for k in range(len(header))]
    lines = [
        "  ".join(
            cell.ljust(w) if k == 0 else cell.rjust(w)
            for k, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in cells
    ]
    return "\n".join(line.rstrip() for line in lines)


def number(value: Any) -> str:
    """Five significant digits; counts with separators."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.5g}" if isinstance(value, float) else str(value)
