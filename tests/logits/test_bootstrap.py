"""Resampling: weights, what is remembered, support and agreement, against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from logits.l2h_by_definition import clustered_logits
from sklearn.metrics import adjusted_rand_score

from arbora.logits._bootstrap import (
    RememberingRows,
    agreement_of_cuts,
    draw_weights,
)
from arbora.logits._levels import choose_levels
from arbora.logits._method import Method
from arbora.logits._rows import ArrayRows
from arbora.tree import Tree
from arbora.tree.consensus import clade_keys, support_of_nodes


def look(n_points=120, n_classes=6, seed=0):
    rows = ArrayRows(clustered_logits(n_points, n_classes, seed))
    return rows, rows.scan()


@given(st.integers(8, 200), st.integers(1, 8), st.integers(0, 10**6))
def test_each_class_is_drawn_as_often_as_it_has_points(n_points, n_classes, seed):
    _, assignment = look(n_points, n_classes, seed)
    weights = draw_weights(assignment, np.random.default_rng(seed))
    drawn = np.bincount(assignment.assigned, weights, minlength=n_classes)
    assert np.array_equal(drawn, assignment.counts)


def test_the_same_question_is_asked_once_as_long_as_memory_allows():
    rows, assignment = look()
    asked = []

    class Counting:
        def reassign(self, points, classes):
            asked.append(tuple(classes))
            return rows.reassign(points, classes)

        def affinities(self, assignment, empty):
            return rows.affinities(assignment, empty)

    pair = np.array([0, 1])
    points = assignment.points_of([0, 1])
    memory = RememberingRows(Counting(), 10**6)
    first, second = memory.reassign(points, pair), memory.reassign(points, pair)
    assert len(asked) == 1 and np.array_equal(first[1], second[1])
    forgetful = RememberingRows(Counting(), 0)
    forgetful.reassign(points, pair)
    forgetful.reassign(points, pair)
    assert len(asked) == 3


def trees(n_classes, n_trees):
    return [
        Method().tree(assignment, rows, Method().merges(assignment, rows))
        for rows, assignment in (look(60, n_classes, seed) for seed in range(n_trees))
    ]


def groups(tree):
    return [frozenset(tree.leaves(v).tolist()) for v in range(tree.n_nodes)]


def test_equal_groups_have_equal_keys_and_support_counts_them():
    tree, *others = trees(7, 6)
    code = np.random.default_rng(0).integers(0, 2**64, 7, dtype=np.uint64)
    known = dict(zip(groups(tree), clade_keys(tree, code)))
    for other in others:
        for group, key in zip(groups(other), clade_keys(other, code)):
            assert group not in known or known[group] == key
    expected = [np.mean([group in groups(other) for other in others]) for group in groups(tree)]
    assert support_of_nodes(tree, others) == pytest.approx(expected)


def test_agreement_is_the_mean_adjusted_rand_index_of_the_cuts():
    tree, *others = trees(7, 5)
    found = agreement_of_cuts(tree, others, [2, 4])
    for k, value in zip([2, 4], found):
        cuts = [adjusted_rand_score(tree.cut(n_clusters=k), other.cut(n_clusters=k)) for other in others]
        assert value == pytest.approx(np.mean(cuts))


def test_levels_are_the_cuts_with_the_largest_product_of_gap_and_stability():
    tree, *others = trees(9, 5)
    chosen = choose_levels(tree, others, 2, None)
    everything = choose_levels(tree, others, 40, None)
    values = sorted((level.gap * level.stability for level in everything), reverse=True)
    assert sorted((level.gap * level.stability for level in chosen), reverse=True) == values[:2]
    assert all(np.isnan(level.stability) for level in choose_levels(tree, [], 2, None))
    assert choose_levels(Tree([-1], 1), [], 2, None) == []
