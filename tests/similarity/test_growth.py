"""A similarity that has grown is the similarity of all points at once."""

import importlib
import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_blobs

import arbora as ab
from arbora.similarity._knn_kernels import nearest_linked
from arbora.similarity.archive import similarity_from_arrays, similarity_to_arrays
from arbora.similarity.growth import grown

X, _ = make_blobs(90, n_features=5, centers=3, random_state=0)
W = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / 20)


def assert_same(found, wanted, tolerance=1e-5):
    everyone = np.arange(wanted.n_points)
    np.testing.assert_allclose(found.rows(everyone), wanted.rows(everyone), atol=tolerance)
    np.testing.assert_allclose(found.self_loops, wanted.self_loops)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("weights", ["fuzzy", "relative", "heat", "binary"])
def test_a_neighbor_graph_grows_into_that_of_all_points(metric, weights):
    whole = ab.similarity.knn(X, 8, metric, weights=weights)
    for parts in ((60, 90), (10, 40, 90), (89, 90)):
        found = ab.similarity.knn(X[: parts[0]], 8, metric, weights=weights)
        for first, last in itertools.pairwise(parts):
            found = grown(found, X[first:last])
        assert_same(found, whole)
        new = X[:5] + 0.1
        np.testing.assert_allclose(found.query(new).toarray(), whole.query(new).toarray(), atol=1e-5)


def test_the_number_of_neighbors_is_that_asked_for_once_there_are_enough_points():
    assert_same(grown(ab.similarity.knn(X[:3], 8), X[3:], n_neighbors=8), ab.similarity.knn(X, 8))


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_new_points_equal_to_old_ones_are_duplicates(metric):
    doubled = np.r_[X, X[:30], X[:30]]
    whole = ab.similarity.knn(doubled, 4, metric)
    assert_same(grown(ab.similarity.knn(doubled[:100], 4, metric), doubled[100:]), whole)


def test_new_points_far_from_the_old_ones_find_each_other():
    far = X + 1e4
    found = grown(ab.similarity.knn(X, 4, "euclidean"), far)
    assert_same(found, ab.similarity.knn(np.r_[X, far], 4, "euclidean"), 1e-3)


def test_a_graph_grows_out_of_exact_search_and_after_loading(monkeypatch):
    rows = np.random.default_rng(0).normal(size=(1500, 3))
    whole = ab.similarity.knn(rows, 5, "euclidean")
    small = similarity_from_arrays(similarity_to_arrays(ab.similarity.knn(rows[:900], 5, "euclidean")))
    neighbors = importlib.import_module("arbora.similarity._neighbors")
    monkeypatch.setattr(neighbors, "EXACT_UP_TO", 1000)
    found = grown(small, rows[900:], random_state=0)
    assert not found.model.index.is_exact
    missing = (whole.csr != 0).astype(int) - (found.csr != 0).astype(int)
    assert (missing > 0).sum() < 0.05 * whole.csr.nnz
    assert found.query(rows[:1]).argmax() == 0


def test_cells_take_new_rows_without_being_found_again(monkeypatch):
    rows = np.random.default_rng(0).normal(size=(1600, 4))
    whole = ab.similarity.knn(rows, 6, "euclidean")
    neighbors = importlib.import_module("arbora.similarity._neighbors")
    monkeypatch.setattr(neighbors, "EXACT_UP_TO", 1000)
    small = ab.similarity.knn(rows[:1500], 6, "euclidean", random_state=0)
    found = grown(small, rows[1500:], random_state=0)
    np.testing.assert_array_equal(found.model.index.centers, small.model.index.centers)
    np.testing.assert_allclose(found.vectors()[:1500], small.vectors())
    of_new, found_of_new = whole.csr[1500:] != 0, found.csr[1500:] != 0
    assert ((of_new.astype(int) - found_of_new.astype(int)) > 0).sum() < 0.05 * of_new.nnz
    itself = found.model.index.query(rows, 1, n_threads=1)[0].ravel()
    np.testing.assert_array_equal(itself, np.arange(1600))


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_neighbors_are_searched_for_new_rows_only(monkeypatch, kind):
    # comparing all rows is what a whole search does; a call may ask an index about the new rows alone
    rows = np.random.default_rng(0).normal(size=(400, 6))
    indices = importlib.import_module("arbora.similarity._other_indices")
    neighbors = importlib.import_module("arbora.similarity._neighbors")
    index = neighbors.NeighborIndex if kind == "dense" else indices.SparseIndex
    if kind == "sparse":
        space = importlib.import_module("arbora.similarity._space")
        monkeypatch.setattr(space, "_DENSE_VALUES", 10)
        monkeypatch.setattr(space, "_SPARSE_RANK", 2)
        rows = sp.csr_array(rows)
    small = ab.similarity.knn(rows[:380], 5, "euclidean")
    assert type(small.model.index) is index
    asked = []
    whole_search, query = index.neighbors, index.query

    def counted_neighbors(self, *args, **options):
        near, distance = whole_search(self, *args, **options)
        asked.append(len(near))
        return near, distance

    def counted_query(self, X, *args):
        asked.append(X.shape[0])
        return query(self, X, *args)

    monkeypatch.setattr(index, "neighbors", counted_neighbors)
    monkeypatch.setattr(index, "query", counted_query)
    found = grown(small, rows[380:])
    assert asked and max(asked) == 20
    monkeypatch.undo()
    assert found.n_points == 400 and (np.diff(found.csr.indptr) >= 5).all()


@given(st.integers(0, 10_000), st.integers(1, 6), st.integers(1, 30))
def test_shortest_edges_are_selected_as_by_sorting_them(seed, n_neighbors, n_groups):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 12, n_groups)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    ends = rng.integers(0, n_groups, indptr[-1])
    # few different lengths, so that there are ties; the same pair always has the same length
    table = rng.integers(0, 4, (n_groups, n_groups)).astype(float)
    starts = np.repeat(np.arange(n_groups), counts)
    near, distance = nearest_linked(indptr, ends, table[starts, ends], n_neighbors)
    for g in range(n_groups):
        others = sorted({(table[g, h], h) for h in ends[indptr[g] : indptr[g + 1]] if h != g})[:n_neighbors]
        others += [(np.inf, -1)] * (n_neighbors - len(others))
        assert list(zip(distance[g], near[g], strict=True)) == others


def test_sparse_vectors_grow(monkeypatch):
    rows = sp.random_array((200, 300), density=0.05, rng=np.random.default_rng(0), format="csr")
    space = importlib.import_module("arbora.similarity._space")
    monkeypatch.setattr(space, "_DENSE_VALUES", 100)
    for metric in ("euclidean", "cosine"):
        assert_same(
            grown(ab.similarity.knn(rows[:150], 5, metric), rows[150:]), ab.similarity.knn(rows, 5, metric)
        )


@pytest.mark.parametrize("affine", [True, False])
def test_features_grow(affine):
    found = grown(ab.similarity.cosine(X[:50], affine=affine), X[50:])
    assert_same(found, ab.similarity.cosine(X, affine=affine))
    assert found.is_non_negative == ab.similarity.cosine(X, affine=affine).is_non_negative


def test_gaussian_similarities_grow_at_their_scale():
    small = ab.similarity.gaussian(X[:50])
    assert_same(grown(small, X[50:]), ab.similarity.gaussian(X, scale=small.scale))
    by_direction = ab.similarity.gaussian(X[:50], metric="cosine")
    whole = ab.similarity.gaussian(X, by_direction.scale, "cosine")
    assert_same(grown(by_direction, X[50:]), whole)


def test_given_similarities_grow_by_rows():
    assert_same(grown(ab.similarity.dense(W[:50, :50]), W[50:]), ab.similarity.dense(W))
    sparse = sp.csr_array(np.where(W > 0.1, W, 0))
    assert_same(grown(ab.similarity.graph(sparse[:50, :50]), sparse[50:]), ab.similarity.graph(sparse))
    apart = grown(ab.similarity.dense(W[:50, :50]), W[50:, :50])
    assert not apart.rows(np.arange(50, 90))[:, 50:].any()


def test_distances_of_a_few_points_grow_and_place_new_ones():
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))[:15, :15]
    small = ab.similarity.all_pairs(D[:10, :10], "precomputed")
    found = grown(small, D[10:])
    np.testing.assert_allclose(found.matrix, np.exp(-0.5 * (D / small.scale) ** 2))
    nearest = np.asarray(small.query(D[10:, :10]).toarray()).argmax(axis=1)
    np.testing.assert_array_equal(nearest, D[10:, :10].argmin(axis=1))
    again = similarity_from_arrays(similarity_to_arrays(small))
    np.testing.assert_array_equal(again.query(D[10:, :10]).toarray(), small.query(D[10:, :10]).toarray())


def test_names_are_joined_and_numbers_stand_in():
    named = ab.similarity.cosine(X[:3])
    named.names = ["a", "b", "c"]
    assert grown(named, X[3:5], names=["d", "e"]).names == ["a", "b", "c", "d", "e"]
    assert grown(named, X[3:5]).names == ["a", "b", "c", "3", "4"]
    assert grown(ab.similarity.cosine(X[:2]), X[2:3], names=["z"]).names == ["0", "1", "z"]


@pytest.mark.parametrize(
    ("similarity", "new", "problem", "message"),
    [
        (ab.similarity.knn(X, 4), X[:, :3], ValueError, r"shape \(m, 5\)"),
        (ab.similarity.dense(W), W[:, :3], ValueError, "similarities to the 90 points known"),
        (ab.similarity.dense(W[:80, :80]), -W[80:], ValueError, "not negative"),
        (ab.similarity.dense(W[:80, :80]), W[80:] + np.eye(10, 90, 81), ValueError, "symmetric"),
        (ab.similarity.knn(1 - W, 4, "precomputed"), 1 - W, TypeError, "cannot grow"),
    ],
)
def test_what_does_not_fit_is_refused(similarity, new, problem, message):
    with pytest.raises(problem, match=message):
        grown(similarity, new)


def test_rows_that_become_equal_in_the_unit_of_the_search_grow_all_the_same():
    X = np.random.default_rng(0).normal(size=(12, 4)) * 10.0 ** np.linspace(-300, 280, 12)[:, None]
    similarity = grown(ab.similarity.knn(X, 4, "euclidean", random_state=0), np.ones((2, 4)))
    assert similarity.n_points == 14
    assert np.isfinite(similarity.csr.data).all()
