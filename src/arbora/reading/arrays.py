"""NumPy files: arrays, archives of arrays, sparse matrices."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from arbora.errors import FormatError
from arbora.reading.contents import Contents
from arbora.reading.dataset import Dataset
from arbora.reading.graphs import graph_of_adjacency, graph_of_pairs
from arbora.reading.options import ReadOptions
from arbora.reading.roles import classes_of, listed
from arbora.reading.square import square_dataset

_MATRIX_KEYS = ("X", "data", "features", "embeddings", "logits", "arr_0", "x")
_LABEL_KEYS = ("y", "labels", "label", "target")
_NAME_KEYS = ("names", "name", "node_names", "ids")
_CLASS_KEYS = ("class_names", "classes", "target_names", "label_names")


def read_npy(contents: Contents, options: ReadOptions) -> Dataset:
    """One array; object arrays are refused, because reading them could run code."""
    array = load_array(contents)
    return _dataset(array, contents.name, "npy", {}, options)


def load_array(contents: Contents) -> NDArray[Any]:
    """The array of an .npy file."""
    try:
        source = contents.path if contents.path is not None else io.BytesIO(contents.raw)
        return np.asarray(np.load(source, allow_pickle=False))
    # a damaged header can make NumPy's parser raise almost anything
    except Exception as error:
        raise FormatError(f"{contents.name} is not a whole .npy file: {first_line(error)}") from error


def load_arrays(contents: Contents) -> dict[str, NDArray[Any]]:
    """The arrays of an .npz file."""
    try:
        source = contents.path if contents.path is not None else io.BytesIO(contents.raw)
        with zipfile.ZipFile(source) as archive:
            return {name.removesuffix(".npy"): _member(archive, name) for name in archive.namelist()}
    except Exception as error:
        raise FormatError(f"{contents.name} is not a whole .npz file: {first_line(error)}") from error


def _member(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    with archive.open(name) as file:
        return np.lib.format.read_array(file, allow_pickle=False)


def read_npz(contents: Contents, options: ReadOptions) -> Dataset:
    """An archive: a sparse matrix, a graph (rows, cols), or a matrix with labels and names."""
    arrays, name = load_arrays(contents), contents.name
    compressed, listed_entries = {"indices", "indptr", "shape", "data"}, {"row", "col", "shape", "data"}
    if options.use is None and (compressed <= set(arrays) or listed_entries <= set(arrays)):
        return _dataset(_sparse(contents), name, "npz", {}, options)
    if options.use is None and {"rows", "cols"} <= set(arrays):
        return _of_edges(arrays, name, options)
    key = options.use or next((key for key in _MATRIX_KEYS if key in arrays), None)
    if key is None and len(arrays) == 1:
        key = next(iter(arrays))
    if key is None or key not in arrays:
        wanted = f"no array {key!r} (use=)" if key is not None else "several arrays"
        raise ValueError(f"{name} has {wanted}. It holds {listed(sorted(arrays))}. Choose one with use=.")
    return _dataset(arrays[key], name, "npz", arrays, options, key)


def _sparse(contents: Contents) -> Any:
    try:
        return sp.load_npz(contents.path or io.BytesIO(contents.raw)).tocsr()
    except Exception as error:
        raise FormatError(f"{contents.name} is not a whole sparse matrix: {first_line(error)}") from error


def as_numbers(array: NDArray[Any], name: str) -> NDArray[Any]:
    """A matrix of numbers with one row per point; images become rows."""
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{name} holds {array.dtype}, not numbers.")
    if array.ndim == 0:
        raise ValueError(f"{name} holds a single number, not a matrix.")
    return array.reshape(len(array), -1) if array.ndim != 2 else array


def _dataset(
    array: Any,
    name: str,
    format: str,
    arrays: Mapping[str, NDArray[Any]],
    options: ReadOptions,
    key: str | None = None,
) -> Dataset:
    of_rows = _of_rows(arrays, array.shape[0] if array.ndim else 0, name, options)
    roles = {"features": "the array" if key is None else repr(key), **of_rows.pop("roles")}
    if sp.issparse(array) and array.shape[0] == array.shape[1] and options.kind in (None, "graph"):
        return graph_of_adjacency(array, name, format, options, **of_rows)
    square = None if sp.issparse(array) else square_dataset(array, name, format, options, of_rows["names"])
    if square is not None:
        return square
    values = array if sp.issparse(array) else as_numbers(array, name if key is None else f"{name} ({key})")
    class_names = next((arrays[one] for one in _CLASS_KEYS if _fits(arrays, one, values.shape[1])), None)
    names = None if class_names is None else [str(one) for one in class_names]
    if names is not None:
        roles["feature names"] = "the class names"
    return Dataset(values, "vectors", name, format, feature_names=names, roles=roles, **of_rows)


def _of_rows(arrays: Mapping[str, NDArray[Any]], n: int, name: str, options: ReadOptions) -> dict[str, Any]:
    """Labels and names among the arrays."""
    for wanted, option in ((options.label_column, "label_column"), (options.name_column, "name_column")):
        if wanted is not None and not _fits(arrays, wanted, n):
            raise ValueError(
                f"{name} has no array {wanted!r} ({option}=) of {n:,} values. It holds {listed(sorted(arrays))}."
            )
    label_key = options.label_column or next((key for key in _LABEL_KEYS if _fits(arrays, key, n)), None)
    name_key = options.name_column or next((key for key in _NAME_KEYS if _fits(arrays, key, n)), None)
    y = None if label_key is None else _named_classes(classes_of(arrays[label_key]), arrays)
    roles = {}
    if label_key is not None:
        roles["labels"] = repr(label_key)
    if name_key is not None:
        roles["names"] = repr(name_key)
    return {
        "y": y,
        "label_name": label_key,
        "names": None if name_key is None else [str(one) for one in arrays[name_key]],
        "roles": roles,
    }


def _named_classes(y: NDArray[Any], arrays: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    """Classes by name where the archive names them; -1 means no class."""
    names = next((arrays[key] for key in _CLASS_KEYS if key in arrays and arrays[key].ndim == 1), None)
    if names is None or y.dtype.kind not in "iu" or not len(y) or y.max() >= len(names) or y.min() < -1:
        return y
    found = np.empty(len(y), dtype=object)
    found[:] = [None if k < 0 else str(names[k]) for k in y.tolist()]
    return found


def _fits(arrays: Mapping[str, NDArray[Any]], key: str, n: int) -> bool:
    return key in arrays and arrays[key].shape == (n,)


def _of_edges(arrays: Mapping[str, NDArray[Any]], name: str, options: ReadOptions) -> Dataset:
    rows, cols = arrays["rows"].astype(np.int64), arrays["cols"].astype(np.int64)
    weights = np.asarray(arrays.get("weights", np.ones(len(rows))), dtype=np.float64)
    n = int(arrays["n"]) if "n" in arrays else int(max(rows.max(initial=-1), cols.max(initial=-1)) + 1)
    of_rows = _of_rows(arrays, n, name, options)
    return graph_of_pairs(np.column_stack([rows, cols]), weights, n, name, "npz", **of_rows)


def first_line(error: BaseException) -> str:
    """The first line of an error, not too long."""
    return str(error).splitlines()[0][:200] if str(error) else type(error).__name__
