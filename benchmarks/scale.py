"""Clustering on a Dask cluster: overhead, speed, memory, and quality beside the tree of one machine.

    python benchmarks/scale.py quality     # purities and costs, both trees: 1,000,000 rows
    python benchmarks/scale.py mnist       # parts forced to 5,000 rows, real data
    python benchmarks/scale.py overhead    # one worker against memory, CPU seconds: 1,000,000 rows
    python benchmarks/scale.py speedup     # the same 1,000,000 rows, 1 and 2 workers
    python benchmarks/scale.py weak        # 1,000,000 rows for each worker, 1 and 2 workers
    python benchmarks/scale.py memory      # 4,000,000 rows, no worker above its limit of 1.2 GB
    python benchmarks/scale.py file        # 10,000,000 rows from a memory-mapped file, 2 workers of 4 GB
    python benchmarks/scale.py l2h         # 5,000,000 x 1,000 logits, 2 workers of 3 GB
    python benchmarks/scale.py kills       # ten runs, each losing a worker at a random moment: 60,000 rows
    python benchmarks/scale.py graph       # a graph in shards against the same graph in memory: 300,000 nodes

--quick runs each of them small, in parts forced small; --rows, --part, --workers and --memory change single sizes.
Rows are the three-level mixture of search_speed.py, 64 features, float32, drawn block by block so that no machine holds
them all. Workers are processes of one thread on this machine; the coordinator has one thread too, in speedup and weak
as many as there are workers. A small run compiles the kernels before the clock starts. CPU seconds are those of the
coordinator and all workers; peaks are resident memory, sampled every 0.2 seconds.
Figures go to benchmarks/results/scale-<section>.json, or scale-<section>-quick.json.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import math
import os
import random
import signal
import tempfile
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import dask
import dask.array as da
import numpy as np
import psutil
import scale_l2h
from _record import record
from distributed import Client, LocalCluster
from scale_quality import purities, qualities

import arbora as ab
from arbora.scale import LIMITS, Limits, build_graph_on_dask, build_on_dask
from arbora.search.cluster import Options, build
from arbora.search.inputs import read_input

D = 64
ROWS_PER_BLOCK = 50_000


def centers(seed=0):
    """Means of 10 groups of 10 groups of 10."""
    rng = np.random.default_rng(seed)
    found = np.zeros((1, D))
    for spread in (4.0, 2.0, 1.0):
        steps = rng.normal(size=(len(found) * 10, D)) * spread / math.sqrt(D) * 4
        found = np.repeat(found, 10, axis=0) + steps
    return found.astype(np.float32)


def block_of(number, n_rows):
    """Rows of a block, and their group at the finest level."""
    rng = np.random.default_rng((1, number))
    leaf = rng.integers(1000, size=n_rows)
    rows = rng.standard_normal((n_rows, D), dtype=np.float32)
    rows += centers()[leaf]
    return rows, leaf


def sizes_of_blocks(n):
    return [min(ROWS_PER_BLOCK, n - first) for first in range(0, n, ROWS_PER_BLOCK)]


def lazy_mixture(n):
    """The mixture as a Dask array, each block drawn by the worker that needs it."""
    blocks = [
        da.from_delayed(dask.delayed(block_of)(k, size)[0], shape=(size, D), dtype=np.float32)
        for k, size in enumerate(sizes_of_blocks(n))
    ]
    return da.concatenate(blocks)


def mixture(n):
    """The same in memory."""
    return np.concatenate([block_of(k, size)[0] for k, size in enumerate(sizes_of_blocks(n))])


def labels_of(n):
    leaf = np.concatenate([block_of(k, size)[1] for k, size in enumerate(sizes_of_blocks(n))])
    return np.stack([leaf // 100, leaf // 10, leaf], axis=1)


@contextmanager
def cluster_of(n_workers, memory="auto", *, warm=True):
    with (
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            memory_limit=memory,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs=50,
        ) as cluster,
        Client(cluster) as client,
    ):
        if warm:
            warm_up()
        yield client


def warm_up():
    """Compile what all workers and the coordinator need."""
    limits = Limits(part=4000, sample=4000, pieces=1000)
    options = Options(random_state=0)
    for _ in range(2):
        build_on_dask(lazy_mixture(31_000), options, limits=limits)


class Watched:
    """Clock, CPU seconds and peaks of what runs inside."""

    def __init__(self, client):
        self._client = client
        self._over = threading.Event()
        self.peaks = {}

    def _pids(self):
        return [os.getpid(), *self._client.run(os.getpid).values()] if self._client else [os.getpid()]

    def _cpu(self):
        workers = self._client.run(time.process_time).values() if self._client else []
        return time.process_time() + sum(workers)

    def _watch(self, pids):
        while not self._over.wait(0.2):
            for pid in pids:
                try:
                    used = psutil.Process(pid).memory_info().rss / 2**30
                except psutil.NoSuchProcess:
                    continue
                self.peaks[pid] = max(self.peaks.get(pid, 0.0), used)

    def __enter__(self):
        pids = self._pids()
        self._before = pids
        self._thread = threading.Thread(target=self._watch, args=(pids,), daemon=True)
        self._thread.start()
        self._wall, self._cpu_before = time.perf_counter(), self._cpu()
        return self

    def __exit__(self, *_):
        self.wall = time.perf_counter() - self._wall
        self.survived = self._pids() == self._before
        self.cpu = self._cpu() - self._cpu_before if self.survived else float("nan")
        self._over.set()
        self._thread.join()

    def row(self):
        own = os.getpid()
        return {
            "wall s": round(self.wall, 1),
            "cpu s": round(self.cpu, 1),
            "coordinator GB": round(self.peaks.get(own, 0.0), 2),
            "largest worker GB": round(max([v for p, v in self.peaks.items() if p != own], default=0.0), 2),
            "all workers survived": self.survived,
        }


def on_dask(X, part=None, n_jobs=1):
    limits = Limits(part=part) if part else LIMITS
    return build_on_dask(X, Options(random_state=0, n_jobs=n_jobs), limits=limits)


def in_memory(X):
    return build(read_input(X), Options(random_state=0, n_jobs=1))


def compared(rows, labels, part):
    """Both trees, built in this process: purities and costs (scale_quality.py), CPU seconds."""
    with Watched(None) as memory:
        here = in_memory(rows)
    with Watched(None) as spread, dask.config.set(scheduler="sync"):
        there = on_dask(da.from_array(rows, chunks=(ROWS_PER_BLOCK, -1)), part)
    return {
        "rows": len(rows),
        "part": part or LIMITS.part,
        **qualities(here, there, rows, labels),
        "cpu s in memory": round(memory.cpu, 1),
        "cpu s on Dask": round(spread.cpu, 1),
        "cpu ratio": round(spread.cpu / memory.cpu, 2),
        "seconds on Dask": rounded(there.report.seconds),
    }


def run_quality(sizes):
    in_memory(mixture(31_000))
    with dask.config.set(scheduler="sync"):
        warm_up()
    yield compared(mixture(sizes.rows), labels_of(sizes.rows), sizes.part)


def run_mnist(sizes):
    folder = os.environ.get("ARBORA_DATA")
    if folder is None:
        raise SystemExit("Set ARBORA_DATA to the folder of the published data sets.")
    with np.load(Path(folder) / "vectors" / "mnist.npz") as file:
        rows, y = file["X"][: sizes.rows].astype(np.float32), file["y"][: sizes.rows]
    yield compared(rows, y[:, None], sizes.part)


def run_overhead(sizes):
    in_memory(mixture(31_000))
    rows = mixture(sizes.rows)
    with Watched(None) as memory:
        here = in_memory(rows)
    yield {"rows": sizes.rows, "workers": 0, **memory.row(), "seconds": rounded(here.report.seconds)}
    with cluster_of(1) as client, Watched(client) as watched:
        built = on_dask(lazy_mixture(sizes.rows), sizes.part)
    yield {
        "rows": sizes.rows,
        "workers": 1,
        **watched.row(),
        "cpu ratio": round(watched.cpu / memory.cpu, 2),
        "wall ratio": round(watched.wall / memory.wall, 2),
        "seconds": rounded(built.report.seconds),
    }
    yield qualities(here, built, rows, labels_of(sizes.rows))


def run_speedup(sizes, weak=False):
    first = None
    for n_workers in sizes.workers:
        n = sizes.rows * n_workers if weak else sizes.rows
        with cluster_of(n_workers) as client, Watched(client) as watched:
            # the workers are idle while the coordinator searches: it may use their cores
            built = on_dask(lazy_mixture(n), sizes.part, n_jobs=n_workers)
        first = first or watched.wall
        yield {
            "rows": n,
            "workers": n_workers,
            **watched.row(),
            "wall of the first over this": round(first / watched.wall, 2),
            "seconds": rounded(built.report.seconds),
        }


def run_weak(sizes):
    yield from run_speedup(sizes, weak=True)


def run_memory(sizes):
    n_workers = sizes.workers[-1]
    with cluster_of(n_workers, sizes.memory) as client, Watched(client) as watched:
        built = on_dask(lazy_mixture(sizes.rows), sizes.part)
    yield {
        "rows": sizes.rows,
        "workers": n_workers,
        "memory limit": sizes.memory,
        **watched.row(),
        "purities": purities(built.tree, labels_of(sizes.rows)),
        "seconds": rounded(built.report.seconds),
    }


def read_slice(path, start, stop):
    return np.array(np.load(path, mmap_mode="r")[start:stop])


def run_file(sizes):
    """Rows in a .npy file that workers map into memory."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "rows.npy")
        file = np.lib.format.open_memmap(path, "w+", np.float32, (sizes.rows, D))
        first = 0
        for number, size in enumerate(sizes_of_blocks(sizes.rows)):
            file[first : first + size] = block_of(number, size)[0]
            first += size
        del file
        starts = np.cumsum([0, *sizes_of_blocks(sizes.rows)]).tolist()
        X = da.concatenate(
            [
                da.from_delayed(dask.delayed(read_slice)(path, a, b), shape=(b - a, D), dtype=np.float32)
                for a, b in itertools.pairwise(starts)
            ]
        )
        with cluster_of(sizes.workers[-1], sizes.memory) as client, Watched(client) as watched:
            built = on_dask(X, sizes.part)
    yield {
        "rows": sizes.rows,
        "workers": sizes.workers[-1],
        "memory limit": sizes.memory,
        **watched.row(),
        "seconds": rounded(built.report.seconds),
    }


def run_l2h(sizes):
    yield scale_l2h.measured(
        sizes.rows, 1000, sizes.part or 50_000, n_workers=sizes.workers[-1], memory=sizes.memory
    )


def run_kills(sizes):
    """Each run loses one of its workers at a random moment, and builds the tree of a run that loses none."""
    moments = random.Random(0)
    n_workers = sizes.workers[-1]
    with cluster_of(n_workers) as client, Watched(client) as calm:
        expected = on_dask(lazy_mixture(sizes.rows), sizes.part).tree
    yield {"rows": sizes.rows, "workers": n_workers, "killed after s": None, **calm.row()}
    for _ in range(10):
        moment = moments.uniform(0, calm.wall)
        # a new cluster each time: on a busy machine Dask's nannies may give up restarting a process
        with cluster_of(n_workers, warm=False) as client:
            pid = moments.choice([n.pid for n in client.cluster.workers.values()])
            killer = threading.Timer(moment, kill, (pid,))
            killer.start()
            began = time.perf_counter()
            tree = on_dask(lazy_mixture(sizes.rows), sizes.part).tree
            spent = time.perf_counter() - began
            killer.join()
        yield {
            "killed after s": round(moment, 1),
            "wall s": round(spent, 1),
            "died before the end": spent > moment,
            "same tree": bool(
                np.array_equal(tree.parent, expected.parent) and np.array_equal(tree.height, expected.height)
            ),
        }


def kill(pid):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def run_graph(sizes):
    """The neighbor graph of the mixture, its edges in 16 files, clustered in memory and on workers."""
    whole = ab.similarity.knn(mixture(sizes.rows), 10, "euclidean", random_state=0)
    csr = whole.csr.tocoo()
    once = np.flatnonzero(csr.row < csr.col)
    once = np.random.default_rng(0).permutation(once)
    graph = ab.similarity.graph((csr.row[once], csr.col[once], csr.data[once].astype(np.float64)))
    options = Options(random_state=0, n_jobs=1)
    limits = Limits(part=sizes.part) if sizes.part else LIMITS
    with tempfile.TemporaryDirectory() as folder:
        for number, some in enumerate(np.array_split(once, 16)):
            columns = csr.row[some], csr.col[some], csr.data[some]
            np.save(Path(folder) / f"{number:02}.npy", np.column_stack(columns).astype(np.float64))
        build(read_input(graph), options)
        with Watched(None) as memory:
            here = build(read_input(graph), options)
        with cluster_of(sizes.workers[-1]) as client:
            shards = ab.similarity.graph(folder)
            build_graph_on_dask(shards, options, limits=limits)
            with Watched(client) as watched:
                there = build_graph_on_dask(ab.similarity.graph(folder), options, limits=limits)
    costs = [float(ab.metrics.dasgupta_cost(one.tree, graph, normalize=True)) for one in (here, there)]
    labels = labels_of(sizes.rows)
    yield {
        "nodes": sizes.rows,
        "edges": len(once),
        "workers": sizes.workers[-1],
        **watched.row(),
        "cpu s in memory": round(memory.cpu, 1),
        "cpu ratio": round(watched.cpu / memory.cpu, 2),
        "purities in memory": purities(here.tree, labels),
        "purities on Dask": purities(there.tree, labels),
        "cost in memory": round(costs[0], 3),
        "cost ratio": round(costs[1] / costs[0], 4),
        "seconds": rounded(there.report.seconds),
    }


def rounded(seconds):
    return {stage: round(spent, 1) for stage, spent in seconds.items()}


@dataclass(frozen=True)
class Sizes:
    """What a section runs on; `part` are rows of a part (of a chunk, for l2h), None as the library chooses."""

    rows: int
    part: int | None = None
    workers: tuple[int, ...] = (1, 2)
    memory: str = "auto"


# what runs, as the issue asks for it, and small
SECTIONS = {
    "quality": (run_quality, Sizes(1_000_000), Sizes(60_000, 15_000)),
    "mnist": (run_mnist, Sizes(70_000, 5_000), Sizes(35_000, 5_000)),
    "overhead": (run_overhead, Sizes(1_000_000), Sizes(60_000, 15_000)),
    "speedup": (run_speedup, Sizes(1_000_000), Sizes(60_000, 15_000)),
    "weak": (run_weak, Sizes(1_000_000), Sizes(40_000, 10_000)),
    "memory": (run_memory, Sizes(4_000_000, memory="1.2GB"), Sizes(100_000, 25_000, memory="0.7GB")),
    "file": (run_file, Sizes(10_000_000, memory="4GB"), Sizes(100_000, 25_000, memory="1GB")),
    "l2h": (run_l2h, Sizes(5_000_000, memory="3GB"), Sizes(50_000, 10_000, memory="1GB")),
    "kills": (run_kills, Sizes(60_000, 15_000, (3,)), Sizes(10_000, 2_500, (3,))),
    "graph": (run_graph, Sizes(300_000, 50_000), Sizes(40_000, 10_000)),
}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("section", choices=SECTIONS)
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--rows", type=int)
    parser.add_argument("--part", type=int, help="rows of a part; for l2h of a chunk")
    parser.add_argument("--workers", type=int, nargs="+")
    parser.add_argument("--memory", help="limit of a worker, as in 1.2GB")
    args = vars(parser.parse_args())
    run, full, small = SECTIONS[args["section"]]
    sizes = small if args["quick"] else full
    changed = {name: args[name] for name in ("rows", "part", "workers", "memory") if args[name] is not None}
    sizes = Sizes(**{**vars(sizes), **changed})
    rows = []
    for row in run(sizes):
        rows.append({**row, "load": round(os.getloadavg()[0], 1)})
        print("  " + "   ".join(f"{name} {value}" for name, value in rows[-1].items()), flush=True)
        # after every row: a run that is stopped leaves what it measured
        record(f"scale-{args['section']}", {"sizes": vars(sizes), "rows": rows}, quick=args["quick"])


if __name__ == "__main__":
    main()
