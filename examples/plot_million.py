"""
A million points
================

Memory in proportion to the points, no table of all pairs, and a page that still moves. No public set of that size
is small enough to come with the data of this guide, so the points are drawn. A million of them take minutes: where the
guide is built in a hurry, without ``ARBORA_DOCS_FULL=1``, there are 40,000, and the output says so.
"""

import os
import resource
import time

import matplotlib.pyplot as plt
import numpy as np

import arbora as ab

n_points = 1_000_000 if os.environ.get("ARBORA_DOCS_FULL") else 40_000
if n_points < 1_000_000:
    print("ARBORA_DOCS_FULL is not set: 40,000 points instead of a million.")

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
# The path of an ``.npy`` file would do as well, or of HDF5, Parquet or zarr: rows are read in pieces. (The seconds are
# those of two cores that had other work to do as well.)
start, cpu = time.perf_counter(), time.process_time()
tree = ab.cluster(X, random_state=0)
cpu = time.process_time() - cpu
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
print(f"{cpu:.0f} CPU s, {time.perf_counter() - start:.0f} s on the clock")
print(f"peak memory {memory:.1f} GiB: the whole process, what built this page included")

# %%
# All three levels are there: purity against ten, a hundred and a thousand groups.
for level, classes in ((10, kind // 100), (100, kind // 10), (1000, kind)):
    print(
        f"{level:5d} groups: purity {ab.metrics.dendrogram_purity(tree, classes):.3f}"
    )

# %%
# Asking a large tree
# -------------------
# In CPU seconds; the first call of each also compiles.
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
page = tree.to_html(
    "million.html",
    title=f"{n_points:,} points",
    max_leaves=1000,
    classes={"group": kind // 100},
)
