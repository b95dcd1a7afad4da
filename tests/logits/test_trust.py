"""Whether probabilities can be trusted: what is said, and that the advice helps points nobody looked at."""

import numpy as np
import pytest
from scipy.special import softmax

import arbora as ab
from arbora.logits._class_facts import gather_facts
from arbora.logits._rows import ArrayRows
from arbora.logits._trust import TOLERATED_ERROR, assess
from arbora.logits.calibration import calibration_error


def world(sharpness=1.0, n=1500, n_classes=5, seed=0):
    """Logits whose true classes follow softmax(logits / sharpness)."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(n, n_classes)) * 1.5
    y = (truth + rng.gumbel(size=truth.shape)).argmax(axis=1)
    return truth * sharpness, y


def assessed(logits, y, **options):
    model = ab.L2H(n_bootstraps=0, **options).fit(logits)
    return assess(model, gather_facts([ArrayRows(logits / model.temperature)], logits.shape[1]), y)


def test_a_calibrated_model_needs_no_advice():
    trust = assessed(*world())
    assert trust.calibration.error <= TOLERATED_ERROR
    assert trust.recommended is None and trust.warnings == [] and trust.notes == []
    assert trust.temperature == pytest.approx(1, rel=0.15)


@pytest.mark.parametrize(("sharpness", "kind"), [(4.0, "overconfident"), (0.3, "underconfident")])
def test_a_temperature_is_recommended_that_helps_other_points(sharpness, kind):
    logits, y = world(sharpness)
    trust = assessed(logits, y)
    (said,) = trust.warnings + trust.notes
    assert kind in said and f"temperature={trust.recommended:.2f}" in said
    assert trust.recommended == pytest.approx(sharpness, rel=0.15)
    others, classes = world(sharpness, seed=1)
    after = calibration_error(others, classes, temperature=trust.recommended).error
    assert after < 0.5 * calibration_error(others, classes).error
    assert 0 <= trust.changed_groups <= 1 and (trust.changed_groups > 0) == bool(trust.warnings)


def test_the_recommendation_counts_the_temperature_already_used():
    logits, y = world(6.0)
    assert assessed(logits, y, temperature=2.0).recommended == pytest.approx(6.0, rel=0.15)


def test_without_labels_only_a_model_that_is_always_sure_is_warned_of():
    logits, _ = world()
    assert assessed(logits, None).warnings == []
    trust = assessed(logits * 1000, None)
    assert len(trust.warnings) == 1 and "almost always sure" in trust.warnings[0]
    assert trust.calibration is None and trust.temperature is None


def test_classes_without_points_are_counted():
    logits, y = world()
    logits[:, 3] = -50
    warnings = assessed(logits, np.where(y == 3, 0, y)).warnings
    assert warnings[0].startswith("1 classes are predicted for no point")


def test_errors_that_no_temperature_mends_are_said_to_be_so():
    logits, _ = world()
    y = np.random.default_rng(3).integers(0, 2, len(logits))
    y = np.where(np.arange(len(logits)) % 2, logits.argmax(axis=1), (logits.argmax(axis=1) + 1) % 5)
    trust = assessed(logits * 5, y)
    assert trust.calibration.error > TOLERATED_ERROR
    assert trust.recommended is None or trust.temperature > 1
    if trust.recommended is None:
        assert "no temperature improves" in trust.warnings[-1]


def test_probabilities_are_advised_as_probabilities():
    logits, y = world(4.0)
    p = softmax(logits, axis=1)
    model = ab.L2H(n_bootstraps=0, from_probabilities=True).fit(p)
    trust = assess(model, gather_facts([ArrayRows(logits)], 5), y)
    assert "L2H(from_probabilities=True, temperature=" in (trust.warnings + trust.notes)[0]
