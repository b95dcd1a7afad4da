"""What clustering on a Dask cluster would take at sizes that nobody measured here: a small simulation.

    python benchmarks/scale_model.py                       # 100 million and a billion rows on 100 machines
    python benchmarks/scale_model.py --rows 3e8 --machines 20 --cores 16
    python benchmarks/scale_model.py --measure 200000      # measure the constants again, on this machine

Every stage is a list of tasks that take the measured seconds per row. The tasks, whose sizes vary as those of real
parts do, go to the next free core; bytes go over each machine's network at a given rate; the scheduler handles every
task; and the coordinator's own work stands between the stages. What the model leaves out is said in docs/scale.rst.
"""

from __future__ import annotations

import argparse
import heapq
import json
import time
from dataclasses import asdict, dataclass, replace

import numpy as np
from _record import record

from arbora.scale.plan import Plan


@dataclass(frozen=True)
class Constants:
    """CPU seconds per row of each stage of the workers, and of the coordinator; bytes per row that move."""

    check: float
    neighbors: float
    parts: float
    search: float
    # on the coordinator: per piece for the two searches, per row for the tree and its heights
    top_per_piece: float
    again_per_piece: float
    finish_per_row: float
    # seconds that Dask's scheduler spends on a task; its documentation says 0.2 to 1 milliseconds
    per_task: float = 5e-4
    # rows sent per row, neighbors in other parts included (1.0 on well separated groups; 2 assumed)
    copies: float = 2.0
    n_features: int = 64
    n_neighbors: int = 10
    # parts differ in size: standard deviation over mean
    spread: float = 0.3


# Measured with --measure 200000; see docs/scale.rst for machine and command.
MEASURED = Constants(
    check=1.0e-6,
    neighbors=2.19e-5,
    parts=6.1e-6,
    search=7.27e-5,
    top_per_piece=1.02e-4,
    again_per_piece=6.9e-5,
    finish_per_row=3.06e-6,
)


@dataclass(frozen=True)
class Machines:
    """What the work runs on; `gigabits` is the network of each machine."""

    count: int = 100
    cores: int = 8
    gigabits: float = 10.0


def bytes_per_row(c):
    """What moves over the network for each row, by stage."""
    edges = 1.5 * c.n_neighbors
    return {
        "rows to parts": (4 * c.n_features + 16) * c.copies,
        "edges between parts": 20 * 0.1 * c.n_neighbors,
        # one edge in ten between points that go to different parts
        "graph to new parts": 36 + (0.9 * 8 + 0.1 * 20) * edges,
        "trees to the coordinator": 8 + 8 + 8 + 8 + 4,
    }


def tasks_of(plan, n_blocks, n_parts, partners=24):
    """Tasks that the scheduler handles."""
    return {
        "check": n_blocks,
        "neighbors": n_blocks + n_blocks * n_parts + n_parts * (4 + 2 * partners),
        "parts": n_parts * (4 + partners),
        "search": n_parts * (6 + 2 * partners),
    }


def spread_out(rng, n_parts, seconds, cores, spread):
    """Wall seconds of tasks of uneven size, the largest first, each to the next free core."""
    sizes = np.sort(np.maximum(0.2, rng.normal(1, spread, n_parts)))[::-1]
    sizes *= n_parts / sizes.sum()
    free = [0.0] * min(cores, n_parts)
    for size in sizes:
        heapq.heappush(free, heapq.heappop(free) + size * seconds)
    return max(free)


def simulate(n, machines, c, seed=0):
    rng = np.random.default_rng(seed)
    plan = Plan.of(n)
    cores = machines.count * machines.cores
    n_blocks = -(-n // plan.block)
    # neighbors that make up a bundle leave about a fifth of its room empty
    n_parts = int(1.2 * n / plan.part) + 1
    # as if all rows were at borders
    n_pieces = 1.5 * n / plan.piece
    tasks, moved = tasks_of(plan, n_blocks, n_parts), bytes_per_row(c)
    rate = machines.gigabits * 1e9 / 8
    # a part's index has cells in proportion to the root of its rows, so that searching grows with it
    growth = np.sqrt(plan.part / 100_000)
    stages = {
        "check": spread_out(rng, n_blocks, plan.block * c.check, cores, 0.05),
        "neighbors": spread_out(rng, n_parts, n / n_parts * c.neighbors * growth, cores, c.spread)
        + n * moved["rows to parts"] / (rate * machines.count),
        "parts": spread_out(rng, n_parts, n / n_parts * c.parts, cores, c.spread),
        "top": n_pieces * c.top_per_piece,
        "search": spread_out(rng, n_parts, n / n_parts * c.search, cores, c.spread)
        + n * moved["graph to new parts"] / (rate * machines.count),
        "top again and heights": n_pieces * c.again_per_piece
        + n * c.finish_per_row
        + n * moved["trees to the coordinator"] / rate,
    }
    stages = {stage: spent + tasks.get(stage, 0) * c.per_task for stage, spent in stages.items()}
    coordinator = 200 * n + 100 * n_pieces * 40
    # as received, in the index, and about as much again while it searches: see scale_task.py
    part_bytes = plan.part * (4 * c.n_features * c.copies * 3 + 40 * c.n_neighbors)
    return {
        "rows": n,
        "machines": asdict(machines),
        "parts": n_parts,
        "rows of a part": plan.part,
        "pieces": int(n_pieces),
        "tasks": int(sum(tasks.values())),
        "bytes per row": round(sum(moved.values())),
        "coordinator GB": round(coordinator / 1e9, 1),
        "GB per running task": round(part_bytes / 1e9, 2),
        "seconds": {stage: round(float(spent), 1) for stage, spent in stages.items()},
        "minutes": round(float(sum(stages.values())) / 60, 1),
    }


def measure(n):
    """CPU seconds of each stage, one task after another in this process."""
    import dask
    import scale

    from arbora.scale import Limits, assembly, build_on_dask
    from arbora.search.cluster import Options

    # pieces of 16 rows, as a million rows have, and everywhere as small as at borders: the worst case
    limits = Limits(smallest_piece=16, inner_pieces=1)
    spent, began = {}, {}

    def clock(stage, done, total):
        if done == 0:
            began[stage] = time.process_time()
        elif done == total:
            spent[stage] = time.process_time() - began[stage]

    search = assembly.searched_pieces

    def timed_search(*arguments):
        before = time.process_time()
        found = search(*arguments)
        spent["pieces again"] = time.process_time() - before
        return found

    with dask.config.set(scheduler="sync"):
        scale.warm_up()
        assembly.searched_pieces = timed_search
        X = scale.lazy_mixture(n)
        drawing = time.process_time()
        X.sum().compute()
        drawing = time.process_time() - drawing
        build_on_dask(X, Options(random_state=0, n_jobs=1), clock, limits=limits)
    plan = Plan.of(n, limits)
    n_pieces = 1.5 * n / plan.piece
    found = replace(
        MEASURED,
        check=max(spent["check"] - drawing, 0) / n,
        neighbors=(spent["neighbors"] - drawing) / n,
        parts=spent["parts"] / n,
        search=spent["search"] / n,
        top_per_piece=spent["top"] / n_pieces,
        again_per_piece=spent["pieces again"] / n_pieces,
        finish_per_row=(spent["top again"] - spent["pieces again"] + spent["heights"]) / n,
    )
    print({stage: round(seconds, 2) for stage, seconds in spent.items()})
    return found


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=float, nargs="+", default=[1e8, 1e9])
    parser.add_argument("--machines", type=int, default=100)
    parser.add_argument("--cores", type=int, default=8)
    parser.add_argument("--gigabits", type=float, default=10.0)
    parser.add_argument("--measure", type=int, metavar="ROWS", help="measure the constants on so many rows")
    args = parser.parse_args()
    constants = MEASURED if args.measure is None else measure(args.measure)
    print(json.dumps(asdict(constants)))
    machines = Machines(args.machines, args.cores, args.gigabits)
    results = [simulate(int(n), machines, constants) for n in args.rows]
    for result in results:
        print(json.dumps(result, indent=1))
    record("scale-model", {"constants": asdict(constants), "results": results})


if __name__ == "__main__":
    main()
