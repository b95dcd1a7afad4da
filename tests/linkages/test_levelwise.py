"""BIRCH and Louvain as trees: levels nest, thresholds hold in any unit, names stay."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import leaf_sets

import arbora as ab
from arbora.linkages import birch, louvain
from arbora.linkages.levelwise import _scaled_radius, _small_distance, tree_of_levels
from arbora.linkages.modularity import aggregated

X = np.random.default_rng(0).normal(size=(60, 2))


@settings(max_examples=40)
@given(st.integers(1, 10), st.integers(0, 3), st.integers(0, 1000))
def test_a_tree_of_levels_has_the_groups_of_every_level(n, n_levels, seed):
    rng = np.random.default_rng(seed)
    levels, size = [], n
    for _ in range(n_levels):
        labels = np.unique(rng.integers(0, size, size), return_inverse=True)[1]
        levels.append(labels)
        size = labels.max() + 1
    tree = tree_of_levels(levels, n, None)
    wanted, group = {frozenset(range(n))}, np.arange(n)
    for labels in levels:
        group = labels[group]
        wanted |= {frozenset(np.flatnonzero(group == g).tolist()) for g in range(group.max() + 1)}
    found = {frozenset(below) for below in leaf_sets(tree)}
    assert found == {block for block in wanted if len(block) > 1} | {frozenset([i]) for i in range(n)}


def test_names_go_to_the_leaves():
    tree = tree_of_levels([np.array([0, 0, 1])], 3, ["a", "b", "c"])
    assert tree.to_newick() in ("((a,b),c);", "(c,(a,b));")
    assert tree_of_levels([], 1, ["only"]).label(0) == "only"


@pytest.mark.parametrize("threshold", [0.1, 0.5, 2.0])
def test_the_lowest_groups_of_birch_are_no_wider_than_the_threshold(threshold):
    tree = birch(X, threshold=threshold)
    lowest = {int(node) for node in tree.parent[:60]}
    for node in lowest:
        leaves = [leaf for leaf in tree.children(node) if leaf < 60]
        if len(leaves) > 1 and len(leaves) == len(tree.children(node)):
            radius = np.sqrt(((X[leaves] - X[leaves].mean(axis=0)) ** 2).sum(axis=1).mean())
            assert radius <= threshold + 1e-9


@pytest.mark.parametrize("unit", [2.0**-300, 2.0**-7, 2.0**9, 2.0**300])
def test_birch_is_the_same_in_any_unit(unit):
    assert birch(X * unit, threshold=0.3 * unit) == birch(X, threshold=0.3)
    assert birch(X * unit) == birch(X)


def test_branches_are_at_most_as_many_as_asked_for():
    for most in (2, 5):
        tree = birch(X, threshold=1e-9, branching_factor=most)
        assert max(len(tree.children(node)) for node in range(60, tree.n_nodes)) <= most


def test_duplicates_are_grouped_without_a_threshold():
    tree = birch(np.repeat([[0.0], [5.0], [9.0]], 3, axis=0))
    assert {frozenset(block) for block in leaf_sets(tree)} >= {
        frozenset({0, 1, 2}), frozenset({3, 4, 5}), frozenset({6, 7, 8})
    }  # fmt: skip


def test_radii_beyond_the_range_of_numbers_are_harmless():
    assert _scaled_radius(1e300, -1000) == 1e100 and _scaled_radius(1e-300, 1000) > 0
    assert _scaled_radius(3.0, 1) == 1.5
    assert _small_distance(np.zeros((5, 2))) > 0 and _small_distance(np.zeros((1, 2))) == 0.5


def test_aggregation_sums_the_weights_between_groups():
    W = np.random.default_rng(1).random((6, 6))
    label = np.array([0, 1, 0, 2, 1, 1])
    found = aggregated(sp.csr_matrix(W), label).toarray()
    for a, b in np.ndindex(3, 3):
        assert found[a, b] == pytest.approx(W[np.ix_(label == a, label == b)].sum())


def test_a_larger_resolution_gives_smaller_communities():
    graph = ab.similarity.knn(np.repeat(9 * np.eye(4), 15, axis=0)[:, :2] + X, 8)
    coarse, fine = (louvain(graph, resolution=value, random_state=0) for value in (0.3, 5.0))
    sizes = [max(tree.sizes[child] for child in tree.children(tree.root)) for tree in (coarse, fine)]
    assert sizes[0] > sizes[1]


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_weights_of_any_size_have_the_same_communities(scale):
    W = ab.similarity.knn(X, 6).csr.toarray().astype(float)
    assert louvain(sp.csr_array(W * scale), random_state=0) == louvain(sp.csr_array(W), random_state=0)


def test_graphs_without_edges_and_single_nodes_are_trees():
    assert louvain(ab.similarity.graph(([], []), n_points=3), random_state=0).to_newick() == "(0,1,2);"
    assert louvain(ab.similarity.graph(([], []), n_points=1), random_state=0).n_nodes == 1


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: birch(X, threshold=0), ValueError, "threshold must be greater than 0"),
        (lambda: birch(X, branching_factor=1), ValueError, "branching_factor must be at least 2"),
        (lambda: louvain(([0], [1]), resolution=0), ValueError, "resolution must be greater than 0"),
        (
            lambda: louvain(ab.similarity.cosine(X)),
            TypeError,
            r"louvain needs a graph.*use similarity.knn\(X\)",
        ),
        (lambda: louvain(([0], [1]), random_state=-1), ValueError, "random_state"),
    ],
)
def test_wrong_options_are_named(call, error, message):
    with pytest.raises(error, match=message):
        call()
