"""Which clusters of a cut could well be one."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from arbora._base.memory import refuse_if_too_large
from arbora._base.params import check_whole
from arbora._base.types import Floats, Ints
from arbora.search.components import component_nodes
from arbora.similarity import as_similarity
from arbora.similarity.protocol import Similarity
from arbora.tree import Tree

# Clusters whose similarities are summed in one pass.
_BLOCK = 64


class MergeSuggestion(NamedTuple):
    """Two clusters that could be one.

    Attributes
    ----------
    labels : tuple of int
        The two clusters.
    nodes : tuple of int
        Their nodes, without small branches that joined from elsewhere; ``tree.merge(nodes)`` makes them one.
    times_chance : float
        Similarity between the two, in multiples of what chance would give clusters of their total similarity; the
        suggestions are in this order.
    share_of_inside : float
        The same in multiples of the mean similarity inside the two: near 1 where nothing divides them.
    loss : float
        What the cut says less about the similarity after the join, in nats: clusters are worth ``p ln(p / q)``, as in
        ``Tree.cut(by="information")``.
    are_siblings : bool
        Whether no other cluster lies where the tree joins the two.
    reason : str
        All of this in words.

    Examples
    --------
    >>> import arbora as ab
    >>> path = ab.similarity.graph(([0, 1], [1, 2]))
    >>> ab.insight.merge_suggestions(ab.Tree.from_newick("(0,(1,2));"), path, [0, 1, 2])[0].labels
    (0, 1)
    """

    labels: tuple[int, int]
    nodes: tuple[int, int]
    times_chance: float
    share_of_inside: float
    loss: float
    are_siblings: bool
    reason: str


def merge_suggestions(
    tree: Tree, similarity: Any, labels: ArrayLike, *, n_suggestions: int = 5
) -> list[MergeSuggestion]:
    """Pairs of clusters that are most alike, with the reason.

    Clusters are compared as heights compare joins: the similarity between two, over what chance would give clusters of
    their total similarity. So neither large nor small clusters come first, and a suggestion says where the tree would
    join the two if it could. All pairs are compared, siblings or not, so that a topic that ended up in two places of
    the tree is found.

    Parameters
    ----------
    tree : Tree
    similarity : similarity, sparse adjacency or networkx graph
        What the tree was built on, without negative values.
    labels : array-like of int, shape (n_leaves,)
        The clusters, for instance ``tree.cut(20)`` or ``TreeClustering.labels_``; leaves labeled -1 belong to none.
    n_suggestions : int
        At most this many; pairs without any similarity are none.

    Returns
    -------
    list of MergeSuggestion
        The most alike first.

    Examples
    --------
    >>> import arbora as ab
    >>> three_triangles = [0, 0, 1, 3, 3, 4, 6, 6, 7], [1, 2, 2, 4, 5, 5, 7, 8, 8]
    >>> bridges = [0, 1, 2, 5], [3, 4, 5, 6]  # three of them between the first two
    >>> graph = ab.similarity.graph(tuple(a + b for a, b in zip(three_triangles, bridges)))
    >>> tree = ab.Tree.from_newick("(((0,1,2),(3,4,5)),(6,7,8));")
    >>> best = ab.insight.merge_suggestions(tree, graph, tree.cut(3))[0]
    >>> best.labels, best.are_siblings
    ((0, 1), True)
    >>> best.reason
    '0.87 times as alike as chance, 50% of what they are inside; siblings in the tree'
    """
    similarity = as_similarity(similarity, "similarity")
    if similarity.n_points != tree.n_leaves:
        raise ValueError(
            f"similarity has {similarity.n_points} points, but the tree has {tree.n_leaves} leaves."
        )
    if not similarity.is_non_negative:
        raise ValueError(
            "similarity may be negative, and what chance would give is then not defined. "
            "Use similarity.knn(X), or similarity.cosine(X, affine=True)."
        )
    given = np.asarray(labels)
    if given.shape != (tree.n_leaves,) or given.dtype.kind not in "iu" or given.max() < 0:
        raise ValueError(
            f"labels must hold one whole number per leaf, {tree.n_leaves}, and at least one cluster. "
            f"Got shape {given.shape}, dtype {given.dtype}."
        )
    n_suggestions = check_whole(n_suggestions, "n_suggestions")
    n_clusters = int(given.max()) + 1
    nodes = _nodes(tree, given, n_clusters)
    between = _between(similarity, given, n_clusters)
    loss, ratio, share = _losses(between)
    i, j = np.triu_indices(n_clusters, k=1)
    i, j = i[between[i, j] > 0], j[between[i, j] > 0]
    best = np.argsort(-ratio[i, j], kind="stable")[:n_suggestions]
    return [
        _suggestion(tree, nodes, (int(a), int(b)), loss[a, b], ratio[a, b], share[a, b])
        for a, b in zip(i[best], j[best], strict=True)
    ]


def _between(similarity: Similarity, labels: Ints, n_clusters: int) -> Floats:
    """Similarity between every two clusters; on the diagonal that inside a cluster, both ways and with self-loops."""
    refuse_if_too_large(
        64 * n_clusters * n_clusters, f"A table of {n_clusters:,} x {n_clusters:,} clusters", "Ask for fewer."
    )
    table, known = np.zeros((n_clusters, n_clusters)), labels >= 0
    for first in range(0, n_clusters, _BLOCK):
        block = np.arange(first, min(first + _BLOCK, n_clusters))
        sums = similarity.multiply((labels[:, None] == block).astype(np.float64))
        for column, cluster in enumerate(block):
            table[:, cluster] = np.bincount(labels[known], sums[known, column], minlength=n_clusters)
    return table


def _losses(between: Floats) -> tuple[Floats, Floats, Floats]:
    """For every two clusters: information lost by a join, similarity over chance, and over that inside."""
    volume = between.sum(axis=1)
    total = max(float(volume.sum()), np.finfo(np.float64).tiny)
    p, q = between / total, np.multiply.outer(volume / total, volume / total)
    inside, expected = np.diagonal(p), np.diagonal(q)
    own = _information(inside, expected)
    joined = _information(inside[:, None] + inside + 2 * p, expected[:, None] + expected + 2 * q)
    ratio = np.divide(p, q, out=np.zeros_like(p), where=q > 0)
    both = np.divide(
        inside[:, None] + inside, expected[:, None] + expected, out=np.zeros_like(p),
        where=expected[:, None] + expected > 0,
    )  # fmt: skip
    share = np.divide(ratio, both, out=np.full_like(p, np.inf), where=both > 0)
    return own[:, None] + own - joined, ratio, share


def _information(p: Floats, q: Floats) -> Floats:
    """What clusters keep, ``p ln(p / q)``; 0 where there is nothing."""
    quotient = np.divide(p, q, out=np.ones_like(p), where=(p > 0) & (q > 0))
    return np.asarray(p * np.log(quotient))


def _nodes(tree: Tree, labels: Ints, n_clusters: int) -> Ints:
    """The node of each cluster: of the highest that hold nothing else the largest; -1 for a number without members."""
    pure = component_nodes(tree, np.where(labels >= 0, labels, n_clusters))
    owner = labels[tree.leaf_order[tree.leaf_start[pure]]]
    nodes = np.full(n_clusters, -1, dtype=np.int64)
    # the last one written is the largest
    for node, label in sorted(
        zip(pure.tolist(), owner.tolist(), strict=True), key=lambda pair: tree.sizes[pair[0]]
    ):
        if label >= 0:
            nodes[label] = node
    return nodes


def _suggestion(
    tree: Tree, nodes: Ints, labels: tuple[int, int], loss: float, ratio: float, share: float
) -> MergeSuggestion:
    a, b = int(nodes[labels[0]]), int(nodes[labels[1]])
    start = tree.leaf_start
    known = nodes[nodes >= 0]
    above = tree.lca(int(tree.leaf_order[start[a]]), int(tree.leaf_order[start[b]]))
    inside = (start[known] >= start[above]) & (start[known] < start[above] + tree.sizes[above])
    are_siblings = int(inside.sum()) == 2
    beside = f", {share:.0%} of what they are inside" if np.isfinite(share) else ""
    place = "siblings in the tree" if are_siblings else "in different places of the tree"
    reason = f"{ratio:.2g} times as alike as chance{beside}; {place}"
    return MergeSuggestion(labels, (a, b), float(ratio), float(share), float(loss), are_siblings, reason)
