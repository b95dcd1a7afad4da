"""Walks follow edges by their weight; what cannot be walked is refused."""

import itertools
import sys

import numpy as np
import pytest

import arbora as ab
from arbora.probabilistic import _deepwalk_kernels as kernels
from arbora.probabilistic import deepwalk
from arbora.probabilistic.deepwalk import _noise_table

GRAPH = ab.similarity.graph(([0, 0, 1, 2], [1, 2, 2, 3], [1.0, 3.0, 2.0, 1.0]), n_points=5)


def walks_from(start, length, n_walks, seed=1):
    csr = GRAPH.csr
    cumulative, state = np.cumsum(csr.data), np.uint64(seed)
    found = []
    for _ in range(n_walks):
        path = np.full(length, -1, dtype=np.int64)
        n_steps, state = kernels.walk(csr.indptr, csr.indices, cumulative, start, path, np.uint64(state))
        found.append(path[:n_steps])
    return found


def test_walks_follow_edges():
    edges = set(zip(*map(np.ndarray.tolist, GRAPH.csr.nonzero())))
    for path in walks_from(0, 12, 20):
        assert len(path) == 12 and path[0] == 0
        assert all((int(a), int(b)) in edges for a, b in itertools.pairwise(path))


def test_edges_are_taken_as_often_as_they_weigh():
    first = np.array([path[1] for path in walks_from(0, 2, 4000)])
    assert np.mean(first == 2) == pytest.approx(0.75, abs=0.03) and set(first) == {1, 2}


def test_a_node_without_edges_is_not_left():
    assert walks_from(4, 6, 1)[0].tolist() == [4]


def test_random_numbers_are_evenly_spread():
    state, drawn = np.uint64(12345), []
    for _ in range(4000):
        state, value = kernels.next_random(np.uint64(state))
        drawn.append(value)
    assert 0 <= min(drawn) and max(drawn) < 1
    counts = np.histogram(drawn, bins=10, range=(0, 1))[0]
    assert counts.min() > 320 and counts.max() < 480


@pytest.mark.parametrize("targets", [[1], [1, 3, 2], [2, 4, 4]])
def test_a_node_is_pulled_to_the_first_target_and_pushed_from_others_by_logistic_regression(targets):
    vectors, context = np.random.default_rng(0).normal(size=(2, 5, 4)).astype(np.float32)
    is_near = np.arange(len(targets)) == 0
    step = 0.1 * (is_near - 1 / (1 + np.exp(-context[targets] @ vectors[0])))
    expected_vectors, expected_context = vectors.copy(), context.copy()
    np.add.at(expected_context, targets, np.outer(step, vectors[0]).astype(np.float32))
    if len(set(targets)) == len(targets):
        expected_vectors[0] += step @ context[targets]
    else:
        # what is drawn twice is pushed twice: the second time from where the first put it
        expected_vectors[0] += step[:2] @ context[targets[:2]] + step[2] * (context[4] + step[1] * vectors[0])
    room = [np.empty(4, dtype=np.float32) for _ in range(3)]
    kernels.learn_node(0, np.array(targets), len(targets), np.float32(0.1), vectors, context, *room)
    np.testing.assert_allclose(vectors, expected_vectors, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(context, expected_context, rtol=1e-4, atol=1e-6)


def test_negatives_are_drawn_by_degree_to_the_power_three_quarters():
    degree = np.array([0.0, 1.0, 16.0])
    share = np.bincount(_noise_table(degree, 9000), minlength=3) / 9000
    np.testing.assert_allclose(share, [0, 1 / 9, 8 / 9], atol=1e-3)
    assert len(_noise_table(np.ones(5000), 10)) == 20_000, "every node has a place"


def test_the_length_of_calls_changes_nothing(monkeypatch):
    whole = deepwalk(GRAPH, 3, n_walks=2, walk_length=5, random_state=0)
    monkeypatch.setattr(sys.modules[deepwalk.__module__], "_PRODUCTS_PER_CALL", 1)
    np.testing.assert_array_equal(deepwalk(GRAPH, 3, n_walks=2, walk_length=5, random_state=0), whole)


def test_a_node_without_edges_keeps_its_start():
    few = deepwalk(GRAPH, 3, n_walks=1, walk_length=5, random_state=0)
    many = deepwalk(GRAPH, 3, n_walks=4, walk_length=5, random_state=0)
    np.testing.assert_array_equal(few[4], many[4])
    assert few.dtype == np.float32 and np.isfinite(many).all()


@pytest.mark.parametrize(
    ("name", "bad", "error"),
    [
        ("dimension", 0, ValueError),
        ("n_walks", 0, ValueError),
        ("walk_length", 0, ValueError),
        ("walk_length", 2.5, TypeError),
        ("window", 0, ValueError),
        ("n_negative", -1, ValueError),
        ("learning_rate", 0.0, ValueError),
        ("learning_rate", float("nan"), ValueError),
        ("random_state", "x", TypeError),
    ],
)
def test_wrong_options_are_named(name, bad, error):
    with pytest.raises(error, match=name):
        deepwalk(GRAPH, **{name: bad})
