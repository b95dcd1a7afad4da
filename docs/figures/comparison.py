"""What each method makes of the same small data sets: one row per data set, one column per method."""

import matplotlib.pyplot as plt
import numpy as np
from sklearn import datasets
from sklearn.preprocessing import StandardScaler

import arbora as ab


def data_sets():
    """Points in the plane, and how many groups there are."""
    rng = np.random.default_rng(8)
    n = 300
    circles = datasets.make_circles(n, factor=0.5, noise=0.05, random_state=0)[0]
    moons = datasets.make_moons(n, noise=0.05, random_state=0)[0]
    varied = datasets.make_blobs(n, cluster_std=[1.0, 2.5, 0.5], random_state=170)[0]
    stretched = datasets.make_blobs(n, random_state=170)[0] @ [[0.6, -0.6], [-0.4, 0.8]]
    centers = np.repeat([[0, 0], [6, 0], [3, 5]], 3, axis=0) + rng.normal(scale=1.0, size=(9, 2))
    nested = centers[rng.integers(0, 9, n)] + 0.22 * rng.normal(size=(n, 2))
    noise = rng.random((n, 2))
    return [(circles, 2), (moons, 2), (varied, 3), (stretched, 3), (nested, 9), (noise, 3)]


def best_cut(data, k):
    """As `cluster` is meant to be used: a cut by what it says about the similarity."""
    return ab.TreeClustering(k, random_state=0).fit(data).labels_


def by_graph(data, k):
    """FPH on the graph of nearest neighbors."""
    graph = ab.similarity.knn(data, metric="euclidean")
    return ab.FPH(k, n_internal=24, max_epochs=60, random_state=0).fit(graph).flat_labels()


METHODS = {
    "TreeClustering": best_cut,
    "Ward": lambda X, k: ab.linkage(X, "ward").cut(k),
    "average": lambda X, k: ab.linkage(X, "average").cut(k),
    "single": lambda X, k: ab.linkage(X, "single").cut(k),
    "bisecting\nk-means": lambda X, k: ab.bisecting_kmeans(X, random_state=0).cut(k),
    "FPH": by_graph,
    "HypHC": lambda X, k: ab.HypHC(k, similarity="gaussian", max_epochs=20, random_state=0).fit(X).labels_,
    "gHHC": lambda X, k: ab.GHHC(k, n_internal=31, max_steps=100, random_state=0).fit(X).labels_,
}

sets = data_sets()
figure, axes = plt.subplots(len(sets), len(METHODS), figsize=(1.3 * len(METHODS), 1.3 * len(sets)))
for number, (row, (points, k)) in enumerate(zip(axes, sets)):
    points = StandardScaler().fit_transform(points)
    for axis, (name, method) in zip(row, METHODS.items()):
        axis.scatter(*points.T, c=method(points, k), cmap="tab10", s=3, vmax=9)
        axis.set(xticks=[], yticks=[])
        if number == 0:
            axis.set_title(name, fontsize=12)
figure.subplots_adjust(0.01, 0.01, 0.99, 0.93, 0.05, 0.05)
