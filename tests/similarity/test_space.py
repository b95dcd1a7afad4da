"""Where points are compared: distances in both forms, indices, and new points as the old ones."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist, squareform

from arbora.similarity import _other_indices, _space
from arbora.similarity._other_indices import DistanceIndex, SparseIndex
from arbora.similarity._space import (
    DistanceSpace,
    VectorSpace,
    count_of_condensed,
    is_condensed,
    read_condensed,
    read_distances,
)

X = np.random.default_rng(0).normal(size=(12, 4))
D = squareform(pdist(X))


@given(st.integers(1, 2000))
def test_the_number_of_points_follows_from_that_of_their_pairs(n):
    assert count_of_condensed(n * (n - 1) // 2, "X") == n


@pytest.mark.parametrize("n_pairs", [2, 4, 5, 7, 100])
def test_other_numbers_of_pairs_are_refused(n_pairs):
    with pytest.raises(ValueError, match=rf"length n \(n - 1\) / 2. Got {n_pairs}"):
        count_of_condensed(n_pairs, "X")


@pytest.mark.parametrize(
    ("data", "is_it"),
    [(pdist(X), True), ([1.0, 2, 3], True), (D, False), (D.tolist(), False), ("text", False), ([], True)],
)
def test_one_dimensional_numbers_are_condensed_distances(data, is_it):
    assert is_condensed(data) is is_it


def test_both_forms_are_the_same_distances_and_copies():
    square, names = read_distances(D)
    condensed, _ = read_distances(pdist(X))
    np.testing.assert_array_equal(square, condensed)
    assert names is None
    given_values = pdist(X)
    read_condensed(given_values, "X")[:] = 0
    assert given_values.min() > 0


def test_a_diagonal_of_rounding_errors_becomes_zero_in_a_copy():
    rough = D + 1e-14 * np.eye(12)
    found, _ = read_distances(rough)
    assert (np.diagonal(found) == 0).all() and np.diagonal(rough).any()


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        (D + np.eye(12), ValueError, "must be 0 on the diagonal; this looks like similarities"),
        (-D, ValueError, "must not hold negative distances"),
        (np.where(D == D.max(), np.nan, D), ValueError, "must be finite"),
        (sp.csr_array(D), TypeError, "Got a sparse matrix"),
        (np.array([1.0, -1.0, 2.0]), ValueError, "must not hold negative distances"),
        (np.array([1j, 1, 1]), TypeError, "must hold real numbers"),
        (D[:5], ValueError, "square"),
    ],
)
def test_what_cannot_be_distances_is_refused(data, error, message):
    with pytest.raises(error, match=message):
        read_distances(data)


def nearest_by_definition(distances, k, own=True):
    D = distances.copy()
    if own:
        np.fill_diagonal(D, np.inf)
    return np.sort(D, axis=1)[:, :k]


@pytest.mark.parametrize("k", [1, 5, 11])
def test_an_index_of_distances_finds_the_nearest(k, monkeypatch):
    monkeypatch.setattr(_other_indices, "_ROWS_AT_ONCE", 5)
    points, distance = DistanceIndex(D).neighbors(k, 1)
    np.testing.assert_allclose(distance, nearest_by_definition(D, k))
    assert (points != np.arange(12)[:, None]).all()
    new = np.abs(np.random.default_rng(1).normal(size=(3, 12)))
    points, distance = DistanceIndex(None).query(new, k, 1)
    np.testing.assert_allclose(distance, np.sort(new, axis=1)[:, :k])
    np.testing.assert_allclose(np.take_along_axis(new, points, axis=1), distance)


def test_distances_are_let_go_once_used():
    index = DistanceIndex(D)
    index.neighbors(2, 1)
    with pytest.raises(RuntimeError, match="can be found once"):
        index.neighbors(2, 1)


def test_equally_near_points_are_in_the_order_of_their_numbers():
    points, _ = DistanceIndex(np.ones((5, 5)) - np.eye(5)).neighbors(3, 1)
    assert points.tolist() == [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2], [0, 1, 2]]


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_a_sparse_index_finds_the_nearest_in_any_unit(scale):
    index = SparseIndex(sp.csr_array(X * scale))
    points, distance = index.neighbors(4, 1)
    np.testing.assert_allclose(distance * index.unit / scale, nearest_by_definition(D, 4), rtol=1e-7)
    same, _ = index.query(sp.csr_array(X * scale), 1, 1)
    assert same.ravel().tolist() == list(range(12))
    assert index.neighbors(0, 1)[0].shape == (12, 0) and points.shape == (12, 4)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_new_vectors_are_placed_as_the_old_ones(metric):
    space = VectorSpace(X, metric)
    np.testing.assert_allclose(space.place(X), space.rows)
    for wrong in (X[:, :3], sp.csr_array(X[:, :3])):
        with pytest.raises(
            ValueError, match=r"X must have shape \(m, 4\) like the fitted rows. Got \(12, 3\)"
        ):
            space.place(wrong)


def test_the_cosine_is_the_distance_of_directions():
    rows = VectorSpace(X * np.arange(1, 13)[:, None], "cosine").rows
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    np.testing.assert_allclose(rows @ rows.T, unit @ unit.T, atol=1e-12)


def test_wide_sparse_rows_stay_sparse_and_new_ones_too(monkeypatch):
    monkeypatch.setattr(_space, "_DENSE_VALUES", 1)
    monkeypatch.setattr(_space, "_SPARSE_RANK", 2)
    space = VectorSpace(sp.csr_array(X), "cosine")
    assert space.stays_sparse and sp.issparse(space.rows) and sp.issparse(space.place(X))
    np.testing.assert_allclose(space.place(X).toarray(), space.rows.toarray())
    zero = X.copy()
    zero[0] = 0
    product = VectorSpace(sp.csr_array(zero), "cosine").rows
    product = (product @ product.T).toarray()
    assert product[0, 0] == 1 and (product[0, 1:] == 0).all(), "a row of zeros is like itself alone"


def test_points_at_distance_zero_are_equal_and_new_points_bring_distances():
    doubled = np.repeat(np.repeat(D[:4, :4], 2, axis=0), 2, axis=1)
    space = DistanceSpace(doubled)
    groups = space.groups()
    index = space.index(np.arange(0, 8, 2), seed=0, n_threads=1)
    points, _ = index.neighbors(1, 1)
    assert points.max() < 4 and groups is not None
    new = np.abs(np.random.default_rng(2).normal(size=(2, 8)))
    np.testing.assert_array_equal(space.place(new), new[:, ::2])
    with pytest.raises(ValueError, match="distances of new points to the 8 fitted ones"):
        space.place(new[:, :5])
    with pytest.raises(ValueError, match="distances that are not negative"):
        space.place(-new)
