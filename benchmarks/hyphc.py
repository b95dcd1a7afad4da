"""HypHC: cost, time and accuracy beside those of the paper.

    python benchmarks/hyphc.py                       # everything; some ten minutes on two cores
    python benchmarks/hyphc.py --quick               # fewer seeds and epochs
    python benchmarks/hyphc.py --only cost speed     # parts: cost speed decoders triples accuracy scale

Costs count ordered pairs, as the paper's tables do. Times are CPU seconds of this process, kernels compiled
before. The peer is the paper's recipe written with geoopt (reflections for the ancestor, Riemannian Adam,
batches of 256), timed here on a few batches and multiplied by the number of triples the authors' code takes;
the CPU seconds their own code took on a machine of this kind stand beside it.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import time
from functools import partial
from pathlib import Path

import numpy as np

import arbora as ab
from arbora.hyperbolic.hyphc import _kernels as kernels
from arbora.hyperbolic.hyphc.circle import CircleEngine
from arbora.hyperbolic.hyphc.decode import decode_circle, decode_exact, decode_greedy
from arbora.hyperbolic.hyphc.triples import TripleSampler

DATA = Path(os.environ.get("ARBORA_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
RESULTS = Path(__file__).parent / "results"
PICTURES = Path(__file__).resolve().parents[1] / "docs" / "pictures"
SETS = ("zoo", "iris", "glass", "segmentation")
TARGET = {"zoo": 2.806e5, "iris": 7.90e5, "glass": 2.91e6, "segmentation": 3.35e9}
PAPER = {"zoo": 2.802e5, "iris": 7.881e5, "glass": 2.902e6, "segmentation": 3.341e9}
AUTHORS_CPU = {"zoo": 157.0, "iris": 38.0, "glass": 1053.0}  # with costs 2.8051e5, 7.892e5, 2.911e6
AUTHORS_COST = {"zoo": 2.8051e5, "iris": 7.892e5, "glass": 2.911e6}
AUTHORS_TRIPLES = {"zoo": 100_000 * 50}
PAPER_ACCURACY = {
    "zoo": {"label-propagation": 41.4, "two-step": "84.8 ± 3.5", "end-to-end": "87.9 ± 3.8"},
    "iris": {"label-propagation": 76.7, "two-step": "84.4 ± 1.7", "end-to-end": "85.6 ± 0.8"},
    "glass": {"label-propagation": 46.8, "two-step": "50.6 ± 2.6", "end-to-end": "54.4 ± 2.9"},
    "segmentation": {"label-propagation": 65.3, "two-step": "64.1 ± 0.9", "end-to-end": "67.7 ± 3.4"},
}


def load(name):
    with np.load(DATA / "vectors" / f"{name}.npz", allow_pickle=False) as file:
        X, y = file["X"].astype(np.float64), file["y"]
    X = X[:, X.std(axis=0) > 0]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return X / np.linalg.norm(X, axis=1, keepdims=True), y


def timed(work):
    cpu, wall = time.process_time(), time.perf_counter()
    value = work()
    return value, time.process_time() - cpu, time.perf_counter() - wall


def compile_kernels():
    X = np.random.default_rng(0).normal(size=(600, 4))
    for n in (20, 600):
        ab.HypHC(max_epochs=1, n_triples=50, random_state=0).fit(X[:n])
    ab.HypHC(max_epochs=1, n_triples=20_000, batch_size=20_000, random_state=0).fit(X)
    decode_exact(0.5 * X[:9, :2] / np.abs(X).max())


def cost(quick):
    print("\nCost without refinement (ordered pairs), mean over seeds")
    rows = {}
    for name in SETS:
        X, _ = load(name)
        n_seeds = 5 if not quick else 2
        runs = [timed(lambda X=X, seed=seed: ab.HypHC(random_state=seed).fit(X)) for seed in range(n_seeds)]
        found = np.array([2 * model.cost_ for model, _, _ in runs])
        cpu, wall = np.mean([run[1] for run in runs]), np.mean([run[2] for run in runs])
        row = {"cost": found.mean(), "worst": found.max(), "target": TARGET[name], "paper": PAPER[name]}
        row |= {"cpu_s": cpu, "wall_s": wall}
        line = f"{name:13s} {row['cost']:.4e} (worst {row['worst']:.4e}, target {TARGET[name]:.4e}, "
        line += f"paper {PAPER[name]:.4e})  {cpu:6.2f} CPU s, {wall:6.2f} s"
        if name in AUTHORS_CPU:
            row["ratio_authors"] = AUTHORS_CPU[name] / cpu
            line += f"  authors {AUTHORS_CPU[name]:.0f} CPU s to {AUTHORS_COST[name]:.4e}: {row['ratio_authors']:.0f}x"
        print(line, flush=True)
        rows[name] = row
    rows["peer"] = peer(quick)
    return rows


def peer(quick):
    """CPU seconds a triple of the paper's recipe in geoopt, and what zoo's 5 million take."""
    import geoopt
    import torch

    from arbora.hyperbolic import poincare
    from arbora.hyperbolic.lca import lca_by_inversion

    X, _ = load("zoo")
    similarity = ab.similarity.cosine(X)
    start = 1e-3 * torch.randn(len(X), 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    points = geoopt.ManifoldParameter(start, manifold=geoopt.PoincareBall())
    optimizer = geoopt.optim.RiemannianAdam([points], lr=1e-3)
    n_steps = 50 if quick else 200
    sampler = TripleSampler(similarity, n_steps * 256)

    def run():
        for triples, weights in sampler.blocks(0, 256):
            optimizer.zero_grad()
            leaves = torch.nn.functional.normalize(points, dim=-1)[torch.as_tensor(triples)] * 0.9
            i, j, k = leaves.unbind(1)
            depth = torch.stack(
                [poincare.norm(lca_by_inversion(*pair)) for pair in ((i, j), (i, k), (j, k))], -1
            )
            w = torch.as_tensor(weights)
            (w.sum(-1) - (w * torch.softmax(depth / 0.1, -1)).sum(-1)).mean().backward()
            optimizer.step()

    _, cpu, _ = timed(run)
    total = cpu / (n_steps * 256) * AUTHORS_TRIPLES["zoo"]
    print(
        f"geoopt recipe: {cpu / n_steps / 256 * 1e6:.2f} µs a triple, {total:.0f} CPU s for zoo's 5 million"
    )
    return {"us_per_triple": cpu / n_steps / 256 * 1e6, "zoo_cpu_s": total}


def speed(quick):
    print("\nSpeed")
    rows = {}
    X, _ = load("segmentation")
    n_triples = 1_000_000 if quick else 10_000_000
    sampler = TripleSampler(ab.similarity.cosine(X), n_triples)
    schedule = kernels.Schedule((0.3, 1e-4), (1.0, 0.55), (3.0, 6.5), False)
    for label, batch in (("one core", 8192), ("all cores", 1 << 16)):
        engine = CircleEngine(sampler, np.linspace(0, 6, len(X)), schedule, n_epochs=1, batch_size=batch)
        _, cpu, wall = timed(lambda engine=engine: engine.run_epoch(0))
        rows[label] = {"per_cpu_s": n_triples / cpu, "per_s": n_triples / wall}
        print(
            f"{label:10s} n = 2310: {n_triples / wall / 1e6:.1f} M triples/s "
            f"({n_triples / cpu / 1e6:.1f} M a CPU second)"
        )
    n = 100_000 if quick else 1_000_000
    theta = np.random.default_rng(0).uniform(0, 6.28, n)
    _, cpu, wall = timed(lambda: decode_circle(theta, 6.0))
    rows["decode"] = {"n": n, "cpu_s": cpu, "wall_s": wall}
    print(f"decoding {n:,} leaves: {cpu:.2f} CPU s, {wall:.2f} s")
    return rows


def decoders(quick):
    print("\nExact and greedy decoding (Fig. 3b)")
    rows = {}
    for name in SETS:
        X, _ = load(name)
        model = ab.HypHC(random_state=0, max_epochs=5 if quick or name == "segmentation" else 50).fit(X)
        row = {}
        for label, decoder in (("exact", decode_exact), ("greedy", decode_greedy)):
            tree, cpu, _ = timed(lambda decoder=decoder, model=model: decoder(model.embedding_))
            row[label] = {"cost": 2 * ab.metrics.dasgupta_cost(tree, model.similarity_), "ms": 1000 * cpu}
        row["difference_percent"] = 100 * (row["greedy"]["cost"] / row["exact"]["cost"] - 1)
        print(
            f"{name:13s} exact {row['exact']['cost']:.5e} in {row['exact']['ms']:.1f} ms, greedy "
            f"{row['greedy']['cost']:.5e} in {row['greedy']['ms']:.1f} ms, {row['difference_percent']:+.4f} %",
            flush=True,
        )
        rows[name] = row
    return rows


def triples(quick):
    print("\nNormalized cost against the number of triples an epoch (Fig. 3a), 20 epochs, mean over seeds")
    rows = {}
    for name in SETS[: 3 if quick else 4]:
        X, _ = load(name)
        similarity = ab.similarity.cosine(X)
        lower, upper = ab.metrics.dasgupta_bounds(similarity)
        n = len(X)
        rows[name] = {}
        seeds = range(1 if quick or n > 1000 else 3)
        for share in (0.01, 0.03, 0.1, 0.3, 1.0):
            count = max(3, int(share * n * n))
            options = {"n_triples": count, "batch_size": max(1, min(4 * n, count // 4)), "max_epochs": 20}
            models = [ab.HypHC(random_state=s, **options).fit(similarity) for s in seeds]
            rows[name][count] = np.mean([(model.cost_ - lower) / (upper - lower) for model in models])
        print(f"{name:13s} " + "  ".join(f"{k:,}: {v:.4f}" for k, v in rows[name].items()), flush=True)
    if not quick:
        draw_triples(rows)
    return rows


def draw_triples(rows):
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(5, 3.2), layout="constrained")
    for name, costs in rows.items():
        n = len(load(name)[1])
        axes.plot([count / n**2 for count in costs], list(costs.values()), "o-", label=name)
    axes.set(xscale="log", yscale="log", xlabel="triples an epoch / n²", ylabel="cost, 0 and 1 at its bounds")
    axes.legend(frameon=False)
    figure.savefig(PICTURES / "hyphc_triples.png", dpi=130)


def accuracy(quick):
    import torch

    torch.set_num_threads(1)  # on tensors this small a second thread only waits
    print("\nAccuracy in percent over random splits (Table 3c); the paper's in brackets")
    rows = {}
    for name in SETS[: 3 if quick else 4]:
        X, y = load(name)
        rows[name] = {}
        n_splits = 2 if quick else 5 if len(y) > 1000 else 10
        print(f"{name}: {len(y)} points, {n_splits} splits", flush=True)
        for method in (*PAPER_ACCURACY[name], *(ON_CIRCLE if len(y) < 1000 else ()), *PEERS):
            run = partial(score, X, y, method)
            scores, cpu, _ = timed(lambda run=run, n=n_splits: np.array([run(s) for s in range(n)]))
            row = {"mean": scores.mean(), "deviation": scores.std(), "cpu_s": cpu / n_splits}
            row["first_five"] = scores[:5].mean()
            row["paper"] = PAPER_ACCURACY[name].get(method, "")
            paper = f" [{row['paper']}]" if row["paper"] else ""
            print(
                f"  {method:30s} {row['mean']:.1f} ± {row['deviation']:.1f}{paper}, first five splits "
                f"{row['first_five']:.1f}, {row['cpu_s']:.1f} CPU s a split",
                flush=True,
            )
            rows[name][method] = row
    for method in ("two-step", "end-to-end"):
        print(f"{method} on average: {np.mean([row[method]['mean'] for row in rows.values()]):.1f}")
    return rows


ON_CIRCLE = {f"{method}, two dimensions": method for method in ("two-step", "end-to-end")}
PEERS = ("1-NN", "5-NN", "logistic regression", "support vector machine", "label spreading, 10 neighbors")


def score(X, y, method, seed):
    """Test accuracy in percent of one split; peers learn from the vectors themselves, which HypHC never sees."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.semi_supervised import LabelSpreading
    from sklearn.svm import SVC

    from arbora.tasks.classification import classify, split_rows

    if method not in PEERS:
        options = {"max_epochs": 5} if len(y) > 1000 else {}
        if method in ON_CIRCLE:
            method, options = ON_CIRCLE[method], {"dimension": 2}
        return 100 * classify(X, y, method, random_state=seed, **options).test_accuracy
    split = split_rows(len(y), seed)
    if method == PEERS[-1]:
        known = np.where(np.isin(np.arange(len(y)), split.train), y, -1)
        found = (
            LabelSpreading(kernel="knn", n_neighbors=10, alpha=0.8, max_iter=1000).fit(X, known).transduction_
        )
        return 100 * (found == y)[split.test].mean()
    models = (
        KNeighborsClassifier(1),
        KNeighborsClassifier(5),
        LogisticRegression(C=10, max_iter=5000),
        SVC(C=10),
    )
    model = dict(zip(PEERS, models))[method]
    return 100 * model.fit(X[split.train], y[split.train]).score(X[split.test], y[split.test])


def scale(quick):
    n, count = (20_000, 2_000_000) if quick else (100_000, 20_000_000)
    print(f"\nScale: {n:,} x 64 points, {count:,} triples an epoch")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 64))[rng.integers(200, size=n)] + 0.5 * rng.normal(size=(n, 64))
    X = X.astype(np.float32)
    model, cpu, wall = timed(lambda: ab.HypHC(n_triples=count, max_epochs=2, random_state=0).fit(X))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"two epochs: {cpu:.1f} CPU s, {wall:.1f} s, {peak:.2f} GB at most, cost {2 * model.cost_:.4e}")
    return {"n": n, "triples": count, "cpu_s": cpu, "wall_s": wall, "peak_gb": peak, "cost": 2 * model.cost_}


PARTS = {
    "cost": cost,
    "speed": speed,
    "decoders": decoders,
    "triples": triples,
    "accuracy": accuracy,
    "scale": scale,
}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    arguments = parser.parse_args()
    compile_kernels()
    results = {part: PARTS[part](arguments.quick) for part in arguments.only}
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / "hyphc.json"
    kept = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps(kept | results, indent=2, default=float))


if __name__ == "__main__":
    main()
