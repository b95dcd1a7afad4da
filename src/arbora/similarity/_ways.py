"""Several ways to compare the same rows, and which of them finds most structure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.stats import rankdata

from arbora._base.threads import limited_libraries
from arbora._base.types import AnyFloats, Floats
from arbora._base.units import in_safe_units
from arbora.similarity._components import rows_of_components
from arbora.similarity.structure import Structure, structure

SettledScale: TypeAlias = Literal["standard", "robust", "rank", "components", "none"]
Way: TypeAlias = tuple[Literal["cosine", "euclidean"], SettledScale, str]
# Those that are compared, in this order where they find as much.
COMPARED: tuple[SettledScale, ...] = ("none", "standard", "rank", "components")
# Rows on which ways are compared. Fewer rows or columns than the least say little.
_ROWS, _FEWEST_ROWS, _FEWEST_COLUMNS = 300, 50, 5
# One of so many rows has to agree with another way than the cosine, up to a number that takes half a second.
_ROWS_PER_PROBED, _MOST_ROWS = 4, 1000
# Components of fewer columns leave out too much.
_LEAST_COLUMNS = 20
# Another way has to gain this many times what the cosine gains, and this much more.
_TIMES, _MORE = 1.2, 0.1
# Where groups leak less than the first by the cosine, it stays. Where they leak more than the second, another way by
# which they leak less than this share of that is taken, even if it gains no more.
_APART, _BLURRED, _SHARE = 0.001, 0.02, 0.45


def most_structured(rows: AnyFloats) -> Way | None:
    """Metric, scale and reason, where another way finds clearly more structure than the cosine of the rows as they are.

    That is, a tree that stands out more from noise, or groups that are better separated. Where a few hundred rows may
    hold too few of each group to tell, more of them have to agree.

    The same rows in another order give the same, up to twice `_ROWS` of them.
    """
    with limited_libraries(1, "blas"):
        found = _most_structured_of(_distinct_rows(rows, _ROWS), COMPARED)
        n_more = min(_MOST_ROWS, len(rows) // _ROWS_PER_PROBED)
        if found is not None and n_more > _ROWS:
            found = _most_structured_of(_distinct_rows(rows, n_more), (found[1],))
    return found


def _most_structured_of(probe: Floats, scales: Sequence[SettledScale]) -> Way | None:
    """The same for these rows, among some scales."""
    if len(probe) < _FEWEST_ROWS or probe.shape[1] < _FEWEST_COLUMNS or not np.isfinite(probe).all():
        return None
    by_cosine = structure(probe, "cosine")
    if by_cosine.leak < _APART:
        return None
    ways = _ways(probe, scales)
    if not ways:
        return None
    found = {scale: structure(scaled, "euclidean") for scale, scaled in ways.items()}
    best = max(found, key=lambda scale: found[scale].gain)
    if found[best].gain > _TIMES * max(by_cosine.gain, 0.0) + _MORE:
        return "euclidean", best, f"most structure: {_words_for_gains(found[best], by_cosine)}"
    clearest = min(found, key=lambda scale: (found[scale].leak, -found[scale].gain))
    if by_cosine.leak > _BLURRED and found[clearest].leak < _SHARE * by_cosine.leak:
        return "euclidean", clearest, f"clearest groups: {_words_for_leaks(found[clearest], by_cosine)}"
    return None


def _words_for_gains(one: Structure, by_cosine: Structure) -> str:
    less, less_by_cosine = (f"{max(0.0, 1 - np.exp(-some.gain)):.0%}" for some in (one, by_cosine))
    return f"its tree costs {less} less than one of normal noise of the same shape, by the cosine {less_by_cosine}"


def _words_for_leaks(one: Structure, by_cosine: Structure) -> str:
    return f"{one.leak:.1%} of their weight leads out of them, by the cosine {by_cosine.leak:.1%}"


def _ways(probe: Floats, scales: Sequence[SettledScale]) -> dict[SettledScale, Floats]:
    """Centered rows for those of the scales that suit them."""
    scaled = {scale: _scaled(probe, scale) for scale in scales}
    return {scale: rows for scale, rows in scaled.items() if rows is not None}


def _scaled(probe: Floats, scale: SettledScale) -> Floats | None:
    if scale == "rank":
        probe = rankdata(probe, axis=0)
    centered: Floats = probe - probe.mean(axis=0)
    if scale == "standard":
        centered /= probe.std(axis=0)
    if scale == "components":
        return rows_of_components(centered) if probe.shape[1] >= _LEAST_COLUMNS else None
    return centered


def _distinct_rows(rows: AnyFloats, most: int) -> Floats:
    """Evenly spaced rows that differ, in an order and a unit of their own, without columns that do not vary."""
    some = np.asarray(rows[_spaced(len(rows), 2 * most)], dtype=np.float64)
    distinct = np.unique(some, axis=0)
    probe = distinct[_spaced(len(distinct), most)]
    safe: Floats = in_safe_units(probe.reshape(-1, 1))[0].reshape(probe.shape)
    # rounding leaves a constant column with a tiny deviation
    return safe[:, safe.std(axis=0) > 1e-12 * np.abs(safe).max(axis=0)]


def _spaced(n: int, most: int) -> Any:
    return np.linspace(0, n - 1, min(n, most)).astype(np.int64)
