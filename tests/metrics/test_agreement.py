from itertools import permutations

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from trees import chain, random_tree

from arbora import Tree
from arbora.errors import TooLargeError
from arbora.metrics import agreement, clustering_accuracy, flat_scores, leaf_purity, level_scores

SEEDS = st.integers(0, 2**32 - 1)


def partitions(seed, n_points):
    rng = np.random.default_rng(seed)
    return rng.integers(0, rng.integers(1, 5), n_points), rng.integers(0, rng.integers(1, 5), n_points)


@given(SEEDS, st.integers(1, 30))
def test_accuracy_equals_the_best_renaming_of_clusters(seed, n_points):
    labels, y = partitions(seed, n_points)
    best = max(np.mean(np.array(names)[labels] == y) for names in permutations(range(4)))
    assert clustering_accuracy(y, labels) == pytest.approx(best)
    assert clustering_accuracy(y.astype(str), labels.astype(str)) == pytest.approx(best)


@given(SEEDS, st.integers(40, 80))
def test_mutual_information_and_rand_index_agree_with_scikit_learn(seed, n_points):
    labels, y = partitions(seed, n_points)
    table = agreement.contingency(y, labels)
    nmi, ari = normalized_mutual_info_score(y, labels), adjusted_rand_score(y, labels)
    assert agreement.mutual_information_of(table) == pytest.approx(nmi, abs=1e-9)
    assert agreement.rand_index_of(table) == pytest.approx(ari, abs=1e-9)


@given(SEEDS, st.integers(1, 40))
def test_leaf_purity_equals_its_definition(seed, n_points):
    leaf, y = partitions(seed, n_points)
    expected = sum(np.bincount(y[leaf == k]).max() for k in np.unique(leaf)) / n_points
    assert leaf_purity(y, leaf) == pytest.approx(expected)
    assert leaf_purity(y, leaf.astype(str)) == pytest.approx(expected)


def test_points_without_a_label_are_left_out():
    labels, y = np.array([0, 0, 1, 1, 2, 2]), np.array([0.0, np.nan, 1, 1, np.nan, 0])
    kept = ~np.isnan(y)
    assert clustering_accuracy(y, labels) == clustering_accuracy(y[kept], labels[kept])
    assert leaf_purity(y, labels) == leaf_purity(y[kept], labels[kept])
    nothing = agreement.contingency([-1, -1], [0, 1])
    for share in (agreement.accuracy_of, agreement.purity_of, agreement.rand_index_of):
        assert np.isnan(share(nothing))
    assert np.isnan(agreement.mutual_information_of(nothing))


def test_level_scores_find_a_tree_that_follows_the_labels_perfect():
    rng = np.random.default_rng(0)
    fine = np.repeat(np.arange(6), 5)
    coarse = fine // 2
    tree = Tree(np.concatenate([30 + fine, 36 + np.arange(6) // 2, [39, 39, 39, -1]]), n_leaves=30)
    scores = level_scores(tree, np.column_stack([coarse, fine]))
    assert list(scores) == ["level 0", "level 1"]
    assert scores["level 0"] == {"n_classes": 3, "n_clusters": 3, "nmi": 1, "ari": 1, "acc": 1, "purity": 1}
    assert scores.column("n_clusters") == {"level 0": 3, "level 1": 6}
    assert scores["level 1"]["acc"] == 1
    shuffled = level_scores(tree, rng.permutation(fine))
    assert shuffled["level 0"]["ari"] < 0.5


def test_level_scores_agree_with_cutting_by_hand_and_take_points_in_leaves():
    rng = np.random.default_rng(1)
    tree = random_tree(40, rng)
    leaf_of_point = rng.integers(0, 40, 300)
    y = rng.integers(0, 7, 300)
    clusters = tree.cut(n_clusters=7)[leaf_of_point]
    row = level_scores(tree, {"kind": y}, leaf_of_point)["kind"]
    assert row["acc"] == clustering_accuracy(y, clusters)
    assert row["ari"] == pytest.approx(adjusted_rand_score(y, clusters))
    assert row["nmi"] == pytest.approx(normalized_mutual_info_score(y, clusters))
    assert row["purity"] == leaf_purity(y, clusters)


def test_level_scores_read_data_frames():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [0, 0, 1, 1], "b": ["x", "y", None, "x"]})
    scores = level_scores(Tree([4, 4, 5, 5, 6, 6, -1], 4), frame)
    assert list(scores) == ["a", "b"]
    assert scores["a"]["ari"] == 1


def test_where_no_cut_has_as_many_clusters_the_nearest_number_is_taken_and_shown():
    star = Tree([6] * 6 + [-1], n_leaves=6)
    assert level_scores(star, [0, 0, 1, 1, 2, 2])["level 0"]["n_clusters"] == 1
    assert level_scores(star, [0, 1, 2, 3, 3, 3])["level 0"]["n_clusters"] == 6
    points = level_scores(chain(2), np.arange(5), leaf_of_point=[0, 0, 1, 1, 1])
    assert points["level 0"]["n_clusters"] == 2


def test_one_class_and_one_leaf_have_scores():
    assert level_scores(chain(3), [7, 7, 7])["level 0"]["ari"] == 1
    assert level_scores(Tree([-1], 1), ["a"])["level 0"]["acc"] == 1


def test_tables_print_aligned_and_as_html():
    scores = level_scores(chain(4), {"<kind>": [0, 0, 1, 1]})
    header, row = repr(scores).splitlines()
    assert len(header) == len(row)
    assert header.split() == ["level", "n_classes", "n_clusters", "nmi", "ari", "acc", "purity"]
    assert "<td>&lt;kind&gt;</td>" in scores._repr_html_()
    assert len(scores) == 1


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: clustering_accuracy([0], [0, 1]),
            ValueError,
            r"y and labels must be equally long. Got 1 and 2",
        ),
        (lambda: clustering_accuracy([0, 1], [0, np.nan]), ValueError, r"labels must not hold NaN"),
        (lambda: clustering_accuracy([0, 1], [[0, 1]]), ValueError, r"shape \(1, 2\)"),
        (lambda: clustering_accuracy([0, 1], ["a", None]), ValueError, r"labels must hold a cluster"),
        (lambda: leaf_purity([0, 1], [0, 1, 2]), ValueError, r"y and leaf_of_point.*Got 2 and 3"),
        (lambda: level_scores(chain(3), [0, 1]), ValueError, r"2 labels and 3 leaves"),
        (lambda: level_scores(chain(3), {}), ValueError, r"at least one level"),
        (lambda: level_scores(chain(3), np.zeros((3, 0))), ValueError, r"Got \(3, 0\)"),
        (lambda: level_scores(chain(3), {"a": [-1, 1, 1]}), ValueError, r"y \(a\) has one class"),
        (lambda: clustering_accuracy(np.arange(20_000), np.arange(20_000)), TooLargeError, r"20000 clusters"),
    ],
)
def test_bad_input_is_refused_with_what_came(call, error, message):
    with pytest.raises(error, match=message):
        call()


def arrays_with_a_missing_label():
    words, numbers = ["x", "y", None, "x", "y"], [0, 1, None, 0, 1]
    yield words
    yield [*words[:2], float("nan"), *words[3:]]
    yield np.array(words, dtype=object)
    yield np.array([0, 1, np.nan, 0, 1])
    yield [0, 1, -1, 0, 1]
    yield np.array(numbers, dtype=object)
    for dtype in ("string", "category", "object", "string[pyarrow]"):
        yield pandas.Series(words, dtype=dtype)
    yield pandas.array(numbers, dtype="Int64")
    yield pandas.Series([True, False, None, True, False], dtype="boolean")
    yield polars.Series(words)
    yield polars.Series(numbers)
    yield pyarrow.array(words)


@pytest.mark.parametrize("y", list(arrays_with_a_missing_label()), ids=lambda y: type(y).__name__)
def test_a_missing_label_is_no_class_in_any_kind_of_array(y):
    labels = [0, 1, 2, 0, 0]
    expected = flat_scores([0, 1, 0, 1], [0, 1, 0, 0])
    assert flat_scores(y, labels) == pytest.approx(expected)
    row = level_scores(Tree([5] * 5 + [-1], 5), {"kind": y})["kind"]
    assert row["n_classes"] == 2


@given(st.integers(0, 2**32 - 1), st.integers(1, 40))
def test_flat_scores_equal_scikit_learn_and_stay_between_their_limits(seed, n_points):
    rng = np.random.default_rng(seed)
    y, labels = rng.integers(0, 5, n_points), rng.integers(0, 4, n_points)
    found = flat_scores(y, labels)
    assert found["nmi"] == pytest.approx(normalized_mutual_info_score(y, labels), abs=1e-9)
    assert found["ari"] == pytest.approx(adjusted_rand_score(y, labels), abs=1e-9)
    assert found["acc"] == clustering_accuracy(y, labels)
    assert found["purity"] == leaf_purity(y, labels)
    assert agreement.adjusted_rand_index(y, labels) == found["ari"]
    assert 0 <= found["nmi"] <= 1
    assert flat_scores(y, y)["nmi"] == pytest.approx(1) and flat_scores(y, y)["nmi"] <= 1


def test_clusters_without_a_labeled_point_change_nothing():
    table = agreement.count_cells(np.array([0, 0]), np.array([2, 2]), n_classes=3, n_clusters=4)
    assert agreement.scores_of(table) == {"nmi": 1.0, "ari": 1.0, "acc": 1.0, "purity": 1.0}
