"""Flat clusters of n-ary trees."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arbora as ab
from arbora.probabilistic import flat, large_hsbm
from arbora.probabilistic.start import random_tree


def random_graph(rng, n):
    rows, cols = np.triu_indices(n)
    some = rng.random(len(rows)) < 0.4
    some[1] = True
    return ab.similarity.graph((rows[some], cols[some], rng.random(some.sum()) + 0.1), n_points=n)


def clades(tree):
    return {frozenset(tree.leaves(node).tolist()) for node in range(tree.n_leaves, tree.n_nodes)}


@given(st.integers(0, 10_000), st.integers(2, 14), st.integers(1, 6))
@settings(max_examples=40, deadline=None)
def test_resolving_keeps_every_cluster_of_the_tree(seed, n, k):
    rng = np.random.default_rng(seed)
    tree = random_tree(n, k, rng)
    binary = flat.resolve(tree, random_graph(rng, n))
    assert binary.is_binary
    assert clades(tree) <= clades(binary)


@given(st.integers(0, 10_000), st.integers(2, 14), st.integers(1, 6))
@settings(max_examples=40, deadline=None)
def test_there_are_exactly_as_many_clusters_as_asked_for(seed, n, k):
    rng = np.random.default_rng(seed)
    tree, graph = random_tree(n, k, rng), random_graph(rng, n)
    for n_clusters in range(1, n + 1):
        labels = flat.flat_labels(tree, graph, n_clusters)
        assert len(np.unique(labels)) == n_clusters
        first = [np.flatnonzero(labels == label)[0] for label in range(n_clusters)]
        assert first == sorted(first)


def value_by_definition(tree, p_meet, q_meet, p_below, q_below, chosen):
    """Divergence of the tree above the chosen nodes; a branch without any is lumped with the node it hangs from."""

    def part(p, q):
        return p * np.log(p / q) if p > 0 and q > 0 else 0.0

    def holds(node):
        return any(set(tree.leaves(c)) <= set(tree.leaves(node)) for c in chosen)

    def value(node):
        if node in chosen:
            return part(p_below[node], q_below[node])
        left, right = tree.children(node)
        if holds(left) and holds(right):
            return part(p_meet[node], q_meet[node]) + value(left) + value(right)
        kept, dropped = (left, right) if holds(left) else (right, left)
        return part(p_meet[node] + p_below[dropped], q_meet[node] + q_below[dropped]) + value(kept)

    return value(tree.root)


def whole_branches(tree, chosen):
    """Whether no cluster could be larger: beside each lies another."""
    members = [set(tree.leaves(node).tolist()) for node in chosen]
    for node in chosen:
        beside = set(tree.leaves(tree.parent[node]).tolist()) - set(tree.leaves(node).tolist())
        if not any(other <= beside for other in members):
            return False
    return True


@pytest.mark.parametrize("seed", range(6))
def test_the_cut_is_the_best_of_all(seed):
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, 6)
    tree = flat.resolve(random_tree(6, 3, rng), graph)
    shares = flat._shares(tree, graph)
    for n_clusters in (2, 3):
        best = -np.inf
        for chosen in itertools.combinations(range(tree.n_nodes), n_clusters):
            leaves = [set(tree.leaves(node).tolist()) for node in chosen]
            if any(a & b for a, b in itertools.combinations(leaves, 2)) or not whole_branches(tree, chosen):
                continue
            best = max(best, value_by_definition(tree, *shares, chosen))
        cluster = flat.best_cut(tree.parent, 6, *shares, n_clusters, 0)
        found = tuple(np.unique(cluster[cluster >= 0]).tolist())
        assert value_by_definition(tree, *shares, found) == pytest.approx(best)


def test_outlying_branches_do_not_use_up_the_clusters():
    rows, cols = [], []
    for block in (range(10), range(10, 20)):
        for i, j in itertools.combinations(block, 2):
            rows.append(i)
            cols.append(j)
    graph = ab.similarity.graph((np.array([*rows, 0, 20]), np.array([*cols, 20, 21])))
    outlier = ab.Tree([22] * 10 + [23] * 10 + [25, 25] + [24, 24, 25, -1], n_leaves=22)
    labels = flat.flat_labels(outlier, graph, 2)
    assert labels.tolist() == [0] * 10 + [1] * 10 + [0, 0]


def test_the_true_tree_gives_the_true_levels():
    hsbm = large_hsbm(0)
    graph = ab.similarity.graph(hsbm.adjacency)
    for level in hsbm.levels:
        assert flat.flat_labels(hsbm.tree, graph, level.max() + 1).tolist() == level.tolist()


def test_edges_beside_heavy_self_loops_keep_their_share():
    graph = ab.similarity.graph(([0, 0, 1, 2, 2], [0, 1, 2, 2, 3], [1e12, 1e-12, 3e-12, 1e12, 5e-12]))
    tree = ab.Tree([4, 4, 5, 5, 6, 6, -1], n_leaves=4)
    p_meet = flat._shares(tree, graph)[0]
    np.testing.assert_allclose(p_meet[4:] * graph.total, [1e-12, 5e-12, 3e-12], rtol=1e-9)
