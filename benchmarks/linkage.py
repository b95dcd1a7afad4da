"""Linkages and neighbor graphs: quality beside CPU time and memory, peers in the same run.

    python benchmarks/linkage.py            # DBLP (from ARBORA_DATA), 100,000 and 1,000,000 rows
    python benchmarks/linkage.py --quick    # small sizes, no data needed

Each measurement runs in a process of its own, so that peak memory is its own; kernels are compiled before the
clock starts. Peers: SciPy, scikit-network (Paris with uniform weights is average linkage of a graph), faiss.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from _record import record

DATA = Path(os.environ.get("ARBORA_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))


def mixture(n, d=64, n_groups=1000, seed=0):
    """Rows of a Gaussian mixture in float32, and their groups."""
    rng = np.random.default_rng(seed)
    centers = rng.normal(size=(n_groups, d)).astype(np.float32) * 2
    group = rng.integers(n_groups, size=n)
    X = rng.standard_normal((n, d), dtype=np.float32)
    X += centers[group]
    return X, group


def edges(name):
    """(rows, cols, n) of a published graph, or of a random one for "random"."""
    if name == "random":
        rng = np.random.default_rng(0)
        pairs = np.unique(np.sort(rng.integers(5000, size=(20_000, 2)), axis=1), axis=0)
        pairs = pairs[pairs[:, 0] < pairs[:, 1]]
        return pairs[:, 0], pairs[:, 1], 5000
    with np.load(DATA / "graphs" / f"{name}.npz") as file:
        return file["rows"], file["cols"], int(file["n"])


def timed(call):
    wall, cpu = time.perf_counter(), time.process_time()
    value = call()
    return value, time.process_time() - cpu, time.perf_counter() - wall


def graph_task(name, library):
    """Average linkage of a graph; quality is its normalized Dasgupta cost."""
    import arbora as ab

    rows, cols, n = edges(name)
    graph = ab.similarity.graph((rows, cols), n_points=n)
    if library == "arbora":
        ab.linkage(ab.similarity.graph(([0, 1], [1, 2])))
        tree, cpu, wall = timed(lambda: ab.linkage(graph, "average"))
    else:
        from sknetwork.hierarchy import Paris

        adjacency = sp.csr_matrix(graph.csr)
        adjacency.indices = adjacency.indices.astype(np.int32)  # it takes no others
        adjacency.indptr = adjacency.indptr.astype(np.int32)
        model = Paris(weights="uniform", reorder=False)
        merges, cpu, wall = timed(lambda: model.fit_predict(adjacency))
        tree = ab.Tree.from_merges(merges[:, :2].astype(np.int64), n)
    return cpu, wall, {"dasgupta": ab.metrics.dasgupta_cost(tree, graph, normalize=True)}


def vector_task(n, library):
    """Ward linkage of vectors; quality is its dendrogram purity."""
    import arbora as ab

    X, group = mixture(n, n_groups=50)
    ab.metrics.dendrogram_purity(ab.linkage(X[:50], "ward"), group[:50])
    if library == "arbora":
        tree, cpu, wall = timed(lambda: ab.linkage(X, "ward"))
    elif library == "arbora bisecting_kmeans":
        ab.bisecting_kmeans(X[:50])
        tree, cpu, wall = timed(lambda: ab.bisecting_kmeans(X))
    else:
        from scipy.cluster.hierarchy import linkage

        Z, cpu, wall = timed(lambda: linkage(X, "ward"))
        tree = ab.Tree.from_linkage(Z)
    return cpu, wall, {"purity": ab.metrics.dendrogram_purity(tree, group)}


def recall_of(X, found, k=15):
    """Share of the true neighbors of 500 rows among those found for them."""
    import faiss

    sample = np.random.default_rng(1).choice(len(X), 500, replace=False)
    index = faiss.IndexFlatL2(X.shape[1])
    index.add(X)
    true = index.search(X[sample], k + 1)[1]
    rows = [len(set(t) & set(found[s].tolist()) - {s}) for t, s in zip(true, sample)]
    return sum(rows) / (k * len(sample))


def neighbor_task(n, library, k=15):
    """Nearest neighbors of vectors; quality is recall on 500 rows."""
    X, _ = mixture(n)
    if library == "arbora":
        from arbora.similarity._neighbors import NeighborIndex

        def search(rows):
            return NeighborIndex(rows, centered=True, seed=0, n_threads=2).neighbors(k, 2)[0]

        search(X[:25_000])
    else:
        import faiss

        faiss.omp_set_num_threads(2)

        def search(rows):
            cells = int(np.sqrt(len(rows)))
            index = faiss.IndexIVFFlat(faiss.IndexFlatL2(rows.shape[1]), rows.shape[1], cells)
            index.train(rows)
            index.add(rows)
            index.nprobe = 8
            return index.search(rows, k + 1)[1]

    found, cpu, wall = timed(lambda: search(X))
    return cpu, wall, {"recall": recall_of(X, found)}


def pipeline_task(n, library):
    """Neighbor graph with fuzzy weights, then its average linkage; quality is dendrogram purity."""
    import arbora as ab

    X, group = mixture(n)
    ab.linkage(ab.similarity.knn(X[:25_000], 15, "euclidean", n_jobs=2))
    tree, cpu, wall = timed(lambda: ab.linkage(ab.similarity.knn(X, 15, "euclidean", n_jobs=2)))
    return cpu, wall, {"purity": ab.metrics.dendrogram_purity(tree, group)}


TASKS = {
    "graph": graph_task,
    "vectors": vector_task,
    "neighbors": neighbor_task,
    "knn + linkage": pipeline_task,
}
FULL = [
    ("graph", "citeseer", ["arbora", "scikit-network"]),
    ("graph", "cora_ml", ["arbora", "scikit-network"]),
    ("graph", "dblp", ["arbora", "scikit-network"]),
    ("vectors", 10_000, ["arbora", "SciPy", "arbora bisecting_kmeans"]),
    ("neighbors", 100_000, ["arbora", "faiss IVF"]),
    ("knn + linkage", 100_000, ["arbora"]),
    ("knn + linkage", 1_000_000, ["arbora"]),
]
QUICK = [
    ("graph", "random", ["arbora", "scikit-network"]),
    ("vectors", 2000, ["arbora", "SciPy", "arbora bisecting_kmeans"]),
    ("neighbors", 30_000, ["arbora", "faiss IVF"]),
    ("knn + linkage", 30_000, ["arbora"]),
]


def run_alone(task, size, library, queue):
    cpu, wall, quality = TASKS[task](size, library)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    queue.put(
        {
            "task": task,
            "size": size,
            "library": library,
            "cpu_s": cpu,
            "wall_s": wall,
            "peak_gib": peak,
            **quality,
        }
    )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=TASKS)
    options = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    results = []
    for task, size, libraries in QUICK if options.quick else FULL:
        if options.only not in (None, task):
            continue
        base = None
        for library in libraries:
            queue = context.Queue()
            process = context.Process(target=run_alone, args=(task, size, library, queue))
            process.start()
            process.join()
            if process.exitcode:
                print(f"{task:14} {size!s:>9} {library:24} failed")
                continue
            row = queue.get()
            base = base or row["cpu_s"]
            row["cpu_ratio"] = row["cpu_s"] / base
            results.append(row)
            quality = next(f"{key} {row[key]:.4g}" for key in ("dasgupta", "purity", "recall") if key in row)
            print(
                f"{task:14} {size!s:>9} {library:24} {row['cpu_s']:8.2f} s CPU {row['wall_s']:8.2f} s "
                f"{row['peak_gib']:6.2f} GiB  x{row['cpu_ratio']:<6.2f} {quality}",
                flush=True,
            )
    record("linkage", results, quick=options.quick)


if __name__ == "__main__":
    main()
