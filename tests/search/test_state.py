"""Changeable trees and pieces of graphs, against plain definitions."""

import numpy as np
import scipy.sparse as sp
from graphs import random_graph
from hypothesis import given
from hypothesis import strategies as st
from trees import trees

import arbora as ab
from arbora.search._block_kernels import slice_square
from arbora.search._state import DASGUPTA, TSD, enlarged, make_state, node_costs, to_tree
from arbora.tree.pass_kernels import meeting_mass


@given(st.integers(2, 12), st.integers(0, 10**6))
def test_a_slice_is_the_square_of_those_rows_and_columns(n, seed):
    rng = np.random.default_rng(seed)
    csr = random_graph(n, rng).csr
    low = int(rng.integers(0, n - 1))
    high = int(rng.integers(low + 1, n + 1))
    indptr, indices, data = slice_square(csr.indptr, csr.indices, csr.data, low, high)
    found = sp.csr_array((data, indices, indptr), shape=(high - low, high - low))
    np.testing.assert_array_equal(found.toarray(), csr.toarray()[low:high, low:high])


@given(trees(min_leaves=2, max_leaves=12), st.integers(0, 10**6))
def test_a_state_is_that_of_its_tree_and_costs_what_the_tree_costs(tree, seed):
    graph = random_graph(tree.n_leaves, np.random.default_rng(seed))
    state = make_state(tree, graph.cross(tree), np.ones(tree.n_leaves), DASGUPTA)
    assert to_tree(state, tree).same_topology(tree)
    np.testing.assert_allclose(node_costs(state, DASGUPTA, 1.0).sum(), ab.metrics.dasgupta_cost(tree, graph))
    if graph.total > 0:
        state = make_state(tree, graph.cross(tree), graph.degrees, TSD)
        divergence = ab.metrics.tree_sampling_divergence(tree, graph, normalize=False)
        np.testing.assert_allclose(-node_costs(state, TSD, graph.total).sum(), divergence, atol=1e-9)


@given(trees(min_leaves=2, max_leaves=14), st.integers(0, 10**6))
def test_the_spread_of_a_state_is_the_meeting_mass_of_the_metric_to_the_last_bit(tree, seed):
    size = np.random.default_rng(seed).lognormal(sigma=9, size=tree.n_leaves)
    cross = np.zeros(tree.n_internal)
    for objective, with_itself in ((DASGUPTA, False), (TSD, True)):
        state = make_state(tree, cross, size, objective)
        found = 2 * state.nodes["spread"][: tree.n_nodes]
        np.testing.assert_array_equal(found, meeting_mass(tree.parent, size, with_itself))
        below = [sum(size[leaf] for leaf in tree.leaves(node)) for node in range(tree.n_nodes)]
        np.testing.assert_allclose(state.nodes["size"][: tree.n_nodes], below)


@given(trees(min_leaves=2, max_leaves=10), st.integers(0, 5), st.integers(0, 10**6))
def test_an_enlarged_state_holds_the_same_tree_under_new_numbers(tree, n_more, seed):
    rng = np.random.default_rng(seed)
    n = tree.n_leaves + n_more
    leaves = np.sort(rng.choice(n, tree.n_leaves, replace=False))
    state = enlarged(make_state(tree, np.ones(tree.n_internal), np.ones(tree.n_leaves), DASGUPTA), leaves, n)
    parent = state.nodes["parent"]
    for node in range(tree.n_leaves):
        above = parent[leaves[node]]
        assert above - n == tree.parent[node] - tree.n_leaves
    assert (parent[np.setdiff1d(np.arange(n), leaves)] == -1).all()
    n_free, n_leaves, room = state.numbers
    assert n_leaves == n and n_free == room >= n - 1 - tree.n_internal
    assert len(set(state.free[:n_free].tolist())) == n_free and state.free[:n_free].min(initial=n) >= n
