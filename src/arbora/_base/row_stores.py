"""Where rows are stored: HDF5 and zarr stores, Parquet and Arrow, Dask, DataLoaders, files and directories of files.

A source becomes either parts, which give any of their rows, or passes, which give all of them in order. No library
is imported before it is needed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from arbora._base.arrays import package_of
from arbora._base.optional import require
from arbora._base.row_parts import ArrayPart, DaskPart, Part, StorePart, reading
from arbora._base.types import PathLike
from arbora.errors import FormatError, MissingFileError

_HDF5 = (".h5", ".hdf5", ".hdf")
_PARQUET = (".parquet", ".pq")
# Which array is meant if a file holds several.
_USUAL_NAMES = ("X", "logits", "embeddings", "features", "vectors")


@dataclass(frozen=True)
class OpenedParts:
    """Matrices, one below the other."""

    parts: list[Part]
    column_names: list[str] | None = None


@dataclass(frozen=True)
class OpenedPasses:
    """Chunks of rows, in order."""

    open_pass: Callable[[], Iterator[Any]]
    is_repeatable: bool = True
    n_rows: int | None = None
    column_names: list[str] | None = None


Opened: TypeAlias = OpenedParts | OpenedPasses


# ---- open stores ---------------------------------------------------------------------------------------------


def is_store(data: Any) -> bool:
    """Whether data is an open HDF5 or zarr array or group, or something of Arrow's with columns."""
    package = package_of(data)
    if package == "pyarrow":
        return hasattr(data, "schema")
    return package in {"zarr", "h5py"}


def is_dask(data: Any) -> bool:
    """Whether data is a Dask array or frame."""
    return hasattr(data, "dask") and hasattr(data, "compute")


def open_store(data: Any, argument: str) -> Opened:
    """Parts or passes of something that `is_store` or `is_dask`."""
    if is_dask(data):
        names = [str(name) for name in data.columns] if hasattr(data, "columns") else None
        array = data.to_dask_array(lengths=True) if hasattr(data, "to_dask_array") else data
        return OpenedParts([DaskPart(array, argument)], names)
    if package_of(data) == "pyarrow":
        return _open_arrow(data, argument)
    return OpenedParts([StorePart(_matrix_in(data, argument), argument)])


def _matrix_in(store: Any, where: str) -> Any:
    """The array itself, or the relevant one in a group or file."""
    if hasattr(store, "shape"):
        return store
    found: dict[str, Any] = {}
    if hasattr(store, "visititems"):
        # h5py stops as soon as the function returns something
        store.visititems(lambda name, item: found.update({name: item}))
    else:
        found.update(store.members(max_depth=None))
    arrays = {name: item for name, item in found.items() if hasattr(item, "shape")}
    matrices = {
        name: item
        for name, item in arrays.items()
        if len(item.shape) == 2 and np.dtype(item.dtype).kind in "fiu"
    }
    usual = [name for name in _USUAL_NAMES if name in matrices]
    if len(matrices) != 1 and len(usual) != 1:
        raise FormatError(
            f"{where} must hold one two-dimensional array of numbers, or one called {' or '.join(_USUAL_NAMES)}. "
            f"Got {sorted(matrices) or sorted(arrays)}. Open it and pass the array itself."
        )
    return matrices[usual[0]] if len(matrices) != 1 else next(iter(matrices.values()))


# ---- Arrow and Parquet ---------------------------------------------------------------------------------------


def _open_arrow(table: Any, where: str, n_rows: int | None = None) -> OpenedPasses:
    """A table, record batch, data set or reader: one number per column, or a single column of lists."""
    schema = table.schema
    are_numbers = all(_is_number(field.type) for field in schema)
    if len(schema) == 0 or not (are_numbers or (len(schema) == 1 and _is_list(schema.field(0).type))):
        others = [field.name for field in schema if not _is_number(field.type)]
        raise FormatError(
            f"{where} must have columns of numbers only, or a single column of lists. "
            f"Not numbers: {', '.join(map(repr, others[:6])) or 'there is no column'}. Select the columns that are "
            "features first; arbora.read says what it takes each column for."
        )
    is_reader = hasattr(table, "read_next_batch")

    def open_pass() -> Iterator[NDArray[Any]]:
        with reading(where):
            batches = iter(table if is_reader else _batches_of(table))
        while True:
            with reading(where):
                batch = next(batches, None)
                if batch is None:
                    return
                values = _matrix_of(batch, are_numbers, where)
            yield values

    n_rows = getattr(table, "num_rows", None) if n_rows is None else n_rows
    return OpenedPasses(open_pass, not is_reader, n_rows, list(schema.names) if are_numbers else None)


def _batches_of(table: Any) -> Any:
    # a record batch is its own only batch; the number of rows bounds what a data set holds in memory
    if hasattr(table, "scanner"):
        return table.to_batches(batch_size=1 << 14)
    return table.to_batches() if hasattr(table, "to_batches") else [table]


def _is_number(kind: Any) -> bool:
    types = require("pyarrow", "Reading Arrow tables").types
    return bool(types.is_floating(kind) or types.is_integer(kind) or types.is_boolean(kind))


def _is_list(kind: Any) -> bool:
    types = require("pyarrow", "Reading Arrow tables").types
    return bool(types.is_list(kind) or types.is_fixed_size_list(kind) or types.is_large_list(kind))


def _matrix_of(batch: Any, are_numbers: bool, where: str) -> NDArray[Any]:
    if are_numbers:
        return np.column_stack([column.to_numpy(zero_copy_only=False) for column in batch.columns])
    column = batch.column(0)
    lengths = require("pyarrow.compute", "Reading Arrow tables").list_value_length(column)
    found = lengths.unique().to_pylist()
    if len(found) > 1 or None in found:
        raise FormatError(
            f"The lists in {where} must all be present and have the same length. Got {found[:6]}."
        )
    values = column.flatten().to_numpy(zero_copy_only=False)
    return np.asarray(values.reshape(batch.num_rows, -1) if batch.num_rows else values.reshape(0, 1))


# ---- paths ---------------------------------------------------------------------------------------------------


def open_path(path: PathLike, argument: str) -> Opened:
    """Rows of a file, or of all files of one kind in a directory, in the order of their names."""
    place = Path(path)
    try:
        exists = os.fspath(path) != "" and place.exists()
    except (OSError, ValueError):
        exists = False
    if not exists:
        raise MissingFileError(
            f"{argument} is text, which is taken for a path, but there is no file or directory {str(path)[:200]!r}."
        )
    if any((place / name).exists() for name in ("zarr.json", ".zarray", ".zgroup")):
        return OpenedParts([_open_zarr(place)])
    if place.is_dir():
        return _open_directory(place)
    if place.suffix == ".npy":
        return OpenedParts([_open_npy(place)])
    if place.suffix in _HDF5:
        return OpenedParts([_open_hdf5(place)])
    if place.suffix in _PARQUET:
        return _open_parquet([place])
    raise FormatError(
        f"{str(place)!r} is not a .npy, .h5/.hdf5, .parquet or zarr store. Load it with arbora.read and pass the "
        "array, or pass a function that returns an iterator of chunks."
    )


def _open_directory(path: Path) -> Opened:
    kinds = (((".npy",), _open_npy), (_HDF5, _open_hdf5), (_PARQUET, None))
    found = [
        (files, opener)
        for suffixes, opener in kinds
        if (files := sorted(file for file in path.iterdir() if file.suffix in suffixes))
    ]
    if len(found) != 1:
        what = (
            "several kinds of files"
            if found
            else "no .npy, .h5/.hdf5 or .parquet files, and is not a zarr store"
        )
        raise FormatError(
            f"Directory {str(path)!r} holds {what}. Name one file, or a directory of files of one kind."
        )
    files, opener = found[0]
    return _open_parquet(files) if opener is None else OpenedParts([opener(file) for file in files])


def _open_npy(path: Path) -> Part:
    with reading(repr(str(path))):
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    if array.ndim != 2:
        raise ValueError(f"{str(path)!r} must have shape (n_points, n_features). Got {array.shape}.")
    return ArrayPart(array, repr(str(path)))


def _open_zarr(path: Path) -> Part:
    zarr = require("zarr", "Reading zarr stores")
    with reading(repr(str(path))):
        store = _matrix_in(zarr.open(str(path), mode="r"), repr(str(path)))
    return StorePart(store, repr(str(path)))


def _open_hdf5(path: Path) -> Part:
    h5py = require("h5py", "Reading HDF5 files")
    with reading(repr(str(path))):
        store = _matrix_in(h5py.File(path, "r"), repr(str(path)))
    return StorePart(store, repr(str(path)))


def _open_parquet(files: list[Path]) -> OpenedPasses:
    dataset = require("pyarrow.dataset", "Reading Parquet files")
    where = repr(str(files[0]))
    with reading(where):
        opened = dataset.dataset([str(file) for file in files], format="parquet")
        n_rows = int(opened.count_rows())
    return _open_arrow(opened, where, n_rows)


# ---- PyTorch's DataLoader ------------------------------------------------------------------------------------


def is_data_loader(data: Any) -> bool:
    """Whether data is a DataLoader, judging by its attributes."""
    return hasattr(data, "dataset") and hasattr(data, "batch_sampler") and hasattr(data, "__iter__")


def loader_chunks(loader: Any, argument: str) -> Iterator[Any]:
    """The inputs in every batch: the batch itself, or the first of its items."""
    for batch in loader:
        if isinstance(batch, dict):
            raise TypeError(
                f"{argument} is a DataLoader whose batches are dictionaries with the keys {sorted(map(str, batch))}. "
                "Pass a function that returns an iterator of matrices."
            )
        yield batch[0] if isinstance(batch, (list, tuple)) and len(batch) else batch


def has_fixed_order(loader: Any) -> bool:
    """Whether a DataLoader gives the same rows in the same order each time: it does not shuffle."""
    batches = loader.batch_sampler
    sampler = loader.sampler if batches is None else getattr(batches, "sampler", None)
    return type(sampler).__name__ == "SequentialSampler"
