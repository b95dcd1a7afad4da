"""What scikit-learn records about the columns of a fit, and expects to find in new rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from arbora._base.arrays import check_same_features, is_dataset


def check_features(estimator: Any, X: Any, rows: Any, column_names: list[str] | None, *, reset: bool) -> None:
    """Set `n_features_in_` and `feature_names_in_`, or check new rows against them.

    Parameters
    ----------
    estimator : estimator
    X : what the user gave
    rows : array or sparse matrix
        The same as numbers.
    column_names : list of str, optional
        Names that came with rows read in pieces; what `arbora.read` returns brings its own.
    reset : bool
        Whether this is a fit.
    """
    if column_names is None and is_dataset(X):
        column_names = X.feature_names
    if column_names is not None:
        return _check_named(estimator, rows, column_names, reset)
    shape = getattr(X, "shape", None)
    # a frame each of whose columns is one feature, or the numbers
    is_frame = hasattr(X, "columns") and shape is not None and tuple(shape) == rows.shape
    validate_data(estimator, X if is_frame else rows, reset=reset, skip_check_array=True)
    return None


def _check_named(estimator: Any, rows: Any, names: list[str], reset: bool) -> None:
    known = getattr(estimator, "feature_names_in_", None)
    if reset or known is None:
        validate_data(estimator, rows, reset=reset, skip_check_array=True)
    if reset:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    elif known is not None:
        check_same_features(known.tolist(), names)


def forget_features(estimator: Any) -> None:
    """Forget the columns of an earlier fit."""
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(estimator, name):
            delattr(estimator, name)
