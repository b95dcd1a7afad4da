"""Whether a classifier's probabilities mean what they say, and the temperature that corrects them.

L2H reads similarity of classes from probabilities; a badly calibrated model is the limitation that its authors state.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar

from arbora._base.arrays import as_matrix
from arbora._base.params import check_real, check_switch, check_whole
from arbora._base.types import Bools, Floats, Ints

_LOG_TEMPERATURES = (-4.0, 4.0)
_TEMPERATURES_TRIED = 33
_BINS = 15


class Calibration(NamedTuple):
    """How far confidence and accuracy are apart.

    Attributes
    ----------
    error : float
        Expected calibration error: mean distance between confidence and accuracy over bins.
    confidence, accuracy : float
        Means over all points; confidence above accuracy is overconfidence.
    bin_confidence, bin_accuracy, bin_count : ndarray
        The same for each bin (for a reliability diagram); empty bins are left out.
    """

    error: float
    confidence: float
    accuracy: float
    bin_confidence: Floats
    bin_accuracy: Floats
    bin_count: Ints


def calibration_error(
    logits: ArrayLike,
    y: ArrayLike,
    *,
    n_bins: int = _BINS,
    temperature: float = 1.0,
    from_probabilities: bool = False,
) -> Calibration:
    """Expected calibration error of logits for labeled points, with bins of equal width.

    Parameters
    ----------
    logits : array-like, shape (n_points, n_classes)
    y : array-like of int, shape (n_points,)
        True class of each point, as a column number.
    n_bins : int
    temperature : float
        Logits are divided by it first.
    from_probabilities : bool
        The input holds probabilities (zeros allowed), not logits.

    Examples
    --------
    >>> from arbora.logits import calibration_error
    >>> calibration_error([[9, 0], [9, 0], [9, 0], [9, 0]], [0, 0, 0, 1]).error.__round__(3)
    0.25
    """
    logs, y = _checked(logits, y, from_probabilities)
    p = _tempered(logs, check_real(temperature, "temperature", above=0))
    return calibration_of(p.max(axis=1), p.argmax(axis=1) == y, n_bins)


def calibration_of(confidence: Floats, is_hit: Bools, n_bins: int = _BINS) -> Calibration:
    """Calibration from the confidence of each prediction and whether it is right."""
    check_whole(n_bins, "n_bins")
    which = np.minimum((confidence * n_bins).astype(np.int64), n_bins - 1)
    count = np.bincount(which, minlength=n_bins)
    used = count > 0
    mean_confidence = np.bincount(which, confidence, minlength=n_bins)[used] / count[used]
    mean_hit = np.bincount(which, is_hit, minlength=n_bins)[used] / count[used]
    error = float(np.abs(mean_confidence - mean_hit) @ count[used] / len(confidence))
    return Calibration(
        error, float(confidence.mean()), float(is_hit.mean()), mean_confidence, mean_hit, count[used]
    )


def fit_temperature(logits: ArrayLike, y: ArrayLike, *, from_probabilities: bool = False) -> float:
    """Temperature with which ``softmax(logits / temperature)`` best describes how likely each class is.

    It maximizes the likelihood of the labels. Where probabilities hold zeros the likelihood of points whose class
    got none is zero at every temperature; the Brier score (mean squared error of the probabilities) is then minimized
    instead, which no single point can dominate. One number, so accuracy does not change; a few hundred held-out points
    suffice. Pass it to `L2H(temperature=...)`, with ``from_probabilities=True`` for probabilities.

    Parameters
    ----------
    logits : array-like, shape (n_points, n_classes)
    y : array-like of int, shape (n_points,)
        True class of each point, as a column number.
    from_probabilities : bool
        The input holds probabilities, not logits.

    Examples
    --------
    >>> import numpy as np
    >>> from arbora.logits import fit_temperature
    >>> rng = np.random.default_rng(0)
    >>> logits = rng.normal(size=(20_000, 5))
    >>> gumbel = -np.log(-np.log(rng.random(logits.shape)))
    >>> bool(abs(fit_temperature(3 * logits, (logits + gumbel).argmax(axis=1)) - 3) < 0.1)
    True
    """
    logs, y = _checked(logits, y, from_probabilities)
    rows = np.arange(len(y))
    use_likelihood = bool(np.isfinite(logs[rows, y]).all())

    def loss(log_temperature: float) -> float:
        p = _tempered(logs, float(np.exp(log_temperature)))
        if use_likelihood:
            return float(-np.log(np.maximum(p[rows, y], 1e-300)).mean())
        return float((1 - 2 * p[rows, y] + (p * p).sum(axis=1)).mean())

    # the Brier score may have several minima: a coarse search first
    tried = np.linspace(*_LOG_TEMPERATURES, _TEMPERATURES_TRIED)
    best = int(np.argmin([loss(value) for value in tried]))
    bounds = (tried[max(0, best - 1)], tried[min(len(tried) - 1, best + 1)])
    found = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-5})
    return float(np.exp(found.x))


def _tempered(logs: Floats, temperature: float) -> Floats:
    """Softmax of the logits divided by the temperature."""
    scaled: Floats = (logs - logs.max(axis=1, keepdims=True)) / temperature
    np.exp(scaled, out=scaled)
    scaled /= scaled.sum(axis=1, keepdims=True)
    return scaled


def _checked(logits: ArrayLike, y: ArrayLike, from_probabilities: bool) -> tuple[Floats, Ints]:
    values = np.asarray(as_matrix(logits, argument="logits").values, dtype=np.float64)
    classes = np.asarray(y)
    if 0 in values.shape:
        raise ValueError(f"logits must have shape (n_points, n_classes) with points. Got {values.shape}.")
    if not np.isfinite(values).all():
        raise ValueError("logits must not hold NaN or infinity.")
    if classes.shape != (len(values),) or classes.dtype.kind not in "iu":
        raise ValueError(
            f"y must hold one class number per point, {len(values)}. Got {classes.dtype}, shape {classes.shape}."
        )
    if classes.min() < 0 or classes.max() >= values.shape[1]:
        raise ValueError(
            f"y must lie in [0, n_classes={values.shape[1]}). Got {classes.min()}..{classes.max()}."
        )
    if check_switch(from_probabilities, "from_probabilities"):
        if (values < 0).any() or (values.max(axis=1) <= 0).any():
            raise ValueError("Probabilities must not be negative, and every row needs a positive one.")
        with np.errstate(divide="ignore"):
            values = np.log(values)
    return values, classes.astype(np.int64)
