"""Directions of vectors of any size, and cosines of them."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import arbora as ab
from arbora._base import memory
from arbora.similarity.features import directions, directions_of_sparse


@pytest.mark.parametrize("scale", [1e-305, 1.0, 1e155, 1e307])
def test_directions_do_not_depend_on_the_size_of_the_rows(scale):
    X = np.random.default_rng(0).uniform(-1, 1, size=(10, 4))
    expected = X / np.linalg.norm(X, axis=1, keepdims=True)
    np.testing.assert_allclose(directions(X * scale), expected, rtol=1e-6)
    sparse = directions_of_sparse(sp.csr_array(X * scale))
    np.testing.assert_allclose(sparse.toarray(), expected, rtol=1e-6)


def test_rows_of_zeros_stay_and_proportional_rows_become_equal():
    rows = np.array([[0.0, 0.0], [1.0, 2.0], [3.0, 6.0], [0.1, 0.2]])
    found = directions(rows)
    assert found[0].tolist() == [0.0, 0.0] and (found[1] == found[2]).all() and (found[1] == found[3]).all()
    assert directions_of_sparse(sp.csr_array(rows)).toarray()[0].tolist() == [0.0, 0.0]


def test_new_points_must_have_the_same_features():
    similarity = ab.similarity.cosine(np.random.default_rng(0).normal(size=(5, 4)))
    for wrong in (3, 5):
        with pytest.raises(ValueError, match=f"4 features.*Got {wrong}"):
            similarity.features_of(np.ones((1, wrong)))
        with pytest.raises(ValueError, match="4 features"):
            ab.predict(ab.linkage(similarity), similarity, np.ones((1, wrong)))


def test_sparse_rows_that_would_not_fit_are_refused(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 1000)
    with pytest.raises(ab.errors.TooLargeError, match=r"similarity\.knn"):
        ab.similarity.cosine(sp.csr_array((100, 100)))


def test_float32_stays_and_frames_are_read():
    X = np.random.default_rng(0).normal(size=(5, 4))
    assert ab.similarity.cosine(X.astype(np.float32)).features.dtype == np.float32
    np.testing.assert_array_equal(
        ab.similarity.cosine(pd.DataFrame(X)).features, ab.similarity.cosine(X).features
    )
    with pytest.raises(TypeError, match="affine must be True or False"):
        ab.similarity.cosine(X, affine="yes")
