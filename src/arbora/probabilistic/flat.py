"""Flat clusters from an n-ary tree over a graph: exactly as many as asked for, keeping most information.

A tree with few internal nodes has wide splits, and small outlying branches near its root: a cut by height or
size then fails, or returns one giant and a few crumbs. Here wide splits are first resolved into binary ones, the
children most alike first. Then every way to cut the binary tree into k clusters is weighed by the tree sampling
divergence of what is left of the tree, and the best is found by dynamic programming. A branch may be left out of
the cut; its leaves then join the cluster to which most of their edges lead.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from arbora._base.jit import kernel
from arbora.linkages import graph_linkage
from arbora.probabilistic._tree_kernels import xlogy_ratio
from arbora.similarity.graph import GraphSimilarity, graph
from arbora.tree import Tree
from arbora.tree.pass_kernels import sum_to_root

LARGEST_TABLE = 50_000_000
SMALLEST_SHARE = 3  # a cluster has at least a third of the mean size, where that is possible


def flat_labels(tree: Tree, similarity: GraphSimilarity, n_clusters: int) -> np.ndarray:
    """Cluster of every leaf, numbered by first leaf.

    Examples
    --------
    >>> import arbora as ab
    >>> triangles = ab.similarity.graph(([0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3]))
    >>> star = ab.Tree([6] * 6 + [-1], n_leaves=6)
    >>> flat_labels(star, triangles, 2)
    array([0, 0, 0, 1, 1, 1])
    """
    binary = resolve(tree, similarity)
    if similarity.total <= 0 or n_clusters * binary.n_nodes > LARGEST_TABLE:
        return binary.replace(height=None).cut(n_clusters=n_clusters)
    shares = _shares(binary, similarity)
    smallest = binary.n_leaves // (SMALLEST_SHARE * n_clusters)
    cluster = np.full(binary.n_leaves, -1)
    while (cluster < 0).all():  # no such cut: smaller clusters are allowed
        cluster = _best_cut(binary.parent, binary.n_leaves, *shares, n_clusters, smallest)
        smallest //= 2
    cluster = _adopt(cluster, similarity)
    return np.unique(_by_first_leaf(cluster), return_inverse=True)[1]


def resolve(tree: Tree, similarity: GraphSimilarity) -> Tree:
    """Binary: the children of a wide node are joined like by like (Paris linkage of the edges between them)."""
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


def _join(children, left, right, weight, degree):
    """Merges of a node's children, as positions: two children need no linkage."""
    if len(children) < 3:
        return [(0, 1)] if len(children) == 2 else []
    position = np.argsort(children)
    ends = [position[np.searchsorted(children[position], side)] for side in (left, right)]
    edges = np.bincount(ends[0], weight, len(children)) + np.bincount(ends[1], weight, len(children))
    loops = np.arange(len(children))
    inside = np.maximum(degree[children] - edges, 0.0)  # so that the linkage sees each child's whole degree
    rows, cols = (np.concatenate([side, loops]) for side in ends)
    quotient = graph((rows, cols, np.concatenate([weight, inside])), n_points=len(children))
    tree = graph_linkage(quotient, "paris")
    return tree.child_index.reshape(-1, 2).tolist()


def _child_edges(tree, similarity):
    """Per edge, the two children of its LCA that it joins, and its weight."""
    csr = similarity.csr
    row = np.repeat(np.arange(similarity.n_points), np.diff(csr.indptr))
    once = row < csr.indices
    i, j = row[once], csr.indices[once].astype(np.int64)
    lca = tree.lca(i, j)
    return _below(tree.parent, i, lca), _below(tree.parent, j, lca), csr.data[once].astype(np.float64)


@kernel()
def _below(parent, node, ancestor):
    """Child of ``ancestor[e]`` on the way down to ``node[e]``."""
    out = node.copy()
    for e in range(out.shape[0]):
        while parent[out[e]] != ancestor[e]:
            out[e] = parent[out[e]]
    return out


def _shares(tree, similarity):
    """Per node, p and q of what meets at it, and of all that is below it (a self-loop lies in its leaf)."""
    n = tree.n_leaves
    loops = similarity.self_loops / similarity.total
    p_meet = np.append(loops, similarity.cross(tree) / similarity.total)
    p_meet[n:] -= np.bincount(tree.parent[:n], loops, minlength=tree.n_nodes)[n:]
    degree = np.append(similarity.degrees, np.zeros(tree.n_internal)) / similarity.degrees.sum()
    q_below = sum_to_root(tree.parent, degree) ** 2
    q_meet = q_below.copy()
    q_meet[n:] -= np.bincount(tree.parent[:-1], q_below[:-1], minlength=tree.n_nodes)[n:]
    return np.maximum(p_meet, 0.0), np.maximum(q_meet, 0.0), sum_to_root(tree.parent, p_meet), q_below


@kernel()
def _children(parent, n_leaves):
    """Two children of every node of a binary tree (-1 for leaves), and the number of leaves below."""
    size = np.zeros(parent.shape[0], dtype=np.int64)
    child = np.full((parent.shape[0], 2), -1, dtype=np.int64)
    for node in range(parent.shape[0]):
        size[node] += node < n_leaves
        above = parent[node]
        if above >= 0:
            size[above] += size[node]
            child[above, 1 if child[above, 0] >= 0 else 0] = node
    return child, size


@kernel()
def _best_cut(parent, n_leaves, p_meet, q_meet, p_below, q_below, n_clusters, smallest):
    """Node that stands for each leaf's cluster (-1: left out), in the best cut into exactly n_clusters.

    Clusters have at least `smallest` leaves; all -1 if there is no such cut.

    ``best[v, j]`` is the divergence below v with j clusters: v is one cluster; or its children share them, and
    what meets at v stands for itself; or one child has them all, and the other is lumped with what meets at v.
    """
    n_nodes = parent.shape[0]
    child, size = _children(parent, n_leaves)
    best = np.full((n_nodes, n_clusters + 1), -np.inf)
    share = np.zeros((n_nodes, n_clusters + 1), dtype=np.int64)
    for node in range(n_nodes):
        if size[node] >= smallest:
            best[node, 1] = xlogy_ratio(p_below[node], q_below[node])
        if node < n_leaves:
            continue
        left, right = child[node]
        here = xlogy_ratio(p_meet[node], q_meet[node])
        for a in range(1, min(size[left], n_clusters - 1) + 1):
            for b in range(1, min(size[right], n_clusters - a) + 1):
                value = here + best[left, a] + best[right, b]
                if value > best[node, a + b]:
                    best[node, a + b] = value
                    share[node, a + b] = a
        for side in range(2):
            kept, dropped = child[node, side], child[node, 1 - side]
            lump = xlogy_ratio(p_meet[node] + p_below[dropped], q_meet[node] + q_below[dropped])
            for j in range(2, min(size[kept], n_clusters) + 1):
                if lump + best[kept, j] > best[node, j]:
                    best[node, j] = lump + best[kept, j]
                    share[node, j] = -1 - side
    wanted = np.zeros(n_nodes, dtype=np.int64)
    cluster = np.full(n_nodes, -1, dtype=np.int64)
    if best[n_nodes - 1, n_clusters] == -np.inf:
        return cluster[:n_leaves]
    wanted[n_nodes - 1] = n_clusters
    for node in range(n_nodes - 1, -1, -1):
        if node < n_nodes - 1 and cluster[parent[node]] >= 0:
            cluster[node] = cluster[parent[node]]
        elif wanted[node] == 1:
            cluster[node] = node
        elif wanted[node] > 1:
            a = share[node, wanted[node]]
            if a < 0:
                wanted[child[node, -1 - a]] = wanted[node]
            else:
                wanted[child[node, 0]] = a
                wanted[child[node, 1]] = wanted[node] - a
    return cluster[:n_leaves]


def _adopt(cluster, similarity):
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
    return names[label]


def _by_first_leaf(cluster):
    """Clusters named by the smallest leaf in them, so that they sort in that order."""
    _, first, inverse = np.unique(cluster, return_index=True, return_inverse=True)
    return first[inverse]
