"""Neighbors in a part of a larger set of vectors, for graphs that no single machine holds."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from arbora._base.threads import limited_libraries
from arbora._base.types import Ints
from arbora.similarity._cells import kmeans_centers, nearest_centers
from arbora.similarity._duplicates import Groups, group_equal_rows, link_groups
from arbora.similarity._neighbors import NeighborIndex
from arbora.similarity._weights import Weighting, join_directions, rows_of_neighbors
from arbora.similarity.knn import measured


def neighbor_edges(
    rows: NDArray[np.float32], n_own: int, n_neighbors: int, metric: str, seed: int
) -> sp.csr_array:
    """Edges of the first `n_own` rows to their neighbors among all rows, weighted as in `knn`: csr[n_own, n_rows].

    The rows are those of a part, and after them those of other parts that may be neighbors of them. For the cosine they
    have length 1. Equal rows must all be there. The array is overwritten: memory may not hold a second copy.

    Examples
    --------
    >>> import numpy as np
    >>> from arbora.similarity.part_neighbors import neighbor_edges
    >>> rows = np.array([[0.0], [5.0], [1.0], [6.0]], dtype=np.float32)
    >>> neighbor_edges(rows, 2, 1, "euclidean", seed=0).toarray()
    array([[0., 0., 1., 0.],
           [0., 0., 0., 1.]], dtype=float32)
    """
    with limited_libraries(1, "blas"):
        groups = group_equal_rows(rows)
        # groups are numbered by their first row, so that those of own rows come first
        n_wanted = int(groups.group[:n_own].max()) + 1
        different = rows[groups.first] if groups.has_duplicates else rows
        index = NeighborIndex(different, centered=False, seed=seed, n_threads=1, overwrite=True)
        near, distance = index.neighbors(min(n_neighbors, len(groups.first) - 1), 1, n_wanted=n_wanted)
    distance = measured(distance, metric)
    weight = Weighting("fuzzy", distance).of_own(distance)
    if not groups.has_duplicates:
        return rows_of_neighbors(near, weight, len(rows))
    return _edges_of_groups(groups, near, weight, n_own, n_neighbors)


def _edges_of_groups(groups: Groups, near: Ints, weight: Any, n_own: int, n_neighbors: int) -> sp.csr_array:
    """The edges of own rows, given those of the groups that own rows are in; others have none."""
    n_others = len(groups.first) - len(near)
    all_near = np.concatenate([near, np.zeros((n_others, near.shape[1]), dtype=near.dtype)])
    all_weight = np.concatenate([weight, np.zeros((n_others, near.shape[1]), dtype=weight.dtype)])
    edges = sp.csr_array(link_groups(groups, all_near, all_weight, n_neighbors)[:n_own])
    edges.sort_indices()
    return edges


__all__ = ["join_directions", "kmeans_centers", "nearest_centers", "neighbor_edges"]
