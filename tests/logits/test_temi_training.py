"""Steps of TEMI against the formula of its paper, written out for one pair at a time."""

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from arbora.logits import _temi_training as training  # noqa: E402


def unit_rows(n=40, d=5, seed=0):
    rows = np.random.default_rng(seed).normal(size=(n, d)).astype(np.float32)
    return torch.from_numpy(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def trainer(points, **options):
    neighbors = training.nearest_by_cosine(points, 5, 1)
    defaults = {
        "n_heads": 2, "hidden": 0, "beta": 0.6, "temperature": 0.1, "learning_rate": 0.05, "batch_size": 16,
        "max_steps": 50,
        "generator": seeded(),
    }  # fmt: skip
    return training.Trainer(points, neighbors, 3, **{**defaults, **options})


@pytest.mark.parametrize("n_threads", [1, 2])
def test_neighbors_are_the_nearest_other_points(n_threads, monkeypatch):
    monkeypatch.setattr(training, "_POINTS_PER_SEARCH", 7)
    points = unit_rows()
    found = training.nearest_by_cosine(points, 6, n_threads).numpy()
    cosine = (points @ points.t()).numpy()
    np.fill_diagonal(cosine, -np.inf)
    assert (found != np.arange(40)[:, None]).all()
    wanted = np.sort(cosine, axis=1)[:, ::-1][:, :6]
    np.testing.assert_allclose(np.take_along_axis(cosine, found, axis=1), wanted, atol=1e-6)


def test_fewer_points_have_fewer_neighbors_and_one_point_itself():
    assert training.nearest_by_cosine(unit_rows(4), 50, 1).shape == (4, 3)
    assert training.nearest_by_cosine(unit_rows(1), 50, 1).tolist() == [[0]]


def test_drawn_neighbors_are_neighbors():
    neighbors = training.nearest_by_cosine(unit_rows(), 4, 1)
    chosen = torch.arange(40)
    drawn = training._draw_neighbors(neighbors, chosen, seeded())
    assert all(int(drawn[k]) in neighbors[k].tolist() for k in range(40))


@pytest.mark.parametrize("hidden", [0, 8])
def test_logits_are_cosines(hidden):
    heads = training._Heads(5, hidden, 3, 2, seeded())
    logits = heads.logits(unit_rows())
    assert logits.shape == (2, 40, 3) and logits.abs().max() <= 1 + 1e-5
    if not hidden:
        prototype = heads.parameters[-1][1][:, 2]
        wanted = unit_rows() @ (prototype / prototype.norm())
        torch.testing.assert_close(logits[1, :, 2], wanted)


def test_one_head_is_that_head_and_a_copy_is_apart():
    heads = training._Heads(5, 4, 3, 3, seeded())
    one, copy = heads.one(2), heads.copy()
    torch.testing.assert_close(one.logits(unit_rows())[0], heads.logits(unit_rows())[2])
    heads.parameters[0].add_(1.0)
    assert not torch.equal(copy.parameters[0], heads.parameters[0])


def test_a_teacher_moves_towards_its_student():
    student, teacher = (training._Heads(5, 0, 3, 2, seeded(k)) for k in (0, 1))
    before = teacher.parameters[0].clone()
    teacher.follow(student, 0.9)
    torch.testing.assert_close(teacher.parameters[0], 0.9 * before + 0.1 * student.parameters[0])


def losses_by_definition(one, x, near, marginal):
    """-log sum_c (q_s(c|x) q_t(c|x'))**beta / q_t(c), both ways, weighted by how surely teachers agree."""
    n_heads, batch = one._student.parameters[0].shape[0], len(x)
    q = {
        (who, which): torch.softmax(heads.logits(z) / one._temperature, dim=2).detach().double()
        for who, heads in (("student", one._student), ("teacher", one.teacher))
        for which, z in (("x", x), ("near", near))
    }
    found = []
    for h in range(n_heads):
        total = 0.0
        for b in range(batch):
            weight = np.mean(
                [float((q["teacher", "x"][k, b] * q["teacher", "near"][k, b]).sum()) for k in range(n_heads)]
            )
            for mine, other in (("x", "near"), ("near", "x")):
                terms = (q["student", mine][h, b] * q["teacher", other][h, b]) ** one._beta
                total -= 0.5 * weight * math.log(float((terms / marginal[h, 0]).sum()))
        found.append(total / batch)
    return found


def test_the_loss_equals_its_definition():
    points = unit_rows()
    one = trainer(points)
    x, near = points[:6], points[6:12]
    before = one._marginal.clone()
    found = one._losses(x, near)
    both = [torch.softmax(one.teacher.logits(z) / one._temperature, dim=2).mean(dim=1) for z in (x, near)]
    marginal = 0.9 * before[:, 0] + 0.1 * 0.5 * (both[0] + both[1])
    torch.testing.assert_close(one._marginal[:, 0], marginal)
    wanted = losses_by_definition(one, x, near, one._marginal.double())
    np.testing.assert_allclose(found.detach().numpy(), wanted, rtol=1e-4)


def test_steps_repeat_with_the_same_seed_and_the_rate_falls_to_nothing():
    one, other = trainer(unit_rows()), trainer(unit_rows())
    losses = [[float(each.step().min()) for _ in range(50)] for each in (one, other)]
    assert losses[0] == losses[1] and np.isfinite(losses[0]).all()
    assert one._schedule.get_last_lr()[0] == pytest.approx(0, abs=1e-9)


def test_a_batch_is_never_larger_than_the_data():
    assert trainer(unit_rows(6), batch_size=512)._size == 6
