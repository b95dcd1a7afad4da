"""Trees over groups of cells, in the entries by which scanpy's plots find a dendrogram."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from arbora.cli._console import Console
from arbora.cli._exit import Unreadable, Unusable
from arbora.cli.checkpoint import Checkpoint
from arbora.cli.methods import build_tree
from arbora.cli.reading import Data, ReadOptions
from arbora.cli.reading._single_cell import open_h5ad
from arbora.cli.writing import write_bytes
from arbora.tree import Tree


def write_scanpy_entries(
    source: str,
    options: ReadOptions,
    group: str,
    method: str,
    settings: dict[str, Any],
    seed: int | None,
    out: Path | None,
    console: Console,
) -> None:
    """Add ``uns['dendrogram_<group>']`` to an h5ad file, in place or, with ``--out x.h5ad``, in a copy."""
    path = Path(source)
    if path.suffix.lower() != ".h5ad":
        raise Unusable(f"--scanpy needs an h5ad file. Got {source}.")
    target = path if out is None else out
    if target.suffix.lower() != ".h5ad":
        raise Unusable(f"With --scanpy, --out is an h5ad file. Got {out}.")
    try:
        data = open_h5ad(path.read_bytes(), source)
    except OSError as error:
        raise Unreadable(f"{source} cannot be read: {error.strerror}.") from error
    if group not in data.obs:
        raise Unusable(f"{source} has no obs[{group!r}]. It has {', '.join(map(str, data.obs))}.")
    data.uns[f"dendrogram_{group}"] = dendrogram_entries(
        data, group, options.obsm, method, settings, seed, console
    )
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "data.h5ad"
        data.write_h5ad(written)
        write_bytes(target, written.read_bytes())
    console.say(f"wrote uns['dendrogram_{group}'] to {target}")
    console.result({"key": f"dendrogram_{group}", "written": [str(target)]})


def dendrogram_entries(
    data: Any,
    group: str,
    obsm: str | None,
    method: str,
    settings: dict[str, Any],
    seed: int | None,
    console: Console,
) -> dict[str, Any]:
    """What ``scanpy.tl.dendrogram`` would store, with arbora's tree over the groups' mean vectors."""
    import scipy.cluster.hierarchy as sch

    cells = data.obs[group].astype("category")
    categories = [str(one) for one in cells.cat.categories]
    if len(categories) < 2:
        raise Unusable(f"obs[{group!r}] has {len(categories)} group; a tree needs two.")
    where = obsm or ("X_pca" if "X_pca" in data.obsm else "X")
    values = data.X if where == "X" else data.obsm[where]
    values = np.asarray(values.toarray() if hasattr(values, "toarray") else values, dtype=np.float64)
    codes = cells.cat.codes.to_numpy()
    means = np.array([values[codes == k].mean(axis=0) for k in range(len(categories))])
    if not np.isfinite(means).all():
        raise Unusable(
            f"obs[{group!r}] has empty groups, or the cells have missing values. Remove them first."
        )
    groups = Data("vectors", means, str(group), "h5ad")
    tree = build_tree(
        groups, method, metric="cosine", settings=settings, seed=seed, threads=None, console=console,
        kept=Checkpoint(None, groups),
    )  # fmt: skip
    linkage = _linkage(tree)
    drawn = sch.dendrogram(linkage, labels=categories, no_plot=True)
    return {
        "linkage": linkage,
        "groupby": [group],
        "use_rep": where,
        "cor_method": "pearson",
        "linkage_method": f"arbora {method}",
        "categories_ordered": drawn["ivl"],
        "categories_idx_ordered": drawn["leaves"],
        "dendrogram_info": drawn,
        "correlation_matrix": np.corrcoef(means),
    }


def _linkage(tree: Tree) -> np.ndarray:
    return (tree if tree.is_binary else tree.binarize()).to_linkage()
