"""Would a tree over another graph of neighbors be purer than arbora's, or close the gap to the best plain tree?

    python benchmarks/neighbor_graphs.py             # sets to choose on, of up to 1,600 rows: about five minutes
    python benchmarks/neighbor_graphs.py --quick     # three of them
    python benchmarks/neighbor_graphs.py --half report further-check wider-check

In many columns a few points, hubs, are among the neighbors of very many others, and in noise neighbors are neighbors by
chance. Against either, each followed by `cluster` on its graph of 10 neighbors of the rows as arbora scales them:

- "relative": `arbora.similarity.knn` with ``weights="relative"``;
- "mutual": neighbors by how rare so small a distance is, seen from both ends (mutual proximity, distances taken for
  normal; Schnitzer et al. 2012);
- "averaged": rows become the mean of themselves and their neighbors, among which neighbors are found again.

Prints purities, then mean purity, NMI and ARI at the true number of classes, and on how many sets each is behind the
purest plain tree, and behind and ahead of arbora, by more than 0.01.
"""

from __future__ import annotations

import numpy as np
from _compared import fitted_and_plain, run
from defaults import PLAIN_TREES
from scipy.special import ndtr
from sklearn.metrics import pairwise_distances

import arbora as ab

N_NEIGHBORS = 10
SCORES = ("purity", "NMI", "ARI")


def mutual(distance):
    """How unlikely it is for a point to be farther, seen from both ends, if distances were normal."""
    n = len(distance)
    # a point is at no distance from itself
    mean = distance.sum(axis=1) / (n - 1)
    spread = np.sqrt((distance**2).sum(axis=1) / (n - 1) - mean**2)
    farther = ndtr((mean[:, None] - distance) / spread[:, None])
    apart = 1 - farther * farther.T
    np.fill_diagonal(apart, 0)
    return apart


def averaged(rows, distance):
    """The mean of each row and its neighbors."""
    near = np.argpartition(distance, min(N_NEIGHBORS, len(rows) - 1), axis=1)[:, : N_NEIGHBORS + 1]
    return rows[near].mean(axis=1)


def graphs(similarity):
    """Other graphs of the points of one."""
    rows = np.asarray(similarity.vectors(), dtype=float)
    distance = pairwise_distances(rows)
    knn = ab.similarity.knn
    return {
        "relative": knn(rows, N_NEIGHBORS, similarity.metric, weights="relative"),
        "mutual": knn(mutual(distance), N_NEIGHBORS, "precomputed"),
        "averaged": knn(averaged(rows, distance), N_NEIGHBORS, "euclidean"),
    }


def measure(X, y):
    """Scores of every tree."""
    model, trees = fitted_and_plain(X)
    for way, graph in graphs(model.similarity_).items():
        trees[way] = ab.cluster(graph, random_state=0)
    return {name: scores(tree, y) for name, tree in trees.items()}


def scores(tree, y):
    flat = ab.metrics.flat_scores(y, tree.cut(int(y.max()) + 1))
    return float(ab.metrics.dendrogram_purity(tree, y)), float(flat["nmi"]), float(flat["ari"])


def summarize(found):
    """Means, and on how many sets each is behind and ahead."""
    rows = list(found.values())
    best = np.array([max(row[name][0] for name in PLAIN_TREES) for row in rows])
    ours = np.array([row["arbora"][0] for row in rows])
    print(f"{len(rows)} sets; behind and ahead by more than 0.01")
    for name in rows[0]:
        values = np.array([row[name] for row in rows])
        purity = values[:, 0]
        means = "   ".join(f"{score} {mean:.3f}" for score, mean in zip(SCORES, values.mean(axis=0)))
        print(
            f"  {name.ljust(20)}{means}   behind the purest plain tree on {(best - purity > 0.01).sum()}, "
            f"behind arbora on {(ours - purity > 0.01).sum()}, ahead of it on {(purity - ours > 0.01).sum()}"
        )


if __name__ == "__main__":
    # fewer points than that are not compared by neighbors
    run(
        __doc__.split("\n")[0], "neighbor_graphs", measure, lambda row: row[0], summarize, 2 * N_NEIGHBORS + 1
    )
