"""Descent on single rows of nodes: the paper's retraction, plain Adam, and rows that were not touched stay."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arbora.errors import DivergedError
from arbora.hyperbolic.ghhc.distances import NodeTable
from arbora.hyperbolic.ghhc.objectives import RowGradient
from arbora.hyperbolic.ghhc.optimizers import OPTIMIZERS, RowAdam, RowDescent, retract


def nodes(n=6, d=3, seed=0, radius=0.8):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, d))
    return points * (radius * rng.random(n) / np.linalg.norm(points, axis=1))[:, None]


@settings(max_examples=30)
@given(st.integers(0, 1000), st.floats(0.1, 0.999))
def test_points_stay_within_the_limit_and_keep_their_direction(seed, limit):
    points, moves = nodes(seed=seed, radius=limit), np.random.default_rng(seed).normal(size=(6, 3))
    found = retract(points, moves, limit)
    moved = points + moves
    norm = np.linalg.norm(moved, axis=1)
    assert (np.linalg.norm(found, axis=1) <= limit * (1 + 1e-12)).all()
    inside = norm <= limit
    np.testing.assert_array_equal(found[inside], moved[inside])
    np.testing.assert_allclose(found[~inside] / limit, moved[~inside] / norm[~inside, None], atol=1e-12)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_node_that_is_no_longer_a_number_is_noticed(bad):
    with pytest.raises(DivergedError, match="diverged"):
        retract(np.zeros((2, 2)), np.array([[0.0, 0.0], [bad, 0.0]]), 0.9)


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_only_touched_rows_move(kind):
    table, before = NodeTable(nodes()), nodes()
    optimizer = OPTIMIZERS[kind](6, 3, np.dtype(float))
    rows = np.array([1, 4])
    optimizer.step(table, RowGradient(rows, np.ones((2, 3))), 0.1, 0.95)
    others = np.setdiff1d(np.arange(6), rows)
    np.testing.assert_array_equal(table.nodes[others], before[others])
    assert (table.nodes[rows] != before[rows]).all()
    np.testing.assert_allclose(table.gap, 1 - (table.nodes**2).sum(axis=1))


def test_descent_is_the_gradient_in_the_metric_of_the_ball():
    table, start = NodeTable(nodes()), nodes()
    gradient = np.random.default_rng(1).normal(size=(6, 3))
    RowDescent(6, 3, np.dtype(float)).step(table, RowGradient(np.arange(6), gradient), 0.01, 0.999)
    conformal = 2 / (1 - (start**2).sum(axis=1))
    np.testing.assert_allclose(table.nodes, start - 0.01 * gradient / conformal[:, None] ** 2)
    assert RowDescent(6, 3, np.dtype(float)).state() == {}


def adam_by_definition(start, gradients, rate):
    """One node, in plain Python."""
    x, first, second = start.copy(), np.zeros_like(start), 0.0
    for t, gradient in enumerate(gradients, 1):
        conformal = 2 / (1 - x @ x)
        direction = gradient / conformal**2
        first = 0.9 * first + 0.1 * direction
        second = 0.999 * second + 0.001 * conformal**2 * (direction @ direction)
        x = x - rate * (first / (1 - 0.9**t)) / (np.sqrt(second / (1 - 0.999**t)) + 1e-8)
    return x


def test_adam_counts_the_steps_of_each_node_by_itself():
    table, start = NodeTable(nodes()), nodes()
    optimizer = RowAdam(6, 3, np.dtype(float))
    rng = np.random.default_rng(2)
    seen = {row: [] for row in range(6)}
    for touched in ([0, 1], [1], [1, 2], [0]):
        values = 0.1 * rng.normal(size=(len(touched), 3))
        for row, value in zip(touched, values):
            seen[row].append(value)
        optimizer.step(table, RowGradient(np.array(touched), values), 0.01, 0.999)
    for row, gradients in seen.items():
        np.testing.assert_allclose(
            table.nodes[row], adam_by_definition(start[row], gradients, 0.01), rtol=1e-10
        )
    assert optimizer.count.tolist() == [2, 3, 1, 0, 0, 0]


def test_adam_goes_on_from_its_state():
    gradient = RowGradient(np.arange(6), np.random.default_rng(3).normal(size=(6, 3)))
    through, stopped = NodeTable(nodes()), NodeTable(nodes())
    one = RowAdam(6, 3, np.dtype(float))
    for _ in range(4):
        one.step(through, gradient, 0.01, 0.99)
    first = RowAdam(6, 3, np.dtype(float))
    for _ in range(2):
        first.step(stopped, gradient, 0.01, 0.99)
    second = RowAdam(6, 3, np.dtype(float))
    second.load(first.state())
    for _ in range(2):
        second.step(stopped, gradient, 0.01, 0.99)
    np.testing.assert_array_equal(stopped.nodes, through.nodes)


def test_single_precision_stays_single():
    table = NodeTable(nodes().astype(np.float32))
    RowAdam(6, 3, np.dtype(np.float32)).step(
        table, RowGradient(np.arange(6), np.ones((6, 3), np.float32)), 0.01, 0.99
    )
    assert table.nodes.dtype == np.float32
