"""``arbora refine``."""

from __future__ import annotations

import inspect
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
    similarity = similarity_of(data, metric, neighbours=True, seed=seed)
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
    *,
    restarts: int = 0,
    similarity: Any = None,
) -> Tree:
    """Refined tree; with a checkpoint sweep by sweep, so that an interrupted run loses at most one."""
    refine = public("refine")
    if similarity is None:
        with console.stage("similarity"):
            similarity = similarity_of(data, metric, neighbours=True, seed=seed)
    accepted = inspect.signature(refine).parameters
    options: dict[str, Any] = {"objective": objective} if "objective" in accepted else {}
    if "random_state" in accepted:
        options["random_state"] = seed
    with console.stage("refine"):
        if kept.folder is None:
            return refine(tree, similarity, max_sweeps=max_sweeps, restarts=restarts, **options)
        best = _by_sweeps(refine, tree, similarity, max_sweeps, options, kept, console)
        while kept.restarts < restarts:
            again = None if seed is None else seed + kept.restarts + 1
            best = refine(best, similarity, restarts=1, **{**options, "random_state": again})
            kept.keep("refined", best, restarts=kept.restarts + 1, finished=True)
        return best


def _by_sweeps(
    refine: Any,
    tree: Tree,
    similarity: Any,
    max_sweeps: int,
    options: dict[str, Any],
    kept: Checkpoint,
    console: Console,
) -> Tree:
    done = kept.sweeps
    best = kept.tree("refined") or tree
    if done:
        console.note(f"taking up after sweep {done} kept in {kept.folder}")
    if kept.finished:
        return best
    while done < max_sweeps:
        better = refine(best, similarity, max_sweeps=1, **options)
        done += 1
        at_rest = better.same_topology(best)
        best = better
        kept.keep("refined", best, sweeps=done, finished=at_rest)
        if at_rest:
            break
    return best


def _cost(tree: Tree, similarity: Any) -> float:
    from arbora import metrics

    if similarity.n_points != tree.n_leaves:
        raise Unusable(f"The data has {similarity.n_points:,} points, the tree {tree.n_leaves:,} leaves.")
    return float(metrics.dasgupta_cost(tree, similarity))
