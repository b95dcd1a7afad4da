"""networkx: a directed graph with an edge from each parent to each child."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from arbora._base.optional import require
from arbora.errors import FormatError, TreeError
from arbora.tree._tree import Tree
from arbora.tree.formats.xml import check_names


def write(tree: Tree) -> Any:
    """A networkx directed tree: nodes ``0 .. n_nodes-1`` with height, support and name where they have one.

    Examples
    --------
    >>> from arbora import Tree
    >>> graph = Tree([3, 3, 4, 4, -1], 3, name=["a", "b", "c"]).to_networkx()
    >>> list(graph.edges), graph.nodes[0]
    ([(4, 3), (4, 2), (3, 0), (3, 1)], {'name': 'a'})
    """
    graph = _networkx().DiGraph(n_leaves=tree.n_leaves)
    nodes = range(tree.root, -1, -1)
    graph.add_nodes_from(nodes)
    for node in nodes:
        graph.add_edges_from((node, child) for child in tree.children(node).tolist())
    for attribute in ("height", "support", "name"):
        values = getattr(tree, attribute)
        if values is not None:
            for node, value in enumerate(values.tolist()):
                # neither unnamed nor NaN, an unknown support
                if value != "" and value == value:
                    graph.nodes[node][attribute] = value
    return graph


def read(graph: Any, *, height: str = "height") -> Tree:
    """Tree from a networkx directed tree with edges from parent to child.

    A graph that `write` made gives back the same numbers. In any other, leaves are numbered in the order of
    ``graph.nodes``, and nodes are named by their ``name`` attribute, or else by the node itself.

    Parameters
    ----------
    graph : networkx.DiGraph
    height : str
        Node attribute to take heights from; used if every node has it.

    Examples
    --------
    >>> import networkx as nx
    >>> from arbora import Tree
    >>> graph = nx.DiGraph([("animals", "cat"), ("animals", "birds"), ("birds", "owl")])
    >>> Tree.from_networkx(graph).to_newick()
    '(cat,(owl)birds)animals;'
    """
    nx = _networkx()
    if not isinstance(graph, nx.Graph):
        raise TypeError(f"graph must be a networkx.DiGraph. Got {type(graph).__name__}.")
    if len(graph) == 0 or not graph.is_directed() or not nx.is_arborescence(graph):
        raise TreeError(
            f"graph must be a directed tree with edges from parent to child. Got {graph}. "
            "Use networkx.bfs_tree(graph, root) to direct an undirected one."
        )
    nodes = _children_first(nx, graph)
    number = {node: k for k, node in enumerate(nodes)}
    parent = np.full(len(nodes), -1, dtype=np.int64)
    for above, node in graph.edges:
        parent[number[node]] = number[above]
    n_leaves = sum(1 for node in nodes if graph.out_degree(node) == 0)
    drawn = [number[node] for node in nx.dfs_preorder_nodes(graph, nodes[-1]) if number[node] < n_leaves]
    return Tree(
        parent,
        n_leaves,
        height=_attribute(graph, nodes, height),
        support=_supports(graph, nodes),
        name=_names(graph, nodes),
        order=None if drawn == sorted(drawn) else drawn,
    )


def write_graphml(tree: Tree) -> bytes:
    """GraphML of the graph that `write` makes, which `read_graphml` gives back."""
    check_names([tree], "GraphML")
    file = io.BytesIO()
    _networkx().write_graphml(write(tree), file)
    return file.getvalue()


def read_graphml(data: bytes) -> Tree:
    """Tree from a GraphML file of a directed tree; nodes as in `read`.

    Examples
    --------
    >>> from arbora import Tree
    >>> from arbora.tree.formats import networkx
    >>> networkx.read_graphml(networkx.write_graphml(Tree.from_newick("((a:1,b:1)x:1,c:2);"))).to_newick()
    '((a:1.0,b:1.0)x:1.0,c:2.0);'
    """
    nx = _networkx()
    try:
        graph = nx.read_graphml(io.BytesIO(data))
    # the XML parser and networkx raise many kinds of errors on damaged files
    except Exception as error:
        raise FormatError(f"Not a GraphML file: {error}") from error
    try:
        return read(graph)
    except (TreeError, TypeError, ValueError) as error:
        raise FormatError(f"The GraphML file does not hold a tree: {error}") from error


def _children_first(nx: Any, graph: Any) -> list[Any]:
    """Leaves in the order of ``graph.nodes``, then internal nodes with children before parents."""
    # GraphML makes text of numbers
    for numbers in (list(range(len(graph))), [str(node) for node in range(len(graph))]):
        if "n_leaves" in graph.graph and set(graph.nodes) == set(numbers):
            return numbers
    inner = [node for node in nx.topological_sort(graph) if graph.out_degree(node) > 0]
    return [node for node in graph.nodes if graph.out_degree(node) == 0] + inner[::-1]


def _attribute(graph: Any, nodes: list[Any], attribute: str) -> list[float] | None:
    values = [graph.nodes[node].get(attribute) for node in nodes]
    return None if any(value is None for value in values) else values


def _supports(graph: Any, nodes: list[Any]) -> list[float] | None:
    values = [graph.nodes[node].get("support", np.nan) for node in nodes]
    return None if all(value != value for value in values) else values


def _names(graph: Any, nodes: list[Any]) -> list[str] | None:
    if "n_leaves" in graph.graph:
        names = [str(graph.nodes[node].get("name", "")) for node in nodes]
        return names if any(names) else None
    return [str(graph.nodes[node].get("name", node)) for node in nodes]


def _networkx() -> Any:
    return require("networkx", "A networkx graph")
