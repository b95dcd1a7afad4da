"""More columns for the same points, from another table: matched by name where both have names, otherwise by row."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora.errors import FormatError
from arbora.reading import frames
from arbora.reading.columns import NUMBER, Column, without_names
from arbora.reading.contents import contents_of, format_of
from arbora.reading.dataset import Dataset
from arbora.reading.options import ReadOptions
from arbora.reading.roles import is_identifier, listed
from arbora.reading.tables import read_columns
from arbora.reading.text import decoded, layout_of


def with_metadata(data: Dataset, more: Any) -> Dataset:
    """The data with the columns of another table, matched by name where both have names."""
    columns, row_names = _table_of(more)
    n = len(next(iter(columns.values())).values) if columns else 0
    order: NDArray[np.int64] | None = None
    if data.names is not None:
        named = _named_rows(columns, row_names)
        found = next((names for names in named if set(data.names) <= set(names)), None)
        if found is None:
            _refuse_partial_match(data.names, named)
        elif found != data.names:
            order = _places_of(data.names, found)
    if order is None and n != data.n_points:
        raise ValueError(
            f"metadata= has {n:,} rows and the data {data.n_points:,} points, and their names do not match either."
        )
    added = {
        name: column.values if order is None else column.values[order]
        for name, column in columns.items()
        if column.kind in ("number", "text", "date")
    }
    words = ", ".join(filter(None, [data.roles.get("metadata"), f"{len(added)} columns of metadata="]))
    return replace(data, metadata={**data.metadata, **added}, roles={**data.roles, "metadata": words})


def _named_rows(columns: dict[str, Column], row_names: list[str] | None) -> list[list[str]]:
    """What may name the rows: their names, columns of text, and whole numbers that come first or identify."""
    first = next(iter(columns), None)
    named = [] if row_names is None else [row_names]
    for name, column in columns.items():
        is_number = column.is_whole and (name == first or is_identifier(name))
        if column.kind == "text" or is_number:
            named.append(column.words())
    return named


def _places_of(wanted: list[str], names: list[str]) -> NDArray[np.int64]:
    """In which row of metadata each point is."""
    place = {name: k for k, name in enumerate(names)}
    if len(place) < len(names):
        count = Counter(names)
        repeated = [name for name in dict.fromkeys(wanted) if count[name] > 1]
        if repeated:
            raise ValueError(
                f"metadata= has several rows for {listed(repeated)}. Each point needs one: remove the others, or "
                "pass metadata without names, in the order of the points."
            )
    return np.array([place[name] for name in wanted], dtype=np.int64)


def _refuse_partial_match(wanted: list[str], named: list[list[str]]) -> None:
    """Raise where most points are found by name and others are not: in their order they may be others.

    A few words recur by chance, as capitals that are called as their countries are. So do numbers, as rows are counted
    from 0 here and from 1 there.
    """
    for names in named:
        known = set(names)
        missing = [name for name in wanted if name not in known]
        are_words = any(name in known and name and NUMBER.fullmatch(name) is None for name in wanted)
        if are_words and 2 * len(missing) <= len(wanted) and len(known) == len(names):
            raise ValueError(
                f"metadata= names some of the points, but not {listed(missing)}. Add their rows, or pass "
                "metadata without names, in the order of the points."
            )


def _table_of(more: Any) -> tuple[dict[str, Column], list[str] | None]:
    if isinstance(more, (str, os.PathLike)):
        contents = contents_of(os.fspath(more))
        kind = format_of(contents)
        if kind in ("csv", "tsv"):
            text = decoded(contents.raw, contents.name)
            layout = layout_of(text, contents.name, ReadOptions())
            columns, names = without_names(read_columns(text, layout, contents.name), layout.n_row_names)
        elif kind in frames.READERS:
            table = frames.READERS[kind](contents, ReadOptions())
            if isinstance(table, Mapping):
                raise FormatError(f"metadata= must be a table. {contents.name} is a graph.")
            columns, names = table
        else:
            raise FormatError(f"metadata= must be a table. {contents.name} is a {kind} file.")
    else:
        columns, names = (
            frames.read_frame(more) if not isinstance(more, Mapping) else (frames.columns_of(more), None)
        )
    return columns, names
