"""`ab.linkage` against SciPy, and what it refuses."""

import data_sets
import fastcluster
import networkx as nx
import numpy as np
import pytest
import scipy.cluster.hierarchy as sch
import scipy.sparse as sp
from scipy.spatial.distance import pdist, squareform

import arbora as ab
from arbora._base import memory
from arbora.linkages.agglomerative import METHODS


def same_tree(tree, Z):
    assert tree.same_topology(ab.Tree.from_linkage(Z))
    np.testing.assert_allclose(np.sort(tree.height[tree.n_leaves :]), np.sort(Z[:, 2]), rtol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_linkage_of_vectors_equals_scipy(method):
    X = np.random.default_rng(0).normal(size=(60, 5))
    same_tree(ab.linkage(X, method), sch.linkage(X, method))


@pytest.mark.parametrize("method", ["single", "average", "complete", "weighted"])
@pytest.mark.parametrize("metric", ["cosine", "cityblock"])
def test_other_metrics_equal_scipy(method, metric):
    X = np.random.default_rng(1).normal(size=(50, 4))
    same_tree(ab.linkage(X, method, metric=metric), sch.linkage(X, method, metric))


@pytest.mark.parametrize("method", METHODS)
def test_similarities_are_linked_by_one_minus_similarity(method):
    X = np.random.default_rng(2).normal(size=(40, 4))
    cosine = ab.similarity.cosine(X)
    S = cosine.features @ cosine.features.T
    Z = fastcluster.linkage(1 - S[np.triu_indices(40, 1)], method)
    same_tree(ab.linkage(cosine, method), Z)
    same_tree(ab.linkage(ab.similarity.dense(np.clip(S, 0, 1)), method), Z)
    gaussian = ab.similarity.gaussian(X)
    i, j = np.triu_indices(40, 1)
    same_tree(ab.linkage(gaussian, method), fastcluster.linkage(1 - gaussian.pairs(i, j), method))


def test_similarities_above_one_are_subtracted_from_the_largest():
    S = np.array([[9.0, 5.0, 1.0], [5.0, 9.0, 2.0], [1.0, 2.0, 9.0]])
    assert ab.linkage(ab.similarity.dense(S), "single").height[3:].tolist() == [0.0, 3.0]


def test_distances_square_or_condensed():
    X = np.random.default_rng(3).normal(size=(30, 3))
    D = pdist(X)
    kept = D.copy()
    for distances in (D, squareform(D)):
        same_tree(ab.linkage(distances, "average", kind="distances"), sch.linkage(kept, "average"))
    np.testing.assert_array_equal(D, kept)


def test_a_symmetric_matrix_is_never_taken_silently():
    S = np.corrcoef(np.random.default_rng(4).normal(size=(6, 20))) ** 2
    with pytest.raises(ValueError, match="similarities, distances or vectors"):
        ab.linkage(S)
    with pytest.raises(ValueError, match="looks like similarities"):
        ab.linkage(S, kind="distances")
    assert ab.linkage(S, kind="vectors").n_leaves == 6
    assert ab.linkage(ab.similarity.dense(S)).n_leaves == 6


def test_graphs_in_every_form_go_to_the_sparse_linkage():
    network = nx.karate_club_graph()
    adjacency = nx.to_scipy_sparse_array(network, dtype=float)
    expected = ab.linkages.graph_linkage(ab.similarity.graph(adjacency), "paris")
    for data in (network, adjacency, ab.similarity.graph(adjacency)):
        assert ab.linkage(data, "paris") == expected
    knn = ab.similarity.knn(np.random.default_rng(0).normal(size=(50, 3)), n_neighbors=5)
    assert ab.linkage(knn).n_leaves == 50


def test_distances_that_would_not_fit_are_refused_beforehand(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 10_000)
    X = np.random.default_rng(0).normal(size=(200, 2))
    with pytest.raises(ab.errors.TooLargeError, match=r"200 points.*arbora\.cluster"):
        ab.linkage(X, "average")
    with pytest.raises(MemoryError):
        ab.linkage(ab.similarity.cosine(X), "ward")
    assert ab.linkage(X, "ward").n_leaves == 200  # works on the vectors, without distances


def test_free_memory_is_known_and_plausible():
    assert 2**20 < memory.available_memory() < 2**50


@pytest.mark.parametrize("method", METHODS)
def test_one_and_two_points_duplicates_and_constant_columns(method):
    assert ab.linkage([[1.0, 2.0]], method).n_nodes == 1
    assert ab.linkage([[1.0], [3.0]], method).height[-1] == 2.0
    same = ab.linkage(np.ones((5, 3)), method)
    assert same.n_leaves == 5 and same.height.max() == 0
    assert ab.linkage(np.column_stack([np.arange(4.0), np.ones(4)]), method).is_binary


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        ([[0.0], [np.nan]], {}, "finite.*row 1"),
        ([[0.0], [np.inf]], {}, "finite"),
        ([0.0, 1.0], {}, "reshape"),
        (np.empty((0, 2)), {}, "empty"),
        ([[0.0], [1.0]], {"method": "wards"}, "method must be one of"),
        ([[0.0], [1.0]], {"method": "paris"}, "for graphs"),
        ([[0.0], [1.0]], {"kind": "matrix"}, "kind must be one of"),
        ([[0.0], [1.0]], {"metric": "cosine", "method": "ward"}, 'needs metric="euclidean"'),
        ([[0.0], [1.0]], {"metric": "nonsense"}, "metric='nonsense'"),
        ([[0.0, 0.0], [1.0, 1.0], [2.0, 1.0]], {"metric": "cosine"}, "row of zeros"),
        (sp.csr_array(np.ones((2, 3))), {}, "must be square"),
        ([1.0, 2.0], {"kind": "distances"}, "length n"),
        ([1.0, -2.0, 3.0], {"kind": "distances"}, "negative"),
        ([[0.0, 1.0], [2.0, 0.0]], {"kind": "distances"}, "symmetric"),
    ],
)
def test_bad_input_is_refused_with_its_reason(data, options, message):
    with pytest.raises(ValueError, match=message):
        ab.linkage(data, **options)


def test_text_is_refused():
    with pytest.raises(TypeError, match="real numbers"):
        ab.linkage([["a"], ["b"]])


# HypHC, Table 1: cost over ordered pairs, to every printed digit
HYPHC = {
    "zoo": (1e5, {"single": 2.897, "average": 2.829, "complete": 2.802, "ward": 2.827}),
    "glass": (1e6, {"single": 3.018, "average": 2.906, "complete": 2.939, "ward": 2.920}),
    "segmentation": (1e9, {"single": 3.705, "average": 3.408, "complete": 3.460, "ward": 3.434}),
}


@pytest.mark.data
@pytest.mark.parametrize("name", HYPHC)
def test_linkage_rows_of_hyphc(name):
    similarity = ab.similarity.cosine(data_sets.hyphc_features(name))
    unit, rows = HYPHC[name]
    for method, cost in rows.items():
        twice = 2 * ab.metrics.dasgupta_cost(ab.linkage(similarity, method), similarity)
        assert round(twice / unit, 3) == cost
