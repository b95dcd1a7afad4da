"""How good the trees are: Dasgupta's cost, TSD and purity beside the papers' figures and other libraries.

    python benchmarks/quality.py                # everything; about half an hour on two cores
    python benchmarks/quality.py --quick        # small data, few perturbations
    python benchmarks/quality.py --only graphs  # vectors, graphs, tsd, purity or dblp

Needs the published data sets (ARBORA_DATA). Papers' figures come from targets.csv beside that folder, where it
exists. Times are CPU seconds of the search, kernels compiled before.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from pathlib import Path

import _fph_graphs as fph_graphs
import numpy as np
from _peers import hdbscan_tree
from sklearn.cluster import Birch
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

import arbora as ab

DATA = fph_graphs.FOLDER.parent
RESULTS = Path(__file__).parent / "results"
VECTORS = ("zoo", "iris", "glass", "segmentation")


def printed(paper, table, dataset, method):
    """A figure of a paper's table, or None."""
    path = DATA.parent / "targets.csv"
    if not path.exists():
        return None
    with path.open() as file:
        for row in csv.DictReader(file):
            key = row["dataset"].lower().replace("-", "_").replace("openflights", "openflight")
            if (row["paper"], row["table"], key) == (paper, table, dataset) and row["method"] == method:
                return float(row["value"])
    return None


def timed(call):
    start = time.process_time()
    value = call()
    return value, time.process_time() - start


def show(row):
    cells = [
        f"{key} {value:.6g}" if isinstance(value, float) else f"{key} {value}" for key, value in row.items()
    ]
    print("  " + "   ".join(cells), flush=True)
    return row


def hyphc_similarity(name):
    """HypHC's recipe: z-scored columns (constant ones dropped), (1 + cos) / 2."""
    with np.load(DATA / "vectors" / f"{name}.npz") as file:
        X = file["X"].astype(np.float64)
    X = X[:, X.std(axis=0) > 0]
    return ab.similarity.cosine((X - X.mean(axis=0)) / X.std(axis=0))


def compare_vectors(n_perturbations):
    """Ordered pairs, as HypHC's Table 1 counts them: twice our cost."""
    print("\nDasgupta cost over ordered pairs, HypHC's recipe (lower is better)")
    for name in VECTORS:
        similarity = hyphc_similarity(name)
        n = similarity.n_points
        matrix = ab.similarity.dense(np.clip(similarity.pairs(*np.indices((n, n))), 0, 1))
        start = ab.linkage(matrix, "average")
        refined, seconds = timed(lambda start=start, s=similarity: ab.refine(start, s))
        best, more = timed(
            lambda t=refined, s=similarity: ab.refine(t, s, n_perturbations=n_perturbations, random_state=0)
        )
        cost = {t: 2 * ab.metrics.dasgupta_cost(t, similarity) for t in (start, refined, best)}
        row = {
            "data": name,
            "HypHC printed": printed("hyphc", "1", name, "HypHC"),
            "average linkage": cost[start],
        }
        row |= {
            "refine": cost[refined],
            "cpu s": seconds,
            "with perturbations": cost[best],
            "more cpu s": more,
        }
        yield show(row)


def compare_graphs(n_perturbations, names=fph_graphs.SMALL):
    """FPH's weights and normalization."""
    print("\nDasgupta cost at 512 internal nodes, FPH's weights (lower is better)")
    for name in names:
        graph = fph_graphs.load_graph(name)
        start, linking = timed(lambda g=graph: ab.linkage(g, "average"))
        full, seconds = timed(lambda t=start, g=graph: ab.refine(t, g))
        best, more = timed(
            lambda t=start, g=graph: ab.refine(
                t, g, n_internal=512, n_perturbations=n_perturbations, random_state=0
            )
        )
        row = {"data": name, "FPH printed": printed("fph", "1", name, "FPH")}
        row |= {"average linkage": normal(start.compress(512, graph), graph), "cpu s": linking}
        row |= {"refined, all nodes": normal(full, graph), "refine cpu s": seconds}
        row |= {"refined, 512": normal(best, graph), "512 cpu s": more}
        yield show(row)


def normal(tree, graph):
    return float(ab.metrics.dasgupta_cost(tree, graph, normalize=True))


def compare_tsd(n_perturbations):
    print("\nTree sampling divergence at 512 internal nodes, % of the mutual information (higher is better)")
    for name in fph_graphs.SMALL:
        graph = fph_graphs.load_graph(name)
        start = ab.linkage(graph, "average")
        best, seconds = timed(
            lambda t=start, g=graph: ab.refine(
                t, g, "tsd", n_internal=512, n_perturbations=n_perturbations, random_state=0
            )
        )
        tsd = [
            100 * ab.metrics.tree_sampling_divergence(t, graph)
            for t in (start.compress(512, graph, "tsd"), best)
        ]
        yield show(
            {
                "data": name,
                "average linkage": tsd[0],
                "refined": tsd[1],
                "gain": tsd[1] - tsd[0],
                "cpu s": seconds,
            }
        )


def purity_data(quick):
    digits = load_digits()
    yield "digits", digits.data, digits.target
    with np.load(DATA / "vectors" / "covtype_ghhc_evalpts5k.npz") as rows:
        index = rows[rows.files[0]]
    with np.load(DATA / "vectors" / "covtype.npz") as file:
        X, y = file["X"][index].astype(np.float64), file["y"][index]
    yield "covtype, 5,000 evaluation rows", X - X.mean(axis=0), y
    if not quick:
        with np.load(DATA / "vectors" / "mnist.npz") as file:
            X, y = file["X"].astype(np.float32), file["y"]
        yield "MNIST, 70,000 (50 components)", PCA(50, random_state=0).fit_transform(X), y


def compare_purity(quick):
    print("\nDendrogram purity (higher is better) and CPU seconds")
    for name, X, y in purity_data(quick):
        methods = {
            "cluster": lambda X=X: ab.cluster(X, random_state=0),
            "cluster, Euclidean": lambda X=X: ab.cluster(X, metric="euclidean", random_state=0),
            "Ward": lambda X=X: ab.linkage(X, "ward"),
            "BIRCH": lambda X=X: ab.linkages.birch(X, threshold=Birch().threshold),
            "bisecting k-means": lambda X=X: ab.bisecting_kmeans(X, random_state=0),
            "HDBSCAN": lambda X=X: hdbscan_tree(X),
        }
        if len(X) <= 20_000:
            methods["average linkage"] = lambda X=X: ab.linkage(X, "average")
        row = {"data": name}
        for method, call in methods.items():
            try:
                tree, seconds = timed(call)
            except (ImportError, MemoryError, ValueError) as error:
                row[method] = f"({type(error).__name__})"
                continue
            row[method] = float(ab.metrics.dendrogram_purity(tree, y))
            row[f"{method} cpu s"] = seconds
        yield show(row)


def compile_kernels():
    """Small runs of the same calls, so that the clocks below see only the search."""
    X = np.random.default_rng(0).normal(size=(40, 3))
    cosine, graph = (
        ab.similarity.cosine(X),
        ab.similarity.graph(ab.similarity.knn(X, 15, "euclidean").csr.astype(np.float64)),
    )
    for similarity, objective in ((cosine, "dasgupta"), (graph, "dasgupta"), (graph, "tsd")):
        ab.refine(
            ab.linkage(similarity, "average"),
            similarity,
            objective,
            n_perturbations=2,
            n_internal=9,
            random_state=0,
        )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=["vectors", "graphs", "tsd", "purity", "dblp"])
    options = parser.parse_args()
    if not DATA.exists():
        raise SystemExit("The published data sets are not here: set ARBORA_DATA to their folder.")
    compile_kernels()
    n_perturbations = 20 if options.quick else 300
    sections = {
        "vectors": lambda: compare_vectors(n_perturbations),
        "graphs": lambda: compare_graphs(n_perturbations),
        "tsd": lambda: compare_tsd(n_perturbations // 3),
        "purity": lambda: compare_purity(options.quick),
        "dblp": lambda: compare_graphs(0, ["dblp"]),
    }
    if options.quick and options.only != "dblp":
        del sections["dblp"]
    results = {name: list(run()) for name, run in sections.items() if options.only in (None, name)}
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "quality.json").write_text(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
