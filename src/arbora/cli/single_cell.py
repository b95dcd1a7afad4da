"""Trees over groups of cells, stored where scanpy's plots look for a dendrogram."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from arbora.cli._console import Console
from arbora.cli._exit import Unusable, WrongOption
from arbora.cli._options import Reading, Running
from arbora.cli._run import Run, options_of
from arbora.cli.fit import FitTask, Fitted, Outputs, fit_tree
from arbora.cli.methods import check_data, chosen_metric
from arbora.cli.pages import page_content, tree_facts, write_page
from arbora.cli.plot import picture_bytes
from arbora.cli.tables_out import set_obs, write_cells
from arbora.cli.writing import tree_format, write_bytes, write_json, write_tree
from arbora.reading import Dataset
from arbora.reading.columns import column_of
from arbora.reading.contents import contents_of
from arbora.reading.single_cell import dataset_of_cells, open_h5ad
from arbora.tree import Tree

# A few groups are compared pair by pair; neighbor graphs are for many points.
_ALL_PAIRS_UP_TO = 500
# Levels of a tree over cells that become columns of obs.
_LEVELS = 3


def run_scanpy(
    task: FitTask,
    settings: dict[str, Any],
    outputs: Outputs,
    reading: Reading,
    running: Running,
    console: Console,
) -> None:
    """Add ``uns['dendrogram_<group>']`` to an h5ad file, in place or, with ``--out x.h5ad``, in a copy."""
    path, group = Path(task.source), str(task.scanpy)
    if path.suffix.lower() != ".h5ad":
        raise WrongOption(f"--scanpy needs an h5ad file. Got {task.source}.")
    _check_options(task, outputs)
    is_tree = outputs.out is not None and outputs.out.suffix.lower() != ".h5ad"
    if is_tree:
        tree_format(str(outputs.out))
    with console.stage("read"):
        cells = open_h5ad(contents_of(task.source))
    data = group_means(cells, group, reading, task.source)
    metric = chosen_metric(task.method, task.metric, "vectors")
    run = Run(data, task.method, metric, running, console, settings)
    check_data(run)
    fitted = _fit_groups(run, refine=task.refine)
    key = f"dendrogram_{group}"
    facts = {
        "key": key,
        "data": data.facts(),
        "method": {"name": run.method, "metric": metric, "seed": run.seed, "settings": settings},
        "tree": tree_facts(fitted.tree),
        "written": [
            str(outputs.out or path),
            *Outputs(None, outputs.html, outputs.report, outputs.picture).written(),
        ],
    }
    _write_others(fitted.tree, data, outputs, console)
    if is_tree:
        write_tree(fitted.tree, str(outputs.out))
    else:
        cells.uns[key] = dendrogram_entries(fitted.tree, data, group, run.method)
        write_cells(cells, outputs.out or path)
        console.say(f"{run.method} ({metric}): wrote uns[{key!r}], a tree over {data.n_points} groups")
    if outputs.report is not None:
        write_json(outputs.report, {**facts, "seconds": console.seconds})
    for written in facts["written"]:
        console.say(f"wrote {written}")
    console.result(facts)


def _check_options(task: FitTask, outputs: Outputs) -> None:
    for option, value in (("--checkpoint", task.checkpoint), ("--model", outputs.model)):
        if value is not None:
            raise WrongOption(
                f"{option} cannot be combined with --scanpy: a tree over groups takes only a moment."
            )


def group_means(cells: Any, group: str, reading: Reading, source: str) -> Dataset:
    """One vector per group: the mean of its cells, from X_pca, X or what ``--use`` names."""
    if group not in cells.obs:
        raise Unusable(f"{source} has no obs[{group!r}]. It has {', '.join(map(str, cells.obs))}.")
    column = cells.obs[group]
    if column_of(column, group).kind != "text":
        raise Unusable(f"obs[{group!r}] holds numbers, not groups. --scanpy needs a column of categories.")
    grouped = column.astype("category").cat.remove_unused_categories()
    names = [str(one) for one in grouped.cat.categories]
    if len(names) < 2:
        raise Unusable(f"obs[{group!r}] has {len(names)} group; a tree needs two.")
    data = dataset_of_cells(cells, source, replace(options_of(reading), label_column=None, name_column=None))
    if data.kind != "vectors":
        raise WrongOption("--scanpy needs vectors: --use X, layers:NAME or obsm:NAME.")
    values = np.asarray(data, dtype=np.float64)
    codes = grouped.cat.codes.to_numpy()
    means = np.array([values[codes == k].mean(axis=0) for k in range(len(names))])
    if not np.isfinite(means).all():
        raise Unusable(f"The cells of {source} have missing values. Remove them first.")
    return Dataset(
        means,
        "vectors",
        source,
        "h5ad",
        names=names,
        roles={"features": f"means of {data.roles['features']}"},
    )


def _fit_groups(run: Run, *, refine: bool) -> Fitted:
    """The tree over the groups: `auto` compares all pairs of a few, as a graph of neighbors would mislead."""
    if run.method != "auto" or run.data.n_points > _ALL_PAIRS_UP_TO:
        return fit_tree(run, refine=refine)
    # as scanpy does, whose correlation is a cosine of centered vectors
    metric = "cosine" if run.metric == "auto" else run.metric
    pairs = Run(run.data, "average", metric, run.running, run.console)
    return fit_tree(pairs)


def _write_others(tree: Tree, data: Dataset, outputs: Outputs, console: Console) -> None:
    if outputs.html is not None:
        write_page(
            tree, outputs.html, console, title=Path(data.source).name, **page_content(tree, data, console)
        )
    if outputs.picture is not None:
        write_bytes(outputs.picture, picture_bytes(tree, outputs.picture))


def write_cell_tree(tree: Tree, run: Run, outputs: Outputs) -> None:
    """A copy of the cells: a column in obs for each of a few levels of the tree, and the tree itself in uns."""
    assert outputs.out is not None
    levels = [level.n_clusters for level in tree.levels(_LEVELS)]
    cells = open_h5ad(contents_of(run.data.source))
    for level in levels:
        set_obs(cells, f"arbora_cluster_{level}", tree.cut(n_clusters=level).tolist())
    entries: dict[str, Any] = {"parent": tree.parent, "n_leaves": tree.n_leaves, "levels": np.array(levels)}
    if tree.height is not None:
        entries["height"] = tree.height
    made = {"method": run.method, "metric": run.metric or "", "seed": -1 if run.seed is None else run.seed}
    cells.uns["arbora_tree"] = {**entries, "params": made}
    write_cells(cells, outputs.out)


def dendrogram_entries(tree: Tree, data: Dataset, group: str, method: str) -> dict[str, Any]:
    """What ``scanpy.tl.dendrogram`` would store, with arbora's tree over the groups' mean vectors."""
    import scipy.cluster.hierarchy as sch

    linkage = (tree if tree.is_binary else tree.binarize()).to_linkage()
    drawn = sch.dendrogram(linkage, labels=data.names, no_plot=True)
    return {
        "linkage": linkage,
        "groupby": [group],
        "use_rep": data.roles["features"].removeprefix("means of ").replace("obsm['", "").replace("']", ""),
        "cor_method": "pearson",
        "linkage_method": f"arbora {method}",
        "categories_ordered": drawn["ivl"],
        "categories_idx_ordered": drawn["leaves"],
        "dendrogram_info": drawn,
        "correlation_matrix": np.corrcoef(data.values),
    }
