"""Time and memory of each method on the data it is for, for the table "Which method when".

    python benchmarks/which_method.py                        # all rows, to docs/start/which_method.json
    python benchmarks/which_method.py --only cluster_10000   # one row, the others as they were

Each row runs in a process of its own after one small call that compiles: CPU seconds are those of the call, peak memory
that of the whole process.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

OUT = Path(__file__).resolve().parent.parent / "docs" / "start" / "which_method.json"


def vectors(n, n_features=64):
    rng = np.random.default_rng(0)
    centers = rng.standard_normal((100, n_features)) * 3
    return (centers[rng.integers(0, 100, n)] + rng.standard_normal((n, n_features))).astype(np.float32)


def ring_of_groups(n):
    """A graph of n nodes in groups of 50, each node with about ten neighbors, mostly in its group."""
    import scipy.sparse as sp

    rng = np.random.default_rng(0)
    rows = np.repeat(np.arange(n), 5)
    inside = rows // 50 * 50 + rng.integers(0, 50, len(rows))
    cols = np.where(rng.random(len(rows)) < 0.9, inside, rng.integers(0, n, len(rows))) % n
    keep = rows != cols
    half = sp.coo_array((np.ones(keep.sum()), (rows[keep], cols[keep])), shape=(n, n))
    return ((half + half.T) > 0).astype(float).tocsr()


def logits(n, n_classes):
    rng = np.random.default_rng(0)
    found = rng.standard_normal((n, n_classes)).astype(np.float32)
    found[np.arange(n), rng.integers(0, n_classes, n)] += 5
    return found


def tasks():
    import arbora as ab

    return {
        "cluster": (vectors, lambda X: ab.cluster(X, random_state=0), 200),
        "ward": (vectors, lambda X: ab.linkage(X, "ward"), 200),
        "graph": (ring_of_groups, lambda A: ab.cluster(A, random_state=0), 200),
        "online": (vectors, lambda X: ab.OnlineTree(random_state=0).partial_fit(X), 200),
        "hyphc": (vectors, lambda X: ab.HypHC(random_state=0).fit(X), 200),
        "ghhc": (vectors, lambda X: ab.GHHC(n_internal=255, random_state=0).fit(X), 300),
        "fph": (ring_of_groups, lambda A: ab.FPH(n_internal=64, max_epochs=100, random_state=0).fit(A), 200),
        "l2h": (lambda n: logits(n, 100), lambda found: ab.L2H(random_state=0).fit(found), 500),
    }


ROWS = (
    "cluster_1000", "cluster_10000", "cluster_100000", "cluster_1000000", "ward_10000", "graph_10000", "online_10000",
    "hyphc_1000", "ghhc_10000", "fph_2000", "l2h_100000",
)  # fmt: skip


def measure(row):
    """One row, in this process."""
    name, n = row.rsplit("_", 1)
    make, call, small = tasks()[name]
    call(make(small))
    data = make(int(n))
    start = time.process_time()
    call(data)
    return {
        "row": row,
        "n": int(n),
        "cpu_seconds": round(time.process_time() - start, 2),
        "peak_gib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=ROWS)
    parser.add_argument("--here", choices=ROWS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        print(json.dumps(measure(options.here)))
        return
    found = {row["row"]: row for row in json.loads(OUT.read_text(encoding="utf-8"))} if OUT.exists() else {}
    for row in [options.only] if options.only else ROWS:
        done = subprocess.run(
            [sys.executable, __file__, "--here", row], capture_output=True, text=True, check=True
        )
        found[row] = json.loads(done.stdout.splitlines()[-1])
        print(
            f"{row:16} {found[row]['cpu_seconds']:8.2f} CPU s {found[row]['peak_gib']:6.2f} GiB", flush=True
        )
        # Each row is kept as soon as it is there: the whole takes minutes.
        rows = [found[name] for name in ROWS if name in found]
        OUT.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
