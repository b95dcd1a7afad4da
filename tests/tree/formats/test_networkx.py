import sys

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from trees import trees

from arbora import Tree
from arbora.errors import MissingExtraError, TreeError


@given(trees(max_leaves=12, unary=0.2, heights=True))
def test_a_tree_comes_back_unchanged(tree):
    named = tree.replace(
        name=[f"n{v}" for v in range(tree.n_leaves)], support=np.full(tree.n_nodes, 0.5), height=tree.height
    )
    for asked in (named, tree, tree.replace(height=None)):
        graph = asked.to_networkx()
        assert nx.is_arborescence(graph)
        assert Tree.from_networkx(graph) == asked


@given(trees(min_leaves=2, max_leaves=12))
def test_edges_go_from_parent_to_child(tree):
    graph = tree.to_networkx()
    assert {(int(tree.parent[v]), v) for v in range(tree.root)} == set(graph.edges)


def test_drawing_order_survives():
    tree = Tree([3, 3, 4, 4, -1], 3, order=[2, 1, 0])
    assert Tree.from_networkx(tree.to_networkx()).leaf_order.tolist() == [2, 1, 0]


def test_nodes_may_be_anything_hashable():
    graph = nx.DiGraph([("root", ("x", 1)), ("root", "b"), ("b", 7), ("b", "c")])
    tree = Tree.from_networkx(graph)
    assert tree.to_newick() == "('(''x'', 1)',(7,c)b)root;"
    assert tree.n_leaves == 3


def test_heights_are_taken_from_the_attribute_named():
    graph = nx.DiGraph([("r", "a"), ("r", "b")])
    nx.set_node_attributes(graph, {"r": 2.0, "a": 0.0, "b": 0.5}, "age")
    assert Tree.from_networkx(graph, height="age").height.tolist() == [0.0, 0.5, 2.0]
    assert Tree.from_networkx(graph).height is None


def test_deep_graphs_are_read_without_recursion():
    tree = Tree.from_networkx(nx.path_graph(20_000, create_using=nx.DiGraph))
    assert (tree.n_leaves, tree.n_nodes) == (1, 20_000)


@pytest.mark.parametrize(
    "graph",
    [
        nx.DiGraph(),
        nx.Graph([(0, 1)]),
        nx.DiGraph([(0, 1), (2, 1)]),
        nx.DiGraph([(0, 1), (1, 0)]),
        nx.DiGraph([(0, 1), (2, 3)]),
    ],
)
def test_graphs_that_are_no_directed_tree_are_refused(graph):
    with pytest.raises(TreeError, match="directed tree"):
        Tree.from_networkx(graph)


def test_other_objects_are_refused():
    with pytest.raises(TypeError, match="networkx"):
        Tree.from_networkx({0: [1]})


def test_without_networkx_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(MissingExtraError, match=r"arbora\[formats\]"):
        Tree([2, 2, -1], 2).to_networkx()
