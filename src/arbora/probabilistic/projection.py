"""Euclidean projection of rows onto the probability simplex."""

from __future__ import annotations

import numpy as np

from arbora.probabilistic import _kernels


def project_rows(matrix, first=None):
    """Rows projected onto the simplex; with `first`, only the entries from column ``first[row]`` on.

    Parameters
    ----------
    matrix : array-like of float, shape (n_rows, n_columns)
    first : array-like of int, shape (n_rows,), optional
        Entries before it become 0; a row with none left becomes 0 altogether.

    Returns
    -------
    ndarray, shape (n_rows, n_columns)

    Examples
    --------
    >>> project_rows([[0.5, 0.5], [2.0, 0.0]])
    array([[0.5, 0.5],
           [1. , 0. ]])
    """
    out = np.asarray(matrix)
    out = out.astype(np.result_type(out, np.float32))
    if out.ndim != 2:
        raise ValueError(f"matrix must be two-dimensional. Got shape {out.shape}.")
    if not np.isfinite(out).all():
        raise ValueError("matrix must be finite. Got NaN or infinity.")
    first = np.zeros(len(out), dtype=np.int64) if first is None else np.asarray(first, dtype=np.int64)
    _kernels.project_rows(out, first)
    return out


def project_parents(B):
    """B projected: row k a distribution over the internal nodes after k, the root's row 0."""
    return project_rows(B, np.arange(1, len(B) + 1))
