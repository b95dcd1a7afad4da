"""Matrices of similarities: what they are refused for."""

import numpy as np
import pandas as pd
import pytest

import arbora as ab
from arbora.similarity import dense

W = np.array([[1.0, 0.75, 0.25], [0.75, 1.0, 0.5], [0.25, 0.5, 1.0]])


@pytest.mark.parametrize(
    ("matrix", "error", "message"),
    [
        (np.ones((2, 3)), ValueError, "square matrix"),
        (np.empty((0, 0)), ValueError, "square matrix"),
        (W - 1, ValueError, "must not be negative.*cosine"),
        (W * np.nan, ValueError, "finite"),
        (W * 1j, ValueError, "real numbers"),
        ([["a", "b"], ["c", "d"]], TypeError, "real numbers"),
        (1 - W, ValueError, 'looks like distances.*metric="precomputed"'),
        (np.ma.masked_array(W, W > 0.9), ValueError, "masked"),
        (pd.DataFrame(W, index=list("abc"), columns=list("acb")), ValueError, "another order"),
    ],
)
def test_what_cannot_be_similarities_is_refused_with_its_reason(matrix, error, message):
    with pytest.raises(error, match=message):
        dense(matrix)


def test_distances_are_recognized_in_large_matrices_too():
    D = 1.0 - np.eye(2100, dtype=np.float32)
    with pytest.raises(ValueError, match="looks like distances"):
        dense(D)


def test_the_worst_pair_of_an_asymmetric_matrix_is_named():
    with pytest.raises(ValueError, match=r"matrix\[1, 2\] is 0.9 and matrix\[2, 1\] is 0.5"):
        dense(np.where((np.indices((3, 3)) == [[[1]], [[2]]]).all(axis=0), 0.9, W))


def test_whole_numbers_frames_and_float32_are_taken():
    assert dense([[1, 0], [0, 1]]).total == 0
    assert dense(pd.DataFrame(W, index=list("abc"), columns=list("abc"))).names == ["a", "b", "c"]
    assert dense(W.astype(np.float32)).matrix.dtype == np.float32
    assert dense(dense(W)) is not None and ab.similarity.dense(W).is_non_negative


def test_negative_diagonals_do_not_make_a_similarity_negative():
    assert ab.similarity.DenseSimilarity(W - 2 * np.eye(3)).is_non_negative
    assert not ab.similarity.DenseSimilarity(W - 0.6).is_non_negative
