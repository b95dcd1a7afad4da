"""AnnData files of single-cell work, and the entries by which scanpy finds a dendrogram."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from arbora.cli._exit import Unreadable, Unusable
from arbora.cli.reading._data import Data, ReadOptions
from arbora.errors import MissingExtraError


def read_h5ad(raw: bytes, name: str, options: ReadOptions) -> Data:
    """Rows are cells: X, or one of obsm (X_pca where there is one); labels from obs."""
    data = open_h5ad(raw, name)
    where = options.obsm or ("X_pca" if "X_pca" in data.obsm else None)
    if where is not None and where != "X":
        if where not in data.obsm:
            raise Unusable(
                f"{name} has no obsm[{where!r}]. It has {', '.join(map(str, data.obsm)) or 'none'} (and X)."
            )
        values = data.obsm[where]
        values = values.to_numpy() if hasattr(values, "to_numpy") else values
    else:
        values = data.X
    if values is None:
        raise Unusable(
            f"{name} has no X. Say --obsm NAME: {', '.join(map(str, data.obsm)) or 'it has none'}."
        )
    labels = None
    if options.label_column is not None:
        if options.label_column not in data.obs:
            raise Unusable(
                f"{name} has no obs[{options.label_column!r}]. It has {', '.join(map(str, data.obs))}."
            )
        labels = data.obs[options.label_column].astype(str).to_numpy(dtype=object)
    matrix = values.tocsr() if hasattr(values, "tocsr") else np.asarray(values, dtype=np.float64)
    return Data(
        "vectors", matrix, name, "h5ad", labels=labels, label_name=options.label_column,
        names=[str(cell) for cell in data.obs_names], notes=[f"using {f'obsm[{where!r}]' if where else 'X'}"],
    )  # fmt: skip


def open_h5ad(raw: bytes, name: str) -> Any:
    """The AnnData object in these bytes."""
    try:
        import anndata
    except ImportError as error:
        raise MissingExtraError(
            "Reading h5ad needs anndata. Install it with: pip install 'arbora[formats]'"
        ) from error
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.h5ad"
        path.write_bytes(raw)
        try:
            return anndata.read_h5ad(path)
        except Exception as error:
            raise Unreadable(
                f"{name} is not a whole h5ad file: {str(error).splitlines()[0][:150]}"
            ) from error
