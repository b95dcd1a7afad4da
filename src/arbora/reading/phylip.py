"""PHYLIP's distance matrices: a count, then a name and its distances per point, square or one triangle."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arbora.errors import FormatError
from arbora.reading.columns import NUMBER
from arbora.reading.contents import Contents
from arbora.reading.dataset import Dataset
from arbora.reading.options import ReadOptions
from arbora.reading.text import decoded

# Names of PHYLIP's strict form fill this many characters, and may hold blanks.
_NAME_WIDTH = 10
_RECORD = tuple[str, list[str]]


def read_phylip(contents: Contents, options: ReadOptions) -> Dataset:
    """Distances with names. Names are one word, or fill ten characters, as PHYLIP's own do."""
    name, text = contents.name, decoded(contents.raw, contents.name)
    if options.kind not in (None, "distances"):
        raise ValueError(
            f"{name} is a PHYLIP matrix, which holds distances. kind= cannot be {options.kind!r}."
        )
    lines = [line for line in text.splitlines() if line.strip()]
    counts = lines[0].split()
    if len(counts) == 2 and all(count.isdecimal() for count in counts):
        raise FormatError(
            f"{name} is an alignment of sequences in PHYLIP's form. Compute distances from it first."
        )
    if len(counts) != 1 or not counts[0].isdecimal():
        raise FormatError(f"{name} must begin with the number of points. Got {lines[0][:40]!r}.")
    n = int(counts[0])
    records = _by_words(lines[1:], n) or _by_width(lines[1:], n)
    if records is None:
        raise FormatError(
            f"{name} announces {n:,} points, but its lines are no square, lower or upper triangle of that many: each "
            "point needs a name (one word, or ten characters) and its distances."
        )
    values = _square([[float(one) for one in row] for _, row in records], name)
    names = [label for label, _ in records]
    return Dataset(
        values, "distances", name, "phylip", names=names,
        roles={"distances": f"a matrix over {n:,} points", "names": "the points' names"},
    )  # fmt: skip


def _by_words(lines: list[str], n: int) -> list[_RECORD] | None:
    """Records whose name is one word; a line that begins with a number continues the one before."""
    records: list[_RECORD] = []
    for line in lines:
        first, *rest = line.split()
        is_name = NUMBER.fullmatch(first) is None or not records or _is_full(records, n)
        if is_name:
            records.append((first, rest))
        else:
            records[-1][1].extend([first, *rest])
    return records if _fits(records, n) else None


def _is_full(records: list[_RECORD], n: int) -> bool:
    """Whether the last record of a square matrix has all its numbers: the next line begins with a name, even '12'."""
    return len(records[-1][1]) == n


def _by_width(lines: list[str], n: int) -> list[_RECORD] | None:
    """Records whose name fills ten characters, and may hold blanks; lines of numbers alone continue."""
    records: list[_RECORD] = []
    for line in lines:
        label, rest = line[:_NAME_WIDTH].strip(), line[_NAME_WIDTH:].split()
        if records and all(NUMBER.fullmatch(part) for part in line.split()) and not _is_full(records, n):
            records[-1][1].extend(line.split())
        else:
            records.append((label, rest))
    return records if _fits(records, n) else None


def _fits(records: list[_RECORD], n: int) -> bool:
    """Whether there is a record per point, with numbers in the shape of a square or of one triangle."""
    if len(records) != n or not all(NUMBER.fullmatch(part) for _, row in records for part in row):
        return False
    counts = [len(row) for _, row in records]
    shapes = (
        [n] * n,
        list(range(n)),
        list(range(1, n + 1)),
        list(range(n - 1, -1, -1)),
        list(range(n, 0, -1)),
    )
    return counts in shapes


def _square(rows: list[list[float]], name: str) -> NDArray[np.float64]:
    n = len(rows)
    full = np.zeros((n, n))
    if len(rows[0]) == len(rows[-1]) == n:
        full[:] = rows
        if not np.allclose(full, full.T, rtol=1e-6, atol=1e-9):
            raise ValueError(f"{name} must be symmetric: distances are the same in both directions.")
        return full
    is_lower = len(rows[0]) <= len(rows[-1])
    for k, row in enumerate(rows):
        # a triangle with its diagonal or without, below it or above
        start = 0 if is_lower else n - len(row)
        full[k, start : start + len(row)] = row
    return np.maximum(full, full.T)
