"""Words of internal nodes."""

import numpy as np
import pytest

import arbora as ab
from arbora.tasks.topics import topic_words

TREE = ab.Tree([4, 4, 5, 5, 6, 6, -1], n_leaves=4)
COUNTS = np.array([[3, 2, 0, 1], [3, 1, 0, 1], [3, 0, 2, 1], [3, 0, 1, 1]])


def test_words_of_a_node_are_not_repeated_below():
    found = topic_words(TREE, COUNTS, ["all", "cat", "dog", "some"], n_words=2, distinct=False)
    assert found[6] == ["all", "some"]
    assert found[4] == ["cat"]
    assert found[5] == ["dog"]


def test_depth_limits_the_nodes():
    assert list(topic_words(TREE, COUNTS, max_depth=0)) == [6]
    assert topic_words(TREE, COUNTS, max_depth=0, n_words=1) == {6: [0]}


def test_wrong_shapes_are_refused():
    with pytest.raises(ValueError, match="one row per leaf"):
        topic_words(TREE, COUNTS[:3])
    with pytest.raises(ValueError, match="name the 4 columns"):
        topic_words(TREE, COUNTS, ["a"])
