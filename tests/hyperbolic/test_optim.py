import pytest
import torch

from arbora.hyperbolic import poincare
from arbora.hyperbolic.optim import RiemannianAdam, RiemannianSGD


def start(seed=0):
    generator = torch.Generator().manual_seed(seed)
    directions = torch.randn(6, 3, generator=generator, dtype=torch.float64)
    return poincare.at_radius(directions, 1.0)


def paths(make, point, n_steps, target):
    optimizer = make([point])
    for _ in range(n_steps):
        optimizer.zero_grad()
        (poincare.distance(point, target) ** 2).sum().backward()
        optimizer.step()
    return point.detach()


def test_sgd_walks_like_geoopt():
    geoopt = pytest.importorskip("geoopt")
    target = start(1)
    ours = paths(lambda p: RiemannianSGD(p, lr=0.02), start().requires_grad_(), 15, target)
    theirs = geoopt.ManifoldParameter(start(), manifold=geoopt.PoincareBallExact())
    expected = paths(lambda p: geoopt.optim.RiemannianSGD(p, lr=0.02), theirs, 15, target)
    torch.testing.assert_close(ours, expected, rtol=1e-6, atol=1e-8)


def test_momentum_is_carried_along_the_path():
    target, point = start(1), start().requires_grad_()
    optimizer = RiemannianSGD([point], lr=0.02, momentum=0.9)
    expected, carried = start(), None
    for _ in range(5):
        optimizer.zero_grad()
        (poincare.distance(point, target) ** 2).sum().backward()
        optimizer.step()
        leaf = expected.clone().requires_grad_()
        (gradient,) = torch.autograd.grad((poincare.distance(leaf, target) ** 2).sum(), leaf)
        direction = gradient / poincare.conformal_factor(expected) ** 2
        direction = direction if carried is None else direction + 0.9 * carried
        moved = poincare.exp_map(expected, -0.02 * direction)
        expected, carried = moved, poincare.parallel_transport(expected, moved, direction)
        torch.testing.assert_close(point.detach(), expected)


def test_euclidean_groups_are_trained_by_plain_sgd():
    ours, theirs = (torch.ones(4, dtype=torch.float64).requires_grad_() for _ in range(2))
    first = RiemannianSGD([ours], lr=0.01, momentum=0.9, ball=False)
    second = torch.optim.SGD([theirs], lr=0.01, momentum=0.9)
    for parameter, optimizer in ((ours, first), (theirs, second)):
        for _ in range(10):
            optimizer.zero_grad()
            (parameter**4).sum().backward()
            optimizer.step()
    torch.testing.assert_close(ours, theirs)


def test_adam_walks_like_geoopt():
    geoopt = pytest.importorskip("geoopt")
    target = start(1)
    ours = paths(lambda p: RiemannianAdam(p, lr=0.05), start().requires_grad_(), 15, target)
    theirs = geoopt.ManifoldParameter(start(), manifold=geoopt.PoincareBallExact())
    expected = paths(lambda p: geoopt.optim.RiemannianAdam(p, lr=0.05), theirs, 15, target)
    torch.testing.assert_close(ours, expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("make", [RiemannianSGD, RiemannianAdam])
def test_points_never_leave_the_ball(make):
    point = start().requires_grad_()
    optimizer = make([point], lr=50.0)
    for _ in range(30):
        optimizer.zero_grad()
        (-poincare.norm(point)).sum().backward()
        optimizer.step()
        assert float(point.detach().norm(dim=-1).max()) <= 1 - 1e-7 + 1e-15
        assert torch.isfinite(point).all()


def test_euclidean_groups_are_trained_by_plain_adam():
    ours, theirs = (torch.ones(4, dtype=torch.float64).requires_grad_() for _ in range(2))
    first = RiemannianAdam([{"params": [ours], "ball": False}], lr=0.1)
    second = torch.optim.Adam([theirs], lr=0.1)
    for parameter, optimizer in ((ours, first), (theirs, second)):
        for _ in range(10):
            optimizer.zero_grad()
            (parameter**4).sum().backward()
            optimizer.step()
    torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize(
    ("make", "options", "name"),
    [
        (RiemannianSGD, {"lr": 0.0}, "lr"),
        (RiemannianSGD, {"momentum": 1.0}, "momentum"),
        (RiemannianAdam, {"lr": -1.0}, "lr"),
        (RiemannianAdam, {"betas": (0.9, 1.0)}, "betas"),
    ],
)
def test_bad_options_are_named(make, options, name):
    with pytest.raises(ValueError, match=name):
        make([start()], **options)
