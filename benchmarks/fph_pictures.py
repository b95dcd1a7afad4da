"""The pictures and tables of docs/fph.rst: OpenFlight's clusters on a map, and Cora-ML's topics.

    python benchmarks/fph_pictures.py

Writes docs/pictures/fph_openflight.png (paper, App. B.6) and prints the words of the upper nodes (paper, Table 5). The
data has no vocabulary, so words appear as column numbers of the bag of words.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from _fph_graphs import arrays, load_attributes, load_graph

import arbora as ab
from arbora.probabilistic.flat import flat_labels
from arbora.tasks.topics import topic_words

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "pictures"


def draw_map():
    graph = load_graph("openflight")
    longitude, latitude = arrays("openflight")["lonlat"].T
    figure, grid = plt.subplots(2, 2, figsize=(11, 6.2), sharex=True, sharey=True)
    for row, objective in enumerate(("tsd", "dasgupta")):
        tree = ab.FPH(n_internal=256, objective=objective, max_epochs=150, random_state=0).fit(graph).tree_
        for axes, n_clusters in zip(grid[row], (10, 50)):
            labels = flat_labels(tree, graph, n_clusters)
            rank = np.argsort(np.argsort(-np.bincount(labels)))  # neighboring sizes, distant colors
            axes.scatter(longitude, latitude, c=(rank[labels] * 7) % 20, cmap="tab20", s=3, linewidths=0)
            axes.set_title(f"{objective}, {n_clusters} clusters", fontsize=10)
            axes.set(xticks=[], yticks=[], xlim=(-180, 180), ylim=(-60, 80))
    figure.tight_layout()
    IMAGES.mkdir(parents=True, exist_ok=True)
    figure.savefig(IMAGES / "fph_openflight.png", dpi=80)


def print_topics():
    graph = load_graph("cora_ml")
    model = ab.FPH(n_internal=256, objective="tsd", max_epochs=150, random_state=0).fit(graph)
    tree = model.tree_
    found = topic_words(tree, load_attributes(), n_words=3, max_depth=2)
    for node, words in found.items():
        if tree.sizes[node] >= 50:
            print("   " * tree.depths[node], f"{tree.sizes[node]} papers: words {words}")


if __name__ == "__main__":
    print_topics()
    draw_map()
