"""FPH on graphs with a known hierarchy (paper, Table 10): NMI of the cut at every level, five graphs of each size.

    python benchmarks/fph_hsbm.py [--quick] [--no-baselines]
    python benchmarks/fph_hsbm.py --no-baselines --small --first-seed 100 --n-graphs 15 --epochs 20 40 80 150 300

Average linkage, Ward and Louvain stand beside FPH, all at the same number of internal nodes. 100 nodes are few:
a tree of 64 nodes trained for long fits their chance edges. How long to train was decided by the second command,
on small graphs that the table (seeds 0 to 4) does not have.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time

import numpy as np
from _fph_graphs import RESULTS
from sklearn.metrics import normalized_mutual_info_score

import arbora as ab
from arbora.probabilistic import large_hsbm, small_hsbm
from arbora.probabilistic.flat import flat_labels
from arbora.probabilistic.start import start_tree

EPOCHS = 40  # the best of those in the second command above
SIZES = (("n=100", small_hsbm, 64), ("n=1000", large_hsbm, 256))
PAPER = {"n=100": (1.0, 0.994, 0.829), "n=1000": (1.0, 1.0, 0.994)}


def level_nmi(tree, graph, levels):
    cuts = [flat_labels(tree, graph, level.max() + 1) for level in levels]
    return [normalized_mutual_info_score(level, cut) for level, cut in zip(levels, cuts)]


def methods(graph, n_internal, epochs, starts):
    rng = np.random.default_rng(0)
    for start in starts:
        yield start, start_tree(graph, start, n_internal, "tsd", rng)
    for objective, n_epochs in itertools.product(("tsd", "dasgupta"), epochs):
        model = ab.FPH(n_internal=n_internal, objective=objective, max_epochs=n_epochs, random_state=0).fit(
            graph
        )
        yield f"FPH, {objective}, {n_epochs} epochs", model.tree_


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--no-baselines", action="store_true")
    parser.add_argument("--small", action="store_true", help="only the graphs of 100 nodes")
    parser.add_argument("--epochs", type=int, nargs="+", default=[EPOCHS])
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--n-graphs", type=int, default=5)
    arguments = parser.parse_args()
    seeds = range(arguments.first_seed, arguments.first_seed + (2 if arguments.quick else arguments.n_graphs))
    starts = () if arguments.no_baselines else ("average", "ward", "louvain")
    result = {}
    for name, make, n_internal in SIZES[: 1 if arguments.small else 2]:
        found = {}
        start = time.perf_counter()
        for seed in seeds:
            hsbm = make(seed)
            graph = ab.similarity.graph(hsbm.adjacency)
            for method, tree in methods(graph, n_internal, arguments.epochs, starts):
                found.setdefault(method, []).append(level_nmi(tree, graph, hsbm.levels))
            found.setdefault("true tree", []).append(level_nmi(hsbm.tree, graph, hsbm.levels))
        print(f"{name}: {time.perf_counter() - start:.1f} s; the paper's FPH {PAPER[name]}")
        for method, values in found.items():
            mean, deviation = np.mean(values, axis=0), np.std(values, axis=0) / len(values) ** 0.5
            levels = "  ".join(f"{value:.3f} ± {error:.3f}" for value, error in zip(mean, deviation))
            print(f"  {method:28} {levels}", flush=True)
        result[name] = {method: np.mean(values, axis=0).tolist() for method, values in found.items()}
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "fph_hsbm.json").write_text(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
