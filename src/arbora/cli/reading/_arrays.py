"""NumPy files: arrays, archives of arrays, sparse matrices, and arbora's own trees."""

from __future__ import annotations

import io
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from arbora.cli._exit import Unreadable, Unusable
from arbora.cli.reading._data import Data, ReadOptions
from arbora.tree import Tree

_MATRIX_KEYS = ("X", "data", "features", "embeddings", "logits", "arr_0", "x")
_LABEL_KEYS = ("y", "labels", "label", "target")
_NAME_KEYS = ("names", "name", "node_names")


def read_npy(raw: bytes, name: str, options: ReadOptions) -> Data:
    """One array; object arrays are refused, because reading them could run code."""
    try:
        array = np.load(io.BytesIO(raw), allow_pickle=False)
    except (ValueError, EOFError, OSError, SyntaxError) as error:
        raise Unreadable(f"{name} is not a whole .npy file: {_first_line(error)}") from error
    return Data("vectors", as_matrix(array, name), name, "npy")


def read_npz(raw: bytes, name: str, options: ReadOptions) -> Data:
    """An archive: a tree that arbora saved, a sparse matrix, a graph (rows, cols), or a labeled matrix."""
    try:
        with np.load(io.BytesIO(raw), allow_pickle=False) as file:
            arrays = {key: file[key] for key in file.files}
    except (ValueError, EOFError, OSError, zipfile.BadZipFile, SyntaxError, KeyError) as error:
        raise Unreadable(f"{name} is not a whole .npz file: {_first_line(error)}") from error
    if "parent" in arrays and "n_leaves" in arrays:
        return Data("tree", _saved_tree(raw, name), name, "npz")
    if {"indices", "indptr", "shape", "data"} <= set(arrays) or {"row", "col", "shape", "data"} <= set(
        arrays
    ):
        return _from_matrix(sp.load_npz(io.BytesIO(raw)).tocsr(), name, "npz", {})
    if {"rows", "cols"} <= set(arrays):
        return _from_edges(arrays, name)
    key = options.key or next((key for key in _MATRIX_KEYS if key in arrays), None)
    if key is None and len(arrays) == 1:
        key = next(iter(arrays))
    if key is None or key not in arrays:
        raise Unreadable(f"{name} holds {', '.join(sorted(arrays)[:12])}. Say which with --key NAME.")
    return _from_matrix(as_matrix(arrays[key], f"{name} ({key})"), name, "npz", arrays, options)


def as_matrix(array: np.ndarray, name: str) -> np.ndarray:
    """A two-dimensional matrix of numbers."""
    if array.dtype.kind not in "fiub":
        raise Unusable(f"{name} holds {array.dtype}, not numbers.")
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim > 2:
        array = array.reshape(len(array), -1)  # images: one row each
    if array.ndim != 2:
        raise Unusable(f"{name} must be a matrix. Got shape {array.shape}.")
    return array


def _saved_tree(raw: bytes, name: str) -> Tree:
    """A tree that arbora saved; its reader, and its checks, work on files."""
    if Path(name).is_file():
        return Tree.load(name)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tree.npz"
        path.write_bytes(raw)
        return Tree.load(path)


def _from_matrix(
    matrix: Any, name: str, format: str, arrays: dict[str, np.ndarray], options: ReadOptions | None = None
) -> Data:
    n = matrix.shape[0]
    label_key = options.label_column if options is not None and options.label_column else None
    if label_key is not None and label_key not in arrays:
        raise Unreadable(f"{name} has no array {label_key!r}: {', '.join(sorted(arrays)[:12])}.")
    label_key = label_key or next((key for key in _LABEL_KEYS if _fits(arrays, key, n)), None)
    name_key = next((key for key in _NAME_KEYS if _fits(arrays, key, n)), None)
    kind = "graph" if sp.issparse(matrix) and matrix.shape[0] == matrix.shape[1] else "vectors"
    return Data(
        kind,
        matrix,
        name,
        format,
        labels=None if label_key is None else np.asarray(arrays[label_key]),
        label_name=label_key,
        names=None if name_key is None else [str(one) for one in arrays[name_key]],
    )


def _fits(arrays: dict[str, np.ndarray], key: str, n: int) -> bool:
    return key in arrays and arrays[key].shape == (n,)


def _from_edges(arrays: dict[str, np.ndarray], name: str) -> Data:
    rows, cols = arrays["rows"].astype(np.int64), arrays["cols"].astype(np.int64)
    weights = arrays.get("weights", np.ones(len(rows)))
    n = int(arrays["n"]) if "n" in arrays else int(max(rows.max(), cols.max()) + 1)
    half = sp.coo_matrix((weights, (rows, cols)), shape=(n, n)).tocsr()
    return _from_matrix((half + half.T).tocsr(), name, "npz", arrays)


def _first_line(error: BaseException) -> str:
    return str(error).splitlines()[0][:200] if str(error) else type(error).__name__
