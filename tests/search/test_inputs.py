"""What data are taken for, and what is refused."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist, squareform
from sklearn.metrics import adjusted_rand_score

import arbora as ab
from arbora.search.inputs import new_rows, read_input

RNG = np.random.default_rng(0)
VECTORS = RNG.normal(size=(12, 3))
SYMMETRIC = sp.csr_array(nx.to_scipy_sparse_array(nx.path_graph(12), dtype=float))
DIRECTED = sp.csr_array(nx.to_scipy_sparse_array(nx.path_graph(12, create_using=nx.DiGraph), dtype=float))
FORMATS = ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")


@pytest.mark.parametrize("form", FORMATS)
def test_every_sparse_format_is_read_alike_and_left_alone(form):
    for matrix, kind in ((SYMMETRIC, "graph"), (sp.csr_array(VECTORS), "vectors")):
        given = matrix.asformat(form)
        before = given.copy()
        assert read_input(given).kind == kind
        assert (given != before).nnz == 0 and given.nnz == before.nnz


def test_duplicates_of_a_sparse_matrix_are_summed_in_a_copy():
    given = sp.csr_array((np.ones(4), [1, 1, 0, 0], [0, 2, 4]), shape=(2, 2))
    assert read_input(given).values.csr.toarray().tolist() == [[0, 2], [2, 0]]
    assert given.nnz == 4


def test_a_square_sparse_matrix_that_is_not_symmetric_may_be_two_things():
    with pytest.raises(ValueError, match=r'directed="sum".*similarity="knn"'):
        ab.cluster(DIRECTED)
    assert read_input(DIRECTED, "knn").kind == "vectors"
    assert read_input(DIRECTED, directed="sum").values.n_edges == 11
    with pytest.raises(ValueError, match="directed="):
        ab.cluster(nx.path_graph(4, create_using=nx.DiGraph))
    assert ab.cluster(nx.path_graph(4, create_using=nx.DiGraph), directed="max").n_leaves == 4


def test_tiny_weights_do_not_hide_asymmetry():
    with pytest.raises(ValueError, match="not symmetric"):
        read_input(DIRECTED * 1e-12)


def test_names_come_from_the_index_and_from_the_nodes():
    frame = pd.DataFrame(VECTORS, index=[f"row {k}" for k in range(12)])
    assert read_input(frame).names == list(frame.index)
    assert read_input(pd.DataFrame(VECTORS)).names is None
    assert read_input(nx.Graph([("ant", "bee")])).names == ["ant", "bee"]
    assert read_input(nx.path_graph(3)).names is None
    edges = (["cat", "ant"], ["bee", "cat"])
    assert read_input(edges).names == ab.cluster(edges).leaf_names == ["ant", "bee", "cat"]
    assert ab.cluster(frame, random_state=0).name[:12].tolist() == list(frame.index)


def test_vectors_keep_their_precision_and_are_not_copied():
    for dtype in (np.float32, np.float64):
        given = VECTORS.astype(dtype)
        assert read_input(given).values is given
    assert read_input(VECTORS.astype(np.float16)).values.dtype == np.float32
    assert read_input(VECTORS.astype(np.int64)).values.dtype == np.float64


@pytest.mark.parametrize(
    ("data", "problem", "message"),
    [
        (np.array([["a", "b"]]), TypeError, "must hold real numbers"),
        (np.array([[1.0, {}]], dtype=object), TypeError, "row 0 and column 1 is a dict"),
        (np.zeros(3, dtype=[("a", float), ("b", float)]), TypeError, "structured array"),
        (np.ma.masked_array(VECTORS, VECTORS > 1), ValueError, "masked entries"),
        (pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}), TypeError, "'b'"),
        (pd.DataFrame({"a": [1.0, np.nan]}), ValueError, "row 1, column 0"),
        ("points.csv", FileNotFoundError, "no file or directory 'points.csv'"),
        (None, TypeError, "Got None"),
        (5, ValueError, "shape"),
        ([[1.0], [1.0, 2.0]], ValueError, "rectangular"),
    ],
)
def test_what_is_not_numbers_is_refused_in_words(data, problem, message):
    with pytest.raises(problem, match=message):
        read_input(data)


def test_square_arrays_and_probabilities_are_vectors_when_the_call_says_so():
    assert read_input(np.eye(4), "knn").kind == "vectors"
    assert read_input(np.full((9, 3), 1 / 3), "cosine").kind == "vectors"


def test_new_rows_are_dense_or_sparse_numbers():
    assert new_rows([[1, 2]])[0].dtype == np.float64
    assert sp.issparse(new_rows(sp.coo_array([[1.0, 0.0]]))[0])
    with pytest.raises(ValueError, match="Reshape your data"):
        new_rows([1.0, 2.0])


def test_distances_make_the_tree_of_their_vectors():
    points = np.r_[VECTORS, VECTORS + 5, VECTORS - 9]
    condensed = pdist(points)
    wanted = ab.cluster(points, "euclidean", n_neighbors=5, random_state=0)
    names = [f"p{k}" for k in range(36)]
    for data in (condensed, squareform(condensed), pd.DataFrame(squareform(condensed), names, names)):
        tree = ab.cluster(data, "precomputed", n_neighbors=5, random_state=0)
        assert adjusted_rand_score(tree.cut(3), wanted.cut(3)) == 1.0
    assert tree.name[:36].tolist() == names
    model = ab.TreeClustering(3, metric="precomputed", n_neighbors=5, random_state=0).fit(condensed)
    assert adjusted_rand_score(model.predict(squareform(condensed)), model.labels_) == 1.0


@pytest.mark.parametrize(
    ("data", "problem", "message"),
    [
        (SYMMETRIC, TypeError, "takes distances"),
        (nx.path_graph(3), TypeError, "takes distances"),
        (np.ones((3, 2)), ValueError, "square"),
        (np.ones(4), ValueError, "condensed"),
        (np.eye(4), ValueError, "diagonal"),
        (np.zeros((0, 0)), ValueError, "square or condensed"),
    ],
)
def test_what_is_not_distances_is_refused(data, problem, message):
    with pytest.raises(problem, match=message):
        ab.cluster(data, "precomputed")


def test_new_points_of_a_few_distances_bring_distances():
    points = np.r_[VECTORS[:6], VECTORS[6:] + 30]
    D = squareform(pdist(points))
    model = ab.TreeClustering(2, metric="precomputed", random_state=0).fit(D)
    np.testing.assert_array_equal(model.predict(D), model.labels_)


def test_a_dozen_points_are_compared_in_all_pairs():
    """A point as near to a group as its own members must not be torn from it by local scales."""
    rng = np.random.default_rng(0)
    directions = np.linalg.qr(rng.normal(size=(6, 6)))[0][:3]
    points = np.repeat(directions, (4, 4, 2), axis=0) + 0.1 * rng.normal(size=(10, 6))
    model = ab.TreeClustering(3, random_state=0).fit(points)
    assert model.similarity_.csr is None
    assert "all pairs" in model.report_.choices["similarity"]
    average = ab.linkage(points, "average", metric="cosine")
    assert adjusted_rand_score(model.labels_, average.cut(3)) == 1.0
    assert ab.TreeClustering(3, similarity="knn", random_state=0).fit(points).similarity_.csr is not None
