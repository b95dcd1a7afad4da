"""A graph whose points are listed in another order."""

import numpy as np
import pytest
import scipy.sparse as sp

import arbora as ab
from arbora.similarity.renumbering import renumbered


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_renumbered_matrix_has_its_rows_and_columns_in_the_new_order(dtype):
    rng = np.random.default_rng(0)
    W = rng.random((40, 40)) * (rng.random((40, 40)) < 0.2)
    W = (W + W.T).astype(dtype)
    order = rng.permutation(40)
    for n_threads in (1, 3):
        found = renumbered(sp.csr_array(W), order, n_threads)
        assert found.dtype == dtype
        np.testing.assert_array_equal(found.toarray(), W[np.ix_(order, order)])


def test_equal_points_stand_together_in_the_order_of_an_index(monkeypatch):
    monkeypatch.setattr("arbora.similarity._neighbors.EXACT_UP_TO", 100)
    rows = np.random.default_rng(0).normal(size=(400, 4))
    similarity = ab.similarity.knn(np.vstack([rows, rows[:50]]), random_state=0)
    order = similarity.nearby_order()
    assert np.array_equal(np.sort(order), np.arange(450))
    place = np.empty(450, dtype=int)
    place[order] = np.arange(450)
    assert np.array_equal(place[400:], place[:50] + 1)


def test_no_order_is_known_where_all_pairs_are_compared():
    assert ab.similarity.knn(np.random.default_rng(0).normal(size=(50, 3))).nearby_order() is None
    assert ab.similarity.graph(([0, 1], [1, 2])).nearby_order() is None
