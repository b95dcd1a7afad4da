"""What a column holds is decided by its values."""

import datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arbora.reading.columns import NUMBER, Column, as_word, column_of, is_missing, of_text


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2.5, None], "number"),
        ([True, False, None], "number"),
        (np.arange(3), "number"),
        ([[1, 2], [3, 4]], "vector"),
        ([np.zeros(2), np.ones(2)], "vector"),
        (np.zeros((3, 2)), "vector"),
        ([["a", "b"], ["c", "d"]], "text"),
        (["x", None], "text"),
        (["1.5", "2"], "text"),
        ([None, float("nan")], "empty"),
        ([datetime.date(2024, 1, 2), None], "date"),
        (np.array(["2024-01-02"], dtype="datetime64[D]"), "date"),
        (["2024-01-02T10:00:00Z", "2024/01/03"], "date"),
        (["2024-13-45"], "text"),
        (["[0.5 1]", "[2, 3e-1]"], "vector"),
        (["[deleted]", "[removed]"], "text"),
        ([1, "x"], "text"),
    ],
)
def test_the_kind_of_a_column(values, kind):
    assert column_of(values, "c").kind == kind


@pytest.mark.parametrize(
    ("values", "words"),
    [([[1.0, 2], [3]], "different lengths"), ([[1.0, 2], None], "have none, the first row 2")],
)
def test_vectors_that_do_not_make_a_matrix_are_refused(values, words):
    with pytest.raises(ValueError, match=words):
        column_of(values, "c")


@given(st.floats())
def test_every_number_that_python_prints_is_a_number(value):
    assert NUMBER.fullmatch(repr(value))


@pytest.mark.parametrize("cell", ["1_2", "0x10", "1,5", "", "1e", "\u0661", "12a", "--1", "1 2"])
def test_what_only_looks_like_a_number_is_none(cell):
    assert NUMBER.fullmatch(cell) is None


def test_missing_values_of_pandas_are_missing():
    pandas = pytest.importorskip("pandas")
    assert all(is_missing(value) for value in (None, float("nan"), np.float32("nan"), pandas.NA, pandas.NaT))
    assert not any(is_missing(value) for value in (0, "", "nan", np.inf))


def test_whole_numbers_are_written_without_a_point():
    assert [as_word(value) for value in (3.0, 2.5, None, "x", 7)] == ["3", "2.5", "", "x", "7"]


@pytest.mark.parametrize(
    ("values", "counts"), [([0, 1, 2], True), ([1, 2, 3], True), ([2, 3, 4], False), ([0, 2, 1], False)]
)
def test_counting_begins_at_zero_or_one(values, counts):
    assert Column("number", np.array(values, dtype=float)).counts_rows() is counts


def test_zones_of_time_become_utc():
    column = of_text(["2024-01-02T01:00:00+02:00"], "c")
    assert column.values[0] == np.datetime64("2024-01-01T23:00:00")
