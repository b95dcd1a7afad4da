"""What should be checked before a tree is trusted: columns that dominate all others, row numbers, missing values."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from arbora.reading.columns import NUMBER, Column, is_written_number, odd_cell
from arbora.reading.dataset import Dataset
from arbora.reading.roles import listed

# Columns dominate if together they hold this share of the variance, each this many times that of the next.
_SHARE = 0.95
_TIMES = 100.0
_FEWEST_ROWS = 4
_YEAR_2000, _YEAR_2050 = 946_684_800_000, 2_524_608_000_000


def warnings_of(data: Dataset, scale: str) -> list[str]:
    """Sentences for the reader of the data."""
    if data.kind != "vectors" or sp.issparse(data.values):
        return []
    values = np.asarray(data.values, dtype=np.float64)
    found = _missing(values, data) + _written_numbers(data) + _moments(values, data)
    if _is_one_vector(data):
        return found
    found += _counting(values, data)
    if scale == "none":
        found += _ruling(data)
    return found


def _written_numbers(data: Dataset) -> list[str]:
    """Columns of text that a reader would take for numbers: 12,345.67 or 35%, or with a word among them."""
    odd = {
        name: odd_cell(Column("text", values))
        for name, values in data.metadata.items()
        if values.dtype.kind == "O"
    }
    cells_of: dict[str, dict[str, str]] = {"text": {}, "written": {}, "mixed": {}}
    for name, cell in odd.items():
        if cell is not None:
            kind = "text" if NUMBER.fullmatch(cell) else "written" if is_written_number(cell) else "mixed"
            cells_of[kind][name] = cell
    found = []
    for kind, what, advice in (
        ("text", "numbers as text ({!r})", "Convert them"),
        ("written", "numbers with separators or units ({!r})", "Write them plainly"),
        ("mixed", "numbers but for cells such as {!r}", "Replace such cells"),
    ):
        cells = cells_of[kind]
        if cells:
            word, verb = ("column", "holds") if len(cells) == 1 else ("columns", "hold")
            found.append(
                f"{word} {listed(cells)} {verb} {what.format(next(iter(cells.values())))}, which are read as text and "
                f"not used. {advice} to cluster by them."
            )
    return found


def _moments(values: NDArray[Any], data: Dataset) -> list[str]:
    """Features that are moments in time, as pandas writes dates to JSON: milliseconds since 1970."""
    with np.errstate(invalid="ignore"):
        is_moment = ((values >= _YEAR_2000) & (values < _YEAR_2050) & (values == np.floor(values))).all(
            axis=0
        )
    columns = np.flatnonzero(is_moment)
    if len(columns) == 0 or len(values) < _FEWEST_ROWS:
        return []
    return [
        f"{_subject(data, columns)} {_verb(columns, 'look')} like dates in milliseconds since 1970, but "
        f"{_verb(columns, 'serve')} as features. drop= leaves columns out."
    ]


def _is_one_vector(data: Dataset) -> bool:
    """Whether the features are one column of vectors, whose numbers share a scale by design."""
    return data.feature_names is None and "vectors of" in data.roles.get("features", "")


def _names(data: Dataset, columns: NDArray[np.int64]) -> str:
    if data.feature_names is not None:
        return listed([data.feature_names[k] for k in columns])
    return ", ".join(str(k + 1) for k in columns[:8])


def _missing(values: NDArray[Any], data: Dataset) -> list[str]:
    bad = ~np.isfinite(values)
    if not bad.any():
        return []
    columns = np.flatnonzero(bad.any(axis=0))
    row = int(np.argmax(bad.any(axis=1)))
    return [
        f"{int(bad.sum()):,} missing or infinite values in {_columns(columns)} {_names(data, columns)}, the first in "
        f"row {row + 1} (counted from 1, without the header). Fill or remove them before clustering."
    ]


def _columns(columns: NDArray[np.int64]) -> str:
    return "column" if len(columns) == 1 else "columns"


def _subject(data: Dataset, columns: NDArray[np.int64]) -> str:
    return f"{_columns(columns)} {_names(data, columns)}"


def _verb(columns: NDArray[np.int64], verb: str) -> str:
    return f"{verb}s" if len(columns) == 1 else verb


def _counting(values: NDArray[Any], data: Dataset) -> list[str]:
    if len(values) < _FEWEST_ROWS or values.shape[1] < 2:
        return []
    found = [
        k
        for k in range(values.shape[1])
        if values[0, k] in (0, 1) and Column("number", values[:, k]).counts_rows()
    ]
    if not found:
        return []
    columns = np.array(found)
    return [
        f"{_subject(data, columns)} only {_verb(columns, 'number')} the rows, but {_verb(columns, 'serve')} as "
        "features. drop= leaves columns out."
    ]


def _ruling(data: Dataset) -> list[str]:
    """The sentence about columns whose spread, or whose size, decides every distance or angle."""
    facts = ruling_columns(data)
    if facts is None:
        return []
    return [
        f"{facts}, so that the others hardly count. scale='standard' or 'robust' gives all the same weight; "
        "drop= leaves columns out."
    ]


def ruling_columns(data: Dataset) -> str | None:
    """Which columns hold nearly all of the variance, or of the squared length; None where none do."""
    if data.kind != "vectors" or sp.issparse(data.values) or _is_one_vector(data):
        return None
    values = np.asarray(data.values, dtype=np.float64)
    if len(values) < 2 or values.shape[1] < 2:
        return None
    with np.errstate(invalid="ignore", over="ignore"):
        spread = np.nan_to_num(np.nanvar(values, axis=0), posinf=0.0)
        size = np.nan_to_num(np.nanmean(values**2, axis=0), posinf=0.0)
    for measure, what in ((spread, "variance"), (size, "squared length")):
        columns = _rulers(measure)
        if columns is not None:
            share = measure[columns].sum() / measure.sum()
            return f"{_subject(data, columns)} {_verb(columns, 'hold')} {share:.1%} of the {what}"
    return None


def _rulers(measure: NDArray[np.float64]) -> NDArray[np.int64] | None:
    order = np.argsort(-measure, kind="stable")
    ordered = measure[order]
    for count in range(1, len(ordered) // 2 + 1):
        # constant columns say nothing about the others
        following = ordered[count]
        if following > 0 and ordered[count - 1] >= _TIMES * following:
            return np.sort(order[:count]) if ordered[:count].sum() >= _SHARE * ordered.sum() else None
    return None
