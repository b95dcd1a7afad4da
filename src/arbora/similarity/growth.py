"""Similarities that get more points: the old ones first, then the new.

A neighbor graph becomes the graph that a fit on all points would have had: new points also become neighbors of old ones
(`knn_growth`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from arbora._base.arrays import as_matrix, as_sparse, as_vectors, check_finite
from arbora._base.types import AnyFloats, RandomState
from arbora.similarity.dense import DenseSimilarity
from arbora.similarity.features import FeatureSimilarity
from arbora.similarity.gaussian import DistanceSimilarity, GaussianSimilarity
from arbora.similarity.graph import GraphSimilarity, graph
from arbora.similarity.knn import KnnSimilarity
from arbora.similarity.knn_growth import grown_knn
from arbora.similarity.protocol import Similarity


def grown(
    similarity: Similarity,
    X: Any,
    *,
    names: list[str] | None = None,
    n_neighbors: int | None = None,
    n_jobs: int | None = None,
    random_state: RandomState = None,
) -> Similarity:
    """The similarity of the old points followed by new ones.

    Parameters
    ----------
    similarity : similarity
        Of the old points.
    X : array-like or sparse matrix
        New points: vectors where the similarity was built from vectors. For `dense` and `graph`, one row per new
        point with its similarities to the old points, or to the old and the new: shape (m, n_points) or
        (m, n_points + m).
    names : list of str, optional
        Of the new points.
    n_neighbors : int, optional
        For neighbor graphs; by default as many as the similarity has.
    n_jobs, random_state
        As in `arbora.similarity.knn`.

    Examples
    --------
    >>> import arbora as ab
    >>> from arbora.similarity.growth import grown
    >>> grown(ab.similarity.knn([[0.0], [1.0], [5.0]], 1, "euclidean"), [[6.0]]).csr.toarray()[3]
    array([0., 0., 1., 0.], dtype=float32)
    """
    if isinstance(similarity, KnnSimilarity):
        found: Similarity = grown_knn(similarity, X, n_neighbors, n_jobs, random_state)
    elif isinstance(similarity, FeatureSimilarity):
        found = _grown_features(similarity, X)
    elif isinstance(similarity, GaussianSimilarity):
        vectors = np.vstack([similarity.X, similarity.place(X)])
        found = GaussianSimilarity(vectors, similarity.scale, similarity.metric)
    elif isinstance(similarity, GraphSimilarity):
        found = _grown_graph(similarity, X)
    elif isinstance(similarity, DistanceSimilarity):
        matrix = _grown_matrix(similarity.matrix, similarity.of_distances(X))
        found = DistanceSimilarity(matrix, similarity.scale)
    elif isinstance(similarity, DenseSimilarity):
        found = DenseSimilarity(_grown_matrix(similarity.matrix, as_matrix(X).values))
    else:
        raise TypeError(f"A {type(similarity).__name__} cannot grow: only those of arbora.similarity can.")
    n_new = found.n_points - similarity.n_points
    found.names = joined_names(similarity.names, names, similarity.n_points, n_new)
    return found


# ---- vectors -------------------------------------------------------------------------------------------------


def _grown_features(similarity: FeatureSimilarity, X: Any) -> FeatureSimilarity:
    features = np.vstack([similarity.features, similarity.features_of(X)])
    is_non_negative = similarity.affine or bool((features >= 0).all())
    return FeatureSimilarity(features, is_non_negative=is_non_negative, affine=similarity.affine)


# ---- similarities given --------------------------------------------------------------------------------------


def _grown_graph(similarity: GraphSimilarity, X: Any) -> GraphSimilarity:
    rows = as_sparse(X) if sp.issparse(X) else sp.csr_array(as_vectors(X))
    old, new = _old_and_new_columns(rows, similarity.n_points)
    whole = sp.block_array([[similarity.csr, old.T], [old, new]], format="csr")
    loops = np.concatenate([similarity.self_loops, np.zeros(rows.shape[0])])
    found = graph(whole)
    return GraphSimilarity(found.csr, loops + found.self_loops)


def _grown_matrix(matrix: AnyFloats, X: AnyFloats) -> AnyFloats:
    rows = X.astype(matrix.dtype, copy=False)
    check_finite(rows, "X")
    old, new = _old_and_new_columns(rows, len(matrix))
    if rows.size and rows.min() < 0:
        raise ValueError(f"X must hold similarities that are not negative. The smallest is {rows.min():.6g}.")
    if not np.allclose(new, new.T):
        raise ValueError("X must hold symmetric similarities of the new points to each other.")
    return np.block([[matrix, old.T], [old, new]])


def _old_and_new_columns(rows: Any, n_old: int) -> tuple[Any, Any]:
    """Similarities of the new points to the old and, where given, to each other."""
    n_new, n_columns = rows.shape
    if n_columns == n_old:
        nothing: Any = sp.csr_array((n_new, n_new)) if sp.issparse(rows) else np.zeros((n_new, n_new))
        return rows, nothing
    if n_columns != n_old + n_new:
        raise ValueError(
            f"X must hold similarities to the {n_old} points known, or to these and the {n_new} new ones: shape "
            f"({n_new}, {n_old}) or ({n_new}, {n_old + n_new}). Got {rows.shape}."
        )
    return rows[:, :n_old], rows[:, n_old:]


def joined_names(old: list[str] | None, new: list[str] | None, n_old: int, n_new: int) -> list[str] | None:
    """Names of old and new points; those without one are called by their number. None where none has one."""
    if old is None and new is None:
        return None
    numbers = [str(point) for point in range(n_old + n_new)]
    return [*(numbers[:n_old] if old is None else old), *(numbers[n_old:] if new is None else new)]
