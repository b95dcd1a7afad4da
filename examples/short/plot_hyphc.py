"""
HypHC in the Poincaré disk
==========================

Leaves move in the disk until the tree they imply has a low cost. Each frame shows the embedding and the tree
decoded from it; an inner node lies at the hyperbolic ancestor of the leaves it joins.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

import arbora as ab

wine = load_wine()
X = StandardScaler().fit_transform(wine.data)

# %%
# ``DiskFrames`` is a scikit-learn callback: it is called after every epoch and keeps what it gets.
frames = ab.view.DiskFrames(classes=wine.target)
model = (
    ab.HypHC(n_clusters=3, max_epochs=30, random_state=0).set_callbacks(frames).fit(X)
)
frames.figure(4)
plt.show()

# %%
# The decoded cost falls as the temperature does.
fig, ax = plt.subplots(figsize=(5, 3))
ax.plot(model.history_["step"], model.history_["cost"])
ax.set_xlabel("epoch")
ax.set_ylabel("Dasgupta cost")
plt.show()

# %%
# Refinement moves subtrees of the decoded tree until no move helps.
refined = ab.HypHC(n_clusters=3, max_epochs=30, refine=True, random_state=0).fit(X)
print(f"decoded {model.cost_:.0f}, refined {refined.cost_:.0f}")
print(
    f"dendrogram purity {ab.metrics.dendrogram_purity(refined.tree_, wine.target):.3f}"
)
