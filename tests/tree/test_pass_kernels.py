"""Passes over the parent array against their definitions (sums, maxima and the index of LCAs: see test_tree)."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from trees import lca_by_definition, trees

from arbora.tree import edit_kernels
from arbora.tree import pass_kernels as kernels
from arbora.tree.surgery import in_depth_first_order

any_tree = trees(max_leaves=12, unary=0.3)
SEEDS = st.integers(0, 2**32 - 1)


@given(any_tree, SEEDS)
def test_any_numbering_is_sorted_children_first(tree, seed):
    n = tree.n_leaves
    moved = np.concatenate([np.arange(n), n + np.random.default_rng(seed).permutation(tree.n_internal)])
    parent = np.full(tree.n_nodes, -1)
    parent[moved] = np.where(tree.parent >= 0, moved[tree.parent], -1)
    number = kernels.sort_children_first(parent, n)
    assert sorted(number.tolist()) == list(range(tree.n_nodes))
    assert (number[:n] == np.arange(n)).all()
    has_parent = parent >= 0
    assert (number[parent[has_parent]] > number[has_parent]).all()


def test_a_cycle_shows_in_both_orders():
    parent = np.array([2, 3, 3, 2])
    assert (kernels.sort_children_first(parent, 2) < 0).any()
    assert len(edit_kernels.upward_order(parent, 2)) == 0


@given(any_tree)
def test_the_upward_order_has_children_first_and_the_deepest_before_all(tree):
    order = edit_kernels.upward_order(tree.parent, tree.n_leaves).tolist()
    assert sorted(order) == list(range(tree.n_leaves, tree.n_nodes))
    assert all(tree.depths[a] >= tree.depths[b] for a, b in pairwise(order))


@given(any_tree, SEEDS, st.booleans())
def test_meeting_mass_counts_ordered_pairs_where_they_meet(tree, seed, with_itself):
    mass = np.random.default_rng(seed).random(tree.n_leaves)
    expected = np.zeros(tree.n_nodes)
    for i in range(tree.n_leaves):
        for j in range(tree.n_leaves):
            if i != j:
                expected[lca_by_definition(tree, i, j)] += mass[i] * mass[j]
            elif with_itself and tree.n_leaves > 1:
                expected[tree.parent[i]] += mass[i] ** 2
    if tree.n_leaves > 1:
        found = kernels.meeting_mass(tree.parent, mass, with_itself * mass**2)
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_nothing_cancels_where_one_mass_dwarfs_the_others():
    # ((0, 1), 2) with a leaf of mass 1 beside two of 1e-12: mass(v)^2 minus squares would leave rounding
    parent = np.array([3, 3, 4, 4, -1])
    found = kernels.meeting_mass(parent, np.array([1e-12, 1e-12, 1.0]), np.zeros(3))
    np.testing.assert_allclose(found[3:], [2e-24, 4e-12], rtol=1e-14)


@given(any_tree)
def test_positions_of_leaves_are_seen_from_numbers_in_depth_first_order_alone(tree):
    """And then are those that lists of children give."""
    ordered, _ = in_depth_first_order(tree)
    for some in (tree, ordered):
        listed = kernels.place_leaves(some.n_leaves, some.sizes, some.child_offsets, some.child_index)
        seen = kernels.first_leaves(some.parent, some.n_leaves, some.sizes)
        is_in_order = (listed[: some.n_leaves] == np.arange(some.n_leaves)).all()
        assert len(seen) == (some.n_nodes if is_in_order else 0)
        assert np.array_equal(some.leaf_start, listed)
        if is_in_order:
            assert np.array_equal(seen, listed)


@given(any_tree)
def test_neighbors_in_leaf_order_join_at_their_lowest_common_ancestor(tree):
    order = tree.leaf_order
    joined = [lca_by_definition(tree, a, b) for a, b in pairwise(order.tolist())]
    assert tree.neighbor_lca.tolist() == joined
