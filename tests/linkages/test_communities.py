"""Average linkage inside communities, against a greedy definition of it and what it is for."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from linkage_definitions import random_weights
from scipy.sparse.csgraph import connected_components
from trees import leaf_sets

import arbora as ab
from arbora.linkages import community_linkage, graph, graph_linkage
from arbora.linkages.modularity import divided_communities, merged_communities
from arbora.reproduce.data import planted_graph
from arbora.search.start import first_tree


def merges_by_definition(W, levels):
    """Clades of merging the most similar pair inside one community, finest communities first, then in all."""
    clusters, clades = [frozenset([i]) for i in range(len(W))], set()
    for label in (*reversed(levels), np.zeros(len(W))):
        while True:
            pairs = [
                (W[np.ix_(list(s), list(t))].mean(), s, t)
                for i, s in enumerate(clusters)
                for t in clusters[i + 1 :]
                if label[min(s)] == label[min(t)]
            ]
            best = max(pairs, key=lambda pair: pair[0], default=(0.0, None, None))
            if best[0] <= 0:
                break
            clusters = [c for c in clusters if c not in best[1:]] + [best[1] | best[2]]
            clades.add(best[1] | best[2])
    return clades


@given(st.integers(2, 14), st.sampled_from([0.2, 0.4, 1.0]), st.integers(1, 6), st.integers(0, 10**6))
def test_merges_are_greedy_inside_communities(n, density, undivided, seed):
    W = random_weights(n, density, np.random.default_rng(seed))
    similarity = ab.similarity.graph(sp.csr_array(W))
    levels = divided_communities(similarity.csr, undivided)
    tree = community_linkage(similarity, undivided=undivided)
    assert tree.is_binary
    assert merges_by_definition(W, levels) <= set(map(frozenset, leaf_sets(tree)))


@given(st.integers(2, 30), st.sampled_from([0.1, 0.3]), st.integers(1, 8), st.integers(0, 10**6))
def test_levels_of_communities_are_nested_and_divide_only_what_is_large(n, density, undivided, seed):
    W = sp.csr_array(random_weights(n, density, np.random.default_rng(seed)))
    levels = divided_communities(W, undivided)
    above = np.zeros(n, dtype=np.int64)
    for label in levels:
        parts = {tuple(set(label[above == community])) for community in set(above.tolist())}
        assert sum(map(len, parts)) == label.max() + 1  # no part is in two communities
        for community in set(above.tolist()):
            inside = np.flatnonzero(above == community)
            if len(set(label[inside].tolist())) > 1:
                assert len(inside) > undivided
                expected = merged_communities(W[inside][:, inside].tocsr())
                assert len(set(zip(label[inside].tolist(), expected.tolist()))) == expected.max() + 1
        above = label


def test_connected_communities_are_subtrees():
    similarity = planted_graph(3000, 30_000, n_blocks=64)
    tree = community_linkage(similarity, undivided=100)
    clades, levels = (
        set(map(frozenset, leaf_sets(tree))),
        divided_communities(similarity.csr.astype(float), 100),
    )
    assert len(levels) > 1
    for label in levels:
        for community in range(label.max() + 1):
            nodes = np.flatnonzero(label == community)
            n_parts, part = connected_components(similarity.csr[nodes][:, nodes], directed=False)
            for number in range(n_parts):
                members = nodes[part == number]
                assert len(members) == 1 or frozenset(members.tolist()) in clades


def test_a_graph_that_is_not_divided_gets_average_linkage():
    W = sp.csr_array(random_weights(60, 0.4, np.random.default_rng(3)))
    similarity = ab.similarity.graph(W)
    expected = graph_linkage(similarity, "average")
    tree = community_linkage(similarity, undivided=60)
    assert tree.same_topology(expected)
    np.testing.assert_allclose(tree.height, expected.height)


def test_rounds_and_one_by_one_give_the_same_tree(monkeypatch):
    rng = np.random.default_rng(0)
    csr = planted_graph(2000, 16_000, n_blocks=64).csr
    upper = sp.triu(csr, 1).tocsr()
    upper.data = rng.random(len(upper.data)) + 0.5
    similarity = ab.similarity.graph(sp.csr_array(upper + upper.T))
    one_by_one = community_linkage(similarity, undivided=200)
    monkeypatch.setattr(graph, "LARGE", 2)
    for n_jobs in (1, 2):
        assert community_linkage(similarity, undivided=200, n_jobs=n_jobs).same_topology(one_by_one)


def test_sparse_communities_are_found_where_average_linkage_misses_them():
    similarity = planted_graph(6000, 60_000, n_blocks=64)
    costs = [
        ab.metrics.dasgupta_cost(tree, similarity, normalize=True)
        for tree in (community_linkage(similarity), graph_linkage(similarity, "average"))
    ]
    assert costs[0] < 0.9 * costs[1]


def test_a_search_of_a_large_network_begins_inside_communities(monkeypatch):
    from arbora.search import start
    from arbora.search.multilevel import Levels

    monkeypatch.setattr(start, "LEVELS", Levels(large=500))
    network = planted_graph(600, 4000, n_blocks=64)
    assert first_tree(network) == community_linkage(network)
    small = planted_graph(400, 3000, n_blocks=64)
    assert first_tree(small) == graph_linkage(small, "average")


def test_weights_of_any_size_names_loops_and_parts_without_edges():
    edges = [0, 0, 1, 3], [1, 2, 2, 4]
    small, large = (ab.similarity.graph((*edges, np.full(4, weight))) for weight in (1e-300, 1e300))
    assert community_linkage(small, undivided=1).same_topology(community_linkage(large, undivided=1))
    lonely = ab.similarity.graph(sp.csr_array((3, 3)))
    assert community_linkage(lonely).n_leaves == 3
    assert community_linkage(ab.similarity.graph(sp.csr_array((1, 1)))).n_leaves == 1


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        (ab.similarity.cosine(np.eye(4) + 0.1), TypeError, "no sparse form"),
        (ab.similarity.GraphSimilarity(sp.csr_array([[0.0, -1.0], [-1.0, 0.0]])), ValueError, "negative"),
    ],
)
def test_what_is_no_graph_is_refused(given, error, words):
    with pytest.raises(error, match=words):
        community_linkage(given)


def test_undivided_must_be_a_whole_number():
    path = ab.similarity.graph(([0, 1], [1, 2]))
    with pytest.raises(ValueError, match="undivided must"):
        community_linkage(path, undivided=0)
