import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

import arbora as ab
from arbora.similarity import _cells, _neighbors
from arbora.similarity._cells import (
    in_threads,
    kmeans_centers,
    nearby_order,
    nearest_centers,
    nearly_nearest_centers,
)


def rows_of(n=3000, n_features=8, seed=0):
    return make_blobs(n, n_features, centers=40, random_state=seed)[0].astype(np.float32)


def inertia(X, centers):
    return float(((X[:, None] - centers) ** 2).sum(axis=2).min(axis=1).mean())


def test_centers_are_the_same_on_any_number_of_threads():
    X = rows_of()
    centers = [kmeans_centers(X, 50, seed=3, n_threads=n) for n in (1, 2, 3)]
    assert np.array_equal(centers[0], centers[1]) and np.array_equal(centers[0], centers[2])
    assert not np.array_equal(centers[0], kmeans_centers(X, 50, seed=4, n_threads=1))


@given(st.integers(1, 40), st.integers(1, 9), st.integers(1, 5), st.integers(0, 99))
@settings(max_examples=30)
def test_the_nearest_center_is_nearest_by_definition(n, n_cells, n_features, seed):
    rng = np.random.default_rng(seed)
    X, centers = (rng.normal(size=(k, n_features)).astype(np.float32) for k in (n, n_cells))
    distance = np.linalg.norm(X[:, None].astype(np.float64) - centers, axis=2)
    found = nearest_centers(X, centers, 2)
    assert np.allclose(distance[np.arange(n), found], distance.min(axis=1), atol=1e-5)


@pytest.mark.parametrize("n_features", [2, 16])
def test_among_many_centers_nearly_all_rows_find_the_nearest(n_features):
    rng = np.random.default_rng(n_features)
    X = rows_of(20_000, n_features)
    centers = X[rng.choice(len(X), 1000, replace=False)]
    exact = nearest_centers(X, centers, 2)
    found = nearly_nearest_centers(X, centers, 1)
    assert np.array_equal(found, nearly_nearest_centers(X, centers, 2))
    assert np.mean(found == exact) > 0.995
    length = [np.square(X - centers[cell]).sum() for cell in (found, exact)]
    assert length[0] < 1.01 * length[1]


def test_few_centers_are_all_tried(monkeypatch):
    X, centers = rows_of(500), rows_of(40, seed=1)
    exact = nearest_centers(X, centers, 1)
    assert np.array_equal(nearly_nearest_centers(X, centers, 1), exact)
    # groups alone, and all centers near each of them
    monkeypatch.setattr(_cells, "_MANY_CENTERS", 0)
    assert np.array_equal(nearly_nearest_centers(X, centers, 1), exact)


def test_equal_centers_and_equal_rows_are_assigned():
    X = np.ones((3000, 3), dtype=np.float32)
    assert np.array_equal(nearly_nearest_centers(X, X[:800], 2), np.zeros(3000))


@pytest.mark.parametrize("seed", range(3))
def test_cells_are_about_as_tight_as_those_of_scikit_learn(seed):
    # without gaps, so that what counts is the steps and not which rows they start from
    X = np.random.default_rng(seed).normal(size=(3000, 8)).astype(np.float32)
    theirs = KMeans(60, init="random", n_init=1, max_iter=6, random_state=seed).fit(X).cluster_centers_
    assert inertia(X, kmeans_centers(X, 60, seed, 1)) < 1.03 * inertia(X, theirs)


def test_cells_that_become_empty_start_again_at_a_row():
    # one tight group and a few rows far away: most starts lie in the group
    X = np.concatenate([np.zeros((500, 2)), 100 + np.arange(20).reshape(10, 2)]).astype(np.float32)
    centers = kmeans_centers(X, 30, seed=0, n_threads=1)
    assert np.isfinite(centers).all() and centers.dtype == np.float32
    assert inertia(X, centers) < inertia(X, X[:1])


@pytest.mark.parametrize("n_threads", [1, 2])
def test_work_that_has_not_begun_is_left_out_after_ctrl_c(n_threads):
    done = []

    def interrupt(share):
        raise KeyboardInterrupt

    def work(item):
        time.sleep(0.001)
        done.append(item)

    with pytest.raises(KeyboardInterrupt):
        in_threads(work, range(100_000), n_threads, interrupt)
    # what was under way when it came, however late on a busy machine
    assert len(done) < 50_000


@pytest.mark.parametrize("n_values", [1, 300_000])
def test_pieces_in_which_neighbors_improve_change_nothing(n_values, monkeypatch):
    X = np.random.default_rng(0).normal(size=(2_000, 8))
    monkeypatch.setattr(_neighbors, "EXACT_UP_TO", 100)
    whole = ab.similarity.knn(X, 5, random_state=0, n_jobs=1).csr
    monkeypatch.setattr(_neighbors, "_VALUES_TRIED", n_values)
    monkeypatch.setattr(_neighbors, "_MOST_PIECES", 100)
    pieces = ab.similarity.knn(X, 5, random_state=0, n_jobs=2).csr
    assert (whole != pieces).nnz == 0


@given(st.integers(1, 60), st.integers(1, 4), st.integers(0, 10**6))
def test_a_nearby_order_names_every_center_once(n, d, seed):
    centers = np.random.default_rng(seed).normal(size=(n, d)).astype(np.float32)
    assert sorted(nearby_order(centers).tolist()) == list(range(n))


def test_a_nearby_order_puts_centers_of_a_group_together():
    rng = np.random.default_rng(0)
    group = rng.integers(0, 8, 400)
    centers = (100 * rng.normal(size=(8, 5))[group] + rng.normal(size=(400, 5))).astype(np.float32)
    changes = np.count_nonzero(np.diff(group[nearby_order(centers)]))
    # about 350 in a random order; halves at the median cut some of the groups
    assert changes < 60


def test_equal_centers_have_an_order_too():
    assert sorted(nearby_order(np.ones((9, 2), dtype=np.float32)).tolist()) == list(range(9))
