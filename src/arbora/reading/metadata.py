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
from arbora.reading.columns import NUMBER, Column
from arbora.reading.contents import contents_of, format_of
from arbora.reading.dataset import Dataset
from arbora.reading.options import ReadOptions
from arbora.reading.roles import listed
from arbora.reading.tables import read_columns, with_row_names
from arbora.reading.text import decoded, layout_of


def with_metadata(data: Dataset, more: Any) -> Dataset:
    """The data with the columns of another table, matched by name where both have names."""
    columns, names = _metadata_columns(more)
    n = len(next(iter(columns.values())).values) if columns else 0
    order: NDArray[np.int64] | None = None
    if names == data.names:
        names = None
    if names is not None and data.names is not None and set(data.names) <= set(names):
        order = _places_of(data.names, names)
    elif n != data.n_points:
        raise ValueError(
            f"metadata= has {n:,} rows and the data {data.n_points:,} points, and their names do not match either."
        )
    elif names is not None and data.names is not None:
        _refuse_partial_match(data.names, names)
    added = {
        name: column.values if order is None else column.values[order]
        for name, column in columns.items()
        if column.kind in ("number", "text", "date")
    }
    words = ", ".join(filter(None, [data.roles.get("metadata"), f"{len(added)} columns of metadata="]))
    return replace(data, metadata={**data.metadata, **added}, roles={**data.roles, "metadata": words})


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


def _refuse_partial_match(wanted: list[str], names: list[str]) -> None:
    """Raise where some points are found by name and others are not: in their order they may be others."""
    known = set(names)
    # numbers recur by chance, and rows are counted from 0 here and from 1 there
    if any(name and name in known and NUMBER.fullmatch(name) is None for name in wanted):
        missing = [name for name in wanted if name not in known]
        raise ValueError(
            f"metadata= names some of the points, but not {listed(missing)}. Add their rows, or pass "
            "metadata without names, in the order of the points."
        )


def _metadata_columns(more: Any) -> tuple[dict[str, Column], list[str] | None]:
    if isinstance(more, (str, os.PathLike)):
        contents = contents_of(os.fspath(more))
        kind = format_of(contents)
        if kind in ("csv", "tsv"):
            text = decoded(contents.raw, contents.name)
            layout = layout_of(text, contents.name, ReadOptions())
            columns, names = with_row_names(read_columns(text, layout, contents.name), layout)
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
    if names is None:
        distinct = [c for c in columns.values() if c.kind in ("text", "number") and c.is_distinct]
        names = distinct[0].words() if distinct else None
    return columns, names
