"""Louvain's method against scikit-network, which runs the same moves in one uninterruptible call."""

import data_sets
import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from trees import leaf_sets

import arbora as ab
from arbora.linkages import modularity
from arbora.linkages.levelwise import nested_louvain
from arbora.linkages.modularity import first_communities, merged_communities, nested_communities
from arbora.tree import Tree


def drawn_graph(seed, n=80, loops=False):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n, n)) < rng.choice([0.02, 0.05, 0.2]), 0 if loops else 1)
    weight = upper * (rng.random((n, n)) if seed % 2 else rng.integers(1, 3, (n, n)))
    return sp.csr_array(weight + np.triu(weight, 1).T, dtype=float)


@pytest.mark.parametrize("seed", range(12))
def test_first_communities_are_those_of_scikit_network_in_calls_of_any_length(seed, monkeypatch):
    from sknetwork.clustering import Louvain

    adjacency, resolution = drawn_graph(seed, loops=True), [0.5, 1.0, 2.0][seed % 3]
    model = Louvain(resolution=resolution, n_aggregations=1, return_probs=False)
    expected = model.fit_predict(sp.csr_matrix(adjacency))
    for length in (1, 50, 10**6):
        monkeypatch.setattr(modularity, "_ENTRIES_PER_CALL", length)
        np.testing.assert_array_equal(first_communities(adjacency, resolution), expected)


@pytest.mark.parametrize("seed", range(12))
def test_merged_communities_are_those_of_scikit_network(seed):
    from sknetwork.clustering import Louvain

    adjacency, resolution = drawn_graph(seed, loops=seed > 6), [0.5, 1.0, 2.0][seed % 3]
    expected = Louvain(resolution=resolution).fit_predict(sp.csr_matrix(adjacency))
    np.testing.assert_array_equal(merged_communities(adjacency, resolution), expected)


def trees_of_both(adjacency):
    from sknetwork.hierarchy import LouvainIteration

    return nested_louvain(adjacency), Tree.from_linkage(
        LouvainIteration().fit_predict(sp.csr_matrix(adjacency))
    )


@pytest.mark.parametrize("seed", range(12))
def test_nested_louvain_is_the_tree_of_scikit_network(seed):
    ours, theirs = trees_of_both(drawn_graph(seed, n=5 + 10 * seed))
    np.testing.assert_array_equal(ours.parent, theirs.parent)
    np.testing.assert_array_equal(ours.height, theirs.height)


@pytest.mark.data
@pytest.mark.parametrize("name", ["polblogs", "citeseer", "cora_ml", "openflight"])
def test_nested_louvain_of_published_graphs_is_the_tree_of_scikit_network(name):
    data = data_sets.load(f"graphs/{name}")
    edges = [data[key] for key in ("rows", "cols", "weights") if key in data]
    ours, theirs = trees_of_both(ab.similarity.graph(tuple(edges), n_points=int(data["n"])).csr)
    np.testing.assert_array_equal(ours.parent, theirs.parent)


def test_nested_communities_are_communities_within_communities():
    adjacency = sp.csr_array(nx.to_scipy_sparse_array(nx.karate_club_graph(), dtype=float))
    coarse, *finer = levels = nested_communities(adjacency, 3)
    np.testing.assert_array_equal(coarse, merged_communities(adjacency))
    for above, level in zip(levels, finer, strict=False):
        for part in np.unique(above):
            inside = np.flatnonzero(above == part)
            found = level[inside]
            np.testing.assert_array_equal(
                found - found.min(), merged_communities(adjacency[inside][:, inside])
            )
    found = {frozenset(below) for below in leaf_sets(nested_louvain(adjacency))}
    for level in levels:
        assert {frozenset(np.flatnonzero(level == part).tolist()) for part in np.unique(level)} <= found


def test_thousands_of_components_are_no_recursion():
    n = 3_000
    pairs = sp.csr_array(sp.kron(sp.eye_array(n), np.ones((2, 2)) - np.eye(2)), dtype=float)
    tree = nested_louvain(pairs)
    assert tree.n_internal == 2 * n - 1
    assert {frozenset((2 * i, 2 * i + 1)) for i in range(n)} <= {
        frozenset(below) for below in leaf_sets(tree)
    }


@pytest.mark.parametrize("adjacency", [sp.csr_array((1, 1)), sp.csr_array((4, 4))])
def test_a_graph_without_edges_is_one_community_of_which_a_chain_is_made(adjacency):
    n = adjacency.shape[0]
    assert merged_communities(adjacency).tolist() == list(range(n))
    assert [level.tolist() for level in nested_communities(adjacency, 2)] == [[0] * n] * 2
    assert nested_louvain(adjacency).n_leaves == n


@pytest.mark.parametrize("scale", [1e-305, 1e155, 1e304])
def test_weights_of_any_size_have_the_same_communities(scale):
    adjacency = drawn_graph(2)
    np.testing.assert_array_equal(merged_communities(adjacency * scale), merged_communities(adjacency))
