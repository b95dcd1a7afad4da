"""Values of a column as they come (lists, NumPy, pandas, polars, Arrow), read as numbers, times or text."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arbora._base.arrays import is_missing

ValueKind = Literal["number", "integer", "boolean", "time", "duration", "text"]
_EPOCH = datetime.datetime(1970, 1, 1)


class Values(NamedTuple):
    """One value per leaf.

    `data` is float64 (NaN where missing; seconds since 1970 for times, seconds for durations) or, for text and
    booleans, an object array of str; `missing` marks what was not given.
    """

    kind: ValueKind
    data: NDArray[Any]
    missing: NDArray[np.bool_]


def read_values(values: Any, name: str, n_leaves: int) -> Values:
    """The values of one column; None, NaN, NaT, pandas' NA and masked entries are missing.

    Examples
    --------
    >>> from arbora.view.values import read_values
    >>> read_values(["x", None, "y"], "class", 3).missing.tolist()
    [False, True, False]
    >>> read_values([3, 1, 2], "count", 3).kind
    'integer'
    """
    masked = np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else None
    array = np.asarray(values)
    if array.shape != (n_leaves,):
        raise ValueError(
            f"Column {name!r} must have one value per leaf, shape ({n_leaves},). Got {array.shape}"
            + (f" of {type(values).__name__}." if array.shape == () else ".")
        )
    read = _read_objects(array) if array.dtype.kind == "O" else _read_plain(array)
    if masked is None:
        return read
    data = np.where(masked, np.nan, read.data) if read.data.dtype.kind == "f" else read.data
    return Values(read.kind, data, read.missing | masked)


def _read_plain(array: NDArray[Any]) -> Values:
    kind = array.dtype.kind
    if kind == "M":
        seconds = (array.astype("datetime64[us]") - np.datetime64(0, "us")) / np.timedelta64(1, "s")
        return Values("time", seconds, np.isnat(array))
    if kind == "m":
        return Values("duration", array / np.timedelta64(1, "s"), np.isnat(array))
    if kind == "f":
        return Values("number", array.astype(np.float64), ~np.isfinite(array))
    none = np.zeros(len(array), dtype=bool)
    if kind in "iu":
        return Values("integer", array.astype(np.float64), none)
    if kind == "b":
        return Values("boolean", array.astype(str).astype(object), none)
    if kind == "c":
        raise ValueError("Columns must hold real numbers, times or text. Got complex numbers.")
    return Values("text", array.astype(str).astype(object), none)


def _read_objects(array: NDArray[Any]) -> Values:
    missing = np.fromiter((is_missing(value) for value in array), dtype=bool, count=len(array))
    known = array[~missing]
    for kind, types in _TYPES.items():
        if len(known) and all(isinstance(value, types) for value in known):
            if kind == "number" and any(isinstance(value, (bool, np.bool_)) for value in known):
                continue
            return _typed(kind, known, missing)
    text = np.full(len(array), "", dtype=object)
    text[~missing] = [str(value) for value in known]
    return Values("text", text, missing)


def _typed(kind: ValueKind, known: NDArray[Any], missing: NDArray[np.bool_]) -> Values:
    if kind == "boolean":
        text = np.full(len(missing), "", dtype=object)
        text[~missing] = [str(bool(value)) for value in known]
        return Values(kind, text, missing)
    if kind == "number" and all(isinstance(value, (int, np.integer)) for value in known):
        kind = "integer"
    data = np.full(len(missing), np.nan)
    data[~missing] = [_seconds(value) if kind in ("time", "duration") else _number(value) for value in known]
    return Values(kind, data, missing | ~np.isfinite(data))


_TYPES: dict[ValueKind, tuple[type, ...]] = {
    "boolean": (bool, np.bool_),
    "number": (int, float, np.number, Decimal, Fraction),
    "time": (datetime.date, np.datetime64),
    "duration": (datetime.timedelta, np.timedelta64),
}


def _number(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _seconds(value: Any) -> float:
    if isinstance(value, np.datetime64):
        return float((value.astype("datetime64[us]") - np.datetime64(0, "us")) / np.timedelta64(1, "s"))
    if isinstance(value, np.timedelta64):
        return float(value / np.timedelta64(1, "s"))
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if not isinstance(value, datetime.datetime):
        return (datetime.datetime(value.year, value.month, value.day) - _EPOCH).total_seconds()
    # a time without a zone is shown as it is written, one with a zone in UTC
    return value.timestamp() if value.tzinfo is not None else (value - _EPOCH).total_seconds()
