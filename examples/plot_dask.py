"""
A cluster with Dask
===================

The same call on data that lie on several machines: ``ab.cluster`` takes a Dask array, and its rows stay where
they are. Here the "machines" are two workers on this computer; on a real cluster only the address of the
scheduler changes. The result depends on data, options and seed, never on the number of workers.
"""

import matplotlib.pyplot as plt
import numpy as np

import arbora as ab

try:
    import dask.array as da
    from dask.distributed import Client, LocalCluster
except ImportError as missing:
    raise SystemExit("This example needs Dask: pip install 'arbora[dask]'") from missing

# %%
# The cluster and the data
# ------------------------
# Chunks are whole rows; on a real cluster they would come from Parquet or zarr (``da.from_zarr("s3://...")``).
machines = LocalCluster(
    n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
)
client = Client(machines)
rng = np.random.default_rng(0)
centers = 3 * rng.standard_normal((50, 16))
kind = rng.integers(0, 50, 4_000)
local = (centers[kind] + rng.standard_normal((4_000, 16))).astype(np.float32)
X = da.from_array(local, chunks=(1_000, 16))
print(X)

# %%
# The tree
# --------
tree = ab.cluster(X, metric="euclidean", random_state=0)
print(tree)
print(f"purity {ab.metrics.dendrogram_purity(tree, kind):.3f}")

# %%
# Beside the tree of the same rows in memory
# ------------------------------------------
in_memory = ab.cluster(local, metric="euclidean", random_state=0)
print(f"in memory: purity {ab.metrics.dendrogram_purity(in_memory, kind):.3f}")
graph = ab.similarity.knn(local, metric="euclidean")
costs = [
    ab.metrics.dasgupta_cost(found, graph, normalize=True)
    for found in (tree, in_memory)
]
print(f"cost {costs[0]:.1f} from the cluster, {costs[1]:.1f} in memory")

# %%
# Classifiers, too
# ----------------
# ``L2H`` reads logits from Dask arrays; every pass is a sum over blocks, and the merges are those of memory.
logits = da.from_array(4.0 * (local @ centers.T), chunks=(1_000, 50))
print(ab.L2H(random_state=0).fit(logits).tree_)

# %%
tree.plot("dendrogram", max_leaves=50, n_clusters=10)
plt.show()

# %%
# The page
# --------
page = tree.to_html("dask.html", max_leaves=500, classes={"group": kind})
client.close()
machines.close()
