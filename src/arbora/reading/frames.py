"""Tables that know their types: Parquet, Arrow, Feather, JSON, Excel, and frames in memory."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from typing import Any

from arbora._base.arrays import distinct_names, frame_columns, row_names
from arbora._base.optional import require
from arbora.errors import FormatError
from arbora.reading.arrays import first_line
from arbora.reading.columns import Column, column_of, names_of, without_names
from arbora.reading.contents import Contents
from arbora.reading.header import is_header, n_row_names
from arbora.reading.options import ReadOptions
from arbora.reading.text import decoded

Table = tuple[dict[str, Column], list[str] | None]


def read_parquet(contents: Contents, options: ReadOptions) -> Table:
    """Parquet, through pyarrow."""
    parquet = require("pyarrow.parquet", "Reading Parquet")
    return _arrow_table(contents, "parquet", parquet.read_table)


def read_arrow(contents: Contents, options: ReadOptions) -> Table:
    """Arrow's own files, Feather among them."""
    feather = require("pyarrow.feather", "Reading Arrow and Feather")
    return _arrow_table(contents, "arrow", feather.read_table)


def _arrow_table(contents: Contents, format: str, read: Any) -> Table:
    try:
        table = read(contents.path if contents.path is not None else io.BytesIO(contents.raw))
    except Exception as error:
        raise FormatError(f"{contents.name} is not a whole {format} file: {first_line(error)}") from error
    levels, names = _pandas_index(table)
    return columns_of(table.drop_columns(levels)), names


def _pandas_index(table: Any) -> tuple[list[str], list[str] | None]:
    """The columns that pandas stored its index in, and the names it gives the rows; None where it counts from 0."""
    stored = (table.schema.pandas_metadata or {}).get("index_columns", [])
    levels = [one for one in stored if isinstance(one, str) and one in table.column_names]
    counts = next((one for one in stored if isinstance(one, dict)), None)
    if counts is None:
        return levels, names_of([column_of(table[one], one) for one in levels])
    rows = range(counts["start"], counts["stop"], counts["step"])
    is_plain = (rows.start, rows.step) == (0, 1) or len(rows) != table.num_rows
    return levels, None if is_plain else [str(row) for row in rows]


def columns_of(frame: Any) -> dict[str, Column]:
    """Columns of a frame of pandas, polars or Arrow, or of a mapping of columns."""
    columns = dict(frame) if isinstance(frame, Mapping) else frame_columns(frame)
    if columns is None:
        raise TypeError(f"path must be a path, a frame or a mapping of columns. Got {type(frame).__name__}.")
    made = {str(name): column_of(values, str(name)) for name, values in columns.items()}
    lengths = {len(column.values) for column in made.values()}
    if len(lengths) > 1:
        raise ValueError(f"Columns must be equally long. Their lengths are {sorted(lengths)}.")
    return made


def read_frame(frame: Any) -> Table:
    """A frame in memory, its index as names."""
    return columns_of(frame), row_names(frame)


def read_json(contents: Contents, options: ReadOptions) -> Table | Mapping[str, Any]:
    """Records (a list of objects), columns (an object of lists), a matrix, or a graph of nodes and links."""
    try:
        data = json.loads(decoded(contents.raw, contents.name))
    except (ValueError, RecursionError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"{contents.name} is not a whole JSON file: {first_line(error)}") from error
    return _json_table(data, contents.name)


def read_json_lines(contents: Contents, options: ReadOptions) -> Table | Mapping[str, Any]:
    """One JSON object per line."""
    records = []
    for number, line in enumerate(decoded(contents.raw, contents.name).splitlines(), start=1):
        if not line.strip():
            continue
        try:
            records.append(json.loads(line))
        except (ValueError, RecursionError) as error:
            raise FormatError(
                f"{contents.name}, line {number}: not a JSON object: {first_line(error)}"
            ) from error
    return _json_table(records, contents.name)


def _json_table(data: Any, name: str) -> Table | Mapping[str, Any]:
    if isinstance(data, dict) and "nodes" in data and ("links" in data or "edges" in data):
        return data
    if (
        isinstance(data, dict)
        and isinstance(data.get("data"), list)
        and isinstance(data.get("columns"), list)
    ):
        # pandas' orient="split" and "table"
        names = distinct_names(data["columns"])
        rows = data["data"]
        if any(not isinstance(row, list) or len(row) != len(names) for row in rows):
            raise FormatError(f"{name} must hold {len(names)} values per row, one for each of its columns.")
        columns = {column: [row[k] for row in rows] for k, column in enumerate(names)}
        return columns_of(columns), _words(data.get("index"))
    if isinstance(data, list) and data and all(isinstance(row, dict) for row in data):
        keys = list(dict.fromkeys(key for row in data for key in row))
        return columns_of({key: [row.get(key) for row in data] for key in keys}), None
    if isinstance(data, list) and data and all(isinstance(row, list) for row in data):
        if len({len(row) for row in data}) != 1:
            raise FormatError(f"{name} holds rows of different lengths.")
        return columns_of({f"column {k + 1}": [row[k] for row in data] for k in range(len(data[0]))}), None
    if isinstance(data, dict) and data and all(isinstance(one, list) for one in data.values()):
        return columns_of(data), None
    if isinstance(data, dict) and data and all(isinstance(one, dict) for one in data.values()):
        # pandas' default: columns of {row name: value}
        names = list(dict.fromkeys(key for column in data.values() for key in column))
        columns = {key: [column.get(one) for one in names] for key, column in data.items()}
        return columns_of(columns), _words(names)
    raise FormatError(
        f"{name} is JSON, but not a table: a list of objects, an object of columns, or nodes and links are read."
    )


def _words(index: Any) -> list[str] | None:
    """Names of rows, unless they merely count."""
    words = None if index is None else [str(one) for one in index]
    return None if words is None or words == [str(k) for k in range(len(words))] else words


def read_excel(contents: Contents, options: ReadOptions) -> Table:
    """One sheet of an Excel file: the first, or the one that `use` names."""
    openpyxl = require("openpyxl", "Reading Excel files")
    try:
        book = openpyxl.load_workbook(io.BytesIO(contents.raw), read_only=True, data_only=True)
    except Exception as error:
        raise FormatError(f"{contents.name} is not a whole Excel file: {first_line(error)}") from error
    if options.use is not None and options.use not in book.sheetnames:
        raise ValueError(
            f"{contents.name} has no sheet {options.use!r} (use=). It has {', '.join(book.sheetnames)}."
        )
    sheet = book[options.use or book.sheetnames[0]]
    rows = [list(row) for row in sheet.iter_rows(values_only=True)]
    rows = [row for row in rows if any(cell is not None for cell in row)]
    if not rows:
        raise FormatError(f"{contents.name}: the sheet {sheet.title!r} is empty.")
    width = max(len(row) for row in rows)
    rows = [row + [None] * (width - len(row)) for row in rows]
    texts = [["" if cell is None else str(cell) for cell in row] for row in rows[:200]]
    has_header = is_header(texts[0], texts[1:], contents.name) if options.header is None else options.header
    names = texts[0] if has_header else [f"column {k + 1}" for k in range(width)]
    body = rows[1:] if has_header else rows
    distinct = distinct_names(name or f"column {k + 1}" for k, name in enumerate(names))
    columns = {name: [row[k] for row in body] for k, name in enumerate(distinct)}
    return without_names(columns_of(columns), n_row_names(names) if has_header else 0)


READERS = {
    "parquet": read_parquet,
    "arrow": read_arrow,
    "xlsx": read_excel,
    "json": read_json,
    "jsonl": read_json_lines,
}
