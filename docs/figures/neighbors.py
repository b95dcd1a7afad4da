import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

import arbora as ab

X, y = load_digits(return_X_y=True)
graph = ab.similarity.knn(X, metric="cosine")
trees = {method: ab.linkage(X, method) for method in ("single", "complete", "average", "ward")}
trees["bisecting k-means"] = ab.bisecting_kmeans(X, random_state=0)
trees["average, graph"] = ab.linkage(graph, "average")
trees["search"] = ab.cluster(graph, random_state=0)
purity = [ab.metrics.dendrogram_purity(tree, y) for tree in trees.values()]
figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained", sharey=True)
for axis, (title, similarity) in zip(
    axes, {"all pairs, (1 + cos) / 2": ab.similarity.cosine(X), "graph of ten neighbors": graph}.items()
):
    cost = [ab.metrics.dasgupta_cost(tree, similarity, normalize=True) for tree in trees.values()]
    axis.scatter(cost, purity, color="#0b62d6")
    for name, x, height in zip(trees, cost, purity):
        axis.annotate(name, (x, height), xytext=(5, 3), textcoords="offset points", fontsize=8)
    axis.set(title=title, xlabel="Dasgupta's cost over the total weight")
    axis.margins(x=0.25)
axes[0].set_ylabel("dendrogram purity")
