import numpy as np
import pytest

import arbora as ab
from arbora.hyperbolic.hyphc.decode import decode
from arbora.tasks.classification import METHODS, classify, propagate_labels, split_rows

QUICK = {"max_epochs": 3, "n_steps": 40, "batch_size": 100}


def three_groups(n=45, noise=1.0):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 3
    return 4 * np.eye(3)[y] + noise * rng.normal(size=(n, 3)), np.array(["red", "green", "blue"])[y]


@pytest.mark.parametrize("method", METHODS)
def test_clear_groups_are_classified_from_a_third_of_the_labels(method):
    X, y = three_groups(noise=0.4)
    if method == "label-propagation":  # propagates over all pairs: needs similarities that fall off
        X = ab.similarity.knn(X, n_neighbors=5)
    result = classify(X, y, method, **QUICK)
    assert result.test_accuracy > 0.9
    assert set(result.labels) <= {"red", "green", "blue"} and len(result.labels) == 45
    if method != "label-propagation":
        assert result.embedding.shape == (45, 3)
        assert decode(result.embedding).same_topology(result.tree)


def test_training_sees_no_label_but_those_of_the_training_rows():
    X, y = three_groups()
    split = split_rows(45, 3)
    hidden, unknown = y.copy(), np.concatenate([split.validation, split.test])
    hidden[unknown] = np.random.default_rng(1).permutation(y[unknown])
    first, second = (classify(X, labels, split=split, random_state=3, **QUICK) for labels in (y, hidden))
    np.testing.assert_array_equal(first.labels, second.labels)
    assert first.validation_accuracy == np.mean(first.labels[split.validation] == y[split.validation])


def test_without_validation_rows_their_accuracy_is_not_a_number():
    X, y = three_groups()
    split = split_rows(45, 3)._replace(validation=np.empty(0, dtype=np.int64))
    assert np.isnan(classify(X, y, "two-step", split=split, **QUICK).validation_accuracy)


@pytest.mark.parametrize(("method", "heeds_labels"), [("two-step", False), ("end-to-end", True)])
def test_labels_move_the_leaves_in_joint_training_only(method, heeds_labels):
    X, y = three_groups(noise=2.0)
    other = np.roll(y, 1)
    first, again, second = (
        classify(X, labels, method, random_state=1, **QUICK).embedding for labels in (y, y, other)
    )
    np.testing.assert_array_equal(first, again)
    assert np.array_equal(first, second) != heeds_labels


def test_leaves_leave_the_circle_for_the_ball_they_are_trained_in():
    X, y = three_groups(noise=2.0)
    rows = classify(X, y, "two-step", **QUICK).embedding
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), np.tanh(3.0 / 2), rtol=1e-9)
    assert np.abs(rows[:, 2]).max() > 0.2


@pytest.mark.parametrize("dimension", [2, 4])
def test_other_dimensions_and_a_class_without_labels(dimension):
    X, y = three_groups(noise=0.4)
    rows = np.random.default_rng(0).permutation(np.flatnonzero(y != "blue"))
    split = split_rows(45)._replace(train=rows[:12], validation=rows[12:16], test=rows[16:])
    result = classify(X, y, split=split, dimension=dimension, **QUICK)
    assert result.embedding.shape == (45, dimension)
    assert result.test_accuracy > 0.8


def test_split_is_a_partition_of_30_10_60():
    split = split_rows(200, 5)
    assert [len(part) for part in split] == [60, 20, 120]
    assert sorted(np.concatenate(split)) == list(range(200))
    assert not np.array_equal(split.train, split_rows(200, 6).train)


def test_propagation_follows_the_edges():
    rows = np.array([0, 1, 3, 4])
    path = ab.similarity.graph((rows, rows + 1), n_points=6)  # two separate paths
    codes = np.array([0, 0, 0, 1, 1, 1])
    assert propagate_labels(path, codes, np.array([0, 5])).tolist() == codes.tolist()


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"method": "guess"}, "method"),
        ({"dimension": 1}, "dimension"),
        ({"n_steps": 0}, "n_steps"),
        ({"y": np.zeros(45)}, "two classes"),
        ({"y": np.zeros(7)}, "one label per point"),
    ],
)
def test_bad_input_is_named(arguments, name):
    X, y = three_groups()
    with pytest.raises(ValueError, match=name):
        classify(X, **{"y": y, **QUICK, **arguments})
    with pytest.raises(ValueError, match="number of points in X must be at least 3"):
        classify(X[:2], [0, 1], **QUICK)
    with pytest.raises(ValueError, match="parts"):
        split_rows(10, parts=(0.9, 0.2))
    with pytest.raises(ValueError, match="too few"):
        split_rows(1)
