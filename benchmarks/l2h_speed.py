"""L2H's speed beside the paper's listing and the same algorithm with binned sums.

    python benchmarks/l2h_speed.py [--quick] [--only listing memory mapped many turtle]

Logits are synthetic (clustered prototypes plus noise, as a classifier's are); the kernels are compiled outside the
clock. CPU seconds where peers are compared (noise of a shared machine cancels), wall seconds for the large runs.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from _record import record, recorded
from scipy.special import softmax

import arbora as ab


def synthetic_logits(n_points, n_classes, dtype=np.float32, seed=0, out=None):
    """Prototypes in groups of ten; a point's logits are its products with all prototypes."""
    rng = np.random.default_rng(seed)
    width = 32
    groups = rng.normal(size=(-(-n_classes // 10), width)).repeat(10, axis=0)[:n_classes]
    prototypes = (groups + 0.6 * rng.normal(size=(n_classes, width))).astype(np.float32)
    logits = np.empty((n_points, n_classes), dtype) if out is None else out
    for start in range(0, n_points, 20_000):
        stop = min(n_points, start + 20_000)
        own = rng.integers(0, n_classes, stop - start)
        points = prototypes[own] + 0.8 * rng.standard_normal((stop - start, width), dtype=np.float32)
        logits[start:stop] = 0.8 * points @ prototypes.T
    for c in range(n_classes):  # the listing goes silently wrong where a class is empty
        logits[c, c] = logits[c].max() + 1
    return logits


def listing(logits, binned=False):
    """Appendix A of the paper, its slip corrected; `binned` sums by class once a step instead of masking."""
    n_classes = logits.shape[-1]
    groups, steps = [(c,) for c in range(n_classes)], []
    probabilities = softmax(logits, axis=-1)
    assigned, confidence = probabilities.argmax(axis=-1), probabilities.max(axis=-1)
    mean = np.bincount(assigned, confidence, minlength=n_classes) / np.bincount(assigned, minlength=n_classes)
    for _ in range(1, n_classes):
        if binned:
            score = {g: sum(mean[c] for c in g) for g in groups}
        else:
            score = {g: sum(np.mean(confidence[assigned == c]) for c in g) for g in groups}
        chosen = min(score, key=score.get)
        rows = logits[np.where(np.isin(assigned, chosen))[0]]
        masked = np.zeros_like(rows)
        outside = [c for c in range(n_classes) if c not in chosen]
        masked[:, outside] = softmax(rows[:, outside], axis=-1)
        reassigned, probability = masked.argmax(axis=-1), masked.max(axis=-1)
        if binned:
            received = np.bincount(reassigned, probability, minlength=n_classes)
            related = {g: np.mean(received[list(g)]) for g in groups if g != chosen}
        else:
            related = {
                g: np.mean([np.sum(probability[reassigned == c]) for c in g]) for g in groups if g != chosen
            }
        partner = max(related, key=related.get)
        groups = [g for g in groups if g not in (chosen, partner)] + [chosen + partner]
        steps.append(frozenset([frozenset(chosen), frozenset(partner)]))
    return steps


def steps_of(tree):
    members = {c: frozenset([c]) for c in range(tree.n_leaves)}
    steps = []
    for node in range(tree.n_leaves, tree.n_nodes):
        pair = [members[v] for v in tree.children(node).tolist()]
        steps.append(frozenset(pair))
        members[node] = frozenset().union(*pair)
    return steps


def timed(function):
    cpu, wall = time.process_time(), time.perf_counter()
    result = function()
    return result, time.process_time() - cpu, time.perf_counter() - wall


def warm_up(dtype):
    model = ab.L2H(n_bootstraps=2)
    model.fit(synthetic_logits(200, 20, dtype))


def against_listing(n_points, n_classes):
    warm_up(np.float32)
    logits = synthetic_logits(n_points, n_classes)
    model, cpu, wall = timed(lambda: ab.L2H(n_bootstraps=0).fit(logits))
    _, cpu_boot, _ = timed(lambda: ab.L2H(n_bootstraps=20, random_state=0).fit(logits))
    binned, cpu_binned, _ = timed(lambda: listing(logits, binned=True))
    plain, cpu_plain, _ = timed(lambda: listing(logits))
    own = steps_of(model.tree_)
    return {
        "n_points": n_points,
        "n_classes": n_classes,
        "cpu_seconds": cpu,
        "wall_seconds": wall,
        "cpu_seconds_with_20_bootstraps": cpu_boot,
        "listing_cpu_seconds": cpu_plain,
        "binned_listing_cpu_seconds": cpu_binned,
        "times_faster_than_listing": cpu_plain / cpu,
        "times_faster_than_binned": cpu_binned / cpu,
        "same_steps_as_listing": sum(a == b for a, b in zip(own, plain)) / len(plain),
        "same_steps_as_binned": sum(a == b for a, b in zip(own, binned)) / len(binned),
    }


def in_memory(n_points, n_classes, dtype=np.float32):
    warm_up(dtype)
    logits = synthetic_logits(n_points, n_classes, dtype)
    _, cpu, wall = timed(lambda: ab.L2H(n_bootstraps=0).fit(logits))
    return {"n_points": n_points, "n_classes": n_classes, "cpu_seconds": cpu, "wall_seconds": wall}


# VmHWM, not getrusage: the latter starts from the size of the process that started this one.
_MAPPED = """
import re, sys, time
import numpy as np, arbora as ab
ab.L2H(n_bootstraps=2).fit(np.load(sys.argv[2], mmap_mode="r"))  # compiles, also for read-only arrays
cpu, wall = time.process_time(), time.perf_counter()
model = ab.L2H(n_bootstraps=int(sys.argv[3])).fit(sys.argv[1])
cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
print(cpu, wall, re.search("VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1], model.exact_)
"""


def memory_mapped(n_points, n_classes, n_bootstraps=0):
    """In a fresh process, whose largest resident size is reported."""
    with tempfile.TemporaryDirectory() as folder:
        path, small = Path(folder) / "logits.npy", Path(folder) / "small.npy"
        out = np.lib.format.open_memmap(path, "w+", np.float16, (n_points, n_classes))
        synthetic_logits(n_points, n_classes, out=out)
        out.flush()
        np.save(small, np.asarray(out[: 2 * n_classes]))
        del out
        command = [sys.executable, "-c", _MAPPED, str(path), str(small), str(n_bootstraps)]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return {
        "n_points": n_points,
        "n_classes": n_classes,
        "n_bootstraps": n_bootstraps,
        "cpu_seconds": float(printed[0]),
        "wall_seconds": float(printed[1]),
        "largest_resident_gb": int(printed[2]) * 1024 / 1e9,
        "exact": printed[3] == "True",
    }


def turtle(quick):
    """TURTLE with default steps on 50,000 x 768, 100 clusters."""
    n, d, k = (5000, 64, 20) if quick else (50_000, 768, 100)
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(k, d)).astype(np.float32)
    X = centers[rng.integers(0, k, n)] + rng.standard_normal((n, d), dtype=np.float32)
    cpu, wall = time.process_time(), time.perf_counter()
    model = ab.TURTLE(k, random_state=0).fit(X)
    return {
        "cpu_seconds": time.process_time() - cpu,
        "wall_seconds": time.perf_counter() - wall,
        "steps": model.n_steps_,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", nargs="*", default=["listing", "memory", "mapped", "many", "turtle"])
    arguments = parser.parse_args()
    quick = arguments.quick
    runs = {
        "listing": lambda: against_listing(*((10_000, 200) if quick else (100_000, 1000))),
        "memory": lambda: in_memory(*((50_000, 200) if quick else (1_281_167, 1000))),
        "mapped": lambda: memory_mapped(*((50_000, 200) if quick else (1_281_167, 1000))),
        "many": lambda: in_memory(*((10_000, 1000) if quick else (200_000, 10_000)), dtype=np.float16),
        "turtle": lambda: turtle(quick),
    }
    results = {}
    for name in arguments.only:
        results[name] = runs[name]()
        print(f"\n{name}")
        for key, value in results[name].items():
            print(
                f"  {key:32s} {value:.4g}" if isinstance(value, float) else f"  {key:32s} {value}", flush=True
            )
    record("l2h_speed", (recorded("l2h_speed", quick=quick) or {}) | results, quick=quick)
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    print(f"\nlargest resident size of this process {resident:.2f} GB")


if __name__ == "__main__":
    main()
