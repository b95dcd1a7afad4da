"""
Graphs: a club and the airlines of the world
============================================

Communities within communities, from edges alone. First a network small enough to know everyone in it, then
3,097 airports (OpenFlight, from ``ARBORA_DATA``; where it is absent, a graph with known communities takes its
place).
"""

import os
from collections import Counter
from pathlib import Path

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import scipy.sparse as sp

import arbora as ab

# sphinx_gallery_thumbnail_number = 2

# %%
# Thirty-four people
# ------------------
# Zachary's karate club split into two after a quarrel. The tree is built from friendships; the root's two
# branches are compared with the two clubs that followed.
club = nx.karate_club_graph()
side = np.array([club.nodes[person]["club"] for person in club])
tree = ab.cluster(club, random_state=0)
agreement = ab.metrics.flat_scores(side, tree.cut(n_clusters=2))["acc"]
print(f"the first split puts {agreement:.0%} of the members on their side")
similarity = ab.similarity.graph(club)
for group in ab.insight.explain_graph(tree, similarity, n_clusters=2, n_central=2):
    inside, outside = group.density_inside, group.density_outside
    print(f"{group.n_members} members around {group.central.tolist()}", end=": ")
    print(f"density {inside:.2f} inside, {outside:.2f} to the rest")

# %%
# Every split costs what it separates: edges cut near the root are expensive. FPH learns a distribution over
# trees with few nodes; ``model.tree_.support`` is the probability of each node's parent.
model = ab.FPH(2, n_internal=16, max_epochs=200, random_state=0).fit(club)
tree.plot("dendrogram", classes={"club": side})
plt.title("The karate club")
plt.show()
costs = [
    ab.metrics.dasgupta_cost(found, similarity, normalize=True)
    for found in (model.tree_, tree)
]
print(f"cost {costs[0]:.2f} with 16 nodes, learned; {costs[1]:.2f} with all, by search")

# %%
# The airlines of the world
# -------------------------
path = Path(os.environ.get("ARBORA_DATA", "data")) / "graphs" / "openflight.npz"
if path.exists():
    stored = np.load(path)
    edges, n = (stored["rows"], stored["cols"]), int(stored["n"])
    names, place = stored["node_names"], stored["lonlat"]
    region = stored["tzregion_names"][stored["labels_tzregion"]]
    country = stored["class_names"][stored["labels"]]
else:
    print("OpenFlight is not in ARBORA_DATA: 100 nodes with known groups instead.")
    drawn = ab.probabilistic.small_hsbm(random_state=0)
    both = sp.triu(drawn.adjacency, 1).tocoo()
    edges, n = (both.row, both.col), drawn.adjacency.shape[0]
    names = np.array([f"node {k}" for k in range(n)])
    layout = nx.spring_layout(nx.from_scipy_sparse_array(drawn.adjacency), seed=0)
    place = np.array([layout[k] for k in range(n)])
    region, country = (
        np.array([f"group {k}" for k in level]) for level in drawn.levels[:2]
    )
adjacency = sp.coo_array((np.ones(len(edges[0])), edges), shape=(n, n))
adjacency = (adjacency + adjacency.T).tocsr()
world = ab.cluster(adjacency, random_state=0).replace(name=None)
purity = ab.metrics.dendrogram_purity(world, region)
print(f"{n:,} nodes, {len(edges[0]):,} edges: purity {purity:.2f} against the regions")

# %%
# Who flies where is enough to find continents: no coordinate went in, and the map only shows the result.
labels = world.cut(n_clusters=12)
for label in np.argsort(-np.bincount(labels)):
    inside = country[labels == label].tolist()
    common = [name for name, _ in Counter(inside).most_common(4)]
    print(f"{len(inside):4d} airports: {', '.join(common)}")
figure, axis = plt.subplots(figsize=(9, 4.6), layout="constrained")
axis.scatter(*place.T, c=labels, cmap="tab20", s=6)
axis.set_axis_off()
axis.set_title("Twelve clusters of the flight graph, on the map")
plt.show()

# %%
# The page
# --------
# The scatter beside the tree is the map.
columns = {"region": region, "country": country}
page = world.to_html(
    "airports.html",
    title="Airports" if path.exists() else "Communities",
    names=[str(name) for name in names],
    classes=columns,
    points=place,
)
