"""Edges of a graph in shards: a Dask frame, or files of edges, and what single shards answer.

An edge is a pair of node numbers and a weight. It may come in either direction and in several pieces, which add up, as
in `arbora.similarity.graph`. Sums are exact (`arbora._base.exact_sums`): how edges are divided changes no digit.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from arbora._base.distributed import is_dask_frame, workers_for
from arbora._base.exact_sums import in_levels, sum_by_key
from arbora._base.optional import require
from arbora._base.row_parts import reading
from arbora._base.types import Floats, Ints
from arbora.errors import FormatError, MissingFileError

_COLUMNS = ("source", "target", "weight")
_PARQUET = (".parquet", ".pq")


class Edges(NamedTuple):
    """Ends and weights: ``low <= high``."""

    low: Ints
    high: Ints
    weight: Floats

    def where(self, kept: NDArray[np.bool_]) -> Edges:
        """Some of the edges."""
        return Edges(self.low[kept], self.high[kept], self.weight[kept])

    @property
    def keys(self) -> NDArray[np.uint64]:
        """One number per pair of ends."""
        return (self.low.astype(np.uint64) << np.uint64(32)) | self.high.astype(np.uint64)


class ShardFacts(NamedTuple):
    """What must be known about all edges before anything else."""

    n_edges: int
    n_points: int
    largest: float


# ---- opening -------------------------------------------------------------------------------------------------


def are_shards(data: Any) -> bool:
    """Whether data are edges in shards: a Dask frame, or a path."""
    return is_dask_frame(data) or isinstance(data, (str, Path))


def open_shards(data: Any) -> list[Any]:
    """One delayed `Edges` per partition of a frame or per file of a directory."""
    delayed = require("dask", "Edges in shards").delayed
    if is_dask_frame(data):
        workers_for(data)
        _check_columns([str(name) for name in data.columns], "The frame of edges")
        return [
            delayed(_of_frame)(part, f"Partition {number} of the edges")
            for number, part in enumerate(data.to_delayed())
        ]
    return [delayed(_of_file)(str(path)) for path in _files(Path(data))]


def _check_columns(names: list[str], what: str) -> None:
    if names not in (list(_COLUMNS), list(_COLUMNS[:2])):
        raise ValueError(
            f"{what} must have the columns source, target and, where edges have one, weight. Got {', '.join(names)}. "
            "Select and rename them: edges[[...]].rename(columns=...)."
        )


def _files(path: Path) -> list[Path]:
    if not path.exists():
        raise MissingFileError(f"Text is taken for the path of edges, but there is nothing at {str(path)!r}.")
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    found = [file for file in files if file.suffix == ".npy"] or [
        file for file in files if file.suffix in _PARQUET
    ]
    if not found:
        raise FormatError(
            f"{str(path)!r} holds no .npy or .parquet files of edges. Each has the columns source, target and weight."
        )
    return found


def _of_frame(frame: Any, what: str) -> Edges:
    return _edges([frame[name].to_numpy() for name in frame.columns], what)


def _of_file(path: str) -> Edges:
    with reading(repr(path)):
        if path.endswith(".npy"):
            table = np.load(path, mmap_mode="r", allow_pickle=False)
            columns = list(table.T) if table.ndim == 2 else []
        else:
            parquet = require("pyarrow.parquet", "Reading Parquet files").read_table(path)
            names, columns = parquet.column_names, [column.to_numpy() for column in parquet.columns]
    if not path.endswith(".npy"):
        _check_columns([str(name) for name in names], repr(path))
    if len(columns) not in (2, 3):
        raise FormatError(
            f"{path!r} must have shape (n_edges, 2) or (n_edges, 3): ends and weights of edges."
        )
    return _edges(columns, repr(path))


def _edges(columns: list[NDArray[Any]], what: str) -> Edges:
    """Checked edges of two or three columns."""
    ends = [_node_numbers(column, what) for column in columns[:2]]
    weight = np.asarray(columns[2]) if len(columns) == 3 else np.ones(len(ends[0]))
    if weight.dtype.kind not in "biuf":
        raise ValueError(f"{what}: weights must be real numbers. Got dtype {weight.dtype}.")
    weight = weight.astype(np.float64)
    if not np.isfinite(weight).all():
        row = int(np.argmin(np.isfinite(weight)))
        raise ValueError(f"{what}: weights must be finite. Row {row} holds {weight[row]}. Remove it.")
    if len(weight) and weight.min() < 0:
        raise ValueError(f"{what}: edge weights must not be negative. The smallest is {weight.min():.6g}.")
    return Edges(np.minimum(*ends), np.maximum(*ends), weight)


def _node_numbers(column: NDArray[Any], what: str) -> Ints:
    ends = np.asarray(column)
    if ends.dtype.kind == "f" and np.array_equal(ends, np.floor(ends)):
        ends = ends.astype(np.int64)
    if ends.dtype.kind not in "iu":
        raise ValueError(
            f"{what}: ends of edges must be whole numbers from 0. Got dtype {ends.dtype}. Number the nodes first, for "
            "instance with pandas.factorize."
        )
    if len(ends) and not 0 <= int(ends.min()) <= int(ends.max()) < 2**32:
        raise ValueError(
            f"{what}: ends of edges must lie in [0, 2**32). Got {ends.min()}..{ends.max()}. Number the nodes from 0."
        )
    return ends.astype(np.int64)


# ---- what shards answer --------------------------------------------------------------------------------------


def facts_of(edges: Edges) -> ShardFacts:
    """Facts of one shard."""
    largest = float(edges.weight.max(initial=0.0))
    return ShardFacts(len(edges.weight), int(edges.high.max(initial=-1)) + 1, largest)


def loops_of(edges: Edges, n_points: int, by: Floats) -> Floats:
    """Sums of the self-loops of each point, in levels."""
    own = edges.low == edges.high
    return sum_by_key(edges.low[own], in_levels(edges.weight[own], by), n_points)


def degrees_of(edges: Edges, n_points: int, by: Floats) -> Floats:
    """Sums of the weights at each point, in levels; self-loops count twice."""
    levels = in_levels(edges.weight, by)
    return sum_by_key(edges.low, levels, n_points) + sum_by_key(edges.high, levels, n_points)


def cross_of(edges: Edges, tree: Any, by: Floats) -> Floats:
    """Sums of the weights that meet at each internal node of a tree, in levels."""
    own = edges.low == edges.high
    node = np.where(own, tree.parent[edges.low], tree.lca(edges.low, edges.high))
    return sum_by_key(node - tree.n_leaves, in_levels(edges.weight, by), tree.n_internal)


def weights_of_pairs(edges: Edges, keys: NDArray[np.uint64], by: Floats) -> Floats:
    """Sums of the weights of some pairs, whose keys are given ascending, in levels."""
    place = np.searchsorted(keys, edges.keys)
    place[place == len(keys)] = 0
    known = keys[place] == edges.keys if len(keys) else np.zeros(len(place), bool)
    return sum_by_key(place[known], in_levels(edges.weight[known], by), len(keys))


def product_of(edges: Edges, x: Floats) -> Floats:
    """Sum over the neighbors j of each point i of weight(i, j) x[j], self-loops left out."""
    matrix = adjacency_of([without_loops(edges)], len(x))
    return np.asarray(matrix @ x)


def neighbors_of(edges: Edges, points: Ints, n_points: int) -> Edges:
    """Edges of which at least one end is among the points."""
    wanted = np.zeros(n_points, bool)
    wanted[points] = True
    kept = wanted[edges.low] | wanted[edges.high]
    return edges.where(kept)


def edges_among(edges: Edges, points: Ints, n_points: int) -> Edges:
    """Edges both of whose ends are among the points, with the places of the points as ends."""
    place = np.full(n_points, -1)
    place[points] = np.arange(len(points))
    low, high = place[edges.low], place[edges.high]
    kept = (low >= 0) & (high >= 0)
    return Edges(np.minimum(low, high)[kept], np.maximum(low, high)[kept], edges.weight[kept])


def without_loops(edges: Edges) -> Edges:
    """The edges between different points."""
    kept = edges.low != edges.high
    return edges.where(kept)


def joined_edges(parts: list[Edges]) -> Edges:
    """All edges of several shards; the pieces of one edge become one."""
    low, high, weight = (np.concatenate(fields) for fields in zip(*parts))
    order = np.lexsort((weight, high, low))
    low, high, weight = low[order], high[order], weight[order]
    first = np.flatnonzero(np.diff(low, prepend=-1) | np.diff(high, prepend=-1))
    return Edges(low[first], high[first], np.add.reduceat(weight, first) if len(first) else weight)


def mixed(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Numbers that look random, one per key."""
    return keys * np.uint64(0x9E3779B97F4A7C15)


def bucket_of(keys: NDArray[np.uint64], n_buckets: int) -> Ints:
    """Which of `n_buckets` buckets pairs belong to."""
    return ((mixed(keys) >> np.uint64(40)) % np.uint64(n_buckets)).astype(np.int64)


def in_buckets(edges: Edges, n_buckets: int) -> list[Edges]:
    """The edges by the bucket that they belong to."""
    bucket = bucket_of(edges.keys, n_buckets)
    return [edges.where(bucket == number) for number in range(n_buckets)]


def adjacency_of(parts: list[Edges], n_points: int) -> sp.csr_array:
    """Symmetric matrix of the edges between different points."""
    edges = without_loops(joined_edges(parts))
    ends = np.concatenate([edges.low, edges.high]), np.concatenate([edges.high, edges.low])
    both = sp.coo_array((np.concatenate([edges.weight] * 2), ends), shape=(n_points, n_points))
    matrix = sp.csr_array(both)
    matrix.sort_indices()
    return matrix
