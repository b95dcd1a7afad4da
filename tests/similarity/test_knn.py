"""Nearest-neighbor graphs against brute force and UMAP's definition of weights."""

import pickle
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.datasets import load_digits, make_blobs

import arbora as ab
from arbora.similarity import _duplicates as duplicates
from arbora.similarity import _knn_kernels as kernels
from arbora.similarity import _neighbors as neighbors
from arbora.similarity import _space as space
from arbora.similarity.knn import WEIGHTS


def neighbors_by_definition(X, k, metric):
    D = cdist(X, X, metric)
    np.fill_diagonal(D, np.inf)
    near = np.argsort(D, axis=1, kind="stable")[:, :k]
    return near, np.take_along_axis(D, near, axis=1)


def fuzzy_by_definition(distance):
    """UMAP's weights of one row: exp(-(d - rho) / sigma), sigma such that they sum to log2(k)."""
    rho = min((d for d in distance if d > 0), default=0.0)

    def weights(sigma):
        return np.exp(-np.maximum(distance - rho, 0) / sigma)

    low, high = 1e-9, 1e9
    for _ in range(300):
        sigma = np.sqrt(low * high)
        low, high = (low, sigma) if weights(sigma).sum() > np.log2(len(distance)) else (sigma, high)
    return weights(max(sigma, 1e-3 * distance.mean()))


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_edges_are_the_nearest_neighbors(metric, dtype):
    X = np.random.default_rng(0).normal(size=(2500, 6)).astype(dtype)
    near, _ = neighbors_by_definition(X.astype(np.float64), 7, metric)
    expected = np.zeros((2500, 2500), dtype=bool)
    expected[np.arange(2500)[:, None], near] = True
    found = ab.similarity.knn(X, 7, metric, weights="binary").csr.toarray() > 0
    assert (found != (expected | expected.T)).sum() <= (
        0 if dtype == np.float64 else 4
    )  # ties up to rounding


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_fuzzy_weights_equal_their_definition(metric):
    X = np.random.default_rng(1).normal(size=(80, 4)) + 1.0
    near, distance = neighbors_by_definition(X, 8, metric)
    directed = np.zeros((80, 80))
    for i in range(80):
        directed[i, near[i]] = fuzzy_by_definition(distance[i])
    expected = directed + directed.T - directed * directed.T
    np.testing.assert_allclose(ab.similarity.knn(X, 8, metric).csr.toarray(), expected, atol=2e-5)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_relative_weights_equal_their_definition(metric):
    X = np.random.default_rng(1).normal(size=(80, 4)) + 1.0
    near, distance = neighbors_by_definition(X, 24, metric)
    length = distance if metric == "euclidean" else np.sqrt(2 * distance)
    to_own = np.sqrt(length[:, :8].mean(axis=1))
    relative = length / to_own[:, None] / to_own[near]
    order = np.argsort(relative, axis=1)[:, :8]
    directed = np.zeros((80, 80))
    for i in range(80):
        directed[i, near[i, order[i]]] = fuzzy_by_definition(relative[i, order[i]])
    joined = directed + directed.T - directed * directed.T
    expected = (joined + ab.similarity.knn(X, 8, metric).csr.toarray()) / 2
    found = ab.similarity.knn(X, 8, metric, weights="relative")
    np.testing.assert_allclose(found.csr.toarray(), expected, atol=2e-5)
    assert found.csr.dtype == np.float32 and found.csr.has_canonical_format


def test_relative_weights_weaken_the_edges_of_hubs():
    X = np.random.default_rng(0).normal(size=(300, 100))
    fuzzy, relative = (
        ab.similarity.knn(X, metric="euclidean", weights=weights).csr for weights in ("fuzzy", "relative")
    )
    hubs = np.argsort(np.diff(fuzzy.indptr))[-10:]
    assert relative.sum(axis=1)[hubs].mean() < 0.8 * fuzzy.sum(axis=1)[hubs].mean()


def test_relative_weights_take_distances_of_0():
    D = np.ones((40, 40))
    D[:20, :20] = 0.0
    np.fill_diagonal(D, 0.0)
    for distances in (D, np.zeros_like(D)):
        found = ab.similarity.knn(distances, 3, "precomputed", weights="relative").csr
        assert np.isfinite(found.data).all() and (found.data > 0).all()


def test_heat_weights_equal_their_definition():
    X = np.random.default_rng(2).normal(size=(50, 3))
    near, distance = neighbors_by_definition(X, 5, "euclidean")
    scale = np.median(distance[:, -1])
    heat = ab.similarity.knn(X, 5, "euclidean", weights="heat")
    i = np.repeat(np.arange(50), 5)
    np.testing.assert_allclose(
        heat.pairs(i, near.ravel()), np.exp(-(distance.ravel() ** 2) / (2 * scale**2)), rtol=1e-5
    )


@pytest.mark.parametrize("weights", WEIGHTS)
def test_graph_is_symmetric_float32_without_diagonal_and_at_most_one(weights):
    sim = ab.similarity.knn(load_digits().data, 15, weights=weights)
    assert sim.csr.dtype == np.float32 and not sim.csr.diagonal().any()
    assert abs(sim.csr - sim.csr.T).max() < 1e-6
    assert sim.csr.data.min() > 0 and sim.csr.data.max() <= 1 + 1e-6
    assert sim.csr.has_sorted_indices
    assert (np.diff(sim.csr.indptr) >= 15).all()


def test_large_data_is_searched_in_cells_with_good_recall_and_the_same_in_threads(monkeypatch):
    X, _ = make_blobs(4000, 16, centers=30, cluster_std=4.0, random_state=0)
    exact = ab.similarity.knn(X, 10, "euclidean", weights="binary").csr
    search_in_cells(monkeypatch, 500)
    found = ab.similarity.knn(X, 10, "euclidean", weights="binary", random_state=1, n_jobs=1)
    shared = found.csr.multiply(exact).nnz / exact.nnz
    assert shared > 0.9
    again = ab.similarity.knn(X, 10, "euclidean", weights="binary", random_state=1, n_jobs=2)
    assert (found.csr != again.csr).nnz == 0
    rows = found.query(X[:200])
    assert (np.diff(rows.indptr) == 10).all()
    assert (rows.toarray()[np.arange(200), np.arange(200)] == 1).all()


def search_in_cells(monkeypatch, beyond):
    for module in (neighbors, space, sys.modules["arbora.similarity.knn"]):
        monkeypatch.setattr(module, "EXACT_UP_TO", beyond)


def test_data_full_of_duplicates_is_searched_in_cells_too(monkeypatch):
    search_in_cells(monkeypatch, 500)
    X = np.zeros((3000, 3))
    X[2000:] = np.random.default_rng(0).normal(size=(1000, 3))
    sim = ab.similarity.knn(X, 5, "euclidean", random_state=0)
    assert np.isfinite(sim.csr.data).all() and (np.diff(sim.csr.indptr) >= 5).all()
    equal = sim.csr[:2000].tocoo()
    own = equal.data[equal.coords[1] < 2000]
    assert (own == 1).all()


@pytest.mark.parametrize("n_neighbors", [1, 3, 8])
def test_duplicates_are_joined_to_as_many_others_as_any_point(n_neighbors):
    places = np.arange(10.0)[:, None]
    X = np.repeat(places, 20, axis=0)
    sim = ab.similarity.knn(X, n_neighbors, "euclidean")
    group = np.repeat(np.arange(10), 20)
    edges = sim.csr.tocoo()
    for place in range(10):
        others = group[edges.coords[1][(group[edges.coords[0]] == place)]]
        assert len(set(others) - {place}) >= n_neighbors
    inside = edges.data[group[edges.coords[0]] == group[edges.coords[1]]]
    assert (inside == 1).all() and len(inside) >= 200 * n_neighbors
    # the graph of the ten places is connected, and so is every group
    assert (
        connected_components(sim.csr)[0]
        == connected_components(ab.similarity.knn(places, n_neighbors, "euclidean").csr)[0]
    )


def test_duplicates_change_no_weight_between_different_points():
    X = np.random.default_rng(0).normal(size=(30, 3))
    plain = ab.similarity.knn(X, 4).csr.toarray()
    doubled = ab.similarity.knn(np.concatenate([X, X]), 4).csr.toarray()
    # copies take turns: the first copies are joined to first copies, the second to second
    np.testing.assert_array_equal(doubled[:30, :30], plain)
    np.testing.assert_array_equal(doubled[30:, 30:], plain)
    np.testing.assert_array_equal(doubled[:30, 30:], np.eye(30, dtype=np.float32))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
@pytest.mark.parametrize("value", [0.0, 1.0, 1e-300, 1.7e308])
def test_identical_rows_are_a_graph_of_ones_and_new_points_find_it(dtype, metric, value):
    if dtype == np.float32 and value == 1.7e308:
        value = 3e38
    X = np.full((40, 2), value, dtype=dtype)
    sim = ab.similarity.knn(X, 5, metric)
    assert (sim.csr.data == 1).all() and connected_components(sim.csr)[0] == 1
    rows = sim.query(np.array([[1.0, 2.0]], dtype=dtype))
    assert (rows.data == 1).all() and rows.nnz == 1
    assert ab.cluster(X, metric=metric, random_state=0).n_leaves == 40


def test_more_identical_rows_than_are_searched_exactly():
    sim = ab.similarity.knn(np.zeros((20_001, 3)), metric="euclidean")
    assert (sim.csr.data == 1).all()


@pytest.mark.parametrize("scale", [1e-305, 1e-200, 1e155, 1e308])
def test_the_graph_does_not_depend_on_the_unit_of_the_data(scale):
    X = np.random.default_rng(0).uniform(-1, 1, size=(60, 3))
    for metric in ("cosine", "euclidean"):
        plain, scaled = (ab.similarity.knn(data, 5, metric) for data in (X, X * scale))
        np.testing.assert_allclose(scaled.csr.toarray(), plain.csr.toarray(), atol=1e-3)
        np.testing.assert_allclose(
            scaled.query(X[:5] * scale).toarray(), plain.query(X[:5]).toarray(), atol=1e-3
        )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_new_points_far_beyond_all_others_are_placed_by_their_direction(dtype):
    X = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, -1.0]], dtype=dtype) * 1e-30
    rows = ab.similarity.knn(X, 2, "euclidean").query(np.array([[1e30, 1e3]], dtype=dtype), n_neighbors=1)
    assert rows.indices.tolist() == [1]


def test_equal_rows_are_found_whatever_the_sign_of_zero_and_the_format():
    rows = np.array([[0.0, 1.0], [-0.0, 1.0], [2.0, 1.0], [0.0, 1.0]])
    for data in (rows, rows.astype(np.float32), sp.csr_array(rows)):
        groups = duplicates.group_equal_rows(data)
        assert groups.first.tolist() == [0, 2] and groups.group.tolist() == [0, 0, 1, 0]


def test_keys_shared_by_different_rows_do_no_harm(monkeypatch):
    rows = np.random.default_rng(0).integers(0, 2, size=(30, 3)).astype(float)
    expected = duplicates.group_equal_rows(rows)
    monkeypatch.setattr(duplicates, "_dense_keys", lambda rows: np.zeros(len(rows), dtype=np.uint64))
    for found, wanted in zip(duplicates.group_equal_rows(rows), expected):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_distances_given_make_the_graph_of_the_vectors(weights):
    X = np.random.default_rng(0).normal(size=(50, 3))
    X[10:14] = X[9]
    D = squareform(pdist(X))
    expected = ab.similarity.knn(X, 6, "euclidean", weights=weights)
    for data in (D, pdist(X), D.tolist(), pd.DataFrame(D)):
        found = ab.similarity.knn(data, 6, "precomputed", weights=weights)
        np.testing.assert_allclose(found.csr.toarray(), expected.csr.toarray(), atol=1e-5)
    new = np.random.default_rng(1).normal(size=(4, 3))
    np.testing.assert_allclose(found.query(cdist(new, X)).toarray(), expected.query(new).toarray(), atol=1e-5)
    assert ab.cluster(found, random_state=0).n_leaves == 50


def test_names_come_with_frames():
    X = np.random.default_rng(0).normal(size=(6, 2))
    names = list("abcdef")
    frame = pd.DataFrame(X, index=names)
    distances = pd.DataFrame(squareform(pdist(X)), index=names, columns=names)
    for similarity in (
        ab.similarity.knn(frame),
        ab.similarity.cosine(frame),
        ab.similarity.gaussian(frame),
        ab.similarity.knn(distances, metric="precomputed"),
        ab.similarity.dense(distances.max().max() - distances),
    ):
        assert similarity.names == names
    assert ab.similarity.knn(X).names is None


@pytest.mark.parametrize(
    ("D", "message"),
    [
        (np.ones((3, 3)), "0 on the diagonal.*similarity.dense"),
        ([[0.0, 1.0], [2.0, 0.0]], "symmetric"),
        ([[0.0, -1.0], [-1.0, 0.0]], "negative"),
        ([1.0, 2.0], "length n"),
        ([1.0, np.nan, 2.0], "finite"),
        (np.ones((2, 3)), "square"),
    ],
)
def test_what_cannot_be_distances_is_refused(D, message):
    with pytest.raises(ValueError, match=message):
        ab.similarity.knn(D, metric="precomputed")


def test_new_points_of_a_graph_from_distances_bring_distances():
    sim = ab.similarity.knn(squareform(pdist(np.arange(5.0)[:, None])), 2, "precomputed")
    with pytest.raises(ValueError, match=r"shape \(m, 5\)"):
        sim.query([[1.0, 2.0]])
    with pytest.raises(ValueError, match="not negative"):
        sim.query([[1.0, 2.0, 3.0, 4.0, -5.0]])


def test_progress_is_reported_as_stage_done_and_total():
    heard = []
    ab.similarity.knn(
        np.random.default_rng(0).normal(size=(3000, 2)), progress=lambda *said: heard.append(said)
    )
    assert heard[0] == ("neighbors", 0.0, 1.0) and heard[-1] == ("neighbors", 1.0, 1.0)
    assert [done for _, done, _ in heard] == sorted(done for _, done, _ in heard) and len(heard) > 2


def test_small_data_draw_no_random_number():
    state = np.random.RandomState(0)
    ab.similarity.knn(np.eye(5), random_state=state)
    assert state.randint(1000) == np.random.RandomState(0).randint(1000)
    with pytest.raises((TypeError, ValueError), match="random_state"):
        ab.similarity.knn(np.eye(5), random_state="a")


@pytest.mark.parametrize(
    "container", [sp.dia_array, sp.bsr_array, sp.dok_array, sp.lil_array, sp.coo_array, sp.csc_array]
)
def test_every_sparse_format_is_read(container):
    X = np.random.default_rng(0).normal(size=(20, 3)) * (np.random.default_rng(1).random((20, 3)) < 0.7)
    expected = ab.similarity.knn(X, 4).csr.toarray()
    np.testing.assert_allclose(ab.similarity.knn(container(X), 4).csr.toarray(), expected, atol=1e-6)


@given(st.integers(1, 12), st.integers(1, 15), st.sampled_from(WEIGHTS), st.integers(0, 10**6))
def test_few_points_many_neighbors_and_duplicates(n, n_neighbors, weights, seed):
    X = np.random.default_rng(seed).integers(0, 3, size=(n, 2)).astype(float)
    sim = ab.similarity.knn(X, n_neighbors, "euclidean", weights=weights)
    assert sim.n_points == n and sim.n_neighbors == min(n_neighbors, n - 1)
    assert np.isfinite(sim.csr.data).all()
    if n_neighbors >= n - 1:
        assert sim.csr.nnz == n * (n - 1)
    rows = sim.query(X)
    assert rows.shape == (n, n) and np.isfinite(rows.data).all()


def test_shifting_scaling_and_constant_columns_change_nothing():
    X = np.random.default_rng(3).normal(size=(300, 4))
    plain = ab.similarity.knn(X, metric="euclidean").csr
    for changed in (X + 1e6, X * 1e-30, X * 1e30, np.hstack([X, np.full((300, 2), 7.0)])):
        found = ab.similarity.knn(changed, metric="euclidean").csr
        np.testing.assert_allclose(found.toarray(), plain.toarray(), atol=1e-4)
    scaled_rows = X * np.random.default_rng(4).uniform(0.1, 9, size=(300, 1))
    np.testing.assert_allclose(
        ab.similarity.knn(scaled_rows, metric="cosine").csr.toarray(),
        ab.similarity.knn(X, metric="cosine").csr.toarray(),
        atol=1e-5,
    )


def test_sparse_rows_equal_dense_ones(monkeypatch):
    X = sp.random_array((400, 300), density=0.05, rng=np.random.default_rng(5), format="csr")
    for metric in ("euclidean", "cosine"):
        dense = ab.similarity.knn(X.toarray(), 5, metric).csr.toarray()
        np.testing.assert_allclose(ab.similarity.knn(X, 5, metric).csr.toarray(), dense, atol=1e-6)
    monkeypatch.setattr(space, "_DENSE_VALUES", 1000)  # as wide sparse rows, which are never made dense
    for metric in ("euclidean", "cosine"):
        sparse, dense = ab.similarity.knn(X, 5, metric), ab.similarity.knn(X.toarray(), 5, metric)
        np.testing.assert_allclose(sparse.csr.toarray(), dense.csr.toarray(), atol=1e-5)
        np.testing.assert_allclose(
            sparse.query(X[:9]).toarray(), dense.query(X[:9].toarray()).toarray(), atol=1e-5
        )
    search_in_cells(monkeypatch, 100)
    reduced = ab.similarity.knn(X, 5, "cosine")  # in 128 of 300 dimensions
    assert reduced.n_points == 400 and reduced.query(X[:3]).shape == (3, 400)


def test_a_row_of_zeros_has_cosine_zero_with_the_others():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 0.1], [0.0, 1.0]])
    sim = ab.similarity.knn(X, 1, "cosine", weights="binary")
    assert sim.pairs(1, 2) == 1 and np.isfinite(sim.csr.data).all()


def test_new_points_are_weighted_as_if_they_had_been_there():
    X = load_digits().data
    sim = ab.similarity.knn(X[:1500], 15, "euclidean")
    whole = ab.similarity.knn(X[:1501], 15, "euclidean")
    row = sim.query(X[1500:1501])
    expected = whole.csr[[1500]].toarray().ravel()[:1500]
    np.testing.assert_allclose(row.toarray().ravel()[row.indices], expected[row.indices], atol=0.02)
    assert sim.query(X[1500:], n_neighbors=3).nnz == 3 * len(X[1500:])


def test_it_can_be_pickled_and_still_queried():
    X = load_digits().data[:200]
    sim = ab.similarity.knn(X)
    back = pickle.loads(pickle.dumps(sim))
    assert (back.query(X[:5]) != sim.query(X[:5])).nnz == 0


@given(st.integers(2, 20), st.integers(1, 6), st.integers(0, 10**6))
def test_kernels_select_what_sorting_selects(n, k, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    k = min(k, n - 1)
    best, who = np.full((n, k), np.inf), np.full((n, k), -1, dtype=np.int32)
    kernels.select_nearest(X @ X.T, (X**2).sum(axis=1), 0, np.arange(n), np.arange(n), best, who)
    near, distance = neighbors_by_definition(X, k, "euclidean")
    np.testing.assert_array_equal(who, near)
    shuffled = rng.permuted(who, axis=1)
    np.testing.assert_allclose(kernels.measure_and_sort(X, X, shuffled), distance)
    np.testing.assert_array_equal(shuffled, near)


@given(st.integers(3, 25), st.integers(1, 4), st.integers(0, 10**6))
def test_neighbors_of_neighbors_are_the_nearest_of_what_is_reachable(n, k, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    k = min(k, n - 1)
    who = np.array(
        [rng.choice(np.delete(np.arange(n), i), k, replace=False) for i in range(n)], dtype=np.int32
    )
    both = kernels.add_reverse_neighbors(who)
    improved = np.empty_like(who)
    kernels.try_neighbors_of_neighbors(X, who, both, 0, n, improved)
    for i in range(n):
        backwards = [j for c in range(k) for j in range(n) if who[j, c] == i][:k]
        assert both[i][both[i] >= 0].tolist() == [*who[i], *backwards]
        one_step = set(both[i]) - {-1}
        reachable = sorted((one_step | {j for near in one_step for j in who[near]}) - {i})
        gaps = np.linalg.norm(X[reachable] - X[i], axis=1)
        assert improved[i].tolist() == [reachable[c] for c in np.argsort(gaps)[:k]]


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        ([[0.0], [np.nan]], {}, "NaN"),
        ([[0.0], [1.0]], {"metric": "manhattan"}, "metric must be one of"),
        ([[0.0], [1.0]], {"weights": "none"}, "weights must be one of"),
        ([[0.0], [1.0]], {"n_neighbors": 0}, "n_neighbors must be"),
        ([[0.0], [1.0]], {"n_neighbors": -2}, "n_neighbors must be"),
        (np.ma.masked_array([[0.0], [1.0]], [[False], [True]]), {}, "masked"),
        ([0.0, 1.0], {}, "shape"),
        (np.empty((0, 3)), {}, "empty"),
    ],
)
def test_bad_input_is_refused_with_its_reason(X, options, message):
    with pytest.raises(ValueError, match=message):
        ab.similarity.knn(X, **options)


@pytest.mark.parametrize(
    "options",
    [{"n_neighbors": 2.5}, {"n_neighbors": "3"}, {"n_neighbors": None}, {"n_jobs": "a"}, {"progress": 3}],
)
def test_options_of_another_kind_are_refused_by_name(options):
    with pytest.raises(TypeError, match=next(iter(options))):
        ab.similarity.knn([[0.0], [1.0]], **options)


def test_complex_numbers_are_refused():
    for X in (np.array([[1j], [2j]]), sp.csr_array(np.array([[1j], [2j]]))):
        with pytest.raises((TypeError, ValueError), match="real numbers"):
            ab.similarity.knn(X)


def test_new_points_must_have_the_same_features():
    sim = ab.similarity.knn(np.random.default_rng(0).normal(size=(20, 3)))
    with pytest.raises(ValueError, match=r"\(m, 3\)"):
        sim.query([[1.0, 2.0]])


@pytest.mark.parametrize(("n_places", "size"), [(8, 400), (5, 1500)])
def test_many_equal_rows_are_not_torn_apart(n_places, size):
    rng = np.random.default_rng(0)
    place = rng.permutation(np.repeat(np.arange(n_places), size))
    tree = ab.cluster(rng.normal(size=(n_places, 4))[place], random_state=0)
    assert ab.metrics.dendrogram_purity(tree, place) == 1
