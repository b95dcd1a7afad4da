"""Blocks of logits on many machines: however rows are divided and joined, every sum is the same to the last bit."""

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from logits.l2h_by_definition import clustered_logits
from scipy.special import softmax

from arbora._base.exact_sums import in_levels, joined, rounders
from arbora.logits._block_sums import (
    KeyedSums,
    Questions,
    ScanPlan,
    answer_block,
    assign_block,
    confidence_of_block,
    join_answers,
    join_scans,
    scan_block,
)
from arbora.logits._protocol import Reading
from arbora.logits._rows import ArrayRows, affinity_rounders, class_rounder

LOGITS = clustered_logits(120, 6, 0)
# nobody is ever taken for the last class
LOGITS[:, 5] = LOGITS.min() - 1
READING = Reading()
PLAN = ScanPlan(READING, rounders(len(LOGITS)), n_per_class=4, n_kept=3)

cuts_of_rows = st.lists(st.integers(0, 120), max_size=4).map(sorted)


def blocks(cuts):
    """First row and rows of every block that has any."""
    edges = [0, *cuts, len(LOGITS)]
    return [(start, LOGITS[start:stop]) for start, stop in itertools.pairwise(edges) if stop > start]


def scanned(cuts):
    return join_scans([scan_block(block, start, PLAN) for start, block in blocks(cuts)], PLAN)


def questions(groups):
    found = ArrayRows(LOGITS).scan()
    return Questions(
        READING,
        [np.array(group) for group in groups],
        PLAN.by,
        class_rounder(found),
        np.array([5]),
        affinity_rounders(len(LOGITS)),
    )


@given(st.lists(st.tuples(st.integers(0, 9), st.floats(0, 1)), min_size=1, max_size=30), st.integers(1, 4))
def test_keyed_sums_equal_those_of_a_dictionary(pairs, n_parts):
    by = rounders(len(pairs))
    parts = [pairs[k::n_parts] for k in range(n_parts)]
    found = KeyedSums.join(
        [
            KeyedSums.of(
                np.array([key for key, _ in part], dtype=np.int64),
                in_levels(np.array([value for _, value in part]), by),
            )
            for part in parts
        ]
    )
    wanted = {}
    for key, value in pairs:
        wanted[key] = wanted.get(key, 0.0) + value
    assert found.keys.tolist() == sorted(wanted)
    np.testing.assert_allclose(joined(found.levels), [wanted[key] for key in sorted(wanted)], atol=1e-15)


def test_rows_of_keyed_sums_are_those_that_have_any():
    sums = KeyedSums.of(np.array([1, 7, 8]), in_levels(np.array([0.5, 0.25, 1.0]), rounders(3)))
    rows = sums.rows(3)
    assert rows.keys() == {0, 2}
    assert rows[0][0].tolist() == [1] and rows[0][1].tolist() == [0.5]
    assert rows[2][0].tolist() == [1, 2] and rows[2][1].tolist() == [0.25, 1.0]


@settings(max_examples=25)
@given(cuts=cuts_of_rows)
def test_a_first_reading_does_not_depend_on_the_blocks(cuts):
    one, many = scanned([]), scanned(cuts)
    np.testing.assert_array_equal(many.counts, one.counts)
    np.testing.assert_array_equal(many.confidence, one.confidence)
    for part, whole in ((many.second, one.second), (many.sample, one.sample)):
        for found, wanted in zip(part, whole):
            np.testing.assert_array_equal(found, wanted)
    assert many.largest == one.largest and many.is_like_probabilities == one.is_like_probabilities


def test_a_first_reading_equals_its_definition():
    found, p = scanned([50]), softmax(LOGITS, axis=1)
    best = p.argmax(axis=1)
    np.testing.assert_array_equal(found.counts, np.bincount(best, minlength=6))
    np.testing.assert_allclose(joined(found.confidence), np.bincount(best, p.max(axis=1), minlength=6))
    without = p.copy()
    without[np.arange(120), best] = 0
    without /= without.sum(axis=1, keepdims=True)
    for row, (columns, values) in found.second.rows(6).items():
        points = best == row
        wanted = np.bincount(without[points].argmax(axis=1), without[points].max(axis=1), minlength=6)
        np.testing.assert_allclose(values, wanted[columns])
        assert wanted.sum() == values.sum() or np.isclose(wanted.sum(), values.sum())


def test_the_sample_holds_a_few_points_of_every_class_with_their_largest_entries():
    sample = scanned([30, 60]).sample
    held = np.bincount(sample.assigned, minlength=6)
    np.testing.assert_array_equal(held, np.minimum(scanned([]).counts, 4))
    assert sample.values.shape == (len(sample.code), 3) and (sample.values[:, 0] == 0).all()
    assert len(set(sample.code.tolist())) == len(sample.code)


def test_rows_that_look_like_probabilities_are_noticed_in_the_first_block_only():
    p = softmax(LOGITS, axis=1)
    assert scan_block(p, 0, PLAN).is_like_probabilities
    assert not scan_block(LOGITS, 0, PLAN).is_like_probabilities
    assert scan_block(LOGITS, 500, PLAN).is_like_probabilities, "a later block has no say"


@settings(max_examples=25)
@given(cuts=cuts_of_rows)
def test_answers_do_not_depend_on_the_blocks(cuts):
    asked = questions([[0, 1], [2, 3, 4], [1]])
    one = answer_block(LOGITS, asked)
    many = join_answers([answer_block(block, asked) for _, block in blocks(cuts)])
    np.testing.assert_array_equal(many.received.keys, one.received.keys)
    np.testing.assert_array_equal(many.received.levels, one.received.levels)
    np.testing.assert_array_equal(many.class_sums, one.class_sums)
    np.testing.assert_array_equal(many.empty_sums, one.empty_sums)


def test_what_groups_give_equals_what_the_array_in_memory_answers():
    groups = [[0, 1], [2, 3, 4]]
    rows = ArrayRows(LOGITS)
    found = rows.scan()
    answers = answer_block(LOGITS, questions(groups)).received.rows(6)
    for number, group in enumerate(groups):
        wanted = rows.received(found, group)
        columns, values = answers[number]
        np.testing.assert_allclose(wanted[columns], values)
        assert np.isclose(wanted.sum(), values.sum())


def test_classes_without_points_get_the_probability_that_every_class_gives_them():
    p, best = softmax(LOGITS, axis=1), LOGITS.argmax(axis=1)
    found = joined(answer_block(LOGITS, questions([[0]])).empty_sums)
    np.testing.assert_allclose(found[:, 0], np.bincount(best, p[:, 5], minlength=6), rtol=1e-6)


def test_where_nothing_is_asked_nothing_is_answered():
    asked = questions([])._replace(class_rounder=None, empty=np.array([], dtype=int))
    answers = join_answers([answer_block(block, asked) for _, block in blocks([60])])
    assert len(answers.received.keys) == 0 and answers.class_sums is None
    assert answers.empty_sums.shape[1:] == (6, 0)


def test_labels_and_confidences_of_a_block_are_those_of_its_rows():
    label = np.arange(6) * 10
    np.testing.assert_array_equal(assign_block(LOGITS[:9], READING, label), label[LOGITS[:9].argmax(axis=1)])
    np.testing.assert_allclose(
        confidence_of_block(LOGITS[:9], READING), softmax(LOGITS[:9], axis=1).max(axis=1)
    )
