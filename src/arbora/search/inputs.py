"""What a user gave to cluster: a similarity, a graph or vectors, decided and checked once.

Nothing is guessed. A square sparse matrix that equals its mirror is the adjacency of a graph; one that does not, a
square symmetric array and rows of class probabilities can each mean two things, and are refused with both named.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from arbora._base.arrays import (
    as_matrix,
    as_sparse,
    as_vectors,
    frame_columns,
    is_cells,
    is_dataset,
    row_names,
)
from arbora._base.collecting import Collected, collect
from arbora._base.progress import ProgressCallback, silent
from arbora._base.rows import is_in_pieces, open_rows
from arbora._base.types import RandomState
from arbora.similarity import Similarity, all_pairs, are_few, cosine, graph
from arbora.similarity.graph import is_network
from arbora.similarity.knn import knn_of
from arbora.similarity.protocol import is_similarity

Metric: TypeAlias = Literal["auto", "cosine", "euclidean", "precomputed"]
SettledMetric: TypeAlias = Literal["cosine", "euclidean", "precomputed"]
SimilarityKind: TypeAlias = Literal["auto", "knn", "cosine"]
Direction: TypeAlias = Literal["sum", "max", "mean"]

METRICS = ("auto", "cosine", "euclidean", "precomputed")
SIMILARITY_KINDS = ("auto", "knn", "cosine")
DIRECTIONS = ("sum", "max", "mean")
# Rows by which class probabilities are recognized.
_PROBED_ROWS = 1000
_INSTEAD = (
    "Store them as float32, pass fewer rows or columns, or a Dask array, whose rows stay on its cluster."
)


class Input(NamedTuple):
    """Data that can be clustered, with the names that came with them."""

    kind: Literal["similarity", "graph", "vectors", "distances"]
    values: Any
    names: list[str] | None
    n_points: int
    description: str
    # names of the columns, where rows that are read in pieces bring them
    column_names: list[str] | None = None
    # whether nothing else uses the values, so that they may be overwritten
    is_own: bool = False


def read_input(
    data: Any,
    similarity: SimilarityKind = "auto",
    directed: Direction | None = None,
    *,
    metric: Metric = "auto",
    argument: str = "data",
    progress: ProgressCallback = silent,
) -> Input:
    """What was given, checked; nothing of the caller's is changed.

    Rows that are read in pieces (paths, memory maps, stores, iterators of chunks) are collected in one array.
    """
    if is_cells(data):
        from arbora.reading import ReadOptions, read_data

        data = read_data(data, ReadOptions())
    if is_dataset(data):
        return _read_dataset(data, similarity, directed, metric, argument)
    if is_similarity(data):
        return Input("similarity", data, data.names, data.n_points, f"similarity of {data.n_points:,} points")
    if metric == "precomputed":
        return _read_distances(data, argument, progress)
    if isinstance(data, tuple) or is_network(data):
        return _read_graph(data, directed)
    if sp.issparse(data):
        return _read_sparse(data, similarity, directed, argument)
    if directed is not None:
        raise ValueError(f"directed applies to graphs. {argument} is an array of vectors.")
    given = _read_vectors(data, argument, progress)
    if similarity == "auto":
        _refuse_ambiguous(given.values, argument)
    return given


def _read_vectors(data: Any, argument: str, progress: ProgressCallback) -> Input:
    if is_in_pieces(data) and frame_columns(data) is None:
        found = collected(data, argument, progress)
        given = vectors_input(found.values, None)
        return given._replace(column_names=found.column_names, is_own=found.is_own)
    matrix = as_matrix(data, argument=argument)
    return vectors_input(as_vectors(matrix.values, argument=argument, dtype=None), matrix.row_names)


def collected(data: Any, argument: str, progress: ProgressCallback = silent) -> Collected:
    """Rows that are read in pieces, all of them."""
    found = collect(
        open_rows(data, argument=argument), argument=argument, instead=_INSTEAD, progress=progress
    )
    if 0 in found.values.shape:
        # refused as an empty array is
        as_vectors(found.values, argument=argument)
    return found


def _read_dataset(
    data: Any, similarity: SimilarityKind, directed: Direction | None, metric: Metric, argument: str
) -> Input:
    """What `arbora.read` found, which already says what it is."""
    if data.kind == "distances":
        return _read_distances(data.values, argument, silent)._replace(names=data.names)
    if data.kind == "vectors" and similarity == "auto":
        # a square matrix of vectors is not mistaken for another kind
        similarity = "knn"
    found = read_input(data.as_input(), similarity, directed, metric=metric, argument=argument)
    return found._replace(names=data.names)


def compare(
    given: Input,
    *,
    metric: SettledMetric,
    similarity: SimilarityKind,
    n_neighbors: int,
    n_jobs: int,
    random_state: RandomState,
    progress: Callable[[float], None],
    overwrite: bool = False,
) -> Similarity:
    """The similarity by which the tree is built; it may take the memory of the vectors for its own."""
    if given.kind in ("similarity", "graph"):
        found: Similarity = given.values
        return found
    if similarity == "cosine":
        found = cosine(given.values)
    elif similarity == "auto" and are_few(given.n_points, n_neighbors):
        found = all_pairs(given.values, metric)
    else:
        found = knn_of(
            given.values,
            n_neighbors,
            metric="precomputed" if given.kind == "distances" else metric,
            n_jobs=n_jobs,
            random_state=random_state,
            progress=lambda stage, done, total: progress(done),
            overwrite=overwrite,
        )
    found.names = given.names
    return found


def new_rows(X: Any, *, argument: str = "X") -> tuple[Any, list[str] | None]:
    """Rows of new points: sparse as they are, everything else as an array of finite numbers.

    With the names of the columns where rows that are read in pieces bring them.
    """
    if is_dataset(X) and X.kind == "vectors":
        X = X.values
    if sp.issparse(X):
        return as_sparse(X, argument=argument), None
    if is_in_pieces(X) and frame_columns(X) is None:
        found = collected(X, argument)
        return found.values, found.column_names
    return as_vectors(X, argument=argument, dtype=None), None


# ---- graphs --------------------------------------------------------------------------------------------------


def _read_graph(data: Any, directed: Direction | None) -> Input:
    if is_network(data) and len(data) == 0:
        raise ValueError("The graph has no nodes.")
    found = graph(data, directed=directed)
    words = f"graph of {found.n_points:,} nodes and {found.n_edges:,} edges"
    return Input("graph", found, found.names, found.n_points, words)


def _read_sparse(data: Any, similarity: SimilarityKind, directed: Direction | None, argument: str) -> Input:
    """A sparse matrix: vectors where it is not square or the call says so, else a graph or refused."""
    rows = as_sparse(data, argument=argument)
    if directed is not None:
        return _read_graph(rows, directed)
    if similarity != "auto" or rows.shape[0] != rows.shape[1]:
        return vectors_input(rows, None)
    if _is_symmetric(rows):
        return _read_graph(rows, None)
    raise ValueError(
        f"{argument} is a square sparse matrix that is not symmetric. If it is a directed graph, choose how to join "
        'the two directions: directed="sum", "max" or "mean". If its rows are vectors, pass similarity="knn".'
    )


def _is_symmetric(matrix: sp.csr_array) -> bool:
    gap = abs(matrix - matrix.T)
    return gap.nnz == 0 or bool(gap.max() <= 1e-9 * abs(matrix).max())


# ---- vectors -------------------------------------------------------------------------------------------------


def vectors_input(rows: Any, names: list[str] | None) -> Input:
    """Vectors that were checked already."""
    n, d = rows.shape
    return Input("vectors", rows, names, int(n), f"{n:,} vectors of {d:,} features")


# ---- distances -----------------------------------------------------------------------------------------------


def _read_distances(data: Any, argument: str, progress: ProgressCallback) -> Input:
    """A square matrix of distances, or SciPy's condensed form; `knn` checks the values."""
    if isinstance(data, tuple) or is_network(data) or sp.issparse(data):
        raise TypeError(
            f'metric="precomputed" takes distances, a full square matrix or its condensed form. {argument} is a '
            f"{type(data).__name__}; a graph of similarities needs no metric."
        )
    if is_in_pieces(data) and getattr(data, "ndim", 2) == 2 and frame_columns(data) is None:
        data = collected(data, argument, progress).values
    shape = np.shape(data)
    if len(shape) not in (1, 2) or 0 in shape:
        raise ValueError(f"{argument} must hold distances, square or condensed. Got shape {shape}.")
    n_points = shape[0] if len(shape) == 2 else round((1 + np.sqrt(1 + 8 * shape[0])) / 2)
    return Input("distances", data, row_names(data), int(n_points), f"distances between {n_points:,} points")


def _refuse_ambiguous(rows: NDArray[np.floating[Any]], argument: str) -> None:
    n, d = rows.shape
    if n == d and n > 2 and np.allclose(rows, rows.T):
        raise ValueError(
            f"{argument} is a square symmetric array: similarities, distances or vectors? Pass "
            'arbora.similarity.dense(W) for similarities W, arbora.similarity.knn(D, metric="precomputed") for '
            'distances D; to cluster the rows as vectors pass similarity="knn".'
        )
    if d > 2 and n > d and _looks_like_class_scores(rows):
        raise ValueError(
            f"The rows of {argument} are probabilities or log-probabilities of classes. For a tree over the "
            'classes use arbora.L2H; to cluster the rows as vectors pass similarity="knn".'
        )


def _looks_like_class_scores(rows: NDArray[np.floating[Any]]) -> bool:
    """Rows that sum to 1, or whose exponentials do."""
    probe = rows[:: max(1, len(rows) // _PROBED_ROWS)]
    if probe.min() >= 0:
        return bool(np.allclose(probe.sum(axis=1), 1, atol=1e-3))
    return bool(probe.max() <= 1e-6 and np.allclose(np.exp(probe).sum(axis=1), 1, atol=1e-3))
