"""How good a tree built on Dask is, beside the tree of one machine: purities, and costs on graphs that are comparable.

Above 20,000 rows neighbors are found approximately. Each tree suits the graph it was searched for, with the neighbors
that were missed. So costs are compared on three graphs: that of the tree in memory, one whose neighbors are nearly all
found (with another seed), and, as a measure of what a seed does, the tree that memory builds with another seed is
charged on the first graph as well.
"""

from __future__ import annotations

from unittest import mock

import numpy as np

import arbora as ab
from arbora.search.cluster import Options, build
from arbora.search.inputs import compare, read_input
from arbora.similarity import _neighbors

N_NEIGHBORS = 10
# rows whose true neighbors are found by comparing them with all, some at once
_SAMPLED, _AT_ONCE = 500, 50


def purities(tree, labels):
    return [round(float(ab.metrics.dendrogram_purity(tree, column)), 4) for column in labels.T]


def nearly_exact_graph(rows):
    """A graph of neighbors for which no tree was searched, by as many comparisons as the index allows."""
    settled = Options().settle(read_input(rows))
    with mock.patch.object(_neighbors, "GOOD_RECALL", 0.9999):
        return compare(
            settled.given,
            metric=settled.metric,
            similarity="auto",
            n_neighbors=N_NEIGHBORS,
            n_jobs=1,
            random_state=7,
            progress=lambda done: None,
        )


def recalls(rows, graphs):
    """Share of the true neighbors of sampled rows that have an edge, for each graph."""
    settled = Options().settle(read_input(rows))
    vectors = settled.given.values
    if settled.metric == "cosine":
        vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    squares = np.einsum("ij,ij->i", vectors, vectors)
    sampled = np.random.default_rng(0).choice(len(rows), min(_SAMPLED, len(rows)), replace=False)
    found = np.zeros(len(graphs))
    for some in np.array_split(sampled, max(1, len(sampled) // _AT_ONCE)):
        values = squares - 2 * (vectors[some] @ vectors.T)
        values[np.arange(len(some)), some] = np.inf
        nearest = np.argpartition(values, N_NEIGHBORS, axis=1)[:, :N_NEIGHBORS]
        for k, graph in enumerate(graphs):
            linked = graph.csr[some].toarray() > 0
            found[k] += np.take_along_axis(linked, nearest, axis=1).sum()
    return (found / (len(sampled) * N_NEIGHBORS)).round(4).tolist()


def cost(tree, graph):
    return float(ab.metrics.dasgupta_cost(tree, graph, normalize=True))


def qualities(here, there, rows, labels, *, other_seed=True):
    """Purities of both trees and the ratios of their costs; `here` was built in memory, `there` on Dask."""
    exact = nearly_exact_graph(rows)
    cost_here, cost_there = (cost(one.tree, here.similarity) for one in (here, there))
    recall_here, recall_exact = recalls(rows, [here.similarity, exact])
    result = {
        "purities in memory": purities(here.tree, labels),
        "purities on Dask": purities(there.tree, labels),
        "cost in memory": round(cost_here, 3),
        "cost on Dask, own graph": round(there.report.cost_after, 3),
        "cost ratio on a nearly exact graph": round(cost(there.tree, exact) / cost(here.tree, exact), 4),
        "cost ratio on memory's graph": round(cost_there / cost_here, 4),
        "recall of memory's graph": recall_here,
        "recall of the nearly exact graph": recall_exact,
    }
    if other_seed:
        again = build(read_input(rows), Options(random_state=1, n_jobs=1)).tree
        result["memory with another seed on memory's graph"] = round(
            cost(again, here.similarity) / cost_here, 4
        )
    return result
