"""AnnData files of single-cell work."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from arbora._base.optional import require
from arbora.errors import FormatError
from arbora.reading.arrays import first_line
from arbora.reading.columns import Column
from arbora.reading.contents import Contents
from arbora.reading.dataset import Dataset
from arbora.reading.frames import columns_of
from arbora.reading.graphs import graph_of_adjacency
from arbora.reading.options import ReadOptions
from arbora.reading.roles import classes_of, listed, matching

# Coordinates that single-cell work draws cells by.
_DRAWN = ("X_umap", "X_tsne", "X_draw_graph_fa")


def read_h5ad(contents: Contents, options: ReadOptions) -> Dataset:
    """Rows are cells. `use` chooses what of them: X, layers:NAME, obsm:NAME or obsp:NAME."""
    return dataset_of_cells(open_h5ad(contents), contents.name, options)


def dataset_of_cells(cells: Any, name: str, options: ReadOptions) -> Dataset:
    """Dataset of an AnnData object; the columns of obs are labels and metadata."""
    part, key = _chosen(cells, name, options)
    more = _of_obs(cells, name, options)
    used = part if part == "X" else f"{part}[{key!r}]"
    roles = {"features": used, **more.pop("roles")}
    if part == "obsp":
        return _graph(cells.obsp[key], used, name, options, roles, more)
    values = cells.X if part == "X" else getattr(cells, part)[key]
    values = values.to_numpy() if hasattr(values, "to_numpy") else values
    if values is None:
        raise ValueError(f"{name} has no X. Choose with use=: {_choices(cells)}.")
    matrix = values.tocsr() if hasattr(values, "tocsr") else np.asarray(values)
    genes = [str(gene) for gene in cells.var_names] if part in ("X", "layers") else None
    notes = (f"to choose from with use=: {_choices(cells)}",)
    return Dataset(matrix, "vectors", name, "h5ad", feature_names=genes, roles=roles, notes=notes, **more)


def _graph(
    matrix: Any, used: str, name: str, options: ReadOptions, roles: dict[str, str], more: dict[str, Any]
) -> Dataset:
    if "distance" in used and options.kind != "graph":
        raise ValueError(
            f"{name}: {used} holds distances of neighbors, where a graph needs similarities. "
            "scanpy writes those beside it: use='obsp:connectivities'."
        )
    roles = {"edges": roles.pop("features"), **roles}
    return graph_of_adjacency(sp.csr_array(matrix), name, "h5ad", options, roles=roles, **more)


def _chosen(cells: Any, name: str, options: ReadOptions) -> tuple[str, str]:
    if options.use is None:
        return ("obsm", "X_pca") if "X_pca" in cells.obsm else ("X", "")
    part, colon, key = options.use.partition(":")
    if part == "X" and not colon:
        return "X", ""
    if not colon and part in cells.obsm:
        return "obsm", part
    if part not in ("layers", "obsm", "obsp") or key not in getattr(cells, part):
        raise ValueError(f"{name} has no {options.use!r} (use=). It has {_choices(cells)}.")
    return part, key


def _choices(cells: Any) -> str:
    found = [] if cells.X is None else ["X"]
    for part in ("layers", "obsm", "obsp"):
        found += [f"{part}:{key}" for key in getattr(cells, part)]
    return ", ".join(found) or "nothing to cluster by"


def _of_obs(cells: Any, name: str, options: ReadOptions) -> dict[str, Any]:
    columns = columns_of(cells.obs) if len(cells.obs.columns) else {}
    dropped = matching(columns, options.drop, "drop", name)
    columns = {key: column for key, column in columns.items() if key not in dropped}
    roles: dict[str, str] = {}
    y = None
    if options.label_column is not None:
        if options.label_column not in columns:
            raise ValueError(
                f"{name} has no obs[{options.label_column!r}] (label_column=). It has {listed(columns)}."
            )
        y = classes_of(columns.pop(options.label_column).values)
        roles["labels"] = f"obs[{options.label_column!r}]"
    names = [str(cell) for cell in cells.obs_names]
    roles["names"] = "the cells' names"
    if options.name_column is not None:
        if options.name_column not in columns:
            raise ValueError(
                f"{name} has no obs[{options.name_column!r}] (name_column=). It has {listed(columns)}."
            )
        names = columns.pop(options.name_column).words()
        roles["names"] = f"obs[{options.name_column!r}]"
    drawn = next((key for key in _DRAWN if key in cells.obsm and cells.obsm[key].shape[1] >= 2), None)
    if drawn is not None:
        roles["scatter"] = f"obsm[{drawn!r}]"
    kept: dict[str, Column] = {k: c for k, c in columns.items() if c.kind in ("number", "text", "date")}
    if kept:
        roles["metadata"] = f"obs: {listed(kept)}"
    return {
        "y": y,
        "label_name": options.label_column,
        "names": names,
        "points": None if drawn is None else np.asarray(cells.obsm[drawn], dtype=np.float64)[:, :2],
        "metadata": {key: column.values for key, column in kept.items()},
        "roles": roles,
    }


def open_h5ad(contents: Contents) -> Any:
    """The AnnData object of a file."""
    anndata = require("anndata", "Reading h5ad")
    try:
        if contents.path is not None:
            return anndata.read_h5ad(contents.path)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "data.h5ad"
            path.write_bytes(contents.raw)
            return anndata.read_h5ad(path)
    except Exception as error:
        raise FormatError(f"{contents.name} is not a whole h5ad file: {first_line(error)}") from error
