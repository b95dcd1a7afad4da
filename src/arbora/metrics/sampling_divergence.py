"""Tree sampling divergence: how much of a graph's structure a tree retains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from arbora.similarity import Similarity
from arbora.similarity.inputs import covering_similarity
from arbora.similarity.protocol import information_of
from arbora.tree.pass_kernels import meeting_mass

if TYPE_CHECKING:
    from arbora.tree import Tree


def tree_sampling_divergence(tree: Tree, similarity: Any, *, normalize: bool = True) -> float:
    """Tree sampling divergence (TSD) of a tree over the nodes of a graph. Higher is better.

    Draw two nodes, once as the ends of a random edge and once independently by their degrees. Each draw gives
    a law of the LCA over the internal nodes, p and q; TSD is the Kullback-Leibler divergence of p from q. It
    reaches the mutual information of the two ends of an edge when the tree loses nothing.

    A self-loop of weight w is one edge: it adds 2w to its node's degree and meets at the leaf's parent, as do
    the two ends of an independent draw when they are the same node. (In scikit-network's adjacency, whose
    entries count ordered pairs, that is a diagonal entry of 2w.)

    Parameters
    ----------
    tree : Tree
    similarity : Similarity, sparse adjacency or networkx graph
        Must not be negative.
    normalize : bool
        Divide by the mutual information: the share that the tree retains, between 0 and 1.

    Returns
    -------
    divergence : float
        In nats, or as a share. NaN for a graph without edges, and where there is no information to retain.

    References
    ----------
    Charpentier and Bonald, "Tree sampling divergence", IJCAI 2019; with self-loops as in Zügner et al.,
    "End-to-end learning of probabilistic hierarchies on graphs", ICLR 2022.

    Examples
    --------
    >>> import arbora as ab
    >>> path = ab.similarity.graph(([0, 1, 2], [1, 2, 3]))
    >>> tree = ab.Tree([4, 4, 5, 5, 6, 6, -1], n_leaves=4)
    >>> round(ab.metrics.tree_sampling_divergence(tree, path), 4)
    0.0653
    """
    similarity = covering_similarity(similarity, tree)
    _refuse_negative(similarity)
    degrees, total = similarity.degrees, similarity.total
    if total <= 0:
        return float("nan")
    node_law = degrees / degrees.sum()
    p = similarity.cross(tree) / total
    q = meeting_mass(tree.parent, node_law, node_law**2)[tree.n_leaves :]
    met = p > 0
    divergence = float(p[met] @ np.log(p[met] / q[met]))
    if not normalize:
        return divergence
    information = edge_information(similarity)
    return divergence / information if information > 0 else float("nan")


def edge_information(similarity: Similarity) -> float:
    """Mutual information, in nats, of the two ends of a random edge."""
    degrees, total = similarity.degrees, similarity.total
    log_node_law = np.zeros(similarity.n_points)
    np.log(degrees / degrees.sum(), out=log_node_law, where=degrees > 0)
    of_loops = information_of(similarity.self_loops, total, 2 * log_node_law)
    return of_loops + similarity.information(log_node_law)


def _refuse_negative(similarity: Similarity) -> None:
    if not similarity.is_non_negative:
        raise ValueError(
            "tree_sampling_divergence needs similarities that are not negative: they are the probabilities of edges. "
            "Build a nearest-neighbor graph of vectors with arbora.similarity.knn(X)."
        )
