"""
Internal nodes in the Poincaré disk
===================================

gHHC keeps the internal nodes of a tree as points of the ball and the data at its edge. In two dimensions both can be
drawn: nodes near the center are near the root, and every edge joins a child to the nearest node closer to the center.
"""

# %%
# Six groups of directions in the plane, in three pairs.
import matplotlib.pyplot as plt
import numpy as np

import arbora as ab

rng = np.random.default_rng(0)
centers = np.repeat([0.3, 2.4, 4.5], 2) + np.tile([-0.35, 0.35], 3)
angle = np.concatenate([center + 0.08 * rng.standard_normal(30) for center in centers])
label = np.repeat(np.arange(6), 30)
X = np.column_stack([np.cos(angle), np.sin(angle)])

model = ab.GHHC(n_clusters=3, n_internal=23, max_steps=300, random_state=0).fit(X)
print(f"dendrogram purity {ab.metrics.dendrogram_purity(model.tree_, label):.3f}")

# %%
# Points carry the color of their group; a line leads from each node to its parent. The model's distribution over
# parents says how sure each point is of its own.
from arbora.hyperbolic.ghhc.distances import NodeTable
from arbora.hyperbolic.ghhc.model import node_parents

nodes = model.nodes_
parent = node_parents(NodeTable(nodes))
points = X - X.mean(axis=0)
points *= 0.9 / np.linalg.norm(points, axis=1, keepdims=True)
figure, axis = plt.subplots(figsize=(6, 6))
axis.add_patch(plt.Circle((0, 0), 1, fill=False, color="0.7"))
for child in np.flatnonzero(parent >= 0):
    axis.plot(*nodes[[child, parent[child]]].T, color="0.6", linewidth=1)
for point, above in zip(points, model.parents_):
    axis.plot(*np.stack([point, nodes[above]]).T, color="0.9", linewidth=0.5, zorder=0)
sure = model.predict_proba(X).max(axis=1)
axis.scatter(*points.T, c=label, cmap="tab10", s=10 + 60 * sure)
axis.scatter(*nodes.T, color="black", marker="^", s=24, zorder=3)
axis.set_aspect("equal")
axis.axis("off")
plt.show()

# %%
# New points find their place: the label of their cluster, or the node of the tree they hang from.
new = np.array([[np.cos(0.0), np.sin(0.0)], [np.cos(4.8), np.sin(4.8)]])
print(model.predict(new), model.predict_parent(new))
