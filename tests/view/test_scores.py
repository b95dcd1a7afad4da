"""Cuts of the page: numbered as `Tree.cut` numbers them, scored as `arbora.metrics` scores them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trees import random_tree

from arbora.view.columns import read_column
from arbora.view.layout import Layout
from arbora.view.scores import cluster_nodes, cluster_of_leaf, describe_cut, splits_for


@given(st.integers(2, 40), st.integers(0, 200), st.data())
def test_cluster_numbers_are_those_of_tree_cut(n_leaves, seed, data):
    tree = random_tree(n_leaves, np.random.default_rng(seed), max_branching=4)
    layout = Layout(tree)
    reachable = sorted({1, *layout.clusters_after.tolist()})
    k = data.draw(st.sampled_from(reachable))
    roots = cluster_nodes(layout, k)
    labels = np.empty(n_leaves, dtype=int)
    labels[tree.leaf_order] = cluster_of_leaf(tree, roots)
    assert labels.tolist() == tree.cut(n_clusters=k).tolist()
    assert len(roots) == k


def test_a_number_that_no_cut_has_gives_the_next_below():
    tree = random_tree(30, np.random.default_rng(1), max_branching=5)
    layout = Layout(tree)
    reachable = sorted({1, *layout.clusters_after.tolist()})
    for k in range(1, 31):
        assert len(cluster_nodes(layout, k)) == max(r for r in reachable if r <= k)


def test_levels_of_a_taxonomy_stop_at_the_nodes_of_the_level():
    tree = random_tree(40, np.random.default_rng(0)).taxonomy([3, 9])
    roots = cluster_nodes(Layout(tree), 3)
    assert set(tree.depths[roots]) == {1}
    assert splits_for(Layout(tree), 1) == 0


def test_scores_leave_out_what_has_no_class():
    from sklearn.metrics import adjusted_rand_score

    tree = random_tree(50, np.random.default_rng(0))
    classes = np.array(["x", "y", None], dtype=object)[np.arange(50) % 3]
    facts = describe_cut(tree, cluster_nodes(Layout(tree), 5), read_column(tree, "c", classes))
    known = np.array([value is not None for value in classes])
    expected = adjusted_rand_score(classes[known].astype(str), tree.cut(n_clusters=5)[known])
    assert facts["ari"] == pytest.approx(expected)


def test_no_scores_against_numbers_dates_or_lumped_classes():
    tree = random_tree(50, np.random.default_rng(0))
    roots = cluster_nodes(Layout(tree), 5)
    for values in (np.arange(50.0), np.datetime64("2020-01-01") + np.arange(50)):
        assert "purity" not in describe_cut(tree, roots, read_column(tree, "c", values))
