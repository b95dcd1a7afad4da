"""Square matrices: distances, similarities or vectors. The caller decides if it could be more than one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora._base.memory import refuse_if_too_large
from arbora.reading.dataset import Dataset
from arbora.reading.options import ReadOptions

_FEWEST_POINTS = 3


def square_dataset(
    array: NDArray[Any],
    source: str,
    format: str,
    options: ReadOptions,
    names: list[str] | None = None,
    *,
    same_names: bool = False,
) -> Dataset | None:
    """Distances or similarities of a square or condensed matrix; None for what is vectors.

    A symmetric matrix of unknown kind is refused: distances taken for vectors give a meaningless tree.
    """
    if options.kind in ("vectors", "graph") or array.dtype.kind not in "biuf":
        return None
    if array.ndim == 1 and options.kind in ("distances", "similarities"):
        array = _from_condensed(array, source, options.kind)
    elif array.ndim == 1 and options.kind is None:
        _refuse_condensed(array, source)
    is_square = array.ndim == 2 and array.shape[0] == array.shape[1] and array.shape[0] >= _FEWEST_POINTS
    if options.kind is None:
        if is_square and (same_names or _is_symmetric(array)):
            raise ValueError(
                f"{source} is a symmetric matrix over {len(array):,} points. Use kind='distances', "
                "kind='similarities' or, if its rows are vectors after all, kind='vectors'."
            )
        return None
    if not is_square:
        raise ValueError(
            f"{source} must be a square matrix for kind={options.kind!r}. It has shape {array.shape}."
        )
    if not _is_symmetric(array):
        raise ValueError(f"{source} must be symmetric for kind={options.kind!r}.")
    values = np.asarray(array, dtype=np.float64)
    if options.kind == "similarities":
        _refuse_distances(values, source)
    kind = "distances" if options.kind == "distances" else "similarities"
    roles = {kind: f"a matrix over {len(values):,} points"}
    if names is not None:
        roles["names"] = "the row names"
    return Dataset(
        values,
        "distances" if kind == "distances" else "similarities",
        source,
        format,
        names=names,
        roles=roles,
    )


def _is_symmetric(array: NDArray[Any]) -> bool:
    return bool(np.allclose(array, array.T, rtol=1e-6, atol=0, equal_nan=True))


def _refuse_distances(values: NDArray[np.float64], source: str) -> None:
    others = ~np.eye(len(values), dtype=np.bool_)
    if not np.diagonal(values).any() and (values[others] > 0).all():
        raise ValueError(
            f"{source} has a zero diagonal and positive values elsewhere, as distances have. Use kind='distances'; if "
            "they are similarities, set the diagonal to the largest of them."
        )


def _refuse_condensed(array: NDArray[Any], source: str) -> None:
    """One number per point, or one per pair of points? Both are sensible where the count fits and none is negative."""
    n = _points_of_condensed(len(array))
    if n is not None and n > _FEWEST_POINTS and (array >= 0).all():
        raise ValueError(
            f"{source} holds {len(array):,} numbers: as many points with one feature (kind='vectors'), or the "
            f"condensed distances of {n:,} points (kind='distances')?"
        )


def _points_of_condensed(n_pairs: int) -> int | None:
    n = round((1 + np.sqrt(1 + 8 * n_pairs)) / 2)
    return n if n * (n - 1) // 2 == n_pairs else None


def _from_condensed(array: NDArray[Any], source: str, kind: str) -> NDArray[np.float64]:
    """The square matrix of SciPy's condensed form; the diagonal is 0 for distances, the largest value otherwise."""
    n = _points_of_condensed(len(array))
    if n is None:
        raise ValueError(
            f"{source} holds {len(array):,} numbers, which is not n * (n - 1) / 2 for any n: not a condensed matrix."
        )
    refuse_if_too_large(24 * n * n, f"The values of {source} as a square", "Cluster the vectors behind them.")
    full = np.zeros((n, n))
    full[np.triu_indices(n, 1)] = array
    full += full.T
    if kind == "similarities":
        np.fill_diagonal(full, array.max(initial=0.0))
    return full
