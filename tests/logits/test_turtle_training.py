"""Steps of TURTLE against PyTorch's own gradients and optimizer."""

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from arbora.logits import _turtle_training as training  # noqa: E402


def points(n=30, d=4, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=(n, d)).astype(np.float32))


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def test_classifiers_take_the_steps_of_adam_on_the_cross_entropy():
    spaces = [points(), points(d=3, seed=1)]
    labels = torch.softmax(points(30, 5, 2), dim=1)
    own = training._Classifiers(spaces, 5, 0.05, seeded())
    theirs = [tuple(p.clone().requires_grad_() for p in pair) for pair in own.linear]
    adam = torch.optim.Adam([p for pair in theirs for p in pair], lr=0.05)
    for _ in range(4):
        own.step(spaces, labels)
        adam.zero_grad()
        loss = sum(
            -(labels * torch.log_softmax(space @ weight.t() + bias, dim=1)).sum(dim=1).mean()
            for space, (weight, bias) in zip(spaces, theirs)
        )
        loss.backward()
        adam.step()
    for mine, pair in zip(own.linear, theirs):
        for a, b in zip(mine, pair):
            torch.testing.assert_close(a, b.detach(), rtol=1e-4, atol=1e-5)


def test_the_cross_entropy_is_the_mean_over_points_summed_over_spaces():
    spaces = [points(), points(seed=3)]
    labels = torch.softmax(points(30, 5, 2), dim=1)
    own = training._Classifiers(spaces, 5, 0.05, seeded())
    wanted = 0.0
    for space, (weight, bias) in zip(spaces, own.linear):
        log_p = torch.log_softmax(space @ weight.t() + bias, dim=1)
        wanted += float(torch.nn.functional.cross_entropy(space @ weight.t() + bias, labels))
        assert log_p.shape == (30, 5)
    assert float(own.cross_entropy(spaces, labels)) == pytest.approx(wanted, rel=1e-5)


def test_a_head_is_weight_normalized():
    head = training._Head(4, 3, seeded())
    torch.testing.assert_close(head.weight().norm(dim=1, keepdim=True), head.length)
    with torch.no_grad():
        head.direction.mul_(7)
    torch.testing.assert_close(head.weight().norm(dim=1, keepdim=True), head.length)
    p = head.probabilities(points())
    torch.testing.assert_close(p.sum(dim=1), torch.ones(30))
    weight, bias = head.frozen()
    assert not weight.requires_grad and not bias.requires_grad


def test_linear_maps_start_within_their_bounds():
    weight, bias = training._random_linear(16, 200, seeded())
    assert weight.shape == (200, 16) and bias.shape == (200,)
    assert weight.abs().max() <= 0.25 and bias.abs().max() <= 0.25
    assert weight.std() == pytest.approx(0.25 / math.sqrt(3), rel=0.05)


def test_a_batch_is_the_same_points_in_every_space_or_all_of_them():
    spaces = [torch.arange(10.0)[:, None], 100 + torch.arange(10.0)[:, None]]
    first, second = training._draw(spaces, 10, 6, seeded())
    assert len(first) == 6
    torch.testing.assert_close(second, first + 100)
    assert training._draw(spaces, 10, 10, seeded()) is spaces


def trainer(**options):
    defaults = {
        "entropy_weight": 10.0, "inner_steps": 3, "learning_rate": 0.01, "inner_learning_rate": 0.01, "batch_size": 100,
        "warm_start": True, "generator": seeded(),
    }  # fmt: skip
    return training.Trainer([points(60)], 3, **{**defaults, **options})


def test_a_cold_start_forgets_what_classifiers_learned():
    warm, cold = trainer(), trainer(warm_start=False)
    for each in (warm, cold):
        each.step()
        each.step()
    assert warm._classifiers.n_taken == 6 and cold._classifiers.n_taken == 3


def test_steps_lower_the_loss_and_repeat_with_the_same_seed():
    losses = [[float(one.step()) for _ in range(40)] for one in (trainer(), trainer())]
    assert losses[0] == losses[1]
    assert np.mean(losses[0][-5:]) < np.mean(losses[0][:5])


def test_without_the_entropy_term_labels_may_collapse_and_with_it_they_spread():
    mean = {}
    for weight in (0.0, 10.0):
        one = trainer(entropy_weight=weight, learning_rate=0.05)
        for _ in range(60):
            one.step()
        p = training.mean_probabilities(one.encoder(), [points(60)]).mean(dim=0)
        mean[weight] = float(torch.special.entr(p).sum())
    assert mean[10.0] > mean[0.0] and mean[10.0] == pytest.approx(math.log(3), abs=0.05)


def test_logits_are_those_of_the_mean_probability():
    spaces = [points(), points(seed=4)]
    encoder = [training._random_linear(4, 3, seeded(k)) for k in (0, 1)]
    p = training.mean_probabilities(encoder, spaces)
    torch.testing.assert_close(training.mean_logits(encoder, spaces).exp(), p)
    one = training.mean_logits(encoder[:1], spaces[:1])
    torch.testing.assert_close(
        torch.softmax(one, dim=1), training.mean_probabilities(encoder[:1], spaces[:1])
    )
