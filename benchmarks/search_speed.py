"""How fast the search is, quality beside it, peers in the same run.

    python benchmarks/search_speed.py                            # about half an hour on two cores
    python benchmarks/search_speed.py --quick                    # small sizes
    python benchmarks/search_speed.py --only peers               # 100,000 vectors beside fast_hdbscan, ratios
    python benchmarks/search_speed.py --only threads --threads   # one thread and two, stage by stage, at 300,000
    python benchmarks/search_speed.py --only cluster --million   # up to a million, with the growth of time
    python benchmarks/search_speed.py --only growth --growth     # the same, with groups of 300 points at every size
    python benchmarks/search_speed.py --only ten_million --ten-million   # 10,000,000 x 32: does it end, in what memory

Sections: graphs (linkage and refine of the published graphs), cluster (vectors of a three-level mixture, time against
n), covtype (all of its rows), peers (100,000 vectors beside fast_hdbscan and bisecting k-means), online (OnlineTree),
and those that are asked for: growth (groups that keep their size), threads, ten_million.
CPU and wall seconds; a small run of the same calls compiles the kernels before the clock starts.
"""

from __future__ import annotations

import argparse
import math
import resource
import time
from pathlib import Path

import numpy as np
from _peers import hdbscan_tree
from _record import record

import arbora as ab
from arbora._base.jit import compiling_all
from arbora.reproduce import data as published

# points of each of the smallest groups where groups keep their size
GROUP = 300
ONLINE_SIZES = [25_000, 50_000, 100_000, 200_000]


def mixture(n, d=64, seed=0, n_branches=10):
    """Gaussian mixture with a hierarchy: 10 groups of 10 groups of 10, or of another number.

    Returns float32 rows and labels per level.
    """
    rng = np.random.default_rng(seed)
    centers = np.zeros((1, d))
    for spread in (4.0, 2.0, 1.0):
        centers = (
            np.repeat(centers, n_branches, axis=0)
            + rng.normal(size=(len(centers) * n_branches, d)) * spread / math.sqrt(d) * 4
        )
    leaf = rng.integers(n_branches**3, size=n)
    X = rng.standard_normal((n, d), dtype=np.float32)
    X += centers[leaf].astype(np.float32)
    labels = np.stack([leaf // n_branches**2, leaf // n_branches, leaf], axis=1)
    return X, labels


def timed(call):
    wall, cpu = time.perf_counter(), time.process_time()
    value = call()
    return value, time.process_time() - cpu, time.perf_counter() - wall


def show(row):
    print(
        "  " + "   ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in row.items()),
        flush=True,
    )
    return row


def peak_gigabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def purities(tree, labels):
    return {
        f"purity {k + 1}": float(ab.metrics.dendrogram_purity(tree, labels[:, k]))
        for k in range(labels.shape[1])
    }


def warm_up():
    """Compile what a large set needs, short passes too, which a small one leaves to the interpreter."""
    with compiling_all():
        ab.cluster(mixture(40_000)[0], random_state=0)


def run_graphs(quick):
    print("\naverage linkage, and refine from there (normalized Dasgupta cost)")
    # kernels for small graphs, and for large ones
    for warm in (
        published.planted_graph(2_000, 8_000, n_blocks=64),
        published.planted_graph(40_000, 120_000),
    ):
        ab.refine(ab.linkage(warm, "average"), warm, max_sweeps=1)
    for name in ("cora_ml", "citeseer", "polblogs", "openflight", *(() if quick else ("dblp",))):
        graph = published.network(name)
        start, link_cpu, link_wall = timed(lambda g=graph: ab.linkage(g, "average"))
        tree, cpu, wall = timed(lambda t=start, g=graph: ab.refine(t, g))
        costs = [float(ab.metrics.dasgupta_cost(t, graph, normalize=True)) for t in (start, tree)]
        yield show(
            {
                "graph": name,
                "before": costs[0],
                "after": costs[1],
                "linkage cpu s": link_cpu,
                "linkage wall s": link_wall,
                "cpu s": cpu,
                "wall s": wall,
                "depth": int(tree.depths.max()),
            }
        )


def run_cluster(sizes):
    print("\ncluster(X), 64 features, three-level mixture")
    yield from timed_clusterings((n, mixture(n)) for n in sizes)


def run_growth():
    """More points, and as many more groups: a fixed number of groups has larger ones, whose trees are deeper."""
    print(f"\ncluster(X), 64 features, three-level mixture of groups of {GROUP} points")
    sizes = ((GROUP * n_branches**3, n_branches) for n_branches in (7, 10, 15))
    yield from timed_clusterings((n, mixture(n, n_branches=n_branches)) for n, n_branches in sizes)


def timed_clusterings(draws):
    """Time, memory and purities of each draw, and how time grows."""
    warm_up()
    rows = []
    for n, (X, labels) in draws:
        tree, cpu, wall = timed(lambda X=X: ab.cluster(X, random_state=0))
        rows.append(
            {"n": n, "cpu s": cpu, "wall s": wall, "peak GB": peak_gigabytes(), **purities(tree, labels)}
        )
        yield show(rows[-1])
    if len(rows) > 1:
        print(f"  growth exponent {growth(rows):.2f}, of the two largest {growth(rows[-2:]):.2f}")


def growth(rows):
    """Exponent of CPU seconds against n, by least squares on logarithms."""
    sizes, seconds = ([math.log(row[key]) for row in rows] for key in ("n", "cpu s"))
    return float(np.polyfit(sizes, seconds, 1)[0])


def draw_growth(rows, path):
    """Time against n, as a picture."""
    import matplotlib.pyplot as plt

    sizes = [row["n"] for row in rows]
    fig, ax = plt.subplots(figsize=(5, 3.4), layout="constrained")
    for key, label in (("cpu s", "CPU"), ("wall s", "wall clock, 2 cores")):
        ax.loglog(sizes, [row[key] for row in rows], "o-", label=label)
    ax.set(xlabel="vectors of 64 features", ylabel="seconds")
    ax.set_title(
        f"cluster(X): exponent {growth(rows):.2f}, of the two largest {growth(rows[-2:]):.2f}", fontsize=9
    )
    ax.legend(frameon=False)
    fig.savefig(path, dpi=150)


def run_covtype():
    """All 581,012 rows of covtype with 54 attributes."""
    path = (published.folder() or Path()) / "vectors" / "covtype.npz"
    if not path.exists():
        return
    with np.load(path) as file:
        X, y = file["X"].astype(np.float32), file["y"]
    print(f"\ncluster(covtype), {len(X):,} x {X.shape[1]}")
    warm_up()
    tree, cpu, wall = timed(lambda: ab.cluster(X, random_state=0))
    yield show(
        {"n": len(X), "cpu s": cpu, "wall s": wall, "peak GB": peak_gigabytes(), **purities(tree, y[:, None])}
    )


def run_threads(n):
    """One thread against two, for each stage; both give the same tree."""
    print(f"\n{n:,} vectors of 64 features, one thread and two")
    X, _ = mixture(n)
    warm_up()
    # what comes after the tree: checks, and the cut into clusters
    ab.TreeClustering(random_state=0).fit(mixture(40_000)[0])
    seconds, trees = {1: [], 2: []}, []
    # three times each, in an order that favors neither; the first run of all also asks the system for its memory
    for n_jobs in (2, 1, 1, 2, 2, 1):
        model, cpu, wall = timed(
            lambda n_jobs=n_jobs: ab.TreeClustering(n_jobs=n_jobs, random_state=0).fit(X)
        )
        seconds[n_jobs].append(model.report_.seconds | {"all": wall})
        trees.append(model.tree_)
        print(f"  {n_jobs} threads: {cpu:.1f} CPU s, {wall:.1f} s", flush=True)
    same = all(np.array_equal(trees[0].parent, tree.parent) for tree in trees)
    print(f"  same tree: {same}; the median of three runs each")
    for stage in seconds[1][0]:
        alone, together = (float(np.median([run[stage] for run in seconds[n]])) for n in (1, 2))
        yield show({"stage": stage, "one": alone, "two": together, "times faster": alone / together})


def run_ten_million(n=10_000_000, d=32):
    """Whether a very large set ends, and in what memory."""
    print(f"\ncluster(X), {n:,} x {d} float32")
    warm_up()
    X, _ = mixture(n, d)
    tree, cpu, wall = timed(lambda: ab.cluster(X, random_state=0))
    yield show({"n": tree.n_leaves, "cpu s": cpu, "wall s": wall, "peak GB": peak_gigabytes()})


def run_peers(n):
    print(f"\n{n:,} vectors of 64 features, three-level mixture")
    X, labels = mixture(n)
    methods = {
        "cluster": lambda X: ab.cluster(X, random_state=0),
        "fast_hdbscan": hdbscan_tree,
        "bisecting k-means": lambda X: ab.bisecting_kmeans(X, random_state=0),
    }
    rows = {}
    warm_up()
    for method, call in methods.items():
        # large enough for the ways of large data
        call(mixture(40_000, seed=1)[0])
        tree, cpu, wall = timed(lambda call=call: call(X))
        rows[method] = {"method": method, "cpu s": cpu, "wall s": wall, **purities(tree, labels)}
        yield show(rows[method])
    ours, theirs = rows["cluster"], rows["fast_hdbscan"]
    ratios = {f"ratio {key}": ours[key] / theirs[key] for key in ("cpu s", "wall s")}
    yield show({"method": "cluster / fast_hdbscan", **ratios})


def blurred(n, d=32, n_centers=1000, seed=0):
    """Points around centers, scattered as far as neighboring centers lie apart. Returns rows and labels."""
    rng = np.random.default_rng(seed)
    centers, label = rng.normal(size=(n_centers, d)), rng.integers(n_centers, size=n)
    return centers[label] + rng.normal(size=(n, d)), label[:, None]


def run_online(sizes):
    """Insertion point by point, where groups are apart and where they are not."""
    for name, draw in (("three-level mixture", lambda n: mixture(n, 32)), ("1,000 blurred centers", blurred)):
        print(f"\nOnlineTree, 32 features, {name}")
        # as many points as nodes are numbered anew from, and more
        with compiling_all():
            ab.OnlineTree(random_state=0).fit(draw(20_000)[0])
        rows = []
        for n in sizes:
            X, labels = draw(n)
            model, cpu, wall = timed(lambda X=X: ab.OnlineTree(random_state=0).fit(X))
            quality = purities(model.tree_, labels)
            rows.append({"data": name, "n": n, "cpu s": cpu, "wall s": wall, **quality})
            yield show(rows[-1])
        if len(rows) > 1:
            print(f"  growth exponent {growth(rows):.2f}, of the two largest {growth(rows[-2:]):.2f}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument(
        "--only",
        choices=["graphs", "cluster", "growth", "covtype", "peers", "online", "threads", "ten_million"],
    )
    parser.add_argument("--threads", action="store_true", help="one thread against two, at 300,000 vectors")
    parser.add_argument("--million", action="store_true", help="a million vectors as well")
    parser.add_argument(
        "--growth", action="store_true", help="up to a million, in groups that keep their size"
    )
    parser.add_argument("--ten-million", action="store_true", help="10,000,000 vectors of 32 features")
    parser.add_argument("--picture", type=Path, help="where to draw time against n")
    parser.add_argument("--sizes", type=int, nargs="+")
    options = parser.parse_args()
    sizes = options.sizes or ([5_000, 20_000] if options.quick else [10_000, 30_000, 100_000, 300_000])
    sizes += [1_000_000] if options.million else []
    sections = {
        "graphs": lambda: run_graphs(options.quick) if published.folder() is not None else [],
        "cluster": lambda: run_cluster(sizes),
        "growth": run_growth if options.growth else list,
        "covtype": run_covtype if not options.quick else list,
        "peers": lambda: run_peers(10_000 if options.quick else 100_000),
        "online": lambda: run_online(options.sizes or (sizes if options.quick else ONLINE_SIZES)),
        "threads": lambda: run_threads(40_000 if options.quick else 300_000) if options.threads else [],
        "ten_million": run_ten_million if options.ten_million else list,
    }
    results = {name: list(run()) for name, run in sections.items() if options.only in (None, name)}
    if options.picture and len(results.get("cluster", [])) > 1:
        draw_growth(results["cluster"], options.picture)
    record("search_speed", results, quick=options.quick)


if __name__ == "__main__":
    main()
