"""Graph files: every edge once, every loop once, whoever wrote them."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from reading.files import written

import arbora as ab

# a - b (2), b - c (1), a loop at c (4)
ADJACENCY = [[0, 2, 0], [2, 0, 1], [0, 1, 4]]


def network():
    nx = pytest.importorskip("networkx")
    graph = nx.Graph()
    graph.add_weighted_edges_from([("a", "b", 2.0), ("b", "c", 1.0), ("c", "c", 4.0)])
    return nx, graph


@pytest.mark.parametrize(
    "format", ["graphml", "gml", "gexf", "pajek", "edges", "npz", "mtx", "csv", "parquet"]
)
def test_weights_and_loops_count_once_in_every_format(tmp_path, format):
    nx, graph = network()
    path = tmp_path / f"g.{'net' if format == 'pajek' else format}"
    if format in ("graphml", "gml", "gexf", "pajek"):
        getattr(nx, f"write_{format}")(graph, path)
    elif format == "edges":
        written(path, "a b 2\nb c 1\nc c 4\n")
    elif format == "npz":
        np.savez(path, rows=[0, 1, 2], cols=[1, 2, 2], weights=[2.0, 1, 4], names=["a", "b", "c"])
    elif format == "mtx":
        import scipy.io

        scipy.io.mmwrite(path, sp.csr_matrix(ADJACENCY, dtype=float))
    else:
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame({"source": list("abc"), "target": list("bcc"), "weight": [2.0, 1, 4]})
        frame.to_csv(path, index=False) if format == "csv" else frame.to_parquet(path)
    data = ab.read(path)
    assert data.kind == "graph"
    assert data.values.toarray().tolist() == ADJACENCY
    assert data.facts()["edges"] == 3
    assert format == "mtx" or data.names == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("g.txt", "# Undirected graph\n# Nodes: 3 Edges: 2\n# FromNodeId\tToNodeId\n0\t1\n1\t2\n"),
        ("out.tsv", "% sym unweighted\n% 2 3 3\n0 1\n1 2\n"),
        ("out.tsv", "% asym positive\n0\t1\t1\t1167609600\n1\t2\t1\t1167609601\n"),
        ("g.csv", "source,target\n0,1\n1,2\n"),
        ("g.edges", "source target\n0 1\n1 2\n"),
        ("g.edges", "0,1\n1,2\n"),
        ("g.adjlist", "#a comment\n0 1\n1 2\n2\n"),
    ],
)
def test_edge_lists_of_snap_konect_and_others_are_recognized(tmp_path, name, text):
    data = ab.read(written(tmp_path / name, text))
    assert data.kind == "graph"
    assert data.names == ["0", "1", "2"]
    assert data.facts()["edges"] == 2


def test_it_is_said_that_a_table_is_taken_as_an_edge_list(tmp_path):
    path = written(tmp_path / "g.csv", "source,target,weight\na,b,1\nb,c,2\n")
    assert "edge list" in str(ab.read(path))


def test_names_with_blanks_are_separated_by_tabs(tmp_path):
    data = ab.read(written(tmp_path / "g.edges", "New York\tLos Angeles\t3\nLos Angeles\tBoston\t1\n"))
    assert data.names == ["New York", "Los Angeles", "Boston"]


def test_directed_networks_say_that_directions_are_added_up(tmp_path):
    nx, _ = network()
    nx.write_graphml(nx.DiGraph([("a", "b"), ("b", "a"), ("b", "c")]), tmp_path / "g.graphml")
    data = ab.read(tmp_path / "g.graphml")
    assert data.values.toarray().tolist() == [[0, 2, 0], [2, 0, 1], [0, 1, 0]]
    assert "added up" in str(data)


@pytest.mark.parametrize(("rule", "weight"), [("sum", 5), ("max", 3), ("mean", 2.5)])
def test_a_matrix_that_is_not_symmetric_needs_to_be_told_how_it_becomes_so(tmp_path, rule, weight):
    sp.save_npz(tmp_path / "g.npz", sp.csr_matrix([[7.0, 3.0], [2.0, 0.0]]))
    with pytest.raises(ValueError, match="directed='sum'"):
        ab.read(tmp_path / "g.npz")
    data = ab.read(tmp_path / "g.npz", directed=rule)
    assert data.values.toarray().tolist() == [[7, weight], [weight, 0]]


def test_node_attributes_can_be_the_classes(tmp_path):
    nx, graph = network()
    nx.set_node_attributes(graph, {"a": "x", "b": "y"}, "club")
    nx.write_gml(graph, tmp_path / "g.gml")
    assert ab.read(tmp_path / "g.gml", label_column="club").y.tolist() == ["x", "y", None]


def test_graphml_with_entities_is_refused(tmp_path):
    bomb = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaa">]><graphml>&a;</graphml>'
    with pytest.raises(ValueError, match="entities"):
        ab.read(written(tmp_path / "g.graphml", bomb))


def test_a_graph_goes_straight_into_cluster_with_its_names(tmp_path):
    nx = pytest.importorskip("networkx")
    nx.write_gml(nx.les_miserables_graph(), tmp_path / "g.gml")
    data = ab.read(tmp_path / "g.gml")
    tree = ab.cluster(data, random_state=0)
    assert [tree.label(k) for k in range(tree.n_leaves)] == data.names


GEPHI = "Source,Target,Type,Id,Label,timeset,Weight\na,b,Undirected,0,,,2.0\nb,c,Undirected,1,,,3.0\n"


@pytest.mark.parametrize(
    "text",
    [GEPHI, "source,target,strength\na,b,2\nb,c,3\n", "from,to,weight,since\na,b,2,1999\nb,c,3,2004\n"],
)
def test_weights_are_found_beside_what_else_programs_write_of_an_edge(tmp_path, text):
    data = ab.read(written(tmp_path / "g.csv", text))
    assert data.kind == "graph" and data.names == ["a", "b", "c"]
    assert data.values.toarray().tolist() == [[0, 2, 0], [2, 0, 3], [0, 3, 0]]


def test_columns_of_an_edge_list_that_are_not_used_are_named(tmp_path):
    path = written(tmp_path / "g.csv", "source,target,weight,since\na,b,2,1999\nb,c,3,2004\n")
    assert "not used: 'since'" in str(ab.read(path))


@pytest.mark.parametrize("name", ["g.csv", "g.edges"])
def test_lengths_of_edges_are_not_taken_for_similarities(tmp_path, name):
    with pytest.raises(ValueError, match="'distance' sounds like the opposite"):
        ab.read(written(tmp_path / name, "source,target,distance\na,b,2\nb,c,3\n"))


@pytest.mark.parametrize("name", ["g.csv", "g.edges"])
def test_an_edge_without_an_end_is_refused(tmp_path, name):
    with pytest.raises(ValueError, match="an edge joins two nodes"):
        ab.read(written(tmp_path / name, "source,target\na,b\nb,\nc,a\n"))


def test_nodes_that_igraph_numbers_go_by_their_names(tmp_path):
    nx = pytest.importorskip("networkx")
    graph = nx.Graph([("n0", "n1"), ("n1", "n2")])
    nx.set_node_attributes(graph, {"n0": "owl", "n1": "hen", "n2": "cod"}, "name")
    nx.write_graphml(graph, tmp_path / "g.graphml")
    assert ab.read(tmp_path / "g.graphml").names == ["owl", "hen", "cod"]


@pytest.mark.parametrize(
    ("nodes", "links"),
    [
        ([10, 20, 30], [(10, 20), (20, 30)]),
        (["a", "b", "c"], [("a", "b"), ("b", "c")]),
        (["a", "b", "c"], [(0, 1), (1, 2)]),
    ],
)
def test_links_of_json_lead_to_ids_or_to_places(tmp_path, nodes, links):
    graph = {"nodes": [{"id": one} for one in nodes], "links": [{"source": a, "target": b} for a, b in links]}
    data = ab.read(written(tmp_path / "g.json", json.dumps(graph)))
    assert data.names == list(map(str, nodes))
    assert data.values.toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]


@pytest.mark.parametrize(("ids", "links"), [([1, 2, 3], [(1, 2), (2, 0)]), (["a", "b", "b"], [("a", "b")])])
def test_links_that_lead_nowhere_or_to_two_nodes_are_refused(tmp_path, ids, links):
    graph = {"nodes": [{"id": one} for one in ids], "links": [{"source": a, "target": b} for a, b in links]}
    with pytest.raises(ValueError, match="links must have a source"):
        ab.read(written(tmp_path / "g.json", json.dumps(graph)))


def test_classes_come_from_nodes_and_are_refused_where_there_are_none(tmp_path):
    graph = {
        "nodes": [{"id": "a", "club": "x"}, {"id": "b"}],
        "links": [{"source": "a", "target": "b"}],
        "directed": True,
    }
    data = ab.read(written(tmp_path / "g.json", json.dumps(graph)), label_column="club")
    assert data.y.tolist() == ["x", None] and "added up" in str(data)
    with pytest.raises(ValueError, match="has no column 'club'"):
        ab.read(written(tmp_path / "g.edges", "a b\nb c\n"), label_column="club")
