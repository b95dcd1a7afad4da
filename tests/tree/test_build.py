import higra as hg
import numpy as np
import pytest
import scipy.cluster.hierarchy as sch
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist
from sklearn.cluster import AgglomerativeClustering, KMeans
from trees import binary_trees, leaf_sets, random_tree, trees

from arbora import Tree
from arbora.errors import TreeError
from arbora.tree._build import leaves_first

METHODS = ["single", "complete", "average", "weighted", "centroid", "median", "ward"]


def points(n, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 3))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", [2, 3, 10, 57])
def test_linkage_round_trip_is_exact(method, n):
    Z = sch.linkage(points(n, seed=n), method)
    assert np.array_equal(Tree.from_linkage(Z).to_linkage(), Z)


@given(st.integers(2, 20), st.integers(0, 999))
def test_linkage_round_trip_with_equal_heights(n, seed):
    points = np.random.default_rng(seed).integers(0, 3, size=(n, 2)).astype(float)
    Z = sch.linkage(pdist(points), "average")
    assert np.array_equal(Tree.from_linkage(Z).to_linkage(), Z)


@given(binary_trees(min_leaves=2, max_leaves=15, heights=True))
def test_linkage_of_any_binary_tree_is_valid_and_holds_the_same_tree(tree):
    Z = tree.to_linkage()
    assert sch.is_valid_linkage(Z) and sch.is_monotonic(Z)
    back = Tree.from_linkage(Z)
    assert back.same_topology(tree)
    assert np.allclose(back.cophenetic(), tree.cophenetic())
    assert Z[:, 3].tolist() == back.sizes[tree.n_leaves :].tolist()


def test_without_heights_the_linkage_has_numbers_of_leaves():
    Z = Tree([5, 5, 6, 6, 8, 7, 7, 8, -1], 5).to_linkage()
    assert Z[:, 2].tolist() == [2, 2, 4, 5]
    assert Z[:, 3].tolist() == [2, 2, 4, 5]
    assert sch.is_valid_linkage(Z)


def test_linkage_of_an_nary_tree_is_refused():
    with pytest.raises(TreeError, match="binarize"):
        Tree([3, 3, 3, -1], 3).to_linkage()


def test_lca_agrees_with_higra():
    tree = random_tree(200, np.random.default_rng(0), max_branching=4)
    parents = tree.parent.copy()
    parents[-1] = tree.root  # higra's root is its own parent
    i, j = np.random.default_rng(1).integers(0, tree.n_nodes, (2, 500))
    assert np.array_equal(tree.lca(i, j), hg.Tree(parents).lowest_common_ancestor(i, j))


@given(trees(max_leaves=12, unary=0.2), st.randoms(use_true_random=False))
def test_sorting_accepts_internal_nodes_in_any_order(tree, random):
    inner = list(range(tree.n_leaves, tree.n_nodes))
    random.shuffle(inner)
    number = np.concatenate([np.arange(tree.n_leaves), inner, [-1]]).astype(int)  # the last for the root's -1
    shuffled = np.empty(tree.n_nodes, dtype=int)
    shuffled[number[:-1]] = number[tree.parent]
    height = np.empty(tree.n_nodes)
    height[number[:-1]] = tree.depths
    back = Tree.from_parents(shuffled, tree.n_leaves, sort=True, height=height)
    assert back.same_topology(tree)
    assert back.n_nodes == tree.n_nodes
    assert back.height.tolist() == back.depths.tolist()


def test_number_of_leaves_is_found_from_the_parents():
    assert Tree.from_parents([3, 3, 4, 4, -1]).n_leaves == 3
    assert Tree.from_parents([-1]).n_leaves == 1


def test_leaf_names_stay_with_their_leaves_when_nodes_are_sorted():
    tree = Tree.from_parents([4, 4, 3, -1, 3], 3, sort=True, name=["a", "b", "c"])
    assert tree.to_newick() == "((a,b),c);"


@pytest.mark.parametrize(
    ("parent", "n_leaves", "message"),
    [
        ([2, 2, 3, 2], 2, "one root"),
        ([2, 2, 3, 4, 3, -1], 2, "cycle"),
        ([1, 2, -1], 2, "which is a leaf"),
        ([2, 5, -1], 2, "must hold nodes"),
        ([2, 2, -1], 7, "n_leaves must lie"),
        ([], None, "non-empty"),
        ([2, 2, -1, -1], 2, "one root"),
    ],
)
def test_sorting_refuses_what_is_no_tree(parent, n_leaves, message):
    with pytest.raises(TreeError, match=message):
        Tree.from_parents(parent, n_leaves, sort=True)


def test_merges_of_any_number_of_nodes():
    tree = Tree.from_merges([(0, 1, 2), (3, 4), (5, 6)], height=[1, 2, 3])
    assert tree.parent.tolist() == [5, 5, 5, 6, 6, 7, 7, -1]
    assert tree.height.tolist() == [0, 0, 0, 0, 0, 1, 2, 3]
    assert Tree.from_merges([]).n_leaves == 1
    assert Tree.from_merges(np.array([[0, 1], [2, 3]])) == Tree.from_merges([(0, 1), (2, 3)])


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([(0, 1), (0, 2)], "Node 0 is merged 2 times"),
        ([(0, 1), (2, 9)], r"must lie in"),
        ([(0, 4), (1, 2)], "merged|before"),
    ],
)
def test_merges_that_are_no_tree_are_refused(pairs, message):
    with pytest.raises(TreeError, match=message):
        Tree.from_merges(pairs, 3)
    with pytest.raises(TypeError, match="whole numbers"):
        Tree.from_merges([(0, 1.5)])


@pytest.mark.parametrize(
    ("Z", "error", "message"),
    [
        ([1, 2, 3], TreeError, "shape"),
        ([[0, 1]], TreeError, "shape"),
        ([[0, 1, np.nan, 2]], TreeError, "finite"),
        ([[0, 0, 1, 2]], TreeError, "merged"),
        ([[0, 1.5, 1, 2]], TypeError, "whole"),
        ([[0, 3, 1, 2], [1, 2, 1, 2]], TreeError, "before their parent|merged"),
    ],
)
def test_linkage_matrices_that_are_no_tree_are_refused(Z, error, message):
    with pytest.raises(error, match=message):
        Tree.from_linkage(Z)


def test_scikit_learns_children_become_a_tree_with_heights():
    X = points(30)
    model = AgglomerativeClustering(n_clusters=None, distance_threshold=0, linkage="average").fit(X)
    tree = Tree.from_sklearn(model)
    assert tree.same_topology(Tree.from_linkage(sch.linkage(X, "average")))
    assert np.allclose(tree.height[30:], model.distances_)
    assert Tree.from_sklearn(AgglomerativeClustering(2).fit(X)).height is None


def test_models_without_a_tree_are_refused():
    with pytest.raises(TypeError, match="children_"):
        Tree.from_sklearn(KMeans(2))


@given(trees(max_leaves=12, unary=0.2), st.randoms(use_true_random=False))
def test_nodes_listed_parents_first_become_a_tree(tree, random):
    listed = list(range(tree.root, -1, -1))
    above = [tree.root - tree.parent[node] if tree.parent[node] >= 0 else -1 for node in listed]
    is_leaf = np.array([node < tree.n_leaves for node in listed])
    order, parent = leaves_first(above, is_leaf)
    back = Tree(parent, tree.n_leaves)
    numbers = [listed[k] for k in order]
    assert {frozenset(numbers[leaf] for leaf in below) for below in leaf_sets(back)} == {
        frozenset(below) for below in leaf_sets(tree)
    }


@pytest.mark.parametrize("Z", [{}, 1j, object, [[1, 2], [3]]])
def test_what_is_no_linkage_matrix_is_refused(Z):
    with pytest.raises(TreeError, match="Z must be a linkage matrix"):
        Tree.from_linkage(Z)
