"""HypHC: how fast it is. Its costs and accuracies are tables of ``arbora reproduce hyphc``.

    python benchmarks/hyphc.py                       # everything
    python benchmarks/hyphc.py --quick               # fewer triples
    python benchmarks/hyphc.py --only speed          # parts: peer speed scale

Times are CPU seconds of this process, kernels compiled before. The peer is the paper's recipe written with geoopt
(reflections for the ancestor, Riemannian Adam, batches of 256), timed here on a few batches and multiplied by the
number of triples the authors' code takes.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np
from _record import record, recorded

import arbora as ab
from arbora.hyperbolic.hyphc import _kernels as kernels
from arbora.hyperbolic.hyphc.circle import CircleEngine
from arbora.hyperbolic.hyphc.decode import decode_circle, decode_exact
from arbora.hyperbolic.hyphc.triples import TripleSampler
from arbora.reproduce import data as published

AUTHORS_TRIPLES = {"zoo": 100_000 * 50}


def load(name):
    return published.standardized(published.vectors(name).X)


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


def peer(quick):
    """CPU seconds a triple of the paper's recipe in geoopt, and what zoo's 5 million take."""
    import geoopt
    import torch

    from arbora.hyperbolic import poincare
    from arbora.hyperbolic.lca import lca_by_inversion

    X = load("zoo")
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
    X = load("segmentation")
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


PARTS = {"peer": peer, "speed": speed, "scale": scale}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    arguments = parser.parse_args()
    compile_kernels()
    results = {part: PARTS[part](arguments.quick) for part in arguments.only}
    record("hyphc", (recorded("hyphc", quick=arguments.quick) or {}) | results, quick=arguments.quick)


if __name__ == "__main__":
    main()
