"""Graphs: edge lists, GraphML, MatrixMarket."""

from __future__ import annotations

import io
import re

import numpy as np
import scipy.io
import scipy.sparse as sp

from arbora.cli._exit import Unreadable, Unusable
from arbora.cli.reading._data import Data, ReadOptions
from arbora.cli.reading._tables import _decoded
from arbora.errors import MissingExtraError

_SEPARATOR = re.compile(r"[\s,;]+")


def read_edges(raw: bytes, name: str, options: ReadOptions) -> Data:
    """Two node names a line, and a weight; '#' and '%' begin comments."""
    number: dict[str, int] = {}
    ends: list[tuple[int, int]] = []
    weights: list[float] = []
    for k, line in enumerate(_decoded(raw, name).splitlines(), start=1):
        line = line.strip()
        if not line or line[0] in "#%":
            continue
        parts = _SEPARATOR.split(line) if options.delimiter is None else line.split(options.delimiter)
        if len(parts) not in (2, 3):
            raise Unreadable(
                f"{name}, line {k}: an edge is two nodes and perhaps a weight. Got {line[:60]!r}."
            )
        try:
            weight = float(parts[2]) if len(parts) == 3 else 1.0
        except ValueError:
            if not ends:
                continue  # a header line
            raise Unreadable(f"{name}, line {k}: the weight {parts[2][:40]!r} is no number.") from None
        if not np.isfinite(weight) or weight < 0:
            raise Unusable(f"{name}, line {k}: a weight must be finite and not negative. Got {parts[2]}.")
        ends.append(tuple(number.setdefault(node, len(number)) for node in parts[:2]))  # type: ignore[arg-type]
        weights.append(weight)
    if not ends:
        raise Unreadable(f"{name} holds no edges.")
    return _from_pairs(np.array(ends), np.array(weights), list(number), name, "edges")


def read_graphml(raw: bytes, name: str, options: ReadOptions) -> Data:
    """GraphML, through networkx; the edge attribute "weight" counts, a node attribute can be the label."""
    try:
        import networkx
    except ImportError as error:
        raise MissingExtraError(
            "Reading GraphML needs networkx. Install it with: pip install 'arbora[formats]'"
        ) from error
    if b"<!ENTITY" in raw:
        raise Unreadable(f"{name} defines XML entities; such files are not read.")
    try:
        graph = networkx.read_graphml(io.BytesIO(raw))
    except Exception as error:
        raise Unreadable(f"{name} is not a whole GraphML file: {str(error).splitlines()[0][:150]}") from error
    nodes = list(graph.nodes)
    if not nodes:
        raise Unusable(f"{name} holds no nodes.")
    number = {node: k for k, node in enumerate(nodes)}
    edges = [(number[u], number[v], float(w)) for u, v, w in graph.edges(data="weight", default=1.0)]
    data = _from_pairs(
        np.array([edge[:2] for edge in edges], dtype=np.int64).reshape(-1, 2),
        np.array([edge[2] for edge in edges]),
        [str(graph.nodes[node].get("label", node)) for node in nodes],
        name,
        "graphml",
    )
    if options.label_column is not None:
        values = [graph.nodes[node].get(options.label_column) for node in nodes]
        if all(value is None for value in values):
            raise Unusable(f"{name}: no node has an attribute {options.label_column!r}.")
        data.labels = np.array(["" if value is None else str(value) for value in values], dtype=object)
        data.label_name = options.label_column
    return data


def read_matrix_market(raw: bytes, name: str, options: ReadOptions) -> Data:
    """A square matrix is a graph, another one vectors."""
    try:
        matrix = scipy.io.mmread(io.BytesIO(raw))
    except Exception as error:
        raise Unreadable(
            f"{name} is not a whole MatrixMarket file: {str(error).splitlines()[0][:150]}"
        ) from error
    if np.iscomplexobj(matrix):
        raise Unusable(f"{name} holds complex numbers.")
    if not sp.issparse(matrix):
        return Data("vectors", np.asarray(matrix, dtype=np.float64), name, "mtx")
    matrix = sp.csr_matrix(matrix, dtype=np.float64)
    if matrix.shape[0] != matrix.shape[1]:
        return Data("vectors", matrix, name, "mtx")
    if abs(matrix - matrix.T).sum() > 1e-9 * max(abs(matrix).sum(), 1e-300):
        matrix = ((matrix + matrix.T) / 2).tocsr()
    return Data("graph", matrix, name, "mtx")


def _from_pairs(ends: np.ndarray, weights: np.ndarray, names: list[str], name: str, format: str) -> Data:
    n = len(names)
    half = sp.coo_matrix((weights, (ends[:, 0], ends[:, 1])), shape=(n, n)).tocsr()
    matrix = half + half.T
    matrix.setdiag(half.diagonal())
    matrix.eliminate_zeros()
    return Data("graph", matrix.tocsr(), name, format, names=names)
