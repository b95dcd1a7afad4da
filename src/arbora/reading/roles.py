"""Which columns of a table are features, labels, names, texts and metadata.

The caller's choice counts. Otherwise a column of vectors is the features, or else every column of numbers except
those that only number or identify the rows; they become names, never features.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora.reading.columns import Column, as_word, is_missing, odd_cell
from arbora.reading.dataset import Dataset, counted
from arbora.reading.links import is_link
from arbora.reading.options import ReadOptions

_IDENTIFIER = re.compile(
    r"(id|ids|index|idx|uuid|guid|rownames?|row_names|barcode|accession|unnamed: 0)|.*[_\-. ](id|uuid|guid)",
    re.IGNORECASE,
)
_CAMEL_IDENTIFIER = re.compile(r".*[a-z](Id|ID)")
_NAME_WORDS = frozenset({"name", "names", "title", "label_name", "sample", "gene", "cell", "node"})
_TEXT_WORDS = frozenset({"text", "texts", "document", "documents", "content", "body", "abstract", "sentence"})
# A column with more characters per row than this holds texts to read, not names.
_LONG_TEXT = 80
# Fewer rows may look numbered by accident.
_FEWEST_COUNTED = 4


@dataclass
class _Roles:
    """Columns by role, as they are found."""

    source: str
    columns: dict[str, Column]
    words: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    names: list[str] | None = None
    label: str | None = None
    text: str | None = None
    features: list[str] = field(default_factory=list)
    used: set[str] = field(default_factory=set)

    def free(self, *kinds: str) -> list[str]:
        """Columns of these kinds without a role."""
        return [
            name for name, column in self.columns.items() if column.kind in kinds and name not in self.used
        ]

    def take(self, column: str, option: str) -> Column:
        """A column the caller named."""
        if column not in self.columns:
            raise ValueError(
                f"{self.source} has no column {column!r} ({option}=). It has {listed(self.columns)}."
            )
        if column in self.used:
            raise ValueError(f"{self.source}: column {column!r} ({option}=) already has another role.")
        self.used.add(column)
        return self.columns[column]


def dataset_of(
    columns: dict[str, Column],
    source: str,
    format: str,
    options: ReadOptions,
    row_names: list[str] | None = None,
) -> Dataset:
    """Dataset of a table, each column in its role."""
    roles = _Roles(source, _without_dropped(columns, options, source))
    _take_given(roles, options)
    _find_names(roles, options, row_names)
    _find_text(roles)
    _find_features(roles, options)
    metadata = {name: roles.columns[name] for name in roles.free("number", "date", "text")}
    empty = roles.free("empty")
    _describe(roles, metadata, empty, options)
    values, feature_names = _feature_matrix(roles)
    label = None if roles.label is None else roles.columns[roles.label]
    return Dataset(
        values,
        "vectors",
        source,
        format,
        names=roles.names,
        feature_names=feature_names,
        y=None if label is None else classes_of(label.values),
        label_name=roles.label,
        texts=None if roles.text is None else roles.columns[roles.text].words(),
        metadata={name: column.values for name, column in metadata.items()},
        roles=roles.words,
        notes=tuple(roles.notes),
    )


def classes_of(values: NDArray[Any]) -> NDArray[Any]:
    """Known classes: whole numbers where all are, otherwise objects with None where one is missing."""
    listed_values = values.tolist()
    present = [value for value in listed_values if not is_missing(value)]
    if all(isinstance(value, (int, float)) and float(value).is_integer() for value in present):
        if len(present) == len(listed_values):
            return np.array(listed_values, dtype=np.int64)
        words: list[Any] = [None if is_missing(value) else int(value) for value in listed_values]
    else:
        words = [None if is_missing(value) else as_word(value) for value in listed_values]
    found = np.empty(len(words), dtype=object)
    found[:] = words
    return found


def listed(names: Iterable[str], most: int = 8) -> str:
    """Names in quotes, the first few of them."""
    shown = [repr(str(name)[:40]) for name in names]
    return (", ".join(shown[:most]) or "none") + (
        f" and {len(shown) - most} more" if len(shown) > most else ""
    )


def _without_dropped(columns: dict[str, Column], options: ReadOptions, source: str) -> dict[str, Column]:
    dropped = matching(columns, options.drop, "drop", source)
    return {name: column for name, column in columns.items() if name not in dropped}


def matching(columns: Iterable[str], wanted: Iterable[str], option: str, source: str) -> list[str]:
    """Columns that match the patterns, in the table's order; a pattern without any is refused."""
    names = list(columns)
    found: set[str] = set()
    for pattern in wanted:
        hits = [name for name in names if name == pattern] or [n for n in names if fnmatchcase(n, pattern)]
        if not hits:
            raise ValueError(f"{source} has no column {pattern!r} ({option}=). It has {listed(names)}.")
        found.update(hits)
    return [name for name in names if name in found]


def _take_given(roles: _Roles, options: ReadOptions) -> None:
    if options.label_column is not None:
        roles.take(options.label_column, "label_column")
        roles.label = options.label_column
    if options.name_column is not None:
        column = roles.take(options.name_column, "name_column")
        if column.kind not in ("number", "text", "date"):
            raise ValueError(
                f"{roles.source}: column {options.name_column!r} (name_column=) holds {column.kind}s."
            )
        roles.names = column.words()
        roles.words["names"] = repr(options.name_column)
    if options.text_column is not None:
        roles.take(options.text_column, "text_column")
        roles.text = options.text_column
    if options.embedding_column is not None:
        column = roles.take(options.embedding_column, "embedding_column")
        if column.kind != "vector":
            raise ValueError(
                f"{roles.source}: column {options.embedding_column!r} (embedding_column=) must hold vectors. "
                f"It holds {column.kind}."
            )
        roles.features = [options.embedding_column]
    if options.features is not None:
        for name in matching(roles.columns, options.features, "features", roles.source):
            kind = roles.take(name, "features").kind
            if kind not in ("number", "vector"):
                raise ValueError(
                    f"{roles.source}: column {name!r} (features=) must hold numbers. It holds {kind}."
                )
            roles.features.append(name)


def _find_names(roles: _Roles, options: ReadOptions, row_names: list[str] | None) -> None:
    if roles.names is not None:
        return
    if row_names is not None:
        roles.names, roles.words["names"] = row_names, "the row names"
        return
    for name in _name_candidates(roles):
        column = roles.columns[name]
        if column.is_distinct:
            roles.names = column.words()
            roles.used.add(name)
            why = " (it counts the rows)" if column.counts_rows() else ""
            roles.words["names"] = repr(name) + why
            return
    _note_names_with_gaps(roles)


def _note_names_with_gaps(roles: _Roles) -> None:
    """Say which column would name the rows if all of them had a name: one "NA" may be the country's code."""
    for name in roles.free("text"):
        present = [value for value in roles.columns[name].values.tolist() if value is not None]
        n_missing = len(roles.columns[name].values) - len(present)
        is_name = name.casefold() in _NAME_WORDS or is_identifier(name)
        if n_missing and len(set(present)) == len(present) and (is_name or name == next(iter(roles.columns))):
            roles.notes.append(
                f"{name!r} does not name the rows, since {n_missing:,} of them have no value in it; "
                f"name_column={name!r} uses it nevertheless"
            )
            return


def _name_candidates(roles: _Roles) -> list[str]:
    """Columns that may name the rows, the likeliest first."""
    texts = [
        name
        for name in roles.free("text")
        if not _is_long(roles.columns[name], name) and not _are_links(roles.columns[name])
    ]
    by_word = [name for name in texts if name.casefold() in _NAME_WORDS or is_identifier(name)]
    numbers = [name for name in roles.free("number") if roles.columns[name].is_whole]
    identifiers = [name for name in numbers if is_identifier(name)]
    first = next(iter(roles.columns), None)
    counting = [name for name in numbers if name == first and _counts_rows(roles.columns[name])]
    no_numbers = [name for name in texts if odd_cell(roles.columns[name]) is None]
    return [*by_word, *no_numbers[:1], *identifiers, *counting]


def is_identifier(name: str) -> bool:
    """Whether a column is called as those that identify rows are: id, customer_id, userId, barcode."""
    return bool(_IDENTIFIER.fullmatch(name) or _CAMEL_IDENTIFIER.fullmatch(name))


def _counts_rows(column: Column) -> bool:
    return len(column.values) >= _FEWEST_COUNTED and column.counts_rows()


def _is_long(column: Column, name: str) -> bool:
    if name.casefold() in _TEXT_WORDS:
        return True
    lengths = [len(value) for value in column.values[:500].tolist() if value is not None]
    return bool(lengths) and sum(lengths) / len(lengths) > _LONG_TEXT


def _are_links(column: Column) -> bool:
    """Whether texts are addresses, which are shown as links."""
    present = [value for value in column.values.tolist() if value is not None]
    return column.kind == "text" and bool(present) and all(map(is_link, present))


def _find_text(roles: _Roles) -> None:
    if roles.text is not None:
        return
    for name in roles.free("text"):
        if _is_long(roles.columns[name], name) and not _are_links(roles.columns[name]):
            roles.text = name
            roles.used.add(name)
            return


def _find_features(roles: _Roles, options: ReadOptions) -> None:
    """Choose the features: vectors before numbers; what numbers or identifies the rows is never one."""
    if roles.features:
        return
    vectors = roles.free("vector")
    if len(vectors) > 1:
        raise ValueError(
            f"{roles.source} has several columns of vectors: {listed(vectors)}. Choose one with embedding_column=."
        )
    if vectors:
        roles.features = vectors
        roles.used.update(vectors)
        return
    found: list[str] = []
    aside: list[str] = []
    for name in roles.free("number"):
        column = roles.columns[name]
        is_id = is_identifier(name) and column.is_whole
        (aside if is_id or _counts_rows(column) else found).append(name)
    if not found:
        raise ValueError(_no_features(roles, aside))
    if roles.text is not None and len(found) == 1:
        raise ValueError(
            f"{roles.source} has texts ({roles.text!r}) and one column of numbers, {found[0]!r}, but no vectors. "
            f"Use features={found[0]!r} to cluster by that number alone, or embed the texts first."
        )
    if aside:
        roles.notes.append(f"not features, since they number or identify the rows: {listed(aside)}")
    roles.features = found
    roles.used.update(found)


def _no_features(roles: _Roles, aside: list[str]) -> str:
    texts = [name for name, column in roles.columns.items() if column.kind == "text"]
    parts = [f"{roles.source} has no column of numbers to cluster by."]
    if texts:
        parts.append(f"Columns of text: {listed(texts)}.")
    if aside or roles.names is not None:
        numbering = aside or [roles.words["names"]]
        parts.append(
            f"{', '.join(numbering)} only numbers or names the rows; pass features= to use it nevertheless."
        )
    else:
        parts.append("If it should have some, try another delimiter= or decimal=.")
    return " ".join(parts)


def _describe(roles: _Roles, metadata: Mapping[str, Column], empty: list[str], options: ReadOptions) -> None:
    words = {"features": _feature_words(roles)}
    if roles.label is not None:
        words["labels"] = _label_words(roles)
    if "names" in roles.words:
        words["names"] = roles.words["names"]
    if roles.text is not None:
        words["texts"] = repr(roles.text)
    if metadata:
        plural = {"number": "numbers", "date": "dates", "text": "text"}
        words["metadata"] = ", ".join(
            f"{name[:40]!r} ({'links' if _are_links(column) else plural[column.kind]})"
            for name, column in list(metadata.items())[:8]
        ) + (f" and {len(metadata) - 8} more" if len(metadata) > 8 else "")
    if options.drop:
        words["dropped"] = ", ".join(options.drop)
    if empty:
        words["empty"] = listed(empty)
    roles.words = words


def _feature_words(roles: _Roles) -> str:
    if len(roles.features) == 1 and roles.columns[roles.features[0]].kind == "vector":
        return (
            f"{roles.features[0]!r}, vectors of {roles.columns[roles.features[0]].values.shape[1]:,} numbers"
        )
    return listed(roles.features)


def _label_words(roles: _Roles) -> str:
    values = classes_of(roles.columns[str(roles.label)].values).tolist()
    present = [value for value in values if value is not None]
    missing = len(values) - len(present)
    return f"{roles.label!r}, {counted(len(set(present)), 'class', 'classes')}" + (
        f", {missing:,} point{'s' * (missing != 1)} without a label" if missing else ""
    )


def _feature_matrix(roles: _Roles) -> tuple[NDArray[Any], list[str] | None]:
    parts = [roles.columns[name].values for name in roles.features]
    if len(parts) == 1 and parts[0].ndim == 2:
        return parts[0], None
    names = [
        name if part.ndim == 1 else f"{name}[{k}]"
        for name, part in zip(roles.features, parts)
        for k in range(1 if part.ndim == 1 else part.shape[1])
    ]
    return np.column_stack(parts), names
