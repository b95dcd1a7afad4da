import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import random_tree

import arbora as ab
from arbora.hyperbolic.hyphc.decode import decode_exact
from arbora.hyperbolic.hyphc.loss import triple_losses
from arbora.hyperbolic.lca import lca_depth
from arbora.hyperbolic.sarkar import sarkar_embedding
from arbora.hyperbolic.spread import lca_depths, measure_spread


def ball_points(seed, n, dimension=2):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, dimension))
    return x / np.linalg.norm(x, axis=1, keepdims=True) * rng.uniform(0.2, 0.99, size=(n, 1))


@settings(max_examples=20)
@given(st.integers(0, 999), st.integers(3, 8), st.integers(2, 4))
def test_spread_equals_its_definition(seed, n, dimension):
    points = ball_points(seed, n, dimension)
    tensor = torch.tensor(points)
    spread, margin = np.inf, np.inf
    for i, j, k in itertools.combinations(range(n), 3):
        depths = sorted(float(lca_depth(tensor[a], tensor[b])) for a, b in ((i, j), (i, k), (j, k)))
        spread, margin = min(spread, depths[2] - depths[0]), min(margin, depths[2] - depths[1])
    report = measure_spread(points, 1.0)
    assert report.spread == pytest.approx(spread, abs=1e-9)
    assert report.margin == pytest.approx(margin, abs=1e-9)
    assert report.is_exact and report.n_triples == n * (n - 1) * (n - 2) // 6


def test_matrix_of_depths_equals_the_geometry():
    points = ball_points(0, 12, 3)
    tensor = torch.tensor(points)
    expected = lca_depth(tensor[:, None], tensor[None, :])
    np.testing.assert_allclose(lca_depths(points), expected.numpy(), atol=1e-7)


def test_a_sample_never_sees_less_than_the_truth():
    points = ball_points(1, 450)
    report = measure_spread(points, 1.0, n_triples=20_000)
    assert not report.is_exact
    from arbora.hyperbolic._spread_kernels import least_margins

    spread, margin = least_margins(lca_depths(points))
    assert report.spread >= spread and report.margin >= margin


def all_triples(n):
    return np.array(list(itertools.combinations(range(n), 3)))


@settings(max_examples=20)
@given(st.integers(0, 999), st.integers(4, 8))
def test_continuous_and_discrete_cost_differ_by_less_than_the_bound(seed, n):
    rng = np.random.default_rng(seed)
    tree = random_tree(n, rng)
    points = sarkar_embedding(tree)[:n]
    similarity = ab.similarity.cosine(rng.normal(size=(n, 3)))
    temperature = 0.5
    report = measure_spread(points, temperature, similarity)
    triples = all_triples(n)
    i, j, k = triples.T
    w = np.column_stack([similarity.pairs(i, j), similarity.pairs(i, k), similarity.pairs(j, k)])
    soft = float(
        triple_losses(torch.tensor(points)[torch.tensor(triples)], torch.tensor(w), temperature).sum()
    )
    continuous = soft + 2 * similarity.total
    discrete = ab.metrics.dasgupta_cost(decode_exact(points), similarity)
    lower, _ = ab.metrics.dasgupta_bounds(similarity)
    assert abs(continuous - discrete) <= report.epsilon * lower / 2 + 1e-9


def test_longer_edges_are_more_spread_and_bound_better():
    tree = random_tree(6, np.random.default_rng(0))
    short, long = (measure_spread(sarkar_embedding(tree, length)[:6], 0.5) for length in (2.5, 4.0))
    assert long.spread > short.spread and long.epsilon < short.epsilon
    crowded = measure_spread(np.full((4, 2), 0.1), 0.5)
    assert crowded.spread == 0 and crowded.epsilon == np.inf and not crowded.is_spread


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="temperature"):
        measure_spread(ball_points(0, 4), 0.0)
    with pytest.raises(ValueError, match="inside the unit ball"):
        measure_spread(np.ones((4, 2)), 1.0)
    assert measure_spread(ball_points(0, 2), 1.0).n_triples == 0
