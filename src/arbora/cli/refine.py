"""``arbora refine``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arbora.cli._console import Console
from arbora.cli._exit import check_option
from arbora.cli._matching import matched
from arbora.cli._options import Reading, Running
from arbora.cli._run import Run, graph_cost, graph_words, limit_threads, neighbor_graph, read_tree_file
from arbora.cli.methods import run_on_graph
from arbora.cli.pages import tree_facts
from arbora.cli.score import class_scores, print_scores
from arbora.cli.writing import check_writable, tree_format, write_tree
from arbora.tree import Tree

OBJECTIVES = ("dasgupta", "tsd")


@dataclass(frozen=True)
class RefineTask:
    """What to refine."""

    tree: str
    source: str
    out: Path | None
    objective: str
    metric: str | None
    max_sweeps: int
    checkpoint: Path | None


def run_refine(task: RefineTask, reading: Reading, running: Running, console: Console) -> None:
    """Read, refine, measure before and after, write."""
    console.give_way_to(task.out)
    limit_threads(running)
    check_writable(task.out)
    if task.out is not None:
        tree_format(str(task.out))
    check_option("--objective", task.objective, OBJECTIVES)
    run = run_on_graph(task.source, "refine", task.metric, reading, running, console)
    run.folder, data = task.checkpoint, run.data
    start = matched(read_tree_file(task.tree, reading), data)
    run.open_checkpoint(tree=start, objective=task.objective, max_sweeps=task.max_sweeps)
    similarity = neighbor_graph(run)
    better = refine_tree(run, start, similarity, task.objective, task.max_sweeps)
    values = {
        name: _objective(tree, similarity, task.objective)
        for name, tree in (("before", start), ("after", better))
    }
    scores = class_scores(better, data, console)
    if task.out is not None:
        write_tree(better, str(task.out))
    direction = "lower" if task.objective == "dasgupta" else "higher"
    name = "Normalized Dasgupta cost" if task.objective == "dasgupta" else "Tree sampling divergence"
    console.say(
        f"{name} on the {graph_words(run)}: {values['before']:.6g} -> {values['after']:.6g} ({direction} is better)"
    )
    print_scores(console, scores)
    if task.out is not None and str(task.out) != "-":
        console.say(f"wrote {task.out}")
    console.result(
        {
            "tree": tree_facts(better), "objective": {"name": task.objective, "better": direction, **values},
            "metric": run.compared_by, "scores": scores, "seconds": console.seconds,
            "written": [str(task.out)] if task.out else [],
        }
    )  # fmt: skip


def refine_tree(run: Run, tree: Tree, similarity: Any, objective: str, max_sweeps: int) -> Tree:
    """Refined tree; with a checkpoint an interrupted run loses at most one step."""
    from arbora import refine

    return refine(
        tree,
        similarity,
        objective,  # type: ignore[arg-type]
        max_sweeps=max_sweeps,
        n_jobs=run.running.threads,
        random_state=run.seed,
        progress=run.console.progress,  # type: ignore[arg-type]
        checkpoint=run.inner_folder("refine"),
    )


def _objective(tree: Tree, similarity: Any, objective: str) -> float:
    from arbora.metrics import tree_sampling_divergence

    if objective == "tsd":
        return float(tree_sampling_divergence(tree, similarity))
    return graph_cost(tree, similarity)
