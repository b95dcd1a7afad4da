"""Sums that are the same in any order, in any chunks: held to fractions, which never round."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arbora._base.exact_sums import exact_sum_by_key, in_levels, joined, rounders, sum_by_key

values_between_0_and_1 = st.lists(st.floats(0, 1, allow_subnormal=False), min_size=1, max_size=60)


def total_by_definition(values):
    return float(sum(map(Fraction, values), Fraction(0)))


@given(values_between_0_and_1, st.randoms(use_true_random=False))
def test_a_sum_depends_neither_on_the_order_nor_on_the_chunks(values, random):
    by = rounders(n_terms=len(values))
    shuffled = list(values)
    random.shuffle(shuffled)
    cut = random.randint(0, len(values))
    whole = in_levels(np.array(values), by).sum(axis=1)
    pieces = in_levels(np.array(shuffled[:cut]), by).sum(axis=1) + in_levels(
        np.array(shuffled[cut:]), by
    ).sum(axis=1)
    np.testing.assert_array_equal(whole, pieces)


@given(values_between_0_and_1)
def test_a_sum_is_right_to_the_last_digits(values):
    found = float(joined(in_levels(np.array(values), rounders(n_terms=len(values))).sum(axis=1)))
    # what two levels of few terms cut off lies far below the largest value
    assert found == pytest.approx(total_by_definition(values), rel=1e-15, abs=1e-25)


@given(st.integers(2, 10**9), st.floats(1e-6, 1e6), st.integers(1, 4))
def test_the_levels_of_a_value_add_up_to_it_within_the_finest_grid(n_terms, largest, n_levels):
    by = rounders(n_terms, largest, n_levels)
    values = np.linspace(0, largest, 7)
    levels = in_levels(values, by)
    assert levels.shape == (n_levels, 7) and by.shape == (n_levels,)
    finest = by[-1] / (1.5 * 2.0**52)
    assert np.abs(levels.sum(axis=0) - values).max() <= finest / 2 + np.spacing(largest)


@given(st.integers(2, 10**9), st.floats(1e-6, 1e6))
def test_as_many_terms_as_announced_sum_exactly(n_terms, largest):
    grid = rounders(n_terms, largest, 1)[0] / (1.5 * 2.0**52)
    # multiples of the grid are exact below 2**53 of it
    assert n_terms * largest <= 2.0**53 * grid * 2
    assert (
        Fraction(grid).denominator == 1 or Fraction(grid).denominator & (Fraction(grid).denominator - 1) == 0
    ), "the grid is a power of two"


def test_values_of_zero_have_a_grid_too():
    by = rounders(10, largest=0.0)
    assert np.isfinite(by).all() and (in_levels(np.zeros(4), by) == 0).all()


def test_tiny_values_do_not_push_the_grid_below_what_floats_can_hold():
    by = rounders(4, largest=5e-324, n_levels=5)
    assert (by > 0).all() and np.isfinite(by).all()


@given(
    st.lists(st.tuples(st.integers(0, 4), st.floats(0, 1), st.integers(0, 9)), min_size=0, max_size=40),
)
def test_the_sum_of_every_key_equals_its_definition(rows):
    keys = np.array([key for key, _, _ in rows], dtype=np.int64)
    values = np.array([value for _, value, _ in rows])
    times = np.array([float(count) for _, _, count in rows])
    by = rounders(n_terms=max(1, 9 * len(rows)))
    found = exact_sum_by_key(keys, values, 5, by, times)
    wanted = [
        float(sum((Fraction(v) * int(t) for k, v, t in rows if k == key), Fraction(0))) for key in range(5)
    ]
    np.testing.assert_allclose(found, wanted, rtol=1e-14, atol=1e-25)
    without_times = exact_sum_by_key(keys, values, 5, by)
    np.testing.assert_array_equal(without_times, exact_sum_by_key(keys, values, 5, by, np.ones(len(rows))))


def test_keys_that_nobody_has_sum_to_zero():
    levels = in_levels(np.array([0.5]), rounders(1))
    np.testing.assert_array_equal(joined(sum_by_key(np.array([2]), levels, 4)), [0, 0, 0.5, 0])


def test_plain_sums_would_depend_on_the_order():
    """The reason for all this: the same numbers, added in another order."""
    values = np.array([1.0] + [2.0**-53] * 2)
    assert values[0] + values[1] + values[2] != values[1] + values[2] + values[0]
    by = rounders(3)
    forward, backward = (in_levels(order, by).sum(axis=1) for order in (values, values[::-1].copy()))
    assert joined(forward) == joined(backward) == 1 + 2.0**-52
