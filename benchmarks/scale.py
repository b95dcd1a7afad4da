"""Clustering on a Dask cluster: overhead, speed, memory, and quality beside the tree of one machine.

    python benchmarks/scale.py quality --rows 1000000                      # purities and costs, both trees
    python benchmarks/scale.py mnist --part 5000                           # parts forced small, real data
    python benchmarks/scale.py overhead --rows 1000000                     # one worker against memory, CPU seconds
    python benchmarks/scale.py speedup --rows 1000000 --workers 1 2        # the same rows, more workers
    python benchmarks/scale.py weak --rows 1000000 --workers 1 2           # as many rows for each worker
    python benchmarks/scale.py memory --rows 4000000 --memory 1.2GB        # no worker above its limit
    python benchmarks/scale.py file --rows 10000000 --memory 4GB           # from a memory-mapped file

Rows are the three-level mixture of search_speed.py, 64 features, float32, drawn block by block so that no machine holds
them all. Workers are processes of one thread on this machine. A small run compiles the kernels before the clock
starts. CPU seconds are those of the coordinator and all workers; peaks are resident memory, sampled every 0.2 seconds.
Figures go to benchmarks/results/scale-<section>.json.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import resource
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import dask
import dask.array as da
import numpy as np
import psutil
from distributed import Client, LocalCluster

import arbora as ab
from arbora.scale import LIMITS, Limits, build_on_dask
from arbora.search.cluster import Options, build
from arbora.search.inputs import read_input

RESULTS = Path(__file__).parent / "results"
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


def purities(tree, labels):
    return [round(float(ab.metrics.dendrogram_purity(tree, column)), 4) for column in labels.T]


@contextmanager
def cluster_of(n_workers, memory="auto"):
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


def on_dask(X, part=None, checkpoint=None):
    limits = Limits(part=part) if part else LIMITS
    return build_on_dask(X, Options(random_state=0, n_jobs=1, checkpoint=checkpoint), limits=limits)


def in_memory(X):
    return build(read_input(X), Options(random_state=0, n_jobs=1))


def compared(rows, labels, part):
    """Both trees: purities, and costs on the graph of the tree in memory."""
    with Watched(None) as memory:
        here = in_memory(rows)
    with Watched(None) as spread, dask.config.set(scheduler="sync"):
        there = on_dask(da.from_array(rows, chunks=(ROWS_PER_BLOCK, -1)), part)
    costs = [
        float(ab.metrics.dasgupta_cost(one.tree, here.similarity, normalize=True)) for one in (here, there)
    ]
    return {
        "rows": len(rows),
        "part": part or LIMITS.part,
        "purities in memory": purities(here.tree, labels),
        "purities on Dask": purities(there.tree, labels),
        "cost in memory": round(costs[0], 3),
        "cost on Dask, same graph": round(costs[1], 3),
        "cost ratio": round(costs[1] / costs[0], 4),
        "cost on Dask, own graph": round(there.report.cost_after, 3),
        "cpu s in memory": round(memory.cpu, 1),
        "cpu s on Dask": round(spread.cpu, 1),
        "seconds on Dask": {stage: round(spent, 1) for stage, spent in there.report.seconds.items()},
    }


def run_quality(args):
    in_memory(mixture(31_000))
    with dask.config.set(scheduler="sync"):
        warm_up()
    yield compared(mixture(args.rows), labels_of(args.rows), args.part)


def run_mnist(args):
    folder = os.environ.get("ARBORA_DATA")
    if folder is None:
        raise SystemExit("Set ARBORA_DATA to the folder of the published data sets.")
    with np.load(Path(folder) / "vectors" / "mnist.npz") as file:
        rows, y = file["X"].astype(np.float32), file["y"]
    yield compared(rows, y[:, None], args.part or 5000)


def run_overhead(args):
    in_memory(mixture(31_000))
    rows = mixture(args.rows)
    with Watched(None) as memory:
        in_memory(rows)
    del rows
    yield {"rows": args.rows, "workers": 0, **memory.row()}
    with cluster_of(1) as client, Watched(client) as watched:
        on_dask(lazy_mixture(args.rows), args.part)
    yield {
        "rows": args.rows,
        "workers": 1,
        **watched.row(),
        "cpu ratio": round(watched.cpu / memory.cpu, 2),
        "wall ratio": round(watched.wall / memory.wall, 2),
    }


def run_speedup(args, weak=False):
    first = None
    for n_workers in args.workers:
        n = args.rows * n_workers if weak else args.rows
        with cluster_of(n_workers) as client, Watched(client) as watched:
            built = on_dask(lazy_mixture(n), args.part)
        first = first or watched.wall
        yield {
            "rows": n,
            "workers": n_workers,
            **watched.row(),
            "wall of the first over this": round(first / watched.wall, 2),
            "seconds": {stage: round(spent, 1) for stage, spent in built.report.seconds.items()},
        }


def run_weak(args):
    yield from run_speedup(args, weak=True)


def run_memory(args):
    n_workers = args.workers[-1]
    with cluster_of(n_workers, args.memory) as client, Watched(client) as watched:
        built = on_dask(lazy_mixture(args.rows), args.part)
    yield {
        "rows": args.rows,
        "workers": n_workers,
        "memory limit": args.memory,
        **watched.row(),
        "purities": purities(built.tree, labels_of(args.rows)),
        "seconds": {stage: round(spent, 1) for stage, spent in built.report.seconds.items()},
    }


def read_slice(path, start, stop):
    return np.array(np.load(path, mmap_mode="r")[start:stop])


def run_file(args):
    """Rows in a .npy file that workers map into memory."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "rows.npy")
        file = np.lib.format.open_memmap(path, "w+", np.float32, (args.rows, D))
        first = 0
        for number, size in enumerate(sizes_of_blocks(args.rows)):
            file[first : first + size] = block_of(number, size)[0]
            first += size
        del file
        starts = np.cumsum([0, *sizes_of_blocks(args.rows)]).tolist()
        X = da.concatenate(
            [
                da.from_delayed(dask.delayed(read_slice)(path, a, b), shape=(b - a, D), dtype=np.float32)
                for a, b in itertools.pairwise(starts)
            ]
        )
        with cluster_of(args.workers[-1], args.memory) as client, Watched(client) as watched:
            built = on_dask(X, args.part)
    yield {
        "rows": args.rows,
        "workers": args.workers[-1],
        "memory limit": args.memory,
        **watched.row(),
        "seconds": {stage: round(spent, 1) for stage, spent in built.report.seconds.items()},
    }


SECTIONS = {
    "quality": run_quality,
    "mnist": run_mnist,
    "overhead": run_overhead,
    "speedup": run_speedup,
    "weak": run_weak,
    "memory": run_memory,
    "file": run_file,
}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("section", choices=SECTIONS)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--part", type=int, help="rows of a part, by default as the library chooses")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--memory", default="auto", help="limit of a worker, as in 1.2GB")
    args = parser.parse_args()
    rows = []
    for row in SECTIONS[args.section](args):
        rows.append(row)
        print("  " + "   ".join(f"{name} {value}" for name, value in row.items()), flush=True)
    RESULTS.mkdir(exist_ok=True)
    about = {"section": args.section, "load": os.getloadavg(), "cores": os.cpu_count(), "rows": rows}
    about["peak of the coordinator GB"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2)
    (RESULTS / f"scale-{args.section}.json").write_text(json.dumps(about, indent=1) + "\n")


if __name__ == "__main__":
    main()
