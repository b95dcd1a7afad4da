"""Link prediction with FPH and four baselines (paper, Table 4): AUC-PR in percent, 10 % of the edges held out.

    python benchmarks/fph_links.py [--quick] [--only-fph] [--splits 3] [--graphs cora_ml ...]

Every method sees the same training graph and the same pairs. Standard deviation over splits in brackets.
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np
from _fph_graphs import RESULTS, SMALL, load_graph

from arbora.tasks import link_prediction as links

PAPER = {
    "cora_ml": {"FPH": 95.7, "DCSBM": 95.5, "DeepWalk": 94.3, "Adamic-Adar": 86.5, "VGAE": 95.9},
    "citeseer": {"FPH": 96.2, "DCSBM": 93.6, "DeepWalk": 96.0, "Adamic-Adar": 76.8, "VGAE": 94.8},
    "polblogs": {"FPH": 94.3, "DCSBM": 94.9, "DeepWalk": 84.8, "Adamic-Adar": 92.6, "VGAE": 92.8},
    "openflight": {"FPH": 99.3, "DCSBM": 99.0, "DeepWalk": 94.3, "Adamic-Adar": 98.4, "VGAE": 99.0},
}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--splits", type=int, default=1)
    parser.add_argument("--only-fph", action="store_true")
    parser.add_argument("--graphs", nargs="+", default=SMALL)
    arguments = parser.parse_args()
    result = {}
    for name in arguments.graphs:
        graph = load_graph(name)
        methods = {"FPH": links.fph_method(256, max_epochs=60 if arguments.quick else 300, random_state=0)}
        if not (arguments.quick or arguments.only_fph):
            methods |= links.baselines(0)
        found = {}
        for seed in range(arguments.splits):
            for method, score in methods.items():
                start = time.process_time()
                value = links.predict_links(graph, {method: score}, random_state=seed)[method]
                found.setdefault(method, []).append((100 * value, time.process_time() - start))
        for method, rows in found.items():
            value, cpu = np.mean(rows, axis=0)
            print(
                f"{name:10} {method:12} {value:5.1f} ({np.std(rows, axis=0)[0]:.1f})  paper {PAPER[name][method]:5.1f}"
                f"  {cpu:6.1f} CPU-seconds",
                flush=True,
            )
        result[name] = {method: np.array(rows).tolist() for method, rows in found.items()}
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "fph_links.json").write_text(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
