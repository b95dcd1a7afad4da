"""What got slower: CPU seconds of arbora's main parts over those of a peer, in one run of a few minutes.

    python benchmarks/check.py            compares with results/check-quick.json as committed; ends with 1 if slower
    python benchmarks/check.py --keep     writes the new ratios there, to be committed

Ratios to a peer in the same run do not depend on how fast the machine is, and hardly on what else runs on it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
from _record import Measured, record, recorded, what_changed

import arbora as ab

REPEATS = 3
# what is measured at a time: a call that takes less is repeated
LEAST_SECONDS = 0.1
FIRST_CALL = """
import time
from sklearn.datasets import load_digits
import arbora as ab
rows = load_digits().data
before = time.process_time()
ab.cluster(rows, random_state=0, n_jobs=1)
print(time.process_time() - before)
"""
# what numba itself takes for a kernel that does not change
ONE_KERNEL = """
import time
import numba, numpy as np
@numba.njit(cache=True)
def sort_rows(rows):
    out = np.empty_like(rows)
    for k in range(rows.shape[0]):
        out[k] = np.sort(rows[k])
    return out
before = time.process_time()
sort_rows(np.ones((3, 3)))
print(time.process_time() - before)
"""


def blobs(n: int, n_features: int) -> Any:
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(200, n_features))
    return centers[rng.integers(200, size=n)] + rng.normal(size=(n, n_features)) * 0.6


def cpu_of(call: Callable[[], Any]) -> float:
    """The least CPU seconds of a few calls, the first of which compiles."""
    call()
    return min(cpu_of_once(call) for _ in range(REPEATS))


def cpu_of_once(call: Callable[[], Any]) -> float:
    spent, n_calls = 0.0, 0
    while spent < LEAST_SECONDS:
        with Measured() as measured:
            call()
        spent += measured.cpu
        n_calls += 1
    return spent / n_calls


def cpu_of_script(script: str) -> float:
    """The least CPU seconds that a script prints, each time with an empty cache of compiled code."""
    seconds = []
    for _ in range(2):
        with tempfile.TemporaryDirectory() as cache:
            # not from the command line: numba keeps nothing for functions without a file
            path = os.path.join(cache, "script.py")
            with open(path, "w") as file:
                file.write(script)
            done = subprocess.run(
                [sys.executable, path],
                env=os.environ | {"NUMBA_CACHE_DIR": cache},
                capture_output=True,
                text=True,
                check=True,
            )
            seconds.append(float(done.stdout.split()[-1]))
    return min(seconds)


def tasks() -> dict[str, tuple[Callable[[], float], Callable[[], float]]]:
    """Each task and its peer, as functions that give CPU seconds."""
    import fastcluster
    from sklearn.cluster import KMeans
    from sklearn.neighbors import NearestNeighbors

    rows, few = blobs(4000, 32), blobs(2000, 16)
    near = ab.similarity.knn(rows, random_state=0, n_jobs=1)
    tree = ab.linkage(near, n_jobs=1)
    labels = np.arange(len(rows)) % 10

    def kmeans() -> float:
        return cpu_of(lambda: KMeans(50, n_init=1, max_iter=20, tol=0, random_state=0).fit(rows))

    def ward() -> float:
        return cpu_of(lambda: fastcluster.linkage_vector(few, "ward"))

    def brute() -> float:
        return cpu_of(lambda: NearestNeighbors(n_neighbors=10, algorithm="brute").fit(rows).kneighbors())

    refine = {"random_state": 0, "n_jobs": 1}
    return {
        "neighbors": (
            lambda: cpu_of(lambda: ab.similarity.knn(rows, random_state=0, n_jobs=1)),
            brute,
        ),
        "average linkage of a graph": (lambda: cpu_of(lambda: ab.linkage(near, n_jobs=1)), ward),
        "refine": (lambda: cpu_of(lambda: ab.refine(tree, near, **refine)), kmeans),
        "cluster": (lambda: cpu_of(lambda: ab.cluster(rows, random_state=0, n_jobs=1)), kmeans),
        "OnlineTree": (lambda: cpu_of(lambda: ab.OnlineTree(random_state=0).partial_fit(few)), ward),
        "purity and cost": (
            lambda: cpu_of(
                lambda: (
                    ab.metrics.dendrogram_purity(tree, labels),
                    ab.metrics.dasgupta_cost(tree, near),
                )
            ),
            ward,
        ),
        "first call": (lambda: cpu_of_script(FIRST_CALL), lambda: cpu_of_script(ONE_KERNEL)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--keep", action="store_true", help="write the new ratios instead of comparing them")
    parser.add_argument("--quick", action="store_true", help="accepted as by the others: it is quick anyway")
    args = parser.parse_args()
    before = recorded("check", quick=True)
    rows = {}
    for task, (ours, peer) in tasks().items():
        spent, theirs = ours(), peer()
        rows[task] = {"cpu_seconds": spent, "peer_cpu_seconds": theirs, "ratio": spent / theirs}
        print(f"{task}: {spent:.3f} CPU s, its peer {theirs:.3f}", flush=True)
    if args.keep or before is None:
        print(f"wrote {record('check', rows, quick=True)}")
        return
    old, new = ({task: row["ratio"] for task, row in results.items()} for results in (before, rows))
    lines, slower = what_changed(old, new)
    print("\n".join(lines))
    if slower:
        sys.exit("\n".join(slower))
    print("nothing got slower by more than 20 %")


if __name__ == "__main__":
    main()
