"""Graphs: edge and adjacency lists, GraphML, GML, GEXF, Pajek, MatrixMarket. Edges and loops count once."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp
from numpy.typing import NDArray

from arbora._base.optional import require
from arbora.errors import FormatError
from arbora.reading.columns import NUMBER, Column
from arbora.reading.contents import Contents
from arbora.reading.dataset import Dataset
from arbora.reading.options import ReadOptions, one_character
from arbora.reading.roles import classes_of, listed
from arbora.reading.text import decoded, leading_comments

_SEPARATOR = re.compile(r"[\s,;]+")
_SOURCES = frozenset(
    {"source", "src", "from", "from_node", "fromnodeid", "source_id", "node1", "node_1", "id_1"}
)
_TARGETS = frozenset({"target", "dst", "to", "to_node", "tonodeid", "target_id", "node2", "node_2", "id_2"})
_WEIGHTS = ("weight", "weights", "value", "w", "similarity", "count")
_LENGTHS = frozenset({"distance", "distances", "dist", "length", "cost", "dissimilarity"})
# What else programs write beside the ends of an edge (Gephi, Cytoscape): never its weight.
_OF_EDGES = frozenset(
    {"id", "type", "label", "timeset", "interval", "interaction", "time", "timestamp", "date", "year"}
)
# also inf, nan and infinity
_OF_NUMBERS = b"0123456789+-.eE \t\r\ninfatyINFATY"
# Nodes that both columns of an edge list must hold for it to be recognized by them.
_FEWEST_SHARED = 3
ADDED_UP = "the edges are directed: both directions are added up"
_MENTIONS_EDGES = re.compile(
    r"\b(edges|nodes|vertices|fromnodeid|arcs)\b|^%\s*(sym|asym|bip)\b", re.IGNORECASE
)


def read_edges(contents: Contents, options: ReadOptions) -> Dataset:
    """Two node names per line, and a weight; '#' and '%' begin comments; a header is recognized."""
    name, text = contents.name, decoded(contents.raw, contents.name)
    start, comments = leading_comments(text)
    separator = _edge_separator(text[start:], options)
    number: dict[str, int] = {}
    ends: list[tuple[int, int]] = []
    weights: list[float] = []
    for line_number, line in enumerate(text.splitlines(), start=1):
        line = line.strip()
        if not line or line[0] in "#%":
            continue
        parts = [part.strip() for part in separator.split(line)]
        if not ends and _is_edge_header(parts):
            _refuse_length(parts[-1], name)
            continue
        weight = _edge_weight(parts, line, f"{name}, line {line_number}", bool(comments))
        _check_ends(parts, f"{name}, line {line_number}")
        left, right = (number.setdefault(node, len(number)) for node in parts[:2])
        ends.append((left, right))
        weights.append(weight)
    if not ends:
        raise FormatError(f"{name} holds no edges.")
    return graph_of_pairs(np.array(ends), np.array(weights), len(number), name, "edges", names=list(number))


def _edge_separator(body: str, options: ReadOptions) -> re.Pattern[str]:
    if options.delimiter is not None:
        return re.compile(re.escape(one_character(options.delimiter)))
    lines = [line for line in body[:100_000].splitlines()[:50] if line.strip()]
    # names that contain blanks are separated by tabs or commas
    for candidate in ("\t", ";", ","):
        if lines and all(candidate in line.strip() for line in lines):
            return re.compile(re.escape(candidate) + ("+" if candidate == "\t" else ""))
    return _SEPARATOR


def _is_edge_header(parts: list[str]) -> bool:
    return edge_columns(parts) is not None or (len(parts) == 3 and not NUMBER.fullmatch(parts[2]))


def edge_columns(header: list[str]) -> tuple[str, str, str | None] | None:
    """Source, target and weight columns of a header that names them; None for other headers."""
    by_word = {name.casefold().strip(): name for name in header}
    sources = [word for word in by_word if word in _SOURCES]
    targets = [word for word in by_word if word in _TARGETS]
    if len(sources) != 1 or len(targets) != 1:
        return None
    others = [word for word in by_word if word not in (sources[0], targets[0])]
    if len(header) > 5 and not _OF_EDGES.issuperset(set(others) - set(_WEIGHTS)):
        return None
    weight = next((by_word[word] for word in _WEIGHTS if word in by_word), None)
    return by_word[sources[0]], by_word[targets[0]], weight


def edges_by_nodes(columns: dict[str, Column]) -> tuple[str, str, str | None] | None:
    """Source, target and weight of a table of nothing else whose first two columns hold the same names."""
    names = list(columns)
    if len(names) not in (2, 3) or any(columns[name].kind != "text" for name in names[:2]):
        return None
    if len(names) == 3 and columns[names[2]].kind != "number":
        return None
    return (
        (names[0], names[1], names[2] if len(names) == 3 else None) if _share_nodes(columns, names) else None
    )


def numbered_edges(columns: dict[str, Column]) -> str | None:
    """A word of warning about a table of two or three columns whose first two hold the same whole numbers."""
    names = list(columns)
    if len(names) not in (2, 3) or not all(columns[name].is_whole for name in names[:2]):
        return None
    if not _share_nodes(columns, names) or min(columns[name].values.min() for name in names[:2]) < 0:
        return None
    return (
        f"columns {names[0]!r} and {names[1]!r} hold the same whole numbers, as an edge list does. format='edges' "
        "reads a graph; kind='vectors' says that they are features."
    )


def _share_nodes(columns: dict[str, Column], names: list[str]) -> bool:
    """Whether most values of one of the first two columns are in the other too, and values repeat as nodes do."""
    first, second = (set(columns[name].values.tolist()) for name in names[:2])
    n_rows = len(columns[names[0]].values)
    shared = len(first & second)
    return (
        shared >= _FEWEST_SHARED
        and 2 * shared >= min(len(first), len(second))
        and len(first | second) <= n_rows + 1
    )


def mentions_edges(comments: list[str]) -> bool:
    """Whether the comments above a table say that it is an edge list, as SNAP's and KONECT's do."""
    return any(_MENTIONS_EDGES.search(line) for line in comments)


def _edge_weight(parts: list[str], line: str, where: str, may_have_time: bool) -> float:
    # KONECT's fourth column is a time
    if len(parts) not in (2, 3) and not (may_have_time and len(parts) == 4):
        raise FormatError(f"{where}: an edge is two nodes and perhaps a weight. Got {line[:60]!r}.")
    if len(parts) == 2:
        return 1.0
    if not NUMBER.fullmatch(parts[2]):
        raise FormatError(f"{where}: the weight {parts[2][:40]!r} is not a number.")
    return _checked_weight(float(parts[2]), where)


def _checked_weight(weight: float, where: str) -> float:
    if not np.isfinite(weight) or weight < 0:
        raise ValueError(f"{where}: a weight must be finite and not negative. Got {weight}.")
    return weight


def graph_of_columns(
    columns: dict[str, Column], header: tuple[str, str, str | None], name: str, format: str
) -> Dataset:
    """Graph of a table with columns for source, target and, perhaps, weight."""
    number: dict[str, int] = {}
    pairs = []
    for row, both in enumerate(zip(columns[header[0]].words(), columns[header[1]].words()), start=1):
        _check_ends(both, f"{name}, row {row}")
        pairs.append([number.setdefault(node, len(number)) for node in both])
    source, target, weight = header
    if weight is None and len(columns) == 3:
        weight = _only_number([column for column in columns if column not in header], columns)
    weights = _weights_of_column(columns, weight, len(pairs), name)
    note = f"taken as an edge list ({source!r} to {target!r}); kind='vectors' reads it as a table"
    unused = [column for column in columns if column not in (source, target, weight)]
    notes = (note, f"not used: {listed(unused)}") if unused else (note,)
    return graph_of_pairs(
        np.array(pairs), weights, len(number), name, format, names=list(number), notes=notes
    )


def _only_number(others: list[str], columns: dict[str, Column]) -> str | None:
    """The one other column of an edge list if it may hold weights, whatever it is called."""
    name = others[0]
    return name if columns[name].kind == "number" and name.casefold().strip() not in _OF_EDGES else None


def _weights_of_column(
    columns: dict[str, Column], weight: str | None, n_edges: int, name: str
) -> NDArray[np.float64]:
    """Weights of edges; 1 where no column holds any."""
    if weight is None:
        return np.ones(n_edges)
    _refuse_length(weight, name)
    if columns[weight].kind != "number":
        raise ValueError(
            f"{name}: the column {weight!r} of weights must hold numbers. It holds {columns[weight].kind}."
        )
    for row, value in enumerate(columns[weight].values.tolist(), start=1):
        _checked_weight(value, f"{name}, row {row}")
    return columns[weight].values


def _refuse_length(weight: str, name: str) -> None:
    if weight.casefold().strip() in _LENGTHS:
        raise ValueError(
            f"{name}: the weight of an edge says how alike its ends are, and {weight!r} sounds like the opposite. "
            "Turn it round and call it 'weight', or leave it out."
        )


def _check_ends(ends: Sequence[str], where: str) -> None:
    if not all(ends):
        raise ValueError(f"{where}: an edge joins two nodes. Got {ends[0]!r} and {ends[1]!r}.")


def read_network(contents: Contents, options: ReadOptions, format: str) -> Dataset | Any:
    """GraphML, GML, GEXF, Pajek and adjacency lists, through networkx; a tree that arbora wrote comes back as one."""
    graph = load_network(contents, format)
    name = contents.name
    nodes = list(graph.nodes)
    if not nodes:
        raise ValueError(f"{name} holds no nodes.")
    if "n_leaves" in graph.graph and graph.is_directed():
        return _tree_of(graph)
    number = {node: k for k, node in enumerate(nodes)}
    edges = [
        (number[u], number[v], _number_of(w, name)) for u, v, w in graph.edges(data="weight", default=1.0)
    ]
    pairs = np.array([edge[:2] for edge in edges], dtype=np.int64).reshape(-1, 2)
    weights = np.array([edge[2] for edge in edges], dtype=np.float64)
    names = _node_names(graph, nodes)
    notes = (ADDED_UP,) if graph.is_directed() else ()
    y = classes_of_nodes([graph.nodes[node] for node in nodes], options.label_column, name)
    return graph_of_pairs(
        pairs,
        weights,
        len(nodes),
        name,
        format,
        names=names,
        notes=notes,
        y=y,
        label_name=options.label_column,
    )


def classes_of_nodes(nodes: list[Any], attribute: str | None, name: str) -> NDArray[Any] | None:
    """The attribute of each node that holds its class; None if no attribute is named."""
    if attribute is None:
        return None
    values = [node.get(attribute) for node in nodes]
    if all(value is None for value in values):
        raise ValueError(f"{name}: no node has an attribute {attribute!r} (label_column=).")
    return classes_of(np.array(values, dtype=object))


def _node_names(graph: Any, nodes: list[Any]) -> list[str]:
    """Names of nodes: labels, or igraph's and Cytoscape's distinct names behind numbered nodes."""
    if all("label" not in graph.nodes[node] for node in nodes):
        names = [str(graph.nodes[node].get("name", "")) for node in nodes]
        if "" not in names and len(set(names)) == len(names):
            return names
    return [str(graph.nodes[node].get("label", node)) for node in nodes]


def load_network(contents: Contents, format: str) -> Any:
    """The networkx graph of a file."""
    networkx = require("networkx", f"Reading {format}")
    raw, name = contents.raw, contents.name
    if b"<!ENTITY" in raw:
        raise FormatError(f"{name} defines XML entities; such files are not read.")
    try:
        if format in ("graphml", "gexf"):
            return getattr(networkx, f"read_{format}")(io.BytesIO(raw))
        lines = decoded(raw, name).splitlines()
        if format == "gml":
            return networkx.parse_gml(lines, label=None if b"label" not in raw else "label")
        if format == "pajek":
            return networkx.parse_pajek(lines)
        return networkx.parse_adjlist(line for line in lines if not line.startswith(("#", "%")))
    except FormatError:
        raise
    # a damaged file can make networkx and its parsers raise almost anything
    except Exception as error:
        message = str(error).splitlines()[0][:150] if str(error) else type(error).__name__
        kind = {"graphml": "GraphML", "gml": "GML", "gexf": "GEXF", "pajek": "Pajek"}.get(format, format)
        raise FormatError(f"{name} is not a whole {kind} file: {message}") from error


def _tree_of(graph: Any) -> Any:
    import networkx

    from arbora.tree import Tree

    # GraphML turns node numbers into text
    numbered = networkx.relabel_nodes(graph, {node: int(node) for node in graph.nodes})
    return Tree.from_networkx(numbered)


def _number_of(weight: Any, name: str) -> float:
    try:
        return _checked_weight(float(weight), name)
    except TypeError:
        raise FormatError(f"{name}: the weight {weight!r:.40} is not a number.") from None


def read_matrix_market(contents: Contents, options: ReadOptions) -> Dataset:
    """A square sparse matrix is a graph, any other holds vectors."""
    raw, name = contents.raw, contents.name
    if b"\0" in raw:
        raise FormatError(
            f"{name} is not a whole MatrixMarket file: it holds NUL bytes, as a crash leaves behind."
        )
    _refuse_foreign_characters(raw, name)
    try:
        # SciPy's reader leaves its buffer, and the process crashes, where a last line has no end
        matrix = scipy.io.mmread(io.BytesIO(raw + b"\n"))
    except Exception as error:
        raise FormatError(
            f"{name} is not a whole MatrixMarket file: {str(error).splitlines()[0][:150]}"
        ) from error
    if np.iscomplexobj(matrix):
        raise ValueError(f"{name} holds complex numbers.")
    roles = {"features": "the matrix"}
    if not sp.issparse(matrix):
        return Dataset(np.asarray(matrix, dtype=np.float64), "vectors", name, "mtx", roles=roles)
    csr = sp.csr_array(matrix, dtype=np.float64)
    if csr.shape[0] == csr.shape[1] and options.kind in (None, "graph"):
        return graph_of_adjacency(csr, name, "mtx", options)
    return Dataset(csr, "vectors", name, "mtx", roles=roles)


def _refuse_foreign_characters(raw: bytes, name: str) -> None:
    """SciPy reads "1.x" as 1: below the header there may be numbers only."""
    start = 0
    while raw[start : start + 1] == b"%":
        start = raw.find(b"\n", start) + 1 or len(raw)
    foreign = raw[start:].translate(None, _OF_NUMBERS)
    if foreign:
        raise FormatError(
            f"{name} is not a whole MatrixMarket file: {foreign[:1]!r} below its header is not a number."
        )


def graph_of_adjacency(matrix: Any, name: str, format: str, options: ReadOptions, **more: Any) -> Dataset:
    """Graph of a square sparse matrix; for one that is not symmetric, `directed` must say how it becomes so."""
    csr = sp.csr_array(matrix, dtype=np.float64)
    csr.sum_duplicates()
    if not np.isfinite(csr.data).all() or (csr.data < 0).any():
        raise ValueError(f"{name}: weights must be finite and not negative.")
    notes: tuple[str, ...] = ()
    if abs(csr - csr.T).sum() > 1e-9 * max(abs(csr).sum(), 1e-300):
        if options.directed is None:
            raise ValueError(
                f"{name} is a square matrix that is not symmetric. As a graph it needs directed='sum', 'max' or 'mean' "
                "to combine its two directions; kind='vectors' takes its rows as vectors."
            )
        csr, notes = (
            _symmetric(csr, options.directed),
            (f"directed: the {options.directed} of both directions",),
        )
    csr.eliminate_zeros()
    roles = {"edges": "the entries of the matrix", **more.pop("roles", {})}
    return Dataset(csr, "graph", name, format, roles=roles, notes=notes, **more)


def _symmetric(csr: Any, rule: str) -> Any:
    if rule == "max":
        return csr.maximum(csr.T).tocsr()
    both = csr + csr.T
    both.setdiag(csr.diagonal())
    if rule == "mean":
        both = both / 2
        both.setdiag(csr.diagonal())
    return both.tocsr()


def graph_of_pairs(
    ends: NDArray[np.int64], weights: NDArray[np.float64], n: int, name: str, format: str, **more: Any
) -> Dataset:
    """Graph of edges, each once; repeated ones add up, loops count once."""
    ends = np.asarray(ends, dtype=np.int64).reshape(-1, 2)
    if len(ends) and (ends.min() < 0 or ends.max() >= n):
        raise ValueError(f"{name}: edges must join nodes 0 to {n - 1}.")
    loops = ends[:, 0] == ends[:, 1]
    rows = np.concatenate([ends[:, 0], ends[~loops, 1]])
    cols = np.concatenate([ends[:, 1], ends[~loops, 0]])
    both = np.concatenate([weights, weights[~loops]])
    matrix = sp.csr_array((both, (rows, cols)), shape=(n, n))
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    roles = {"edges": "with weights" if len(weights) and np.ptp(weights) > 0 else "without weights"}
    if more.get("names") is not None:
        roles["names"] = "the nodes' names"
    roles |= more.pop("roles", {})
    return Dataset(matrix, "graph", name, format, roles=roles, **more)
