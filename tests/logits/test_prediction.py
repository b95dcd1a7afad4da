"""Probabilities of nodes, and the deepest node that is sure enough."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax
from trees import leaf_sets, random_tree

from arbora import Tree
from arbora.logits import _prediction
from arbora.logits._prediction import node_names, node_probabilities, sure_nodes
from arbora.logits._rows import ArrayRows


def case(n_classes, seed, n_points=20):
    rng = np.random.default_rng(seed)
    return random_tree(n_classes, rng, max_branching=3), rng.normal(size=(n_points, n_classes)) * 2


def sure_node_by_definition(tree, p, bound):
    """Walk down from the root as long as the most probable child is sure enough."""
    node = tree.root
    while node >= tree.n_leaves:
        children = tree.children(node).tolist()
        best = max(children, key=lambda child: p[child])
        if p[best] < bound:
            break
        node = best
    return node


@settings(max_examples=25)
@given(st.integers(1, 9), st.integers(0, 10**6))
def test_the_probability_of_a_node_is_the_sum_over_its_classes(n_classes, seed):
    tree, logits = case(n_classes, seed)
    p = softmax(logits, axis=1)
    found = node_probabilities(tree, ArrayRows(logits))
    for node, leaves in enumerate(leaf_sets(tree)):
        np.testing.assert_allclose(found[node], p[:, sorted(leaves)].sum(axis=1))


@settings(max_examples=25)
@given(
    st.integers(1, 9),
    st.integers(0, 10**6),
    st.lists(st.floats(0.05, 1), min_size=1, max_size=4).map(lambda c: sorted(c, reverse=True)),
)
def test_sure_nodes_equal_walking_down(n_classes, seed, confidences):
    tree, logits = case(n_classes, seed)
    rows = ArrayRows(logits)
    p = node_probabilities(tree, rows)
    found = sure_nodes(tree, rows, confidences)
    for number, bound in enumerate(confidences):
        wanted = [sure_node_by_definition(tree, p[:, point], bound) for point in range(len(logits))]
        assert found[number].tolist() == wanted


def test_blocks_of_points_do_not_change_the_answer(monkeypatch):
    tree, logits = case(7, 1)
    whole = sure_nodes(tree, ArrayRows(logits), [0.9, 0.5])
    monkeypatch.setattr(_prediction, "_NUMBERS_AT_ONCE", 3 * tree.n_nodes)
    np.testing.assert_array_equal(sure_nodes(tree, ArrayRows(logits), [0.9, 0.5]), whole)


def test_rows_that_cannot_be_used_are_refused():
    tree, logits = case(4, 0)
    logits[2, 1] = np.nan
    with pytest.raises(ValueError, match=r"NaN or infinity .first in row 2"):
        node_probabilities(tree, ArrayRows(logits))


def test_nodes_without_a_name_are_called_by_their_number():
    tree = Tree([3, 3, 4, 4, -1], 3)
    assert node_names(tree).tolist() == ["0", "1", "2", "node 3", "node 4"]
    named = tree.replace(name=["cat", "dog", "car", "pet", ""])
    assert node_names(named).tolist() == ["cat", "dog", "car", "pet", "node 4"]
    partly = tree.replace(name=["cat", "", "car", "", "all"])
    assert node_names(partly)[0] == "cat" and node_names(partly)[4] == "all"
    assert node_names(partly)[3] == "node 3" and node_names(partly)[1] != ""
