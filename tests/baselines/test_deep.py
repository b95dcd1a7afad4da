"""What the deep systems share: seeds that stay inside, scaled rows, batches, perceptrons."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

import arbora as ab  # noqa: E402
from arbora.baselines import deep  # noqa: E402


def test_a_seed_decides_what_is_inside_and_leaves_what_is_outside():
    torch.manual_seed(1)
    before = torch.random.get_rng_state()
    drawn = []
    for _ in range(2):
        with deep.seeded(5) as generator:
            drawn.append(torch.rand(3, generator=generator).tolist())
    assert drawn[0] == drawn[1]
    assert torch.equal(torch.random.get_rng_state(), before)


def test_an_error_inside_gives_the_random_numbers_back():
    before = torch.random.get_rng_state()
    with pytest.raises(ZeroDivisionError), deep.seeded(5):
        torch.rand(3)
        1 / 0  # noqa: B018
    assert torch.equal(torch.random.get_rng_state(), before)


def test_values_from_zero_upwards_are_divided_by_the_largest():
    rows = deep.scaled_rows([[0.0, 5.0], [10.0, 2.0]])
    assert rows.dtype == torch.float32
    np.testing.assert_allclose(rows.numpy(), [[0, 0.5], [1, 0.2]])


def test_other_values_are_centered_and_scaled_as_a_whole():
    X = np.random.default_rng(0).normal(size=(50, 3)) * [1, 5, 20] + 7
    X[0, 0] = -1
    rows = deep.scaled_rows(X).numpy()
    np.testing.assert_allclose(rows.mean(axis=0), 0, atol=1e-5)
    assert rows.std() == pytest.approx(1, rel=1e-5)
    assert rows[:, 2].std() > 3 * rows[:, 1].std() > 9 * rows[:, 0].std() / 3, (
        "columns keep their proportions"
    )


@pytest.mark.parametrize("X", [np.zeros((4, 2)), np.full((4, 2), -3.0)])
def test_rows_that_do_not_vary_stay_finite(X):
    assert torch.isfinite(deep.scaled_rows(X)).all()


def test_rows_that_cannot_be_used_are_refused_by_name():
    with pytest.raises(ValueError, match="data must be finite"):
        deep.scaled_rows([[1.0, np.nan]])


@settings(max_examples=40)
@given(st.integers(0, 30), st.integers(1, 12))
def test_batches_hold_every_row_once_and_none_is_a_single_row(n_rows, batch_size):
    found = [batch.tolist() for batch in deep.batches(n_rows, batch_size)]
    assert sorted(row for batch in found for row in batch) == list(range(n_rows))
    if n_rows > 1 and batch_size > 1:
        assert min(map(len, found)) > 1 and max(map(len, found)) <= batch_size + 1


def test_a_perceptron_has_rectifiers_between_its_layers_only():
    layers = deep.perceptron([4, 3, 2])
    assert [type(layer).__name__ for layer in layers] == ["Linear", "ReLU", "Linear"]
    assert [tuple(p.shape) for p in layers.parameters()] == [(3, 4), (3,), (2, 3), (2,)]


def test_an_autoencoder_is_its_own_mirror_image():
    model = deep.Autoencoder(6, [5, 4], 2)
    embedded, back = model(torch.rand(7, 6))
    assert embedded.shape == (7, 2) and back.shape == (7, 6)
    widths = [layer.in_features for layer in model.encoder if hasattr(layer, "in_features")]
    assert widths == [6, 5, 4]
    assert [layer.in_features for layer in model.decoder if hasattr(layer, "in_features")] == [2, 4, 5]


def test_pieces_do_not_change_what_a_function_gives(monkeypatch):
    monkeypatch.setattr(deep, "_ROWS_AT_ONCE", 3)
    rows = torch.rand(8, 2, requires_grad=True)
    sizes = []
    found = deep.in_pieces(lambda part: sizes.append(len(part)) or part * 2, rows)
    torch.testing.assert_close(found, rows.detach() * 2)
    assert sizes == [3, 3, 2] and not found.requires_grad


@pytest.mark.parametrize("name", ["deepect", "rghc", "treevae"])
@pytest.mark.parametrize(("bad", "error"), [(0, ValueError), (-3, ValueError), (2.5, TypeError)])
def test_a_batch_without_rows_is_refused_before_the_training(name, bad, error):
    with pytest.raises(error, match="batch_size must be"):
        ab.baselines.fit(name, np.eye(4), batch_size=bad, random_state=0)
