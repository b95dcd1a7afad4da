"""Whether the first row of a table is a header, which is not obvious where column names are numbers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from arbora.errors import FormatError
from arbora.reading.columns import MISSING_WORDS, NUMBER

# Numbered names in this many columns are a header even above columns of whole numbers.
_ENOUGH_NUMBERED = 8


def is_header(first: Sequence[str], rest: Sequence[Sequence[str]], name: str) -> bool:
    """Whether `first` names the columns of the rows in `rest`.

    Text above numbers is a header. So are numbers that count (0, 1, 2, ...; 1990, 1991, ...) above values that do
    not. If both readings are plausible, the caller must decide.
    """
    numbers = [cell for cell in first if NUMBER.fullmatch(cell)]
    if not numbers:
        return _is_text_header(first, rest)
    if not rest:
        return False
    if first[0] == "" and all(row[0] != "" for row in rest):
        return True
    places = [place for place, cell in enumerate(first) if NUMBER.fullmatch(cell)]
    below = [row[place] for row in rest for place in places if row[place] not in MISSING_WORDS]
    n_whole = sum(_is_whole(cell) for cell in below)
    if len(numbers) == 1 < len(first) and _are_years(numbers) and below and n_whole == 0:
        return True
    if not _counts(numbers) or any(_goes_on(first, row, places) for row in rest[:1]):
        return False
    if n_whole == 0 or len(numbers) >= _ENOUGH_NUMBERED or (_are_years(numbers) and not _are_years(below)):
        return True
    if n_whole < len(below) and (len(numbers) > 3 or (len(numbers) == 3 and numbers[0] == "0")):
        return True
    if len(numbers) == len(first) and (len(numbers) < 3 or numbers[0] == "1"):
        # a few small whole numbers above such numbers are data far more often than names
        return False
    raise FormatError(
        f"{name}: the first row, {', '.join(map(str, first[:8]))}, may be a header or data. "
        "Use header=True or header=False."
    )


def n_row_names(header: Sequence[str] | None) -> int:
    """Number of columns at the left without a name of their own: they name the rows, as R and pandas write them."""
    if not header or header[0].casefold() not in ("", "unnamed: 0"):
        return 0
    count = next((place for place, cell in enumerate(header[1:], start=1) if cell), len(header))
    return min(count, len(header) - 1)


def _is_text_header(first: Sequence[str], rest: Sequence[Sequence[str]]) -> bool:
    if any(cell.startswith("[") for cell in first):
        # a vector
        return False
    if not rest:
        return any(cell for cell in first)
    for place in range(len(first)):
        below = [row[place] for row in rest if row[place] not in MISSING_WORDS]
        if any(NUMBER.fullmatch(cell) or cell.startswith("[") for cell in below):
            return True
    # all text: names of columns are distinct, and do not recur among the values
    named = [cell for cell in first if cell]
    returning = any(cell and cell == row[place] for row in rest for place, cell in enumerate(first))
    has_decimal_commas = any(
        "," in cell and cell.replace(",", "").isdigit() for row in rest[:3] for cell in row
    )
    return has_decimal_commas or (len(set(named)) == len(named) > 0 and not returning)


def _counts(cells: Sequence[str]) -> bool:
    """Whether whole numbers rise by one and the same step, or are rising years."""
    if not all(_is_whole(cell) for cell in cells) or len(cells) < 2:
        return False
    values = [int(float(cell)) for cell in cells]
    steps = {b - a for a, b in pairwise(values)}
    if min(steps) < 1:
        return False
    return _are_years(cells) or (values[0] in (0, 1) and steps == {1})


def _are_years(cells: Sequence[str]) -> bool:
    return all(_is_whole(cell) and 1500 <= int(cell) <= 2200 for cell in cells)


def _goes_on(first: Sequence[str], row: Sequence[str], places: Sequence[int]) -> bool:
    """Whether the next row counts in the same way, so that the first is a row as well."""
    cells = [row[place] for place in places]
    if not all(_is_whole(cell) for cell in cells):
        return False
    values = [int(float(cell)) for cell in cells]
    steps = {b - a for a, b in pairwise(values)}
    before = [int(float(first[place])) for place in places]
    return steps == {b - a for a, b in pairwise(before)}


def _is_whole(cell: str) -> bool:
    return bool(NUMBER.fullmatch(cell)) and cell.lstrip("+-").isdigit()
