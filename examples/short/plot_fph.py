"""
A distribution over trees on a graph
====================================

FPH learns, for every node of a graph, how likely each internal node of a hierarchy is to be its parent. Here the
graph has three known levels of communities; the most likely tree finds them, and trees sampled from the model show
what it is not sure of.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import normalized_mutual_info_score

import arbora as ab
from arbora.probabilistic import small_hsbm
from arbora.probabilistic.flat import flat_labels

graph = small_hsbm(random_state=0)
model = ab.FPH(n_internal=64, objective="tsd", max_epochs=60, random_state=0).fit(
    graph.adjacency
)

# %%
# The decoded tree against the communities that the graph was drawn from, level by level.
for level in graph.levels:
    labels = flat_labels(model.tree_, model.similarity_, level.max() + 1)
    print(
        f"{level.max() + 1} clusters: NMI {normalized_mutual_info_score(level, labels):.3f}"
    )

# %%
# The adjacency in the order of the tree's leaves: communities within communities along the diagonal.
order = model.tree_.leaf_order
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.2))
rng = np.random.default_rng(0)
shuffled = rng.permutation(len(order))
left.spy(graph.adjacency[shuffled][:, shuffled].toarray(), markersize=1)
left.set_title("any order")
right.spy(graph.adjacency[order][:, order].toarray(), markersize=1)
right.set_title("the tree's order")
figure.tight_layout()

# %%
# The loss that was descended and the loss of the decoded tree, by which the model is chosen.
epoch, descended, decoded = (
    model.history_[field] for field in ("step", "loss", "cost")
)
figure, axes = plt.subplots(figsize=(6, 3))
axes.plot(epoch, -descended, label="soft")
axes.plot(epoch, -decoded, label="decoded tree")
axes.axvline(model.best_epoch_, color="0.7", linewidth=1)
axes.set(xlabel="epoch", ylabel="tree sampling divergence")
axes.legend()
figure.tight_layout()
plt.show()
