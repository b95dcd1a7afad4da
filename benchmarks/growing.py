"""TreeClustering.partial_fit beside a fit on all points: purity, cost, and how the work of a call grows.

    python benchmarks/growing.py                        # 20 Newsgroups and MNIST, where ARBORA_DATA has them
    python benchmarks/growing.py --growth               # CPU seconds of a call by new rows and by points known

CPU seconds are of the whole process; kernels are compiled before.
"""

from __future__ import annotations

import argparse
import itertools
import os
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import make_blobs

import arbora as ab
from arbora.similarity.growth import grown

SETS = {"20news": ("embeddings/20news_test_minilm_l6.npz", None), "mnist": ("vectors/mnist.npz", 6_000)}


def read(name: str) -> tuple[np.ndarray, np.ndarray] | None:
    """Rows in random order and their classes; None where the data is absent."""
    file, n_rows = SETS[name]
    path = Path(os.environ.get("ARBORA_DATA", "")) / file
    if not path.exists():
        return None
    stored = np.load(path)
    order = np.random.default_rng(0).permutation(len(stored["y"]))[:n_rows]
    return stored["X"][order].astype(np.float32), stored["y"][order]


def compare(name: str, X: np.ndarray, y: np.ndarray, n_batches: int) -> None:
    """Two thirds at first, the rest in batches, beside all at once."""
    cuts = np.linspace(2 * len(y) // 3, len(y), n_batches + 1).astype(int)
    model = ab.TreeClustering(20, random_state=0).fit(X[: cuts[0]])
    started = time.process_time()
    for first, last in itertools.pairwise(cuts):
        model.partial_fit(X[first:last])
    seconds = time.process_time() - started
    started = time.process_time()
    whole = ab.TreeClustering(20, random_state=0).fit(X)
    once = time.process_time() - started
    purity = [ab.metrics.dendrogram_purity(each.tree_, y) for each in (model, whole)]
    print(
        f"{name}: {len(y)} points, the last third in {n_batches} batches: "
        f"purity {purity[0]:.4f}, at once {purity[1]:.4f}; "
        f"cost {model.report_.cost_after:.2f}, {whole.report_.cost_after:.2f}; "
        f"CPU {seconds / n_batches:.2f} s per batch, {once:.2f} s at once"
    )


def growth(n_features: int = 64) -> None:
    """CPU seconds of the neighbors of a call, and of the whole call."""
    print("known     new   neighbors    call  (CPU s)")
    for n_known in (10_000, 20_000, 40_000, 80_000):
        X, _ = make_blobs(n_known + 2_000, n_features, centers=50, cluster_std=3.0, random_state=0)
        model = ab.TreeClustering(50, n_perturbations=0, n_jobs=1, random_state=0).fit(X[:n_known])
        for n_new in (20, 200, 2_000):
            new = X[n_known : n_known + n_new]
            started = time.process_time()
            grown(model.similarity_, new, n_jobs=1, random_state=0)
            neighbors = time.process_time() - started
            known = model.tree_, model.similarity_, model.report_
            started = time.process_time()
            model.partial_fit(new)
            call = time.process_time() - started
            model.tree_, model.similarity_, model.report_ = known
            print(f"{n_known:<9} {n_new:<5} {neighbors:<11.2f} {call:.2f}")


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--growth", action="store_true", help="how the work of a call grows")
    parser.add_argument("--batches", type=int, default=5)
    options = parser.parse_args()
    small = make_blobs(400, 8, random_state=0)[0]
    ab.TreeClustering(3, random_state=0).fit(small[:300]).partial_fit(small[300:])
    if options.growth:
        growth()
        return
    for name in SETS:
        found = read(name)
        if found is not None:
            compare(name, *found, options.batches)


if __name__ == "__main__":
    main()
