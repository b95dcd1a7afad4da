"""Agglomerative linkage of vectors, distances and similarities, through fastcluster."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp

from arbora._base.arrays import as_matrix, as_vectors, is_cells, is_dataset
from arbora._base.memory import refuse_if_too_large
from arbora._base.params import check_choice
from arbora._base.threads import count_threads, in_background
from arbora._base.types import Floats
from arbora.linkages.graph import GRAPH_METHODS, GraphMethod, graph_linkage
from arbora.similarity import Similarity
from arbora.similarity.graph import graph, is_network
from arbora.similarity.inputs import condensed_distances, is_condensed
from arbora.tree import Tree

Method: TypeAlias = Literal[
    "single", "average", "complete", "weighted", "centroid", "median", "ward", "paris"
]
Kind: TypeAlias = Literal["auto", "vectors", "distances"]
METHODS = ("single", "average", "complete", "weighted", "centroid", "median", "ward")
KINDS = ("auto", "vectors", "distances")
# what an array read from a file was said to be
_KIND_OF_DATASET: dict[str, Kind] = {"vectors": "vectors", "distances": "distances"}
# fastcluster works on the vectors themselves
_WITHOUT_MATRIX = ("single", "centroid", "median", "ward")
_EUCLIDEAN_ONLY = ("centroid", "median", "ward")
# metrics that scale with the vectors: for others the vectors are not rescaled
_PROPORTIONAL = ("euclidean", "cityblock", "chebyshev", "minkowski")
# exponents of values whose squares and sums neither overflow nor vanish
_SAFE_EXPONENT = 400
# float64, written over by fastcluster
_BYTES_PER_PAIR = 8
_INSTEAD = (
    "Use arbora.cluster(X) or arbora.linkage(arbora.similarity.knn(X)), which need memory proportional to n; "
    "for vectors also method='ward' or 'single'."
)


def linkage(
    data: Any,
    method: Method = "average",
    *,
    metric: str | None = None,
    kind: Kind = "auto",
    n_jobs: int | None = None,
) -> Tree:
    """Agglomerative clustering: merge the two closest clusters until one is left.

    Parameters
    ----------
    data : array or data frame of vectors, similarity, sparse adjacency, networkx graph or tuple of edges
        - An array of shape (n, d) holds vectors. A symmetric square array is refused, as it may be meant as
          similarities or as distances: choose with `similarity.dense(S)`, ``metric="precomputed"`` or
          ``kind="vectors"``.
        - A similarity from `arbora.similarity`, or your own. A graph (also a square sparse matrix or a networkx
          graph) is agglomerated without filling in absent edges, see `arbora.linkages.graph_linkage`. Any other
          is turned into distances ``c - similarity``, c the largest similarity but at least 1 (so 1 - S where
          S <= 1, as in HypHC's tables); Ward, centroid and median linkage take these for Euclidean distances.
    method : {"average", "single", "complete", "weighted", "centroid", "median", "ward", "paris"}
        How close two clusters are. For graphs: "average", "single", "complete" or "paris" (by degrees).
    metric : str, optional
        Distance of vectors: "euclidean" (the default), "cosine" or another of `scipy.spatial.distance.pdist`.
        Centroid, median and Ward linkage need "euclidean". "precomputed": `data` holds distances, as with
        ``kind="distances"``. Refused for similarities and graphs, which have no metric.
    kind : {"auto", "vectors", "distances"}
        What an array holds. "distances": a square matrix, or SciPy's condensed form.
    n_jobs : int, optional
        Threads for average linkage and Paris of large graphs; by default all cores.

    Returns
    -------
    tree : Tree
        Binary, with heights: distances as in SciPy, or 1 / similarity for a graph. Leaves have the names that came
        with the data: the index of a data frame, the nodes of a networkx graph, the names of a similarity.

    Raises
    ------
    TooLargeError
        When the n (n - 1) / 2 distances would not fit into memory. Vectors with method "single", "centroid",
        "median" or "ward" need none.

    Notes
    -----
    Ctrl-C is answered at once; fastcluster then finishes in the background, and its memory is freed only then.

    Examples
    --------
    >>> import arbora as ab
    >>> ab.linkage([[0.0], [1.0], [5.0], [7.0]], "average").to_newick(lengths=False)
    '((0,1),(2,3));'
    >>> S = [[1.0, 0.9, 0.2], [0.9, 1.0, 0.4], [0.2, 0.4, 1.0]]
    >>> ab.linkage(ab.similarity.dense(S), "single").height[3:].round(6)
    array([0.1, 0.6])
    """
    check_choice(method, "method", (*METHODS, "paris"))
    check_choice(kind, "kind", KINDS)
    n_threads = count_threads(n_jobs)
    if is_cells(data):
        from arbora.reading import ReadOptions, read_data

        data = read_data(data, ReadOptions())
    if is_dataset(data):
        said = _KIND_OF_DATASET.get(data.kind, kind)
        tree = linkage(data.as_input(), method, metric=metric, kind=said, n_jobs=n_threads)
        return _named(tree, data.names)
    similarity = _similarity_of(data)
    if similarity is not None:
        _refuse_metric(metric, kind)
        return _named(_from_similarity(similarity, method, n_threads), similarity.names)
    if method == "paris":
        raise ValueError(
            'method="paris" is for graphs. Pass similarity.graph(A), or similarity.knn(X) for vectors.'
        )
    if metric is not None and not isinstance(metric, str):
        raise TypeError(f"metric must be the name of a metric. Got {metric!r}.")
    if kind == "distances" or metric == "precomputed":
        if kind == "vectors" or metric not in (None, "precomputed"):
            raise ValueError(f"data are distances and have no metric. Got metric={metric!r}, kind={kind!r}.")
        _refuse_too_many(data)
        condensed, names = condensed_distances(data, "data")
        return _named(_from_distances(condensed, method), names)
    return _from_vectors(data, method, "euclidean" if metric is None else metric, kind)


def _similarity_of(data: Any) -> Similarity | None:
    """The similarity or graph given; None where data are an array."""
    if isinstance(data, Similarity):
        return data
    if sp.issparse(data) and data.shape[0] != data.shape[-1]:
        raise ValueError(
            f"A sparse matrix is the adjacency of a graph here and must be square. Got shape {data.shape}. "
            f"For sparse vectors use linkage(similarity.knn(X)), or X.toarray()."
        )
    if sp.issparse(data) or is_network(data) or isinstance(data, tuple):
        return graph(data)
    return None


def _refuse_metric(metric: str | None, kind: Kind) -> None:
    if metric is not None or kind != "auto":
        raise ValueError(
            "metric and kind say what an array of vectors or distances means. Similarities and graphs have none. "
            f"Got metric={metric!r}, kind={kind!r}."
        )


def _from_similarity(similarity: Similarity, method: Method, n_threads: int) -> Tree:
    if similarity.csr is not None:
        graph_method: GraphMethod = check_choice(method, "method (for a graph)", GRAPH_METHODS)
        return graph_linkage(similarity, graph_method, n_jobs=n_threads)
    if method == "paris":
        raise ValueError(
            'method="paris" is for graphs. Pass similarity.graph(A), or similarity.knn(X) for vectors.'
        )
    return _from_distances(_condensed_of_similarity(similarity), method)


# ---- vectors -------------------------------------------------------------------------------------------------


def _from_vectors(data: Any, method: Method, metric: str, kind: Kind) -> Tree:
    if is_condensed(data):
        raise ValueError(
            f"data must have shape (n_points, n_features). Got {len(data)} numbers. Use data.reshape(-1, 1) for a "
            'single feature, and metric="precomputed" for condensed distances.'
        )
    matrix = as_matrix(data, argument="data")
    vectors = as_vectors(matrix.values, argument="data")
    if kind == "auto":
        _refuse_matrix(vectors)
    if metric != "euclidean" and method in _EUCLIDEAN_ONLY:
        raise ValueError(f'method={method!r} needs metric="euclidean". Got {metric!r}.')
    if len(vectors) == 1:
        return _named(_single_leaf(), matrix.row_names)
    vectors, exponent = _scaled(vectors) if metric in _PROPORTIONAL else (vectors, 0)
    if method in _WITHOUT_MATRIX and metric == "euclidean":
        import fastcluster

        tree = _tree(in_background(lambda: fastcluster.linkage_vector(vectors, method)), exponent)
    else:
        tree = _from_distances(_distances(vectors, metric), method, exponent)
    return _named(tree, matrix.row_names)


def _refuse_matrix(vectors: Floats) -> None:
    """A symmetric square array is hardly ever vectors; SciPy takes it as such without a warning."""
    n, d = vectors.shape
    if n != d or n < 2:
        return
    if np.allclose(vectors, vectors.T, rtol=1e-6, atol=1e-9 * float(np.abs(vectors).max())):
        raise ValueError(
            f"data is a symmetric {n} x {n} array: similarities, distances or vectors? Pass "
            f'similarity.dense(data), metric="precomputed" (or kind="distances") or kind="vectors" to say which.'
        )


def _distances(vectors: Floats, metric: str) -> Floats:
    from scipy.spatial.distance import pdist

    _refuse_matrix_of_distances(len(vectors))
    try:
        distances: Floats = in_background(lambda: pdist(vectors, metric))
    except (ValueError, TypeError) as error:
        raise ValueError(f"metric={metric!r} does not work for these vectors: {error}") from error
    # the largest is NaN where any is
    if not np.isfinite(distances.max()):
        reason = "the cosine of a row of zeros" if metric == "cosine" else "values too large for it"
        raise ValueError(f"metric={metric!r} gives NaN or infinity for some pairs (for example {reason}).")
    return distances


# ---- distances -----------------------------------------------------------------------------------------------


def _from_distances(condensed: Floats, method: Method, exponent: int = 0) -> Tree:
    """Consumes the distances, which are to be multiplied by a power of two."""
    if len(condensed) == 0:
        return _single_leaf()
    import fastcluster

    condensed, own = _scaled(condensed)
    given = _GivenAway(condensed)
    merges = in_background(lambda: fastcluster.linkage(given, method, preserve_input=False))
    return _tree(merges, exponent + own)


class _GivenAway:
    """An array that NumPy may take as it is: fastcluster copies what it is handed, which would double the memory."""

    def __init__(self, values: Floats) -> None:
        self._values = values

    def __array__(self, dtype: object = None, copy: bool | None = None) -> Floats:
        return self._values


def _scaled(values: Floats) -> tuple[Floats, int]:
    """The values, divided by a power of two where their squares would overflow or vanish; and its exponent."""
    # without a second array
    exponent = int(np.frexp(max(values.max(), -values.min()))[1])
    if abs(exponent) < _SAFE_EXPONENT:
        return values, 0
    return np.ldexp(values, -exponent), exponent


def _tree(merges: Floats, exponent: int) -> Tree:
    """The tree of SciPy's merges, whose heights are to be multiplied by a power of two."""
    if exponent:
        with np.errstate(over="ignore"):
            merges[:, 2] = np.minimum(np.ldexp(merges[:, 2], exponent), np.finfo(np.float64).max / 4)
    return Tree.from_linkage(merges)


def _named(tree: Tree, names: list[str] | None) -> Tree:
    return tree if names is None else tree.replace(name=names)


def _single_leaf() -> Tree:
    return Tree([-1], 1, height=[0.0])


def _refuse_matrix_of_distances(n: int) -> None:
    refuse_if_too_large(_BYTES_PER_PAIR * (n * (n - 1) // 2), f"The distances between {n} points", _INSTEAD)


def _refuse_too_many(data: Any) -> None:
    """The same for distances given; what they are is checked later."""
    shape: tuple[int, ...] = getattr(data, "shape", ())
    if len(shape) == 2 and shape[0] == shape[1]:
        _refuse_matrix_of_distances(shape[0])
    elif len(shape) == 1:
        refuse_if_too_large(_BYTES_PER_PAIR * shape[0], f"A copy of {shape[0]:,} distances", _INSTEAD)


def _condensed_of_similarity(similarity: Similarity) -> Floats:
    """All distances c - S, block by block; c is the largest similarity, but at least 1."""
    n = similarity.n_points
    _refuse_matrix_of_distances(n)
    condensed = np.empty(n * (n - 1) // 2)
    at = 0
    for points, rows in similarity.row_blocks():
        for point, row in zip(points.tolist(), rows):
            after = n - point - 1
            condensed[at : at + after] = row[n - after :]
            at += after
    np.subtract(max(1.0, condensed.max(initial=1.0)), condensed, out=condensed)
    return np.maximum(condensed, 0, out=condensed)


__all__ = ["GRAPH_METHODS", "METHODS", "linkage"]
