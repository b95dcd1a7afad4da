"""Changeable trees and pieces of graphs, against plain definitions."""

import numpy as np
import pytest
import scipy.sparse as sp
from graphs import random_graph
from hypothesis import given
from hypothesis import strategies as st
from trees import chain, trees

import arbora as ab
from arbora.search import _gather_kernels, _graph_kernels
from arbora.search._block_kernels import slice_square
from arbora.search._state import DASGUPTA, TSD, enlarged, make_state, measure_again, node_costs, to_tree
from arbora.search.engines import GraphEngine
from arbora.search.moves import Moves
from arbora.search.run import Run
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
        np.testing.assert_array_equal(found, meeting_mass(tree.parent, size, with_itself * size**2))
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


def badly_scaled_graph(rng, n=24, n_heavy=4):
    """Four communities of weights of about 1e-12, beside a few points with weights of about 1e12 among them."""
    community = rng.integers(0, 4, n)
    i, j = np.triu_indices(n, 1)
    weight = rng.random(len(i)) * np.where(community[i] == community[j], 1.0, 0.05)
    weight *= np.where((i < n_heavy) & (j < n_heavy), 1e12, 1e-12)
    keep = rng.random(len(i)) < 0.6
    return ab.similarity.graph((i[keep], j[keep], weight[keep]), n_points=n)


def measures(state, tree):
    """Size, cross and spread of the nodes of a tree, by the leaves below them."""
    below = {}
    for leaf in range(tree.n_leaves):
        node = leaf
        while node >= 0:
            below.setdefault(node, set()).add(leaf)
            node = int(state.nodes["parent"][node])
    order = sorted(below, key=lambda node: sorted(below[node]))
    return np.array([[state.nodes[key][node] for key in ("size", "cross", "spread")] for node in order])


@pytest.mark.parametrize("seed", range(5))
def test_measuring_again_leaves_no_rounding_of_moves_between_badly_scaled_weights(seed):
    rng = np.random.default_rng(seed)
    graph = badly_scaled_graph(rng)
    engine = GraphEngine(graph, "tsd")
    state = engine.state(chain(graph.n_points))
    work = _gather_kernels.make_work(graph.n_points, len(state.nodes))
    _graph_kernels.regraft(state, engine._arrays, work, rng.permutation(len(state.nodes) - 1), np.inf, TSD)
    moved = to_tree(state)
    fresh = measures(engine.state(moved), moved)
    assert not np.allclose(measures(state, moved), fresh, rtol=1e-3, atol=0)
    measure_again(state, graph.cross)
    np.testing.assert_allclose(measures(state, moved), fresh, rtol=1e-12, atol=0)
    np.testing.assert_array_equal(to_tree(state).parent, moved.parent)


@pytest.mark.parametrize("seed", range(5))
def test_a_search_on_badly_scaled_weights_ends_where_no_move_helps(seed):
    graph = badly_scaled_graph(np.random.default_rng(seed))
    engine = GraphEngine(graph, "tsd")
    found = engine.improve(chain(graph.n_points), Run())
    assert engine.improve(found, Run(), Moves(max_sweeps=1)).same_topology(found)
