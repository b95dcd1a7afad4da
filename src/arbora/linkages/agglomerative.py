"""Agglomerative linkage of vectors, distances and similarities, through fastcluster."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from arbora._base.arrays import check_finite, is_dataset
from arbora._base.memory import refuse_if_too_large
from arbora.linkages.graph import GRAPH_METHODS, graph_linkage
from arbora.similarity import GraphSimilarity, Similarity
from arbora.similarity.features import checked_vectors
from arbora.similarity.graph import graph as graph_similarity
from arbora.tree import Tree

METHODS = ("single", "average", "complete", "weighted", "centroid", "median", "ward")
KINDS = ("auto", "vectors", "distances")
# what an array read from a file was said to be
_KIND_OF_DATASET = {"vectors": "vectors", "distances": "distances"}
_WITHOUT_MATRIX = ("single", "centroid", "median", "ward")  # fastcluster works on the vectors themselves
_EUCLIDEAN_ONLY = ("centroid", "median", "ward")
_INSTEAD = (
    "Use arbora.cluster(X) or arbora.linkage(arbora.similarity.knn(X)), which need memory proportional to n; "
    "for vectors also method='ward' or 'single'."
)


def linkage(data: Any, method: str = "average", *, metric: str = "euclidean", kind: str = "auto") -> Tree:
    """Agglomerative clustering: merge the two closest clusters until one is left.

    Parameters
    ----------
    data : array of vectors, similarity, sparse adjacency or networkx graph
        - An array of shape (n, d) holds vectors. A symmetric square array is refused, as it may be meant as
          similarities or as distances: say which with `similarity.dense(S)`, ``kind="distances"`` or
          ``kind="vectors"``.
        - A similarity from `arbora.similarity`. A graph (also a square sparse matrix or a networkx graph) is
          agglomerated without filling in absent edges, see `arbora.linkages.graph_linkage`. Any other is
          turned into distances ``c - similarity``, c the largest similarity but at least 1 (so 1 - S where
          S <= 1, as in HypHC's tables); Ward, centroid and median linkage take these for Euclidean distances.
    method : {"average", "single", "complete", "weighted", "centroid", "median", "ward", "paris"}
        How close two clusters are. For graphs: "average", "single", "complete" or "paris" (by degrees).
    metric : str
        Distance of vectors: "euclidean", "cosine" or another of `scipy.spatial.distance.pdist`. Centroid,
        median and Ward linkage need "euclidean".
    kind : {"auto", "vectors", "distances"}
        What an array holds. "distances": a square matrix, or SciPy's condensed form.

    Returns
    -------
    tree : Tree
        Binary, with heights: distances as in SciPy, or 1 / similarity for a graph.

    Raises
    ------
    TooLargeError
        When the n (n - 1) / 2 distances would not fit into memory. Vectors with method "single", "centroid",
        "median" or "ward" need none.

    Examples
    --------
    >>> import arbora as ab
    >>> ab.linkage([[0.0], [1.0], [5.0], [7.0]], "average").to_newick(lengths=False)
    '((0,1),(2,3));'
    >>> S = [[1.0, 0.9, 0.2], [0.9, 1.0, 0.4], [0.2, 0.4, 1.0]]
    >>> ab.linkage(ab.similarity.dense(S), "single").height[3:].round(6)
    array([0.1, 0.6])
    """
    _check_names(method, kind)
    if is_dataset(data):
        tree = linkage(data.as_input(), method, metric=metric, kind=_KIND_OF_DATASET.get(data.kind, kind))
        return tree if data.names is None else tree.replace(name=data.names)
    if kind == "distances":
        return _from_distances(_condensed_of_distances(data), method)
    if sp.issparse(data) or (hasattr(data, "adj") and hasattr(data, "is_directed")):
        data = _graph_of(data)
    if isinstance(data, Similarity) and data.csr is not None:
        return graph_linkage(data, method)
    if method == "paris":
        raise ValueError(
            'method="paris" is for graphs. Pass similarity.graph(A), or similarity.knn(X) for vectors.'
        )
    if isinstance(data, Similarity):
        return _from_distances(_condensed_of_similarity(data), method)
    vectors = checked_vectors(data, argument="data")
    if kind == "auto":
        _refuse_matrix(vectors)
    return _from_vectors(vectors, method, metric)


def _check_names(method: str, kind: str) -> None:
    known = (*METHODS, "paris")
    if method not in known:
        raise ValueError(f"method must be one of {known}. Got {method!r}.")
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {KINDS}. Got {kind!r}.")


def _graph_of(data: Any) -> GraphSimilarity:
    if sp.issparse(data) and data.shape[0] != data.shape[1]:
        raise ValueError(
            f"A sparse matrix is the adjacency of a graph here and must be square. Got shape {data.shape}. "
            f"For sparse vectors use linkage(similarity.knn(X)), or X.toarray()."
        )
    return graph_similarity(data)


def _refuse_matrix(vectors: NDArray[np.floating]) -> None:
    """A symmetric square array is hardly ever vectors; SciPy takes it as such without a word."""
    n, d = vectors.shape
    if (
        n == d
        and n > 1
        and np.allclose(vectors, vectors.T, rtol=1e-6, atol=1e-9 * float(np.abs(vectors).max()))
    ):
        raise ValueError(
            f"data is a symmetric {n} x {n} array: similarities, distances or vectors? Pass "
            f'similarity.dense(data), kind="distances" or kind="vectors" to say which.'
        )


def _from_vectors(vectors: NDArray[np.floating], method: str, metric: str) -> Tree:
    if metric != "euclidean" and method in _EUCLIDEAN_ONLY:
        raise ValueError(f'method={method!r} needs metric="euclidean". Got {metric!r}.')
    n = len(vectors)
    if n == 1:
        return _single_leaf()
    import fastcluster

    if method in _WITHOUT_MATRIX and metric == "euclidean":
        return Tree.from_linkage(fastcluster.linkage_vector(vectors, method))
    from scipy.spatial.distance import pdist

    _refuse_matrix_of_distances(n)
    try:
        distances = pdist(vectors, metric)
    except ValueError as error:
        raise ValueError(f"metric={metric!r} does not work for these vectors: {error}") from error
    if not np.isfinite(distances).all():
        raise ValueError(
            f"metric={metric!r} gives NaN for some pairs (for example the cosine of a row of zeros)."
        )
    return _from_distances(distances, method)


def _from_distances(condensed: NDArray[np.float64], method: str) -> Tree:
    """Consumes the distances."""
    if method not in METHODS:
        raise ValueError(f"method must be one of {METHODS} for distances. Got {method!r}.")
    if len(condensed) == 0:
        return _single_leaf()
    import fastcluster

    return Tree.from_linkage(fastcluster.linkage(condensed, method, preserve_input=False))


def _single_leaf() -> Tree:
    return Tree([-1], 1, height=[0.0])


def _refuse_matrix_of_distances(n: int) -> None:
    refuse_if_too_large(4 * n * (n - 1), f"The distances between {n} points", _INSTEAD)


def _condensed_of_distances(data: Any) -> NDArray[np.float64]:
    """Distances in SciPy's condensed form, as a copy that may be overwritten."""
    if sp.issparse(data) or not hasattr(data, "__len__"):
        raise TypeError(
            f'kind="distances" needs a full matrix or its condensed form. Got {type(data).__name__}.'
        )
    distances = np.asarray(data)
    if distances.dtype.kind not in "biuf":
        raise TypeError(f"data must hold real numbers. Got dtype {distances.dtype}.")
    if distances.ndim == 1:
        n = round((1 + np.sqrt(1 + 8 * len(distances))) / 2)
        if n * (n - 1) // 2 != len(distances):
            raise ValueError(f"Condensed distances have length n (n - 1) / 2. Got {len(distances)}.")
        distances = distances.astype(np.float64)
    else:
        distances = _condensed_of_square(distances)
    if len(distances):
        check_finite(distances, "data")
        if distances.min() < 0:
            raise ValueError(f"Distances must not be negative. The smallest is {distances.min():.6g}.")
    return distances


def _condensed_of_square(distances: NDArray) -> NDArray[np.float64]:
    if distances.ndim != 2 or distances.shape[0] != distances.shape[1] or len(distances) == 0:
        raise ValueError(f"Distances must be a square matrix or condensed. Got shape {distances.shape}.")
    _refuse_matrix_of_distances(len(distances))
    scale = float(np.abs(distances).max())
    if np.abs(np.diagonal(distances)).max() > 1e-9 * max(scale, 1.0):
        raise ValueError(
            "Distances must be 0 on the diagonal; this looks like similarities. Pass similarity.dense(data)."
        )
    if not np.allclose(distances, distances.T, rtol=1e-6, atol=1e-9 * max(scale, 1.0)):
        raise ValueError("Distances must be symmetric. Use (D + D.T) / 2 if that is what you mean.")
    return distances[np.triu_indices(len(distances), 1)].astype(np.float64)


def _condensed_of_similarity(similarity: Similarity) -> NDArray[np.float64]:
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
