"""Layouts equal their definitions, on every kind of tree, deep ones included."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import chain, random_tree, trees

from arbora import Tree
from arbora.view import _kernels as kernels
from arbora.view.layout import Layout, largest_nodes, mobius


def center_by_definition(tree):
    center = np.zeros(tree.n_nodes)
    center[tree.leaf_order] = np.arange(tree.n_leaves) + 0.5
    for node in range(tree.n_leaves, tree.n_nodes):
        children = tree.children(node)
        center[node] = (center[children[0]] + center[children[-1]]) / 2
    return center


@given(trees(max_leaves=20))
def test_center_equals_its_definition(tree):
    assert np.allclose(Layout(tree).center, center_by_definition(tree))


@given(trees(max_leaves=15, heights=True), st.sampled_from(["height", "size", "depth"]))
def test_along_never_falls_on_the_way_down(tree, scale):
    along = Layout(tree).along(scale)
    assert along[tree.root] == 0
    assert ((along >= 0) & (along <= 1)).all()
    if tree.n_nodes > 1:
        assert (along[:-1] >= along[tree.parent[:-1]]).all()


def test_a_child_above_its_parent_is_lowered_to_it():
    tree = Tree([3, 3, 4, 4, -1], 3, height=[0, 0, 0, 5.0, 4.0])
    assert Layout(tree).effective_height.tolist() == [0, 0, 0, 4, 4]


def test_an_unknown_scale_is_named():
    with pytest.raises(ValueError, match="scale must be"):
        Layout(chain(3)).along("width")


@given(trees(max_leaves=25))
def test_treemap_areas_are_leaf_counts_and_children_tile_their_parent(tree):
    rect = Layout(tree).rectangles
    area = (rect[:, 2] - rect[:, 0]) * (rect[:, 3] - rect[:, 1])
    assert np.allclose(area, tree.sizes / tree.n_leaves)
    for node in range(tree.n_leaves, tree.n_nodes):
        children = rect[tree.children(node)]
        assert (children[:, :2] >= rect[node, :2] - 1e-9).all()
        assert (children[:, 2:] <= rect[node, 2:] + 1e-9).all()


@given(trees(max_leaves=25))
def test_the_disk_holds_the_root_in_the_middle_and_children_further_out(tree):
    layout = Layout(tree)
    assert abs(layout.disk[tree.root]) < 1e-12
    assert (np.abs(layout.disk) < 1).all()
    assert (layout.disk_radius[:-1] >= layout.disk_radius[tree.parent[:-1]] - 1e-12).all()


@given(trees(max_leaves=15, heights=True), st.integers(1, 15))
def test_split_ranks_give_the_cut_of_the_tree(tree, k):
    from arbora.view.scores import cut_parts

    nodes = cut_parts(Layout(tree), k).nodes
    labels = np.empty(tree.n_leaves, dtype=int)
    for label, node in enumerate(nodes):
        labels[tree.leaves(node)] = label
    expected = tree.cut(n_clusters=len(nodes))
    pairs = set(zip(labels.tolist(), expected.tolist(), strict=True))
    assert len(pairs) == len(nodes)


@given(trees(max_leaves=30), st.integers(1, 40))
def test_unfolded_nodes_are_closed_under_parents_with_siblings_complete(tree, limit):
    nodes, opened = largest_nodes(tree, tree.root, limit)
    listed = set(nodes.tolist())
    assert nodes[0] == tree.root
    follow = 1
    for node, count in zip(nodes.tolist(), opened.tolist(), strict=True):
        children = tree.children(node).tolist()
        if count > 0:
            assert nodes[follow : follow + count].tolist() == children
            follow += count
        else:
            assert (count == 0) == (node < tree.n_leaves)
            assert not listed & set(children)


def test_unfolding_everything_lists_every_node_once():
    tree = random_tree(200, np.random.default_rng(0), max_branching=5)
    nodes, opened = largest_nodes(tree, tree.root, 10_000)
    assert sorted(nodes.tolist()) == list(range(tree.n_nodes))
    assert (opened >= 0).all()


def inversions_by_definition(values):
    return sum(values[i] > values[j] for i in range(len(values)) for j in range(i + 1, len(values)))


@given(st.lists(st.integers(0, 50), max_size=40))
def test_inversions_equal_their_definition(values):
    assert kernels.count_inversions(np.array(values, dtype=np.int64)) == inversions_by_definition(values)


@given(trees(max_leaves=20), st.integers(1, 5), st.integers(0, 99))
def test_majorities_equal_their_definition(tree, n_classes, seed):
    codes = np.random.default_rng(seed).integers(-1, n_classes, tree.n_leaves)
    winner, count = kernels.majority_below(codes[tree.leaf_order], n_classes, tree.leaf_start, tree.sizes)
    for node in range(tree.n_nodes):
        below = codes[tree.leaves(node)]
        counts = np.bincount(below[below >= 0], minlength=n_classes)
        assert count[node] == counts.max()
        assert winner[node] == (counts.argmax() if counts.max() else -1)


@settings(max_examples=30)
@given(trees(min_leaves=2, max_leaves=12), st.integers(0, 99))
def test_exemplars_of_a_node_are_its_leaves_nearest_its_mean_first(tree, seed):
    X = np.random.default_rng(seed).normal(size=(tree.n_leaves, 3))
    chosen = kernels.best_exemplars(
        tree.n_leaves, X, tree.sizes, tree.parent, tree.child_offsets, tree.child_index, 12
    )
    for node in range(tree.n_nodes):
        leaves = tree.leaves(node)
        found = chosen[node][chosen[node] >= 0]
        assert sorted(found.tolist()) == sorted(leaves.tolist())  # up to twelve: all of them here
        distance = ((X[found] - X[leaves].mean(axis=0)) ** 2).sum(axis=1)
        assert (np.diff(distance) >= -1e-12).all()


def test_a_chain_of_a_hundred_thousand_leaves_is_laid_out_without_recursion():
    layout = Layout(chain(100_000))
    assert np.isfinite(layout.rectangles).all()
    assert np.isfinite(layout.disk_radius).all()
    assert layout.deepest[-1] == 99_999


def test_mobius_is_an_isometry_of_the_disk():
    rng = np.random.default_rng(0)
    z = np.tanh(rng.normal(size=6)) * np.exp(2j * np.pi * rng.random(6))
    a = 0.6 + 0.3j

    def distance(p, q):
        return 2 * np.arctanh(np.abs((p - q) / (1 - np.conj(p) * q)))

    moved = mobius(z, a, np.exp(0.7j))
    assert np.allclose(distance(z[:3], z[3:]), distance(moved[:3], moved[3:]))
    assert abs(mobius(a, a)) < 1e-15
