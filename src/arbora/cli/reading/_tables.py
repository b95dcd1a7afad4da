"""Text tables and parquet: numbers are features, one column may be the label, text columns are metadata."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

import numpy as np

from arbora.cli._exit import Unreadable, Unusable
from arbora.cli.reading._data import Data, ReadOptions
from arbora.errors import MissingExtraError

_DELIMITERS = ",\t;| "
_MOST_COLUMNS = 200_000
_MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?"})


def read_csv(raw: bytes, name: str, options: ReadOptions) -> Data:
    """Comma, tab, semicolon, bar or space separated text, with or without a header."""
    text = _decoded(raw, name)
    delimiter = _delimiter(text, options.delimiter, name)
    rows = _rows(text, delimiter, name)
    header, rows = _split_header(rows)
    if not rows:
        raise Unusable(f"{name} has a header but no rows.")
    columns = list(zip(*rows, strict=True))
    names = header or [f"column {k}" for k in range(len(columns))]
    if len(columns) == 1 and header is None and options.delimiter is None and not _all_numbers(columns[0]):
        raise Unreadable(f"{name} has one column of text: is the delimiter another? Say it with --delimiter.")
    return _from_columns(dict(_unique(names, columns)), name, "csv" if delimiter != "\t" else "tsv", options)


def read_parquet(raw: bytes, name: str, options: ReadOptions) -> Data:
    """Parquet, through pyarrow."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtraError(
            "Reading parquet needs pyarrow. Install it with: pip install 'arbora[formats]'"
        ) from error
    try:
        table = pyarrow.parquet.read_table(io.BytesIO(raw))
    except (pyarrow.ArrowException, OSError) as error:
        raise Unreadable(f"{name} is not a whole parquet file: {str(error).splitlines()[0]}") from error
    columns = {column: table[column].to_pylist() for column in table.column_names}
    return _from_columns(columns, name, "parquet", options)


def _from_columns(columns: dict[str, Sequence[Any]], name: str, format: str, options: ReadOptions) -> Data:
    for wanted, option in ((options.label_column, "--label-column"), (options.name_column, "--name-column")):
        if wanted is not None and wanted not in columns:
            raise Unusable(f"{name} has no column {wanted!r} ({option}). It has {_listed(columns)}.")
    labels = columns.get(options.label_column) if options.label_column else None
    names = columns.get(options.name_column) if options.name_column else None
    features: dict[str, np.ndarray] = {}
    metadata: dict[str, Any] = {}
    for column, values in columns.items():
        if column in (options.label_column, options.name_column):
            continue
        numbers = _as_numbers(values)
        if numbers is None:
            metadata[column] = np.array([str(value) for value in values], dtype=object)
        else:
            features[column] = numbers
    if not features:
        raise Unusable(
            f"{name} has no column of numbers. Text columns: {_listed(metadata)}. Is the delimiter right?"
        )
    notes = []
    if names is None and metadata:
        first = next(iter(metadata))
        if len(set(metadata[first])) == len(metadata[first]):
            names = metadata.pop(first)  # the first text column names every row: take it as the name
    if metadata:
        notes.append(f"text columns are not features: {_listed(metadata)}")
    return Data(
        "vectors", np.column_stack(list(features.values())), name, format,
        labels=None if labels is None else np.array([str(value) for value in labels], dtype=object),
        label_name=options.label_column,
        names=None if names is None else [str(value) for value in names],
        feature_names=list(features), metadata=metadata, notes=notes,
    )  # fmt: skip


def _decoded(raw: bytes, name: str) -> str:
    if b"\0" in raw[:65536]:
        if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
            return raw.decode("utf-16")
        raise Unreadable(f"{name} is binary, of no kind arbora knows. Say what it is with --format.")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
        strange = sum(not (c.isprintable() or c in "\r\n\t") for c in text[:65536])
        if strange > len(text[:65536]) / 20:
            raise Unreadable(
                f"{name} is binary, of no kind arbora knows. Say what it is with --format."
            ) from None
        return text


def _delimiter(text: str, given: str | None, name: str) -> str:
    if given is not None:
        given = {"tab": "\t", "\\t": "\t", "space": " "}.get(given, given)
        if len(given) != 1:
            raise Unusable(f"--delimiter must be one character, or 'tab'. Got {given!r}.")
        return given
    lines = [line for line in text[:200_000].splitlines()[:50] if line.strip()]
    for candidate in _DELIMITERS:
        counts = {line.count(candidate) for line in lines}
        if len(counts) == 1 and counts != {0}:
            return candidate
    most = max(_DELIMITERS, key=lambda c: sum(c in line for line in lines))
    return most if any(most in line for line in lines) else ","


def _rows(text: str, delimiter: str, name: str) -> list[list[str]]:
    csv.field_size_limit(2**24)
    rows: list[list[str]] = []
    try:
        for line in csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True):
            if not line or (len(line) == 1 and not line[0].strip()):
                continue
            if line[0].startswith("#") and not rows:
                continue
            if len(line) > _MOST_COLUMNS:
                raise Unreadable(
                    f"{name} has a line of {len(line):,} columns; at most {_MOST_COLUMNS:,} are read."
                )
            if rows and len(line) != len(rows[0]):
                raise Unreadable(
                    f"{name}: row {len(rows) + 1} has {len(line)} columns, the first has {len(rows[0])}. "
                    "Is the file cut short, or the delimiter another (--delimiter)?"
                )
            rows.append([cell.strip() for cell in line])
    except csv.Error as error:
        raise Unreadable(f"{name} is not a table: {error}.") from error
    if not rows:
        raise Unreadable(f"{name} is empty.")
    return rows


def _split_header(rows: list[list[str]]) -> tuple[list[str] | None, list[list[str]]]:
    """A first row is a header if it holds text in a column that otherwise holds numbers, or only text."""
    first, rest = rows[0], rows[1:]
    if any(_number(cell) is not None for cell in first):
        return None, rows
    if not rest:
        return (None, rows) if not any(first) else (first, [])
    has_numbers = any(_number(row[k]) is not None for row in rest[:20] for k in range(len(first)))
    return (first, rest) if has_numbers else (None, rows)


def _unique(names: Sequence[str], columns: Sequence[Any]) -> list[tuple[str, Any]]:
    seen: dict[str, int] = {}
    found = []
    for name, column in zip(names, columns, strict=True):
        seen[name] = seen.get(name, 0) + 1
        found.append((name if seen[name] == 1 else f"{name}.{seen[name] - 1}", column))
    return found


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def _as_numbers(values: Sequence[Any]) -> np.ndarray | None:
    """A column as numbers, missing cells as NaN; None if it is text."""
    array = np.empty(len(values))
    for k, value in enumerate(values):
        if value is None or (isinstance(value, str) and value.casefold() in _MISSING):
            array[k] = np.nan
            continue
        try:
            array[k] = float(value)
        except (TypeError, ValueError):
            return None
    return None if np.isnan(array).all() else array


def _all_numbers(values: Sequence[str]) -> bool:
    return _as_numbers(values) is not None


def _listed(columns: Any, most: int = 12) -> str:
    names = [repr(str(name)[:40]) for name in columns]
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
