"""When the members of clusters were written: topics over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arbora._base.optional import require
from arbora._base.params import check_choice
from arbora._base.types import Floats, Ints
from arbora.reading.columns import column_of
from arbora.tree.formats.frame import Library

if TYPE_CHECKING:
    import pandas
    import polars

Every: TypeAlias = Literal["auto", "hour", "day", "week", "month", "quarter", "year"]
# Most bins if the caller does not say how long one lasts, and most bins in any case.
_MOST_BINS = 60
_MOST_ASKED = 100_000


@dataclass(frozen=True)
class OverTime:
    """How many members of each cluster fall into each stretch of time.

    Attributes
    ----------
    counts : int64[n_bins, n_clusters]
    starts : datetime64[n_bins]
        When each bin begins; bins without any member are there too.
    every : str
        How long a bin lasts.
    names : list of str
        Of the clusters.
    n_left_out : int
        Points without a date or without a cluster (-1).

    Examples
    --------
    >>> import arbora as ab
    >>> found = ab.insight.over_time([0, 0, 1], ["2024-01-05", "2024-03-01", "2024-03-09"], every="month")
    >>> found.counts.tolist(), found.shares()[2].tolist()
    ([[1, 0], [0, 0], [1, 1]], [0.5, 0.5])
    """

    counts: Ints
    starts: NDArray[np.datetime64]
    every: str
    names: list[str]
    n_left_out: int

    def shares(self) -> Floats:
        """Of the members in each bin, which share each cluster has; 0 in a bin without members."""
        total = self.counts.sum(axis=1, keepdims=True)
        return np.asarray(self.counts / np.maximum(total, 1))

    @overload
    def to_frame(self, library: Literal["pandas"] = "pandas") -> pandas.DataFrame: ...

    @overload
    def to_frame(self, library: Literal["polars"]) -> polars.DataFrame: ...

    def to_frame(self, library: Library = "pandas") -> pandas.DataFrame | polars.DataFrame:
        """One row per bin, its beginning first, and one column per cluster.

        Examples
        --------
        >>> import arbora as ab
        >>> ab.insight.over_time([0, 1], ["2024-01-05", "2024-02-01"], every="month", names=["sea", "land"]).to_frame()
               start  sea  land
        0 2024-01-01    1     0
        1 2024-02-01    0     1
        """
        check_choice(library, "library", ("pandas", "polars"))
        module = require(library, f"A {library} frame")
        columns = {name: self.counts[:, k] for k, name in enumerate(self.names)}
        return module.DataFrame({"start": self.starts.astype("datetime64[us]"), **columns})


def over_time(
    labels: ArrayLike, dates: Any, *, every: Every = "auto", names: Sequence[str] | None = None
) -> OverTime:
    """Count the members of each cluster in each stretch of time.

    Parameters
    ----------
    labels : array-like of int, shape (n_points,)
        Clusters, for instance from ``tree.cut(12)`` or ``TreeClustering.labels_``; points labeled -1 belong to none.
    dates : array-like, shape (n_points,)
        When each point was: datetimes, dates or ISO text, also of pandas, polars or Arrow; missing ones are left out.
        Times with a zone count in UTC.
    every : {"auto", "hour", "day", "week", "month", "quarter", "year"}
        How long a bin lasts; "auto" takes the shortest that makes at most 60. Weeks begin on Mondays.
    names : sequence of str, optional
        Of the clusters; by default their numbers. ``[tree.label(node) for node in tree.cut_nodes(12)]`` are those
        of a tree with names.

    Returns
    -------
    OverTime
        Draw it with `arbora.view.plot_over_time`.

    Examples
    --------
    >>> import numpy as np
    >>> import arbora as ab
    >>> days = np.datetime64("2024-01-01") + np.array([0, 3, 40, 41, 70])
    >>> found = ab.insight.over_time([0, 0, 1, 1, 1], days, every="month")
    >>> found.starts.astype(str).tolist(), found.counts.tolist()
    (['2024-01-01', '2024-02-01', '2024-03-01'], [[2, 0], [0, 2], [0, 1]])
    """
    check_choice(every, "every", get_args(Every))
    given = np.asarray(labels)
    if given.ndim != 1 or given.dtype.kind not in "iu":
        raise ValueError(
            f"labels must hold one whole number per point. Got shape {given.shape}, dtype {given.dtype}."
        )
    times = _times(dates, len(given))
    n_clusters = int(given.max(initial=-1)) + 1
    known = ~np.isnat(times) & (given >= 0)
    titles = _names(names, n_clusters)
    if not known.any():
        raise ValueError("dates and labels share no point: none has both a date and a cluster.")
    length, bins = _binned(times[known], every)
    first = int(bins.min())
    n_bins = int(bins.max()) - first + 1
    if n_bins > _MOST_ASKED:
        raise ValueError(
            f"every={every!r} makes {n_bins:,} bins, more than {_MOST_ASKED:,}. Choose longer ones."
        )
    counts = np.bincount((bins - first) * n_clusters + given[known], minlength=n_bins * n_clusters)
    starts = _starts(np.arange(first, first + n_bins), length)
    return OverTime(counts.reshape(n_bins, n_clusters), starts, length, titles, int((~known).sum()))


def _times(dates: Any, n_points: int) -> NDArray[np.datetime64]:
    column = column_of(dates, "dates")
    if column.kind != "date" or column.values.dtype.kind != "M":
        raise ValueError(
            f"dates must hold dates or times, or text in ISO form (2024-05-31). Got values like "
            f"{next((value for value in column.values.tolist() if value is not None), None)!r:.60}."
        )
    if len(column.values) != n_points:
        raise ValueError(f"dates and labels must be equally long. Got {len(column.values)} and {n_points}.")
    times: NDArray[np.datetime64] = column.values.astype("datetime64[us]")
    return times


def _binned(times: NDArray[np.datetime64], every: Every) -> tuple[str, Ints]:
    """The length of a bin, and the number of each time's bin, counted from 1970."""
    if every != "auto":
        return every, _numbers(times, every)
    for length in ("hour", "day", "week", "month", "quarter", "year"):
        numbers = _numbers(times, length)
        if int(numbers.max()) - int(numbers.min()) < _MOST_BINS:
            break
    return length, numbers


# 1970 began on a Thursday: the days until the first Monday
_FIRST_MONDAY = 4


def _numbers(times: NDArray[np.datetime64], every: str) -> Ints:
    if every == "week":
        return np.asarray((times.astype("datetime64[D]").astype(np.int64) - _FIRST_MONDAY) // 7)
    if every == "quarter":
        return np.asarray(times.astype("datetime64[M]").astype(np.int64) // 3)
    return np.asarray(times.astype(f"datetime64[{_UNITS[every]}]").astype(np.int64))


def _starts(numbers: Ints, every: str) -> NDArray[np.datetime64]:
    if every == "hour":
        return numbers.astype("datetime64[h]")
    if every == "week":
        return (7 * numbers + _FIRST_MONDAY).astype("datetime64[D]")
    if every == "quarter":
        return (3 * numbers).astype("datetime64[M]").astype("datetime64[D]")
    return numbers.astype(f"datetime64[{_UNITS[every]}]").astype("datetime64[D]")


_UNITS = {"hour": "h", "day": "D", "month": "M", "year": "Y"}


def _names(names: Sequence[str] | None, n_clusters: int) -> list[str]:
    if names is None:
        return [str(k) for k in range(n_clusters)]
    found = [str(name) for name in names]
    if len(found) != n_clusters:
        raise ValueError(f"names must hold one name per cluster, {n_clusters}. Got {len(found)}.")
    if len(set(found)) < len(found) or "start" in found:
        raise ValueError("names must differ from each other and from 'start', the column of a frame.")
    return found
