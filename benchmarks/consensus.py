"""Would a tree on which several trees agree be purer than arbora's alone, or close the gap to the best plain tree?

    python benchmarks/consensus.py             # sets to choose on, of up to 1,600 rows: about ten minutes
    python benchmarks/consensus.py --quick     # three of them
    python benchmarks/consensus.py --half further-check

Trees: arbora's, Ward's, average linkage, bisecting k-means. Each says how near two points are: 1 for a pair that joins
first, 0 for one that joins at the root, by the logarithm of how many points are together then. Two ways to agree:
average linkage of the mean nearness ("of four", and "of three" with arbora's counted twice and without average
linkage), and `cluster` on arbora's graph, its edges weighted by the plain trees' mean nearness of their ends ("weighted
graph"). Prints purities, and by how much the purest plain tree is ahead. Nothing here is in the library: it was found
to help no more often than it harms.
"""

from __future__ import annotations

import fastcluster
import numpy as np
import scipy.sparse as sp
from _compared import fitted_and_plain, run
from defaults import PLAIN_TREES

import arbora as ab

WAYS = {
    "of four": {"arbora": 1, "Ward": 1, "average": 1, "bisecting k-means": 1},
    "of three": {"arbora": 2, "Ward": 1, "bisecting k-means": 1},
}


def nearness(tree):
    """1 - log(points below the lowest common ancestor) / log(points), for all pairs."""
    n, place = tree.n_leaves, tree.leaf_start[: tree.n_leaves]
    together = np.ones((n, n))
    for position in range(n - 1):
        lowest = np.maximum.accumulate(tree.neighbor_lca[position:])
        together[position, position + 1 :] = tree.sizes[lowest]
    together = np.maximum(together, together.T)[np.ix_(place, place)]
    return 1 - np.log(together) / np.log(n)


def agreed(near):
    """Average linkage of what is near."""
    joins = fastcluster.linkage(1 - near[np.triu_indices(len(near), 1)], "average")
    return ab.Tree.from_linkage(joins)


def on_weighted_graph(similarity, near):
    """`cluster` on a graph whose edges count as much as the trees agree on their ends."""
    edges = sp.csr_array(similarity.csr).tocoo()
    # an edge that all trees cut at the root stays, or the graph would fall apart
    weights = edges.data * np.maximum(near[edges.row, edges.col], 1e-6)
    weighted = sp.csr_array((weights, (edges.row, edges.col)), shape=edges.shape)
    return ab.cluster(ab.similarity.graph((weighted + weighted.T) / 2), random_state=0)


def purities(X, y):
    """Purity of every tree, and of those that agree."""
    model, trees = fitted_and_plain(X)
    near = {name: nearness(tree) for name, tree in trees.items()}
    for way, shares in WAYS.items():
        trees[way] = agreed(sum(share * near[name] for name, share in shares.items()) / sum(shares.values()))
    trees["weighted graph"] = on_weighted_graph(
        model.similarity_, sum(near[name] for name in PLAIN_TREES) / len(PLAIN_TREES)
    )
    return {name: float(ab.metrics.dendrogram_purity(tree, y)) for name, tree in trees.items()}


def summarize(found):
    """Means, and on how many sets each is behind the purest plain tree, and behind arbora."""
    rows = list(found.values())
    best = np.array([max(row[name] for name in PLAIN_TREES) for row in rows])
    ours = np.array([row["arbora"] for row in rows])
    print(f"{len(rows)} sets")
    for name in rows[0]:
        values = np.array([row[name] for row in rows])
        behind, lost = ((other - values > 0.01).sum() for other in (best, ours))
        print(
            f"  {name.ljust(20)}purity {values.mean():.3f}   behind by more than 0.01: the purest plain tree on "
            f"{behind}, arbora on {lost}"
        )


if __name__ == "__main__":
    run(__doc__.split("\n")[0], "consensus", purities, float, summarize)
