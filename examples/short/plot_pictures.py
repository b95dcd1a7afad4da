"""
Pictures of a tree
==================

The same tree four ways, with a color strip for the alcohol, and beside a heat map of its data.
"""

from matplotlib import pyplot as plt
from sklearn.datasets import load_wine

import arbora as ab

wine = load_wine()
X = (wine.data - wine.data.mean(axis=0)) / wine.data.std(axis=0)
cultivar = wine.target_names[wine.target]
tree = ab.cluster(X, metric="euclidean", random_state=0)

# %%
# Branches take the class of most of their leaves; gray means that no class has a majority.
figure, axes = plt.subplots(2, 2, figsize=(9, 8), layout="constrained")
for ax, kind in zip(
    axes.flat, ["dendrogram", "circular", "disk", "icicle"], strict=True
):
    tree.plot(
        kind,
        ax=ax,
        classes=cultivar,
        metadata={"alcohol": wine.data[:, 0]},
        legend=kind == "circular",
        title=kind,
    )

# %%
# A heat map in the order of two trees.
ab.view.clustermap(
    X,
    tree,
    ab.linkage(X.T, "average"),
    row_colors=cultivar,
    col_names=wine.feature_names,
    cmap="RdBu_r",
    robust=True,
    center=0,
)
plt.show()

# %%
# Two trees face to face, as a page: lines lead from each wine to itself.
page = tree.to_html(
    "two_trees.html", compare=ab.linkage(X, "ward"), classes={"cultivar": cultivar}
)

# %%
# How good every cut is.
ab.view.plot_levels(tree, cultivar, max_clusters=20)
plt.show()
