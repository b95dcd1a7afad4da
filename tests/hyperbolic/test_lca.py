import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from arbora.hyperbolic import poincare
from arbora.hyperbolic.lca import lca_by_inversion, lca_depth, lca_depth_lemma, lca_point

seeds = st.integers(0, 2**32 - 1)


def points(seed, n, dimension, largest=3.0):
    rng = np.random.default_rng(seed)
    directions = torch.tensor(rng.normal(size=(n, dimension)))
    return poincare.at_radius(directions, torch.tensor(0.05 + largest * rng.random(n)))


@given(seeds)
def test_depth_equals_lemma_4_1_in_the_disk(seed):
    x, y = points(seed, 40, 2).split(20)
    torch.testing.assert_close(lca_depth(x, y, segment=False), lca_depth_lemma(x, y), rtol=1e-6, atol=1e-8)


@given(seeds, st.integers(2, 7))
def test_point_equals_the_form_by_inversion_in_any_dimension(seed, dimension):
    x, y = points(seed, 40, dimension).split(20)
    torch.testing.assert_close(lca_point(x, y, segment=False), lca_by_inversion(x, y), rtol=1e-6, atol=1e-8)


@given(seeds, st.integers(2, 5))
def test_lca_is_the_nearest_point_of_the_path(seed, dimension):
    x, y = points(seed, 2, dimension)
    path = poincare.geodesic(
        x.expand(2001, -1), y.expand(2001, -1), torch.linspace(0, 1, 2001, dtype=torch.float64)
    )
    nearest = poincare.norm(path).min()
    assert float(lca_depth(x, y)) <= float(nearest) + 1e-9
    assert float(lca_depth(x, y)) == pytest.approx(float(nearest), abs=1e-3)
    torch.testing.assert_close(poincare.norm(lca_point(x, y)), lca_depth(x, y))


@given(st.floats(0.1, math.pi - 0.1), st.floats(0.1, 16.0))
def test_on_a_circle_depth_follows_the_half_angle(angle, radius):
    x = math.tanh(radius / 2) * torch.tensor([1.0, 0.0], dtype=torch.float64)
    y = math.tanh(radius / 2) * torch.tensor([math.cos(angle), math.sin(angle)], dtype=torch.float64)
    assert float(lca_depth(x, y)) == pytest.approx(
        math.atanh(math.cos(angle / 2) * math.tanh(radius)), rel=1e-7
    )


@pytest.mark.parametrize("radius", [0.5, 5.0, 15.0, 30.0])
def test_depth_is_exact_for_coincident_points_up_to_distance_30(radius):
    x = poincare.at_radius(torch.tensor([0.3, -0.4, 0.1], dtype=torch.float64), radius)
    assert float(lca_depth(x, x)) == pytest.approx(float(poincare.norm(x)), rel=1e-12)


def test_on_one_ray_the_ancestor_is_the_inner_point():
    x, y = torch.tensor([0.2, 0.1]), torch.tensor([0.8, 0.4])
    torch.testing.assert_close(lca_point(x, y), x)
    assert float(lca_depth(x, -y)) == pytest.approx(0, abs=1e-6)


@settings(max_examples=15)
@given(seeds, st.integers(2, 4))
def test_gradient_equals_finite_differences(seed, dimension):
    x, y = (p.requires_grad_() for p in points(seed, 6, dimension, 2.0).split(3))
    # where the foot of the perpendicular sits exactly at an end, the depth has a kink: random points avoid it
    assert torch.autograd.gradcheck(lca_depth, (x, y), eps=1e-7, atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize(("dtype", "boundary"), [(torch.float64, 1e-7), (torch.float32, 1e-4)])
@pytest.mark.parametrize("segment", [True, False])
def test_gradients_are_finite_at_coincident_opposite_collinear_points_and_the_origin(
    dtype, boundary, segment
):
    base = torch.tensor(
        [[1.0, 0], [-1, 0], [0.6, 0.8], [0.5, 0], [0, 0], [1e-20, 0], [-0.3, -0.4]], dtype=dtype
    )
    scale = torch.where(base.norm(dim=-1, keepdim=True) > 0.9, 1 - boundary, 1.0).to(dtype)
    x = (base * scale).requires_grad_()
    for i in range(len(x)):
        for j in range(len(x)):
            depth = lca_depth(x[i], x[j], segment=segment)
            (gradient,) = torch.autograd.grad(depth, x)
            assert torch.isfinite(depth) and torch.isfinite(gradient).all(), (i, j)
            assert depth <= poincare.norm(x[i]) * (1 + 1e-4) + 1e-4
