"""The two costs equal their definitions, their gradients finite differences and autograd."""

import warnings

import ghhc_definitions as definitions
import ghhc_worlds as worlds
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arbora.hyperbolic.ghhc import _kernels as kernels
from arbora.hyperbolic.ghhc import model, ranking
from arbora.hyperbolic.ghhc.distances import NodeTable
from arbora.hyperbolic.ghhc.objectives import margin_cost, ranking_cost


def world(seed, n_nodes=7, n_triples=3):
    rng = np.random.default_rng(seed)
    points = np.stack([worlds.random_points(rng, n_triples, norm=0.7) for _ in range(3)])
    return points, worlds.random_nodes(rng, n_nodes), rng


def numerical(cost, at, step=1e-6):
    gradient = np.zeros_like(at)
    for index in np.ndindex(at.shape):
        moved = [at.copy(), at.copy()]
        moved[0][index] += step
        moved[1][index] -= step
        gradient[index] = (cost(moved[0]) - cost(moved[1])) / (2 * step)
    return gradient


@given(st.integers(0, 10_000), st.sampled_from([1.0, 0.3]))
def test_ranking_cost_equals_its_definition(seed, temperature):
    points, nodes, rng = world(seed)
    noise = rng.gumbel(size=(3, 7))
    found = ranking_cost(NodeTable(nodes), points, temperature=temperature, noise=noise).cost
    expected = [definitions.ranking_cost(points[:, t], nodes, temperature, noise[t]) for t in range(3)]
    np.testing.assert_allclose(found, expected, rtol=1e-7)


@pytest.mark.parametrize("seed", range(6))
def test_gradient_by_nodes_and_points_equals_finite_differences(seed):
    points, nodes, rng = world(seed)
    noise = 0.1 * rng.gumbel(size=(3, 7))
    result = ranking_cost(NodeTable(nodes), points, temperature=0.7, noise=noise, with_points=True)

    def cost(z=nodes, x=points):
        return ranking_cost(NodeTable(z), x, temperature=0.7, noise=noise).cost.sum()

    np.testing.assert_allclose(result.nodes.values, numerical(lambda z: cost(z=z), nodes), atol=2e-6)
    np.testing.assert_allclose(result.points, numerical(lambda x: cost(x=x), points), atol=2e-6)


@pytest.mark.parametrize("n_candidates", [None, 5])
def test_triples_taken_in_blocks_cost_what_they_do_together(monkeypatch, n_candidates):
    points, nodes, rng = world(0, n_triples=11)
    noise = rng.gumbel(size=(11, n_candidates or 7))
    options = {"noise": noise, "n_candidates": n_candidates, "with_points": True}
    together = ranking_cost(NodeTable(nodes), points, **options)
    monkeypatch.setattr(ranking, "BLOCK", 3 * 7 * 2)
    in_blocks = ranking_cost(NodeTable(nodes), points, **options)
    np.testing.assert_array_equal(in_blocks.cost, together.cost)
    np.testing.assert_array_equal(in_blocks.nodes.values, together.nodes.values)
    np.testing.assert_array_equal(in_blocks.points, together.points)


@given(st.integers(0, 10_000))
def test_with_all_nodes_as_candidates_the_restricted_cost_is_the_exact_one(seed):
    points, nodes, _ = world(seed)
    table = NodeTable(nodes)
    exact = ranking_cost(table, points, with_points=True)
    candidates = kernels.nearest_candidates(table.scores(points.reshape(9, -1)).reshape(3, 3, 7), 7)
    np.testing.assert_array_equal(np.sort(candidates, axis=1), np.tile(np.arange(7), (3, 1)))
    spare = NodeTable(
        np.concatenate([nodes, 0.84 * np.eye(4)[:1] * -1])
    )  # one more node, so that a choice is made
    restricted = ranking_cost(spare, points, n_candidates=8)
    full = ranking_cost(spare, points)
    np.testing.assert_allclose(restricted.cost, full.cost)
    assert exact.cost.shape == restricted.cost.shape


@pytest.mark.parametrize("seed", range(4))
def test_restricted_cost_and_gradient_approach_the_exact_ones_as_the_left_out_mass_vanishes(seed):
    rng = np.random.default_rng(seed)
    points = np.stack([worlds.random_points(rng, 20, 6) for _ in range(3)])
    table = NodeTable(worlds.random_nodes(rng, 200, 6))
    exact = ranking_cost(table, points, temperature=0.05)
    restricted = ranking_cost(table, points, temperature=0.05, n_candidates=64)
    np.testing.assert_allclose(restricted.cost, exact.cost, atol=5e-3)
    dense = np.zeros_like(exact.nodes.values)
    dense[restricted.nodes.rows] = restricted.nodes.values
    error = np.linalg.norm(dense - exact.nodes.values) / np.linalg.norm(exact.nodes.values)
    assert error < 0.02
    coarse = ranking_cost(table, points, temperature=0.05, n_candidates=8)
    assert np.abs(coarse.cost - exact.cost).max() >= np.abs(restricted.cost - exact.cost).max()


@given(st.integers(0, 10_000), st.integers(2, 9))
def test_candidates_are_the_nearest_to_the_pair_and_then_to_the_triple(seed, n_candidates):
    scores = np.random.default_rng(seed).random((3, 2, 10))
    for t, chosen in enumerate(kernels.nearest_candidates(scores, n_candidates)):
        pair, triple = scores[:2, t].max(axis=0), scores[:, t].max(axis=0)
        first = np.argsort(pair)[: n_candidates // 2]
        rest = [n for n in np.argsort(triple) if n not in first][: n_candidates - n_candidates // 2]
        assert chosen.tolist() == [*first, *rest]


@pytest.mark.parametrize("margin", [0.0, 0.5])
def test_margin_cost_and_gradient_equal_their_definition(margin):
    _, nodes, _ = world(2)
    table = NodeTable(nodes)
    parent = model.node_parents(table)
    children = np.flatnonzero(parent >= 0)
    cost, gradient = margin_cost(table, children, parent[children], margin)

    def by_definition(z):
        return sum(definitions.dissimilarity(z[c], z[parent[c]], margin) for c in children)

    assert cost == pytest.approx(by_definition(nodes))
    np.testing.assert_allclose(gradient.values, numerical(by_definition, nodes)[gradient.rows], atol=1e-5)


def test_coincident_points_and_nodes_have_finite_gradients():
    node = np.array([[0.3, 0.4], [0.0, 0.0]])
    points = np.tile(node[:1], (3, 1, 1))
    result = ranking_cost(NodeTable(node), points, with_points=True)
    assert np.isfinite(result.nodes.values).all() and np.isfinite(result.points).all()


def test_one_node_alone_can_be_no_ancestor_of_the_third_point():
    points, nodes, _ = world(0, n_nodes=1)
    assert np.isfinite(ranking_cost(NodeTable(nodes), points).cost).all()


def test_single_precision_follows_double_precision():
    points, nodes, _ = world(4)
    double = ranking_cost(NodeTable(nodes), points)
    single = ranking_cost(NodeTable(nodes.astype(np.float32)), points.astype(np.float32))
    assert single.nodes.values.dtype == np.float32
    np.testing.assert_allclose(single.nodes.values, double.nodes.values, atol=1e-3)


def test_precision_is_that_of_the_points_whatever_the_temperature_and_noise_are():
    points, nodes, rng = world(4)
    table = NodeTable(nodes.astype(np.float32))
    options = {"temperature": np.float64(0.2), "noise": rng.gumbel(size=(3, 7))}
    assert ranking_cost(table, points.astype(np.float32), **options).nodes.values.dtype == np.float32


def test_no_triple_is_refused():
    points, nodes, _ = world(0)
    with pytest.raises(ValueError, match="at least one triple"):
        ranking_cost(NodeTable(nodes), points[:, :0])


def test_what_the_caller_silences_is_silent_in_all_threads(monkeypatch):
    points, nodes, _ = world(0, n_triples=8)
    monkeypatch.setattr(ranking, "BLOCK", 1)
    with warnings.catch_warnings(record=True) as heard, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        ranking_cost(NodeTable(nodes), points, temperature=1e-320)
    assert heard == []
