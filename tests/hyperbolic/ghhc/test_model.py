"""Distances and distributions equal their definitions in the paper."""

import ghhc_definitions as definitions
import ghhc_worlds as worlds
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arbora.hyperbolic.ghhc import _kernels as kernels
from arbora.hyperbolic.ghhc import model
from arbora.hyperbolic.ghhc.distances import NodeTable, depths, gaps


def world(seed, n_nodes=6, n_points=5):
    rng = np.random.default_rng(seed)
    return worlds.random_points(rng, n_points), worlds.random_nodes(rng, n_nodes)


@given(st.integers(0, 10_000))
def test_distances_to_all_nodes_equal_the_formula(seed):
    points, nodes = world(seed)
    expected = [[definitions.distance(x, z) for z in nodes] for x in points]
    np.testing.assert_allclose(NodeTable(nodes).distances(points), expected, rtol=1e-9)


def test_distances_agree_with_the_geometry_of_the_ball():
    poincare = pytest.importorskip("arbora.hyperbolic.poincare", exc_type=ImportError)
    torch = pytest.importorskip("torch")
    points, nodes = world(3)
    expected = poincare.distance(torch.from_numpy(points)[:, None], torch.from_numpy(nodes)[None])
    np.testing.assert_allclose(NodeTable(nodes).distances(points), expected.numpy(), rtol=1e-9)
    np.testing.assert_allclose(depths(nodes), poincare.norm(torch.from_numpy(nodes)).numpy(), rtol=1e-9)


@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.4]))
def test_dissimilarities_equal_their_definition_also_with_a_margin(seed, margin):
    _, nodes = world(seed)
    children = nodes[::-1]  # some have parents of larger norm
    expected = [[definitions.dissimilarity(c, z, margin) for z in nodes] for c in children]
    found = NodeTable(nodes).dissimilarities(children, margin)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-5)


def test_scores_follow_nodes_that_moved():
    points, nodes = world(1)
    table = NodeTable(nodes)
    table.nodes[2] *= 0.5
    table.refresh(np.array([2]))
    np.testing.assert_allclose(table.scores(points), NodeTable(table.nodes).scores(points))


@given(st.integers(0, 10_000))
def test_points_select_the_nearest_node_with_its_probability(seed):
    points, nodes = world(seed)
    parent, probability = model.nearest_parents(NodeTable(nodes), points)
    for row, x in enumerate(points):
        d = [definitions.dissimilarity(x, z) for z in nodes]
        assert parent[row] == int(np.argmin(d))
        assert probability[row] == pytest.approx(definitions.softmax([-v for v in d])[parent[row]])


@given(st.integers(0, 10_000), st.sampled_from([np.float32, np.float64]))
def test_the_mass_over_all_nodes_is_the_sum_of_exponentials_in_either_precision(seed, dtype):
    points, nodes = world(seed, n_nodes=40)
    table, points = NodeTable(nodes.astype(dtype)), points.astype(dtype)
    found = kernels.unnormalized_mass(table.scores(points), gaps(points))
    expected = np.exp(-NodeTable(nodes).distances(points.astype(np.float64))).sum(axis=1)
    np.testing.assert_allclose(found, expected, rtol=1e-4 if dtype is np.float32 else 1e-9)


def test_points_below_the_nodes_pay_the_penalty():
    points, nodes = world(5)
    inner = points / 3
    parent, probability = model.nearest_parents(NodeTable(nodes), inner)
    expected = model.point_log_probabilities(NodeTable(nodes), inner)
    np.testing.assert_array_equal(parent, expected.argmax(axis=1))
    np.testing.assert_allclose(probability, np.exp(expected.max(axis=1)))


@given(st.integers(0, 10_000))
def test_nodes_select_the_nearest_node_of_smaller_norm(seed):
    _, nodes = world(seed, n_nodes=9)
    found = model.node_parents(NodeTable(nodes))
    for n in range(len(nodes)):
        allowed = definitions.smaller_nodes(n, nodes)
        assert found[n] == (definitions.parent(nodes[n], nodes, allowed) if allowed else -1)


def test_equal_norms_are_ordered_by_index_and_give_one_root():
    nodes = 0.5 * np.eye(4)
    parent = model.node_parents(NodeTable(nodes))
    assert parent[0] == -1
    assert (parent[1:] < np.arange(1, 4)).all()


@given(st.integers(0, 10_000))
def test_the_probability_of_a_tree_is_the_product_over_its_edges(seed):
    points, nodes = world(seed, n_nodes=4, n_points=3)
    table = NodeTable(nodes)
    rng = np.random.default_rng(seed)
    point_parent = rng.integers(4, size=3)
    expected, node_parent = 0.0, np.full(4, -1)
    for x, p in zip(points, point_parent):
        logits = [-definitions.dissimilarity(x, z) for z in nodes]
        expected += np.log(definitions.softmax(logits)[p])
    for n in range(4):
        allowed = definitions.smaller_nodes(n, nodes)
        if allowed:
            choice = rng.integers(len(allowed))
            node_parent[n] = allowed[choice]
            logits = [-definitions.distance(nodes[n], nodes[m]) for m in allowed]
            expected += np.log(definitions.softmax(logits)[choice])
    found = model.tree_log_probability(table, points, point_parent, node_parent)
    assert found == pytest.approx(expected, rel=1e-6)


@given(st.integers(0, 10_000), st.sampled_from([1.0, 0.3]))
def test_lca_distributions_equal_their_definition(seed, temperature):
    points, nodes = world(seed, n_points=3)
    pair, triple = model.lca_distributions(NodeTable(nodes), points[:, None, :], temperature)
    expected = definitions.lca_distributions(points, nodes, temperature)
    np.testing.assert_allclose(pair[0], expected[0], rtol=1e-7)
    np.testing.assert_allclose(triple[0], expected[1], rtol=1e-7)
    assert triple[0, pair[0].argmax()] == 0
