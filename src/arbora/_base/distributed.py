"""Rows in chunks on many machines: what a Dask array must be, and where its tasks run.

Nothing of Dask is imported before a Dask array is seen. Tasks are Dask's `delayed` objects. They run on the cluster of
the active client, or in the threads of this process where there is none. No result depends on which of the two it is,
nor on the number of workers.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora._base.arrays import refuse_mask
from arbora._base.optional import require
from arbora._base.progress import Stage
from arbora.errors import ArboraError, WorkersLostError

_NUMBERS = "biuf"
# Names of Dask's schedulers of this process: one task after another, and threads.
_ONE_BY_ONE, _IN_THREADS = ("sync", "synchronous", "single-threaded"), ("threads", "threading")
_SECONDS_BETWEEN_LOOKS = 0.25
_SECONDS_BETWEEN_COUNTS = 2.0
# How long a cluster may be without workers, unless Dask's "distributed.scheduler.no-workers-timeout" is set.
_SECONDS_WITHOUT_WORKERS = 60.0
# Results that tree reductions combine at once.
_FAN_IN = 8


def is_dask(data: Any) -> bool:
    """Whether this is a Dask array, checked without importing Dask."""
    array = sys.modules.get("dask.array")
    return array is not None and isinstance(data, array.Array)


def is_dask_frame(data: Any) -> bool:
    """Whether this is a Dask frame, checked without importing Dask."""
    frames = sys.modules.get("dask.dataframe")
    return frames is not None and isinstance(data, frames.DataFrame)


def array_of(data: Any, *, argument: str = "X") -> tuple[Any, list[str] | None]:
    """A Dask array or frame as an array, and the names of its columns, where it has them.

    The rows of a frame's partitions have to be counted, which reads them once.
    """
    if not is_dask_frame(data):
        return data, None
    others = [str(name) for name, dtype in data.dtypes.items() if getattr(dtype, "kind", "O") not in _NUMBERS]
    if others:
        raise ValueError(
            f"{argument} has columns that are not numbers: {', '.join(map(repr, others[:6]))}. Keep only the others, "
            "for instance with frame.select_dtypes('number')."
        )
    workers_for(data)
    return data.to_dask_array(lengths=True), [str(name) for name in data.columns]


# ---- arrays --------------------------------------------------------------------------------------------------


def checked_array(X: Any, workers: Workers, *, argument: str = "X") -> Any:
    """A Dask array of rows with known chunk sizes, each chunk holding whole rows and none of them empty.

    Unknown sizes are computed, which reads the data once.
    """
    if X.ndim != 2:
        raise ValueError(f"{argument} must have shape (n_points, n_features). Got {X.ndim} dimensions.")
    if X.dtype.kind not in _NUMBERS:
        raise ValueError(
            f"{argument} must hold real numbers. Got dtype {X.dtype}. Keep only the numeric columns, for instance "
            "with frame.select_dtypes('number').to_dask_array(lengths=True)."
        )
    if isinstance(X._meta, np.ma.MaskedArray):
        # whether anything is masked shows only in the chunks
        raise ValueError(
            f"{argument} is a masked array: a mask cannot be clustered. Fill it with dask.array.ma.filled, or remove "
            "the masked rows."
        )
    if X.numblocks[1] != 1:
        raise ValueError(
            f"{argument} has its columns in {X.numblocks[1]} chunks. Every chunk must hold whole rows: "
            f"pass {argument}.rechunk({{1: -1}})."
        )
    if any(size != size for size in X.shape):
        X = _with_known_sizes(X, workers)
    if 0 in X.shape:
        raise ValueError(
            f"Found array with 0 sample(s) or feature(s): {argument} must not be empty. Got shape {X.shape}."
        )
    return _without_empty_chunks(X)


def check_finite_chunks(X: Any, workers: Workers, *, argument: str = "X", stage: Stage | None = None) -> None:
    """Raise on NaN or infinity anywhere, naming the first row: one pass over the chunks."""
    delayed = _delayed()
    counts = workers.gather([delayed(count_non_finite)(block) for block in row_blocks(X)], stage)
    refuse_non_finite(X, counts, argument)


def refuse_non_finite(X: Any, counts: Sequence[tuple[int, int]], argument: str) -> None:
    """Raise where `count_non_finite` found something in any chunk."""
    starts = np.concatenate([[0], np.cumsum(X.chunks[0])])
    bad = [(int(starts[k]) + first, count) for k, (count, first) in enumerate(counts) if count]
    if bad:
        total = sum(count for _, count in bad)
        raise ValueError(
            f"{argument} must be finite. It holds {total:,} NaN or infinite values, the first in row {bad[0][0]} "
            "(counted from 0). Remove or impute them."
        )


def row_blocks(X: Any) -> list[Any]:
    """The chunks of a checked array as delayed NumPy arrays, in order of rows."""
    return [block for (block,) in X.to_delayed()]


def in_even_chunks(X: Any, n_rows: int) -> Any:
    """The array in chunks of `n_rows`, the last one aside: what is summed by chunks does not depend on the caller's."""
    return X.rechunk({0: n_rows})


def _with_known_sizes(X: Any, workers: Workers) -> Any:
    delayed = _delayed()
    shapes = workers.gather([delayed(np.shape)(block) for row in X.to_delayed() for block in row])
    known = X.copy()
    known._chunks = (tuple(int(shape[0]) for shape in shapes), (int(shapes[0][1]),))
    return known


def _without_empty_chunks(X: Any) -> Any:
    sizes = [size for size in X.chunks[0] if size > 0]
    return X if len(sizes) == len(X.chunks[0]) else X.rechunk({0: tuple(sizes)})


def count_non_finite(block: NDArray[Any]) -> tuple[int, int]:
    """How many values of a block are not finite, and the first row that has one."""
    refuse_mask(block, "X")
    if block.dtype.kind != "f":
        return 0, 0
    is_finite = np.isfinite(block)
    if is_finite.all():
        return 0, 0
    return int((~is_finite).sum()), int((~is_finite).any(axis=1).argmax())


# ---- tasks ---------------------------------------------------------------------------------------------------


def workers_for(*arrays: Any) -> Workers:
    """Where the tasks of Dask collections run: the cluster of the active client, or threads where there is none.

    Data that a closed client holds are refused, and so is a closed client that is the current one: the work would
    silently move to this machine. Clients that were closed earlier do not matter.
    """
    distributed = sys.modules.get("distributed")
    scheduler = require("dask", "A Dask array").config.get("scheduler", None)
    if scheduler in _ONE_BY_ONE + _IN_THREADS or distributed is None:
        return Workers(None)
    for array in arrays:
        _refuse_if_closed(next((future.client for future in distributed.futures_of(array)), None))
    try:
        client = distributed.default_client()
    except ValueError:
        client = None
    _refuse_if_closed(client)
    return Workers(client)


_CLOSED = (
    "The Dask client is closed, and with it the way to its cluster. Connect again with "
    "client = dask.distributed.Client(address), or to use the threads of this machine call inside "
    "dask.config.set(scheduler='threads')."
)


def _refuse_if_closed(client: Any) -> None:
    if client is not None and client.status not in ("running", "newly-created"):
        raise ValueError(_CLOSED)


class Workers:
    """Runs delayed tasks on a cluster, or in threads where `client` is None; reports how many are done.

    Tasks that a lost worker held are repeated by Dask itself. A cluster that is gone, or that stays without workers,
    ends in `WorkersLostError`.
    """

    def __init__(self, client: Any) -> None:
        self.client = client

    def gather(self, tasks: Sequence[Any], stage: Stage | None = None) -> list[Any]:
        """Results of the tasks, on this machine, in order."""
        if not tasks:
            return []
        if self.client is None:
            with _reported(stage, len(tasks)):
                return list(require("dask", "A Dask array").compute(*tasks, scheduler=_scheduler_here()))
        with _translated():
            futures = self.client.compute(list(tasks))
            self._wait(futures, stage)
            return list(self.client.gather(futures))

    def persist(
        self, tasks: Sequence[Any], stage: Stage | None = None, weights: Sequence[float] | None = None
    ) -> list[Any]:
        """The same tasks, their results left where they were computed; waits until all are done.

        Where few tasks take long, give their `weights`: a cluster begins with the heaviest, so that at the end all
        workers are busy with light ones.
        """
        if not tasks:
            return []
        if self.client is None:
            with _reported(stage, len(tasks)):
                return list(require("dask", "A Dask array").persist(*tasks, scheduler=_scheduler_here()))
        with _translated():
            if weights is None:
                kept = list(self.client.persist(list(tasks)))
            else:
                kept = self._persist_heaviest_first(tasks, weights)
            self._wait(sys.modules["distributed"].futures_of(kept), stage)
            return kept

    def _persist_heaviest_first(self, tasks: Sequence[Any], weights: Sequence[float]) -> list[Any]:
        kept = list(tasks)
        for k in sorted(range(len(kept)), key=lambda k: -weights[k]):
            kept[k] = self.client.persist(kept[k], priority=weights[k])
        return kept

    def _wait(self, futures: list[Any], stage: Stage | None) -> None:
        """Wait for all futures, reporting progress, and notice when no worker is left to compute them."""
        distributed = sys.modules["distributed"]
        counted, last_seen = time.monotonic(), time.monotonic()
        while True:
            try:
                distributed.wait(futures, timeout=_SECONDS_BETWEEN_LOOKS)
                return
            # Dask raises its own subclass of it in some versions
            except TimeoutError:
                pass
            if stage is not None:
                is_done = sum(future.status == "finished" for future in futures)
                stage.update(is_done / len(futures) * (stage.total or 1.0))
            now = time.monotonic()
            if now - counted > _SECONDS_BETWEEN_COUNTS:
                counted = now
                last_seen = now if self.client.nthreads() else last_seen
                if now - last_seen > _patience():
                    raise WorkersLostError(_words("it has had no workers for a while"))


def sum_as_tree(tasks: Sequence[Any], combine: Callable[[list[Any]], Any]) -> Any:
    """One delayed task that combines all of them, a few at a time, always in the same order.

    Sums of floats depend on the order of their terms. Here it depends on the number of tasks alone, never on which of
    them a worker finished first.
    """
    delayed = _delayed()
    level = list(tasks)
    while len(level) > 1:
        level = [delayed(combine)(level[k : k + _FAN_IN]) for k in range(0, len(level), _FAN_IN)]
    return level[0]


def _delayed() -> Any:
    return require("dask", "A Dask array").delayed


def _scheduler_here() -> str:
    """Threads, unless the caller asked Dask for one task after another."""
    return (
        "sync" if require("dask", "A Dask array").config.get("scheduler", None) in _ONE_BY_ONE else "threads"
    )


def _patience() -> float:
    dask = require("dask", "A Dask array")
    known = dask.config.get("distributed.scheduler.no-workers-timeout", None)
    return _SECONDS_WITHOUT_WORKERS if known is None else float(dask.utils.parse_timedelta(known))


@contextmanager
def _reported(stage: Stage | None, n_tasks: int) -> Iterator[None]:
    """Report tasks that threads finish; those of the caller's graph count as well, so that the share is an estimate."""
    if stage is None:
        yield
        return
    callbacks = require("dask.callbacks", "A Dask array")
    done = 0

    def count(key: Any, result: Any, graph: Any, state: Any, worker: Any) -> None:
        nonlocal done
        done += 1
        all_tasks = max(
            n_tasks, sum(len(state[kind]) for kind in ("ready", "waiting", "running", "finished"))
        )
        stage.update(done / all_tasks * (stage.total or 1.0))

    with callbacks.Callback(posttask=count):
        yield


@contextmanager
def _translated() -> Iterator[None]:
    """Report what happened to the cluster in arbora's words; errors of the tasks themselves pass through unchanged."""
    distributed = sys.modules["distributed"]
    lost = (
        distributed.scheduler.KilledWorker,
        distributed.comm.CommClosedError,
        # of one future or of several
        distributed.client.CancelledError,
        distributed.scheduler.NoWorkerError,
    )
    try:
        yield
    except ArboraError:
        raise
    except lost as problem:
        raise WorkersLostError(_words(f"{type(problem).__name__}: {problem}")) from problem
    # a connection that cannot be made; files that tasks cannot read are OSErrors with a number
    except (OSError, RuntimeError) as problem:
        if getattr(problem, "errno", None) is None and _speaks_of_connection(problem):
            raise WorkersLostError(_words(f"{type(problem).__name__}: {problem}")) from problem
        raise


def _speaks_of_connection(problem: BaseException) -> bool:
    said = str(problem).lower()
    return any(word in said for word in ("connect", "client", "scheduler", "comm"))


def _words(what: str) -> str:
    return (
        f"The Dask cluster was lost before the work was done ({what}). With checkpoint=folder the same call resumes "
        "from the steps that were finished. If workers ran out of memory, give them more, or start fewer of them."
    )
