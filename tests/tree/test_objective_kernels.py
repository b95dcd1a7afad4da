"""Tables of best partitions, against trying all of them; and the sums that objectives are made of."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import leaf_sets, random_tree

from arbora.tree import objective_kernels as kernels


def case(n, seed, min_size=1, max_branching=3):
    rng = np.random.default_rng(seed)
    tree = random_tree(n, rng, max_branching=max_branching)
    return tree, rng.normal(size=tree.n_nodes), tree.sizes >= min_size


def partitions(tree, is_eligible, node=None):
    """All sets of eligible nodes that divide the leaves below a node, those of small branches left out."""
    node = tree.root if node is None else node
    found = [(node,)] if is_eligible[node] else []
    if node >= tree.n_leaves:
        below = [
            partitions(tree, is_eligible, child)
            for child in tree.children(node).tolist()
            if is_eligible[child]
        ]
        if below:
            found += [tuple(itertools.chain(*parts)) for parts in itertools.product(*below)]
    return list(dict.fromkeys(found))


def tables(tree, value, is_eligible, most=99):
    n_parts = kernels.count_parts(tree.parent, tree.n_leaves, is_eligible, most)
    starts = np.concatenate([[0], np.cumsum(n_parts)])
    arrays = tree.n_leaves, tree.child_offsets, tree.child_index
    return n_parts, starts, kernels.fill_tables(*arrays, value, n_parts, starts)


@settings(max_examples=40)
@given(st.integers(2, 8), st.integers(0, 1000), st.integers(1, 3))
def test_the_table_of_the_root_holds_the_best_of_all_partitions(n, seed, min_size):
    tree, value, is_eligible = case(n, seed, min_size)
    if not is_eligible[tree.root]:
        return
    n_parts, starts, table = tables(tree, value, is_eligible)
    best = {}
    for nodes in partitions(tree, is_eligible):
        best[len(nodes)] = max(best.get(len(nodes), -np.inf), value[list(nodes)].sum())
    own = table[starts[tree.root] : starts[tree.root] + n_parts[tree.root]]
    assert n_parts[tree.root] == max(best)
    for j, worth in enumerate(own, 1):
        assert worth == pytest.approx(best.get(j, -np.inf))


@settings(max_examples=40)
@given(st.integers(2, 8), st.integers(0, 1000), st.integers(1, 3), st.integers(1, 5))
def test_chosen_nodes_are_such_a_partition_and_have_its_value(n, seed, min_size, wanted):
    tree, value, is_eligible = case(n, seed, min_size)
    n_parts, starts, table = tables(tree, value, is_eligible)
    if n_parts[tree.root] < wanted or not np.isfinite(table[starts[tree.root] + wanted - 1]):
        return
    chosen = kernels.choose_nodes(
        tree.n_leaves, tree.root, tree.child_offsets, tree.child_index, value, n_parts, starts, table, wanted
    )
    assert len(chosen) == wanted
    assert value[chosen].sum() == pytest.approx(table[starts[tree.root] + wanted - 1])
    below = leaf_sets(tree)
    for one, other in itertools.combinations(chosen, 2):
        assert not below[one] & below[other]


@settings(max_examples=30)
@given(st.integers(2, 12), st.integers(0, 1000), st.integers(1, 4))
def test_tables_are_capped_without_changing_what_they_hold(n, seed, most):
    tree, value, is_eligible = case(n, seed)
    full_parts, full_starts, full = tables(tree, value, is_eligible)
    n_parts, starts, table = tables(tree, value, is_eligible, most)
    assert n_parts.max() <= most
    root = tree.root
    np.testing.assert_allclose(
        table[starts[root] : starts[root] + n_parts[root]],
        full[full_starts[root] : full_starts[root] + n_parts[root]],
    )
    assert full_parts[root] == n


def test_nodes_that_are_not_eligible_have_no_table():
    tree, _, _ = case(6, 0)
    is_eligible = tree.sizes >= 2
    n_parts = kernels.count_parts(tree.parent, tree.n_leaves, is_eligible, 99)
    assert (n_parts[~is_eligible] == 0).all() and (n_parts[is_eligible] >= 1).all()


@settings(max_examples=40)
@given(st.integers(2, 10), st.integers(0, 1000))
def test_leaves_below_no_chosen_node_go_to_the_largest_cluster_nearest_to_them(n, seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(n, rng, max_branching=3)
    below = leaf_sets(tree)
    # some nodes, none above another
    chosen = []
    for node in rng.permutation(tree.n_nodes).tolist():
        if not any(below[node] & below[other] for other in chosen) and len(chosen) < 3:
            chosen.append(node)
    cluster, nearest = kernels.label_leaves(tree.parent, n, tree.sizes, np.array(chosen))
    for leaf in range(n):
        inside = [k for k, node in enumerate(chosen) if leaf in below[node]]
        assert cluster[leaf] == (inside[0] if inside else -1)
        if inside:
            assert nearest[leaf] == inside[0]
            continue
        above = next(v for v in tree.ancestors(leaf) if any(below[node] <= below[v] for node in chosen))
        there = [k for k, node in enumerate(chosen) if below[node] <= below[above]]
        assert nearest[leaf] in there
        assert tree.sizes[chosen[nearest[leaf]]] == max(tree.sizes[chosen[k]] for k in there)


@settings(max_examples=30)
@given(st.integers(2, 10), st.integers(0, 1000), st.integers(1, 3))
def test_leaves_leave_a_cluster_with_their_branch_or_when_it_splits(n, seed, min_size):
    rng = np.random.default_rng(seed)
    tree = random_tree(n, rng)
    height = np.concatenate([np.zeros(n), np.sort(rng.random(tree.n_internal))])
    is_eligible = tree.sizes >= min_size
    found = kernels.exit_heights(n, tree.child_offsets, tree.child_index, tree.sizes, height, is_eligible)

    def by_definition(node):
        if node < n:
            return 0.0
        eligible = [child for child in tree.children(node).tolist() if is_eligible[child]]
        if len(eligible) != 1:
            return tree.sizes[node] * height[node]
        return by_definition(eligible[0]) + (tree.sizes[node] - tree.sizes[eligible[0]]) * height[node]

    np.testing.assert_allclose(found, [by_definition(node) for node in range(tree.n_nodes)])


@settings(max_examples=30)
@given(st.integers(1, 10), st.integers(1, 3), st.integers(0, 1000), st.sampled_from([0.0, 1e8]))
def test_sums_of_squares_equal_their_definition_far_from_the_origin_too(n, d, seed, shift):
    rng = np.random.default_rng(seed)
    tree, X = random_tree(n, rng, max_branching=4), rng.normal(size=(n, d)) + shift
    mean = np.zeros((tree.n_nodes, d))
    mean[:n] = X
    found = kernels.sum_of_squares(tree.parent, n, tree.sizes, mean)
    for node, leaves in enumerate(leaf_sets(tree)):
        rows = X[sorted(leaves)]
        assert found[node] == pytest.approx(((rows - rows.mean(axis=0)) ** 2).sum(), rel=1e-6, abs=1e-6)
        np.testing.assert_allclose(mean[node], rows.mean(axis=0), rtol=1e-9)
