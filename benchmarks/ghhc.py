"""gHHC: how fast it is, and how large data may be. Its purities are tables of ``arbora reproduce ghhc``.

    python benchmarks/ghhc.py [speed] [scale] [--quick] [--steps N]

Without a name `speed` runs. Data comes from ARBORA_DATA. Results are printed and written to
benchmarks/results/ghhc_<name>.json.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

import numpy as np
from _record import record

import arbora as ab
from arbora.hyperbolic.ghhc.candidates import choose_candidates, left_out_mass
from arbora.hyperbolic.ghhc.distances import NodeTable
from arbora.hyperbolic.ghhc.objectives import ranking_cost
from arbora.hyperbolic.ghhc.sampling import TripleSampler
from arbora.metrics import dendrogram_purity
from arbora.reproduce import data as published
from arbora.reproduce.data import centered_rows

AUTHORS_CPU_SECONDS = 38.0  # the authors' TensorFlow code on zoo: 50,000 triples, 64 internal nodes
STEPS = 5_000  # of the section scale
SEEDS = range(5)


def report(name, result):
    record(f"ghhc_{name}", result)


def timed(run):
    cpu, wall = time.process_time(), time.perf_counter()
    result = run()
    return result, time.process_time() - cpu, time.perf_counter() - wall


def peak_megabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def compile_kernels():
    """A small fit that takes the ways of a large one, so that no clock counts the compiler."""
    X = np.random.default_rng(0).standard_normal((2000, 8)).astype(np.float32)
    ab.GHHC(n_internal=600, max_steps=2, random_state=0).fit(X)


def run_speed(quick):
    """Zoo, 50,000 triples, 64 nodes: the authors' code took 38 CPU-seconds."""
    data = published.arrays("vectors/zoo.npz")
    ab.GHHC(max_steps=2, random_state=0).fit(data["X"])  # compile
    spent = [timed(lambda s=s: ab.GHHC(random_state=s).fit(data["X"]))[1] for s in SEEDS]
    ratio = AUTHORS_CPU_SECONDS / np.median(spent)
    print(f"zoo, 500 steps of 100 triples, 64 nodes: {np.median(spent):.3f} CPU-s, {ratio:.0f} times fewer")
    result = {"zoo_cpu_seconds": spent, "ratio": ratio}
    X = centered_rows(published.arrays("vectors/aloi5k.npz")["X"])[: 1500 if quick else None].astype(
        np.float32
    )
    model = ab.GHHC(n_internal=1000 if quick else 4000, max_steps=0, random_state=0).fit(X)
    result["aloi5k"] = compare_steps("aloi5k", model.nodes_, 0.9 * X)
    result["digits"] = compare_fits()
    for dimension in (128,) if quick else (128, 2048):
        rng = np.random.default_rng(0)
        nodes, points = (centered_rows(rng.standard_normal((n, dimension))) for n in (20_000, 2000))
        nodes *= rng.uniform(0.1, 0.85, (len(nodes), 1))
        name = f"random, {dimension} dimensions"
        result[name] = compare_steps(name, nodes.astype(np.float32), (0.9 * points).astype(np.float32))
    report("speed", result)


def compare_steps(name, nodes, points, n_repeats=3):
    """CPU-seconds of cost and gradient of 100 triples, over all nodes and over the 128 nearest; and what the
    second leaves out: mass of the two LCA distributions, and how far its gradient is from the exact one."""
    table = NodeTable(nodes)
    sampler = TripleSampler(points.__getitem__, len(points), 0, 10, 2000, 50)
    triples = sampler.pool(0)[sampler.draw(0, 100, np.random.default_rng(0))]
    seconds, gradients = {}, {}
    for n_candidates in (None, 128):

        def step(n=n_candidates):
            return ranking_cost(table, triples, temperature=0.2, n_candidates=n)

        found = step().nodes  # compiles
        gradients[n_candidates] = np.zeros_like(nodes)
        gradients[n_candidates][found.rows] = found.values
        seconds[n_candidates] = min(timed(step)[1] for _ in range(n_repeats))
    apart = np.linalg.norm(gradients[128] - gradients[None]) / np.linalg.norm(gradients[None])
    pair, triple = left_out_mass(table, triples, 0.2, 128)
    chosen = choose_candidates(table, triples, 0.2)
    print(
        f"{name}, {len(nodes)} nodes: exact {seconds[None]:.3f} CPU-s a step, 128 candidates "
        f"{seconds[128]:.3f}, which leave out {pair:.0%} of the mass over LCAs of pairs and {triple:.0%} of "
        f"that of triples; gradients differ by {apart:.2f} of the exact one; 'auto' considers {chosen or 'all'}"
    )
    return {
        "exact_seconds": seconds[None],
        "restricted_seconds": seconds[128],
        "left_out": [pair, triple],
        "gradient_difference": float(apart),
    }


def compare_fits(n_nodes=1000):
    """Purity of fits on all digits over all nodes and over the 128 nearest of a triple."""
    data = published.arrays("vectors/digits1797.npz")
    purity = {}
    for n_candidates in (None, 128):
        model = ab.GHHC(n_internal=n_nodes, n_candidates=n_candidates, random_state=0)
        purity[n_candidates] = dendrogram_purity(model.fit(data["X"]).tree_, data["y"])
    print(f"digits, {n_nodes} nodes: purity {purity[None]:.4f} exact, {purity[128]:.4f} with 128 candidates")
    return {"exact": purity[None], "restricted": purity[128]}


class StepClock:
    """Callback that notes when every step ended."""

    def __init__(self):
        self.ends = []

    def setup(self, estimator, context): ...

    def teardown(self, estimator, context): ...

    def on_fit_task_begin(self, estimator, context): ...

    def on_fit_task_end(self, estimator, context):
        if context.task_name == "step":
            self.ends.append(time.perf_counter())

    def seconds_a_step(self):
        return (self.ends[-1] - self.ends[0]) / (len(self.ends) - 1)


def run_scale(quick):
    """A memory-mapped array of 1,300,000 by 128, 20,000 nodes, 5,000 steps of 100 (or as many as --steps says)."""
    n_rows, n_nodes, n_steps = (50_000, 2_000, 200) if quick else (1_300_000, 20_000, STEPS)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.npy"
        rng = np.random.default_rng(0)
        top, low = rng.standard_normal((50, 128)), rng.standard_normal((1000, 128))
        data = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(n_rows, 128))
        label = rng.integers(1000, size=n_rows)
        for begin in range(0, n_rows, 50_000):
            part = label[begin : begin + 50_000]
            noise = 0.7 * rng.standard_normal((len(part), 128))
            data[begin : begin + 50_000] = top[part % 50] + 0.8 * low[part] + noise
        data.flush()
        del data
        mapped = np.load(path, mmap_mode="r")
        compile_kernels()
        clock = StepClock()
        model = ab.GHHC(n_internal=n_nodes, max_steps=n_steps, random_state=0).set_callbacks(clock)
        fitted, cpu, wall = timed(lambda: model.fit(mapped))
        rows = np.sort(rng.choice(n_rows, min(20_000, n_rows), replace=False))
        purity = dendrogram_purity(fitted.tree_over(mapped[rows]), label[rows])
    print(
        f"{n_rows} by 128 memory map, {n_nodes} nodes, {n_steps} steps: {wall / 60:.1f} min, "
        f"{cpu / 60:.1f} CPU-min, {clock.seconds_a_step():.3f} s a step, peak {peak_megabytes():.0f} MB; "
        f"purity over {len(rows)} rows, 1000 classes: {purity:.3f}"
    )
    report(
        "scale",
        {"minutes": wall / 60, "cpu_minutes": cpu / 60, "peak_megabytes": peak_megabytes(), "purity": purity},
    )


SECTIONS = {"speed": run_speed, "scale": run_scale}


def main():
    global STEPS
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sections", nargs="*", choices=[*SECTIONS, []])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--steps", type=int, default=STEPS, help="steps of the section scale")
    options = parser.parse_args()
    STEPS = options.steps
    for name in options.sections or ["speed"]:
        SECTIONS[name](options.quick)


if __name__ == "__main__":
    main()
