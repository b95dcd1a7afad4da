"""Parameters are refused by name, with what was required and what came."""

import math
from fractions import Fraction

import numpy as np
import pytest

from arbora._base.params import (
    check_choice,
    check_n_clusters,
    check_real,
    check_refine,
    check_seconds,
    check_span,
    check_switch,
    check_whole,
    is_auto,
    is_bool,
)


def test_whole_numbers_beyond_64_bits_are_refused():
    with pytest.raises(ValueError, match="n_perturbations must fit into 64 bits"):
        check_whole(10**30, "n_perturbations")
    with pytest.raises(ValueError, match="n_jobs must fit into 64 bits"):
        check_whole(-(10**30), "n_jobs", least=None)
    assert check_whole(2**63 - 1, "n") == 2**63 - 1


@pytest.mark.parametrize("value", [3, np.int8(3), np.uint64(3)])
def test_whole_numbers_of_any_library_become_pythons(value):
    found = check_whole(value, "n")
    assert found == 3 and type(found) is int


@pytest.mark.parametrize("value", [True, np.True_, 1.0, np.float64(2), "1", None, [1], Fraction(1)])
def test_what_is_no_whole_number_is_refused_by_kind(value):
    with pytest.raises(TypeError, match=r"n must be a whole number. Got"):
        check_whole(value, "n")


@pytest.mark.parametrize(
    ("value", "bounds", "message"),
    [
        (0, {}, "n must be at least 1. Got 0"),
        (-1, {"least": 0}, "n must be at least 0. Got -1"),
        (9, {"least": None, "most": 8}, "n must be at most 8. Got 9"),
        (9, {"most": 8}, r"n must lie in \[1, 8\]. Got 9"),
        (0, {"most": 8}, r"n must lie in \[1, 8\]. Got 0"),
    ],
)
def test_whole_numbers_out_of_bounds_are_refused_with_the_bounds(value, bounds, message):
    with pytest.raises(ValueError, match=message):
        check_whole(value, "n", **bounds)


def test_bounds_of_whole_numbers_are_included():
    assert check_whole(1, "n", most=1) == 1
    assert check_whole(-5, "n", least=None) == -5


@pytest.mark.parametrize("value", [1, 1.0, np.float32(1), np.int64(1), Fraction(1)])
def test_real_numbers_of_any_kind_become_floats(value):
    found = check_real(value, "x")
    assert found == 1.0 and type(found) is float


@pytest.mark.parametrize("value", [True, np.False_, "1", None, 1j, [1.0], np.array([1.0])])
def test_what_is_no_number_is_refused_by_kind(value):
    with pytest.raises(TypeError, match=r"x must be a number. Got"):
        check_real(value, "x")


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, np.float32("nan")])
def test_numbers_that_are_not_finite_are_refused(value):
    with pytest.raises(ValueError, match=r"x must be finite. Got"):
        check_real(value, "x")


@pytest.mark.parametrize(
    ("bounds", "inside", "outside", "words"),
    [
        ({"above": 0}, 1e-300, 0, "greater than 0"),
        ({"least": 0}, 0, -1e-300, "at least 0"),
        ({"below": 1}, 0.999, 1, "less than 1"),
        ({"most": 1}, 1, 1.001, "at most 1"),
        ({"above": 0, "most": 1}, 1, 0, "greater than 0 and at most 1"),
        ({"least": 0, "below": 0.5}, 0, 0.5, "at least 0 and less than 0.5"),
    ],
)
def test_bounds_are_included_or_not_as_their_names_say(bounds, inside, outside, words):
    assert check_real(inside, "x", **bounds) == inside
    with pytest.raises(ValueError, match=f"x must be {words}. Got {outside!r}"):
        check_real(outside, "x", **bounds)


def test_a_choice_is_one_of_them():
    assert check_choice("b", "method", ["a", "b"]) == "b"
    assert check_choice(None, "method", (None, "a")) is None


@pytest.mark.parametrize("value", ["c", 1, None, ["a"], np.array(["a", "a"]), True, 1.0, b"a"])
def test_what_is_no_choice_is_refused_with_all_of_them(value):
    with pytest.raises(ValueError, match=r"method must be one of 'a', 'b'. Got"):
        check_choice(value, "method", ("a", "b"))


def test_one_is_not_true_among_choices():
    with pytest.raises(ValueError, match="one of True, False"):
        check_choice(1, "method", (True, False))


@pytest.mark.parametrize(("value", "meaning"), [(True, True), (np.False_, False)])
def test_switches_of_numpy_are_switches(value, meaning):
    assert check_switch(value, "verbose") is meaning


@pytest.mark.parametrize("value", [0, 1, None, "yes", np.int64(1), [True]])
def test_what_is_no_switch_is_refused(value):
    with pytest.raises(TypeError, match=r"verbose must be True or False. Got"):
        check_switch(value, "verbose")


@pytest.mark.parametrize(
    ("value", "pair"), [(2, (2.0, 2.0)), ((2, 0.5), (2.0, 0.5)), ([1, 3], (1, 3)), (np.array([1, 2]), (1, 2))]
)
def test_a_span_is_a_number_or_a_pair(value, pair):
    assert check_span(value, "temperature") == pair


@pytest.mark.parametrize("value", [None, (1,), (1, 2, 3), {}, object()])
def test_what_is_no_pair_is_refused(value):
    with pytest.raises(TypeError, match=r"temperature must be a number or a pair \(start, end\). Got"):
        check_span(value, "temperature")


@pytest.mark.parametrize("value", [0, -1.0, (1, 0), (0, 1), (1, math.nan)])
def test_both_ends_of_a_span_are_positive(value):
    with pytest.raises(ValueError, match=r"temperature must be (greater than 0|finite)"):
        check_span(value, "temperature")


def test_a_span_of_text_or_switches_is_refused_by_kind():
    for value in ("ab", True, (True, False)):
        with pytest.raises(TypeError, match="temperature must be a number"):
            check_span(value, "temperature")


@pytest.mark.parametrize("value", [None, math.inf, np.float64("inf")])
def test_no_budget_is_no_budget(value):
    assert check_seconds(value) is None


def test_a_budget_of_nothing_is_one():
    assert check_seconds(0) == 0.0


@pytest.mark.parametrize(("value", "error"), [(-1, ValueError), (math.nan, ValueError), ("1", TypeError)])
def test_other_budgets_are_refused_by_the_name_of_their_parameter(value, error):
    with pytest.raises(error, match="max_seconds must be"):
        check_seconds(value)
    with pytest.raises(error, match="patience must be"):
        check_seconds(value, "patience")


def test_clusters_are_at_most_as_many_as_points():
    assert check_n_clusters(5, 5) == 5
    assert check_n_clusters(5, 1) == 1, "one point is one cluster, whatever was asked"
    with pytest.raises(ValueError, match=r"n_clusters must lie in \[1, n_points=4\]. Got 5"):
        check_n_clusters(5, 4)
    with pytest.raises(ValueError, match="n_clusters must be at least 1"):
        check_n_clusters(0, 4)


@pytest.mark.parametrize(
    ("value", "is_it"), [("auto", True), ("Auto", False), (None, False), (np.array(["auto", "x"]), False)]
)
def test_only_the_word_auto_is_auto(value, is_it):
    assert is_auto(value) is is_it


def test_options_of_a_search_are_a_dictionary_of_their_own():
    options = {"max_seconds": 1}
    found = check_refine(options)
    found["n_perturbations"] = 3
    assert options == {"max_seconds": 1}
    assert check_refine(np.True_) == {} and check_refine(False) is None


@pytest.mark.parametrize("value", [1, None, "yes", [("max_seconds", 1)]])
def test_what_asks_for_no_search_and_for_none_is_refused(value):
    with pytest.raises(TypeError, match="refine must be True, False or a dictionary"):
        check_refine(value)


@pytest.mark.parametrize(("value", "is_it"), [(True, True), (np.True_, True), (1, False), ("True", False)])
def test_truth_values_of_python_and_numpy(value, is_it):
    assert is_bool(value) is is_it
