"""``arbora predict``."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from arbora.cli._console import Console
from arbora.cli._exit import Unusable, WrongOption
from arbora.cli._matching import matched
from arbora.cli._options import Reading, Running
from arbora.cli._run import graph_of, limit_threads, read_dataset, read_tree_file, settle
from arbora.cli.methods import run_on_graph
from arbora.cli.tables_out import check_table, print_table, write_table
from arbora.cli.writing import check_writable
from arbora.errors import FormatError
from arbora.reading import Dataset
from arbora.reading.roles import listed

if TYPE_CHECKING:
    from arbora.search import Placement

# what columns of a table without a header are called
_UNNAMED = re.compile(r"column \d+")


@dataclass(frozen=True)
class PredictTask:
    """Which points to assign, by what."""

    model: str
    new: str
    clusters: int | None
    source: str | None
    metric: str | None
    out: Path | None


def run_predict(task: PredictTask, reading: Reading, running: Running, console: Console) -> None:
    """The cluster of each new point, how sure that is, and how much it looks like an outlier."""
    limit_threads(running)
    check_writable(task.out)
    check_table(task.out)
    if task.source is None:
        new, found = _by_model(task, reading, console)
    else:
        new, found = _by_tree(task, reading, running, console)
    labels, confidence = np.asarray(found.label), np.asarray(found.confidence)
    columns: dict[str, Any] = {
        "point": list(range(new.n_points)),
        "name": new.names or [str(row) for row in range(new.n_points)],
        "cluster": labels.tolist(),
        # how sure that is, and how unlike everything known the point is: between 0 and 1
        "confidence": np.round(confidence, 4).tolist(),
        "outlier_score": np.round(found.outlier_score, 4).tolist(),
    }
    if task.out is not None:
        write_table(task.out, columns, numbers=labels)
        console.say(f"wrote {task.out}")
    elif not console.as_json and not console.quiet:
        print_table(columns)
    console.result(
        {
            "names": columns["name"],
            "labels": labels,
            "confidence": columns["confidence"],
            "outlier_score": columns["outlier_score"],
            "written": [] if task.out is None else [str(task.out)],
        }
    )


def _by_model(task: PredictTask, reading: Reading, console: Console) -> tuple[Dataset, Placement]:
    from arbora import TreeClustering

    if task.metric is not None:
        raise WrongOption("--metric needs --data; a model has its own.")
    if reading.scale != "auto":
        raise WrongOption("--scale needs --data; a model scales new points as its own.")
    try:
        model = TreeClustering.load(task.model)
    except FormatError as error:
        raise FormatError(
            f"{task.model} is not a model that arbora fit --model wrote. With a tree, pass its --data as well."
        ) from error
    except OSError as error:
        raise FormatError(f"{task.model} cannot be read: {error.strerror}.") from error
    new = _new_points(task, replace(reading, scale="auto"), console)
    known = getattr(model, "feature_names_in_", None)
    new = _with_features(new, None if known is None else known.tolist(), task.model)
    return new, model.place(new, n_clusters=task.clusters)


def _by_tree(
    task: PredictTask, reading: Reading, running: Running, console: Console
) -> tuple[Dataset, Placement]:
    from arbora.search import place

    if task.clusters is None:
        raise WrongOption("--clusters is needed with a tree.")
    run = run_on_graph(str(task.source), "predict", task.metric, reading, running, console)
    data = run.data
    if data.kind != "vectors":
        raise Unusable(f"--data must hold vectors. {task.source} holds a {data.kind}.")
    # new points have the features of the data; what else the file holds does not matter
    columns = None if data.feature_names is None else _quoted(data.feature_names)
    new = _new_points(
        task, replace(reading, features=columns, label_column=None, drop=None, scale="auto"), console
    )
    new = _with_features(new, data.feature_names, str(task.source))
    if data.values.shape[1] != new.values.shape[1]:
        raise Unusable(
            f"New points need the {data.values.shape[1]} features of {task.source}. "
            f"{task.new} has {new.values.shape[1]}."
        )
    tree = matched(read_tree_file(task.model, reading), data)
    settled = settle(run)
    rows = np.asarray(new.scaled_by(settled.scaling))
    return new, place(tree, graph_of(settled, run), rows, n_clusters=task.clusters, n_jobs=running.threads)


def _with_features(new: Dataset, names: list[str] | None, source: str) -> Dataset:
    """New points with the features of the known ones, found by name in whatever order; by position without names."""
    found = new.feature_names
    if names is None or found is None or names == found or all(map(_UNNAMED.fullmatch, found)):
        return new
    absent = [name for name in names if name not in found]
    if absent:
        raise Unusable(
            f"New points need the features of {source}. {new.source} lacks {listed(absent)}; it has {listed(found)}."
        )
    place = [found.index(name) for name in names]
    return replace(new, values=new.values[:, place], feature_names=names)


def _quoted(names: list[str]) -> str | None:
    """Names of columns as one option; None if a comma in a name would split it."""
    return None if any("," in name for name in names) else ",".join(names)


def _new_points(task: PredictTask, reading: Reading, console: Console) -> Dataset:
    new = read_dataset(task.new, reading, console)
    if new.kind != "vectors":
        raise Unusable(f"New points must be vectors. {task.new} holds a {new.kind}.")
    return new
