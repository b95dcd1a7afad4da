"""The cells of a text table as columns: through Arrow where it is installed and agrees, cell by cell otherwise."""

from __future__ import annotations

import re
from array import array
from collections.abc import Container
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora._base.arrays import distinct_names
from arbora.errors import FormatError
from arbora.reading.columns import MISSING_WORDS, NUMBER, Column, is_exact, of_text
from arbora.reading.text import Layout, records

# Below this many characters a table is read cell by cell, which takes less than a second.
ARROW_FROM = 2**20
_MISSING_NUMBERS = MISSING_WORDS | {"?"}
_WHOLE = re.compile(r"[+-]?\d{1,4000}", re.ASCII)
_EXACT_DIGITS = 15
_TRUTH = {"true": 1.0, "false": 0.0}


def read_columns(
    text: str,
    layout: Layout,
    name: str,
    *,
    as_text: frozenset[str] = frozenset(),
    as_numbers: tuple[str, ...] = (),
    as_names: Container[str | None] = (),
) -> dict[str, Column]:
    """Columns of a table by name; those in `as_text` are not read as numbers, nor are codes such as 01234.

    Nor are whole numbers beyond 2^53. Either that matches a pattern in `as_numbers` is numbers all the same. Where
    columns hold names, those in `as_names` and those of the rows, "NA" and "null" are names.
    """
    names = column_names(layout)
    wanted = [any(fnmatchcase(column, pattern) for pattern in as_numbers) for column in names]
    numeric = [
        column not in as_text
        and not (place == 0 and layout.n_row_names == 1)
        and _is_numeric(cells, layout.decimal)
        and (is_wanted or not _are_beyond_doubles(cells))
        for place, (column, cells, is_wanted) in enumerate(zip(names, _sampled(layout), wanted))
    ]
    codes = [
        is_number and _are_codes(cells) and not is_wanted
        for cells, is_number, is_wanted in zip(_sampled(layout), numeric, wanted)
    ]
    if codes != numeric:
        # where every column is padded with zeros that is how numbers are written here
        numeric = [is_number and not is_code for is_number, is_code in zip(numeric, codes)]
    parts = _by_arrow(text, layout, numeric) if len(text) >= ARROW_FROM else None
    if parts is None:
        parts = _by_cell(text, layout, numeric, name)
    found = {}
    for place, (column, part) in enumerate(zip(names, parts)):
        missing = {""} if column in as_names or place < layout.n_row_names else MISSING_WORDS
        found[column] = (
            Column("number", part)
            if isinstance(part, np.ndarray)
            else of_text([None if cell in missing else cell for cell in part], column)
        )
    return found


def column_names(layout: Layout) -> list[str]:
    """Names of the columns, made distinct; without a header, 'column 1' and so on."""
    names = layout.header or [f"column {k + 1}" for k in range(layout.n_columns)]
    return distinct_names(
        name or ("" if place == 0 else f"column {place + 1}") for place, name in enumerate(names)
    )


def _sampled(layout: Layout) -> list[tuple[str, ...]]:
    return list(zip(*layout.sample)) if layout.sample else [()] * layout.n_columns


def _is_numeric(cells: tuple[str, ...], decimal: str) -> bool:
    present = [cell for cell in cells if cell not in _MISSING_NUMBERS]
    return all(_number(cell, decimal) is not None for cell in present)


def _are_codes(cells: tuple[str, ...]) -> bool:
    """Whether these are codes of digits, such as postal codes: of one length, some of them beginning with a zero."""
    present = [cell for cell in cells if cell not in _MISSING_NUMBERS]
    return (
        len({len(cell) for cell in present}) == 1
        and all(cell.isascii() and cell.isdecimal() for cell in present)
        and any(len(cell) > 1 and cell[0] == "0" for cell in present)
    )


def _are_beyond_doubles(cells: tuple[str, ...]) -> bool:
    """Whether these are whole numbers of which some are too long for double precision, as many identifiers are."""
    present = [cell for cell in cells if cell not in _MISSING_NUMBERS]
    if not all(_WHOLE.fullmatch(cell) for cell in present):
        return False
    return not is_exact(*(int(cell) for cell in present if len(cell) > _EXACT_DIGITS))


def _number(cell: str, decimal: str) -> float | None:
    if decimal == ",":
        # a point separates thousands then
        cell = "" if "." in cell else cell.replace(",", ".", 1)
    if NUMBER.fullmatch(cell):
        return float(cell)
    return _TRUTH.get(cell.casefold())


def _by_cell(text: str, layout: Layout, numeric: list[bool], name: str) -> list[Any]:
    """Columns as arrays of numbers or lists of text; read again where a column turns out to be text."""
    while True:
        columns: list[Any] = [array("d") if is_number else [] for is_number in numeric]
        failed: set[int] = set()
        rows = records(text, layout.start, layout.delimiter, name)
        if layout.header is not None:
            next(rows)
        for row in rows:
            for place, cell in enumerate(row):
                if not numeric[place]:
                    columns[place].append(cell)
                elif place not in failed:
                    value = np.nan if cell in _MISSING_NUMBERS else _number(cell, layout.decimal)
                    if value is None:
                        failed.add(place)
                    else:
                        columns[place].append(value)
        if not failed:
            return [
                _all_missing_as_text(np.array(part)) if isinstance(part, array) else part for part in columns
            ]
        numeric = [is_number and place not in failed for place, is_number in enumerate(numeric)]


def _all_missing_as_text(numbers: NDArray[np.float64]) -> Any:
    """A column without a single value has no kind."""
    return [None] * len(numbers) if np.isnan(numbers).all() else numbers


def _by_arrow(text: str, layout: Layout, numeric: list[bool]) -> list[Any] | None:
    """The same through Arrow's reader, or None if it reads anything differently from `_by_cell`."""
    try:
        import pyarrow as pa
        import pyarrow.csv as pa_csv
    except ImportError:
        return None
    if f'{layout.delimiter} "' in text or layout.delimiter == " ":
        return None
    body = text[layout.start :]
    if layout.header is not None and body[: body.find("\n")].count('"') % 2:
        return None
    names = [str(place) for place in range(layout.n_columns)]
    types = {name: pa.float64() if is_number else pa.string() for name, is_number in zip(names, numeric)}
    try:
        table = pa_csv.read_csv(
            pa.BufferReader(body.encode()),
            read_options=pa_csv.ReadOptions(
                column_names=names, skip_rows=int(layout.header is not None), block_size=2**24
            ),
            parse_options=pa_csv.ParseOptions(delimiter=layout.delimiter, newlines_in_values='"' in body),
            convert_options=pa_csv.ConvertOptions(
                column_types=types,
                null_values=sorted(_MISSING_NUMBERS),
                strings_can_be_null=False,
                decimal_point=layout.decimal,
            ),
        )
    except pa.ArrowException:
        # ragged rows, late text, blanks around numbers: what they mean is decided cell by cell
        return None
    parts: list[Any] = []
    for name, is_number in zip(names, numeric):
        if is_number:
            parts.append(_all_missing_as_text(table[name].to_numpy(zero_copy_only=False).astype(np.float64)))
        else:
            parts.append([cell.strip() for cell in table[name].to_pylist()])
    return parts


def number_matrix(columns: dict[str, Column], name: str) -> NDArray[np.float64]:
    """All columns side by side, which must be numbers."""
    if not columns or any(column.kind != "number" for column in columns.values()):
        raise FormatError(f"{name} holds text where only numbers are expected.")
    return np.column_stack([column.values for column in columns.values()])
