"""`ab.linkage` against SciPy, and what it refuses."""

import _thread
import threading
import time
import tracemalloc

import data_sets
import fastcluster
import networkx as nx
import numpy as np
import pandas as pd
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


@pytest.mark.parametrize("method", ["average", "complete"])
def test_the_peak_of_memory_is_what_is_checked_for(method):
    X = np.random.default_rng(0).normal(size=(1500, 3))
    for data in (X, ab.similarity.cosine(X)):
        tracemalloc.start()
        tree = ab.linkage(data, method)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert tree.n_leaves == 1500
        # rows of a similarity are held a block at a time
        extra = 0 if data is X else 1500**2 * 8
        assert peak < 1.2 * 8 * (1500 * 1499 / 2) + 1.2 * extra


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
        ([[0.0], [1.0, 2.0]], {}, "data must be a rectangular array"),
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


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("scale", [1e-305, 1e-200, 1e155, 1e307])
def test_values_of_any_size_are_linked_alike(method, scale):
    X = np.random.default_rng(0).uniform(-1, 1, size=(20, 3))
    plain, scaled = ab.linkage(X, method), ab.linkage(X * scale, method)
    assert scaled.same_topology(plain)
    np.testing.assert_allclose(scaled.height, plain.height * scale, rtol=1e-3)
    D = pdist(X)
    plain, scaled = (ab.linkage(d, method, metric="precomputed") for d in (D, D * (scale / 4)))
    assert scaled.same_topology(plain)


def test_a_metric_is_honored_or_refused():
    X = np.random.default_rng(0).normal(size=(10, 3))
    for data in (ab.similarity.cosine(X), ab.similarity.knn(X, 3), sp.eye_array(4, format="csr")):
        for options in ({"metric": "cosine"}, {"kind": "vectors"}, {"metric": "precomputed"}):
            with pytest.raises(ValueError, match="Similarities and graphs have none"):
                ab.linkage(data, **options)
    with pytest.raises(ValueError, match="distances and have no metric"):
        ab.linkage(pdist(X), metric="cosine", kind="distances")
    with pytest.raises(ValueError, match='metric="precomputed" for condensed'):
        ab.linkage(pdist(X))


def test_names_come_with_frames_networks_and_similarities():
    X = np.random.default_rng(0).normal(size=(4, 2))
    names = ["a", "b", "c", "d"]
    frame = pd.DataFrame(X, index=names)
    D = pd.DataFrame(squareform(pdist(X)), index=names, columns=names)
    network = nx.Graph([("a", "b"), ("b", "c"), ("c", "d")])
    for tree in (
        ab.linkage(frame),
        ab.linkage(frame, "ward"),
        ab.linkage(D, metric="precomputed"),
        ab.linkage(ab.similarity.knn(frame, 2)),
        ab.linkage(ab.similarity.cosine(frame)),
        ab.linkage(network),
        ab.bisecting_kmeans(frame, random_state=0),
        ab.linkages.birch(frame),
        ab.linkages.louvain(network, random_state=0),
        ab.linkages.graph_linkage(network, "paris"),
    ):
        assert list(tree.name[:4]) == names
    assert ab.linkage(X).name is None


def test_ctrl_c_is_answered_at_once(monkeypatch):
    began = threading.Event()

    def slow(*arguments, **options):
        began.set()
        time.sleep(120)

    def press():
        began.wait(60)
        _thread.interrupt_main()

    monkeypatch.setattr(fastcluster, "linkage", slow)
    threading.Thread(target=press, daemon=True).start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        ab.linkage(np.random.default_rng(0).normal(size=(20, 2)))
    # a small part of the work, and much more than a busy machine delays
    assert time.perf_counter() - start < 60


def test_the_callers_distances_and_vectors_stay_as_they_are():
    X = np.random.default_rng(0).normal(size=(8, 2))
    D = squareform(pdist(X))
    for data, options in ((X, {}), (D, {"metric": "precomputed"}), (pdist(X), {"kind": "distances"})):
        before = data.copy()
        data.flags.writeable = False
        for method in METHODS:
            ab.linkage(data, method, **options)
        np.testing.assert_array_equal(data, before)


def test_masks_and_imaginary_parts_are_refused():
    with pytest.raises(ValueError, match="masked"):
        ab.linkage(np.ma.masked_array([[0.0], [1.0], [2.0]], [[False], [True], [False]]))
    with pytest.raises(ValueError, match="real numbers"):
        ab.linkage(np.array([[1j], [2j]]))
