"""Defaults on data they were not chosen on: purity, NMI and ARI beside peers.

    python benchmarks/defaults.py                 # the sets that are reported
    python benchmarks/defaults.py --half choose   # those that defaults were chosen on
    python benchmarks/defaults.py --only wine glass

The vector sets of ARBORA_DATA, those that ship with scikit-learn and a few generated ones were halved before any
choice was made (sets that share points stay together). What is chosen: metric and scale
(`arbora.similarity.scaling`), the objective of the flat cut and its least size (`arbora.tree.objective_cut`). Sets of
ARBORA_DATA are left out where it is absent. CPU seconds beside quality; results are written as JSON.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import time
from pathlib import Path

import numpy as np
from sklearn import datasets
from sklearn.cluster import KMeans

import arbora as ab

ROOT = Path(__file__).parent
DATA = Path(os.environ.get("ARBORA_DATA", ROOT.parent.parent / "shared" / "data"))
HALVES = {
    "choose": "aloi5k aniso cancer cells cifar_coarse cifar_fine imagenet iris lognormal mixed_units mnist6k "
    "optdigits digits zoo",
    "report": "20news blobs_varied brown covtype5k duplicates glass moons pbmc pbmc_genes segmentation wine",
}


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


def trees(X, k):
    """Each method's tree and flat clusters, with CPU seconds."""

    def by_model(**options):
        model = ab.TreeClustering(k, random_state=0, **options).fit(X)
        return model.tree_, model.labels_

    def by_tree(tree):
        return tree, tree.cut(k, exact="nearest")

    methods = {
        "arbora": lambda: by_model(),
        "cosine, cut by height": lambda: by_tree(ab.cluster(X, metric="cosine", random_state=0)),
        "Ward": lambda: by_tree(ab.linkage(X, "ward")),
        "average": lambda: by_tree(ab.linkage(X, "average")),
        "bisecting k-means": lambda: by_tree(ab.bisecting_kmeans(X, random_state=0)),
        "k-means": lambda: (None, KMeans(k, n_init=3, random_state=0).fit_predict(X)),
    }
    for name, method in methods.items():
        start = time.process_time()
        yield name, *method(), time.process_time() - start


def measure(name):
    X, y = LOADERS[name]() if name in LOADERS else generated(name)
    y = np.unique(y, return_inverse=True)[1]
    rows = {}
    for method, tree, labels, seconds in trees(X, int(y.max()) + 1):
        scores = ab.metrics.flat_scores(y, labels)
        purity = float("nan") if tree is None else ab.metrics.dendrogram_purity(tree, y)
        rows[method] = {
            "purity": purity, "nmi": scores["nmi"], "ari": scores["ari"], "cpu_seconds": seconds
        }  # fmt: skip
    print(f"{name}: {len(X):,} x {X.shape[1]}, {y.max() + 1} classes", flush=True)
    for method, row in rows.items():
        print(
            "  " + method.ljust(22) + "   ".join(f"{key} {value:.3f}" for key, value in row.items()),
            flush=True,
        )
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--half", choices=HALVES, default="report")
    parser.add_argument("--only", nargs="+")
    options = parser.parse_args()
    found = {}
    for name in options.only or HALVES[options.half].split():
        try:
            found[name] = measure(name)
        except FileNotFoundError as missing:
            print(f"{name}: left out, {missing.filename} is not there")
    methods = list(next(iter(found.values())))
    print(f"means over {len(found)} sets")
    for method in methods:
        means = {
            key: np.mean([rows[method][key] for rows in found.values()]) for key in ("purity", "nmi", "ari")
        }
        print("  " + method.ljust(22) + "   ".join(f"{key} {value:.3f}" for key, value in means.items()))
    results = ROOT / "results"
    results.mkdir(exist_ok=True)
    (results / f"defaults_{options.half}.json").write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
