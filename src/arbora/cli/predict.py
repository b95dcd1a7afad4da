"""``arbora predict``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from arbora.cli._console import Console
from arbora.cli._exit import Unusable, WrongOption
from arbora.cli._matching import matched
from arbora.cli._options import Reading, Running
from arbora.cli._run import Run, limit_threads, neighbor_graph, read_dataset, read_tree_file
from arbora.cli.methods import chosen_metric
from arbora.cli.tables_out import as_text, check_table, write_table
from arbora.cli.writing import check_writable
from arbora.reading import Dataset


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
    """The cluster of each new point."""
    limit_threads(running)
    check_writable(task.out)
    check_table(task.out)
    new = read_dataset(task.new, reading, console)
    if new.kind != "vectors":
        raise Unusable(f"New points must be vectors. {task.new} holds a {new.kind}.")
    new.check_usable()
    labels = _by_model(task, new) if task.source is None else _by_tree(task, new, reading, running, console)
    columns: dict[str, Any] = {
        "point": list(range(new.n_points)),
        "name": new.names or [str(row) for row in range(new.n_points)],
        "cluster": labels.tolist(),
    }
    if task.out is not None:
        write_table(task.out, columns, numbers=labels)
        console.say(f"wrote {task.out}")
    elif not console.as_json and not console.quiet:
        print(as_text(columns), end="")
    console.result(
        {"names": columns["name"], "labels": labels, "written": [] if task.out is None else [str(task.out)]}
    )


def _by_model(task: PredictTask, new: Dataset) -> Any:
    from arbora import TreeClustering
    from arbora.errors import FormatError

    if task.metric is not None:
        raise WrongOption("--metric needs --data; a model knows its own.")
    try:
        model = TreeClustering.load(task.model)
    except FormatError as error:
        raise FormatError(
            f"{task.model} is not a model that arbora fit --model wrote. With a tree, give its --data as well."
        ) from error
    return model.predict(new.values, n_clusters=task.clusters)


def _by_tree(task: PredictTask, new: Dataset, reading: Reading, running: Running, console: Console) -> Any:
    from arbora import predict

    if task.clusters is None:
        raise WrongOption("--clusters is needed with a tree.")
    data = read_dataset(str(task.source), reading, console)
    if data.kind != "vectors" or data.values.shape[1] != new.values.shape[1]:
        raise Unusable(
            f"New points need the features of the data: {task.new} has {new.values.shape[1]}, "
            f"{task.source} {data.values.shape[1]}."
        )
    if data.feature_names != new.feature_names and None not in (data.feature_names, new.feature_names):
        raise Unusable(f"The columns of {task.new} differ from those of {task.source}.")
    metric = chosen_metric("auto", task.metric, data.kind)
    tree = matched(read_tree_file(task.model, reading), data)
    similarity = neighbor_graph(Run(data, "predict", metric, running, console))
    return predict(tree, similarity, np.asarray(new), n_clusters=task.clusters, n_jobs=running.threads)
