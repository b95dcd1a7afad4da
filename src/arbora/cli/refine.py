"""``arbora refine``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from arbora.cli._console import Console
from arbora.cli._exit import Unusable
from arbora.cli._shared import data_for_tree, limit_threads, options_for, tree_facts
from arbora.cli.checkpoint import Checkpoint
from arbora.cli.methods import public, similarity_of
from arbora.cli.reading import Data, ReadOptions, read_tree
from arbora.cli.score import scores_of
from arbora.cli.writing import check_writable, tree_format, write_tree
from arbora.tree import Tree


def run_refine(
    *,
    tree_source: str,
    source: str,
    out: Path | None,
    objective: str,
    metric: str,
    max_sweeps: int,
    checkpoint: Path | None,
    seed: int | None,
    threads: int | None,
    quiet: bool,
    as_json: bool,
    **reading: Any,
) -> None:
    """Read, refine, score before and after, write."""
    console = Console(quiet, as_json, out)
    limit_threads(threads)
    check_writable(out)
    if out is not None:
        tree_format(str(out))
    with console.progress():
        with console.stage("read"):
            tree = read_tree(tree_source, ReadOptions(delimiter=reading.get("delimiter")))
            data = data_for_tree(tree, source, options_for(reading.pop("format"), **reading))
        assert data is not None
        kept = Checkpoint(
            checkpoint,
            data,
            tree=tree.to_newick(lengths=False),
            objective=objective,
            metric=metric,
            seed=seed,
        )
        better = refine_tree(tree, data, metric, objective, max_sweeps, seed, kept, console)
    similarity = similarity_of(data, metric, neighbors=True, seed=seed)
    costs = {"before": _cost(tree, similarity), "after": _cost(better, similarity)}
    if out is not None:
        write_tree(better, str(out))
    console.table({"cost before": costs["before"], "cost after": costs["after"]})
    if out is not None and str(out) != "-":
        console.say(f"wrote {out}")
    console.result(
        {
            "tree": tree_facts(better), "cost": costs, "scores": scores_of(better, data, metric, "refine"),
            "seconds": console.seconds, "written": [str(out)] if out else [],
        }
    )  # fmt: skip


def refine_tree(
    tree: Tree,
    data: Data,
    metric: str,
    objective: str,
    max_sweeps: int,
    seed: int | None,
    kept: Checkpoint,
    console: Console,
) -> Tree:
    """Refined tree; with a checkpoint an interrupted run loses at most one step."""
    with console.stage("similarity"):
        similarity = similarity_of(data, metric, neighbors=True, seed=seed)
    return public("refine")(
        tree,
        similarity,
        objective,
        max_sweeps=max_sweeps,
        random_state=seed,
        progress=console.reporter(),
        checkpoint=kept.inner_path("refine"),
    )


def _cost(tree: Tree, similarity: Any) -> float:
    from arbora import metrics

    if similarity.n_points != tree.n_leaves:
        raise Unusable(f"The data has {similarity.n_points:,} points, the tree {tree.n_leaves:,} leaves.")
    return float(metrics.dasgupta_cost(tree, similarity))
