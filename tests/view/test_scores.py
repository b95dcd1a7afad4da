"""Cuts of the page: numbered as `Tree.cut` numbers them, scored as `arbora.metrics` scores them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trees import random_tree

import arbora as ab
from arbora.view.columns import read_column
from arbora.view.layout import Layout
from arbora.view.scores import cut_parts, cut_pieces, describe_cut, splits_for


@given(st.integers(2, 40), st.integers(0, 200), st.data())
def test_cluster_numbers_are_those_of_tree_cut(n_leaves, seed, data):
    tree = random_tree(n_leaves, np.random.default_rng(seed), max_branching=4)
    layout = Layout(tree)
    reachable = sorted({1, *layout.clusters_after.tolist()})
    k = data.draw(st.sampled_from(reachable))
    labels, roots, _ = cut_parts(layout, k)
    assert labels.tolist() == tree.cut(n_clusters=k).tolist()
    assert roots.tolist() == tree.cut_nodes(n_clusters=k).tolist()
    pieces = cut_pieces(layout, k)
    assert labels[tree.leaf_order].tolist() == np.repeat(pieces.cluster, tree.sizes[pieces.nodes]).tolist()
    assert set(roots.tolist()) <= set(pieces.nodes.tolist())


def test_a_number_that_no_cut_has_gives_the_next_below():
    tree = random_tree(30, np.random.default_rng(1), max_branching=5)
    layout = Layout(tree)
    reachable = sorted({1, *layout.clusters_after.tolist()})
    for k in range(1, 31):
        assert len(cut_parts(layout, k).nodes) == max(r for r in reachable if r <= k)


def test_levels_of_a_taxonomy_stop_at_the_nodes_of_the_level():
    tree = random_tree(40, np.random.default_rng(0)).taxonomy([3, 9])
    roots = cut_parts(Layout(tree), 3).nodes
    assert set(tree.depths[roots]) == {1}
    assert splits_for(Layout(tree), 1) == 0


def test_scores_leave_out_what_has_no_class():
    from sklearn.metrics import adjusted_rand_score

    tree = random_tree(50, np.random.default_rng(0))
    classes = np.array(["x", "y", None], dtype=object)[np.arange(50) % 3]
    layout = Layout(tree)
    facts = describe_cut(layout, cut_parts(layout, 5).labels, read_column(tree, "c", classes))
    known = np.array([value is not None for value in classes])
    expected = adjusted_rand_score(classes[known].astype(str), tree.cut(n_clusters=5)[known])
    assert facts["ari"] == pytest.approx(expected)


def test_no_scores_against_numbers_dates_or_lumped_classes():
    tree = random_tree(50, np.random.default_rng(0))
    layout = Layout(tree)
    labels = cut_parts(layout, 5).labels
    for values in (np.arange(50.0), np.datetime64("2020-01-01") + np.arange(50)):
        assert "purity" not in describe_cut(layout, labels, read_column(tree, "c", values))


def test_small_branches_are_pieces_of_the_cluster_they_stay_with():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(150, 2)), rng.normal(size=(150, 2)) + 20, 300 * rng.normal(size=(20, 2))])
    tree = ab.linkage(X, "average")
    layout = Layout(tree)
    pieces = cut_pieces(layout, 2)
    assert len(pieces.nodes) > 2
    assert np.bincount(pieces.cluster, tree.sizes[pieces.nodes]).tolist() == np.bincount(tree.cut(2)).tolist()
    # nothing that is drawn closed at the cut is taken apart by it
    assert (layout.split_rank[pieces.nodes] >= splits_for(layout, 2)).all()
