"""Calibration and the temperature that corrects it, for logits and for probabilities with zeros."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import softmax

from arbora.logits import calibration_error, fit_temperature
from arbora.logits.calibration import calibration_of


def votes(sharpness, n_points=4000, n_classes=6, n_votes=40, seed=0):
    """Shares of votes, as a forest gives them: many zeros. The truth follows the sharpened shares."""
    rng = np.random.default_rng(seed)
    p = softmax(2 * rng.normal(size=(n_points, n_classes)), axis=1)
    y = np.array([rng.choice(n_classes, p=row**sharpness / (row**sharpness).sum()) for row in p])
    shares = np.array([rng.multinomial(n_votes, row) for row in p]) / n_votes
    # a few points whose class got no vote at all
    y[:30] = shares[:30].argmin(axis=1)
    return shares, y


@pytest.mark.parametrize("sharpness", [0.5, 1.0, 2.5])
def test_temperature_for_probabilities_with_zeros_never_harms(sharpness):
    shares, y = votes(sharpness)
    assert (shares[np.arange(len(y)), y] == 0).any()
    temperature = fit_temperature(shares[::2], y[::2], from_probabilities=True)
    before = calibration_error(shares[1::2], y[1::2], from_probabilities=True).error
    after = calibration_error(shares[1::2], y[1::2], from_probabilities=True, temperature=temperature).error
    assert after < before + 0.01
    if sharpness == 2.5:
        assert temperature < 0.8 and after < before / 2


def test_probabilities_without_zeros_get_the_temperature_of_their_logits():
    rng = np.random.default_rng(0)
    logits, y = rng.normal(size=(500, 5)), rng.integers(0, 5, 500)
    logits[np.arange(500), y] += 1
    assert fit_temperature(softmax(logits, axis=1), y, from_probabilities=True) == pytest.approx(
        fit_temperature(logits, y), rel=1e-3
    )


def test_calibration_from_confidences_equals_that_from_logits():
    rng = np.random.default_rng(0)
    logits, y = rng.normal(size=(500, 5)), rng.integers(0, 5, 500)
    p = softmax(logits, axis=1)
    found = calibration_of(p.max(axis=1), p.argmax(axis=1) == y)
    assert found.error == pytest.approx(calibration_error(logits, y).error)
    assert found.bin_count.sum() == 500


def test_bad_probabilities_are_refused():
    for bad in ([[-0.1, 1.1]], [[0.0, 0.0]]):
        with pytest.raises(ValueError, match="Probabilities must not"):
            fit_temperature(bad, [0], from_probabilities=True)
