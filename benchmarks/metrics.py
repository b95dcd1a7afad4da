"""Speed of the metrics beside the values they return, with higra and scikit-network in the same run.

    python benchmarks/metrics.py            # the sizes of the targets; a few minutes, 6 GB
    python benchmarks/metrics.py --quick    # a tenth of them

Every tree is new when the clock starts, so the time includes whatever the metric derives from it. Times are
CPU seconds of this process; the wall clock stands beside them. Kernels are compiled before.
"""

from __future__ import annotations

import argparse
import math
import time

import higra as hg
import numpy as np
import scipy.sparse as sp
from _record import record
from numba import njit
from sknetwork.hierarchy import dasgupta_cost as sknetwork_dasgupta
from sknetwork.hierarchy import tree_sampling_divergence as sknetwork_tsd

import arbora as ab
from arbora import metrics


@njit
def merge_random_roots(n_leaves, draws):
    """Parent array of a random binary tree: two random roots merge until one is left."""
    roots = np.arange(n_leaves)
    parent = np.full(2 * n_leaves - 1, -1)
    for step in range(n_leaves - 1):
        last = n_leaves - 1 - step
        first, second = int(draws[step, 0] * (last + 1)), int(draws[step, 1] * last)
        roots[first], roots[last] = roots[last], roots[first]
        parent[roots[last]] = parent[roots[second]] = n_leaves + step
        roots[second] = n_leaves + step
    return parent


def new_tree(n_leaves, seed=0):
    draws = np.random.default_rng(seed).random((n_leaves - 1, 2))
    return ab.Tree(merge_random_roots(n_leaves, draws), n_leaves)


def higra_tree(tree):
    return hg.Tree(np.where(tree.parent < 0, tree.root, tree.parent))


def higra_dasgupta(tree, weights, leaf_graph):
    return float(hg.dasgupta_cost(higra_tree(tree), weights, leaf_graph, "similarity"))


def as_dendrogram(tree):
    """SciPy's form: scikit-network counts merges, heights do not matter to it."""
    n = tree.n_leaves
    return np.column_stack([tree.child_index.reshape(-1, 2), np.arange(n - 1.0), tree.sizes[n:]])


class Report:
    """Rows as they come, on the screen and as JSON."""

    def __init__(self):
        self.rows = []

    def measure(self, task, library, call, *, target=None):
        wall, cpu = time.perf_counter(), time.process_time()
        value = call()
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        ours = next((row["cpu_s"] for row in self.rows if row["task"] == task), None)
        ratio = cpu / ours if ours else 1.0
        row = {"task": task, "library": library, "value": value, "cpu_s": cpu, "wall_s": wall}
        self.rows.append(row | {"ratio": ratio, "target_s": target})
        limit = f"{target:5.1f}" if target else "     "
        met = "" if target is None else ("met" if cpu < target else "MISSED")
        print(
            f"{task:41s} {library:16s} {value:14.8g} {cpu:9.3f} {wall:9.3f} {ratio:8.1f}x {limit} {met}",
            flush=True,
        )
        return value

    def header(self):
        columns = f"{'value':>14s} {'CPU s':>9s} {'wall s':>9s} {'CPU/ours':>9s} target"
        print(f"{'task':41s} {'library':16s} {columns}")


def compile_kernels():
    rng = np.random.default_rng(0)
    tree, y = new_tree(30), rng.integers(0, 3, 30)
    for dtype in (np.float32, np.float64):
        X = rng.normal(size=(30, 3)).astype(dtype)
        metrics.score(new_tree(30), ab.similarity.cosine(X), y, leaf_of_point=np.arange(30))
        metrics.score(tree, ab.similarity.dense(np.exp(X @ X.T)))
    metrics.score(tree, ab.similarity.graph((np.arange(29), np.arange(1, 30))))


def vectors(report, n):
    rng = np.random.default_rng(1)
    similarity = ab.similarity.cosine(rng.normal(size=(n, 64)).astype(np.float32))
    tree = new_tree(n)
    report.measure(
        f"Dasgupta, cosine {n}x64", "arbora", lambda: metrics.dasgupta_cost(tree, similarity), target=3.0
    )


def graphs(report, n_edges, *, with_sknetwork):
    rng = np.random.default_rng(2)
    n = n_edges // 3
    rows, cols = rng.integers(0, n, n_edges), rng.integers(0, n, n_edges)
    rows, cols = rows[rows != cols], cols[rows != cols]
    graph = ab.similarity.graph((rows, cols), n_points=n)
    upper = sp.triu(graph.csr, 1).tocoo()
    leaf_graph = hg.UndirectedGraph(n)
    leaf_graph.add_edges(upper.row.astype(np.int64), upper.col.astype(np.int64))
    parent, adjacency, dendrogram = new_tree(n).parent, sp.csr_matrix(graph.csr), as_dendrogram(new_tree(n))
    task = f"Dasgupta, graph of {graph.n_edges} edges"
    ours = report.measure(
        task, "arbora", lambda: metrics.dasgupta_cost(ab.Tree(parent, n), graph), target=2.0
    )
    theirs = report.measure(task, "higra", lambda: higra_dasgupta(ab.Tree(parent, n), upper.data, leaf_graph))
    check_close(ours, theirs)
    tsd = f"TSD, graph of {graph.n_edges} edges"
    divergence = report.measure(
        tsd, "arbora", lambda: metrics.tree_sampling_divergence(ab.Tree(parent, n), graph), target=2.0
    )
    if with_sknetwork:  # its dictionaries take minutes for a million edges, and add up in float32
        theirs = report.measure(
            task, "scikit-network", lambda: sknetwork_dasgupta(adjacency, dendrogram) * graph.total
        )
        check_close(ours, theirs, 1e-3)
        theirs = report.measure(tsd, "scikit-network", lambda: float(sknetwork_tsd(adjacency, dendrogram)))
        check_close(divergence, theirs, 1e-2)


def matrices(report, n):
    rng = np.random.default_rng(3)
    matrix = rng.random((n, n))
    matrix = np.triu(matrix, 1) + np.triu(matrix, 1).T + np.eye(n)
    similarity = ab.similarity.dense(matrix)
    parent, dendrogram = new_tree(n).parent, as_dendrogram(new_tree(n))
    rows, cols = np.triu_indices(n, 1)
    leaf_graph = hg.UndirectedGraph(n)
    leaf_graph.add_edges(rows, cols)
    weights = matrix[rows, cols]
    task = f"Dasgupta, dense n={n}"
    ours = report.measure(task, "arbora", lambda: metrics.dasgupta_cost(ab.Tree(parent, n), similarity))
    theirs = report.measure(task, "higra", lambda: higra_dasgupta(ab.Tree(parent, n), weights, leaf_graph))
    check_close(ours, theirs)
    adjacency = sp.csr_matrix(matrix - np.eye(n))
    total = adjacency.sum() / 2
    theirs = report.measure(task, "scikit-network", lambda: sknetwork_dasgupta(adjacency, dendrogram) * total)
    check_close(ours, theirs, 1e-3)


def purities(report, n, n_classes):
    rng = np.random.default_rng(4)
    times = []
    for part in (n // 4, n // 2, n):
        tree, y = new_tree(part), rng.integers(0, n_classes, part)
        task = f"dendrogram purity, {part}, {n_classes} classes"
        report.measure(task, "arbora", lambda: metrics.dendrogram_purity(tree, y), target=5.0)  # noqa: B023
        times.append(report.rows[-1]["cpu_s"])
    print(f"    growth exponent {math.log(times[-1] / times[0]) / math.log(4):.2f}")
    report.measure(
        f"least hierarchical distance, {n}",
        "arbora",
        lambda: metrics.least_hierarchical_distance(tree, y),
    )
    small, labels = new_tree(n // 50), rng.integers(0, 100, n // 50)
    task = f"dendrogram purity, {n // 50}, 100 classes"
    ours = report.measure(task, "arbora", lambda: metrics.dendrogram_purity(small, labels))
    theirs = report.measure(task, "higra", lambda: hg.dendrogram_purity(higra_tree(small), labels))
    check_close(ours, theirs)


def bounds(report, n):
    similarity = ab.similarity.cosine(np.random.default_rng(5).normal(size=(n, 18)))
    task = f"lower bound from triples, n={n}"
    exact = report.measure(task, "arbora", lambda: metrics.dasgupta_bounds(similarity).lower)
    sampled = report.measure(
        task,
        "arbora, sampled",
        lambda: metrics.dasgupta_bounds(similarity, n_samples=1_000_000, random_state=0).lower,
    )
    check_close(exact, sampled, 5e-3)


def check_close(ours, theirs, tolerance=1e-9):
    if not math.isclose(ours, theirs, rel_tol=tolerance):
        raise SystemExit(f"values disagree: {ours!r} and {theirs!r}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the sizes")
    shrink = 10 if parser.parse_args().quick else 1
    compile_kernels()
    report = Report()
    report.header()
    vectors(report, 1_000_000 // shrink)
    graphs(report, 1_000_000 // shrink, with_sknetwork=False)
    graphs(report, 100_000 // shrink, with_sknetwork=True)
    purities(report, 1_000_000 // shrink, 1000)
    bounds(report, 2310 if shrink == 1 else 600)
    matrices(report, 5000 if shrink == 1 else 500)
    record("metrics", report.rows, quick=shrink > 1)


if __name__ == "__main__":
    main()
