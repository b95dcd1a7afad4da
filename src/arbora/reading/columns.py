"""What a column holds: numbers, vectors, dates or text. Decided by its values, never by its name."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Complex, Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from arbora._base.arrays import package_of, refuse_mask

# The words that pandas takes for a missing value.
MISSING_WORDS = frozenset(
    {"", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA"}
    | {"NULL", "NaN", "None", "n/a", "nan", "null"}
)  # fmt: skip
NUMBER = re.compile(
    r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|inf|infinity|nan)", re.ASCII | re.IGNORECASE
)
# Whole numbers beyond this are not all exact in double precision: two of them may become one.
MOST_EXACT = 2**53
# Numbers that are written for people: with separators of thousands, or with a unit after or before them.
_WRITTEN_NUMBER = re.compile(
    r"[-+]?[$€£]?\d{1,3}(?:[,.' \u00a0]\d{3})+(?:[.,]\d+)?\s?[%$€£]?"
    r"|[-+]?\d+(?:[.,]\d+)?\s?[%$€£]"
    r"|[-+]?[$€£]\s?\d+(?:[.,]\d+)?"
    r"|\u2212\d+(?:[.,]\d+)?|[-+]?\d+,\d+"
    r"|\(\d+(?:[.,]\d+)?\)"
)
# Share of words among the numbers of a column that was meant to hold numbers, and of one word that returns.
_FEW_WORDS, _ONE_WORD = 0.1, 0.5
_SAMPLED = 200
_WHOLE = re.compile(r"[-+]?\d+", re.ASCII)
_NO_NUMBER = re.compile(r"[\W_]+|#[A-Z0-9/]+[!?]")
_VECTOR = re.compile(r"\[[-+\s\d.,eEnaifNAIF]*\]")
_DATE = re.compile(
    r"\d{4}[-/]\d{2}[-/]\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
)

# Day, month and year, as much of Europe writes them; with slashes either order is in use, so those stay text.
_DOTTED_DATE = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})")


@dataclass(frozen=True)
class Column:
    """Values of one kind, one per row.

    Whole numbers beyond 2^53, of which several are one in double precision, are text: they identify something.
    ``number``: float64[n], NaN where missing. ``vector``: float[n, d]. ``date``: datetime64[n]. ``text``: object[n]
    of str, None where missing. ``empty``: all missing.
    """

    kind: Literal["number", "vector", "date", "text", "empty"]
    values: NDArray[Any]

    @property
    def is_whole(self) -> bool:
        """Whether these are whole numbers, none missing."""
        if self.kind != "number":
            return False
        with np.errstate(invalid="ignore"):
            return bool(np.all(np.isfinite(self.values)) and np.all(self.values == np.floor(self.values)))

    @property
    def is_distinct(self) -> bool:
        """Whether no two rows share a value and none is missing."""
        values = self.values.tolist()
        return None not in values and len(set(values)) == len(values) and self.kind in ("number", "text")

    def counts_rows(self) -> bool:
        """Whether the values are the rows' numbers, from 0 or from 1."""
        if not self.is_whole or len(self.values) == 0:
            return False
        start = self.values[0]
        return start in (0, 1) and np.array_equal(self.values, start + np.arange(len(self.values)))

    def words(self) -> list[str]:
        """One string per row; whole numbers without a decimal point, missing values empty."""
        return [as_word(value) for value in self.values.tolist()]


def names_of(levels: Sequence[Column]) -> list[str] | None:
    """Names of rows by the columns that hold them: one word, or of several what pandas calls a row of a MultiIndex."""
    present = [level for level in levels if level.kind != "empty"]
    if len(present) < 2:
        return present[0].words() if present else None
    parts = [
        [int(value) for value in level.values.tolist()] if level.is_whole else level.words()
        for level in present
    ]
    return [str(row) for row in zip(*parts)]


def without_names(columns: dict[str, Column], n_names: int) -> tuple[dict[str, Column], list[str] | None]:
    """The columns without the first `n_names`, and what these call the rows."""
    listed = list(columns.items())
    return dict(listed[n_names:]), names_of([column for _, column in listed[:n_names]])


def as_word(value: Any) -> str:
    """A value as people write it."""
    if is_missing(value):
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, or pandas' or NumPy's missing value."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and bool(value != value)


def odd_cell(column: Column) -> str | None:
    """A cell that keeps a column of text from being one of numbers; None where not nearly all cells are numbers.

    Cells in which a reader sees a number count as such. One that is not plain is returned, best one without a number;
    where all are plain, one with decimals: whole numbers as text may be meant to identify.

    Examples
    --------
    >>> from arbora.reading.columns import column_of, odd_cell
    >>> odd_cell(column_of(["950", "1,200", "12,000"], "rent")), odd_cell(column_of(["flat", "house"], "kind"))
    ('1,200', None)
    >>> odd_cell(column_of(["9.5", "12"], "rent")), odd_cell(column_of(["9.5", "-", "12", "-"], "rent"))
    ('9.5', '-')
    """
    if column.kind != "text":
        return None
    cells = [str(value).strip() for value in column.values.tolist() if value is not None]
    # a few rows tell most columns of text
    if not (_are_nearly_numbers(cells[:_SAMPLED]) and _are_nearly_numbers(cells)):
        return None
    odd = [cell for cell in cells if not NUMBER.fullmatch(cell)]
    words = _words_among(cells)
    return next(iter(words or odd), None) or next((one for one in cells if not _WHOLE.fullmatch(one)), None)


def _words_among(cells: list[str]) -> list[str]:
    """Cells in which no reader sees a number."""
    return [cell for cell in cells if not NUMBER.fullmatch(cell) and not is_written_number(cell)]


def _are_nearly_numbers(cells: list[str]) -> bool:
    """Whether there are few words among the cells, or only words that say there is no number.

    Those are signs alone (``-``), a spreadsheet's errors (``#DIV/0!``) and one word that returns (``n.d.``).
    """
    words = _words_among(cells)
    only_signs = all(_NO_NUMBER.fullmatch(word) for word in words)
    is_placeholder = only_signs or (len(words) > 1 and len(set(words)) == 1)
    are_classes = bool(words) and 2 * len(set(cells)) < len(cells)
    return not are_classes and len(words) <= (_ONE_WORD if is_placeholder else _FEW_WORDS) * len(cells)


def is_written_number(cell: str) -> bool:
    """Whether this is a number with separators of thousands, a unit or a sign that programs do not write."""
    return _WRITTEN_NUMBER.fullmatch(cell) is not None


def column_of(values: Any, name: str) -> Column:
    """The column of an array, a Series of pandas or polars, an Arrow array or a list."""
    array = _as_array(values, name)
    if array.ndim == 2 and array.dtype.kind in "biuf":
        return Column("vector", array)
    if array.ndim != 1:
        raise ValueError(f"Column {name!r} must have one value per row. Got shape {array.shape}.")
    if array.dtype.kind in "iu" and len(array) and not is_exact(int(array.min()), int(array.max())):
        return Column("text", _objects(str(value) for value in array.tolist()))
    if array.dtype.kind in "biuf":
        return Column("number", array.astype(np.float64))
    if array.dtype.kind in "mM":
        return Column("date", array)
    return _of_objects(array.tolist(), name)


def is_exact(*numbers: int) -> bool:
    """Whether whole numbers, and all between them, are told apart in double precision."""
    return all(abs(number) <= MOST_EXACT for number in numbers)


def of_text(cells: Sequence[str | None], name: str) -> Column:
    """The column of cells of text, None where missing: vectors in brackets and dates in ISO form are recognized."""
    present = [cell for cell in cells if cell is not None]
    if not present:
        return Column("empty", _objects(cells))
    if all(_VECTOR.fullmatch(cell) for cell in present):
        return _vectors([None if cell is None else _bracketed(cell, name) for cell in cells], name)
    if all(_DATE.fullmatch(cell) or _DOTTED_DATE.fullmatch(cell) for cell in present):
        dates = _dates(cells)
        if dates is not None:
            return Column("date", dates)
    return Column("text", _objects(cells))


def _as_array(values: Any, name: str) -> NDArray[Any]:
    package = package_of(values)
    if package == "pyarrow":
        return _of_arrow(values)
    if package == "pandas":
        return _of_pandas(values)
    if package == "polars":
        is_struct = type(values.dtype).__name__ == "Struct"
        if is_struct or (values.dtype.is_integer() and values.null_count()):
            return _objects(values.to_list())
        return np.asarray(values.to_numpy())
    if isinstance(values, np.ndarray):
        refuse_mask(values, f"Column {name!r}")
        return values
    if isinstance(values, (list, tuple)):
        return _objects(values)
    raise TypeError(f"Column {name!r} must be an array, a Series or a list. Got {type(values).__name__}.")


def _of_arrow(values: Any) -> NDArray[Any]:
    import pyarrow as pa

    array = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    kind = array.type
    if pa.types.is_dictionary(kind):
        array = array.dictionary_decode()
        kind = array.type
        if pa.types.is_integer(kind) or pa.types.is_floating(kind):
            return _words_of_categories(array.to_pylist())
    is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    if is_list and array.null_count == 0 and len(array):
        flat = array.flatten()
        numeric = pa.types.is_floating(flat.type) or pa.types.is_integer(flat.type)
        if numeric and flat.null_count == 0 and len(set(array.value_lengths().to_pylist())) == 1:
            return np.asarray(flat.to_numpy(zero_copy_only=False)).reshape(len(array), -1)
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        array = array.cast(pa.timestamp(kind.unit))
    if pa.types.is_decimal(kind):
        array = array.cast(pa.float64())
    has_no_integer = pa.types.is_integer(kind) and array.null_count > 0
    if has_no_integer or pa.types.is_boolean(kind) or is_list or pa.types.is_nested(kind):
        return _objects(array.to_pylist())
    return np.asarray(array.to_numpy(zero_copy_only=False))


def _of_pandas(series: Any) -> NDArray[Any]:
    dtype = series.dtype
    if type(dtype).__name__ == "ArrowDtype":
        return _of_arrow(series.array.__arrow_array__())
    if type(dtype).__name__ == "CategoricalDtype" and dtype.categories.dtype.kind in "biuf":
        return _words_of_categories(series.tolist())
    if type(dtype).__name__ == "DatetimeTZDtype":
        # in UTC, of a Series as of an Index
        return np.asarray(series.to_numpy(dtype=f"datetime64[{dtype.unit}]"))
    if hasattr(dtype, "na_value") and getattr(dtype, "kind", "O") in "iu":
        missing = series.isna().to_numpy()
        whole = series.to_numpy(dtype=f"{dtype.kind}8", na_value=0)
        return np.asarray(np.where(missing, None, whole) if missing.any() else whole)
    if hasattr(dtype, "na_value") and getattr(dtype, "kind", "O") in "biuf":
        # nullable numbers: missing ones become NaN
        return np.asarray(series.to_numpy(dtype=np.float64, na_value=np.nan))
    return np.asarray(series.to_numpy())


def _words_of_categories(values: list[Any]) -> NDArray[Any]:
    """Categories that are numbers, as text: what was declared a category is no measurement."""
    return _objects(None if is_missing(value) else as_word(value) for value in values)


def _objects(values: Iterable[Any]) -> NDArray[Any]:
    """A one-dimensional array of objects, also of lists, which NumPy would turn into a matrix."""
    listed = list(values)
    array = np.empty(len(listed), dtype=object)
    for place, value in enumerate(listed):
        array[place] = value
    return array


def _of_objects(values: list[Any], name: str) -> Column:
    present = [value for value in values if not is_missing(value)]
    cells = [None if is_missing(value) else value for value in values]
    if not present:
        return Column("empty", _objects(cells))
    if all(isinstance(value, (int, np.integer)) for value in present) and not is_exact(*present):
        return Column("text", _objects(None if value is None else str(value) for value in cells))
    if all(isinstance(value, (Real, Decimal, np.bool_)) for value in present):
        return Column("number", np.array([np.nan if value is None else float(value) for value in cells]))
    if any(isinstance(value, Complex) and not isinstance(value, Real) for value in present):
        raise ValueError(
            f"Column {name!r} holds complex numbers. Pass real and imaginary parts as two columns."
        )
    if all(isinstance(value, (list, tuple, np.ndarray)) for value in present):
        return _vectors(cells, name)
    if all(isinstance(value, (datetime.date, np.datetime64)) for value in present):
        return Column("date", np.array([_naive(value) for value in cells], dtype="datetime64[us]"))
    if all(isinstance(value, (str, bytes)) for value in present):
        return of_text([_text(value) for value in cells], name)
    return Column("text", _objects(None if value is None else str(value) for value in cells))


def _text(value: Any) -> str | None:
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    return None if text is None or text in MISSING_WORDS else str(text)


def _naive(value: Any) -> Any:
    """A date without its zone, in UTC."""
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return value.astimezone(datetime.UTC).replace(tzinfo=None)
    return value


def _vectors(cells: Sequence[Any], name: str) -> Column:
    """Vectors of equal length as one matrix; lists of anything else stay text."""
    if any(cell is None for cell in cells):
        missing = [place for place, cell in enumerate(cells) if cell is None]
        raise ValueError(
            f"Column {name!r} holds vectors, but {len(missing):,} rows have none, the first row {missing[0] + 1}."
        )
    try:
        lengths = {len(cell) for cell in cells}
        if len(lengths) > 1:
            raise ValueError(
                f"Column {name!r} holds vectors of different lengths, {min(lengths)} to {max(lengths)}."
            )
        matrix = np.array([np.asarray(cell) for cell in cells])
    except TypeError:
        matrix = np.empty((0, 0, 0))
    if matrix.dtype.kind == "O" and all(isinstance(x, (Real, type(None))) for x in matrix.ravel()):
        matrix = matrix.astype(np.float64)
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
        return Column("text", _objects(str(cell) for cell in cells))
    return Column("vector", matrix)


def _bracketed(cell: str, name: str) -> list[float]:
    if "..." in cell:
        raise ValueError(
            f"Column {name!r} holds vectors that were shortened ('...') when the file was written. "
            "Write it with all numbers, for example as Parquet or with json.dumps."
        )
    return [float(number) for number in cell[1:-1].replace(",", " ").split()]


def _dates(cells: Sequence[str | None]) -> NDArray[Any] | None:
    try:
        parsed = [None if cell is None else _naive(_parsed_date(cell)) for cell in cells]
    except ValueError:
        return None
    dates = np.array(parsed, dtype="datetime64[us]")
    whole_days = dates.astype("datetime64[D]")
    return whole_days if np.array_equal(whole_days.astype("datetime64[us]"), dates, equal_nan=True) else dates


def _parsed_date(cell: str) -> datetime.datetime:
    dotted = _DOTTED_DATE.fullmatch(cell)
    if dotted is not None:
        day, month, year = (int(part) for part in dotted.groups())
        return datetime.datetime(year, month, day)
    return datetime.datetime.fromisoformat(cell.replace("/", "-").replace("Z", "+00:00"))
