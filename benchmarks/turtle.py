"""TURTLE and TEMI with L2H beside k-means with L2H, Ward and `cluster`: quality on real features, and TURTLE's speed.

    python benchmarks/turtle.py [--quick] [--seeds N] [--only digits cifar100 speed]

Models see the training half (digits: even rows; CIFAR-100: the 50,000 training images) and are scored on the rest,
except Ward and `cluster`, which have no inference: they cluster the test points themselves.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path

import fastcluster
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits

import arbora as ab

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("ARBORA_DATA", ROOT.parent / "shared" / "data"))
RESULTS = Path(__file__).parent / "results"


def flat_models(k, seed):
    yield "TURTLE + L2H", ab.TURTLE(k, random_state=seed)
    yield "TEMI + L2H", ab.TEMI(k, random_state=seed)
    yield "k-means + L2H", KMeans(k, n_init=3 if k <= 20 else 1, random_state=seed)


def compare(train, test, y, k, coarse=None, seeds=(0,)):
    rows = {}
    for seed in seeds:
        for name, model in flat_models(k, seed):
            began = time.process_time()
            model.fit(train)
            tree = ab.L2H(n_bootstraps=0).fit(ab.logits.from_estimator(model, train)).tree_
            seconds = time.process_time() - began
            leaf = ab.logits.from_estimator(model, test).argmax(axis=1)
            scores = ab.logits.evaluate_tree(tree, y, leaf, coarse=coarse)
            if coarse is not None:
                scores["coarse_acc"] = scores.pop("levels")["coarse"]["acc"]
            rows.setdefault(name, []).append({**scores, "cpu_seconds": seconds})
            print(f"{name}, seed {seed}: acc {scores['acc']:.4f}, {seconds:.1f} CPU seconds", flush=True)
    for name, build in (
        ("Ward (on the test points)", lambda: ab.Tree.from_linkage(fastcluster.linkage_vector(test, "ward"))),
        ("cluster (on the test points)", lambda: ab.cluster(test, random_state=0)),
    ):
        began = time.process_time()
        tree = build()
        seconds = time.process_time() - began
        top = tree.prune(n_clusters=k)
        scores = ab.logits.evaluate_tree(top, y, tree.cut(n_clusters=k), coarse=coarse)
        if coarse is not None:
            scores["coarse_acc"] = scores.pop("levels")["coarse"]["acc"]
        rows[name] = [{**scores, "cpu_seconds": seconds}]
    return {
        name: {key: float(np.mean([run[key] for run in runs])) for key in runs[0]}
        for name, runs in rows.items()
    }


def digits(quick, n_seeds):
    X, y = load_digits(return_X_y=True)
    return compare(X[::2], X[1::2], y[1::2], 10, seeds=range(1 if quick else n_seeds))


def cifar100(quick, n_seeds):
    data = np.load(DATA / "vectors/cifar100_efflite0_pca128.npz")
    X, n_train = data["X"].astype(np.float32), int(data["n_train"])
    train = X[: 5000 if quick else n_train]
    seeds = range(1 if quick else n_seeds)
    return compare(train, X[n_train:], data["y"][n_train:], 100, data["y_coarse"][n_train:], seeds)


def speed(quick, _):
    """TURTLE with default steps on 50,000 x 768, 100 clusters."""
    n, d, k = (5000, 64, 20) if quick else (50_000, 768, 100)
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(k, d)).astype(np.float32)
    X = centers[rng.integers(0, k, n)] + rng.standard_normal((n, d), dtype=np.float32)
    cpu, wall = time.process_time(), time.perf_counter()
    model = ab.TURTLE(k, random_state=0).fit(X)
    row = {"cpu_seconds": time.process_time() - cpu, "wall_seconds": time.perf_counter() - wall}
    return {f"TURTLE {n} x {d}, k={k}": {**row, "max_steps": model.n_steps_}}


def show(title, rows):
    keys = list(next(iter(rows.values())))
    print(f"\n{title}\n{'':30s}" + "".join(f"{key[:12]:>13s}" for key in keys))
    for name, row in rows.items():
        print(f"{name:30s}" + "".join(f"{row[key]:13.4f}" for key in keys), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seeds", type=int, default=3, help="runs whose mean is shown")
    parser.add_argument("--only", nargs="*", default=["digits", "cifar100", "speed"])
    arguments = parser.parse_args()
    results = {}
    for name in arguments.only:
        results[name] = {"digits": digits, "cifar100": cifar100, "speed": speed}[name](
            arguments.quick, arguments.seeds
        )
        show(name, results[name])
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / "turtle.json"
    merged = (json.loads(path.read_text()) if path.exists() and not arguments.quick else {}) | results
    path.write_text(json.dumps(merged, indent=1))


if __name__ == "__main__":
    main()
