"""One or more representation spaces of the same points, scaled alike."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from arbora._base.arrays import validated
from arbora._base.collecting import collect
from arbora._base.distributed import is_dask, is_dask_frame
from arbora._base.optional import require
from arbora._base.rows import is_in_pieces, open_rows


def as_spaces(estimator: Any, X: Any, *, reset: bool) -> list[NDArray[np.float32]]:
    """Validated float32 arrays, one per space; several spaces come as a list of matrices with the same rows.

    A space may also be a path, a store or an iterator of chunks, which is read into memory.
    """
    if not is_several(X):
        options = {"dtype": np.float32, "ensure_min_samples": 1}
        spaces = [validated(estimator, _loaded(X, "X"), reset=reset, **options)]
        if reset:
            estimator.n_features_per_space_ = [spaces[0].shape[1]]
        return spaces
    spaces = [
        check_array(_loaded(space, f"X[{k}]"), dtype=np.float32, input_name=f"X[{k}]")
        for k, space in enumerate(X)
    ]
    lengths = [len(space) for space in spaces]
    if len(set(lengths)) != 1:
        raise ValueError(f"All spaces must describe the same points. Got {lengths} rows.")
    widths = [space.shape[1] for space in spaces]
    if reset:
        estimator.n_features_per_space_ = widths
        estimator.n_features_in_ = sum(widths)
    elif widths != estimator.n_features_per_space_:
        raise ValueError(
            f"X has spaces of {widths} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_per_space_} features as input."
        )
    return spaces


def is_several(X: Any) -> bool:
    """Whether X is a list of spaces: matrices, paths or stores."""
    if not isinstance(X, (list, tuple)) or not X:
        return False
    return all(isinstance(space, (str, os.PathLike)) or np.ndim(space) == 2 for space in X)


def _loaded(space: Any, argument: str) -> Any:
    """What is read in pieces as an array in memory; anything else unchanged."""
    if is_dask(space) or is_dask_frame(space):
        raise TypeError(
            f"{argument} is a Dask collection. TURTLE and TEMI train on vectors in memory: pass {argument}.compute(), "
            f"or some of its rows, {argument}[rows].compute(). The fitted model predicts Dask arrays of any size."
        )
    if isinstance(space, (list, tuple, np.memmap)) or not is_in_pieces(space):
        return space
    rows = open_rows(space, argument=argument).as_type(np.float32)
    return collect(
        rows, argument=argument, instead="Pass fewer points: training needs them in memory."
    ).values


class Scaling:
    """Center each space and divide it by one number, so that entries have mean square 1.

    Learning rates then mean the same for every space; directions keep their relative lengths.
    """

    def __init__(self, spaces: list[NDArray[np.float32]]) -> None:
        self.means = [space.mean(axis=0, dtype=np.float64).astype(np.float32) for space in spaces]
        self.scales = [
            float(np.sqrt(np.mean((space - mean) ** 2, dtype=np.float64))) or 1.0
            for space, mean in zip(spaces, self.means)
        ]

    def __call__(self, spaces: list[NDArray[np.float32]]) -> list[Any]:
        """Scaled spaces as torch tensors."""
        torch = require("torch", "TURTLE and TEMI")
        return [
            torch.from_numpy((space - mean) / np.float32(scale))
            for space, mean, scale in zip(spaces, self.means, self.scales)
        ]
