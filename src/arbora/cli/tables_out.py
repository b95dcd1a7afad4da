"""One row per leaf or point, to csv, tsv, npy, json, Parquet or the obs of an h5ad."""

from __future__ import annotations

import csv
import io
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from arbora._base.optional import require
from arbora.cli._console import plain
from arbora.cli._exit import Unusable, WrongOption, printable
from arbora.cli.writing import write_bytes
from arbora.reading.contents import contents_of
from arbora.reading.single_cell import open_h5ad

SUFFIXES = (".csv", ".tsv", ".txt", ".npy", ".json", ".parquet")
# Beginnings of cells that spreadsheets take for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def check_table(path: Path | None, *, suffixes: Sequence[str] = SUFFIXES) -> None:
    """Refuse a file name without a known format."""
    if path is not None and path.suffix.lower() not in suffixes:
        raise WrongOption(f"{path}: a table is written as {', '.join(suffixes)}.")


def write_table(path: Path, columns: Mapping[str, Sequence[Any]], *, numbers: Any) -> None:
    """Write columns in the format of the file's name; an npy holds `numbers` alone."""
    suffix = path.suffix.lower()
    if suffix == ".npy":
        buffer = io.BytesIO()
        np.save(buffer, np.asarray(numbers), allow_pickle=False)
        data = buffer.getvalue()
    elif suffix == ".json":
        rows = [dict(zip(columns, row)) for row in zip(*columns.values())]
        data = (json.dumps(plain(rows), ensure_ascii=False, indent=0) + "\n").encode("utf-8", "replace")
    elif suffix == ".parquet":
        pyarrow = require("pyarrow", "Writing Parquet")
        parquet = require("pyarrow.parquet", "Writing Parquet")
        buffer = io.BytesIO()
        parquet.write_table(pyarrow.table({name: list(values) for name, values in columns.items()}), buffer)
        data = buffer.getvalue()
    else:
        data = as_text(columns, "\t" if suffix == ".tsv" else ",").encode("utf-8", "replace")
    write_bytes(path, data)


def as_text(columns: Mapping[str, Sequence[Any]], delimiter: str = ",") -> str:
    """Delimited text; cells that a spreadsheet would run as a formula get a quote in front."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_harmless(cell) for cell in row] for row in zip(*columns.values()))
    return text.getvalue()


def print_table(columns: Mapping[str, Sequence[Any]]) -> None:
    """Columns on standard output; on a terminal, without control characters that names may hold."""
    text = as_text(columns)
    print(printable(text) if sys.stdout.isatty() else text, end="")


def _harmless(cell: Any) -> Any:
    if isinstance(cell, str) and cell.startswith(_FORMULA):
        try:
            float(cell)
        except ValueError:
            return f"'{cell}"
    return cell


def write_obs(source: str, out: Path, names: Sequence[str], columns: Mapping[str, Sequence[Any]]) -> None:
    """A copy of an h5ad whose cells have these columns in obs, matched by name."""
    cells = open_h5ad(contents_of(source))
    place = {name: leaf for leaf, name in enumerate(names)}
    missing = [str(cell) for cell in cells.obs_names if str(cell) not in place]
    absent = len(set(names) - {str(cell) for cell in cells.obs_names})
    if missing or len(place) != cells.n_obs:
        raise Unusable(
            f"The leaves of the tree and the cells of {source} must have the same names, each once: "
            f"{len(missing):,} of {cells.n_obs:,} cells are not in the tree, and {absent:,} of {len(names):,} leaves "
            "are not among the cells."
        )
    order = [place[str(cell)] for cell in cells.obs_names]
    for name, values in columns.items():
        set_obs(cells, name, [values[leaf] for leaf in order])
    write_cells(cells, out)


def set_obs(cells: Any, name: str, labels: Sequence[Any]) -> None:
    """Give cells a column of categories, in the order of their numbers."""
    pandas = require("pandas", "Writing h5ad")
    text = [str(label) for label in labels]
    known = sorted(set(text), key=lambda label: (len(label), label))
    cells.obs[name] = pandas.Categorical(text, categories=known)


def write_cells(cells: Any, out: Path) -> None:
    """Write an AnnData object whole."""
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "data.h5ad"
        cells.write_h5ad(written)
        write_bytes(out, written.read_bytes())
