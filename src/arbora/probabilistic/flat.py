"""Flat clusters from an n-ary tree over a graph: exactly as many as asked for, keeping most information.

A tree with few internal nodes has wide splits, and small outlying branches near its root: a cut by height or
size then fails, or returns one giant cluster and a few crumbs. Here wide splits are first resolved into binary ones,
the most similar children first. Then every way to cut the binary tree into k clusters is weighed by the tree sampling
divergence of what is left of the tree, and the best is found by dynamic programming. A branch may be left out of
the cut; its leaves then join the cluster to which most of their edges lead.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from arbora._base.types import Floats, Ints
from arbora.linkages import graph_linkage
from arbora.probabilistic._flat_kernels import best_cut, child_towards
from arbora.similarity.graph import GraphSimilarity, graph
from arbora.tree import Tree
from arbora.tree.pass_kernels import meeting_mass, sum_to_root

LARGEST_TABLE = 50_000_000
# a cluster has at least a third of the mean size, where that is possible
SMALLEST_SHARE = 3


def flat_labels(tree: Tree, similarity: GraphSimilarity, n_clusters: int) -> Ints:
    """Cluster of every leaf, numbered by first leaf.

    Examples
    --------
    >>> import arbora as ab
    >>> triangles = ab.similarity.graph(([0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3]))
    >>> star = ab.Tree([6] * 6 + [-1], n_leaves=6)
    >>> flat_labels(star, triangles, 2)
    array([0, 0, 0, 1, 1, 1])
    """
    if tree.n_leaves == 1:
        return np.zeros(1, dtype=np.int64)
    binary = resolve(tree, similarity)
    if similarity.total <= 0 or n_clusters * binary.n_nodes > LARGEST_TABLE:
        return binary.replace(height=None).cut(n_clusters=n_clusters, min_size=1)
    shares = _shares(binary, similarity)
    smallest = binary.n_leaves // (SMALLEST_SHARE * n_clusters)
    cluster = np.full(binary.n_leaves, -1)
    # where there is no such cut, smaller clusters are allowed
    while (cluster < 0).all():
        cluster = best_cut(binary.parent, binary.n_leaves, *shares, n_clusters, smallest)
        smallest //= 2
    cluster = _adopt(cluster, similarity)
    labels: Ints = np.unique(_by_first_leaf(cluster), return_inverse=True)[1]
    return labels


def cut_labels(tree: Tree, similarity: GraphSimilarity, n_clusters: int) -> Ints:
    """Cluster of every leaf in the cut of the tree that keeps most information, into the nearest number it offers.

    Examples
    --------
    >>> import arbora as ab
    >>> triangles = ab.similarity.graph(([0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3]))
    >>> cut_labels(ab.Tree.from_newick("((0,1,2),(3,4,5));"), triangles, 2)
    array([0, 0, 0, 1, 1, 1])
    """
    if similarity.total <= 0:
        return tree.cut(n_clusters, exact="nearest")
    return tree.cut(n_clusters, by="information", similarity=similarity, exact="nearest")


def resolve(tree: Tree, similarity: GraphSimilarity) -> Tree:
    """Binary: the most similar children of a wide node are joined first (Paris linkage of the edges between them)."""
    if tree.is_binary or tree.n_leaves < 3:
        return tree
    n = tree.n_leaves
    left, right, weight = _child_edges(tree, similarity)
    order = np.argsort(tree.parent[left], kind="stable")
    left, right, weight = left[order], right[order], weight[order]
    bounds = np.searchsorted(tree.parent[left], np.arange(n, tree.n_nodes + 1))
    degree = sum_to_root(tree.parent, np.append(similarity.degrees, np.zeros(tree.n_internal)))
    merges: list[tuple[int, int]] = []
    number = np.arange(tree.n_nodes)
    for node in range(n, tree.n_nodes):
        children = tree.children(node)
        between = slice(bounds[node - n], bounds[node - n + 1])
        pairs = _join(children, left[between], right[between], weight[between], degree)
        joined = number[children].tolist()
        for a, b in pairs:
            merges.append((joined[a], joined[b]))
            joined.append(n + len(merges) - 1)
        number[node] = joined[-1]
    return Tree.from_merges(merges, n)


def _join(children: Ints, left: Ints, right: Ints, weight: Floats, degree: Floats) -> list[tuple[int, int]]:
    """Merges of a node's children, as positions: two children need no linkage."""
    if len(children) < 3:
        return [(0, 1)] if len(children) == 2 else []
    position = np.argsort(children)
    ends = [position[np.searchsorted(children[position], side)] for side in (left, right)]
    edges = np.bincount(ends[0], weight, len(children)) + np.bincount(ends[1], weight, len(children))
    loops = np.arange(len(children))
    # so that the linkage sees each child's whole degree
    inside = np.maximum(degree[children] - edges, 0.0)
    rows, cols = (np.concatenate([side, loops]) for side in ends)
    quotient = graph((rows, cols, np.concatenate([weight, inside])), n_points=len(children))
    tree = graph_linkage(quotient, "paris")
    return [(int(a), int(b)) for a, b in tree.child_index.reshape(-1, 2)]


def _child_edges(tree: Tree, similarity: GraphSimilarity) -> tuple[Ints, Ints, Floats]:
    """Per edge, the two children of its LCA that it joins, and its weight."""
    csr = similarity.csr
    row = np.repeat(np.arange(similarity.n_points), np.diff(csr.indptr))
    once = row < csr.indices
    i, j = row[once], csr.indices[once].astype(np.int64)
    lca = tree.lca(i, j)
    return (
        child_towards(tree.parent, i, lca),
        child_towards(tree.parent, j, lca),
        csr.data[once].astype(np.float64),
    )


def _shares(tree: Tree, similarity: GraphSimilarity) -> tuple[Floats, Floats, Floats, Floats]:
    """Per node, p and q of what meets at it, and of all that is below it (a self-loop lies in its leaf)."""
    n = tree.n_leaves
    # made without self-loops instead of taking them out again, which would leave rounding where they are heavy
    between = GraphSimilarity(similarity.csr, np.zeros(n))
    p_meet = np.append(similarity.self_loops, between.cross(tree)) / similarity.total
    law = similarity.degrees / similarity.degrees.sum()
    below = sum_to_root(tree.parent, np.append(law, np.zeros(tree.n_internal)))
    q_meet = meeting_mass(tree.parent, law, np.zeros(n))
    q_meet[:n] = law**2
    return p_meet, q_meet, sum_to_root(tree.parent, p_meet), below**2


def _adopt(cluster: Ints, similarity: GraphSimilarity) -> Ints:
    """Leaves left out join the cluster that most of their edges lead to, relative to its degree."""
    names, index = np.unique(cluster[cluster >= 0], return_inverse=True)
    label = np.full(len(cluster), -1, dtype=np.int64)
    label[cluster >= 0] = index
    while (label < 0).any():
        known = np.flatnonzero(label >= 0)
        member = sp.csr_array((np.ones(len(known)), (known, label[known])), shape=(len(label), len(names)))
        volume = np.maximum(similarity.degrees @ member, 1e-300)
        ties = (similarity.csr[np.flatnonzero(label < 0)] @ member).toarray() / volume
        open_leaves, best = np.flatnonzero(label < 0), ties.argmax(axis=1)
        reached = ties.max(axis=1) > 0
        if not reached.any():
            label[open_leaves] = np.bincount(label[known]).argmax()
        label[open_leaves[reached]] = best[reached]
    named: Ints = names[label]
    return named


def _by_first_leaf(cluster: Ints) -> Ints:
    """Clusters named by the smallest leaf in them, so that they sort in that order."""
    _, first, inverse = np.unique(cluster, return_index=True, return_inverse=True)
    return np.asarray(first[inverse])
