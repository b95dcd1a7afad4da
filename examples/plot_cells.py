"""
Cells: types, subtypes and their markers
========================================

Single cells as a tree: coarse types near the root, subtypes further down, marker genes for every branch, and
scanpy's own plots with our dendrogram. The data are 700 blood cells (``pbmc68k_reduced``, from
``ARBORA_DATA``); where they are absent, cells are drawn from a model with three types of two subtypes each.
"""

import os
import warnings
from collections import Counter
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import arbora as ab

path = Path(os.environ.get("ARBORA_DATA", "data")) / "vectors" / "pbmc68k_reduced.npz"
if path.exists():
    stored = np.load(path)
    counts, components, genes = stored["X"], stored["X_pca"], stored["feature_names"]
    types = stored["class_names"][stored["y"]]
    print("700 blood cells, 765 genes, 10 types named by others")
else:
    rng = np.random.default_rng(0)
    kinds = np.repeat(np.arange(6), 80)
    rates = rng.gamma(1.0, 1.0, size=200)
    rates = np.tile(rates, (6, 1))
    for kind in range(6):
        rates[kind, 30 * (kind // 2) : 30 * (kind // 2) + 20] *= 6
        rates[kind, 100 + 15 * kind : 110 + 15 * kind] *= 5
    counts = np.log1p(rng.poisson(rates[kinds])).astype(np.float32)
    centered = counts - counts.mean(axis=0)
    components = centered @ np.linalg.svd(centered, full_matrices=False)[2][:20].T
    genes = np.array([f"gene {k}" for k in range(200)])
    types = np.array([f"type {'ABC'[kind // 2]}{kind % 2 + 1}" for kind in kinds])
    print("generated: 480 cells of three types with two subtypes each")

# %%
# The tree
# --------
# Principal components in, a tree over cells out. The metric is chosen by what the vectors look like.
n_types = len(set(types))
model = ab.TreeClustering(n_clusters=n_types, random_state=0).fit(components)
print(model.report_)
print(f"dendrogram purity {ab.metrics.dendrogram_purity(model.tree_, types):.2f}")

# %%
# Marker genes
# ------------
# What sets each branch apart from its sister branch: effect, adjusted p-value, and a rule to remember.
for reason in ab.explain(model.tree_, counts, list(genes), n_clusters=4, n_features=3):
    inside = types[model.tree_.leaves(reason.node)]
    common = Counter(inside.tolist()).most_common(3)
    print(", ".join(f"{often} {kind}" for kind, often in common), f"of {len(inside)}")
    print(reason, "\n")

# %%
# A picture
# ---------
model.tree_.plot("circular", classes={"type": types})
plt.show()

# %%
# In scanpy
# ---------
# The clusters go to ``obs``, and the tree above them to ``uns``, where scanpy's plots look for a dendrogram of
# groups. It is the tree from above, with one cell standing for each cluster. (``arbora fit cells.h5ad --scanpy
# cell_type`` writes such an entry into a file.) Genes are those that set each cluster apart from all other cells.
_, one_of_each = np.unique(model.labels_, return_index=True)
upper = model.tree_.restrict(one_of_each)
clusters = [f"cluster {label}" for label in range(n_types)]
reasons = ab.explain(
    model.tree_, counts, list(genes), n_clusters=n_types, against="rest", n_features=2
)
markers = {}
for reason in reasons:
    label = model.labels_[model.tree_.leaves(reason.node)[0]]
    markers[clusters[label]] = [found.name for found in reason.features]
try:
    import anndata
    import pandas
    import scanpy
except ImportError:
    scanpy = None
    print(
        "scanpy is not installed where this page was built: a heat map of our own instead."
    )
    means = [counts[model.labels_ == label].mean(axis=0) for label in range(n_types)]
    columns = [gene for of_cluster in markers.values() for gene in of_cluster]
    shown = np.array(means)[:, [list(genes).index(gene) for gene in columns]]
    ab.view.clustermap(shown, upper, row_names=clusters, col_names=columns, cmap="Reds")
    plt.show()
else:
    from scipy.cluster.hierarchy import dendrogram

    cells = anndata.AnnData(counts, var=pandas.DataFrame(index=genes))
    cells.obs["cluster"] = pandas.Categorical(
        [clusters[label] for label in model.labels_], clusters
    )
    drawn = dendrogram(upper.to_linkage(), labels=clusters, no_plot=True)
    cells.uns["dendrogram_cluster"] = {
        "groupby": ["cluster"],
        "linkage": upper.to_linkage(),
        "dendrogram_info": drawn,
        "categories_ordered": drawn["ivl"],
        "categories_idx_ordered": drawn["leaves"],
    }
    with warnings.catch_warnings():
        # scanpy calls what pandas and matplotlib have deprecated.
        warnings.simplefilter("ignore")
        scanpy.pl.dotplot(cells, markers, groupby="cluster", dendrogram=True)

# %%
# scanpy's heat map has a line for every cell; sister clusters, which share genes, lie side by side.
if scanpy is not None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scanpy.pl.heatmap(
            cells, markers, groupby="cluster", dendrogram=True, figsize=(9, 6)
        )

# %%
# The page
# --------
# The genes that tell most about the largest splits are columns: color the tree by one of them.
shown = ab.insight.telling_features(model.tree_, counts, list(genes), n_features=8)
columns = {name: counts[:, list(genes).index(name)] for name in shown}
page = model.tree_.to_html(
    "cells.html",
    title="Blood cells" if path.exists() else "Cells",
    classes={"type": types},
    metadata=columns,
    features=components,
    view="disk",
)
