"""Rows that are needed all at once: one array, whatever they come in."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from row_sources import IN_MEMORY, MATRIX, NAMED, REPEATABLE, written

from arbora._base import collecting
from arbora._base.collecting import collect
from arbora._base.rows import open_rows


@pytest.mark.parametrize("kind", [*IN_MEMORY, *REPEATABLE, "iterator"])
def test_every_source_becomes_the_same_array(kind, tmp_path):
    found = collect(open_rows(written(kind, tmp_path)))
    np.testing.assert_array_equal(found.values, MATRIX)
    assert found.values.flags.c_contiguous and found.values.dtype in (np.float32, np.float64)
    assert found.column_names == ([f"c{k}" for k in range(7)] if kind in NAMED else None)


@given(st.lists(st.integers(0, 40), min_size=1, max_size=12), st.booleans())
def test_chunks_of_any_height_are_one_below_the_other(heights, knows_its_length):
    edges = np.cumsum([0, *heights])
    matrix = np.arange(3.0 * edges[-1]).reshape(-1, 3)
    chunks = [matrix[start:stop] for start, stop in itertools.pairwise(edges)]
    found = collect(open_rows(chunks if knows_its_length else iter(chunks)))
    np.testing.assert_array_equal(found.values, matrix)
    assert found.values.shape == (edges[-1], 3), "no room is left at the end"


def test_an_array_is_used_where_it_is_and_what_was_filled_is_our_own(tmp_path):
    found = collect(open_rows(MATRIX))
    assert found.values is MATRIX and not found.is_own
    mapped = collect(open_rows(written("memory map", tmp_path)))
    assert not mapped.is_own and not mapped.values.flags.owndata
    assert collect(open_rows([MATRIX[:100], MATRIX[100:]])).is_own


def test_what_is_in_the_order_of_columns_is_copied_into_the_order_of_rows():
    found = collect(open_rows(np.asfortranarray(MATRIX)))
    assert found.values.flags.c_contiguous and found.is_own
    np.testing.assert_array_equal(found.values, MATRIX)


def test_half_precision_becomes_single_in_an_array_of_its_own():
    half = MATRIX.astype(np.float16)
    found = collect(open_rows(half))
    assert found.values.dtype == np.float32 and found.is_own
    np.testing.assert_array_equal(found.values, half.astype(np.float32))


@pytest.mark.parametrize("source", ["array", "list", "iterator"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_value_that_is_not_finite_is_found_with_its_row(source, bad):
    matrix = MATRIX.astype(np.float64)
    matrix[217, 3] = bad
    data = {
        "array": matrix,
        "list": [matrix[:200], matrix[200:]],
        "iterator": iter([matrix[:200], matrix[200:]]),
    }
    with pytest.raises(ValueError, match=r"vectors must be finite.* row 217, column 3"):
        collect(open_rows(data[source], argument="vectors"), argument="vectors")


def test_large_but_finite_values_are_kept_even_where_their_sum_overflows():
    matrix = np.full((4, 2), 1e308)
    np.testing.assert_array_equal(collect(open_rows(matrix)).values, matrix)


@pytest.mark.parametrize("source", ["list", "iterator"])
def test_what_does_not_fit_is_refused_before_it_is_taken(source, monkeypatch):
    monkeypatch.setattr("arbora._base.memory.available_memory", lambda: 1000)
    chunks = [MATRIX[:100], MATRIX[100:]]
    rows = open_rows(chunks if source == "list" else iter(chunks), argument="logits")
    with pytest.raises(MemoryError, match=r"All rows of logits, which are needed at once.* Use a sample"):
        collect(rows, argument="logits", instead="Use a sample.")


def test_reading_is_reported_in_rows():
    heard = []
    collect(open_rows([MATRIX[:100], MATRIX[100:]]), progress=lambda *report: heard.append(report))
    assert heard == [("reading", 0.0, 300), ("reading", 100, 300), ("reading", 300, 300)]
    heard.clear()
    collect(open_rows(iter([MATRIX[:100], MATRIX[100:]])), progress=lambda *report: heard.append(report))
    assert [done for _, done, _ in heard] == [0, 100, 300, 300] and {total for *_, total in heard} == {None}


def test_growing_room_does_not_disturb_rows_already_there(monkeypatch):
    monkeypatch.setattr(collecting, "_GROWTH", 1.0)
    found = collect(open_rows(iter(MATRIX[k : k + 1] for k in range(len(MATRIX)))))
    np.testing.assert_array_equal(found.values, MATRIX)
