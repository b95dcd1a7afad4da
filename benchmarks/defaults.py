"""Defaults on data they were not chosen on: purity, NMI, ARI and accuracy beside peers; modularity on graphs.

    python benchmarks/defaults.py                 # the sets that are reported
    python benchmarks/defaults.py --half choose   # those that defaults were chosen on
    python benchmarks/defaults.py --half further-check   # classics and generated sets, nothing chosen on
    python benchmarks/defaults.py --half wider-check     # more of both, nothing chosen on
    python benchmarks/defaults.py --half shapes          # planar shapes, nothing chosen on
    python benchmarks/defaults.py --only wine glass
    python benchmarks/defaults.py --trees         # only methods that make a tree
    python benchmarks/defaults.py --neighbors 15  # another number of neighbors than the default
    python benchmarks/defaults.py --graphs        # modularity of the default cut beside Leiden's
    python benchmarks/defaults.py --large         # MNIST 70,000 and 50,000 generated cells
    python benchmarks/defaults.py --oracle        # could any rule always take the purest tree? one that knows labels

The vector sets of ARBORA_DATA, those that ship with scikit-learn and a few generated ones were halved before any
choice was made (sets that share points stay together). What is chosen: metric and scale
(`arbora.similarity.scaling`), the objective of the flat cut and its least size (`arbora.tree.objective_cut`). Sets of
ARBORA_DATA are left out where it is absent. k-means, spectral clustering and all trees know the number of classes;
Leiden, Louvain (both on arbora's graph of neighbors) and fast_hdbscan (least size 10) find their own. CPU seconds
beside quality; results are written as JSON.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import json
import os
import time
import warnings
from pathlib import Path

import _further
import _shapes
import numpy as np
import scipy.sparse as sp
from sklearn import datasets
from sklearn.cluster import KMeans, SpectralClustering
from sknetwork.clustering import Leiden, Louvain, get_modularity

import arbora as ab
from arbora.reproduce.data import network

ROOT = Path(__file__).parent
DATA = Path(os.environ.get("ARBORA_DATA", ROOT.parent.parent / "shared" / "data"))
SCORES = ("purity", "nmi", "ari", "acc")
PLAIN_TREES = ("Ward", "average", "bisecting k-means")
HALVES = {
    "choose": "aloi5k aniso cancer cells cifar_coarse cifar_fine imagenet iris lognormal mixed_units mnist6k "
    "optdigits digits zoo",
    "report": "20news blobs_varied brown covtype5k duplicates glass moons pbmc pbmc_genes segmentation wine",
    **_further.HALVES,
    "shapes": " ".join(_shapes.PATHS),
}
GENERATED = ("aniso", "blobs_varied", "cells", "duplicates", "lognormal", "mixed_units", "moons")


def stored(path, values="X", classes="y", n=None):
    """Rows of a stored set in random order, at most n of them."""
    with np.load(DATA / path) as file:
        X, y = file[values], file[classes]
    rows = np.random.default_rng(0).permutation(len(X))[:n]
    return np.asarray(X[rows], dtype=np.float64), y[rows]


def covtype():
    with (
        np.load(DATA / "vectors/covtype.npz") as file,
        np.load(DATA / "vectors/covtype_ghhc_evalpts5k.npz") as evaluated,
    ):
        rows = evaluated["idx"]
        return np.asarray(file["X"][rows], dtype=np.float64), file["y"][rows]


def brown():
    """Documents of the Brown corpus as TF-IDF and truncated SVD, by genre."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    with gzip.open(DATA / "text/brown.txt.gz", "rt") as file:
        texts = file.read().strip().split("\n")
    genres = np.array((DATA / "text/brown_categories.txt").read_text().split())
    words = TfidfVectorizer(min_df=2, sublinear_tf=True).fit_transform(texts)
    return TruncatedSVD(100, random_state=0).fit_transform(words), genres[: len(texts)]


def generated(name):
    """Small mixtures that each show one difficulty."""
    rng = np.random.default_rng(0)
    if name == "blobs_varied":
        return datasets.make_blobs(1500, centers=5, cluster_std=[1, 2.5, 0.5, 1.5, 0.8], random_state=170)
    if name == "moons":
        return datasets.make_moons(1500, noise=0.05, random_state=3)
    if name == "aniso":
        X, y = datasets.make_blobs(1500, centers=3, random_state=170)
        return X @ np.array([[0.6, -0.6], [-0.4, 0.8]]), y
    if name == "cells":
        centers, shares = rng.normal(size=(20, 30)) * 3, rng.dirichlet(np.full(20, 2.0))
        y = rng.choice(20, size=8000, p=shares)
        return centers[y] + rng.normal(size=(8000, 30)), y
    if name == "mixed_units":
        centers, y = rng.normal(size=(6, 12)) * 1.5, rng.integers(6, size=1500)
        return (centers[y] + rng.normal(size=(1500, 12))) * 10 ** rng.uniform(-3, 3, size=12), y
    if name == "lognormal":
        centers, y = rng.normal(size=(6, 10)) * 1.2, rng.integers(6, size=1500)
        return np.exp(centers[y] + rng.normal(size=(1500, 10))), y
    centers, y = rng.normal(size=(8, 6)) * 2, rng.integers(8, size=3000)
    return np.round(centers[y] + rng.normal(size=(3000, 6)) * 0.8), y


LOADERS = {
    **{
        name: (lambda name=name: stored(f"vectors/{name}.npz"))
        for name in ("zoo", "iris", "glass", "segmentation", "aloi5k", "optdigits")
    },
    "digits": lambda: datasets.load_digits(return_X_y=True),
    "wine": lambda: datasets.load_wine(return_X_y=True),
    "cancer": lambda: datasets.load_breast_cancer(return_X_y=True),
    "covtype5k": covtype,
    "brown": brown,
    "mnist6k": lambda: stored("vectors/mnist.npz", n=6000),
    "cifar_fine": lambda: stored("vectors/cifar100_efflite0_pca128.npz", n=6000),
    "cifar_coarse": lambda: stored("vectors/cifar100_efflite0_pca128.npz", classes="y_coarse", n=6000),
    "pbmc": lambda: stored("vectors/pbmc68k_reduced.npz", values="X_pca"),
    "pbmc_genes": lambda: stored("vectors/pbmc68k_reduced.npz"),
    "20news": lambda: stored("embeddings/20news_test_minilm_l6.npz"),
    "imagenet": lambda: stored("embeddings/imagenet_val5k_efficientnetlite2_features.npz"),
}


def density_clusters(X):
    """Clusters of fast_hdbscan; what it calls noise is one more cluster, as scores need one for each point."""
    from fast_hdbscan import HDBSCAN

    # its index takes rows that lie one after the other only
    return HDBSCAN(min_cluster_size=10).fit_predict(np.ascontiguousarray(X))


def spectral_clusters(affinity, k):
    model = SpectralClustering(k, affinity="precomputed", assign_labels="cluster_qr", random_state=0)
    with warnings.catch_warnings():
        # a graph in several parts, which it says it may not like
        warnings.simplefilter("ignore")
        return model.fit_predict(affinity)


def clusterings(X, k, n_neighbors, names=None):
    """Each method's tree, where it has one, and flat clusters, with CPU seconds; all methods unless named."""
    model = ab.TreeClustering(k, n_neighbors=n_neighbors, random_state=0)

    def by_model():
        model.fit(X)
        return model.tree_, model.labels_

    def by_tree(tree):
        return tree, tree.cut(k, exact="nearest", min_size=1)

    def on_graph(method):
        return None, method(sp.csr_matrix(model.similarity_.csr))

    methods = {
        "arbora": by_model,
        "cosine, cut by height": lambda: by_tree(ab.cluster(X, metric="cosine", random_state=0)),
        "Ward": lambda: by_tree(ab.linkage(X, "ward")),
        "average": lambda: by_tree(ab.linkage(X, "average")),
        "bisecting k-means": lambda: by_tree(ab.bisecting_kmeans(X, random_state=0)),
        "k-means": lambda: (None, KMeans(k, n_init=3, random_state=0).fit_predict(X)),
        "fast_hdbscan": lambda: (None, density_clusters(X)),
        "Leiden": lambda: on_graph(Leiden(random_state=0).fit_predict),
        "Louvain": lambda: on_graph(Louvain(random_state=0).fit_predict),
        "spectral": lambda: on_graph(lambda graph: spectral_clusters(graph, k)),
    }
    for name, method in methods.items():
        if names is not None and name not in names:
            continue
        start = time.process_time()
        yield name, *method(), time.process_time() - start


def load(name):
    """Rows and classes of a set."""
    if name in LOADERS:
        return LOADERS[name]()
    if name in GENERATED:
        return generated(name)
    return _shapes.load(name, DATA) if name in _shapes.PATHS else _further.load(name, DATA)


def measure(name, n_neighbors, methods):
    X, y = load(name)
    y = np.unique(y, return_inverse=True)[1]
    rows = {}
    for method, tree, labels, seconds in clusterings(X, int(y.max()) + 1, n_neighbors, methods):
        scores = ab.metrics.flat_scores(y, labels)
        purity = float("nan") if tree is None else ab.metrics.dendrogram_purity(tree, y)
        rows[method] = {
            "purity": purity, "nmi": scores["nmi"], "ari": scores["ari"], "acc": scores["acc"], "cpu_seconds": seconds
        }  # fmt: skip
    print(f"{name}: {len(X):,} x {X.shape[1]}, {y.max() + 1} classes", flush=True)
    for method, row in rows.items():
        print(
            "  " + method.ljust(22) + "   ".join(f"{key} {value:.3f}" for key, value in row.items()),
            flush=True,
        )
    return rows


def summarize(found):
    """Means and mean ranks over all sets."""
    methods = list(next(iter(found.values())))
    print(f"means over {len(found)} sets, and mean ranks (1 is best)")
    for method in methods:
        words = []
        for key in SCORES:
            values = np.array([[rows[one][key] for one in methods] for rows in found.values()])
            if np.isnan(values[:, methods.index(method)]).all():
                continue
            ranks = 1 + (values > values[:, [methods.index(method)]] + 1e-9).sum(axis=1)
            words.append(f"{key} {values[:, methods.index(method)].mean():.3f} ({ranks.mean():.1f})")
        print("  " + method.ljust(22) + "   ".join(words))
    behind = {name: gap for name, rows in found.items() if (gap := shortfall(rows)) > 0.01}
    print(f"a plain tree is purer by more than 0.01 on {len(behind)} of {len(found)} sets")
    for name, gap in sorted(behind.items(), key=lambda pair: -pair[1]):
        print(f"  {name.ljust(22)}{gap:.3f}")


def shortfall(rows):
    """By how much the purest of the plain trees is purer."""
    return max(rows[method]["purity"] for method in PLAIN_TREES) - rows["arbora"]["purity"]


def measure_graphs():
    """Modularity of the default cut into as many clusters as Leiden finds, beside that of Leiden."""
    found = {}
    for name in ("cora_ml", "citeseer", "polblogs", "openflight"):
        graph = network(name)
        adjacency = sp.csr_matrix(graph.csr)
        leiden = Leiden(random_state=0).fit_predict(adjacency)
        k = int(leiden.max()) + 1
        model = ab.TreeClustering(k, random_state=0).fit(graph)
        ours, theirs = (get_modularity(adjacency, labels) for labels in (model.labels_, leiden))
        cost = ab.metrics.dasgupta_cost(model.tree_, graph, normalize=True)
        found[name] = {"k": k, "arbora": ours, "Leiden": theirs, "ratio": ours / theirs, "cost": cost}
        print(
            f"{name}: " + "   ".join(f"{key} {value:.4g}" for key, value in found[name].items()), flush=True
        )
    return found


def measure_large():
    """Ten clusters of MNIST, and twenty uneven types of 50,000 generated cells."""
    rng = np.random.default_rng(0)
    centers, shares = rng.normal(size=(20, 30)) * 3, rng.dirichlet(np.full(20, 2.0))
    types = rng.choice(20, size=50_000, p=shares)
    sets = {"cells": (centers[types] + rng.normal(size=(50_000, 30)), types)}
    with contextlib.suppress(FileNotFoundError):
        sets["mnist"] = stored("vectors/mnist.npz")
    found = {}
    for name, (X, y) in sets.items():
        start = time.process_time()
        k = len(np.unique(y))
        model = ab.TreeClustering(k, random_state=0).fit(X)
        cuts = {"labels_": model.labels_, "without a least size": model.tree_.cut(k, min_size=1)}
        scores = {cut: ab.metrics.flat_scores(y, labels)["ari"] for cut, labels in cuts.items()}
        found[name] = {**scores, "cpu_seconds": time.process_time() - start}
        print(f"{name}: {len(X):,} points, ARI " + str(found[name]), flush=True)
    return found


def measure_oracle(names, n_neighbors, n_splits=5):
    """Whether a rule could always take the purest tree: one that knows the labels of half of the rows chooses.

    Of each set random halves are clustered by arbora and the plain methods. The oracle takes what is purest on one
    half, and is judged on the other, as arbora is: by how much the purest plain tree there is purer, in the mean
    over splits and both ways round.
    """
    found = {}
    for name in names:
        try:
            X, y = load(name)
        except FileNotFoundError as missing:
            print(f"{name}: left out, {missing.filename} is not there")
            continue
        gaps = [
            gaps_of_oracle(
                purities_of(X[one], y[one], n_neighbors), purities_of(X[other], y[other], n_neighbors)
            )
            for one, other in (halves_of(y, seed) for seed in range(n_splits))
        ]
        oracle, ours = np.concatenate(gaps).mean(axis=0)
        found[name] = {"oracle": oracle, "arbora": ours}
        print(f"{name}: behind the purest plain tree, oracle {oracle:+.3f}   arbora {ours:+.3f}", flush=True)
    for method in ("oracle", "arbora"):
        behind = [gap[method] > 0.01 for gap in found.values()]
        print(f"{method}: behind by more than 0.01 on {sum(behind)} of {len(behind)} sets")
    return found


def halves_of(y, seed):
    """Two random halves of the rows, with as many of each class as can be."""
    order = np.random.default_rng(seed).permutation(len(y))
    by_class = order[np.argsort(y[order], kind="stable")]
    return by_class[::2], by_class[1::2]


def purities_of(X, y, n_neighbors):
    """Purity of arbora's tree and of each plain one."""
    y = np.unique(y, return_inverse=True)[1]
    methods = ("arbora", *PLAIN_TREES)
    trees = {name: tree for name, tree, *_ in clusterings(X, int(y.max()) + 1, n_neighbors, methods)}
    return np.array([ab.metrics.dendrogram_purity(trees[name], y) for name in methods])


def gaps_of_oracle(one, other):
    """Of the oracle and of arbora, on each half: what the purest plain tree is purer by."""
    return [
        (judged[1:].max() - judged[seen.argmax()], judged[1:].max() - judged[0])
        for seen, judged in ((one, other), (other, one))
    ]


def measure_sets(names, n_neighbors, methods=None):
    found = {}
    for name in names:
        try:
            found[name] = measure(name, n_neighbors, methods)
        except FileNotFoundError as missing:
            print(f"{name}: left out, {missing.filename} is not there")
    summarize(found)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--half", choices=HALVES, default="report")
    parser.add_argument("--only", nargs="+")
    parser.add_argument("--neighbors", type=int, default=10)
    parser.add_argument("--trees", action="store_true")
    parser.add_argument("--graphs", action="store_true")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--oracle", action="store_true")
    options = parser.parse_args()
    names = options.only or HALVES[options.half].split()
    if unknown := set(names) - {name for half in HALVES.values() for name in half.split()}:
        parser.error(f"--only knows no {', '.join(sorted(unknown))}")
    if options.graphs:
        part, found = "graphs", measure_graphs()
    elif options.large:
        part, found = "large", measure_large()
    elif options.oracle:
        part, found = f"oracle_{options.half}", measure_oracle(names, options.neighbors)
    else:
        methods = ("arbora", *PLAIN_TREES) if options.trees else None
        part, found = options.half, measure_sets(names, options.neighbors, methods)
    results = ROOT / "results"
    results.mkdir(exist_ok=True)
    (results / f"defaults_{part}.json").write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
