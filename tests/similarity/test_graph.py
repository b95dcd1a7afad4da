"""Graphs in every form in which people have them, read without a change to what they passed."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import arbora as ab
from arbora.similarity import graph

W = np.array([[0.0, 2.0, 0.0], [2.0, 0.5, 1.0], [0.0, 1.0, 0.0]])
FORMATS = ("csr", "csc", "coo", "dia", "bsr", "dok", "lil")


def whole(similarity):
    return similarity.csr.toarray() + np.diag(similarity.self_loops)


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("container", ["array", "matrix"])
def test_every_sparse_format_is_read(kind, container):
    found = graph(getattr(sp, f"{kind}_{container}")(W))
    np.testing.assert_array_equal(whole(found), W)
    assert found.csr.indices.dtype == np.int32 and found.csr.has_sorted_indices


@pytest.mark.parametrize(
    "use", [graph, ab.linkage, ab.linkages.louvain, lambda A: ab.cluster(A, random_state=0)]
)
def test_the_callers_matrix_stays_as_it_is(use):
    # unsorted, with duplicates and an explicit zero, read-only
    data, indices = np.array([1.0, 1.0, 0.0, 2.0, 1.0, 1.0]), np.array([2, 1, 0, 0, 0, 0], dtype=np.int32)
    indptr = np.array([0, 3, 4, 6], dtype=np.int32)
    data = np.array([1.0, 2.0, 0.0, 2.0, 0.5, 0.5])
    for part in (data, indices, indptr):
        part.flags.writeable = False
    A = sp.csr_array((data, indices, indptr), shape=(3, 3))
    before = [part.copy() for part in (data, indices, indptr)]
    use(A)
    for part, kept in zip((A.data, A.indices, A.indptr), before):
        np.testing.assert_array_equal(part, kept)


def test_edges_as_arrays_names_and_frames():
    plain = whole(graph(([0, 1], [1, 2], [2.0, 1.0])))
    named = graph((["a", "b"], ["b", "c"], [2.0, 1.0]))
    assert named.names == ["a", "b", "c"]
    np.testing.assert_array_equal(whole(named), plain)
    numbers = pd.DataFrame({"source": [0, 1], "target": [1, 2], "weight": [2.0, 1.0]})
    np.testing.assert_array_equal(whole(graph(numbers)), plain)
    texts = pd.DataFrame({"source": ["a", "b"], "target": ["b", "c"]})
    assert graph(texts).names == ["a", "b", "c"] and graph(texts).total == 2
    assert graph(([0], [1]), n_points=4).n_points == 4


def test_nodes_of_a_network_are_the_names_unless_they_merely_count():
    assert graph(nx.Graph([("x", "y"), ("y", "z")])).names == ["x", "y", "z"]
    assert graph(nx.path_graph(3)).names is None
    assert graph(nx.Graph([(2, 0), (0, 1)])).names == ["2", "0", "1"]


@pytest.mark.parametrize("directed", ["sum", "max", "mean"])
def test_a_symmetric_graph_stays_as_it_is_whatever_directed_says(directed):
    for data in (sp.csr_array(W), nx.path_graph(3)):
        np.testing.assert_array_equal(whole(graph(data, directed=directed)), whole(graph(data)))


def test_directions_are_joined_by_the_rule():
    A = sp.csr_array(np.array([[0.0, 4.0], [1.0, 0.0]]))
    assert [graph(A, directed=rule).total for rule in ("sum", "max", "mean")] == [5, 4, 2.5]
    with pytest.raises(ValueError, match="not symmetric"):
        graph(A)


@pytest.mark.parametrize("scale", [1e-300, 1e-12, 1.0, 1e100])
def test_asymmetry_is_judged_by_the_weights(scale):
    A = np.array([[0.0, 1.0, 3.0], [0.0, 0.0, 1.0], [3.0, 1.0, 0.0]]) * scale
    with pytest.raises(ValueError, match="not symmetric"):
        graph(sp.csr_array(A))
    with pytest.raises(ValueError, match="symmetric"):
        ab.similarity.dense(A)
    almost = (A + A.T) * (1 + 1e-12 * np.arange(9).reshape(3, 3))
    assert graph(sp.csr_array(almost)).n_points == 3
    # one edge far below the others has a direction too
    weak = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 1e-7], [0.0, 0.0, 0.0]]) * scale
    with pytest.raises(ValueError, match="not symmetric"):
        graph(sp.csr_array(weak))


@pytest.mark.parametrize(
    ("data", "options", "error", "message"),
    [
        (sp.csr_array((0, 0)), {}, ValueError, "empty"),
        (sp.csr_array((2, 3)), {}, ValueError, "square"),
        (sp.csr_array(W * 1j), {}, ValueError, "real numbers"),
        (sp.csr_array(-W), {}, ValueError, "negative"),
        (sp.csr_array(W * np.nan), {}, ValueError, "finite"),
        (sp.csr_array(W), {"directed": "both"}, ValueError, "directed must be one of"),
        (sp.csr_array(W), {"n_points": 3}, ValueError, "n_points applies to edges only"),
        (nx.Graph(), {}, ValueError, "no nodes"),
        (nx.Graph([(0, 1, {"weight": "heavy"})]), {}, TypeError, "real numbers"),
        (([0], [1], [2], [3]), {}, ValueError, "Got 4 arrays"),
        (([0.5], [1.0]), {}, TypeError, "whole numbers or names"),
        (([0, 1], [1]), {}, ValueError, "equally long"),
        (("a", "b"), {}, ValueError, "one-dimensional"),
        (([-1], [1]), {}, ValueError, "negative"),
        (([0], [5]), {"n_points": 3}, ValueError, "n_points"),
        (([], []), {}, ValueError, "no nodes"),
        (([0], [1], np.ma.masked_array([1.0], [True])), {}, ValueError, "masked"),
        (([0], [1], [1j]), {}, TypeError, "real numbers"),
        (pd.DataFrame(np.ones((3, 4))), {}, ValueError, "two or three columns"),
        (W, {}, TypeError, "similarity.dense"),
    ],
)
def test_what_is_no_graph_is_refused_with_its_reason(data, options, error, message):
    with pytest.raises(error, match=message):
        graph(data, **options)


def test_a_graph_that_is_one_already_is_returned():
    found = graph(([0], [1]))
    assert graph(found) is found


def test_float32_weights_stay_float32():
    assert graph(sp.csr_array(W.astype(np.float32))).csr.dtype == np.float32
    assert graph(sp.csr_array(W.astype(bool))).csr.dtype == np.float64


def test_no_pairs_have_no_similarities():
    assert graph(([0, 1], [1, 2])).pairs([], []).shape == (0,)


@pytest.mark.parametrize("largest", [5_000, 10**9, 2**62])
def test_identifiers_are_not_taken_for_numbers_of_nodes(largest):
    """Each number below the largest would be a node of its own, if there were memory for so many."""
    rows, cols = np.array([largest, 7, 8]), np.array([7, 8, largest - 1])
    with pytest.raises(ValueError, match=rf"4 different ones up to {largest:,}, which look like identifiers"):
        ab.similarity.graph((rows, cols))
    named = ab.similarity.graph((rows.astype(str), cols.astype(str)))
    assert sorted(named.names) == sorted(["7", "8", str(largest - 1), str(largest)])


def test_numbers_of_nodes_may_leave_out_some_and_many_where_their_count_is_given():
    assert ab.similarity.graph(([0, 3], [9, 99])).n_points == 100
    assert ab.similarity.graph((np.arange(0, 900, 9), np.arange(9, 909, 9))).n_points == 901
    assert ab.similarity.graph(([0, 3], [9, 5_000]), n_points=6_000).n_points == 6_000
