"""Topics over time."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import arbora as ab

DAYS = np.array(["2023-12-31", "2024-01-01", "2024-02-29", "2024-02-29"], dtype="datetime64[D]")


@given(
    st.integers(1, 40),
    st.sampled_from(["hour", "day", "week", "month", "quarter", "year"]),
    st.integers(0, 99),
)
def test_counts_are_those_of_pandas_periods(n, every, seed):
    rng = np.random.default_rng(seed)
    span = 40 if every in ("hour", "day") else 900
    times = np.datetime64("1968-11-03T05:00", "m") + rng.integers(0, span * 1440, n)
    labels = rng.integers(0, 3, n)
    found = ab.insight.over_time(labels, times, every=every)
    code = {"hour": "h", "day": "D", "week": "W-SUN", "month": "M", "quarter": "Q", "year": "Y"}[every]
    periods = pd.Series(times).dt.to_period(code)
    for start, counts in zip(found.starts, found.counts, strict=True):
        inside = periods == pd.Period(pd.Timestamp(start), code)
        assert counts.tolist() == np.bincount(labels[inside], minlength=labels.max() + 1).tolist()
    assert found.counts.sum() == n and found.counts[0].any() and found.counts[-1].any()


@pytest.mark.parametrize(
    "dates",
    [
        DAYS,
        DAYS.astype("datetime64[ns]"),
        list(DAYS.astype(str)),
        [datetime.date(*map(int, str(day).split("-"))) for day in DAYS],
        pd.Series(pd.to_datetime(DAYS)),
        pd.Series(pd.to_datetime(DAYS)).dt.tz_localize("UTC"),
        pd.DatetimeIndex(DAYS),
        pd.DatetimeIndex(DAYS, tz="UTC"),
        pd.Series(DAYS.astype(str), dtype="string"),
        pl.Series(DAYS.astype("datetime64[us]")),
        pa.array(DAYS),
    ],
    ids=[
        "days",
        "ns",
        "text",
        "date",
        "pandas",
        "zone",
        "index",
        "index with zone",
        "string",
        "polars",
        "arrow",
    ],
)
def test_dates_of_every_library_are_counted_alike(dates):
    found = ab.insight.over_time([0, 0, 1, 1], dates, every="month")
    assert found.starts.astype("datetime64[M]").astype(str).tolist() == ["2023-12", "2024-01", "2024-02"]
    assert found.counts.tolist() == [[1, 0], [1, 0], [0, 2]]


def test_points_without_a_date_or_a_cluster_are_left_out_and_counted():
    dates = [None, "2024-01-01", "2024-01-02", "2024-01-03"]
    found = ab.insight.over_time([0, -1, 1, 1], dates, every="year")
    assert found.counts.tolist() == [[0, 2]] and found.n_left_out == 2


@pytest.mark.parametrize(
    ("days", "every"),
    [(1, "hour"), (30, "day"), (200, "week"), (1000, "month"), (4000, "quarter"), (9000, "year")],
)
def test_bins_are_as_short_as_sixty_of_them_allow(days, every):
    found = ab.insight.over_time([0, 0], np.array([0, days], dtype="datetime64[D]"))
    assert found.every == every and len(found.starts) <= 60


def test_a_frame_has_a_row_per_bin_and_a_column_per_cluster():
    found = ab.insight.over_time([0, 0, 1, 1], DAYS, every="quarter", names=["cats", "dogs"])
    frame = found.to_frame()
    assert frame.columns.tolist() == ["start", "cats", "dogs"] and frame.start.iloc[1] == pd.Timestamp(
        "2024-01-01"
    )
    assert found.to_frame("polars")["dogs"].to_list() == [0, 2]
    assert found.shares().tolist() == [[1.0, 0.0], [1 / 3, 2 / 3]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dates": [1, 2, 3, 4]}, "dates must hold dates"),
        ({"dates": ["soon", "later", "now", "then"]}, "'soon'"),
        ({"dates": DAYS[:3]}, "equally long"),
        ({"dates": [None] * 4}, "dates must hold dates"),
        ({"labels": [-1] * 4}, "none has both"),
        ({"labels": [0.5] * 4}, "one whole number per point"),
        ({"names": ["a"]}, "one name per cluster"),
        ({"names": ["a", "a"]}, "differ"),
        ({"every": "decade"}, "every"),
    ],
)
def test_what_cannot_be_counted_is_refused(change, message):
    given = {"labels": [0, 0, 1, 1], "dates": DAYS, **change}
    with pytest.raises(ValueError, match=message):
        ab.insight.over_time(given.pop("labels"), given.pop("dates"), **given)
