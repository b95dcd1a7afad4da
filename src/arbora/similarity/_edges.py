"""Graphs as people have them (sparse matrices, networkx, edges) read into an adjacency and names."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from arbora._base.arrays import as_sparse, check_finite, package_of
from arbora._base.params import check_whole
from arbora._base.types import Floats, Ints

# Numbers of nodes are taken for identifiers where fewer than one in so many is used, beyond so many.
_MOST_UNUSED = 10
_MOST_NUMBERED_APART = 100


class GraphParts(NamedTuple):
    """A matrix of weights, the caller's to change, and the names of its nodes."""

    adjacency: sp.csr_array
    names: list[str] | None


def read_graph_parts(data: Any, n_points: int | None) -> GraphParts:
    """The adjacency that the data describe, or an error that says what was passed instead."""
    if isinstance(data, tuple):
        return _from_edges(data, n_points)
    columns = _columns_of_frame(data)
    if columns is not None:
        return _from_edges(columns, n_points)
    if n_points is not None:
        raise ValueError(
            "n_points applies to edges only. An adjacency and a networkx graph have their own number of nodes."
        )
    if sp.issparse(data):
        return GraphParts(as_sparse(data, argument="The adjacency"), None)
    if hasattr(data, "adj") and hasattr(data, "is_directed"):
        return _from_networkx(data)
    raise TypeError(
        f"data must be a SciPy sparse matrix, a networkx graph, a data frame of edges or a tuple "
        f"(rows, cols, weights). Got {type(data).__name__}. Use similarity.dense(W) for a full matrix."
    )


def _from_networkx(network: Any) -> GraphParts:
    import networkx as nx

    nodes = list(network)
    if not nodes:
        raise ValueError("The graph has no nodes.")
    try:
        adjacency = sp.csr_array(nx.to_scipy_sparse_array(network, dtype=np.float64))
    except (TypeError, ValueError) as problem:
        raise TypeError(f"The weights of the graph's edges must be real numbers: {problem}.") from problem
    names = None if nodes == list(range(len(nodes))) else [str(node) for node in nodes]
    return GraphParts(as_sparse(adjacency, argument="The adjacency"), names)


def _columns_of_frame(data: Any) -> tuple[Any, ...] | None:
    """Columns of a pandas, polars or Arrow frame; None for anything else."""
    package = package_of(data)
    if package == "pandas" and hasattr(data, "columns"):
        columns = tuple(data.iloc[:, k].to_numpy() for k in range(data.shape[1]))
    elif package == "polars" and hasattr(data, "get_columns"):
        columns = tuple(column.to_numpy() for column in data.get_columns())
    elif package == "pyarrow" and hasattr(data, "column_names"):
        columns = tuple(np.asarray(column.to_numpy()) for column in data.columns)
    else:
        return None
    if len(columns) not in (2, 3):
        raise ValueError(
            f"A data frame of edges has two or three columns: ends and weights. Got {len(columns)}. "
            "Use similarity.dense(W) for a full matrix."
        )
    return columns


def _from_edges(edges: tuple[Any, ...], n_points: int | None) -> GraphParts:
    if len(edges) not in (2, 3):
        raise ValueError(
            f"Edges must be a tuple (rows, cols) or (rows, cols, weights). Got {len(edges)} arrays."
        )
    ends = [np.asarray(part) for part in edges[:2]]
    if ends[0].ndim != 1 or ends[1].ndim != 1:
        raise ValueError(
            f"rows and cols must be one-dimensional. Got shapes {ends[0].shape} and {ends[1].shape}."
        )
    rows, cols, names = _node_numbers(*ends)
    weights = np.ones(rows.shape) if len(edges) == 2 else _weights(edges[2])
    if not rows.shape == cols.shape == weights.shape:
        raise ValueError(
            f"rows, cols and weights must be one-dimensional and equally long. "
            f"Got shapes {rows.shape}, {cols.shape}, {weights.shape}."
        )
    n = int(max(rows.max(initial=-1), cols.max(initial=-1))) + 1
    if n_points is not None:
        n = check_whole(n_points, "n_points", least=max(1, n))
    if n == 0:
        raise ValueError("There are no edges and n_points is not given: the graph has no nodes.")
    if rows.size and min(rows.min(), cols.min()) < 0:
        raise ValueError(f"Ends of edges must not be negative. Got {min(rows.min(), cols.min())}.")
    if n_points is None and n > _MOST_NUMBERED_APART:
        _refuse_identifiers(rows, cols, n)
    loops = rows == cols
    places = np.concatenate([rows, cols[~loops]]), np.concatenate([cols, rows[~loops]])
    both = sp.coo_array((np.concatenate([weights, weights[~loops]]), places), shape=(n, n))
    return GraphParts(as_sparse(both, argument="The adjacency"), names)


def _refuse_identifiers(rows: Ints, cols: Ints, n: int) -> None:
    """Refuse numbers most of which are no node's: every number below the largest would become a node."""
    # so many can be counted without sorting
    if n <= _MOST_UNUSED * 2 * len(rows):
        is_used = np.zeros(n, dtype=bool)
        is_used[rows] = is_used[cols] = True
        n_used = int(is_used.sum())
    else:
        n_used = len(np.union1d(rows, cols))
    if n > _MOST_UNUSED * n_used:
        raise ValueError(
            f"Ends of edges must be numbers of nodes, 0..n-1. Got {n_used:,} different ones up to {n - 1:,}, which "
            "look like identifiers. Pass them as text, rows.astype(str) and cols.astype(str), which become the nodes' "
            f"names, or arbora.similarity.graph(edges, n_points={n}) if all other numbers are nodes without edges."
        )


def _node_numbers(rows: NDArray[Any], cols: NDArray[Any]) -> tuple[Ints, Ints, list[str] | None]:
    """Ends as numbers; names are numbered in their sorted order."""
    if rows.size == 0 and cols.size == 0:
        return rows.astype(np.int64), cols.astype(np.int64), None
    if rows.dtype.kind in "iu" and cols.dtype.kind in "iu":
        return rows.astype(np.int64), cols.astype(np.int64), None
    texts = [np.asarray(ends).tolist() for ends in (rows, cols)]
    if not all(isinstance(end, str) for part in texts for end in part):
        raise TypeError(
            f"Ends of edges must hold whole numbers or names. Got dtypes {rows.dtype} and {cols.dtype}."
        )
    names, number = np.unique(np.array(texts[0] + texts[1]), return_inverse=True)
    return number[: len(texts[0])], number[len(texts[0]) :], [str(name) for name in names]


def _weights(values: Any) -> Floats:
    if np.ma.isMaskedArray(values) and np.ma.getmaskarray(values).any():
        raise ValueError("weights has masked entries. Fill or remove them.")
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"weights must hold real numbers. Got dtype {array.dtype}.")
    array = array.astype(np.float64)
    check_finite(array, "weights")
    return array
