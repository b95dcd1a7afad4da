"""Columns brought to one scale before vectors are compared, and the choice of a scale that suits a table.

Vectors of one unit (embeddings, pixels, spectra, principal components) are compared as they are. A table whose
columns have unlike units is dominated by the one with the largest numbers; it is standardized. Columns with heavy
tails (incomes, concentrations, counts over orders of magnitude) are replaced by their ranks. Where none of this can be
seen, a few hundred rows are compared in several ways, and one that finds clearly more structure than the cosine, or
clearly better separated groups, is taken (`arbora.similarity.structure`).
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from arbora._base.params import check_choice
from arbora._base.threads import limited_libraries
from arbora._base.types import AnyFloats, Floats
from arbora._base.units import in_safe_units
from arbora.similarity._components import find_axes
from arbora.similarity._ways import SettledScale, most_structured

Scale: TypeAlias = Literal["auto", "standard", "robust", "rank", "components", "none"]
SCALES: tuple[str, ...] = get_args(Scale)
# Vectors with no more columns than this are compared by distance: their direction says little.
_FEW_COLUMNS = 3
# Their units are unlike where the largest variance is this many times the next one.
_UNLIKE_TIMES = 1000.0
# Vectors around the origin have a direction only by where the mean happens to lie. In up to this many columns distances
# then say more: trees of generated mixtures of 4 to 12 columns were 0 to 0.1 purer by them, of 20 and more not.
_MOST_AROUND_ORIGIN, _AROUND_ORIGIN = 12, 0.3
# Rows have one length where their lengths differ by no more than this share: embeddings rounded to half precision do.
_SAME_LENGTH = 1e-3
# A table with more columns than this is taken for embeddings, pixels or counts of one unit.
_MOST_TABLE_COLUMNS = 200
# Columns of unlike units: those that carry the variance are less than this share of all columns.
_UNLIKE = 0.25
# Heavy tails: the median over the columns of the fourth standardized moment (3 for a normal distribution).
_HEAVY = 12.0
# Principal components: their largest correlation, and the share of steps at which the variance falls.
_UNCORRELATED, _FALLING = 0.3, 0.9
_N_QUANTILES = 1000
_PROBED_ROWS, _PROBED_COLUMNS = 20_000, 100
# Values in double precision at once: 128 MB.
_VALUES_AT_ONCE = 1 << 24


class Choice(NamedTuple):
    """What is done with vectors, and why."""

    metric: Literal["cosine", "euclidean"]
    scale: SettledScale
    reason: str


class Scaling(NamedTuple):
    """A scaling of columns that can be applied to new rows.

    `center` and `spread` are per column; `quantiles` (float64[n_quantiles, d]) exists for ranks only, `axes`
    (float64[d, r]) for components only, of which there are r. Columns that do not vary become 0.
    """

    kind: str
    center: Floats
    spread: Floats
    quantiles: Floats | None = None
    axes: Floats | None = None

    def apply(self, rows: AnyFloats, *, overwrite: bool = False) -> AnyFloats:
        """Scaled rows, in their original precision; in place where they may be overwritten and keep their columns."""
        if self.axes is not None:
            return self._along_axes(rows, self.axes)
        scaled = rows if overwrite else np.empty(rows.shape, rows.dtype)
        # piece by piece: no copy of all rows in double precision
        step = max(1, _VALUES_AT_ONCE // max(1, rows.shape[1]))
        for first in range(0, len(rows), step):
            some = rows[first : first + step]
            if self.quantiles is None:
                scaled[first : first + step] = (some - self.center) / self.spread
            else:
                scaled[first : first + step] = _ranks(np.asarray(some, dtype=np.float64), self.quantiles)
        return scaled

    def _along_axes(self, rows: AnyFloats, axes: Floats) -> AnyFloats:
        scaled = np.empty((len(rows), axes.shape[1]), rows.dtype)
        step = max(1, _VALUES_AT_ONCE // max(1, rows.shape[1]))
        # one thread: the order of a sum must not depend on the machine
        with limited_libraries(1, "blas"):
            for first in range(0, len(rows), step):
                scaled[first : first + step] = (rows[first : first + step] - self.center) @ axes
        return scaled

    def arrays(self) -> dict[str, Floats]:
        """What a file keeps."""
        parts = {"center": self.center, "spread": self.spread, "quantiles": self.quantiles, "axes": self.axes}
        return {name: part for name, part in parts.items() if part is not None}

    @classmethod
    def from_arrays(cls, kind: str, arrays: Mapping[str, Any]) -> Scaling:
        """From what `arrays` gave."""
        return cls(kind, arrays["center"], arrays["spread"], arrays.get("quantiles"), arrays.get("axes"))


def choose(rows: Any) -> Choice:
    """The metric and scale that suit vectors, by what can be seen without labels.

    Examples
    --------
    >>> import numpy as np
    >>> from arbora.similarity.scaling import choose
    >>> rng = np.random.default_rng(0)
    >>> choose(rng.normal(size=(100, 8)) * [1, 1000, 1, 1, 1, 1, 1, 1]).scale
    'standard'
    """
    if sp.issparse(rows):
        return Choice("cosine", "none", "sparse rows are compared by their direction")
    if rows.shape[1] <= _FEW_COLUMNS:
        return _choose_for_few_columns(rows)
    probe = _probe(rows)
    varying = probe[:, probe.std(axis=0) > 0]
    if varying.shape[1] == 0 or len(probe) < 3:
        return Choice("cosine", "none", "the columns do not vary")
    if _are_components(varying):
        return Choice("euclidean", "none", "uncorrelated columns of falling variance: principal components")
    if rows.shape[1] <= _MOST_TABLE_COLUMNS:
        if _have_heavy_tails(varying):
            return Choice("euclidean", "rank", "columns with heavy tails")
        share = effective_columns(varying) / varying.shape[1]
        if share < _UNLIKE:
            reason = f"unlike units: {share:.0%} of the columns carry the variance"
            return Choice("euclidean", "standard", reason)
        # of four columns one is a quarter already
        if _one_decides(varying):
            return Choice("euclidean", "standard", "unlike units: one column carries the variance")
    if rows.shape[1] <= _MOST_AROUND_ORIGIN and _is_around_origin(varying):
        return Choice("euclidean", "none", "few columns around the origin, whose direction says little")
    if _have_one_length(probe):
        return Choice("cosine", "none", "rows of one length, which have nothing but their direction")
    found = most_structured(rows)
    return Choice("cosine", "none", "columns of one unit") if found is None else Choice(*found)


def _have_one_length(values: Floats) -> bool:
    """Whether rows were brought to one length, as embeddings often are."""
    lengths = np.linalg.norm(values, axis=1)
    return bool(np.ptp(lengths) <= _SAME_LENGTH * lengths.max())


def _choose_for_few_columns(rows: AnyFloats) -> Choice:
    """Distances; standardized where one column would decide them alone."""
    if _one_decides(_probe(rows)):
        return Choice("euclidean", "standard", "unlike units: one column carries the variance")
    return Choice("euclidean", "none", f"{rows.shape[1]} columns, whose direction says little")


def _one_decides(values: Floats) -> bool:
    """Whether the variance of one column exceeds the next by so much that it alone decides distances."""
    spreads = np.sort(_deviations(values))
    return bool(len(spreads) > 1 and 0 < spreads[-2] < spreads[-1] / np.sqrt(_UNLIKE_TIMES))


def fit_scaling(kind: str, rows: AnyFloats) -> Scaling | None:
    """The scaling that a kind means for these rows; None for "none". Missing values do not count."""
    check_choice(kind, "scale", SCALES[1:])
    if kind == "none":
        return None
    if kind == "components":
        center, axes = find_axes(rows)
        return Scaling(kind, center, np.ones(len(center)), axes=axes)
    blocks = [
        _fitted_columns(kind, np.asarray(rows[:, some], np.float64)) for some in column_blocks(rows.shape)
    ]
    center, spread, quantiles = (np.concatenate(parts, axis=-1) for parts in zip(*blocks))
    # rounding leaves a constant column with a tiny deviation
    varies = spread > 1e-12 * np.maximum(np.abs(center), np.finfo(np.float64).tiny)
    return Scaling(kind, center, np.where(varies, spread, np.inf), quantiles if kind == "rank" else None)


def _fitted_columns(kind: str, values: Floats) -> tuple[Floats, Floats, Floats]:
    """Center, spread and, for ranks, quantiles of some columns."""
    n_quantiles = min(_N_QUANTILES, len(values)) if kind == "rank" else 0
    # of many columns several times quicker than nanquantile, and the same
    quantile = np.nanquantile if np.isnan(values).any() else np.quantile
    quantiles = quantile(values, np.linspace(0, 1, n_quantiles), axis=0)
    if kind == "standard":
        safe, unit = in_safe_units(values)
        return np.nanmean(safe, axis=0) * unit, np.nanstd(safe, axis=0) * unit, quantiles
    low, center, high = np.nanpercentile(values, [25, 50, 75], axis=0)
    # in a column of which more than half is one number, the quartiles coincide
    return center, np.where(high > low, high - low, _deviations(values)), quantiles


def _deviations(values: Floats) -> Floats:
    """Standard deviation of every column, missing values apart, of numbers however large or small."""
    safe, unit = in_safe_units(values)
    deviations: Floats = np.nanstd(safe, axis=0) * unit
    return deviations


def column_blocks(shape: tuple[int, ...]) -> list[slice]:
    """Columns to work on at once, so that a copy of them in double precision stays small.

    Never one column by itself, unless there is only one: NumPy sums a single column in another order than several.
    """
    n_rows, n_columns = shape
    n_blocks = min(-(-n_rows * n_columns // _VALUES_AT_ONCE), n_columns // 2)
    ends = np.linspace(0, n_columns, max(1, n_blocks) + 1).astype(np.int64).tolist()
    return [slice(first, last) for first, last in pairwise(ends)]


def effective_columns(values: Floats) -> float:
    """How many columns of equal variance would be as unevenly spread: (sum of variances)² / sum of squares."""
    spread = values.std(axis=0)
    variance = (spread / max(float(spread.max()), np.finfo(np.float64).tiny)) ** 2
    return float(variance.sum() ** 2 / (variance**2).sum())


def _probe(rows: AnyFloats) -> Floats:
    """Some of the rows, in a unit in which their squares are numbers: every choice is one of proportions."""
    step = max(1, len(rows) // _PROBED_ROWS)
    probe = np.asarray(rows[::step], dtype=np.float64)
    return in_safe_units(probe.reshape(-1, 1))[0].reshape(probe.shape)


def _are_components(values: Floats) -> bool:
    """Whether columns are uncorrelated and their variances fall: what PCA and truncated SVD give."""
    variance = values.var(axis=0)
    if values.shape[1] < 4 or np.mean(np.diff(variance) <= 0) < _FALLING:
        return False
    correlation = np.atleast_2d(np.corrcoef(values[:, :_PROBED_COLUMNS].T))
    np.fill_diagonal(correlation, 0.0)
    # with few rows even independent columns correlate
    return bool(np.abs(correlation).max() < _UNCORRELATED + 3 / np.sqrt(len(values)))


def _is_around_origin(values: Floats) -> bool:
    """Whether the mean is close to the origin relative to the spread."""
    return bool((values.mean(axis=0) ** 2).sum() < _AROUND_ORIGIN * values.var(axis=0).sum())


def _have_heavy_tails(values: Floats) -> bool:
    """Whether most columns are continuous and most of those have heavy tails."""
    step = max(1, len(values) // 2000)
    sample = values[::step]
    n_distinct = np.array([len(np.unique(column)) for column in sample.T])
    continuous = sample[:, n_distinct > len(sample) / 2]
    if continuous.shape[1] * 2 < values.shape[1]:
        return False
    deviation = continuous - continuous.mean(axis=0)
    standardized = deviation / continuous.std(axis=0)
    return bool(np.median((standardized**4).mean(axis=0)) > _HEAVY)


def _ranks(rows: Floats, quantiles: Floats) -> NDArray[np.float64]:
    """Share of the fitted column below each value, between -0.5 and 0.5; the middle of a run of equal values."""
    ranks = np.empty_like(rows)
    steps = np.linspace(0, 1, len(quantiles))
    for column in range(rows.shape[1]):
        known = quantiles[:, column]
        low = np.interp(rows[:, column], known, steps)
        high = 1 - np.interp(-rows[:, column], -known[::-1], steps)
        ranks[:, column] = (low + high) / 2 - 0.5
    return ranks
