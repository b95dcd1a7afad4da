"""Memory of the largest task of a clustering on Dask: one part finds the neighbors of its rows.

    python benchmarks/scale_task.py [--rows 600000] [--kind normal]

--kind normal draws independent normal values, which have no groups and are candidates in many parts: the worst case;
--kind mixture the rows of scale.py. Peaks are resident memory of this process, sampled every 5 milliseconds. As
Dask's nannies do for workers, set MALLOC_TRIM_THRESHOLD_=65536 in the environment.
"""

from __future__ import annotations

import argparse
import json
import threading

import dask
import numpy as np
import psutil
import scale
from _record import record

from arbora.scale.division import Coordinates, divide, send_to_parts
from arbora.scale.neighbors import find_neighbors
from arbora.scale.plan import Plan

PART = 3


def megabytes():
    return psutil.Process().memory_info().rss / 1e6


def normal_block(number, n_rows):
    return np.random.default_rng((2, number)).standard_normal((n_rows, scale.D), dtype=np.float32)


def peak_of(work):
    """The most memory while a function runs, in MB."""
    peak, is_over = [0.0], threading.Event()

    def watch():
        while not is_over.wait(0.005):
            peak[0] = max(peak[0], megabytes())

    watcher = threading.Thread(target=watch)
    watcher.start()
    work()
    is_over.set()
    watcher.join()
    return peak[0]


def measured(n, block):
    """Rows, candidates and memory of one part, all of whose rows come from blocks."""
    with dask.config.set(scheduler="sync"):
        scale.warm_up()
    before = megabytes()
    plan = Plan.of(n)
    sample = block(0, plan.n_sampled)
    coordinates = Coordinates.of_sample(sample, "euclidean", None)
    division = divide(coordinates.of_scaled(sample), coordinates, plan, 0, 1)
    blocks = [(k, min(plan.block, n - first)) for k, first in enumerate(range(0, n, plan.block))]
    sent = [send_to_parts(block(k, size), k * plan.block, division) for k, size in blocks]
    n_sent = sum(len(part.own_ids) + len(part.near_ids) for one in sent for part in one.values())
    received = [one[PART] for one in sent if PART in one]
    del sample, sent
    with_rows = megabytes()
    peak = peak_of(lambda: find_neighbors(received, PART, 10, "euclidean", PART))
    return {
        "rows": n,
        "parts": division.n_parts,
        "copies of a row": round(n_sent / n, 2),
        "rows of the part": sum(len(one.own_ids) for one in received),
        "candidates of the part": sum(len(one.near_ids) for one in received),
        "MB before any data": round(before),
        "MB received": round(sum(array.nbytes for one in received for array in one) / 1e6),
        "MB on top while it searches": round(peak - with_rows),
    }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=600_000)
    parser.add_argument("--kind", choices=["normal", "mixture"], default="normal")
    args = parser.parse_args()
    block = normal_block if args.kind == "normal" else lambda number, size: scale.block_of(number, size)[0]
    result = {"kind": args.kind, **measured(args.rows, block)}
    print(json.dumps(result, indent=1))
    record("scale-task", result)


if __name__ == "__main__":
    main()
