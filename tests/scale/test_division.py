"""Rows divided into parts: where each row goes, and how much a part gets."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arbora.scale import Limits
from arbora.scale.division import Coordinates, Division, divide, is_place, nearest_cells, send_to_parts
from arbora.scale.plan import Plan


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 1000), n_places=st.integers(1, 6))
def test_a_row_goes_once_to_every_part_with_a_cell_that_is_near(seed, n_places):
    rng = np.random.default_rng(seed)
    parts = rng.integers(4, size=(20, n_places))
    distance = np.sort(rng.random((20, n_places)).astype(np.float32), axis=1)
    found = is_place(parts, distance, 2.0)
    for row in range(20):
        expected = {p for p, d in zip(parts[row], distance[row]) if d <= 2 * distance[row, 0]}
        assert sorted(parts[row, found[row]]) == sorted(expected)


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 1000), count=st.integers(1, 6), n_parts=st.integers(1, 4))
def test_rows_are_sent_where_sorting_all_cells_by_distance_would_send_them(seed, count, n_parts):
    rng = np.random.default_rng(seed)
    rows, centers = (rng.normal(size=(n, 3)).astype(np.float32) for n in (30, 9))
    # the last cell is shared by two parts
    n_parts_of = np.array([1] * 8 + [2])
    first_part = np.append(rng.integers(n_parts, size=8), n_parts)
    division = Division(None, centers, first_part, n_parts_of, n_parts + 2, count, 2.0)
    gap = ((rows[:, None].astype(float) - centers) ** 2).sum(axis=2)
    sorted_cells = np.argsort(gap, axis=1)[:, :count]
    expected = division.part_of(sorted_cells, np.arange(30)[:, None])
    cells, distance = nearest_cells(rows, centers, count, 2.0, division.group)
    parts = division.part_of(cells, np.arange(30)[:, None])
    found = is_place(parts, distance, 2.0)
    wanted = is_place(expected, np.take_along_axis(gap, sorted_cells, axis=1), 2.0)
    assert np.array_equal(cells[:, 0], sorted_cells[:, 0])
    assert np.allclose(distance[:, 0], gap.min(axis=1), rtol=1e-3, atol=1e-5)
    for row in range(30):
        assert parts[row, found[row]].tolist() == expected[row, wanted[row]].tolist()


def bytes_of_parts(rows, limits):
    """What each part gets of all rows: its own, and candidates."""
    coordinates = Coordinates.of_sample(rows, "euclidean", None)
    plan = Plan.of(len(rows), limits)
    division = divide(coordinates.of_scaled(rows), coordinates, plan, 0, 1)
    sent = send_to_parts(rows, 0, division)
    assert sum(len(part.own_ids) for part in sent.values()) == len(rows)
    return [part.own_rows.nbytes + part.near_rows.nbytes for part in sent.values()]


@pytest.mark.parametrize("d", [8, 200])
def test_wide_rows_and_rows_that_are_candidates_everywhere_make_smaller_parts(d):
    rows = np.random.default_rng(0).normal(size=(4000, d)).astype(np.float32)
    unbounded = bytes_of_parts(rows, Limits(part=1000, sample=4000))
    most = max(unbounded) // 2
    bounded = bytes_of_parts(rows, Limits(part=1000, sample=4000, part_bytes=most))
    # smaller parts have relatively more candidates, so that the bound holds about
    assert max(bounded) < 1.5 * most
    assert len(bounded) > len(unbounded)


def test_parts_are_never_more_than_the_most_there_may_be():
    limits = Limits(part=100, most_parts=8, part_bytes=1)
    plan = Plan.of(4000, limits)
    assert plan.rows_of_part(bytes_per_row=1000) == 500
    assert Plan.of(4000).rows_of_part(bytes_per_row=1.0) == Plan.of(4000).part


def test_coordinates_of_many_rows_are_those_of_each():
    rows = np.random.default_rng(0).normal(size=(20_000, 3)).astype(np.float32)
    coordinates = Coordinates.of_sample(rows[:100], "euclidean", None)
    assert np.array_equal(coordinates.of(rows), coordinates.of_scaled(rows))


def test_workers_do_not_load_what_only_estimators_need():
    """scikit-learn and what it loads take 120 MB of every worker process."""
    said = "import sys, arbora.scale; print([name for name in ('sklearn', 'pandas') if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
