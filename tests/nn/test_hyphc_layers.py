import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from arbora.hyperbolic import poincare
from arbora.nn import HyperbolicLogisticRegression, PoincareEmbedding
from arbora.nn.hyperbolic_logistic import gyroplane_logits


def ganea_logit(x, p, a):
    """Eq. 25 of Ganea et al., literally, for one point and class; `a` lives at the origin."""
    a_at_p = a * (1 - p @ p)
    u = poincare.mobius_add(-p, x)
    factor = 2 / (1 - p @ p) * a_at_p.norm()
    return factor * torch.asinh(2 * (u @ a_at_p) / ((1 - u @ u) * a_at_p.norm()))


@given(st.integers(0, 999), st.integers(2, 5))
def test_logits_equal_ganeas_formula(seed, dimension):
    rng = np.random.default_rng(seed)
    x, p = poincare.at_radius(torch.tensor(rng.normal(size=(2, dimension))), torch.tensor(2 * rng.random(2)))
    a = torch.tensor(rng.normal(size=dimension))
    ours = gyroplane_logits(x[None], p[None], a[None])[0, 0]
    assert ours.item() == pytest.approx(ganea_logit(x, p, a).item(), rel=1e-7, abs=1e-9)


@given(st.integers(0, 999))
def test_logit_is_the_scaled_signed_distance_to_the_gyroplane(seed):
    rng = np.random.default_rng(seed)
    x, p = poincare.at_radius(torch.tensor(rng.normal(size=(2, 2))), torch.tensor(1.5 * rng.random(2)))
    a = torch.tensor(rng.normal(size=2))
    across = torch.stack([-a[1], a[0]])
    t = torch.linspace(-12, 12, 6001, dtype=torch.float64)[:, None]
    plane = poincare.exp_map(p.expand(6001, -1), t * across / across.norm() * poincare.gap(p) / 2)
    nearest = float(poincare.distance(plane, x).min())
    logit = gyroplane_logits(x[None], p[None], a[None]).item()
    assert abs(logit) == pytest.approx(2 * float(a.norm()) * nearest, rel=1e-3, abs=1e-2)


def test_gradients_are_finite_at_the_gyroplane_and_near_the_boundary():
    layer = HyperbolicLogisticRegression(2, 3, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        layer.offset.zero_()
        layer.normal[0].zero_()
    x = torch.tensor([[0.0, 0.0], [1 - 1e-7, 0.0], [0.3, 0.2]], dtype=torch.float64, requires_grad=True)
    layer(x).sum().backward()
    assert all(torch.isfinite(g).all() for g in (x.grad, layer.offset.grad, layer.normal.grad))


def test_regression_learns_three_sectors():
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 300)
    y = torch.tensor((angle // (2 * np.pi / 3)).astype(int))
    x = torch.tensor(0.9 * np.column_stack([np.cos(angle), np.sin(angle)]))
    layer = HyperbolicLogisticRegression(2, 3, generator=torch.Generator().manual_seed(0))
    optimizer = torch.optim.Adam(layer.parameters(), lr=0.1)
    for _ in range(200):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(layer(x), y).backward()
        optimizer.step()
    assert (layer(x).argmax(-1) == y).double().mean() > 0.97


def test_table_hands_out_points_of_the_ball():
    table = PoincareEmbedding(50, 4, init_radius=2.0, generator=torch.Generator().manual_seed(1))
    radii = poincare.norm(table.weight)
    assert table.weight.shape == (50, 4) and float(radii.detach().max()) <= 2.0
    torch.testing.assert_close(table(torch.tensor([[3], [7]])), table.weight[torch.tensor([[3], [7]])])
    moved = poincare.norm(table.at_radius(1.5)).detach()
    torch.testing.assert_close(moved, torch.full_like(moved, 1.5))
    again = PoincareEmbedding(50, 4, init_radius=2.0, generator=torch.Generator().manual_seed(1))
    assert torch.equal(table.weight, again.weight)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: PoincareEmbedding(0), "num_embeddings"),
        (lambda: PoincareEmbedding(3, 1), "embedding_dim"),
        (lambda: PoincareEmbedding(3, init_radius=0.0), "init_radius"),
        (lambda: HyperbolicLogisticRegression(0, 2), "in_features"),
        (lambda: HyperbolicLogisticRegression(2, 1), "n_classes"),
        (lambda: HyperbolicLogisticRegression(2, 2)(torch.zeros(3, 5)), "2 coordinates"),
    ],
)
def test_bad_settings_are_named(make, name):
    with pytest.raises(ValueError, match=name):
        make()
