"""L2H on logits that no machine holds: generated chunk by chunk by the workers of a local cluster.

    python benchmarks/scale_l2h.py [--rows 5000000] [--classes 1000] [--workers 2] [--memory 3GB] [--check]

Prints and writes to results/scale_l2h.json the time and the peak memory of every worker and of the
coordinator. The logits are float16: products of points with the prototypes of their classes, as in l2h_speed.py.
`--check` also fits the same rows in memory and compares the merges (use it at a size that fits).
"""

from __future__ import annotations

import argparse
import json
import resource
import time

import dask
import dask.array as da
import numpy as np
from _record import record
from dask.distributed import Client, LocalCluster

import arbora as ab

WIDTH = 32


def prototypes(n_classes, seed=0):
    """Vectors of classes, in groups of ten."""
    rng = np.random.default_rng(seed)
    groups = rng.normal(size=(-(-n_classes // 10), WIDTH)).repeat(10, axis=0)[:n_classes]
    return (groups + 0.6 * rng.normal(size=(n_classes, WIDTH))).astype(np.float32)


def make_chunk(number, n_rows, n_classes):
    """Logits of one chunk: a function of its number."""
    rng = np.random.default_rng((1, number))
    centers = prototypes(n_classes)
    logits = np.empty((n_rows, n_classes), np.float16)
    for start in range(0, n_rows, 5000):
        stop = min(n_rows, start + 5000)
        own = rng.integers(0, n_classes, stop - start)
        points = centers[own] + 0.8 * rng.standard_normal((stop - start, WIDTH), dtype=np.float32)
        logits[start:stop] = 0.8 * points @ centers.T
    return logits


def logits(n_rows, n_classes, rows_per_chunk):
    """The Dask array of all chunks."""
    chunks = []
    for number, start in enumerate(range(0, n_rows, rows_per_chunk)):
        size = min(rows_per_chunk, n_rows - start)
        chunk = dask.delayed(make_chunk)(number, size, n_classes)
        chunks.append(da.from_delayed(chunk, shape=(size, n_classes), dtype=np.float16))
    return da.concatenate(chunks)


def usage():
    """Peak memory in bytes and CPU seconds of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_maxrss * 1024, used.ru_utime + used.ru_stime


def measured(n_rows, n_classes, rows_per_chunk, *, n_workers, memory, check=False):
    """A fit on workers of a local cluster: time, peak memory, and where asked for whether memory gives the same."""
    X = logits(n_rows, n_classes, rows_per_chunk)
    cluster = LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        memory_limit=memory,
        processes=True,
        dashboard_address="127.0.0.1:0",
        host="127.0.0.1",
    )
    with cluster, Client(cluster) as client:
        began = time.perf_counter()
        model = ab.L2H(n_clusters=None, verbose=True).fit(X)
        seconds = time.perf_counter() - began
        workers = list(client.run(usage).values())
    result = {
        "rows": n_rows,
        "classes": n_classes,
        "gigabytes": X.nbytes / 1e9,
        "rows_per_chunk": rows_per_chunk,
        "workers": n_workers,
        "memory_limit": memory,
        "seconds": seconds,
        "cpu_seconds_of_workers": [spent for _, spent in workers],
        "peak_gigabytes_of_workers": [peak / 1e9 for peak, _ in workers],
        "peak_gigabytes_of_coordinator": usage()[0] / 1e9,
        "empty_classes": int((model.class_counts_ == 0).sum()),
    }
    if check:
        in_memory = ab.L2H(n_clusters=None, n_bootstraps=0).fit(X.compute(scheduler="synchronous"))
        result["same_tree"] = bool(np.array_equal(in_memory.tree_.parent, model.tree_.parent))
        result["same_merge_scores"] = bool(np.array_equal(in_memory.merge_scores_, model.merge_scores_))
        shares = in_memory.merge_shares_, model.merge_shares_
        result["same_merge_shares"] = bool(np.array_equal(*shares, equal_nan=True))
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--classes", type=int, default=1000)
    parser.add_argument("--rows-per-chunk", type=int, default=50_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--memory", default="3GB")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    result = measured(
        args.rows,
        args.classes,
        args.rows_per_chunk,
        n_workers=args.workers,
        memory=args.memory,
        check=args.check,
    )
    print(json.dumps(result, indent=1))
    record("scale_l2h", result)


if __name__ == "__main__":
    main()
