"""``arbora fit --workers 4`` and ``--scheduler tcp://host:port``: rows that stay in their store, on a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora import __version__
from arbora._base.optional import require
from arbora._base.rows import open_rows
from arbora.cli._console import Console
from arbora.cli._exit import Unusable, WrongOption
from arbora.cli._options import Reading, Running
from arbora.cli.fit import FitTask, Outputs
from arbora.cli.pages import tree_facts, write_page
from arbora.cli.writing import tree_format, write_json, write_tree
from arbora.errors import MissingFileError
from arbora.tree import Tree

_PURPOSE = "--workers and --scheduler"
_BYTES_PER_CHUNK = 64 * 2**20


def run_on_dask(
    task: FitTask,
    settings: dict[str, Any],
    outputs: Outputs,
    reading: Reading,
    running: Running,
    console: Console,
) -> None:
    """Build a tree over the rows of a store, on a local cluster or on yours."""
    from arbora.scale import build_on_dask
    from arbora.search.cluster import Options

    _check(task, outputs, reading)
    choices = {"metric": task.metric or "auto", "scale": reading.scale, **settings}
    options = Options(
        **choices, random_state=running.seed, n_jobs=running.threads, checkpoint=task.checkpoint
    )
    options.check()
    with connected(task, console):
        with console.stage("read"):
            X = lazy_rows(task.source)
        console.say(
            f"{task.source}: {X.shape[0]:,} rows, {X.shape[1]:,} features, in {X.numblocks[0]:,} chunks"
        )
        built = build_on_dask(X, options, console.progress, argument=task.source)
    _finish(built.tree, built.report, task, outputs, console)


def _finish(tree: Tree, report: Any, task: FitTask, outputs: Outputs, console: Console) -> None:
    with console.stage("write"):
        if outputs.html is not None:
            title = f"{Path(task.source).name}: {tree.n_leaves:,} leaves"
            write_page(tree, outputs.html, console, title=title)
        if outputs.out is not None:
            write_tree(tree, str(outputs.out))
    cost = {"similarity": report.similarity, "before": report.cost_before, "after": report.cost_after}
    facts = {
        "arbora": __version__,
        "data": {"source": task.source, "points": tree.n_leaves},
        "method": {"name": "auto", "choices": report.choices},
        "tree": tree_facts(tree),
        "cost": cost,
        "written": outputs.written(),
        "seconds": dict(console.seconds),
    }
    if outputs.report is not None:
        write_json(outputs.report, facts)
    console.say(str(report))
    for path in outputs.written():
        console.say(f"wrote {path}")
    console.result(facts)


def _check(task: FitTask, outputs: Outputs, reading: Reading) -> None:
    if task.workers is not None and task.scheduler is not None:
        raise WrongOption("--workers starts a cluster and --scheduler uses yours. Use one of them.")
    if task.workers is not None and task.workers < 1:
        raise WrongOption(f"--workers must be at least 1. Got {task.workers}.")
    if task.method != "auto":
        raise WrongOption(f"--method {task.method} needs the rows in memory: on a cluster use --method auto.")
    refused = {
        "--refine": task.refine,
        "--logits": task.logits,
        "--scanpy": task.scanpy is not None,
        "--model": outputs.model is not None,
        "--picture": outputs.picture is not None,
        "--label-column": reading.label_column is not None,
        "--name-column": reading.name_column is not None,
        "--features": bool(reading.features),
        "--drop": bool(reading.drop),
    }
    for option, is_given in refused.items():
        if is_given:
            raise WrongOption(
                f"{option} needs the rows in memory and cannot be combined with --workers or --scheduler."
            )
    if outputs.out is not None:
        tree_format(str(outputs.out))


@contextmanager
def connected(task: FitTask, console: Console) -> Iterator[Any]:
    """The client of a cluster: of worker processes started here, or of the scheduler at an address."""
    distributed = require("distributed", _PURPOSE)
    if task.scheduler is not None:
        try:
            client = distributed.Client(task.scheduler, timeout=30)
        except (OSError, ValueError) as problem:
            raise Unusable(f"No Dask scheduler answers at {task.scheduler}: {problem}.") from problem
        with client:
            _say_where(client, console)
            yield client
        return
    with (
        distributed.LocalCluster(
            n_workers=task.workers,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs=50,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        _say_where(client, console)
        yield client


def _say_where(client: Any, console: Console) -> None:
    workers = client.nthreads()
    console.note(
        f"{len(workers)} workers, {sum(workers.values())} threads; dashboard at {client.dashboard_link}"
    )


# ---- rows that stay where they are ---------------------------------------------------------------------------


def lazy_rows(source: str) -> Any:
    """A Dask array of the rows of a .npy, zarr, HDF5 or Parquet store, whose chunks workers read by themselves."""
    path = Path(source)
    if not path.exists():
        raise MissingFileError(f"There is no file or directory at {source}.")
    if path.suffix == ".parquet" or (path.is_dir() and any(path.glob("*.parquet"))):
        return _lazy_parquet(source)
    array = require("dask.array", _PURPOSE)
    delayed = require("dask", _PURPOSE).delayed
    rows = open_rows(source, argument=source)
    n_rows, n_features = rows.count_rows(), rows.shape[1]
    dtype = rows.head().dtype
    step = max(1, _BYTES_PER_CHUNK // (n_features * dtype.itemsize))
    # the path as the workers find it
    where = str(path.resolve())
    blocks = [
        array.from_delayed(
            delayed(_read_rows)(where, start, min(start + step, n_rows)),
            shape=(min(step, n_rows - start), n_features),
            dtype=dtype,
        )
        for start in range(0, n_rows, step)
    ]
    return array.concatenate(blocks)


def _read_rows(path: str, start: int, stop: int) -> NDArray[Any]:
    return open_rows(path, argument=path).take(np.arange(start, stop))


def _lazy_parquet(source: str) -> Any:
    frame = require("dask.dataframe", _PURPOSE).read_parquet(source)
    other = [str(name) for name, kind in frame.dtypes.items() if kind.kind not in "biuf"]
    if other:
        raise Unusable(
            f"{source} has columns that are not numbers: {', '.join(other[:6])}. Write a store of the columns to "
            "cluster by."
        )
    return frame.to_dask_array(lengths=True)
