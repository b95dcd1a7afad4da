import copy
import itertools
import pickle

import numpy as np
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernels import opened
from trees import chain, lca_by_definition, leaf_sets, random_binary_parents, random_tree, trees

from arbora import Tree
from arbora._base.checkpoint import identity_of
from arbora.errors import TreeError
from arbora.tree import pass_kernels as kernels

any_tree = trees(max_leaves=14, unary=0.2)


@given(any_tree)
def test_sizes_count_the_leaves_below(tree):
    assert tree.sizes.tolist() == [len(below) for below in leaf_sets(tree)]


@given(any_tree)
def test_depths_count_the_ancestors(tree):
    assert tree.depths.tolist() == [len(tree.ancestors(node)) for node in range(tree.n_nodes)]


@given(any_tree)
def test_children_are_the_nodes_with_that_parent(tree):
    for node in range(tree.n_nodes):
        assert sorted(tree.children(node)) == np.flatnonzero(tree.parent == node).tolist()
    assert tree.n_children.tolist() == [len(tree.children(v)) for v in range(tree.n_leaves, tree.n_nodes)]


@given(any_tree)
def test_leaves_below_a_node_are_a_slice_of_the_leaf_order(tree):
    assert sorted(tree.leaf_order) == list(range(tree.n_leaves))
    for node, below in enumerate(leaf_sets(tree)):
        assert set(tree.leaves(node).tolist()) == below
        assert np.shares_memory(tree.leaves(node), tree.leaf_order)


@given(any_tree)
def test_lca_of_any_two_nodes_equals_its_definition(tree):
    i, j = np.array(list(itertools.product(range(tree.n_nodes), repeat=2))).T
    assert tree.lca(i, j).tolist() == [lca_by_definition(tree, a, b) for a, b in zip(i, j)]


@given(trees(min_leaves=2, max_leaves=40), st.data())
def test_leaves_are_drawn_in_the_order_asked_for(tree, data):
    order = data.draw(st.permutations(range(tree.n_leaves)))
    drawn = tree.replace(order=order).leaf_order.tolist()
    rank = {leaf: k for k, leaf in enumerate(order)}
    assert drawn[0] == order[0]
    for node in range(tree.n_leaves, tree.n_nodes):  # siblings stand by their first leaf in that order
        firsts = [
            min(rank[leaf] for leaf in tree.leaves(child))
            for child in tree.replace(order=order).children(node)
        ]
        assert firsts == sorted(firsts)


@given(any_tree)
def test_is_binary_means_two_children_everywhere(tree):
    counts = [len(tree.children(v)) for v in range(tree.n_leaves, tree.n_nodes)]
    assert tree.is_binary == all(count == 2 for count in counts)


@given(any_tree, st.integers(0, 99))
def test_sums_and_maxima_run_over_subtrees(tree, seed):
    value = np.random.default_rng(seed).normal(size=tree.n_nodes)
    for node in range(tree.n_nodes):
        below = [v for v in range(tree.n_nodes) if v == node or node in tree.ancestors(v)]
        assert np.isclose(kernels.sum_to_root(tree.parent, value)[node], value[below].sum())
        assert kernels.max_to_root(tree.parent, value)[node] == value[below].max()


@given(any_tree, st.integers(0, 99))
def test_keep_nodes_finds_the_nearest_kept_ancestor(tree, seed):
    keep = np.random.default_rng(seed).random(tree.n_nodes) < 0.5
    keep[tree.root] = True
    expected = [next((a for a in tree.ancestors(v) if keep[a]), -1) for v in range(tree.n_nodes)]
    assert kernels.keep_nodes(tree.parent, keep).tolist() == expected


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=200), st.data())
def test_range_maximum_equals_its_definition(values, data):
    values = np.array(values, dtype=np.int32)
    low = data.draw(st.integers(0, len(values) - 1))
    high = data.draw(st.integers(low + 1, len(values)))
    table = kernels.index_range_maxima(values)
    assert opened(kernels.range_maximum)(values, table, low, high) == values[low:high].max()


def test_one_leaf_is_a_tree():
    tree = Tree([-1], 1)
    assert (tree.n_leaves, tree.n_nodes, tree.n_internal, tree.root) == (1, 1, 0, 0)
    assert tree.leaf_order.tolist() == [0]
    assert tree.lca(0, 0) == 0
    assert tree.is_binary
    assert tree.cut(n_clusters=1).tolist() == [0]
    assert tree.to_linkage().shape == (0, 4)
    assert Tree([1, -1], 1).n_internal == 1  # a unary root above one leaf


def test_lca_broadcasts_and_returns_an_int_for_ints():
    tree = Tree([4, 4, 5, 5, 6, 6, -1], 4)
    assert tree.lca(0, 1) == 4 and isinstance(tree.lca(0, 1), int)
    assert tree.lca(0, [1, 2]).tolist() == [4, 6]
    assert tree.lca([[0], [2]], [1, 3]).tolist() == [[4, 6], [6, 5]]
    assert tree.lca([], []).shape == (0,)
    assert Tree([-1], 1).lca([[0]], [0]).tolist() == [[0]]


def test_arrays_cannot_be_written_to():
    tree = Tree([3, 3, 4, 4, -1], 3, height=[0, 0, 0, 1, 2], name=list("abc"))
    for array in (
        tree.parent,
        tree.height,
        tree.name,
        tree.sizes,
        tree.depths,
        tree.leaf_order,
        tree.child_index,
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_a_tree_does_not_change_with_the_array_it_was_made_from():
    parent = np.array([3, 3, 4, 4, -1])
    tree = Tree(parent, 3)
    parent[0] = 4
    assert tree.parent[0] == 3


def test_equality_and_hash_compare_arrays():
    tree = Tree([3, 3, 4, 4, -1], 3, height=[0, 0, 0, 1, 2])
    same = Tree([3, 3, 4, 4, -1], 3, height=[0, 0, 0, 1, 2])
    assert tree == same and hash(tree) == hash(same)
    assert tree != tree.replace(height=None)
    assert tree != Tree([4, 3, 3, 4, -1], 3, height=[0, 0, 0, 1, 2])
    assert tree != "tree"


def test_replace_changes_one_thing_and_keeps_the_rest():
    tree = Tree([3, 3, 4, 4, -1], 3, height=[0, 0, 0, 1, 2], name=list("abc"))
    assert tree.replace(name=None).name is None
    assert tree.replace(name=None).height.tolist() == tree.height.tolist()
    with pytest.raises(TypeError, match="parent"):
        tree.replace(parent=[1])


def test_label_is_the_name_or_the_number():
    tree = Tree([3, 3, 4, 4, -1], 3, name=["a", "", "c"])
    assert [tree.label(v) for v in range(5)] == ["a", "1", "c", "3", "4"]


@pytest.mark.parametrize(
    ("parent", "n_leaves", "message"),
    [
        ([3, 3, 4, 4, 4], 3, "parent -1"),
        ([3, -1, 4, 4, -1], 3, "only the last"),
        ([3, 1, 4, 4, -1], 3, "which is a leaf"),
        ([3, 9, 4, 4, -1], 3, "not a node"),
        ([4, 4, 4, 3, -1], 3, "before their parent"),
        ([4, 4, 4, 4, -1], 3, "no children"),
        ([], 1, "at least one leaf"),
        ([-1], 0, "at least one leaf"),
        ([[1, -1]], 1, "one-dimensional"),
        ([-1, -1], 2, "root above them"),
    ],
)
def test_parents_that_are_no_tree_are_refused(parent, n_leaves, message):
    with pytest.raises(TreeError, match=message):
        Tree(parent, n_leaves)


@pytest.mark.parametrize("parent", [[2.5, 2, -1], ["a", "b", "c"], [np.nan, 2, -1], [np.inf, 2, -1]])
def test_parents_that_are_not_whole_numbers_are_refused(parent):
    with pytest.raises(TypeError, match="whole numbers"):
        Tree(parent, 2)


@pytest.mark.parametrize(
    ("per_node", "message"),
    [
        ({"height": [0, 1]}, "one value per node"),
        ({"height": "ab"}, "height must hold numbers"),
        ({"height": [0, 0, np.nan]}, "finite"),
        ({"support": [0, 0, 2]}, r"\[0, 1\]"),
        ({"name": ["a"]}, "n_leaves=2"),
        ({"order": [0, 0]}, "permutation"),
        ({"order": [0]}, "permutation"),
    ],
)
def test_per_node_arrays_that_do_not_fit_are_refused(per_node, message):
    with pytest.raises(TreeError, match=message):
        Tree([2, 2, -1], 2, **per_node)


def test_nodes_that_do_not_exist_are_refused():
    tree = Tree([2, 2, -1], 2)
    for call in (tree.children, tree.leaves, tree.ancestors, tree.subtree):
        with pytest.raises(ValueError, match=r"\[0, n_nodes=3\)"):
            call(3)
        with pytest.raises(TypeError, match="whole number"):
            call(1.5)
    with pytest.raises(ValueError, match="j must hold nodes"):
        tree.lca(0, -1)
    with pytest.raises(TypeError, match="n_leaves must be a whole number"):
        Tree([2, 2, -1], 2.0)


def test_a_chain_of_200_000_leaves_breaks_nothing():
    n = 200_000
    tree = chain(n).replace(height=np.concatenate([np.zeros(n), np.arange(1.0, n)]))
    assert tree.depths.max() == n - 1
    i, j = np.random.default_rng(0).integers(0, n, (2, 1000))
    above = np.maximum(np.maximum(i, j) + n - 1, n)
    assert np.array_equal(tree.lca(i, j), np.where(i == j, i, above))
    assert np.bincount(tree.cut(n_clusters=3)).tolist() == [n - 2, 1, 1]
    assert len(tree.cut_nodes(height=100.0)) == n - 100
    assert tree.compress(10).n_internal == 10
    assert tree.taxonomy([3, 30, 300]).n_internal == 3 + 30 + 300 + 1
    assert tree.same_topology(Tree.from_newick(tree.to_newick()))
    assert tree.same_topology(Tree.from_linkage(tree.to_linkage()))
    assert tree.restrict(np.arange(0, n, 2)).n_leaves == n // 2
    assert tree.subtree(n + 1000).n_leaves == 1002
    assert tree.binarize() is tree
    assert tree.reorder("size").leaf_order[0] == n - 1
    assert tree.triplet_distance(tree) == 0


def test_memory_stays_under_250_bytes_a_leaf():
    n = 100_000
    tree = Tree(random_binary_parents(n), n, height=np.zeros(2 * n - 1))
    tree.lca(0, 1), tree.depths, tree.is_binary  # derive everything
    held = {id(a): a.nbytes for a in arrays_held_by(tree)}
    assert len(held) >= 10
    assert sum(held.values()) < 250 * n


def arrays_held_by(tree):
    for value in vars(tree).values():
        for array in value if isinstance(value, tuple) else (value,):
            if isinstance(array, np.ndarray):
                yield array


def test_random_trees_of_the_tests_are_what_they_say():
    rng = np.random.default_rng(0)
    assert random_tree(50, rng).is_binary
    assert random_tree(50, rng, max_branching=5).n_children.max() > 2
    assert Tree(random_binary_parents(1000), 1000).is_binary


def test_copies_are_read_only_and_equal():
    tree = Tree([2, 2, -1], 2, height=[0, 0, 1], support=[1, 1, 1], name=["a", "b"], order=[1, 0])
    assert tree.sizes.tolist() == [1, 1, 2]
    for again in (copy.copy(tree), copy.deepcopy(tree), pickle.loads(pickle.dumps(tree))):
        assert again == tree
        assert again.leaf_order.tolist() == [1, 0]
        for array in (again.parent, again.height, again.support, again.name, again.sizes):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0
    # what is derived is not stored
    assert "sizes" not in tree.__getstate__()


def test_a_missing_name_is_no_name():
    tree = Tree([3, 3, 4, 4, -1], 3).replace(name=[None, float("nan"), "c"])
    assert tree.name.tolist() == ["", "", "c", "", ""]
    assert tree.replace(name=pandas.array(["a", None, "c"], dtype="string")).name[1] == ""
    for names in ("abc", 3):
        with pytest.raises(TypeError, match="sequence of names"):
            tree.replace(name=names)


@pytest.mark.parametrize("value", [2**63, 2**64, 2**70, 1e300, -1e19])
def test_integers_beyond_64_bits_are_refused(value):
    tree = Tree([2, 2, -1], 2)
    with pytest.raises((TypeError, ValueError), match="parent must hold whole numbers"):
        Tree([value, 2, -1], 2)
    with pytest.raises((TypeError, ValueError), match="whole numbers"):
        tree.lca([value], [0])
    with pytest.raises((TypeError, ValueError), match="n_leaves"):
        Tree([2, 2, -1], value)
    if isinstance(value, int):
        for call in (tree.cut, tree.children, lambda number: tree.cut(max_size=number)):
            with pytest.raises(ValueError, match=r"must lie in|must fit into 64 bits"):
                call(value)


def test_the_identity_is_all_that_makes_the_tree():
    tree = Tree([2, 2, -1], 2, height=[0, 0, 1], name=["a", "b"])
    same = identity_of(tree=tree)
    assert identity_of(tree=pickle.loads(pickle.dumps(tree))) == same
    for change in ({"name": None}, {"order": [1, 0]}, {"height": None}, {"height": [0, 0, 2]}):
        assert identity_of(tree=tree.replace(**change)) != same
