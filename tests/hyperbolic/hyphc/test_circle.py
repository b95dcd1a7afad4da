import math

import numba
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from similarities import TableSimilarity

import arbora as ab
from arbora.hyperbolic import poincare
from arbora.hyperbolic.hyphc import circle as module
from arbora.hyperbolic.hyphc._kernels import Schedule
from arbora.hyperbolic.hyphc.ball import BallEngine
from arbora.hyperbolic.hyphc.circle import CircleEngine, circle_loss
from arbora.hyperbolic.hyphc.loss import circle_mean_loss, triple_losses
from arbora.hyperbolic.hyphc.triples import TripleSampler

SCHEDULE = Schedule((0.1, 0.01), (1.0, 0.5), (2.0, 5.0), False)


def world(seed, n=15, t=60):
    rng = np.random.default_rng(seed)
    triples = np.array([rng.choice(n, 3, replace=False) for _ in range(t)])
    return rng.uniform(0, 2 * math.pi, n), triples, rng.random((t, 3))


def loss_by_definition(theta, triples, w, radius, temperature):
    """Eq. 9's sum over triples, literally."""
    total = 0.0
    for (i, j, k), (w_ij, w_ik, w_jk) in zip(triples, w):
        depth = []
        for a, b in ((i, j), (i, k), (j, k)):
            angle = abs((theta[a] - theta[b] + math.pi) % (2 * math.pi) - math.pi)
            depth.append(math.atanh(math.cos(angle / 2) * math.tanh(radius)))
        share = np.exp(np.array(depth) / temperature)
        total += w_ij + w_ik + w_jk - float(np.dot(share / share.sum(), [w_ij, w_ik, w_jk]))
    return total


@given(st.integers(0, 999), st.floats(0.1, 6.0), st.floats(0.05, 2.0))
def test_loss_equals_its_definition(seed, radius, temperature):
    theta, triples, w = world(seed)
    loss, _, _ = circle_loss(theta, triples, w, radius=radius, temperature=temperature)
    assert loss == pytest.approx(loss_by_definition(theta, triples, w, radius, temperature), rel=1e-7)


@given(st.integers(0, 999), st.floats(0.1, 15.0), st.floats(0.05, 2.0))
def test_loss_and_gradient_equal_the_general_ones_in_pytorch(seed, radius, temperature):
    theta, triples, w = world(seed)
    angle = torch.tensor(theta, requires_grad=True)
    rho = torch.tensor(radius, dtype=torch.float64, requires_grad=True)
    points = torch.tanh(rho / 2) * torch.stack([angle.cos(), angle.sin()], dim=-1)
    expected = triple_losses(points[torch.tensor(triples)], torch.tensor(w), temperature).sum()
    expected.backward()
    loss, gradient, radius_gradient = circle_loss(theta, triples, w, radius=radius, temperature=temperature)
    assert loss == pytest.approx(expected.item(), rel=1e-9)
    scale = np.abs(gradient).max()
    np.testing.assert_allclose(gradient, angle.grad.numpy(), atol=1e-7 * scale)
    assert radius_gradient == pytest.approx(float(rho.grad), rel=1e-5, abs=1e-7)


def test_the_compiled_loss_is_differentiated_as_the_general_one_is():
    rng = np.random.default_rng(0)
    triples = np.array([rng.permutation(9)[:3] for _ in range(40)])
    weights = rng.uniform(size=(40, 3))
    gradients = []
    for compiled in (True, False):
        points = torch.tensor(0.1 * np.random.default_rng(1).normal(size=(9, 2)), requires_grad=True)
        if compiled:
            loss = circle_mean_loss(points, triples, weights, radius=2.5, temperature=0.2)
        else:
            placed = poincare.at_radius(points, 2.5)[torch.as_tensor(triples)]
            loss = triple_losses(placed, torch.as_tensor(weights), 0.2).mean()
        (3 * loss).backward()
        gradients.append((loss.item(), points.grad))
    assert gradients[0][0] == pytest.approx(gradients[1][0], rel=1e-12)
    torch.testing.assert_close(gradients[0][1], gradients[1][1], rtol=1e-9, atol=1e-12)


@given(st.integers(0, 999))
def test_gradient_equals_finite_differences(seed):
    theta, triples, w = world(seed, n=6, t=20)
    options = {"radius": 3.0, "temperature": 0.7}
    _, gradient, radius_gradient = circle_loss(theta, triples, w, **options)
    for leaf in range(6):
        step = np.zeros(6)
        step[leaf] = 1e-6
        up, down = (circle_loss(theta + s * step, triples, w, **options)[0] for s in (1, -1))
        assert gradient[leaf] == pytest.approx((up - down) / 2e-6, rel=1e-4, abs=1e-6)
    up, down = (circle_loss(theta, triples, w, radius=3 + s * 1e-6, temperature=0.7)[0] for s in (1, -1))
    assert radius_gradient == pytest.approx((up - down) / 2e-6, rel=1e-3, abs=1e-7)


@pytest.mark.parametrize("theta", [np.zeros(4), np.array([0, math.pi, 0, math.pi]), np.array([0, 2, 4, 6.0])])
def test_gradient_is_finite_at_coincident_and_opposite_leaves(theta):
    triples, w = np.array([[0, 1, 2], [1, 2, 3]]), np.array([[1.0, 0.5, 0.2], [0.1, 0.9, 0.3]])
    loss, gradient, radius_gradient = circle_loss(theta, triples, w, radius=15.0, temperature=0.01)
    assert np.isfinite(loss) and np.isfinite(gradient).all() and np.isfinite(radius_gradient)


def similarity_of(n, seed=0, d=4):
    return ab.similarity.cosine(np.random.default_rng(seed).normal(size=(n, d)))


def engine(similarity, batch, schedule=SCHEDULE, n_triples=3000, seed=5):
    sampler = TripleSampler(similarity, n_triples, seed=seed)
    theta = np.random.default_rng(seed).uniform(0, 2 * math.pi, similarity.n_points)
    return CircleEngine(sampler, theta, schedule, n_epochs=3, batch_size=batch)


def trained(made, n_epochs=3):
    losses = [made.run_epoch(epoch) for epoch in range(n_epochs)]
    return losses, made


@pytest.mark.parametrize("learn", [False, True])
def test_fused_steps_equal_steps_over_stored_triples(learn):
    schedule = SCHEDULE._replace(learn_radius=learn)
    similarity = similarity_of(25)
    fused_losses, fused = trained(engine(similarity, 64, schedule))
    plain_losses, plain = trained(engine(TableSimilarity(similarity.rows(np.arange(25))), 64, schedule))
    # steps of a pass that ends inside an epoch are spread over its progress alike only to rounding
    np.testing.assert_allclose(fused_losses, plain_losses, rtol=1e-3)
    assert fused.radius == pytest.approx(plain.radius, rel=1e-2)


def test_parallel_training_equals_serial_training_and_repeats(monkeypatch):
    similarity = similarity_of(40)
    monkeypatch.setattr(module, "PARALLEL_FROM", 1)
    parallel_losses, parallel = trained(engine(similarity, 500))
    _, again = trained(engine(similarity, 500))
    np.testing.assert_array_equal(parallel.theta, again.theta)
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        _, alone = trained(engine(similarity, 500))
    finally:
        numba.set_num_threads(before)
    np.testing.assert_array_equal(parallel.theta, alone.theta)
    monkeypatch.setattr(module, "PARALLEL_FROM", 10**9)
    serial_losses, _ = trained(engine(similarity, 500))
    np.testing.assert_allclose(parallel_losses, serial_losses, rtol=1e-6)


def test_training_lowers_the_loss():
    losses, made = trained(engine(similarity_of(30), 128, n_triples=20_000))
    assert losses[2] < losses[0]
    np.testing.assert_allclose(np.linalg.norm(made.embedding, axis=1), math.tanh(2.5))


def test_learned_radius_moves_and_stays_in_bounds():
    schedule = Schedule((0.3, 0.3), (0.5, 0.5), (1.0, 1.0), True)
    _, made = trained(engine(similarity_of(20), 64, schedule, n_triples=20_000))
    assert 0 < made.radius <= 36 and made.radius != 1.0


def test_first_step_of_both_engines_follows_the_same_gradient():
    similarity = similarity_of(20)
    sampler = TripleSampler(similarity, 500, seed=1)
    theta = np.random.default_rng(1).uniform(0, 2 * math.pi, 20)
    triples, w = next(sampler.blocks(0))
    start = math.tanh(1.0) * np.column_stack([np.cos(theta), np.sin(theta)])
    ball = BallEngine(sampler, start, SCHEDULE, n_epochs=3, batch_size=500)
    general = ball.loss(triples, w, 2.0, 1.0)
    general.backward()
    loss, gradient, _ = circle_loss(theta, triples, w, radius=2.0, temperature=1.0)
    assert loss / len(triples) == pytest.approx(general.item(), rel=1e-12)
    tangent = math.tanh(1.0) * np.column_stack([-np.sin(theta), np.cos(theta)])
    along = (ball._points.grad.numpy() * tangent).sum(axis=1)
    np.testing.assert_allclose(along, gradient / len(triples), atol=1e-12)


@pytest.mark.parametrize(
    ("dimension", "equal_radii", "learn"), [(2, True, True), (4, True, False), (3, False, False)]
)
def test_general_engine_lowers_the_loss_in_any_dimension(dimension, equal_radii, learn):
    similarity = similarity_of(20)
    sampler = TripleSampler(similarity, 2000, seed=0)
    start = 0.5 * np.random.default_rng(0).normal(size=(20, dimension)) / dimension
    schedule = Schedule((0.1, 0.02), (0.5, 0.3), (2.0, 4.0), learn)
    made = BallEngine(sampler, start, schedule, n_epochs=6, batch_size=250, equal_radii=equal_radii)
    losses = [made.run_epoch(epoch) for epoch in range(6)]
    assert losses[-1] < losses[0]
    norms = np.linalg.norm(made.embedding, axis=1)
    assert norms.max() < 1
    assert (np.ptp(norms) < 1e-12) == equal_radii
