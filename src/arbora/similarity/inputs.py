"""What counts as a similarity where one is expected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from arbora._base.distributed import is_dask_frame
from arbora._base.types import Floats
from arbora.similarity._space import is_condensed, read_condensed, read_distances
from arbora.similarity.checks import check_covers
from arbora.similarity.graph import graph, is_network
from arbora.similarity.protocol import Similarity
from arbora.tree.same_order import check_same_order

if TYPE_CHECKING:
    from arbora.tree import Tree


def as_similarity(value: Any, argument: str = "similarity") -> Similarity:
    """The similarity given; a sparse adjacency or a networkx graph is one, a bare array could as well hold distances.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from arbora.similarity import as_similarity
    >>> as_similarity(sp.csr_array([[0.0, 1.0], [1.0, 0.0]]))
    GraphSimilarity(n_points=2, n_edges=1)
    """
    if isinstance(value, Similarity):
        return value
    if sp.issparse(value) or is_network(value) or is_dask_frame(value):
        return graph(value)
    raise TypeError(
        f"{argument} must be a similarity, a sparse adjacency, a networkx graph or a Dask frame of edges. "
        f"Got {type(value).__name__}. "
        f"Wrap a matrix of similarities with arbora.similarity.dense(W), "
        f"vectors with arbora.similarity.knn(X) or cosine(X)."
    )


def covering_similarity(value: Any, tree: Tree, argument: str = "similarity") -> Similarity:
    """The similarity given, refused unless it has one point per leaf, and where names say that they differ."""
    similarity = as_similarity(value, argument)
    check_covers(similarity, tree)
    check_same_order(tree, getattr(similarity, "names", None), argument)
    return similarity


def condensed_distances(data: Any, argument: str = "data") -> tuple[Floats, list[str] | None]:
    """Distances in SciPy's condensed form, as a copy that may be overwritten, and the names of the points."""
    if is_condensed(data):
        return read_condensed(data, argument), None
    distances, names = read_distances(data, argument)
    from scipy.spatial.distance import squareform

    return np.array(squareform(distances, checks=False)), names


__all__ = ["as_similarity", "condensed_distances", "covering_similarity", "is_condensed"]
