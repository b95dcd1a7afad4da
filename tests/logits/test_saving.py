"""Fitted L2H models in files: everything comes back, and what is no model is refused."""

import numpy as np
import pytest
from logits.l2h_by_definition import clustered_logits

import arbora as ab
from arbora._base.files import read_archive, write_archive
from arbora.errors import FormatError
from arbora.logits._kept import Kept
from arbora.logits._rows import ArrayRows
from arbora.logits._warnings import look_like_probabilities

LOGITS = clustered_logits(80, 5, 0)
ATTRIBUTES = ["assignments_", "confidences_", "merge_scores_", "merge_shares_", "class_counts_", "labels_"]


def fitted(**options):
    return ab.L2H(**{"n_bootstraps": 2, "random_state": 0, **options}).fit(LOGITS)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"n_bootstraps": 0},
        {"class_names": list("abcde")},
        {"class_names": np.array(list("abcde"))},
        {"merging": "all_pairs", "aggregation": "sum"},
        {"refine": True},
        {"refine": {"n_perturbations": 1}},
        {"temperature": np.float32(2.0)},
        {"n_clusters": np.int64(3)},
        {"random_state": np.random.default_rng(0)},
    ],
)
def test_everything_that_was_fitted_comes_back(options, tmp_path):
    model = fitted(**options)
    model.save(tmp_path / "model")
    again = ab.L2H.load(tmp_path / "model")
    assert again.tree_ == model.tree_ and again.n_classes_ == 5 and again.exact_ == model.exact_
    for name in ATTRIBUTES:
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
    assert [tree.parent.tolist() for tree in again.replicates_] == [
        tree.parent.tolist() for tree in model.replicates_
    ]
    np.testing.assert_array_equal(again.predict(LOGITS, n_clusters=2), model.predict(LOGITS, n_clusters=2))
    assert again.temperature == model.temperature and again.refine == model.refine


def test_names_of_columns_come_back(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(LOGITS, columns=list("vwxyz"))
    model = ab.L2H(n_bootstraps=0).fit(frame)
    model.save(tmp_path / "model")
    again = ab.L2H.load(tmp_path / "model")
    assert again.feature_names_in_.tolist() == list("vwxyz")
    np.testing.assert_array_equal(again.predict(frame), model.predict(frame))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda arrays: arrays.pop("facts"), "facts"),
        (lambda arrays: arrays.pop("labels_"), "labels_"),
        (lambda arrays: arrays.update(facts=np.frombuffer(b"{", np.uint8)), "damaged"),
        (lambda arrays: arrays.update(parent=np.zeros(3, np.int64)), "damaged"),
    ],
)
def test_files_with_something_missing_or_wrong_are_refused(change, message, tmp_path):
    fitted(n_bootstraps=0).save(tmp_path / "model")
    arrays = read_archive(tmp_path / "model", "arbora.l2h")
    change(arrays)
    write_archive(tmp_path / "model", "arbora.l2h", arrays)
    with pytest.raises(FormatError, match=message):
        ab.L2H.load(tmp_path / "model")


def test_a_model_that_was_not_fitted_cannot_be_saved(tmp_path):
    with pytest.raises((AttributeError, ValueError)):
        ab.L2H().save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


# ---- what was kept of points, and what looks like probabilities -------------------------------------------------


def test_affinities_from_kept_entries_equal_those_of_all_entries():
    logits = LOGITS.copy()
    logits[:, 4] = logits.min() - 1
    p, best = np.exp(logits), logits.argmax(axis=1)
    p /= p.sum(axis=1, keepdims=True)
    kept = Kept(5, *ArrayRows(logits).largest(5))
    found = kept.affinity_sums(best.astype(np.int32), np.array([4, 1]))
    for column, cls in enumerate((4, 1)):
        np.testing.assert_allclose(found[:, column], np.bincount(best, p[:, cls], minlength=5), rtol=1e-5)


def test_entries_that_were_not_kept_count_as_nothing():
    kept = Kept(5, *ArrayRows(LOGITS).largest(1))
    best = LOGITS.argmax(axis=1).astype(np.int32)
    other = int(np.bincount(best).argmin())
    found = kept.affinity_sums(best, np.array([other]))
    assert (np.delete(found[:, 0], other) == 0).all()


@pytest.mark.parametrize(
    ("rows", "do_they"),
    [
        ([[0.2, 0.8], [1.0, 0.0]], True),
        ([[0.201, 0.801]], True),
        ([[0.3, 0.8]], False),
        ([[-0.5, 1.5]], False),
        (np.empty((0, 3)), False),
    ],
)
def test_rows_that_are_not_negative_and_sum_to_one_look_like_probabilities(rows, do_they):
    assert look_like_probabilities(np.array(rows, dtype=np.float32)) is do_they
