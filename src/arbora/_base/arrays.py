"""What counts as a matrix of numbers: arrays, sparse matrices, tensors, and frames of pandas, polars and Arrow.

Nothing is guessed: a column of text, a masked entry, an imaginary part or a missing value is refused, by name.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from arbora._base.memory import refuse_if_too_large

_NUMBERS = "biuf"
_FRAMES = ("pandas", "polars", "pyarrow")


class Matrix(NamedTuple):
    """Numbers with the names that came with them."""

    values: NDArray[Any]
    row_names: list[str] | None
    column_names: list[str] | None


def as_vectors(data: Any, *, argument: str = "X", dtype: DTypeLike | None = np.float64) -> NDArray[Any]:
    """Rows of finite numbers as a dense C-ordered array, or an error that says what was passed instead.

    ``dtype=None`` makes float16 and float32 float32, and everything else float64. The caller's array is never changed;
    it is returned itself where nothing has to be converted.
    """
    array = as_matrix(data, argument=argument).values
    if 0 in array.shape:
        raise ValueError(_words_for_empty(array.shape, argument))
    if dtype is None:
        dtype = np.float32 if array.dtype in (np.float32, np.float16) else np.float64
    array = np.ascontiguousarray(array, dtype=dtype)
    check_finite(array, argument)
    return array


def as_sparse(data: Any, *, argument: str = "X") -> Any:
    """A CSR copy of a sparse matrix in any format, of finite real numbers: float32 where it was, otherwise float64."""
    import scipy.sparse as sp

    if data.ndim != 2 or 0 in data.shape:
        raise ValueError(f"{argument} must be a matrix and must not be empty. Got shape {data.shape}.")
    if data.dtype.kind == "c":
        raise ValueError(
            f"{argument} must hold real numbers. Complex data not supported: dtype {data.dtype}."
        )
    if data.dtype.kind not in _NUMBERS:
        raise TypeError(f"{argument} must hold real numbers. Got dtype {data.dtype}.")
    dtype = np.float32 if data.dtype == np.float32 else np.float64
    rows = sp.csr_array(data.tocsr(), dtype=dtype, copy=True)
    with np.errstate(over="ignore"):
        rows.sum_duplicates()
    rows.sort_indices()
    # half the memory, and what compiled code elsewhere expects
    if max(*rows.shape, rows.nnz) < 2**31:
        rows.indices, rows.indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
    is_finite = np.isfinite(rows.data)
    if not is_finite.all():
        place = int(np.argmin(is_finite))
        row = int(np.searchsorted(rows.indptr, place, side="right")) - 1
        raise ValueError(
            f"{argument} must be finite. It holds {int((~is_finite).sum()):,} NaN or infinite values, the first in "
            f"row {row}, column {int(rows.indices[place])} (counted from 0). Remove or impute them."
        )
    return rows


def as_matrix(data: Any, *, argument: str = "X") -> Matrix:
    """A matrix of real numbers with the names of its rows and columns, where it has them; not yet checked for NaN."""
    frame = _frame(data, argument)
    if frame is not None:
        return frame
    if hasattr(data, "toarray") and hasattr(data, "nnz"):
        return Matrix(_real(_dense(data, argument), argument), None, None)
    return Matrix(_two_dimensional(_real(_plain_array(data, argument), argument), argument), None, None)


def _dense(data: Any, argument: str) -> NDArray[Any]:
    """All values of a sparse matrix, zeros included; refused where they would not fit."""
    n_rows, n_columns = data.shape
    refuse_if_too_large(
        8 * n_rows * n_columns,
        f"The values of {argument}, zeros included ({n_rows} x {n_columns}),",
        "Reduce its columns first, for example with scikit-learn's TruncatedSVD.",
    )
    return np.asarray(data.toarray())


def row_names(data: Any) -> list[str] | None:
    """Names that come with data: the index of a pandas frame unless it merely counts, the `obs_names` of AnnData."""
    if is_dataset(data):
        names: list[str] | None = data.names
        return names
    index = getattr(data, "obs_names", None)
    if index is None:
        index = getattr(data, "index", None)
    if index is None or callable(index) or _counts_from_zero(index):
        return None
    values = [str(value) for value in index]
    if values == [str(number) for number in range(len(values))]:
        return None
    return values


def _counts_from_zero(index: Any) -> bool:
    """Whether this is the index that pandas gives rows without names; that of some of its rows tells them apart."""
    return type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1


def _words_for_empty(shape: tuple[int, ...], argument: str) -> str:
    # scikit-learn's checks of estimators ask for these words
    n, d = shape
    missing = f"0 sample(s) (shape={shape})" if n == 0 else f"0 feature(s) (shape=({n}, {d}))"
    return f"{argument} must not be empty. Got {missing} while a minimum of 1 is required."


def is_missing(value: Any) -> bool:
    """Whether a value means "missing": None, NaN, NaT, pandas.NA, polars' and Arrow's null."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, (float, np.floating, np.datetime64, np.timedelta64)):
        return bool(value != value)
    # pyarrow scalars say so themselves
    return getattr(value, "is_valid", True) is False


def check_finite(values: NDArray[Any], argument: str) -> None:
    """Raise on NaN or infinity, naming the first offending row and column."""
    finite = np.isfinite(values)
    if finite.all():
        return
    row, *column = (int(index) for index in np.argwhere(~finite)[0])
    count = int((~finite).sum())
    where = f"row {row}, column {column[0]}" if column else f"row {row}"
    raise ValueError(
        f"{argument} must be finite. It holds {count:,} NaN or infinite values, the first in {where} (counted from 0). "
        "Remove or impute them."
    )


def validated(estimator: Any, X: Any, **options: Any) -> Any:
    """scikit-learn's `validate_data`, which also refuses a mask, names X, and knows what `arbora.read` returns."""
    refuse_mask(X, "X")
    try:
        if is_dataset(X):
            return _validated_dataset(estimator, X, **options)
        return _validate_data(estimator, without_gradient(X), **options)
    except (TypeError, ValueError) as error:
        if "X" in str(error).split():
            raise
        raise type(error)(f"X cannot be used. {error}") from error


def _validate_data(estimator: Any, X: Any, **options: Any) -> Any:
    from sklearn.utils.validation import validate_data

    return validate_data(estimator, X, **options)


def _validated_dataset(estimator: Any, data: Any, *, reset: bool = True, **options: Any) -> Any:
    """The values of a dataset, whose names of features are recorded or compared as those of a frame are."""
    from sklearn.utils.validation import check_array

    names, known = data.feature_names, getattr(estimator, "feature_names_in_", None)
    if not reset and names is not None and known is not None:
        check_same_features(known.tolist(), names)
        return check_array(np.asarray(data), estimator=estimator, **options)
    values = _validate_data(estimator, np.asarray(data), reset=reset, **options)
    if reset and names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    return values


def check_same_features(known: list[str], names: list[str]) -> None:
    """Refuse new rows whose features are not, in order, those of the fit."""
    if known != names:
        fit, new = (", ".join(map(repr, some[:6])) + ", ..." * (len(some) > 6) for some in (known, names))
        raise ValueError(
            f"The feature names should match those that were passed during fit. Fit saw {fit}; X has {new}."
        )


def refuse_mask(data: Any, argument: str) -> None:
    """Raise where entries are masked: as numbers they would be taken for data."""
    if isinstance(data, np.ma.MaskedArray) and np.ma.getmaskarray(data).any():
        raise ValueError(f"{argument} has masked entries. Fill or remove them: a mask cannot be clustered.")


# ---- arrays --------------------------------------------------------------------------------------------------


def without_gradient(data: Any) -> Any:
    """A dense tensor of PyTorch as an array, bfloat16 as float32; anything else as it is."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(data, torch.Tensor) or data.layout != torch.strided:
        return data
    tensor = data.detach().cpu()
    return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy()


def _plain_array(data: Any, argument: str) -> NDArray[Any]:
    data = without_gradient(data)
    if isinstance(data, (str, bytes)):
        raise TypeError(
            f"{argument} must be an array of numbers. Got a string; arbora.read(path) reads files."
        )
    if isinstance(data, Mapping):
        raise TypeError(
            f"{argument} must be an array of numbers. Got a mapping; arbora.read(mapping) reads one of columns."
        )
    if data is None:
        raise TypeError(f"{argument} must be an array of numbers. Got None.")
    refuse_mask(data, argument)
    try:
        return np.asarray(data)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{argument} must be a rectangular array of numbers: {error}") from error


def _real(array: NDArray[Any], argument: str) -> NDArray[Any]:
    """The array if it holds real numbers; objects that are all numbers become floats."""
    if array.dtype.kind in _NUMBERS or array.dtype.name in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
        return array if array.dtype.kind in _NUMBERS else array.astype(np.float32)
    if array.dtype.kind == "O":
        return _numbers_of_objects(array, argument)
    if array.dtype.names is not None:
        raise TypeError(
            f"{argument} is a structured array with fields {list(array.dtype.names)}. Pass one array."
        )
    if array.dtype.kind == "c":
        raise ValueError(
            f"{argument} must hold real numbers. Complex data not supported: dtype {array.dtype}. "
            "Pass the real parts, or real and imaginary parts side by side."
        )
    raise TypeError(f"{argument} must hold real numbers. Got dtype {array.dtype}.")


def _numbers_of_objects(array: NDArray[Any], argument: str) -> NDArray[Any]:
    converted = np.empty(array.shape, dtype=np.float64)
    for place, value in np.ndenumerate(array):
        try:
            if isinstance(value, (str, bytes)):
                raise TypeError("text is not converted to numbers")
            converted[place] = np.nan if value is None else float(value)
        except (TypeError, ValueError, OverflowError) as problem:
            where = " and column ".join(str(index) for index in place)
            raise TypeError(
                f"{argument} must hold real numbers. "
                f"The entry in row {where} is a {type(value).__name__}, {value!r:.60}: {problem}."
            ) from None
    return converted


def _two_dimensional(array: NDArray[Any], argument: str) -> NDArray[Any]:
    if array.ndim != 2:
        hint = (
            f" Reshape your data: {argument}.reshape(-1, 1) for a single feature, {argument}.reshape(1, -1) for a "
            "single point."
            if array.ndim == 1
            else ""
        )
        raise ValueError(f"{argument} must have shape (n_points, n_features). Got {array.shape}.{hint}")
    return array


# ---- frames --------------------------------------------------------------------------------------------------


def frame_columns(data: Any) -> dict[str, Any] | None:
    """Columns of a frame of pandas, polars or Arrow by name, repeated names made distinct; None for anything else."""
    package = package_of(data)
    if package == "pandas" and hasattr(data, "columns"):
        names = distinct_names(data.columns)
        return {name: data.iloc[:, k] for k, name in enumerate(names)}
    if package == "polars" and hasattr(data, "get_columns"):
        return {column.name: column for column in data.get_columns()}
    if package == "pyarrow" and hasattr(data, "column_names"):
        return dict(zip(distinct_names(data.column_names), data.columns))
    return None


def package_of(data: Any) -> str:
    """Package that a frame or column is of; one of a subclass (a view of AnnData, geopandas) is of pandas' too."""
    packages = [one.__module__.split(".")[0] for one in type(data).__mro__]
    return next((package for package in packages if package in _FRAMES), packages[0])


def distinct_names(names: Iterable[Any]) -> list[str]:
    """Names as text, in order; one that returns gets a number, so that no column takes another's place.

    Examples
    --------
    >>> from arbora._base.arrays import distinct_names
    >>> distinct_names(["a", "b", "a", "a.1"])
    ['a', 'b', 'a.2', 'a.1']
    """
    given = [str(name) for name in names]
    as_given, taken, found = set(given), set[str](), []
    for name in given:
        distinct, number = name, 0
        while distinct in taken or (number and distinct in as_given):
            number += 1
            distinct = f"{name}.{number}"
        taken.add(distinct)
        found.append(distinct)
    return found


def _frame(data: Any, argument: str) -> Matrix | None:
    """Matrix of a pandas, polars or Arrow frame, of a Series of vectors, or of what `arbora.read` returns."""
    if is_dataset(data):
        return _of_dataset(data, argument)
    if is_cells(data):
        raise TypeError(
            f"{argument} holds cells. Pass arbora.read(cells), or vectors such as cells.obsm['X_pca']."
        )
    columns = frame_columns(data)
    if columns is not None:
        return Matrix(_columns(columns, argument), row_names(data), list(columns))
    package = package_of(data)
    if package == "pandas" and hasattr(data, "iloc"):
        return Matrix(_two_dimensional(_series(data, argument, "it"), argument), row_names(data), None)
    if package == "polars" and hasattr(data, "to_list"):
        return Matrix(_two_dimensional(_series(data, argument, "it"), argument), None, None)
    return None


def is_dataset(data: Any) -> bool:
    """Whether this is what `arbora.read` returns, which lives in a layer above this one."""
    return type(data).__module__ == "arbora.reading.dataset"


def is_cells(data: Any) -> bool:
    """Whether this is an AnnData object of cells."""
    return hasattr(data, "obsm") and hasattr(data, "obs") and hasattr(data, "var_names")


def unwrap(data: Any) -> tuple[Any, list[str] | None]:
    """What to cluster, and the names that come with it: a dataset opens to its vectors or its similarity."""
    if is_dataset(data):
        return data.as_input(), data.names
    return data, row_names(data)


def _of_dataset(data: Any, argument: str) -> Matrix:
    if data.kind != "vectors":
        raise TypeError(f"{argument} must be vectors. {data.source} holds a {data.kind}.")
    values = _dense(data.values, argument) if hasattr(data.values, "toarray") else data.values
    return Matrix(_real(values, argument), data.names, data.feature_names)


def _columns(columns: dict[str, Any], argument: str) -> NDArray[Any]:
    if not columns:
        raise ValueError(f"{argument} is a frame without columns.")
    parts, unusable = [], []
    for name, column in columns.items():
        try:
            parts.append(_series(column, argument, f"column {name!r}"))
        except TypeError:
            unusable.append(name)
    if unusable:
        shown = ", ".join(map(repr, unusable[:6])) + (", ..." if len(unusable) > 6 else "")
        raise TypeError(
            f"{argument} has columns that are not numbers: {shown}. Pass only the columns to cluster by, or read the "
            "file with arbora.read, which says what it takes for features, labels, names and texts."
        )
    return np.column_stack(parts)


def _series(column: Any, argument: str, what: str) -> NDArray[Any]:
    """One column as numbers: float64[n], or float[n, d] for a column of vectors. Missing values become NaN."""
    values = _values(column)
    if values.dtype.kind in _NUMBERS:
        return values
    if values.dtype.kind == "O" and len(values) and all(_is_vector(value) for value in values):
        lengths = {len(value) for value in values}
        if len(lengths) != 1:
            raise ValueError(
                f"{argument}: {what} holds vectors of different lengths, {min(lengths)} to {max(lengths)}."
            )
        return _real(np.array([np.asarray(value) for value in values]), argument)
    return _real(values, argument)


def _values(column: Any) -> NDArray[Any]:
    kind = str(getattr(column, "dtype", getattr(column, "type", ""))).lower()
    if any(word in kind for word in ("date", "time", "duration")):
        raise TypeError("dates are not features")
    package = package_of(column)
    if package == "pyarrow":
        column = column.combine_chunks() if hasattr(column, "combine_chunks") else column
        return np.asarray(column.to_numpy(zero_copy_only=False))
    if package == "pandas" and hasattr(column.dtype, "na_value") and column.dtype.kind in _NUMBERS:
        # nullable numbers: missing ones become NaN
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    return np.asarray(column.to_numpy())


def _is_vector(value: Any) -> bool:
    return isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, (str, bytes))
