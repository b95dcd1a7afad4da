"""Graphs as people have them: edges, frames and networks become one adjacency with the right names."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from arbora.similarity._edges import read_graph_parts


def adjacency_by_definition(rows, cols, weights, n):
    W = np.zeros((n, n))
    for i, j, w in zip(rows, cols, weights):
        W[i, j] += w
        if i != j:
            W[j, i] += w
    return W


edges = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.floats(0.1, 5)), min_size=1, max_size=12)


@settings(max_examples=40)
@given(edges, st.integers(6, 8))
def test_edges_count_for_both_ends_repeated_ones_add_up_and_loops_count_once(edges, n_points):
    rows, cols, weights = (list(part) for part in zip(*edges))
    found = read_graph_parts((rows, cols, weights), n_points)
    np.testing.assert_allclose(
        found.adjacency.toarray(), adjacency_by_definition(rows, cols, weights, n_points)
    )
    assert found.names is None
    smallest = read_graph_parts((rows, cols, weights), None)
    assert smallest.adjacency.shape[0] == max(rows + cols) + 1


@settings(max_examples=20)
@given(edges)
def test_names_are_numbered_in_their_order_and_mean_the_same_edges(edges):
    rows, cols, weights = (list(part) for part in zip(*edges))
    names = np.array(["f", "b", "e", "a", "d", "c"])
    found = read_graph_parts((names[rows], names[cols], weights), None)
    used = sorted(set(names[rows]) | set(names[cols]))
    assert found.names == used
    place = [used.index(name) for name in names[rows]], [used.index(name) for name in names[cols]]
    np.testing.assert_allclose(found.adjacency.toarray(), adjacency_by_definition(*place, weights, len(used)))


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("weighted", [True, False])
def test_frames_of_every_library_hold_edges(library, weighted):
    module = pytest.importorskip(library)
    columns = {"from": ["a", "b"], "to": ["b", "c"], **({"weight": [2.0, 3.0]} if weighted else {})}
    frame = module.table(columns) if library == "pyarrow" else module.DataFrame(columns)
    found = read_graph_parts(frame, None)
    w = [2.0, 3.0] if weighted else [1.0, 1.0]
    np.testing.assert_array_equal(found.adjacency.toarray(), [[0, w[0], 0], [w[0], 0, w[1]], [0, w[1], 0]])
    assert found.names == ["a", "b", "c"]


def test_a_network_keeps_its_weights_loops_and_order():
    nx = pytest.importorskip("networkx")
    network = nx.Graph()
    network.add_nodes_from(["z", "a"])
    network.add_edge("z", "a", weight=2.5)
    network.add_edge("a", "a")
    found = read_graph_parts(network, None)
    assert found.names == ["z", "a"]
    np.testing.assert_array_equal(found.adjacency.toarray(), [[0, 2.5], [2.5, 1]])
    assert read_graph_parts(nx.path_graph(3), None).names is None, "nodes that merely count have no names"


@pytest.mark.parametrize("kind", ["csr", "coo", "csc", "lil"])
def test_a_sparse_matrix_is_copied(kind):
    given_matrix = sp.csr_array(np.array([[0, 1.0], [1.0, 0]])).asformat(kind)
    found = read_graph_parts(given_matrix, None)
    found.adjacency.data[:] = 9
    assert given_matrix.toarray().max() == 1


@pytest.mark.parametrize(
    ("data", "n_points", "error", "message"),
    [
        (([0], [1], [1.0], [2.0]), None, ValueError, "Got 4 arrays"),
        (([[0]], [[1]]), None, ValueError, "one-dimensional"),
        (([0, 1], [1]), None, ValueError, "equally long"),
        (([0], [1], [1.0, 2.0]), None, ValueError, "equally long"),
        (([0], [-1]), None, ValueError, "must not be negative. Got -1"),
        (([0], [5]), 3, ValueError, "n_points must be at least 6"),
        (([], []), None, ValueError, "the graph has no nodes"),
        (([0.5], [1.5]), None, TypeError, "whole numbers or names. Got dtypes float64"),
        ((["a"], [1]), None, TypeError, "whole numbers or names"),
        (([0], [1], ["x"]), None, TypeError, "weights must hold real numbers"),
        (([0], [1], [np.nan]), None, ValueError, "weights must be finite"),
        (([0], [1], np.ma.masked_array([1.0], [True])), None, ValueError, "masked"),
        (sp.csr_array((2, 2)), 2, ValueError, "n_points applies to edges only"),
        (np.eye(2), None, TypeError, r"Use similarity.dense\(W\)"),
    ],
)
def test_what_is_no_graph_is_refused_with_its_reason(data, n_points, error, message):
    with pytest.raises(error, match=message):
        read_graph_parts(data, n_points)


def test_frames_of_other_widths_and_networks_without_nodes_are_refused():
    pandas, nx = pytest.importorskip("pandas"), pytest.importorskip("networkx")
    with pytest.raises(ValueError, match=r"two or three columns: ends and weights. Got 4"):
        read_graph_parts(pandas.DataFrame(np.eye(4)), None)
    with pytest.raises(ValueError, match="no nodes"):
        read_graph_parts(nx.Graph(), None)
    network = nx.Graph()
    network.add_edge(0, 1, weight="heavy")
    with pytest.raises(TypeError, match="must be real numbers"):
        read_graph_parts(network, None)


def test_no_edges_among_known_points_are_a_graph():
    assert read_graph_parts(([], []), 3).adjacency.shape == (3, 3)
