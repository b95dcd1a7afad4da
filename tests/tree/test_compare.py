import itertools

import dendropy
import numpy as np
import pytest
import scipy.cluster.hierarchy as sch
from hypothesis import given
from hypothesis import strategies as st
from trees import chain, clades, leaf_sets, random_binary_parents, random_tree, trees

from arbora import Tree
from arbora.tree import _compare_kernels as compare_kernels


@st.composite
def pairs_of_trees(draw, max_leaves=9):
    """Two trees over the same leaves, of any branching, sometimes alike."""
    first = draw(trees(min_leaves=1, max_leaves=max_leaves, max_branching=max_leaves, unary=0.15))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(st.sampled_from(["other", "same", "coarser"]))
    if kind == "same":
        return first, first.binarize() if draw(st.booleans()) else first
    if kind == "coarser":
        return first, first.compress(int(rng.integers(1, max(first.n_internal, 1) + 1)))
    return first, random_tree(first.n_leaves, rng, max_branching=draw(st.integers(2, max_leaves)), unary=0.15)


def shapes_by_definition(tree):
    """Which two of every three leaves meet first: 1, 2 or 3, or 0 if none do."""
    leaves = np.arange(tree.n_leaves)
    lca = tree.lca(leaves[:, None], leaves)
    found = []
    for a, b, c in itertools.combinations(range(tree.n_leaves), 3):
        ab, ac, bc = lca[a, b], lca[a, c], lca[b, c]
        found.append(0 if ab == ac == bc else 1 if ac == bc else 2 if ab == bc else 3)
    return np.array(found)


def triplet_distance_by_definition(tree, other):
    return (shapes_by_definition(tree) != shapes_by_definition(other)).sum()


@given(pairs_of_trees())
def test_robinson_foulds_counts_clades_of_one_tree_only(pair):
    tree, other = pair
    assert tree.robinson_foulds(other) == len(clades(tree) ^ clades(other))
    informative = len(clades(tree)) + len(clades(other)) - 2
    assert tree.robinson_foulds(other, normalize=True) == len(clades(tree) ^ clades(other)) / max(
        informative, 1
    )


@given(pairs_of_trees())
def test_same_topology_means_the_same_clades(pair):
    tree, other = pair
    assert tree.same_topology(other) == (clades(tree) == clades(other))


@given(pairs_of_trees())
def test_triplet_distance_equals_its_definition_and_is_symmetric(pair):
    tree, other = pair
    expected = triplet_distance_by_definition(tree, other)
    assert tree.triplet_distance(other, normalize=False) == expected
    assert other.triplet_distance(tree, normalize=False) == expected


def test_triplet_distance_of_larger_trees_equals_its_definition():
    rng = np.random.default_rng(0)
    for branching in (2, 3, 8):
        tree, other = (random_tree(40, rng, max_branching=branching, unary=0.1) for _ in range(2))
        assert tree.triplet_distance(other, normalize=False) == triplet_distance_by_definition(tree, other)
    assert chain(40).triplet_distance(other, normalize=False) == triplet_distance_by_definition(
        chain(40), other
    )


def test_unrelated_binary_trees_differ_in_two_thirds_of_the_triples():
    n = 5000
    tree, other = (Tree(random_binary_parents(n, seed), n) for seed in (0, 1))
    assert tree.triplet_distance(other, normalize=True) == pytest.approx(2 / 3, abs=0.01)
    assert tree.triplet_distance(tree) == 0
    star = Tree(np.append(np.full(n, n), -1), n)
    assert tree.triplet_distance(star, normalize=True) == 1
    assert chain(n).triplet_distance(star, normalize=True) == 1


@given(trees(max_leaves=12, max_branching=12, unary=0.2))
def test_stars_are_the_triples_that_a_tree_does_not_resolve(tree):
    unresolved = (shapes_by_definition(tree) == 0).sum()
    assert compare_kernels.count_stars(tree.parent, tree.sizes) == unresolved


@given(trees(max_leaves=12, unary=0.2), st.randoms(use_true_random=False))
def test_positions_below_a_node_are_bounded(tree, random):
    position = np.arange(tree.n_leaves)
    random.shuffle(position)
    low, high = compare_kernels.bound_positions(tree.parent, tree.n_leaves, position)
    for node, below in enumerate(leaf_sets(tree)):
        places = position[sorted(below)]
        assert (low[node], high[node]) == (places.min(), places.max())


@given(trees(max_leaves=30, unary=0.1))
def test_heavy_paths_go_through_the_largest_child(tree):
    heavy = compare_kernels.find_heavy_children(tree.parent, tree.n_leaves, tree.sizes)
    paths, n_cells = compare_kernels.cut_into_paths(tree.parent, heavy)
    for node in range(tree.n_leaves, tree.n_nodes):
        children = tree.children(node)
        assert tree.sizes[heavy[node]] == tree.sizes[children].max()
        assert paths.path_of[heavy[node]] == paths.path_of[node]
        assert paths.place[heavy[node]] == paths.place[node] + 1
        assert sum(paths.path_of[child] == paths.path_of[node] for child in children) == 1
    assert n_cells == 2 * paths.width.sum()


def test_robinson_foulds_agrees_with_dendropy():
    rng = np.random.default_rng(0)
    names = dendropy.TaxonNamespace()
    for _ in range(5):
        tree, other = (random_tree(30, rng, max_branching=3) for _ in range(2))
        theirs = [
            dendropy.Tree.get(
                data=f"[&R] {t.to_newick()}", schema="newick", taxon_namespace=names, rooting="force-rooted"
            )
            for t in (tree, other)
        ]
        for t in theirs:
            t.encode_bipartitions()
        expected = dendropy.calculate.treecompare.symmetric_difference(*theirs)
        assert tree.robinson_foulds(other) == expected


@pytest.mark.parametrize("method", ["average", "single", "ward", "centroid"])
def test_cophenetic_distances_agree_with_scipy(method):
    Z = sch.linkage(np.random.default_rng(0).normal(size=(40, 3)), method)
    assert np.allclose(Tree.from_linkage(Z).cophenetic(), sch.cophenet(Z))


@given(trees(max_leaves=12, unary=0.2, heights=True))
def test_cophenetic_distance_is_the_height_of_the_lca(tree):
    i, j = np.triu_indices(tree.n_leaves, 1)
    assert np.array_equal(tree.cophenetic(), tree.height[tree.lca(i, j)])
    assert np.array_equal(tree.cophenetic(i, j), tree.cophenetic())


def test_trees_over_other_leaves_are_refused():
    tree = Tree([3, 3, 4, 4, -1], 3)
    for call in (tree.same_topology, tree.robinson_foulds, tree.triplet_distance):
        with pytest.raises(ValueError, match=r"1 of 3 only in the tree: '2'.*restrict"):
            call(Tree([2, 2, -1], 2))
        with pytest.raises(TypeError, match="must be a Tree"):
            call("tree")


def test_cophenetic_distances_need_heights_and_both_sides():
    tree = Tree([3, 3, 4, 4, -1], 3)
    with pytest.raises(ValueError, match="heights"):
        tree.cophenetic()
    with pytest.raises(ValueError, match="both i and j"):
        tree.replace(height=[0, 0, 0, 1, 2]).cophenetic([0])


@given(trees(min_leaves=3, max_leaves=10, heights=True), st.randoms(use_true_random=False))
def test_the_correlation_of_two_trees_is_that_of_their_cophenetic_distances(tree, random):
    names = [f"leaf {leaf}" for leaf in range(tree.n_leaves)]
    other = tree.replace(name=names, height=tree.height**2).restrict(
        random.sample(range(tree.n_leaves), tree.n_leaves)
    )
    tree = tree.replace(name=names)
    ours, theirs = tree.cophenetic(), other.matched_to(tree).cophenetic()
    found = tree.cophenetic_correlation(other)
    if np.ptp(ours) > 0:
        assert found == pytest.approx(np.corrcoef(ours, theirs)[0, 1])
    else:
        assert np.isnan(found)
