"""Which groups merge: weights are repetitions, reports are complete, functions of the user are checked."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from logits.l2h_by_definition import clustered_logits

import arbora as ab
from arbora.logits._merge import merge_classes
from arbora.logits._rows import ArrayRows

LOGITS = clustered_logits(90, 6, 3)


def merged(logits, **options):
    rows = ArrayRows(logits)
    return merge_classes(rows.scan(), rows, **options)


@settings(max_examples=20)
@given(st.integers(0, 1000), st.sampled_from(["sum_of_means", "sum", "mean_of_means"]), st.booleans())
def test_a_point_that_counts_twice_is_two_points(seed, aggregation, is_lowest):
    rng = np.random.default_rng(seed)
    logits = clustered_logits(40, 5, seed)
    times = rng.integers(1, 4, len(logits))
    options = {"aggregation": aggregation, "merging": "lowest" if is_lowest else "all_pairs"}
    weighted = merged(logits, weights=times.astype(float), **options)
    repeated = merged(np.repeat(logits, times, axis=0), **options)
    np.testing.assert_array_equal(weighted.pairs, repeated.pairs)
    np.testing.assert_allclose(weighted.score, repeated.score)
    np.testing.assert_allclose(weighted.share, repeated.share)


@pytest.mark.parametrize("merging", ["lowest", "all_pairs"])
def test_every_group_is_merged_once_and_into_one_that_exists(merging):
    found = merged(LOGITS, merging=merging)
    assert found.pairs.shape == (5, 2) and len(set(found.pairs.ravel().tolist())) == 10
    for step, pair in enumerate(found.pairs.tolist()):
        assert max(pair) < 6 + step
    assert ((found.share >= 0) & (found.share <= 1)).all()


def test_the_share_of_the_last_merge_is_everything():
    assert merged(LOGITS).share[-1] == pytest.approx(1.0)


def test_scores_never_fall_where_they_add_up():
    assert (np.diff(merged(LOGITS, aggregation="sum").score) >= 0).all()


def test_a_single_class_has_nothing_to_merge():
    found = merged(np.zeros((3, 1)))
    assert found.pairs.shape == (0, 2) and found.score.shape == found.share.shape == (0,)


def test_progress_is_that_of_the_steps():
    heard = []
    merged(LOGITS, progress=lambda *report: heard.append(report))
    assert heard == [("merge", float(done), 5) for done in range(6)]


def test_a_function_gets_the_probabilities_of_each_class_with_points():
    sizes = []

    def aggregation(parts):
        sizes.append(len(parts))
        assert all(part.ndim == 1 and len(part) for part in parts)
        return sum(float(part.mean()) for part in parts)

    found = merged(LOGITS, aggregation=aggregation)
    np.testing.assert_array_equal(found.pairs, merged(LOGITS).pairs)
    assert max(sizes) == 6


def test_a_function_that_returns_nan_is_refused():
    with pytest.raises(ValueError, match="returned NaN for a group of 1 classes"):
        merged(LOGITS, aggregation=lambda parts: float("nan"))


def test_classes_without_points_go_first_and_have_no_share():
    logits = LOGITS.copy()
    logits[:, 4] = np.delete(logits, 4, axis=1).max(axis=1) - 10
    empty = np.flatnonzero(np.bincount(logits.argmax(axis=1), minlength=6) == 0)
    found = merged(logits)
    first, rest = slice(0, len(empty)), slice(len(empty), None)
    assert 4 in empty and sorted(found.pairs[first, 0]) == empty.tolist()
    assert (found.score[first] == 0).all() and np.isnan(found.share[first]).all()
    assert not np.isnan(found.share[rest]).any()


@pytest.mark.parametrize("merging", ["lowest", "all_pairs"])
@pytest.mark.parametrize("taken", range(5))
def test_classes_that_get_no_probability_at_all_join_the_only_one_that_does(taken, merging):
    logits = np.full((3, 5), -1e5)
    logits[:, taken] = 1e5
    tree = ab.L2H(merging=merging, n_bootstraps=0, random_state=0).fit(logits).tree_
    assert tree.n_leaves == 5
    assert tree.is_binary


def test_logits_whose_sums_are_no_numbers_are_refused_in_words():
    largest = np.finfo(float).max
    logits = np.array([[largest, -largest, 0.0], [-largest, largest, 0.0], [0.0, 0.0, largest]])
    with pytest.raises(ValueError, match="Input X contains logits as large as"):
        ab.L2H(n_bootstraps=3, random_state=0).fit(logits)
