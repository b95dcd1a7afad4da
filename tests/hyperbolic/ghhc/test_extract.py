"""Extraction: every choice of parents gives a valid tree that holds the partition of the data by parent."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from arbora.hyperbolic.ghhc.extract import extract_tree


def choices(seed, n_points=9, n_nodes=7):
    rng = np.random.default_rng(seed)
    rank = rng.permutation(n_nodes)
    node_of_rank = np.argsort(rank)
    node_parent = np.array([node_of_rank[rng.integers(r)] if (r := rank[m]) else -1 for m in range(n_nodes)])
    return rng.integers(n_nodes, size=n_points), node_parent


def descendants_by_definition(point_parent, node_parent, node):
    def is_below(m):
        while m >= 0:
            if m == node:
                return True
            m = node_parent[m]
        return False

    return {i for i, p in enumerate(point_parent) if is_below(p)}


@given(st.integers(0, 100_000))
def test_the_clusters_of_the_tree_are_those_of_the_nodes_and_of_their_own_data(seed):
    point_parent, node_parent = choices(seed)
    tree = extract_tree(point_parent, node_parent).tree
    found = {frozenset(tree.leaves(v).tolist()) for v in range(tree.n_leaves, tree.n_nodes)}
    below = {frozenset(descendants_by_definition(point_parent, node_parent, m)) for m in range(7)}
    own = {frozenset(np.flatnonzero(point_parent == m).tolist()) for m in range(7)}
    assert found == {cluster for cluster in below | own if len(cluster) > 1}


@given(st.integers(0, 100_000))
def test_no_node_of_the_tree_is_unused_or_has_one_child(seed):
    tree = extract_tree(*choices(seed)).tree
    children = np.bincount(tree.parent[:-1], minlength=tree.n_nodes)
    assert (children[tree.n_leaves :] >= 2).all()


@given(st.integers(0, 100_000))
def test_tree_nodes_stand_for_the_nodes_of_the_model(seed):
    point_parent, node_parent = choices(seed)
    found = extract_tree(point_parent, node_parent)
    for m, node in enumerate(found.tree_node):
        below = descendants_by_definition(point_parent, node_parent, m)
        assert below == (set() if node < 0 else set(found.tree.leaves(node).tolist()))


@given(st.integers(0, 100_000))
def test_support_multiplies_along_what_is_contracted(seed):
    point_parent, node_parent = choices(seed)
    rng = np.random.default_rng(seed)
    point_support, node_support = rng.random(9), rng.random(7)
    node_support[node_parent < 0] = 1.0
    tree = extract_tree(point_parent, node_parent, None, point_support, node_support).tree
    for leaf in range(9):
        expected, node = point_support[leaf], point_parent[leaf]
        while node >= 0 and descendants_by_definition(point_parent, node_parent, node) == {leaf}:
            expected *= node_support[node]
            node = node_parent[node]
        assert np.isclose(tree.support[leaf], expected)


def test_one_point_alone_is_a_tree():
    assert extract_tree(np.array([1]), np.array([1, -1])).tree.n_nodes == 1


def test_chains_of_thousands_of_nodes_are_no_problem():
    n = 5000
    tree = extract_tree(np.arange(n), np.arange(-1, n - 1)).tree
    assert tree.n_internal == n - 1
