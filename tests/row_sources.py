"""One matrix as every kind of source of rows."""

from __future__ import annotations

import numpy as np
import pytest

MATRIX = np.random.default_rng(0).normal(size=(300, 7)).astype(np.float32)


def pieces(size=71):
    return [MATRIX[i : i + size] for i in range(0, len(MATRIX), size)]


def written(kind, folder):
    """The matrix as a source of one kind."""
    if kind == "npy":
        np.save(folder / "x.npy", MATRIX)
        return folder / "x.npy"
    if kind == "memory map":
        np.save(folder / "x.npy", MATRIX)
        return np.load(folder / "x.npy", mmap_mode="r")
    if kind == "npy directory":
        for i, part in enumerate(pieces()):
            np.save(folder / f"part{i}.npy", part)
        return str(folder)
    if kind.startswith("hdf5"):
        import h5py

        with h5py.File(folder / "x.h5", "w") as file:
            file.create_dataset("group/X", data=MATRIX, chunks=(50, 7) if "chunks" in kind else None)
            file["y"] = np.arange(300)
        return h5py.File(folder / "x.h5", "r")["group/X"] if "open" in kind else folder / "x.h5"
    if kind.startswith("zarr"):
        import zarr

        array = zarr.create_array(str(folder / "x.zarr"), shape=MATRIX.shape, chunks=(50, 4), dtype="float32")
        array[:] = MATRIX
        return zarr.open(str(folder / "x.zarr"), mode="r") if "open" in kind else folder / "x.zarr"
    if kind.startswith("parquet") or kind == "data set":
        import pyarrow
        import pyarrow.dataset
        import pyarrow.parquet

        for i, part in enumerate(pieces()):
            columns = {f"c{k}": part[:, k] for k in range(7)}
            if "lists" in kind:
                columns = {"X": pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(part.ravel()), 7)}
            pyarrow.parquet.write_table(pyarrow.table(columns), folder / f"part{i}.parquet")
        return pyarrow.dataset.dataset(str(folder)) if kind == "data set" else folder
    if kind == "Arrow table":
        import pyarrow

        return pyarrow.table({f"c{k}": MATRIX[:, k] for k in range(7)})
    if kind == "Dask":
        dask = pytest.importorskip("dask.array")
        return dask.from_array(MATRIX, chunks=(64, 7))
    if kind == "DataLoader":
        torch = pytest.importorskip("torch")
        data = torch.utils.data.TensorDataset(torch.from_numpy(MATRIX), torch.arange(300))
        return torch.utils.data.DataLoader(data, batch_size=64)
    if kind == "list":
        return pieces()
    if kind == "function":
        return lambda: iter(pieces())
    if kind == "iterator":
        return iter(pieces())
    if kind == "tensor":
        return pytest.importorskip("torch").from_numpy(MATRIX)
    if kind == "frame":
        return pytest.importorskip("pandas").DataFrame(MATRIX, columns=[f"c{k}" for k in range(7)])
    return {"array": MATRIX, "nested list": MATRIX.astype(float).tolist()}[kind]


IN_MEMORY = ["array", "nested list", "tensor", "frame"]
REPEATABLE = [
    "npy", "memory map", "npy directory", "hdf5", "hdf5 open chunks", "zarr", "zarr open", "parquet",
    "parquet lists", "data set", "Arrow table", "Dask", "DataLoader", "list", "function",
]  # fmt: skip
NAMED = {"frame", "parquet", "data set", "Arrow table"}
