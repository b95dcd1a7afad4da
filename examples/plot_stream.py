"""
A stream: a tree that grows
===========================

Points come in batches, are seen once, and must find their place at once. Old ones leave. The data are the
digits, in an order in which new kinds appear over time.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import arbora as ab

digits = load_digits()
rng = np.random.default_rng(0)
# Digits 0 to 4 first; 5 to 9 come in later, one after the other.
arrival = np.argsort(
    rng.random(len(digits.target)) + 0.35 * np.maximum(digits.target - 4, 0)
)
X, y = digits.data[arrival], digits.target[arrival]

# %%
# Batch by batch
# --------------
# Every point goes to its exactly best place in the tree so far, and what lies around it is improved.
online = ab.OnlineTree(n_clusters=10, random_state=0)
seen, purity, of_first, kinds = [], [], [], []
for start in range(0, len(X), 200):
    online.partial_fit(X[start : start + 200])
    so_far = y[: online.tree_.n_leaves]
    first = np.flatnonzero(so_far < 5)
    seen.append(len(so_far))
    kinds.append(len(set(so_far.tolist())))
    purity.append(ab.metrics.dendrogram_purity(online.tree_, so_far))
    upper = online.tree_.restrict(first)
    of_first.append(ab.metrics.dendrogram_purity(upper, so_far[first]))
    print(
        f"{seen[-1]:5d} points, {kinds[-1]:2d} digits, purity {purity[-1]:.2f}",
        end="; ",
    )
    print(f"of the first five digits among themselves {of_first[-1]:.2f}")

# %%
# The purity falls because there are more digits to confuse, not because old ones are forgotten: the first five are told
# from each other nearly as well at the end as at the beginning. All points at once for comparison, on a graph of
# nearest neighbors:
whole = ab.cluster(X, random_state=0)
print(f"all points at once: {ab.metrics.dendrogram_purity(whole, y):.2f}")
figure, axis = plt.subplots(figsize=(6, 3), layout="constrained")
axis.plot(seen, purity, marker="o", label="all digits so far")
axis.plot(seen, of_first, marker="o", label="the first five")
axis.legend(loc="lower left")
axis.set(xlabel="points seen", ylabel="dendrogram purity", ylim=(0, 1))
beside = axis.twinx()
beside.step(seen, kinds, color="0.6", where="mid")
beside.set_ylabel("digits seen", color="0.4")
plt.show()

# %%
# On a graph of neighbors
# -----------------------
# ``TreeClustering.partial_fit`` grows a tree on the graph of nearest neighbors: slower per point, purer.
model = ab.TreeClustering(n_clusters=10, random_state=0).fit(X[:900])
for start in range(900, len(X), 300):
    found = model.place(X[start : start + 300])
    strange = (found.outlier_score > 0.99).sum()
    model.partial_fit(X[start : start + 300])
    print(
        f"{model.tree_.n_leaves:5d} points; {strange:2d} of the last batch were strange"
    )
print(
    f"purity {ab.metrics.dendrogram_purity(model.tree_, y[: model.tree_.n_leaves]):.2f}"
)

# %%
# Forgetting, and tomorrow
# ------------------------
# Points can leave, and the model can be saved and go on.
online.remove(range(200))
online.save("stream.npz")
again = ab.OnlineTree.load("stream.npz").partial_fit(X[:200])
print(again.tree_)

# %%
# The page
# --------
page = model.tree_.to_html(
    "stream.html",
    title="A stream",
    metadata={"arrival": np.arange(len(X))},
    classes={"digit": y},
)
