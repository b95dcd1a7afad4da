"""Names of classes, and true classes given by number or by name."""

import numpy as np
import pytest

import arbora as ab
from arbora.logits._names import class_numbers, column_names, unique_names

TREE = ab.Tree.from_newick("((cat,dog),car);")


class Estimator:
    def __init__(self, class_names=None, feature_names_in_=None):
        self.class_names = class_names
        if feature_names_in_ is not None:
            self.feature_names_in_ = feature_names_in_


def test_names_of_the_caller_come_before_those_of_the_input():
    columns = ["x", "y"]
    assert column_names(Estimator(("a", "b"), columns), columns) == ["a", "b"]
    assert column_names(Estimator(), columns) == columns
    assert column_names(Estimator(feature_names_in_=np.array(["p", "q"])), None) == ["p", "q"]
    assert column_names(Estimator(), None) is None


@pytest.mark.parametrize("text", ["cat", b"cat"])
def test_a_text_is_not_a_list_of_names(text):
    with pytest.raises(TypeError, match=r"class_names must be a sequence of names. Got the string"):
        column_names(Estimator(text), None)


def test_equal_names_get_their_numbers_and_other_kinds_become_text():
    assert unique_names(["a", "b", "a", 3], 4) == ["a (0)", "b", "a (2)", "3"]
    assert unique_names([1, "1"], 2) == ["1 (0)", "1 (1)"], "they look alike as text"
    assert unique_names(None, 3) is None and unique_names([], 0) == []
    with pytest.raises(ValueError, match=r"class_names must name all 3 classes. Got 2 names"):
        unique_names(["a", "b"], 3)


@pytest.mark.parametrize(
    "y",
    [[0, 2, 1], np.array([0, 2, 1], np.uint8), [0.0, 2.0, 1.0], ["cat", "car", "dog"],
     np.array(["cat", "car", "dog"], dtype=object)],
)  # fmt: skip
def test_classes_by_number_and_by_name_are_the_same(y):
    found = class_numbers(y, TREE, 3)
    assert found.dtype == np.int64 and found.tolist() == [0, 2, 1]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0, 1], r"y must hold one class per point, 3. Got shape \(2,\)"),
        ([[0], [1], [2]], r"Got shape \(3, 1\)"),
        ([0, 1, 3], r"y must lie in \[0, n_classes=3\). Got 0..3"),
        ([-1, 1, 2], r"Got -1..2"),
        (["cat", "cow", "hen"], "No class is called 'cow', 'hen'; there are 'cat', 'dog', 'car'"),
        ([0.5, 1.0, 2.0], "No class is called '0.5'"),
        ([0.0, np.nan, 1.0], "No class is called .*'nan'"),
    ],
)
def test_what_is_no_class_is_refused(y, message):
    with pytest.raises(ValueError, match=message):
        class_numbers(y, TREE, 3)


def test_no_points_have_no_classes():
    assert class_numbers(np.array([], dtype=int), TREE, 0).shape == (0,)
