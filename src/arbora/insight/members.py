"""The most and the least typical members of clusters, by the similarity that a tree was built on."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from arbora._base.params import check_whole
from arbora._base.types import Floats, Ints
from arbora.similarity import Similarity, as_similarity
from arbora.similarity.checks import check_points

# Clusters whose sums are taken in one pass over the similarity.
_BLOCK = 64
# Points whose similarity to all others is read at once.
_ROWS_AT_ONCE = 256


class Similar(NamedTuple):
    """A point, and how similar it is to the one asked about.

    Examples
    --------
    >>> import arbora as ab
    >>> ab.insight.similar(ab.similarity.graph(([0], [1])), [0])[0][0]
    Similar(point=1, similarity=1.0)
    """

    point: int
    similarity: float


def exemplars(similarity: Similarity, labels: ArrayLike, n_exemplars: int = 5) -> dict[int, Ints]:
    """The members of each cluster that are most alike to its other members, most central first.

    Parameters
    ----------
    similarity : similarity
    labels : array-like of int, shape (n_points,)
        Clusters; points labeled -1 belong to none.
    n_exemplars : int

    Examples
    --------
    >>> import arbora as ab
    >>> star = ab.similarity.graph(([0, 0, 0, 4], [1, 2, 3, 5]))
    >>> ab.insight.exemplars(star, [0, 0, 0, 0, 1, 1], 1)
    {0: array([0]), 1: array([4])}
    """
    n_exemplars = check_whole(n_exemplars, "n_exemplars")
    given, inside = _inside(similarity, labels)
    found = {}
    for label in np.unique(given[given >= 0]):
        members = np.flatnonzero(given == label)
        found[int(label)] = members[np.argsort(-inside[members], kind="stable")[:n_exemplars]]
    return found


def outlier_scores(similarity: Similarity, labels: ArrayLike) -> Floats:
    """How poorly each point fits into its cluster: the share of its similarity that goes elsewhere.

    Between 0 and 1; 1 for points that resemble nothing in their cluster, and for those labeled -1.

    Examples
    --------
    >>> import arbora as ab
    >>> path = ab.similarity.graph(([0, 1, 2], [1, 2, 3]))
    >>> ab.insight.outlier_scores(path, [0, 0, 1, 1])
    array([0. , 0.5, 0.5, 0. ])
    """
    given, inside = _inside(similarity, labels)
    degrees = np.asarray(similarity.degrees, dtype=np.float64)
    share = np.divide(inside, degrees, out=np.zeros(len(inside)), where=degrees > 0)
    return np.where(given >= 0, np.clip(1 - share, 0.0, 1.0), 1.0)


def similar(similarity: Any, points: ArrayLike, n_similar: int = 5) -> list[list[Similar]]:
    """The points that each of some points is most similar to, by the similarity that a tree was built on.

    Parameters
    ----------
    similarity : similarity, sparse adjacency or networkx graph
        For instance ``TreeClustering.similarity_``. For new vectors see its ``query``.
    points : array-like of int
        Numbers of leaves.
    n_similar : int
        At most this many for each. Points without any similarity are left out.

    Returns
    -------
    list of lists of Similar
        For each point the most similar first; among equals the smaller number first.

    Examples
    --------
    >>> import arbora as ab
    >>> X = [[0.0, 1.0], [0.1, 1.0], [0.3, 1.0], [1.0, 0.0]]
    >>> found = ab.insight.similar(ab.similarity.gaussian(X, scale=1.0), [0], n_similar=2)
    >>> [one.point for one in found[0]]
    [1, 2]
    """
    known = as_similarity(similarity, "similarity")
    asked = check_points(points, known.n_points)
    count = check_whole(n_similar, "n_similar")
    found = []
    for first in range(0, len(asked), _ROWS_AT_ONCE):
        some = asked[first : first + _ROWS_AT_ONCE]
        if known.csr is None:
            rows = known.rows(some)
            found += [
                _largest(np.arange(known.n_points), row, point, count) for row, point in zip(rows, some)
            ]
        else:
            rows = known.csr[some]
            ends = zip(rows.indptr[:-1], rows.indptr[1:], some, strict=True)
            found += [_largest(rows.indices[a:b], rows.data[a:b], point, count) for a, b, point in ends]
    return found


def _largest(points: Ints, values: Floats, own: int, count: int) -> list[Similar]:
    """The points with the largest values, without the point itself."""
    real = (points != own) & (values > 0)
    points, values = points[real], values[real]
    best = np.lexsort((points, -values))[:count]
    return [Similar(int(points[k]), float(values[k])) for k in best]


def _inside(similarity: Similarity, labels: ArrayLike) -> tuple[Ints, Floats]:
    """Labels, checked, and the similarity of each point to the members of its own cluster."""
    given = np.asarray(labels)
    if given.shape != (similarity.n_points,) or given.dtype.kind not in "iu":
        raise ValueError(
            f"labels must hold one whole number per point, {similarity.n_points}. "
            f"Got shape {given.shape}, dtype {given.dtype}."
        )
    inside = np.zeros(len(given))
    known = np.unique(given[given >= 0])
    for first in range(0, len(known), _BLOCK):
        block = known[first : first + _BLOCK]
        member = (given[:, None] == block).astype(np.float64)
        inside += np.einsum("nk,nk->n", similarity.multiply(member), member)
    return given.astype(np.int64), inside
