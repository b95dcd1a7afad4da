"""Weights of neighbors: independent of the unit, joined as documented."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from arbora.similarity import _weights
from arbora.similarity._few_rows import hash_few, scales_of_few
from arbora.similarity._knn_kernels import hash_rows, smooth_local_scales
from arbora.similarity._weights import (
    WEIGHTS,
    Weighting,
    _joined_in_threads,
    join_directions,
    rows_of_neighbors,
)

DISTANCE = np.sort(np.random.default_rng(0).random((30, 5)) + 0.1, axis=1)
POINTS = np.random.default_rng(1).integers(0, 30, size=(4, 5))


@pytest.mark.parametrize("kind", WEIGHTS)
def test_weights_do_not_depend_on_the_unit_of_distances(kind):
    for scale in (1e-100, 1e100):
        plain, scaled = Weighting(kind, DISTANCE), Weighting(kind, DISTANCE * scale)
        np.testing.assert_allclose(scaled.of_own(DISTANCE * scale), plain.of_own(DISTANCE), rtol=1e-4)
        new = DISTANCE[:4]
        np.testing.assert_allclose(scaled.of_new(new * scale, POINTS), plain.of_new(new, POINTS), rtol=1e-4)


@pytest.mark.parametrize("kind", WEIGHTS)
def test_weights_lie_between_0_and_1_and_never_vanish(kind):
    weights = Weighting(kind, DISTANCE).of_own(
        np.concatenate([DISTANCE[:, :4], np.full((30, 1), 1e9)], axis=1)
    )
    assert weights.dtype == np.float32 and (weights > 0).all() and (weights <= 1).all()


@pytest.mark.parametrize("kind", WEIGHTS)
def test_no_neighbors_and_one_neighbor_have_weights(kind):
    assert Weighting(kind, np.empty((3, 0))).of_own(np.empty((3, 0))).shape == (3, 0)
    one = Weighting(kind, np.zeros((3, 1)))
    assert (one.of_new(np.array([[5.0]]), np.array([[0]])) >= 0).all()
    assert np.isfinite(one.of_own(np.zeros((3, 1)))).all()


def test_directions_are_joined_as_the_chance_that_either_holds():
    directed = sp.csr_array(np.array([[0.0, 0.5, 0.0], [0.5, 0.0, 1.0], [0.0, 0.0, 0.0]], dtype=np.float32))
    expected = [[0, 0.75, 0], [0.75, 0, 1], [0, 1, 0]]
    np.testing.assert_allclose(join_directions(directed, "fuzzy").toarray(), expected)
    np.testing.assert_allclose(join_directions(directed, "heat").toarray()[0], [0, 0.5, 0])


@given(st.integers(0, 2**32 - 1), st.sampled_from(["fuzzy", "heat"]), st.integers(1, 3))
def test_directions_joined_in_threads_are_those_that_scipy_joins_to_the_last_bit(seed, kind, n_threads):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    directed = sp.random_array((n, n), density=rng.random(), format="csr", rng=rng, dtype=np.float32)
    directed.data = np.maximum(directed.data, np.float32(1e-12))
    directed.sort_indices()
    found = _joined_in_threads(directed, kind == "fuzzy", n_threads)
    expected = join_directions(directed, kind)
    assert found.has_canonical_format and found.dtype == np.float32
    np.testing.assert_array_equal(found.indptr, expected.indptr)
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_array_equal(found.data, expected.data)


@pytest.mark.parametrize("is_large", [False, True])
def test_rows_of_neighbors_are_sorted_and_leave_what_is_given(monkeypatch, is_large):
    """Of small graphs by SciPy, of large ones in threads."""
    monkeypatch.setattr(_weights, "_JOINED_IN_THREADS", 0 if is_large else 10**9)
    rng = np.random.default_rng(0)
    points = np.array([rng.permutation(40)[:7] for _ in range(50)])
    weight = rng.random(points.shape).astype(np.float32)
    given = points.copy(), weight.copy()
    rows = rows_of_neighbors(points, weight, 40, n_threads=2)
    assert np.array_equal(points, given[0]) and np.array_equal(weight, given[1])
    expected = np.zeros((50, 40), dtype=np.float32)
    np.put_along_axis(expected, points, weight, axis=1)
    assert np.array_equal(rows.toarray(), expected)
    assert (np.diff(rows.indices.reshape(50, 7), axis=1) > 0).all()


def test_rows_of_neighbors_hold_each_weight_at_its_point():
    rows = rows_of_neighbors(np.array([[2, 0]]), np.array([[0.5, 1.0]], dtype=np.float32), 4)
    assert rows.toarray().tolist() == [[1.0, 0.0, 0.5, 0.0]] and rows.has_sorted_indices


@pytest.mark.parametrize("n_neighbors", [1, 2, 7])
def test_scales_of_few_rows_are_those_of_many_to_the_last_bit(n_neighbors):
    rng = np.random.default_rng(n_neighbors)
    distance = np.sort(rng.gamma(2.0, size=(200, n_neighbors)), axis=1)
    distance[:20, : (n_neighbors + 1) // 2] = 0
    distance[20:25] = 0
    distance[25:30, -1] = np.inf
    for found, wanted in zip(scales_of_few(distance), smooth_local_scales(distance)):
        np.testing.assert_array_equal(found, wanted)


def test_keys_of_few_rows_are_those_of_many():
    bits = np.random.default_rng(0).normal(size=(50, 4)).view(np.int64)
    np.testing.assert_array_equal(hash_few(bits), hash_rows(bits))
