"""Random trees for hypothesis, and the plain definitions that fast code is tested against."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from arbora import Tree


def random_tree(n_leaves, rng, *, max_branching=2, unary=0.0):
    """Merge random roots until one is left; `unary` is the chance of an extra single-child node."""
    roots = list(range(n_leaves))
    parent = [-1] * n_leaves

    def join(members):
        node = len(parent)
        parent.append(-1)
        for member in members:
            parent[member] = node
        return node

    while len(roots) > 1:
        k = min(len(roots), int(rng.integers(2, max_branching + 1)))
        picked = [roots.pop(int(rng.integers(len(roots)))) for _ in range(k)]
        node = join(picked)
        if rng.random() < unary:
            node = join([node])
        roots.append(node)
    return Tree(parent, n_leaves)


def chain(n_leaves):
    """The deepest binary tree: leaf k+1 joins the tree of the first k+1 leaves."""
    inner = np.arange(n_leaves, 2 * n_leaves - 1)
    parent = np.concatenate([[n_leaves], inner, inner[1:], [-1]])
    return Tree(parent, n_leaves)


@st.composite
def trees(draw, min_leaves=1, max_leaves=12, max_branching=4, unary=0.0, heights=False):
    n_leaves = draw(st.integers(min_leaves, max_leaves))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    tree = random_tree(n_leaves, rng, max_branching=draw(st.integers(2, max_branching)), unary=unary)
    if heights:
        step = rng.random(tree.n_nodes) + 0.1
        height = np.zeros(tree.n_nodes)
        for node in range(tree.n_nodes):
            above = tree.parent[node]
            if above >= 0:
                height[above] = max(height[above], height[node] + step[above])
        tree = tree.replace(height=height)
    return tree


def binary_trees(min_leaves=1, max_leaves=12, **options):
    return trees(min_leaves=min_leaves, max_leaves=max_leaves, max_branching=2, **options)


def leaf_sets(tree):
    """The set of leaves below every node, by climbing from each leaf."""
    below = [set() for _ in range(tree.n_nodes)]
    for leaf in range(tree.n_leaves):
        node = leaf
        while node >= 0:
            below[node].add(leaf)
            node = tree.parent[node]
    return below


def lca_by_definition(tree, i, j):
    above_i = [i, *tree.ancestors(i)]
    above_j = {j, *tree.ancestors(j)}
    return next(node for node in above_i if node in above_j)


def lca_matrix(tree):
    """LCA of every pair of leaves, by definition."""
    return np.array(
        [[lca_by_definition(tree, i, j) for j in range(tree.n_leaves)] for i in range(tree.n_leaves)]
    )


def clades(tree):
    """The leaf sets of size two or more, one for any number of nodes that have it."""
    return {frozenset(below) for below in leaf_sets(tree)[tree.n_leaves :] if len(below) > 1}


def clusters(labels):
    """A flat clustering as a set of leaf sets."""
    return {frozenset(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)}


def contracted(tree, node):
    """Without one internal node: its children go to its parent."""
    parent = [int(p) for p in tree.parent]
    parent = [parent[node] if p == node else p for p in parent]
    del parent[node]
    return Tree([p - (p > node) for p in parent], tree.n_leaves)


def random_binary_parents(n_leaves, seed=0):
    """Parents of a large random binary tree, made quickly: pairs of a shuffled queue join in rounds."""
    rng = np.random.default_rng(seed)
    parent = np.full(2 * n_leaves - 1, -1, dtype=np.int64)
    roots, made = rng.permutation(n_leaves), n_leaves
    while len(roots) > 1:
        n_pairs = max(len(roots) // 3, 1)  # two thirds join in a round, so that depths differ
        picked, waiting = roots[: 2 * n_pairs], roots[2 * n_pairs :]
        joined = made + np.arange(n_pairs)
        parent[picked] = np.repeat(joined, 2)
        made += n_pairs
        roots = rng.permutation(np.concatenate([joined, waiting]))
    return parent


def insert_above(tree, node):
    """The tree with one more leaf (number n_leaves) on the edge above a node."""
    n = tree.n_leaves
    old = np.where(np.arange(tree.n_nodes) < n, np.arange(tree.n_nodes), np.arange(tree.n_nodes) + 1)
    parent = np.full(tree.n_nodes + 2, -1)
    parent[old] = np.where(tree.parent >= 0, old[tree.parent], -1)
    new = tree.n_nodes + 1
    parent[new] = parent[old[node]]
    parent[old[node]] = parent[n] = new
    return Tree.from_parents(parent, n + 1, sort=True)


def steepest_rise_by_definition(tree, cross):
    """Of each node, the most cross weight per added leaf that is gathered by going up some way; 0 for the root."""
    rise = np.zeros(tree.n_nodes)
    for node in range(tree.n_nodes - 1):
        gathered, slopes = 0.0, []
        for above in tree.ancestors(node):
            gathered += cross[above - tree.n_leaves]
            slopes.append(gathered / (tree.sizes[above] - tree.sizes[node]))
        rise[node] = max(slopes)
    return rise
