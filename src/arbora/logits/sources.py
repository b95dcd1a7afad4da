"""Where logits come from: arrays, memory maps, chunked stores on disk, iterators of batches.

Everything becomes one of two things: an array whose rows can be looked at in any order, or a `Batches` object that
hands out blocks of rows, as often as it can be read again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora.errors import FormatError, MissingExtraError
from arbora.logits import _kernels as kernels

_NUMBERS_PER_BATCH = 1 << 24


@dataclass(frozen=True)
class Batches:
    """Blocks of rows.

    Attributes
    ----------
    open : callable
        Starts one pass: returns an iterator of (m, n_classes) arrays.
    repeatable : bool
        Whether `open` may be called twice.
    n_points : int or None
        Rows in all, where known beforehand.
    n_bytes : int or None
        Size in all, where known.
    names : list of str or None
        Names of the classes, where the store has them.
    """

    open: Callable[[], Iterator[Any]]
    repeatable: bool
    n_points: int | None = None
    n_bytes: int | None = None
    names: list[str] | None = None


def kernel_array(array: Any) -> tuple[NDArray[Any], int]:
    """An array the kernels can read without copying where possible, and how its numbers are stored.

    >>> import numpy as np
    >>> kernel_array(np.ones((2, 3), np.float16))[0].dtype
    dtype('uint16')
    """
    array = _without_torch(array)
    if isinstance(array, tuple):  # bits of a bfloat16 tensor
        return array[0], kernels.BFLOAT
    array = np.ascontiguousarray(array)  # of a C-ordered array no copy; one layout, one compilation
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if array.dtype.name == "bfloat16":
        return array.view(np.uint16), kernels.BFLOAT
    if array.dtype == np.float16:
        return array.view(np.uint16), kernels.HALF
    if array.dtype in (np.float32, np.float64):
        return array, kernels.PLAIN
    if array.dtype.kind in "biufO":
        return array.astype(np.float64), kernels.PLAIN
    raise TypeError(f"Logits must be real numbers. Got dtype {array.dtype}.")


def _without_torch(array: Any) -> Any:
    """NumPy view of a torch tensor (a 1-tuple of its bits for bfloat16); anything else unchanged."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(array, torch.Tensor):
        return array
    array = array.detach().cpu().contiguous()
    if array.dtype == torch.bfloat16:
        return (array.view(torch.int16).numpy().view(np.uint16),)
    return array.numpy()


def is_batches(X: Any) -> bool:
    """Whether X must be read in blocks: a path, a store, an iterator, a list of matrices, a function that opens one."""
    if isinstance(X, (str, Path, Batches)) or callable(X):
        return True
    if _is_store(X):
        return True
    if hasattr(X, "__array__"):
        return False
    if isinstance(X, (list, tuple)):
        return len(X) > 0 and all(getattr(item, "ndim", None) == 2 for item in X)
    return isinstance(X, Iterable) and not hasattr(X, "shape")


def _is_store(X: Any) -> bool:
    """Sliceable two-dimensional things that live on disk: zarr arrays, HDF5 data sets; and Arrow tables."""
    module = type(X).__module__.split(".")[0]
    return module in {"zarr", "h5py", "pyarrow"}


def open_batches(X: Any) -> Batches | NDArray[Any]:
    """Batches of X, or a memory-mapped array where X names one `.npy` file."""
    if isinstance(X, (Batches, np.ndarray)):
        return X
    if isinstance(X, (str, Path)):
        return _open_path(Path(X))
    if _is_store(X):
        return _arrow_batches(X) if type(X).__module__.startswith("pyarrow") else sliced([X])
    if callable(X):
        return Batches(lambda: iter(X()), repeatable=True)
    if isinstance(X, (list, tuple)):
        return _chained(list(X))
    return Batches(lambda: iter(X), repeatable=not isinstance(X, Iterator))


def _open_path(path: Path) -> Batches | NDArray[Any]:
    if not path.exists():
        raise FileNotFoundError(f"No file or directory of logits at {str(path)!r}.")
    if (path / "zarr.json").exists() or (path / ".zarray").exists() or (path / ".zgroup").exists():
        return sliced([_open_zarr(path)])
    if path.is_dir():
        return _open_directory(path)
    if path.suffix == ".npy":
        return _open_npy(path)
    if path.suffix in (".h5", ".hdf5", ".hdf"):
        return sliced([_open_hdf5(path)])
    if path.suffix in (".parquet", ".pq"):
        return _open_parquet([path])
    raise FormatError(
        f"{str(path)!r} is not a .npy, .h5/.hdf5, .parquet or zarr store. Load it yourself and pass the array, "
        "or a function that returns an iterator of batches."
    )


def _open_directory(path: Path) -> Batches:
    """All files of one kind in a directory, in the order of their names."""
    for suffixes, opener in (
        ((".npy",), lambda files: sliced([_open_npy(f) for f in files])),
        ((".h5", ".hdf5", ".hdf"), lambda files: sliced([_open_hdf5(f) for f in files])),
        ((".parquet", ".pq"), _open_parquet),
    ):
        files = sorted(f for f in path.iterdir() if f.suffix in suffixes)
        if files:
            return opener(files)
    raise FormatError(
        f"Directory {str(path)!r} holds no .npy, .h5/.hdf5 or .parquet files and is no zarr store."
    )


def _open_npy(path: Path) -> NDArray[Any]:
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise FormatError(f"{str(path)!r} is truncated or not a .npy file: {error}") from error
    if array.dtype.kind == "V" and array.dtype.itemsize == 2:  # how NumPy stores ml_dtypes.bfloat16
        raise FormatError(
            f"{str(path)!r} holds 2-byte values of a type NumPy does not know. If it is bfloat16, pass "
            "np.load(path, mmap_mode='r').view(ml_dtypes.bfloat16)."
        )
    return array


def _optional(module: str, what: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f"Reading {what} needs {module.split('.')[0]}. Install it with: pip install 'arbora[formats]'"
        ) from error


def _open_zarr(path: Path) -> Any:
    zarr = _optional("zarr", "zarr stores")
    store = zarr.open(str(path), mode="r")
    return store if hasattr(store, "shape") else _only_matrix(dict(store.arrays()), path)


def _open_hdf5(path: Path) -> Any:
    h5py = _optional("h5py", "HDF5 files")
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise FormatError(f"{str(path)!r} is truncated or not an HDF5 file: {error}") from error
    found: dict[str, Any] = {}
    file.visititems(lambda name, item: found.update({name: item}) if isinstance(item, h5py.Dataset) else None)
    return _only_matrix(found, path)


def _only_matrix(items: dict[str, Any], path: Path) -> Any:
    matrices = {
        name: item for name, item in items.items() if len(item.shape) == 2 and item.dtype.kind in "fiu"
    }
    if "logits" in matrices:
        return matrices["logits"]
    if len(matrices) != 1:
        raise FormatError(
            f"{str(path)!r} must hold one two-dimensional array of numbers, or one called 'logits'. "
            f"Got {sorted(matrices) or sorted(items)}. Open it and pass the array itself."
        )
    return next(iter(matrices.values()))


def sliced(arrays: list[Any]) -> Batches:
    """Batches of sliceable matrices, read chunk by chunk where the store says how it is chunked."""
    for array in arrays:
        if len(array.shape) != 2:
            raise ValueError(
                f"Logits must be two-dimensional (points, classes). Got shape {tuple(array.shape)}."
            )

    def read() -> Iterator[Any]:
        for array in arrays:
            chunks = getattr(array, "chunks", None)
            step = max(1, _NUMBERS_PER_BATCH // max(1, array.shape[1]))
            if chunks:  # whole chunks: a chunk read twice is decompressed twice
                step = max(1, step // chunks[0]) * chunks[0]
            for start in range(0, array.shape[0], step):
                yield array[start : start + step]

    n_points = sum(int(a.shape[0]) for a in arrays)
    n_bytes = sum(int(a.shape[0]) * int(a.shape[1]) * np.dtype(a.dtype).itemsize for a in arrays)
    return Batches(read, repeatable=True, n_points=n_points, n_bytes=n_bytes)


def _chained(arrays: list[Any]) -> Batches:
    n_bytes = sum(int(getattr(a, "nbytes", 0)) for a in arrays)
    return Batches(
        lambda: iter(arrays), repeatable=True, n_points=sum(a.shape[0] for a in arrays), n_bytes=n_bytes
    )


def _open_parquet(files: list[Path]) -> Batches:
    dataset = _optional("pyarrow.dataset", "Parquet files")
    pyarrow = import_module("pyarrow")
    try:
        opened = dataset.dataset([str(f) for f in files], format="parquet")
        n_points = opened.count_rows()
    except (pyarrow.ArrowInvalid, OSError) as error:
        raise FormatError(f"{str(files[0])!r} is truncated or not a Parquet file: {error}") from error
    return _arrow_batches(opened, n_points)


def _arrow_batches(table: Any, n_points: int | None = None) -> Batches:
    """Batches of an Arrow table or data set: one column a class, or one column of lists."""
    schema = table.schema
    numeric = [field.name for field in schema if _is_number(field.type)]
    lists = [field.name for field in schema if _is_list(field.type)]
    if not numeric and len(lists) != 1:
        raise FormatError(
            "A table of logits needs one numeric column per class, or a single column of lists. "
            f"Got columns {schema.names}."
        )
    columns = numeric or lists

    def read() -> Iterator[NDArray[Any]]:
        for batch in (
            table.to_batches(columns=columns)
            if hasattr(table, "scanner")
            else table.select(columns).to_batches()
        ):
            if batch.num_rows:
                yield _matrix_of(batch, bool(numeric))

    n_points = table.num_rows if n_points is None and hasattr(table, "num_rows") else n_points
    n_bytes = None
    if numeric and n_points is not None:
        n_bytes = n_points * sum(schema.field(c).type.bit_width // 8 for c in numeric)
    return Batches(read, True, n_points, n_bytes, names=numeric or None)


def _is_number(kind: Any) -> bool:
    return import_module("pyarrow").types.is_floating(kind) or import_module("pyarrow").types.is_integer(kind)


def _is_list(kind: Any) -> bool:
    types = import_module("pyarrow").types
    return types.is_list(kind) or types.is_fixed_size_list(kind) or types.is_large_list(kind)


def _matrix_of(batch: Any, one_column_per_class: bool) -> NDArray[Any]:
    if one_column_per_class:
        return np.column_stack([column.to_numpy(zero_copy_only=False) for column in batch.columns])
    column = batch.column(0)
    values = column.flatten().to_numpy(zero_copy_only=False)
    if len(values) % batch.num_rows:
        raise FormatError("The lists of a Parquet column of logits must all have the same length.")
    return values.reshape(batch.num_rows, -1)
