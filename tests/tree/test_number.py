"""The number of clusters that a tree finds by itself."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits
from trees import trees

from arbora import Tree, TreeClustering
from arbora.tree.number import find_number, least_size, split_heights


def mixture(n_clusters, seed, n_points=600, dimension=8):
    rng = np.random.default_rng(seed)
    y = rng.integers(n_clusters, size=n_points)
    return rng.normal(size=(n_clusters, dimension))[y] * 6 + rng.normal(size=(n_points, dimension)), y


@pytest.mark.parametrize("n_clusters", [2, 3, 5, 9, 14])
def test_clusters_that_are_apart_are_counted(n_clusters):
    X, _ = mixture(n_clusters, seed=100 + n_clusters)
    model = TreeClustering("auto", random_state=0).fit(X)
    assert model.n_clusters_ == n_clusters
    assert model.report_.choices["n_clusters"].startswith(f"{n_clusters} (the longest step in height")


def test_the_number_is_stable_under_resampling():
    X = load_digits().data
    found = []
    for seed in range(4):
        rows = np.sort(np.random.default_rng(seed).permutation(len(X))[:1400])
        found.append(TreeClustering("auto", random_state=0).fit(X[rows]).n_clusters_)
    assert max(found) - min(found) <= 2
    assert 8 <= np.median(found) <= 12


def split_heights_by_definition(tree, min_size):
    found = []
    for node in range(tree.n_leaves, tree.n_nodes):
        n_large = sum(tree.sizes[child] >= min_size for child in tree.children(node))
        highest = max(
            tree.height[below] for below in range(tree.n_leaves, node + 1) if is_below(tree, below, node)
        )
        found += [highest] * max(n_large - 1, 0)
    return sorted(found, reverse=True)


def is_below(tree, node, other):
    while node < other:
        node = tree.parent[node]
    return node == other


@given(trees(max_leaves=15), st.integers(1, 4), st.integers(0, 99))
def test_heights_of_splits_equal_their_definition(tree, min_size, seed):
    height = np.zeros(tree.n_nodes)
    height[tree.n_leaves :] = np.random.default_rng(seed).normal(size=tree.n_nodes - tree.n_leaves)
    tree = tree.collapse_unary() if (tree.n_children < 2).any() else tree.replace(height=height)
    if tree.height is None:
        tree = tree.replace(height=np.arange(tree.n_nodes, dtype=float))
    np.testing.assert_allclose(split_heights(tree, min_size), split_heights_by_definition(tree, min_size))


def test_a_tree_without_heights_is_refused_and_one_without_branches_is_one_cluster():
    with pytest.raises(ValueError, match="needs a tree with heights"):
        Tree.from_newick("((a,b),(c,d));").cut("auto")
    chain = Tree.from_newick("(((((a:1,b:1):1,c:2):1,d:3):1,e:4):1,f:5);")
    assert find_number(chain).n_clusters == 1
    assert "no two branches" in find_number(chain).reason
    assert set(chain.cut("auto")) == {0}


def test_the_least_size_grows_with_the_root_of_the_number_of_points():
    assert [least_size(n) for n in (1, 8, 200, 20_000)] == [1, 2, 10, 100]


def test_a_least_size_of_ones_own_needs_no_supposed_number_of_clusters():
    X, _ = mixture(3, seed=5, n_points=40)
    tree = TreeClustering(3, random_state=0).fit(X).tree_
    assert np.bincount(tree.cut("auto", by="density", min_size=5)).min() >= 5


def test_a_least_size_of_ones_own_is_kept():
    X, _ = mixture(4, seed=7)
    tree = TreeClustering(4, random_state=0).fit(X).tree_
    assert np.bincount(tree.cut("auto", min_size=100)).min() >= 100
