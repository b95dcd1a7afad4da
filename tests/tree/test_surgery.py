import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trees import chain, clades, leaf_sets, trees

from arbora import Tree
from arbora.tree import edit_kernels
from arbora.tree.matching import renumbered
from arbora.tree.surgery import (
    graft,
    in_depth_first_order,
    is_above,
    labels_by_position,
    top_over,
    with_top,
)

any_tree = trees(max_leaves=14, unary=0.2, heights=True)


def decorated(tree):
    """With names and supports that tell where a node came from."""
    names = [f"n{v}" for v in range(tree.n_nodes)]
    return tree.replace(name=names, support=np.arange(tree.n_nodes) / tree.n_nodes)


def old_nodes(tree):
    return [int(name[1:]) if name else -1 for name in tree.name]


def assert_carried(new, old):
    """Height and support of every named node are those of the node it came from."""
    for node, source in enumerate(old_nodes(new)):
        if source >= 0:
            assert new.height[node] == old.height[source]
            assert new.support[node] == old.support[source]


@given(any_tree, st.data())
def test_subtree_holds_the_leaves_below_and_their_nodes(tree, data):
    tree = decorated(tree)
    node = data.draw(st.integers(0, tree.n_nodes - 1))
    sub = tree.subtree(node)
    kept = sorted(tree.leaves(node).tolist())
    assert old_nodes(sub)[: sub.n_leaves] == kept
    below = {v for v in range(tree.n_nodes) if v == node or node in tree.ancestors(v)}
    assert set(old_nodes(sub)) == below
    assert old_nodes(sub)[sub.root] == node
    for new, old in enumerate(old_nodes(sub)[:-1]):
        assert old_nodes(sub)[sub.parent[new]] == tree.parent[old]
    assert_carried(sub, tree)


@given(any_tree, st.data())
def test_restriction_keeps_who_is_closer_to_whom(tree, data):
    tree = decorated(tree)
    leaves = data.draw(
        st.lists(st.integers(0, tree.n_leaves - 1), min_size=1, max_size=tree.n_leaves, unique=True)
    )
    small = tree.restrict(leaves)
    assert old_nodes(small)[: len(leaves)] == leaves
    assert (small.n_children >= 2).all()
    for i in range(len(leaves)):
        for j in range(len(leaves)):
            if i != j:
                assert old_nodes(small)[small.lca(i, j)] == tree.lca(leaves[i], leaves[j])
    assert_carried(small, tree)


@given(any_tree)
def test_collapsing_unary_nodes_keeps_every_group(tree):
    tree = decorated(tree)
    slim = tree.collapse_unary()
    assert (slim.n_children >= 2).all()
    assert clades(slim) == clades(tree)
    assert np.array_equal(slim.cophenetic(), tree.cophenetic())
    assert_carried(slim, tree)


@given(any_tree)
def test_binarized_trees_are_binary_keep_every_group_and_every_height(tree):
    tree = decorated(tree)
    binary = tree.binarize()
    assert binary.is_binary
    assert clades(tree) <= clades(binary)
    assert np.array_equal(binary.cophenetic(), tree.cophenetic())
    assert_carried(binary, tree)
    named = {v for v in old_nodes(binary) if v >= 0}
    assert named == {v for v in range(tree.n_nodes) if v < tree.n_leaves or len(tree.children(v)) > 1}


@pytest.mark.parametrize("k", [2, 3, 5, 8, 100, 1000])
def test_a_star_becomes_a_balanced_binary_tree(k):
    star = Tree(np.append(np.full(k, k), -1), k)
    assert star.binarize().depths.max() == math.ceil(math.log2(k))


@given(trees(max_leaves=12, unary=0.2), st.randoms(use_true_random=False))
def test_edits_keep_the_drawing_order(tree, random):
    order = list(range(tree.n_leaves))
    random.shuffle(order)
    tree = tree.replace(order=order, name=[f"n{v}" for v in range(tree.n_nodes)])
    drawn = tree.leaf_order.tolist()
    assert tree.binarize().leaf_order.tolist() == drawn
    assert tree.collapse_unary().leaf_order.tolist() == drawn
    assert tree.compress(max(tree.n_internal // 2, 1)).leaf_order.tolist() == drawn
    some = order[: max(tree.n_leaves // 2, 1)]
    small = tree.restrict(some)
    assert [some[leaf] for leaf in small.leaf_order] == [leaf for leaf in drawn if leaf in some]


@given(trees(max_leaves=12))
def test_trees_that_need_no_edit_come_back_as_they_are(tree):
    assert tree.collapse_unary() is tree
    assert tree.binarize() is tree or not tree.is_binary
    assert tree.restrict(range(tree.n_leaves)).same_topology(tree)
    assert tree.subtree(tree.root) == tree


@given(trees(max_leaves=12, unary=0.2))
def test_pair_children_returns_where_each_node_came_from(tree):
    parent, source, added = edit_kernels.pair_children(tree.n_leaves, tree.child_offsets, tree.child_index)
    binary = Tree(parent, tree.n_leaves)
    below, below_before = leaf_sets(binary), leaf_sets(tree)
    for node in range(binary.n_nodes):
        assert below[node] <= below_before[source[node]]
        assert added[node] or below[node] == below_before[source[node]]


@given(any_tree)
def test_in_depth_first_order_leaves_and_nodes_are_numbered_as_they_are_finished(tree):
    ordered, old = in_depth_first_order(tree)
    assert ordered.leaf_order.tolist() == list(range(tree.n_leaves))
    # after a node come only those that begin behind it or are above it
    ends = ordered.leaf_start + ordered.sizes
    assert (np.diff(ends[tree.n_leaves :]) >= 0).all()
    back = renumbered(ordered, np.argsort(old))
    assert back.same_topology(tree.replace(height=None))


def test_a_unary_chain_above_one_leaf_collapses_to_the_leaf():
    tree = Tree([1, 2, -1], 1, name=["a", "b", "c"])
    assert tree.collapse_unary().to_newick() == "a;"
    assert tree.binarize().to_newick() == "a;"
    assert tree.restrict([0]).n_nodes == 1


def test_a_long_chain_can_be_edited():
    tree = chain(100_000)
    assert tree.subtree(150_000).n_leaves == 50_002
    assert tree.restrict([0, 99_999]).n_nodes == 3


@pytest.mark.parametrize(
    ("leaves", "error", "message"),
    [
        ([], ValueError, "non-empty"),
        ([0, 0], ValueError, "repeat"),
        ([4], ValueError, "n_leaves=4"),
        ([-1], ValueError, "n_nodes"),
        ([[0, 1]], ValueError, "shape"),
        ([True, False, True, True], TypeError, "whole numbers"),
        ([0.5], TypeError, "whole numbers"),
    ],
)
def test_leaves_that_do_not_exist_are_refused(leaves, error, message):
    with pytest.raises(error, match=message):
        Tree([4, 4, 5, 5, 6, 6, -1], 4).restrict(leaves)


@given(trees(min_leaves=2, max_leaves=12, unary=0.2), st.integers(1, 6))
def test_top_and_parts_give_the_tree_back(tree, max_size):
    nodes = tree.cut_nodes(max_size=max_size)
    top = top_over(tree, nodes)
    assert top.n_leaves == len(nodes)
    assert is_above(tree, nodes).tolist() == [
        any(node in tree.ancestors(below) for below in nodes.tolist()) for node in range(tree.n_nodes)
    ]
    assert with_top(tree, nodes, top).same_topology(tree)
    leaves = [np.sort(tree.leaves(node)) for node in nodes]
    assert graft(top, [tree.subtree(node) for node in nodes], leaves).same_topology(tree)


@given(trees(min_leaves=2, max_leaves=12), st.integers(1, 6))
def test_another_top_keeps_what_is_below(tree, max_size):
    nodes = tree.cut_nodes(max_size=max_size)
    top = chain(len(nodes)) if len(nodes) > 1 else Tree([-1], 1)
    changed = with_top(tree, nodes, top)
    for node in nodes.tolist():
        leaves = np.sort(tree.leaves(node))
        assert changed.restrict(leaves).same_topology(tree.restrict(leaves))
    firsts = [int(tree.leaves(node)[0]) for node in nodes]
    assert changed.restrict(firsts).same_topology(top)
    assert labels_by_position(tree, nodes).tolist() == [
        next(k for k, node in enumerate(nodes) if leaf in tree.leaves(node)) for leaf in tree.leaf_order
    ]
