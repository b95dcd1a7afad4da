import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from arbora.hyperbolic.hyphc._decode_kernels import ancestor_gap
from arbora.hyperbolic.hyphc.decode import (
    _gaps,
    decode,
    decode_circle,
    decode_exact,
    decode_greedy,
    is_normalized,
)
from arbora.hyperbolic.lca import lca_depth

seeds = st.integers(0, 2**32 - 1)


def on_circle(seed, n, radius):
    theta = np.random.default_rng(seed).uniform(0, 2 * math.pi, n)
    return math.tanh(radius / 2) * np.column_stack([np.cos(theta), np.sin(theta)])


def in_ball(seed, n, dimension):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, dimension))
    return x / np.linalg.norm(x, axis=1, keepdims=True) * rng.uniform(0.1, 0.999, size=(n, 1))


def algorithm_1(points):
    """Clusters by sorting all pairs and merging, as the paper writes it."""
    tensor = torch.tensor(points)
    n = len(points)
    pairs = [(float(lca_depth(tensor[i], tensor[j])), i, j) for i in range(n) for j in range(i + 1, n)]
    root = {i: frozenset([i]) for i in range(n)}
    made = []
    for _, i, j in sorted(pairs, reverse=True):
        if root[i] != root[j]:
            union = root[i] | root[j]
            made.append(union)
            root.update(dict.fromkeys(union, union))
    return made


def clusters(tree):
    return [frozenset(tree.leaves(v).tolist()) for v in range(tree.n_leaves, tree.n_nodes)]


@given(seeds, st.integers(2, 12), st.integers(2, 4))
def test_exact_decoding_equals_algorithm_1(seed, n, dimension):
    points = in_ball(seed, n, dimension)
    assert clusters(decode_exact(points)) == algorithm_1(points)


@given(seeds, st.integers(1, 60), st.floats(0.1, 8.0))
def test_exact_circle_and_greedy_decoding_agree_on_normalized_embeddings(seed, n, radius):
    points = on_circle(seed, n, radius)
    exact, circle, greedy = (decode(points, method) for method in ("exact", "circle", "greedy"))
    assert exact.same_topology(circle) and circle.same_topology(greedy)
    np.testing.assert_allclose(np.sort(exact.height), np.sort(circle.height), atol=1e-6)


def top_down(theta):
    """Sec. 5: cut the circle at its widest gap, then split every part at its widest gap."""
    order = np.argsort(theta)
    gaps = np.diff(theta[order], append=theta[order[0]] + 2 * math.pi)
    first = int(np.argmax(gaps)) + 1
    order, gaps = np.roll(order, -first), np.roll(gaps, -first)[:-1]
    made, waiting = set(), [(0, len(order))]
    while waiting:
        low, high = waiting.pop()
        if high - low > 1:
            made.add(frozenset(order[low:high].tolist()))
            middle = low + 1 + int(np.argmax(gaps[low : high - 1]))
            waiting += [(low, middle), (middle, high)]
    return made


@given(seeds, st.integers(2, 60))
def test_greedy_decoding_splits_at_the_widest_angle(seed, n):
    points = in_ball(seed, n, 2)
    theta = np.mod(np.arctan2(points[:, 1], points[:, 0]), 2 * math.pi)
    assert set(clusters(decode_greedy(points))) == top_down(theta)


@settings(max_examples=15)
@given(seeds, st.integers(2, 5))
def test_the_kernels_ancestors_are_those_of_the_geometry(seed, dimension):
    points = in_ball(seed, 8, dimension)
    tensor, gaps = torch.tensor(points), _gaps(points)
    for i in range(8):
        for j in range(8):
            expected = 1 / math.cosh(float(lca_depth(tensor[i], tensor[j]))) ** 2
            assert ancestor_gap(points, gaps, i, j) == pytest.approx(expected, rel=1e-9)


@given(seeds, st.integers(2, 50), st.integers(2, 3))
def test_heights_grow_towards_the_root_and_leaves_are_drawn_around_the_circle(seed, n, dimension):
    tree = decode(in_ball(seed, n, dimension), "exact")
    below = np.arange(tree.n_nodes - 1)
    assert (tree.height[below] <= tree.height[tree.parent[below]] + 1e-12).all()
    theta = np.random.default_rng(seed).uniform(0, 2 * math.pi, n)
    order = theta[decode_circle(theta, 4.0).leaf_order]
    assert (np.diff(order) < 0).sum() <= 1  # ascending, around one wrap


def test_equal_angles_and_duplicates_decode():
    assert decode_circle(np.zeros(9)).n_leaves == 9
    assert decode_exact(np.full((9, 2), 0.3)).is_binary
    assert decode([[0.5, 0.0]]).n_nodes == 1


def test_auto_takes_the_circle_only_where_it_applies():
    assert is_normalized(on_circle(0, 10, 3.0))
    assert not is_normalized(in_ball(0, 10, 2))
    assert not is_normalized(in_ball(0, 10, 3))
    points = in_ball(3, 40, 2)
    assert decode(points).same_topology(decode_exact(points))


@pytest.mark.parametrize(
    ("points", "method", "message"),
    [
        ([[1.0, 0.0], [0.0, 0.5]], "auto", "inside the unit ball"),
        ([[np.nan, 0.0], [0.0, 0.5]], "auto", "inside the unit ball"),
        ([[0.1], [0.2]], "auto", "at least 2 dimensions"),
        (np.zeros((0, 2)), "auto", "shape"),
        ([[0.1, 0.2], [0.5, 0.5]], "circle", "method='exact'"),
        ([[0.1, 0.2, 0.1]], "greedy", "disk"),
        ([[0.1, 0.2]], "fast", "method must be one of"),
    ],
)
def test_bad_input_is_named(points, method, message):
    with pytest.raises(ValueError, match=message):
        decode(points, method)


def test_bad_angles_are_refused():
    with pytest.raises(ValueError, match="theta"):
        decode_circle([0.0, np.inf])
