"""``arbora fit``: read, build, measure, write."""

from __future__ import annotations

import platform
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from arbora import __version__
from arbora.cli._console import Console
from arbora.cli._exit import WrongOption
from arbora.cli._options import Reading, Running
from arbora.cli._run import (
    Comparing,
    Run,
    graph_cost,
    graph_words,
    limit_threads,
    neighbor_graph,
    read_dataset,
)
from arbora.cli.methods import (
    build_tree,
    check_data,
    check_settings,
    chosen_metric,
    read_settings,
    scales_itself,
)
from arbora.cli.pages import page_content, tree_facts, write_page
from arbora.cli.plot import check_picture, classes_of, picture_bytes
from arbora.cli.score import class_scores, print_scores
from arbora.cli.writing import check_writable, notes_on, tree_format, write_bytes, write_json, write_tree
from arbora.reading import Dataset
from arbora.tree import Tree


@dataclass(frozen=True)
class FitTask:
    """What to fit."""

    source: str
    method: str = "auto"
    metric: str | None = None
    settings: list[str] | tuple[str, ...] = ()
    refine: bool = False
    logits: bool = False
    checkpoint: Path | None = None
    scanpy: str | None = None
    workers: int | None = None
    scheduler: str | None = None


@dataclass(frozen=True)
class Outputs:
    """What to write."""

    out: Path | None = None
    html: Path | None = None
    report: Path | None = None
    picture: Path | None = None
    model: Path | None = None

    @property
    def writes_cells(self) -> bool:
        """Whether the tree goes into a copy of the cells."""
        return self.out is not None and self.out.suffix.lower() == ".h5ad"

    def check(self) -> None:
        """Check before the fit what could not be written after it."""
        check_writable(self.out, self.html, self.report, self.picture, self.model)
        if self.picture is not None:
            check_picture(self.picture)

    def written(self) -> list[str]:
        """Files, in the order they are written."""
        paths = (self.out, self.html, self.picture, self.model, self.report)
        return [str(path) for path in paths if path is not None and str(path) != "-"]


@dataclass
class Fitted:
    """A tree with what is known about how it was made."""

    tree: Tree
    cost: dict[str, Any]
    model: Any = None


def run_fit(task: FitTask, outputs: Outputs, reading: Reading, running: Running, console: Console) -> None:
    """Read, build, measure, write; nothing is written before all of it is done."""
    console.give_way_to(outputs.out)
    limit_threads(running)
    outputs.check()
    chosen_metric(task.method, task.metric)
    settings = read_settings(task.settings)
    check_settings(settings, task.method)
    if task.workers is not None or task.scheduler is not None:
        from arbora.cli.dask_fit import run_on_dask

        run_on_dask(task, settings, outputs, reading, running, console)
        return
    if task.scanpy is not None:
        from arbora.cli.single_cell import run_scanpy

        run_scanpy(task, settings, outputs, reading, running, console)
        return
    if outputs.writes_cells:
        if Path(task.source).suffix.lower() != ".h5ad" or task.method == "l2h":
            raise WrongOption("--out x.h5ad needs the cells of an h5ad file.")
    elif outputs.out is not None:
        tree_format(str(outputs.out))
    _check_options(task, outputs)
    data, comparing = _read(task, reading, console)
    metric = chosen_metric(task.method, task.metric, data.kind)
    run = Run(data, task.method, metric, running, console, settings, task.checkpoint, comparing)
    check_data(run)
    run.open_checkpoint(refine=task.refine)
    fitted = fit_tree(run, refine=task.refine, keep_model=outputs.model is not None)
    with console.stage("score"):
        scores = _scores(run, fitted.tree)
    facts = _facts(run, fitted, scores, outputs)
    with console.stage("write"):
        _write(fitted, run, outputs)
    facts["seconds"] = dict(console.seconds)
    if outputs.report is not None:
        write_json(outputs.report, facts)
    _print(run, facts, scores)


def _check_options(task: FitTask, outputs: Outputs) -> None:
    if task.method == "l2h" and not task.logits and "logit" not in Path(task.source).name.lower():
        raise WrongOption(
            "--method l2h builds a tree over the columns, which must be a classifier's logits. "
            "If they are, add --logits; to cluster the rows, use another method."
        )
    if task.logits and task.method != "l2h":
        raise WrongOption("--logits can only be used with --method l2h.")
    if task.method == "l2h" and task.refine:
        raise WrongOption("--refine cannot be combined with --method l2h; use --set refine=true.")
    if outputs.model is not None and (task.method != "auto" or task.refine):
        raise WrongOption("--model needs --method auto without --refine.")


def _read(task: FitTask, reading: Reading, console: Console) -> tuple[Dataset, Comparing]:
    """The data, scaled where the method does not do so itself, and how trees over it are measured."""
    is_scaled = reading.scale not in ("auto", "none") and not scales_itself(task.method)
    # what a method does not scale itself is read as it is, with a warning about columns that dominate
    unscaled = replace(reading, scale="auto" if scales_itself(task.method) else "none")
    data = read_dataset(task.source, reading if is_scaled else unscaled, console)
    comparing = Comparing.of_scaled(task.metric) if is_scaled else Comparing.asked(task.metric, reading.scale)
    return data, comparing


def fit_tree(run: Run, *, refine: bool = False, keep_model: bool = False) -> Fitted:
    """The tree of a run, with its costs; what an earlier run finished is taken from the checkpoint."""
    saved = None if keep_model else run.saved_tree("fit")
    if saved is not None:
        run.console.note(f"resuming: the fit saved in {run.folder} is complete")
        fitted = _measured(run, saved)
    elif run.method == "auto":
        fitted = _fit_auto(run, keep_model=keep_model)
    else:
        fitted = _measured(run, build_tree(run))
    if saved is None:
        run.save_tree("fit", fitted.tree)
    if refine:
        fitted = _refined(run, fitted)
    if run.method != "l2h" and run.data.names is not None:
        fitted.tree = fitted.tree.replace(name=run.data.names)
    return fitted


def _fit_auto(run: Run, *, keep_model: bool) -> Fitted:
    """What `arbora.cluster` does, with its report; as an estimator where the model is to be saved."""
    from arbora import TreeClustering
    from arbora.search.cluster import Options, build
    from arbora.search.inputs import read_input

    options: dict[str, Any] = {
        "metric": run.comparing.metric,
        "scale": run.comparing.scale,
        "random_state": run.seed,
        "n_jobs": run.running.threads,
        "checkpoint": run.inner_folder("search"),
        **run.settings,
    }
    if keep_model:
        model = TreeClustering(n_clusters=min(2, run.data.n_points), **options).fit(run.data)
        tree, report, metric, scale = model.tree_, model.report_, model.metric_, model.scale_
    else:
        checked = Options(**options)
        checked.check()
        given = read_input(run.data, checked.similarity, checked.directed)
        built, model = build(given, checked, run.console.progress), None
        tree, report, metric, scale = built.tree, built.report, built.metric, built.scale
    if run.data.kind == "vectors":
        run.note_comparison(metric, scale, report.choices.get("metric"))
    cost = {"similarity": report.similarity, "before": report.cost_before, "after": report.cost_after}
    return Fitted(tree, cost, model)


def _measured(run: Run, tree: Tree) -> Fitted:
    """A tree with its cost on the graph of nearest neighbors, where its leaves are the points."""
    if run.method == "l2h" or tree.n_leaves < 3:
        return Fitted(tree, {})
    with run.console.stage("cost"):
        similarity = neighbor_graph(run)
        if similarity.total <= 0:
            return Fitted(tree, {})
        cost = graph_cost(tree, similarity)
    return Fitted(tree, {"similarity": repr(similarity), "after": cost})


def _refined(run: Run, fitted: Fitted) -> Fitted:
    from arbora.cli.refine import refine_tree

    similarity = neighbor_graph(run)
    tree = refine_tree(run, fitted.tree, similarity, "dasgupta", 100)
    after = graph_cost(tree, similarity)
    before = fitted.cost.get("before", fitted.cost.get("after"))
    return Fitted(tree, {"similarity": repr(similarity), "before": before, "after": after}, fitted.model)


def _scores(run: Run, tree: Tree) -> dict[str, float]:
    """Agreement with the classes; a finished tree is not lost if they cannot be scored."""
    try:
        return class_scores(tree, run.data, run.console, is_over_columns=run.method == "l2h")
    except ValueError as error:
        run.console.note(f"no scores against {run.data.label_name!r}: {error}")
        return {}


def _facts(run: Run, fitted: Fitted, scores: dict[str, float], outputs: Outputs) -> dict[str, Any]:
    return {
        "arbora": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "data": run.data.facts(),
        "warnings": list(run.data.warnings),
        "method": {
            "name": run.method,
            "metric": run.metric,
            "compared_by": run.compared_by,
            "seed": run.seed,
            "settings": run.settings,
        },
        "tree": tree_facts(fitted.tree),
        "cost": fitted.cost,
        "scores": scores,
        "notes": _notes(fitted.tree, outputs),
        "written": outputs.written(),
    }


def _notes(tree: Tree, outputs: Outputs) -> list[str]:
    if outputs.out is None or outputs.writes_cells:
        return []
    return notes_on(tree, tree_format(str(outputs.out)))


def _write(fitted: Fitted, run: Run, outputs: Outputs) -> None:
    tree, data = fitted.tree, run.data
    if outputs.html is not None:
        write_page(
            tree,
            outputs.html,
            run.console,
            title=f"{Path(data.source).name}: {tree.n_leaves:,} leaves",
            **page_content(tree, data, run.console),
        )
    if outputs.picture is not None:
        classes = classes_of(data) if data.n_points == tree.n_leaves else None
        write_bytes(
            outputs.picture,
            picture_bytes(tree, outputs.picture, classes=classes, category_colors=data.category_colors),
        )
    if outputs.model is not None:
        fitted.model.save(outputs.model)
    if outputs.writes_cells:
        from arbora.cli.single_cell import write_cell_tree

        write_cell_tree(tree, run, outputs)
    elif outputs.out is not None:
        write_tree(tree, str(outputs.out))


def _print(run: Run, facts: dict[str, Any], scores: dict[str, float]) -> None:
    console, tree = run.console, facts["tree"]
    metric = run.compared_by if run.metric == "auto" else run.metric
    by = f"{run.method} ({metric})" if metric else run.method
    console.say(f"{by}: {tree['leaves']:,} leaves, {tree['internal nodes']:,} internal nodes")
    if run.reason and run.metric == "auto":
        console.say(f"compared by {run.reason}")
    if run.method == "l2h":
        console.say("The leaves are the columns of the data, which are classes.")
    cost = facts["cost"]
    if cost:
        before = f"{cost['before']:.5g} -> " if cost.get("before") is not None else ""
        graph = graph_words(run)
        console.say(f"Normalized Dasgupta cost on the {graph}: {before}{cost['after']:.5g} (lower is better)")
    print_scores(console, scores)
    spent = ", ".join(f"{stage} {seconds:.2f}" for stage, seconds in facts["seconds"].items())
    console.say(f"seconds: {spent}")
    for path in facts["written"]:
        console.say(f"wrote {path}")
    for note in facts["notes"]:
        console.note(note)
    console.result(facts)
