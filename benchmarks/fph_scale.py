"""FPH by batches on a synthetic graph of the size of the paper's largest: 2.4 M nodes, 62 M edges.

    python benchmarks/fph_scale.py [--quick] [--steps 40]

The batches are the paper's: 10,000 random leaves and their neighbors, at most 200,000. Printed: seconds a step,
what 2,000 steps would take, peak memory, and how far the decoded tree has come from its random start.
"""

from __future__ import annotations

import argparse
import json
import resource
import time

from _fph_graphs import RESULTS, planted_graph

import arbora as ab


def peak_gb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


class Clock:
    """A scikit-learn callback that notes the time after every step."""

    def __init__(self, times):
        self.times = times

    def setup(self, estimator, context): ...

    def on_fit_task_begin(self, estimator, context): ...

    def on_fit_task_end(self, estimator, context):
        if context.task_name == "epoch":
            self.times.append((time.perf_counter(), time.process_time()))

    def teardown(self, estimator, context): ...


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a hundredth of the size, and of the batches")
    parser.add_argument(
        "--scale", type=int, default=1, help="a graph that many times smaller, batches as they are"
    )
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--objective", choices=("dasgupta", "tsd"), default="dasgupta")
    arguments = parser.parse_args()
    scale = 100 if arguments.quick else arguments.scale
    batch = 100 if arguments.quick else 1
    n_nodes, n_edges = 2_385_902 // scale, 61_806_367 // scale
    start = time.perf_counter()
    graph = planted_graph(n_nodes, n_edges, n_blocks=max(4096 // scale // 64, 1) * 64)
    print(
        f"{graph.n_points} nodes, {graph.n_edges} edges in {time.perf_counter() - start:.1f} s, {peak_gb():.1f} GB"
    )
    clock = []

    model = ab.FPH(
        n_internal=512,
        objective=arguments.objective,
        init="random",
        batch_size=10_000 // batch,
        batch_limit=200_000 // batch,
        max_epochs=arguments.steps,
        evaluate_every=max(arguments.steps // 4, 1),
        verbose=True,
        random_state=0,
    )
    model.set_callbacks(Clock(clock)).fit(graph)
    wall, cpu = ((clock[-1][side] - clock[0][side]) / (len(clock) - 1) for side in (0, 1))
    first, last = model.history_["cost"][[0, -1]]
    print(
        f"{cpu:.2f} CPU-seconds a step ({wall:.2f} on the clock); 2,000 steps: {2000 * cpu / 3600:.1f} CPU-hours"
    )
    print(
        f"decoded loss {first:.6g} at the start, {last:.6g} after {model.n_epochs_}; peak {peak_gb():.2f} GB"
    )
    RESULTS.mkdir(exist_ok=True)
    found = {"cpu_s_step": cpu, "wall_s_step": wall, "peak_gb": peak_gb(), "first": first, "last": last}
    name = f"fph_scale_{arguments.objective}_{scale}.json"
    (RESULTS / name).write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
