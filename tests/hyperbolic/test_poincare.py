import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from arbora.hyperbolic import poincare

mpmath = pytest.importorskip("mpmath")
seeds = st.integers(0, 2**32 - 1)


def points(seed, n, dimension, largest=3.0, dtype=torch.float64):
    rng = np.random.default_rng(seed)
    directions = torch.tensor(rng.normal(size=(n, dimension)), dtype=dtype)
    return poincare.at_radius(directions, torch.tensor(largest * rng.random(n), dtype=dtype))


def distance_by_definition(x, y):
    """Eq. 3 in 60 digits, from the stored coordinates."""
    with mpmath.workdps(60):
        x, y = ([mpmath.mpf(float(c)) for c in p] for p in (x, y))
        apart = sum((a - b) ** 2 for a, b in zip(x, y))
        gap_x, gap_y = (1 - sum(c * c for c in p) for p in (x, y))
        return float(mpmath.acosh(1 + 2 * apart / (gap_x * gap_y)))


@given(seeds, st.integers(2, 6), st.floats(0.01, 30.0))
def test_distances_equal_eq_3_up_to_30_from_the_origin(seed, dimension, largest):
    x, y = points(seed, 2, dimension, largest)
    expected = distance_by_definition(x, y)
    assert float(poincare.distance(x, y)) == pytest.approx(expected, rel=1e-11)
    origin = torch.zeros(dimension, dtype=torch.float64)
    assert float(poincare.norm(x)) == pytest.approx(distance_by_definition(x, origin), rel=1e-11)


@pytest.mark.parametrize("radius", [1e-6, 1.0, 10.0, 15.0])
def test_opposite_points_are_twice_their_radius_apart(radius):
    x = poincare.at_radius(torch.tensor([1.0, 2.0, -0.5], dtype=torch.float64), radius)
    assert float(poincare.norm(x)) == pytest.approx(radius, rel=1e-8)
    assert float(poincare.distance(x, -x)) == pytest.approx(2 * radius, rel=1e-8)


@given(seeds, st.integers(2, 5))
def test_close_points_keep_their_distance(seed, dimension):
    x = points(seed, 1, dimension, 5.0)[0]
    y = x + 1e-9 * torch.tensor(np.random.default_rng(seed).normal(size=dimension))
    expected = distance_by_definition(x, y)
    assert float(poincare.distance(x, y)) == pytest.approx(expected, rel=1e-6)


def close(ours, theirs):
    torch.testing.assert_close(ours, theirs, rtol=1e-6, atol=1e-8)


@given(seeds, st.integers(2, 6))
def test_maps_agree_with_geoopt_inside_its_range(seed, dimension):
    geoopt = pytest.importorskip("geoopt")
    ball = geoopt.PoincareBallExact(c=1.0)
    x, y = points(seed, 2, dimension, 4.0)
    v = torch.tensor(np.random.default_rng(seed).normal(size=dimension)) * 0.05
    close(poincare.distance(x, y), ball.dist(x, y))
    close(poincare.norm(x), ball.dist0(x))
    close(poincare.mobius_add(x, y), ball.mobius_add(x, y))
    close(poincare.exp_map(x, v), ball.expmap(x, v))
    close(poincare.exp_map_origin(v), ball.expmap0(v))
    close(poincare.log_map(x, y), ball.logmap(x, y))
    close(poincare.geodesic(x, y, 0.3), ball.geodesic(torch.tensor(0.3, dtype=torch.float64), x, y))
    close(poincare.gyration(x, y, v), ball.gyration(x, y, v))
    close(poincare.parallel_transport(x, y, v), ball.transp(x, y, v))
    close(poincare.conformal_factor(x).squeeze(), ball.lambda_x(x))


@given(seeds, st.integers(2, 5), st.floats(0.1, 12.0))
def test_exp_undoes_log(seed, dimension, largest):
    x, y = points(seed, 2, dimension, largest)
    back = poincare.exp_map(x, poincare.log_map(x, y))
    assert float(poincare.distance(back, y)) < 1e-4
    middle = poincare.geodesic(x, y, 0.5)
    half = float(poincare.distance(x, y)) / 2
    assert float(poincare.distance(x, middle)) == pytest.approx(half, abs=1e-4)
    assert float(poincare.distance(middle, y)) == pytest.approx(half, abs=1e-4)


@given(seeds, st.integers(2, 5))
def test_reflections_are_isometries_that_undo_themselves(seed, dimension):
    x, y, axis = points(seed, 3, dimension)
    center = poincare.inversion_center(axis)
    for mirror in (lambda p: poincare.reflect(p, axis), lambda p: poincare.invert(p, center)):
        torch.testing.assert_close(mirror(mirror(x)), x)
        torch.testing.assert_close(poincare.distance(mirror(x), mirror(y)), poincare.distance(x, y))
    torch.testing.assert_close(poincare.invert(axis, center), torch.zeros_like(axis), atol=1e-12, rtol=0)


@given(seeds, st.integers(2, 5))
def test_klein_coordinates_come_back(seed, dimension):
    x = points(seed, 4, dimension, 5.0)
    torch.testing.assert_close(poincare.from_klein(poincare.to_klein(x)), x)


@pytest.mark.parametrize(("dtype", "boundary"), [(torch.float64, 1e-7), (torch.float32, 1e-4)])
def test_everything_stays_finite_up_to_the_stated_radius(dtype, boundary):
    directions = torch.tensor([[1.0, 0.0], [-1.0, 0.0], [0.6, 0.8], [1.0, 0.0], [0.0, 0.0]], dtype=dtype)
    x = ((1 - boundary) * directions).requires_grad_()
    for i in range(5):
        for j in range(5):
            total = (
                poincare.distance(x[i], x[j]) + poincare.norm(x[i]) + poincare.mobius_add(-x[i], x[j]).sum()
            )
            total = total + poincare.log_map(x[i], x[j]).sum() + poincare.geodesic(x[i], x[j], 0.5).sum()
            (gradient,) = torch.autograd.grad(total, x)
            assert torch.isfinite(total) and torch.isfinite(gradient).all(), (i, j)


def test_maps_have_their_derivative_where_lengths_have_none():
    x = points(0, 3, 3).requires_grad_()
    zero = torch.zeros_like(x, requires_grad=True)
    assert torch.autograd.gradcheck(poincare.exp_map, (x, zero))
    assert torch.autograd.gradcheck(poincare.log_map, (x, x.detach().clone().requires_grad_()))
    assert torch.autograd.gradcheck(poincare.exp_map_origin, (zero,))


@given(seeds)
def test_projection_keeps_the_inside_and_pulls_in_the_outside(seed):
    inside = points(seed, 5, 3)
    assert torch.equal(poincare.project(inside), inside)
    outside = inside / inside.norm(dim=-1, keepdim=True) * 7
    norms = poincare.project(outside).norm(dim=-1)
    torch.testing.assert_close(norms, torch.full_like(norms, 1 - 1e-7), rtol=1e-12, atol=0)
    assert poincare.max_radius(torch.float64) == pytest.approx(math.log(2e7), rel=1e-6)


@pytest.mark.parametrize("bad", [[[1.0, 0.0]], [[float("nan"), 0.0]], [[0.9, 0.9]]])
def test_points_outside_the_ball_are_refused(bad):
    with pytest.raises(ValueError, match="strictly inside the unit ball"):
        poincare.check_in_ball(torch.tensor(bad))


def test_whole_numbers_are_no_points():
    with pytest.raises(TypeError, match="floating-point"):
        poincare.check_in_ball(torch.zeros(2, 2, dtype=torch.int64))
