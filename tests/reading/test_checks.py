"""Warnings before a tree is trusted, each where it belongs and nowhere else."""

import numpy as np
import pytest

from arbora.reading.checks import warnings_of
from arbora.reading.dataset import Dataset, n_edges
from arbora.reading.options import ReadOptions, patterns

RNG = np.random.default_rng(0)


def warned(values, scale="none", **more):
    return warnings_of(Dataset(np.asarray(values, dtype=float), "vectors", "x", "npy", **more), scale)


def test_ordinary_columns_are_not_warned_about():
    assert warned(RNG.normal(size=(50, 4))) == []
    assert warned(RNG.normal(size=(50, 4)) * [1, 3, 5, 9]) == []
    assert warned(np.ones((50, 1))) == []


@pytest.mark.parametrize("factor", [1e2, 1e6])
def test_one_or_two_columns_that_rule_the_others_are_named(factor):
    values = RNG.normal(size=(50, 6))
    assert "'c3'" in warned(values * [1, 1, 1, factor, 1, 1], feature_names=[f"c{k}" for k in range(6)])[0]
    two = warned(values * [1, factor, 1, factor, 1, 1], feature_names=[f"c{k}" for k in range(6)])[0]
    assert "'c1', 'c3'" in two
    assert warned(values * [1, 1, 1, factor, 1, 1], scale="standard") == []


def test_a_large_mean_is_as_bad_as_a_large_spread():
    assert "squared length" in warned(RNG.normal(size=(50, 4)) + [0, 2000, 0, 0])[0]


def test_the_numbers_of_one_vector_share_a_scale():
    roles = {"features": "'e', vectors of 3 numbers"}
    assert warned(RNG.normal(size=(50, 3)) * [1, 1, 1e6], roles=roles) == []


def test_columns_that_count_rows_and_missing_values_are_named():
    values = np.column_stack([RNG.normal(size=9), np.arange(9), RNG.normal(size=9)])
    values[4, 2] = np.nan
    found = " ".join(warned(values))
    assert "column 2 only numbers the rows" in found
    assert "1 missing or infinite values in column 3, the first in row 5" in found


def test_edges_and_loops_count_once():
    import scipy.sparse as sp

    assert n_edges(sp.csr_array([[1.0, 2, 0], [2, 0, 0], [0, 0, 3]])) == 3


def test_patterns_are_one_string_or_several():
    assert patterns("a, b*", "features") == patterns(["a", "b*"], "features") == ("a", "b*")
    for wrong in ("", [], [3], "a,,b"):
        with pytest.raises(ValueError, match="features must name columns"):
            patterns(wrong, "features")


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("format", "doc"),
        ("scale", "x"),
        ("kind", "x"),
        ("directed", True),
        ("decimal", ";"),
        ("delimiter", "ab"),
    ],
)
def test_wrong_options_are_named(option, value):
    with pytest.raises(ValueError, match=option):
        ReadOptions.checked(**{option: value})
