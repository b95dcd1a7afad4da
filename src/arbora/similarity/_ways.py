"""Several ways to compare the same rows, and which of them finds most structure."""

from __future__ import annotations

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
# Rows on which ways are compared. Fewer rows or columns than the least say little.
_ROWS, _FEWEST_ROWS, _FEWEST_COLUMNS = 300, 50, 5
# Components of fewer columns leave out too much.
_LEAST_COLUMNS = 20
# Another way has to gain this many times what the cosine gains, and this much more.
_TIMES, _MORE = 1.2, 0.1
# Where groups leak less than the first by the cosine, it stays. Where they leak more than the second, another way by
# which they leak less than this share of that is taken, even if it gains no more.
_APART, _BLURRED, _SHARE = 0.001, 0.02, 0.45


def most_structured(rows: AnyFloats) -> Way | None:
    """Metric, scale and reason, where another way finds clearly more structure than the cosine of the rows as they are.

    That is, a tree that stands out more from noise, or groups that are better separated.

    The same rows in another order give the same, up to twice `_ROWS` of them.
    """
    probe = _distinct_rows(rows)
    if len(probe) < _FEWEST_ROWS or probe.shape[1] < _FEWEST_COLUMNS or not np.isfinite(probe).all():
        return None
    with limited_libraries(1, "blas"):
        by_cosine = structure(probe, "cosine")
        if by_cosine.leak < _APART:
            return None
        ways = _ways(probe)
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


def _ways(probe: Floats) -> dict[SettledScale, Floats]:
    """Centered rows for every scale."""
    centered = probe - probe.mean(axis=0)
    standard = centered / probe.std(axis=0)
    ranks = rankdata(probe, axis=0)
    ranks -= ranks.mean(axis=0)
    found: dict[SettledScale, Floats] = {"none": centered, "standard": standard, "rank": ranks}
    if probe.shape[1] >= _LEAST_COLUMNS:
        components = rows_of_components(centered)
        if components is not None:
            found["components"] = components
    return found


def _distinct_rows(rows: AnyFloats) -> Floats:
    """Evenly spaced rows that differ, in an order and a unit of their own, without columns that do not vary."""
    some = np.asarray(rows[_spaced(len(rows), 2 * _ROWS)], dtype=np.float64)
    distinct = np.unique(some, axis=0)
    probe = distinct[_spaced(len(distinct), _ROWS)]
    safe: Floats = in_safe_units(probe.reshape(-1, 1))[0].reshape(probe.shape)
    # rounding leaves a constant column with a tiny deviation
    return safe[:, safe.std(axis=0) > 1e-12 * np.abs(safe).max(axis=0)]


def _spaced(n: int, most: int) -> Any:
    return np.linspace(0, n - 1, min(n, most)).astype(np.int64)
