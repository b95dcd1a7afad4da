"""
A cluster with Dask
===================

The same call on data that lie on several machines: ``ab.cluster`` takes a Dask array, and its rows stay where
they are. Here the "machines" are two workers on this computer; on a real cluster only the address of the
scheduler changes. The result depends on data, options and seed, never on the number of workers.

The data are 150,000 patches of forest in Colorado, each 30 m by 30 m (covtype, from ``ARBORA_DATA``): elevation, slope,
shade and seven more measurements, and what grows there. Where they are absent, 4,000 points of fifty groups are drawn.
"""

import os
from collections import Counter
from pathlib import Path
from tempfile import mkdtemp

import matplotlib.pyplot as plt
import numpy as np

import arbora as ab

try:
    import dask.array as da
    from dask.distributed import Client, LocalCluster
except ImportError as missing:
    raise SystemExit("This example needs Dask: pip install 'arbora[dask]'") from missing

TREES = ["spruce", "lodgepole", "ponderosa", "willow", "aspen", "Douglas", "krummholz"]
rng = np.random.default_rng(0)
path = Path(os.environ.get("ARBORA_DATA", "data")) / "vectors" / "covtype.npz"
if path.exists():
    stored = np.load(path)
    some = rng.permutation(len(stored["X"]))[:150_000]
    local = stored["X"][some, :10].astype(np.float32)
    features = [name.replace("_", " ").lower() for name in stored["feature_names"][:10]]
    kind, kinds = stored["y"][some] - stored["y"].min(), TREES
else:
    print("covtype is not in ARBORA_DATA: 4,000 points of fifty groups instead.")
    centers = 3 * rng.standard_normal((50, 16))
    kind, kinds = rng.integers(0, 50, 4_000), [f"group {k}" for k in range(50)]
    local = (centers[kind] + rng.standard_normal((4_000, 16))).astype(np.float32)
    features = [f"column {k}" for k in range(16)]

# %%
# The cluster and the file
# ------------------------
# Rows come from a file that every worker can read, in chunks of whole rows. On a real cluster that would be zarr or
# Parquet on shared storage.
file = Path(mkdtemp()) / "rows.zarr"
da.from_array(local, chunks=(len(local) // 4, -1)).to_zarr(file)

machines = LocalCluster(
    n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
)
client = Client(machines)
X = da.from_zarr(file)
print(X)

# %%
# The tree
# --------
# Above 100,000 rows the work is divided into parts that fit a worker; below, one worker builds the tree alone.
tree = ab.cluster(X, random_state=0)
print(tree)

# %%
# Beside the tree of the same rows in memory
# ------------------------------------------
# Not the same tree where parts were needed, but one that agrees about as well with what grows there. (:doc:`../scale`
# compares costs, and says what is the same and what is not.)
in_memory = ab.cluster(local, random_state=0)
for where, found in {"on the cluster": tree, "in memory": in_memory}.items():
    print(f"{where}: purity {ab.metrics.dendrogram_purity(found, kind):.3f}")

# %%
# What the branches are
# ---------------------
# Six branches of similar size, each against everything else: far from roads, on slopes that face west, low, far from
# the places where fires began, ...
upper = tree.taxonomy([6], by="balance")
for reason in ab.explain(
    upper, local, features, n_clusters=6, against="rest", n_features=2
):
    inside = Counter(kinds[k] for k in kind[upper.leaves(reason.node)])
    print(reason)
    print("  there:", ", ".join(name for name, _ in inside.most_common(3)), "\n")

tree.plot(
    "circular",
    max_leaves=400,
    classes={"kind": [kinds[k] for k in kind]},
    legend=len(kinds) < 12,
)
plt.show()

# %%
# Classifiers, too
# ----------------
# Scores of every class, computed block by block: how near a row is to the mean of the class. ``L2H`` turns them into a
# tree of the classes; every pass is a sum over blocks, and the merges are those of memory. In the forests it parts the
# trees of the heights from those of the valleys.
scaled = (X - X.mean(axis=0)) / (X.std(axis=0) + 1e-6)
means = np.stack([scaled[kind == k].mean(axis=0).compute() for k in range(len(kinds))])
logits = 2 * scaled @ means.T - (means**2).sum(axis=1)
l2h = ab.L2H(class_names=kinds, random_state=0).fit(logits)
print(l2h.tree_.to_newick(lengths=False) if len(kinds) < 20 else l2h.tree_)

# %%
# The page
# --------
page = tree.to_html(
    "dask.html",
    title="On Dask",
    max_leaves=500,
    classes={
        "what grows there" if path.exists() else "group": [kinds[k] for k in kind]
    },
)
client.close()
machines.close()
