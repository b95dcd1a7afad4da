"""
A million points
================

Memory in proportion to the points, no table of all pairs, and a page that still moves. To keep the build of
this guide short it runs on fewer points; set ``ARBORA_DOCS_FULL=1`` to run it on a million.
"""

import os
import resource
import time

import matplotlib.pyplot as plt
import numpy as np

import arbora as ab

n_points = 1_000_000 if os.environ.get("ARBORA_DOCS_FULL") else 40_000

# %%
# The data
# --------
# Ten groups of ten groups of ten, in 64 dimensions: three levels of known truth.
rng = np.random.default_rng(0)
centers = np.zeros((1, 64))
for spread in (4.0, 2.0, 1.0):
    centers = (
        centers[:, None] + spread * rng.standard_normal((len(centers), 10, 64))
    ).reshape(-1, 64)
kind = rng.integers(0, 1000, n_points)
X = (centers[kind] + 0.7 * rng.standard_normal((n_points, 64))).astype(np.float32)
print(f"{n_points:,} points, {X.nbytes / 2**20:,.0f} MB")

# %%
# The tree
# --------
# The path of an ``.npy`` file would do as well, or of HDF5, Parquet or zarr: rows are read in pieces.
start, cpu = time.perf_counter(), time.process_time()
tree = ab.cluster(X, random_state=0)
print(
    f"{time.perf_counter() - start:.0f} s on the clock, {time.process_time() - cpu:.0f} CPU s"
)
print(
    f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.1f} GiB, the whole process"
)

# %%
# All three levels are there: purity against ten, a hundred and a thousand groups.
for level, classes in ((10, kind // 100), (100, kind // 10), (1000, kind)):
    print(
        f"{level:5d} groups: purity {ab.metrics.dendrogram_purity(tree, classes):.3f}"
    )

# %%
# Asking a large tree
# -------------------
# Cuts and ancestors take fractions of a second; a taxonomy chooses among many cuts and takes longer. (CPU
# seconds; the first call of each also compiles.)
for name, call in {
    "cut into 1,000 clusters": lambda: tree.cut(n_clusters=1000),
    "ancestors of 100,000 pairs": lambda: tree.lca(
        *rng.integers(0, n_points, (2, 100_000))
    ),
    "levels of 10, 100 and 1,000": lambda: tree.taxonomy([10, 100, 1000]),
}.items():
    start = time.process_time()
    call()
    print(f"{name}: {time.process_time() - start:.3f} s")

# %%
# The upper part
# --------------
# A picture is truncated to what can be seen, and says how many leaves each wedge holds.
tree.plot("dendrogram", max_leaves=60, n_clusters=10)
plt.show()

# %%
# The page
# --------
# What lies below the cut is folded into groups that keep their counts. ``tree.explore()`` serves all of it,
# piece by piece.
page = tree.to_html("million.html", max_leaves=1000, classes={"group": kind // 100})
