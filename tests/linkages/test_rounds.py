"""Agglomeration in rounds: the tree of merging one pair after the other, on any number of threads."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from linkage_definitions import assert_greedy, random_weights

import arbora as ab
from arbora.linkages import _round_kernels as kernels
from arbora.linkages import graph as graph_module
from arbora.linkages import rounds
from arbora.linkages.graph import graph_linkage


@pytest.fixture(autouse=True)
def rounds_to_the_end(monkeypatch):
    """Every graph is large, and rounds go on until nothing merges."""
    monkeypatch.setattr(graph_module, "LARGE", 2)
    monkeypatch.setattr(rounds, "FEW_CLUSTERS", 1)
    monkeypatch.setattr(rounds, "FEWEST_MERGED", 10**9)


def rows_of(W):
    csr = sp.csr_array(W)
    length = np.diff(csr.indptr).astype(np.int32)
    return kernels.Rows(csr.indptr[:-1].astype(np.int64), length, csr.indices.astype(np.int32), csr.data)


@pytest.mark.parametrize("method", ["average", "paris"])
def test_rounds_give_the_tree_of_chains(method, monkeypatch):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(20, 200))
        graph = ab.similarity.graph(sp.csr_array(random_weights(n, 8 / n, rng)))
        in_rounds = graph_linkage(graph, method, n_jobs=2)
        monkeypatch.setattr(graph_module, "LARGE", 10**9)
        one_by_one = graph_linkage(graph, method)
        monkeypatch.setattr(graph_module, "LARGE", 2)
        assert in_rounds.same_topology(one_by_one)
        np.testing.assert_allclose(in_rounds.height, one_by_one.height, rtol=1e-12)


@given(st.integers(2, 12), st.sampled_from([0.2, 0.5, 1.0]), st.integers(0, 10**6))
def test_every_merge_is_greedy_where_weights_are_tied(n, density, seed):
    W = random_weights(n, density, np.random.default_rng(seed), whole=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graph_module, "LARGE", 2)
        patch.setattr(rounds, "FEW_CLUSTERS", 1)
        patch.setattr(rounds, "FEWEST_MERGED", 10**9)
        assert_greedy(graph_linkage(ab.similarity.graph(sp.csr_array(W))), W, "average")


def test_rounds_that_merge_little_hand_over_to_chains(monkeypatch):
    graph = ab.similarity.graph(sp.csr_array(random_weights(150, 0.05, np.random.default_rng(3))))
    whole = graph_linkage(graph)
    for few in (20, 60, 140):
        monkeypatch.setattr(rounds, "FEW_CLUSTERS", few)
        assert graph_linkage(graph).same_topology(whole)


def test_a_large_star_takes_no_quadratic_time(monkeypatch):
    monkeypatch.setattr(rounds, "FEWEST_MERGED", 100)
    leaves = np.arange(1, 50_000)
    star = graph_linkage(ab.similarity.graph((np.zeros(len(leaves), dtype=int), leaves)))
    assert star.depths.max() == len(leaves)


def test_the_tree_does_not_depend_on_threads_ties_included():
    graph = ab.similarity.graph(sp.csr_array(random_weights(500, 0.02, np.random.default_rng(0), whole=True)))
    trees = [graph_linkage(graph, n_jobs=n_jobs) for n_jobs in (1, 2, 3)]
    assert all(np.array_equal(tree.parent, trees[0].parent) for tree in trees)
    assert all(np.array_equal(tree.height, trees[0].height) for tree in trees)


def test_the_tree_does_not_depend_on_the_order_in_memory():
    rng = np.random.default_rng(0)
    graph = ab.similarity.graph(sp.csr_array(random_weights(300, 0.02, rng)))
    before = graph_linkage(graph)
    shuffled = rng.permutation(300)
    graph.nearby_order = lambda: shuffled
    assert graph_linkage(graph, n_jobs=2).same_topology(before)


def nearest_by_definition(W, mass, clusters, c):
    others = np.flatnonzero(W[c])
    value = [W[c, o] / max(mass[c], mass[o]) / min(mass[c], mass[o]) for o in others]
    best = [o for o, v in zip(others, value) if v == max(value)]
    oldest = min(max(clusters.born[c], clusters.born[o]) for o in best)
    return [o for o in best if max(clusters.born[c], clusters.born[o]) == oldest]


@given(st.integers(0, 10**6))
def test_the_nearest_neighbor_is_the_oldest_of_the_most_similar(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    W = random_weights(n, 0.6, rng, whole=True)
    mass = rng.integers(1, 4, n).astype(float)
    clusters = kernels.Clusters(mass, rng.permutation(n), rng.integers(0, 3, n))
    near, closeness = np.full(n, kernels.NOTHING), np.zeros(n)
    kernels.find_nearest(rows_of(W), clusters, 0, n, near, closeness)
    for c in range(n):
        if W[c].any():
            assert near[c] in nearest_by_definition(W, mass, clusters, c)
            assert closeness[c] == pytest.approx(W[c, near[c]] / (mass[c] * mass[near[c]]))
        else:
            assert near[c] == kernels.NOTHING


@given(st.integers(0, 10**6))
def test_contracted_rows_are_the_sums_of_blocks_and_exactly_symmetric(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 14))
    W = random_weights(n, 0.7, rng)
    near = np.full(n, -1)
    pairs = rng.permutation(n)[: 2 * int(rng.integers(0, n // 2 + 1))].reshape(-1, 2)
    near[pairs[:, 0]], near[pairs[:, 1]] = pairs[:, 1], pairs[:, 0]
    one, other, code = rounds._number_pairs(near, near >= 0)
    merged = rounds._contracted(rows_of(W), one, other, code, rounds.Rooms(W.shape[0]), 2)
    dense = np.zeros((len(one), len(one)))
    for c in range(len(one)):
        row = slice(merged.start[c], merged.start[c] + merged.length[c])
        dense[c, merged.far[row]] = merged.weight[row]
    member = np.zeros((len(one), n))
    member[code >> 1, np.arange(n)] = 1
    expected = member @ W @ member.T
    np.fill_diagonal(expected, 0)
    np.testing.assert_allclose(dense, expected, atol=1e-12)
    assert np.array_equal(dense, dense.T)


def test_sums_of_one_round_do_not_show_in_the_next():
    rng = np.random.default_rng(0)
    W = random_weights(30, 0.5, rng)
    rooms = rounds.Rooms(30)
    one, other, code = rounds._number_pairs(np.full(30, -1), np.zeros(30, dtype=bool))
    first = rounds._contracted(rows_of(W), one, other, code, rooms, 1)
    again = rounds._contracted(rows_of(W), one, other, code, rooms, 1)
    assert np.array_equal(first.far, again.far)
    assert np.array_equal(first.weight, again.weight)
