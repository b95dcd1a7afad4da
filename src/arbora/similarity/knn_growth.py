"""Neighbor graphs that get more points.

Neighbors are searched for the new points alone: among the old ones and each other. An old point changes only where a
new one is nearer than the farthest neighbor it had. Which neighbors the old points have is read off the graph itself:
of a point's edges the shortest lead to its neighbors, the others are those by which it is a neighbor. So nothing has to
be kept for growing, and a model that was saved grows as well. What is done for all points (copies, weights, joining the
two directions of an edge) is linear in their number.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import scipy.sparse as sp

from arbora._base.random import seed_of
from arbora._base.threads import count_threads, limited_libraries
from arbora._base.types import Floats, Ints, RandomState
from arbora.similarity import _knn_kernels as kernels
from arbora.similarity import _neighbors
from arbora.similarity._duplicates import Groups, group_equal_rows
from arbora.similarity._more_rows import (
    can_take,
    in_reach,
    lengths_of_pairs,
    neighbors_of_new,
    with_more_rows,
)
from arbora.similarity._neighbors import NeighborIndex, Neighbors
from arbora.similarity._other_indices import SparseIndex
from arbora.similarity._space import Space
from arbora.similarity.knn import (
    KnnModel,
    KnnSimilarity,
    linked_neighbors,
    measured,
    weighted_neighbors,
)


def grown_knn(
    similarity: KnnSimilarity, X: Any, n_neighbors: int | None, n_jobs: int | None, random_state: RandomState
) -> KnnSimilarity:
    """The graph of the old points followed by new ones; parameters as in `growth.grown`."""
    index, known = similarity.model.index, similarity.vectors()
    if known is None:
        raise TypeError(
            'A neighbor graph of distances (metric="precomputed") cannot grow: its distances were not kept. Fit again.'
        )
    if not isinstance(index, (NeighborIndex, SparseIndex)):
        raise TypeError(f"A neighbor graph found by {type(index).__name__} cannot grow. Fit again.")
    space = copy.copy(similarity.model.space)
    placed = space.place(X)
    if isinstance(index, SparseIndex):
        new: Any = sp.csr_array(placed / index.unit)
        rows: Any = sp.csr_array(sp.vstack([known, new]))
    else:
        new = index.transform(placed)
        rows = np.vstack([known, new])
    space.n_points, space.names = int(rows.shape[0]), None
    wanted = similarity.n_neighbors if n_neighbors is None else n_neighbors
    k = min(wanted, space.n_points - 1)
    n_threads = count_threads(n_jobs)
    with limited_libraries(1, "blas"):
        groups = _groups(rows, k)
        n_different = len(similarity.model.groups.first)
        # one scale of all weights would change them all, and relative ones change with those of neighbors; with so few
        # points all were neighbors
        is_local = (
            similarity.weights not in ("heat", "relative") and k == similarity.n_neighbors < n_different - 1
        )
        # in the index's unit, rows of very different scales may be equal that were not
        is_local = is_local and np.array_equal(groups.group[: known.shape[0]], similarity.model.groups.group)
        unseen = rows[groups.first[n_different:]]
        if is_local and can_take(index, unseen, most_exact=_neighbors.EXACT_UP_TO):
            theirs = placed[groups.first[n_different:] - known.shape[0]]
            return _with_points(similarity, space, groups, index, theirs, unseen, n_threads)
        different = rows[groups.first]
        if isinstance(index, NeighborIndex):
            seed = seed_of(random_state) if len(groups.first) > _neighbors.EXACT_UP_TO else 0
            rebuilt: Any = index.with_points(different, seed=seed, n_threads=n_threads)
        else:
            rebuilt = SparseIndex(different, index.unit)
        return linked_neighbors(space, groups, rebuilt, k, similarity.weights, n_threads, lambda share: None)


def _groups(rows: Any, n_neighbors: int) -> Groups:
    """Equal points as one, unless every point is everybody's neighbor anyway."""
    n_points = rows.shape[0]
    if n_neighbors < n_points - 1:
        return group_equal_rows(rows)
    return Groups(np.arange(n_points), np.arange(n_points))


def _with_points(
    similarity: KnnSimilarity,
    space: Space,
    groups: Groups,
    index: NeighborIndex | SparseIndex,
    placed: Any,
    rows: Any,
    n_threads: int,
) -> KnnSimilarity:
    """The graph with points that differ from all old ones, given the space and the groups of all points."""
    k = similarity.n_neighbors
    near, distance = neighbors_in_graph(similarity)
    n_old, n_new = len(near), rows.shape[0]
    changed = np.empty(0, dtype=np.int64)
    if n_new:
        new, old, apart = in_reach(index, placed, rows, distance[:, -1], k, n_threads)
        changed = _take_in(near, distance, old, n_old + new, apart)
        theirs, their_distance = neighbors_of_new(index, placed, rows, k, n_threads)
        near, distance = np.vstack([near, theirs]), np.vstack([distance, their_distance])
        changed = np.concatenate([changed, np.arange(n_old, n_old + n_new)])
        index = with_more_rows(index, rows, n_threads)
    distance = measured(distance, similarity.metric)
    weighting = similarity.model.weighting.updated(distance, changed)
    model = KnnModel(space, groups, index, weighting, similarity.metric)
    return weighted_neighbors(model, near, distance, k)


def neighbors_in_graph(similarity: KnnSimilarity) -> Neighbors:
    """The neighbors by which a graph was built, of its points that differ: the shortest edges of each.

    Examples
    --------
    >>> import arbora as ab
    >>> from arbora.similarity.knn_growth import neighbors_in_graph
    >>> near, distance = neighbors_in_graph(ab.similarity.knn([[0.0], [1.0], [5.0], [6.0]], 1, "euclidean"))
    >>> near.ravel()
    array([1, 0, 3, 2])
    """
    groups, rows = similarity.model.groups, similarity.model.index.points()
    csr = similarity.csr[groups.first] if groups.has_duplicates else similarity.csr
    ends = groups.group[csr.indices]
    starts = np.repeat(np.arange(csr.shape[0]), np.diff(csr.indptr))
    length = lengths_of_pairs(rows, starts, rows, ends)
    near, distance = kernels.nearest_linked(csr.indptr.astype(np.int64), ends, length, similarity.n_neighbors)
    return near, distance


def _take_in(near: Ints, distance: Floats, who: Ints, new: Ints, apart: Floats) -> Ints:
    """Put new points into the lists of those that they are near to, instead of the farthest; whose lists changed."""
    changed, row = np.unique(who, return_inverse=True)
    by_row = np.argsort(row, kind="stable")
    place = np.arange(len(who)) - np.searchsorted(row[by_row], row[by_row])
    k, most = near.shape[1], int(place.max(initial=-1)) + 1
    all_near = np.full((len(changed), k + most), np.iinfo(np.int64).max)
    all_distance = np.full(all_near.shape, np.inf)
    all_near[:, :k], all_distance[:, :k] = near[changed], distance[changed]
    all_near[row[by_row], k + place] = new[by_row]
    all_distance[row[by_row], k + place] = apart[by_row]
    best = np.lexsort((all_near, all_distance), axis=1)[:, :k]
    near[changed] = np.take_along_axis(all_near, best, axis=1)
    distance[changed] = np.take_along_axis(all_distance, best, axis=1)
    return changed
