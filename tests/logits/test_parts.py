"""Modules below L2H by themselves: spaces, facts of a report, opened logits, names, evaluation."""

from __future__ import annotations

import numpy as np
import pytest
from logits.l2h_by_definition import clustered_logits
from scipy.special import softmax

import arbora as ab
from arbora._base.rows import open_rows
from arbora.logits import _class_facts, evaluate_tree
from arbora.logits._names import unique_names
from arbora.logits._open import blocks_of, open_logits
from arbora.logits._protocol import Reading
from arbora.logits._rows import ArrayRows
from arbora.logits._stream import StreamedLogits
from arbora.logits.spaces import Scaling, as_spaces, is_several

LOGITS = clustered_logits(400, 7, 0)


# ---- spaces ----------------------------------------------------------------------------------------------------


def test_scaled_spaces_have_mean_zero_and_mean_square_one():
    pytest.importorskip("torch")
    spaces = [LOGITS.astype(np.float32), 1000 + 50 * LOGITS[:, :3].astype(np.float32)]
    for scaled in Scaling(spaces)(spaces):
        assert np.allclose(scaled.numpy().mean(axis=0), 0, atol=1e-3)
        assert np.square(scaled.numpy()).mean() == pytest.approx(1, rel=1e-3)
    constant = [np.ones((4, 2), np.float32)]
    assert np.array_equal(Scaling(constant)(constant)[0].numpy(), np.zeros((4, 2)))


def test_several_spaces_are_lists_of_matrices_with_the_same_rows():
    assert is_several([LOGITS, LOGITS[:, :2]]) and not is_several(LOGITS) and not is_several([[1.0, 2.0]])
    model = ab.TURTLE()
    spaces = as_spaces(model, [LOGITS, LOGITS[:, :2]], reset=True)
    assert model.n_features_per_space_ == [7, 2] and spaces[1].dtype == np.float32
    with pytest.raises(ValueError, match="same points"):
        as_spaces(model, [LOGITS, LOGITS[:5]], reset=True)
    with pytest.raises(ValueError, match=r"expecting \[7, 2\]"):
        as_spaces(model, [LOGITS, LOGITS], reset=False)


def test_spaces_are_read_from_files_and_iterators(tmp_path):
    np.save(tmp_path / "a.npy", LOGITS)
    model = ab.TURTLE()
    for X in (tmp_path / "a.npy", str(tmp_path / "a.npy"), iter([LOGITS[:9], LOGITS[9:]])):
        (space,) = as_spaces(model, X, reset=True)
        assert np.allclose(space, LOGITS, rtol=1e-6)
    both = as_spaces(model, [tmp_path / "a.npy", LOGITS[:, :2]], reset=True)
    assert [space.shape[1] for space in both] == [7, 2]
    np.save(tmp_path / "nan.npy", np.full((3, 2), np.nan))
    with pytest.raises(ValueError, match="NaN"):
        as_spaces(model, tmp_path / "nan.npy", reset=True)


# ---- opened logits ---------------------------------------------------------------------------------------------


def test_logits_are_read_where_they_are_collected_or_streamed():
    array = open_logits(open_rows(LOGITS), Reading(), max_memory=10**9)
    assert isinstance(array, ArrayRows) and array.array is LOGITS
    collected = open_logits(open_rows(iter([LOGITS[:150], LOGITS[150:]])), Reading(), max_memory=10**9)
    assert isinstance(collected, ArrayRows) and np.array_equal(collected.array, LOGITS)
    streamed = open_logits(open_rows(iter([LOGITS[:150], LOGITS[150:]])), Reading(), max_memory=9_000)
    assert isinstance(streamed, StreamedLogits)
    assert np.array_equal(streamed.scan().assigned, LOGITS.argmax(axis=1))


def test_sums_by_class_of_a_stream_must_be_asked_for_beforehand():
    streamed = open_logits(open_rows([LOGITS]), Reading(), max_memory=1000)
    with pytest.raises(RuntimeError, match="with_class_sums"):
        streamed.class_sums(streamed.scan())


def test_blocks_cover_all_points_in_order():
    found = [rows.scan().assigned for rows in blocks_of(open_rows([LOGITS[:3], LOGITS[3:]]), Reading())]
    assert np.array_equal(np.concatenate(found), LOGITS.argmax(axis=1))


# ---- facts of a report -----------------------------------------------------------------------------------------


def test_facts_are_those_of_all_points_and_the_sample_is_of_them(monkeypatch):
    monkeypatch.setattr(_class_facts, "_NUMBERS_IN_SAMPLE", 700)
    monkeypatch.setattr(_class_facts, "_LEAST_SAMPLE", 50)
    blocks = blocks_of(open_rows(np.array_split(LOGITS, 9)), Reading())
    facts = _class_facts.gather_facts(blocks, 7)
    p, own = softmax(LOGITS, axis=1), LOGITS.argmax(axis=1)
    assert np.array_equal(facts.predicted, own)
    for c in np.flatnonzero(facts.counts):
        assert np.allclose(facts.relatedness[c], p[own == c].mean(axis=0))
    assert len(facts.sample) == 100 and (np.diff(facts.sample_points) > 0).all()
    assert np.allclose(facts.sample, p[facts.sample_points])
    y = np.random.default_rng(0).integers(0, 7, 400)
    confusion = facts.confusion(y)
    assert confusion[2, 3] == ((y == 2) & (own == 3)).sum()


# ---- names and evaluation --------------------------------------------------------------------------------------


def test_names_are_as_many_as_classes_and_unique():
    assert unique_names(None, 3) is None
    assert unique_names(["a", "b"], 2) == ["a", "b"]
    assert len(set(unique_names(["a", "a", "a"], 3))) == 3
    with pytest.raises(ValueError, match="all 3 classes"):
        unique_names(["a"], 3)


def test_evaluation_without_leaves_takes_point_i_for_leaf_i():
    tree = ab.Tree.from_newick("((a,b),(c,d));")
    y = [0, 0, 1, 1]
    assert evaluate_tree(tree, y) == evaluate_tree(tree, y, [0, 1, 2, 3])
    assert evaluate_tree(tree, y)["acc"] == 1.0
