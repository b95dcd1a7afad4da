"""Scores of a tree
================

Four linkages of the handwritten digits, judged by a similarity alone (Dasgupta's cost on a neighbor graph)
and against the digits' classes (dendrogram purity). The cheapest tree is the purest; single linkage shows
that the two need not agree on every pair.
"""

import matplotlib.pyplot as plt
from scipy.cluster.hierarchy import linkage
from sklearn.datasets import load_digits

import arbora as ab

X, y = load_digits(return_X_y=True)
graph = ab.similarity.knn(X, n_neighbors=15, metric="euclidean")
trees = {
    method: ab.Tree.from_linkage(linkage(X, method))
    for method in ("single", "complete", "average", "ward")
}

# %%
# One table has every score that the data allow.

print(ab.metrics.score(trees["ward"], graph, y))

# %%
# The cost needs no labels, and still picks the purest of the four.

costs = [
    ab.metrics.dasgupta_cost(tree, graph, normalize=True) for tree in trees.values()
]
purities = [ab.metrics.dendrogram_purity(tree, y) for tree in trees.values()]
figure, axes = plt.subplots(figsize=(5, 3.5), layout="constrained")
axes.scatter(costs, purities)
for method, cost, purity in zip(trees, costs, purities):
    axes.annotate(
        method, (cost, purity), xytext=(6, 0), textcoords="offset points", va="center"
    )
axes.set(
    xlabel="Dasgupta cost per edge (lower is better)",
    ylabel="dendrogram purity (higher is better)",
)
axes.margins(x=0.2)
plt.show()
