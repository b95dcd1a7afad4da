"""A similarity read back is the similarity that was written, for its points and for new ones."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs

import arbora as ab
from arbora.errors import FormatError
from arbora.similarity import knn
from arbora.similarity.archive import similarity_from_arrays, similarity_to_arrays

X, _ = make_blobs(80, n_features=5, centers=3, random_state=0)
OLD, NEW = X[:60], X[60:]
TWICE = OLD[:30].repeat(2, axis=0)
W = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / 20)


@pytest.mark.parametrize(
    ("similarity", "new"),
    [
        (ab.similarity.knn(OLD, 8, "euclidean"), NEW),
        (ab.similarity.knn(OLD, 8, "cosine"), NEW),
        (ab.similarity.knn(OLD.astype(np.float32), 8), NEW),
        (ab.similarity.knn(OLD, 8, weights="heat"), NEW),
        (ab.similarity.knn(OLD, 8, weights="relative"), NEW),
        (ab.similarity.knn(OLD, 8, weights="binary"), NEW),
        (ab.similarity.knn(np.concatenate([OLD, OLD[:30]]), 8, "euclidean"), NEW),
        (ab.similarity.knn(cdist(OLD, OLD), 8, "precomputed"), cdist(NEW, OLD)),
        (
            ab.similarity.knn(
                cdist(OLD[:30].repeat(2, axis=0), OLD[:30].repeat(2, axis=0)), 3, "precomputed"
            ),
            cdist(NEW, OLD[:30].repeat(2, axis=0)),
        ),
        (ab.similarity.knn(OLD[:1]), NEW),
        (ab.similarity.knn(OLD[:2]), NEW),
        (ab.similarity.cosine(OLD), NEW),
        (ab.similarity.cosine(OLD, affine=False), NEW),
        (ab.similarity.gaussian(OLD), NEW),
        (ab.similarity.dense(W[:60, :60]), W[60:, :60]),
        (ab.similarity.graph(sp.csr_array(W[:60, :60])), W[60:, :60]),
    ],
)
def test_what_is_read_back_compares_alike(similarity, new):
    again = similarity_from_arrays(similarity_to_arrays(similarity))
    assert type(again) is type(similarity) and again.n_points == similarity.n_points
    i, j = np.indices((similarity.n_points, similarity.n_points))
    np.testing.assert_array_equal(again.pairs(i, j), similarity.pairs(i, j))
    np.testing.assert_array_equal(again.query(new).toarray(), similarity.query(new).toarray())
    np.testing.assert_array_equal(again.self_loops, similarity.self_loops)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_large_and_sparse_indexes_are_read_back(metric, monkeypatch):
    """The paths of many points: cells, sparse rows, sparse rows reduced."""
    import importlib

    neighbors = importlib.import_module("arbora.similarity._neighbors")
    space = importlib.import_module("arbora.similarity._space")
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(3000, 5))
    sparse = sp.random_array((400, 300), density=0.05, rng=rng, format="csr")
    with monkeypatch.context() as small:
        small.setattr(neighbors, "EXACT_UP_TO", 1000)
        small.setattr(space, "EXACT_UP_TO", 1000)
        by_cells = knn(rows, 5, metric, random_state=0)
    with monkeypatch.context() as small:
        small.setattr(space, "_DENSE_VALUES", 100)
        kept_sparse = knn(sparse, 5, metric)
        small.setattr(space, "EXACT_UP_TO", 100)
        small.setattr(neighbors, "EXACT_UP_TO", 100)
        reduced = knn(sparse, 5, metric)
    for similarity, new in ((by_cells, rows[:50] + 0.1), (kept_sparse, sparse[:20]), (reduced, sparse[:20])):
        again = similarity_from_arrays(similarity_to_arrays(similarity))
        np.testing.assert_array_equal(again.query(new).toarray(), similarity.query(new).toarray())


def test_a_similarity_of_ones_own_cannot_be_saved():
    class Constant(ab.similarity.Similarity):
        n_points = 3

        def pairs(self, i, j):
            return np.ones(np.broadcast_shapes(np.shape(i), np.shape(j)))

    with pytest.raises(TypeError, match=r"Constant cannot be saved.*tree_\.save"):
        similarity_to_arrays(Constant())


@pytest.mark.parametrize(
    "name", ["kind", "csr.data", "csr.indices", "csr.shape", "index.rows", "index.order"]
)
def test_damage_is_noticed(name):
    arrays = similarity_to_arrays(ab.similarity.knn(OLD, 4))
    broken = {**arrays, name: np.array("other") if name == "kind" else arrays[name][:-1]}
    with pytest.raises(FormatError, match="damaged"):
        similarity_from_arrays(broken)
    without = {key: value for key, value in arrays.items() if key != name}
    with pytest.raises(FormatError, match="damaged"):
        similarity_from_arrays(without)
