"""AnnData files of single-cell work."""

from __future__ import annotations

import re
import tempfile
from dataclasses import replace
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
from arbora.reading.genes import Genes, genes_of
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
    _add_genes(more, genes_of(cells, key if part == "layers" else None), options)
    used = part if part == "X" else f"{part}[{key!r}]"
    roles = {"features": used, **more.pop("roles")}
    if part == "obsp":
        return _graph(cells.obsp[key], used, name, options, roles, more)
    values = cells.X if part == "X" else getattr(cells, part)[key]
    # cells opened with backed="r" keep their counts in the file
    values = values.to_memory() if hasattr(values, "to_memory") else values
    values = values.to_numpy() if hasattr(values, "to_numpy") else values
    if values is None:
        raise ValueError(f"{name} has no X. Choose with use=: {_choices(cells)}.")
    matrix = values.tocsr() if hasattr(values, "tocsr") else np.asarray(values)
    genes = [str(gene) for gene in cells.var_names] if part in ("X", "layers") else None
    notes = (f"use= chooses among {_choices(cells)}",)
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
        "category_colors": _category_colors(cells),
        "roles": roles,
    }


def _add_genes(more: dict[str, Any], genes: Genes | None, options: ReadOptions) -> None:
    """The genes themselves and, of those that were asked for, columns of metadata."""
    if genes is None:
        return
    more["genes"] = genes
    if options.genes is None:
        more["roles"]["genes"] = f"{len(genes.names):,} of {genes.source}, to color by"
        return
    chosen = genes.matching(options.genes)
    more["genes"] = replace(genes, chosen=tuple(chosen))
    taken = {*more["metadata"], options.label_column}
    for gene, values in genes.columns(chosen).items():
        more["metadata"][f"{gene} (gene)" if gene in taken else gene] = values
    more["roles"]["genes"] = f"{listed(chosen)} of {genes.source}"


def _category_colors(cells: Any) -> dict[str, dict[str, str]]:
    """Colors that scanpy keeps for the categories of a column of obs, in ``uns["<column>_colors"]``."""
    found = {}
    for key in cells.obs.columns:
        colors = cells.uns.get(f"{key}_colors")
        categories = getattr(getattr(cells.obs[key], "cat", None), "categories", None)
        if colors is None or categories is None or len(colors) < len(categories):
            continue
        texts = [str(color)[:7].lower() for color in colors]
        if all(re.fullmatch("#[0-9a-f]{6}", text) for text in texts):
            found[str(key)] = {str(name): text for name, text in zip(categories, texts, strict=False)}
    return found


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
