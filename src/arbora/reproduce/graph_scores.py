"""How FPH's tables judge trees over graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import arbora as ab
from arbora.similarity.graph import GraphSimilarity
from arbora.tree.pass_kernels import meeting_mass


def tsd_as_printed(tree: ab.Tree, graph: GraphSimilarity) -> float:
    """TSD, in percent, as the scikit-network of the paper's time computed it.

    A leaf's pair with itself is left out of q, and its self-loop out of p, but not out of the mutual information that
    normalizes both.
    """
    degree = graph.degrees / graph.degrees.sum()
    q = meeting_mass(tree.parent, degree, np.zeros_like(degree))
    loops = np.bincount(tree.parent[: tree.n_leaves], graph.self_loops, minlength=tree.n_nodes)
    p, q = (graph.cross(tree) - loops[tree.n_leaves :]) / graph.total, q[tree.n_leaves :]
    inside = (p > 1e-15) & (q > 0)
    nats = ab.metrics.tree_sampling_divergence(tree, graph, normalize=False)
    information = nats / ab.metrics.tree_sampling_divergence(tree, graph)
    return 100 * float(np.sum(p[inside] * np.log(p[inside] / q[inside]))) / information


def quality(graph: GraphSimilarity, for_dasgupta: ab.Tree, for_tsd: ab.Tree) -> dict[str, float]:
    """Dasgupta's cost of one tree and TSD, in both forms, of another."""
    return {
        "dasgupta_normalized": ab.metrics.dasgupta_cost(for_dasgupta, graph, normalize=True),
        "tsd_normalized_percent": tsd_as_printed(for_tsd, graph),
        "tsd_percent": 100 * ab.metrics.tree_sampling_divergence(for_tsd, graph),
    }


def compressed_quality(graph: GraphSimilarity, tree: ab.Tree, n_internal: int) -> dict[str, float]:
    """Of a tree compressed to a number of nodes, for each objective by itself."""
    objectives: Sequence[Any] = ("dasgupta", "tsd")
    return quality(graph, *(tree.compress(n_internal, graph, objective) for objective in objectives))


def nmi(tree: ab.Tree, graph: GraphSimilarity, y: Any) -> float:
    """Normalized mutual information of classes with a flat clustering of as many clusters; -1 is no class."""
    from arbora.probabilistic.flat import flat_labels

    n_classes = len(np.unique(np.asarray(y)[np.asarray(y) >= 0]))
    return ab.metrics.flat_scores(y, flat_labels(tree, graph, n_classes))["nmi"]
