"""CPU seconds that a first call spends compiling, on a machine that has never run arbora.

Each run starts Python anew with an empty cache of compiled kernels, and takes what the second call costs from
what the first one does:

    python benchmarks/first_use.py           the `cluster` call, three times
    python benchmarks/first_use.py --all     the first call of every method
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile

from _record import record

# CPU seconds: of `cluster`, and of any other method
TARGET, TARGET_OF_OTHERS = 6.0, 10.0
SETUP = """
import time, tempfile, warnings
import numpy as np
from sklearn.datasets import load_digits
import arbora as ab
warnings.simplefilter("ignore")
digits = load_digits()
rows, labels = digits.data, digits.target
few = rows[:300]
"""
TIMES = """
for _ in range(2):
    before = time.process_time(), time.perf_counter()
    call()
    print(time.process_time() - before[0], time.perf_counter() - before[1])
"""
TREE = "tree = ab.Tree.from_sklearn(__import__('sklearn.cluster').cluster.AgglomerativeClustering(\n"
TREE += "    distance_threshold=0, n_clusters=None).fit(rows))\n"
# what is made before the clock starts, and the call
CALLS = {
    "cluster": ("", "ab.cluster(rows, random_state=0)"),
    "refine": (TREE + "near = ab.similarity.knn(rows)", "ab.refine(tree, near, random_state=0)"),
    "refine tsd": (TREE + "near = ab.similarity.knn(rows)", "ab.refine(tree, near, 'tsd', random_state=0)"),
    "refine cosines": (
        TREE + "near = ab.similarity.cosine(rows)",
        "ab.refine(tree, near, max_sweeps=1, random_state=0)",
    ),
    "linkage": ("near = ab.similarity.knn(rows)", "ab.linkage(near)"),
    "metrics": (TREE + "near = ab.similarity.knn(rows)", "ab.metrics.dendrogram_purity(tree, labels)"),
    "cut": (TREE, "tree.cut(n_clusters=10)"),
    "to_html": (TREE + "folder = tempfile.mkdtemp()", "tree.to_html(folder + '/page.html', features=rows)"),
    "explain": (TREE, "ab.explain(tree, rows)"),
    "predict": (
        "model = ab.TreeClustering(10, random_state=0).fit(rows[:900])",
        "model.predict(rows[900:])",
    ),
    "partial_fit": (
        "model = ab.TreeClustering(10, random_state=0).fit(rows[:900])",
        "model.partial_fit(rows[900:1000])",
    ),
    "OnlineTree": ("", "ab.OnlineTree(random_state=0).partial_fit(rows)"),
    "HypHC": ("", "ab.HypHC(3, max_epochs=1, random_state=0).fit(few)"),
    "GHHC": ("", "ab.GHHC(3, n_internal=16, max_steps=5, random_state=0).fit(few)"),
    "FPH": ("graph = ab.similarity.knn(few).csr", "ab.FPH(n_internal=16, random_state=0).fit(graph)"),
    "L2H": ("", "ab.L2H().fit(rows)"),
    "TURTLE": ("", "ab.TURTLE(3, random_state=0, max_steps=3).fit(few)"),
    "TEMI": ("", "ab.TEMI(3, random_state=0, max_steps=3).fit(few)"),
}


def measure(name: str) -> tuple[float, float]:
    """CPU and wall seconds of compilation."""
    made, call = CALLS[name]
    script = f"{SETUP}{made}\ndef call():\n    {call}\n{TIMES}"
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run(
            [sys.executable, "-c", script],
            env=os.environ | {"NUMBA_CACHE_DIR": cache},
            capture_output=True,
            text=True,
        )
    if done.returncode:
        raise SystemExit(f"{name}: {done.stderr}")
    first, second = ([float(word) for word in line.split()] for line in done.stdout.splitlines()[-2:])
    return first[0] - second[0], first[1] - second[1]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="one run instead of three")
    parser.add_argument("--all", action="store_true", help="one run of every method")
    options = parser.parse_args()
    names = list(CALLS) if options.all else ["cluster"] * (1 if options.quick else 3)
    rows = []
    for name in names:
        cpu, wall = measure(name)
        target = TARGET if name == "cluster" else TARGET_OF_OTHERS
        rows.append({"call": name, "cpu_seconds": cpu, "seconds": wall, "target": target})
        verdict = "met" if cpu < target else "missed"
        print(
            f"compilation of {name}: {cpu:.1f} CPU s, {wall:.1f} s; target {target:.0f} CPU s {verdict}",
            flush=True,
        )
    record("first_use", rows, quick=options.quick)


if __name__ == "__main__":
    main()
