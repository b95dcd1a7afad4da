"""Whether the probabilities that L2H read can be trusted, and a temperature that is shown to help."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn.base import clone

from arbora._base.types import Floats, Ints
from arbora.logits._class_facts import ClassFacts
from arbora.logits.calibration import Calibration, calibration_error, calibration_of, fit_temperature

if TYPE_CHECKING:
    from arbora.logits.l2h import L2H

TOLERATED_ERROR = 0.05
_SURE = 0.99


class Trust(NamedTuple):
    """Calibration, the temperature that corrects it, and advice for the user; see `ClassReport`."""

    calibration: Calibration | None
    temperature: float | None
    recommended: float | None
    changed_groups: float | None
    warnings: list[str]
    notes: list[str]


def assess(model: L2H, facts: ClassFacts, y: Ints | None) -> Trust:
    """Calibration over all points; a temperature fitted on half of a sample, recommended if it helps the other half."""
    warnings: list[str] = []
    n_empty = int((facts.counts == 0).sum())
    if n_empty:
        warnings.append(
            f"{n_empty} classes are predicted for no point: their place in the tree rests on probabilities."
        )
    if y is None:
        if float(np.mean(facts.confidence > _SURE)) > 0.9:
            warnings.append(
                "The model is almost always sure: if it is overconfident, similarities between classes are noise. "
                "Pass labels of held-out points to check."
            )
        return Trust(None, None, None, None, warnings, [])
    calibration = calibration_of(facts.confidence, facts.predicted == y)
    p, classes = facts.sample, y[facts.sample_points]
    temperature = fit_temperature(p, classes, from_probabilities=True)
    if calibration.error <= TOLERATED_ERROR:
        return Trust(calibration, temperature, None, None, warnings, [])
    kind = "overconfident" if calibration.confidence > calibration.accuracy else "underconfident"
    found = f"The model is {kind} (calibration error {calibration.error:.3f})"
    after = _error_after(p, classes)
    if after is None:
        warnings.append(
            f"{found}, and no temperature improves that on held-out points: L2H reads similarity from probabilities."
        )
        return Trust(calibration, temperature, None, None, warnings, [])
    recommended = temperature * float(model.temperature)
    changed = _changed_groups(model, p, temperature)
    how = "from_probabilities=True, " if model.from_probabilities else ""
    advice = f"L2H({how}temperature={recommended:.2f}) brings the error to {after:.3f}"
    notes = []
    if changed > 0:
        warnings.append(
            f"{found}: L2H reads similarity from probabilities, and {changed:.0%} of the groups change once it is "
            f"calibrated. Fit again: {advice} on held-out points."
        )
    else:
        notes.append(f"{found}. The groups do not depend on it. {advice} on held-out points.")
    return Trust(calibration, temperature, recommended, changed, warnings, notes)


def _error_after(p: Floats, y: Ints) -> float | None:
    """Calibration error of held-out points at the temperature of the others; None if it is not lower."""
    if len(y) < 4:
        return None
    temperature = fit_temperature(p[::2], y[::2], from_probabilities=True)
    before = calibration_error(p[1::2], y[1::2], from_probabilities=True).error
    after = calibration_error(p[1::2], y[1::2], from_probabilities=True, temperature=temperature).error
    return after if after < before else None


def _changed_groups(model: L2H, p: Floats, temperature: float) -> float:
    """Share of the groups of the sample's tree that are not in that of the calibrated sample."""
    plain = clone(model).set_params(
        from_probabilities=True,
        temperature=1.0,
        n_bootstraps=0,
        class_names=None,
        verbose=False,
        n_clusters=None,
    )
    before = plain.fit(p).tree_
    after = clone(plain).set_params(temperature=temperature).fit(p).tree_
    return float(before.robinson_foulds(after, normalize=True)) if before.n_leaves > 2 else 0.0
