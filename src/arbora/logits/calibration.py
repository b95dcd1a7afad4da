"""Whether a classifier's probabilities mean what they say, and the temperature that mends them.

L2H reads similarity of classes from probabilities; a badly calibrated model is the limit its authors state.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

_LOG_TEMPERATURES = (-4.0, 4.0)


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
    bin_confidence: NDArray[np.float64]
    bin_accuracy: NDArray[np.float64]
    bin_count: NDArray[np.int64]


def calibration_error(
    logits: ArrayLike, y: ArrayLike, *, n_bins: int = 15, temperature: float = 1.0
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

    Examples
    --------
    >>> from arbora.logits import calibration_error
    >>> calibration_error([[9, 0], [9, 0], [9, 0], [9, 0]], [0, 0, 0, 1]).error.__round__(3)
    0.25
    """
    logits, y = _checked(logits, y)
    log_p = log_softmax(logits / temperature, axis=1)
    confidence = np.exp(log_p.max(axis=1))
    hit = log_p.argmax(axis=1) == y
    which = np.minimum((confidence * n_bins).astype(np.int64), n_bins - 1)
    count = np.bincount(which, minlength=n_bins)
    used = count > 0
    mean_confidence = np.bincount(which, confidence, minlength=n_bins)[used] / count[used]
    mean_hit = np.bincount(which, hit, minlength=n_bins)[used] / count[used]
    error = float(np.abs(mean_confidence - mean_hit) @ count[used] / len(y))
    return Calibration(
        error, float(confidence.mean()), float(hit.mean()), mean_confidence, mean_hit, count[used]
    )


def fit_temperature(logits: ArrayLike, y: ArrayLike) -> float:
    """Temperature that maximizes the likelihood of the labels: ``softmax(logits / temperature)``.

    One number, so accuracy does not change; a few hundred held-out points suffice. Pass it to `L2H(temperature=...)`.

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
    logits, y = _checked(logits, y)
    own = logits[np.arange(len(y)), y]

    def loss(log_temperature: float) -> float:
        scaled = logits * np.exp(-log_temperature)
        top = scaled.max(axis=1)
        normalizer = top + np.log(np.exp(scaled - top[:, None]).sum(axis=1))
        return float((normalizer - own * np.exp(-log_temperature)).mean())

    found = minimize_scalar(loss, bounds=_LOG_TEMPERATURES, method="bounded", options={"xatol": 1e-5})
    return float(np.exp(found.x))


def _checked(logits: ArrayLike, y: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    logits, y = np.asarray(logits, dtype=np.float64), np.asarray(y)
    if logits.ndim != 2 or len(logits) == 0:
        raise ValueError(f"logits must have shape (n_points, n_classes) with points. Got {logits.shape}.")
    if not np.isfinite(logits).all():
        raise ValueError("logits must not hold NaN or infinity.")
    if y.shape != (len(logits),) or y.dtype.kind not in "iu":
        raise ValueError(
            f"y must hold one class number a point, {len(logits)}. Got {y.dtype}, shape {y.shape}."
        )
    if y.min() < 0 or y.max() >= logits.shape[1]:
        raise ValueError(f"y must lie in [0, n_classes={logits.shape[1]}). Got {y.min()}..{y.max()}.")
    return logits, y.astype(np.int64)
