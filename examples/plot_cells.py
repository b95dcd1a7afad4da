"""
Cells: types, subtypes and their markers
========================================

Single cells as a tree: coarse types near the root, subtypes further down, marker genes for every branch, and
scanpy's own plots with our dendrogram. The data are 700 blood cells (``pbmc68k_reduced``, from
``ARBORA_DATA``); where they are absent, cells are drawn from a model with three types of two subtypes each.
"""

import os
import warnings
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
    kind, often = max(((kind, (inside == kind).sum()) for kind in set(inside)), key=lambda found: found[1])
    print(f"mostly {kind} ({often} of {len(inside)})")
    print(reason, "\n")

# %%
# A picture
# ---------
model.tree_.plot("circular", classes={"type": types})
plt.show()

# %%
# In scanpy
# ---------
# Flat clusters go to ``obs``. scanpy's plots take the dendrogram of groups from ``uns``; ``arbora fit
# cells.h5ad --scanpy cluster`` writes that entry into a file, here it is written by hand.
try:
    import anndata
    import scanpy
except ImportError:
    print("scanpy is not installed: its plots are left out.")
else:
    from scipy.cluster.hierarchy import dendrogram

    cells = anndata.AnnData(counts)
    cells.var_names = genes
    cells.obs["cluster"] = [f"c{label}" for label in model.labels_]
    cells.obs["cluster"] = cells.obs["cluster"].astype("category")
    groups = list(cells.obs["cluster"].cat.categories)
    means = np.stack(
        [components[(cells.obs["cluster"] == group).to_numpy()].mean(axis=0) for group in groups]
    )
    over_groups = ab.linkage(means, "average")
    drawn = dendrogram(over_groups.to_linkage(), labels=groups, no_plot=True)
    cells.uns["dendrogram_cluster"] = {
        "linkage": over_groups.to_linkage(),
        "groupby": ["cluster"],
        "use_rep": "X_pca",
        "cor_method": "pearson",
        "linkage_method": "average",
        "categories_ordered": drawn["ivl"],
        "categories_idx_ordered": drawn["leaves"],
        "dendrogram_info": drawn,
        "correlation_matrix": np.corrcoef(means),
    }
    reasons = ab.explain(model.tree_, counts, list(genes), n_clusters=n_types, against="rest", n_features=1)
    markers = list(dict.fromkeys(reason.features[0].name for reason in reasons))
    with warnings.catch_warnings():
        # scanpy's plots use calls that pandas and matplotlib have deprecated.
        warnings.simplefilter("ignore")
        scanpy.pl.dotplot(cells, markers, groupby="cluster", dendrogram=True)

# %%
# The page
# --------
# The genes that tell most about the largest splits are columns: color the tree by one of them.
shown = ab.insight.telling_features(model.tree_, counts, list(genes), n_features=8)
columns = {name: counts[:, list(genes).index(name)] for name in shown}
page = model.tree_.to_html(
    "cells.html", classes={"type": types}, metadata=columns, features=components, view="disk"
)
