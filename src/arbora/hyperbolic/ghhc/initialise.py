"""Where the nodes start: leaves chosen among the data, a hierarchy over them, embedded in the ball."""

from __future__ import annotations

import fastcluster
import numpy as np
from scipy.spatial.distance import pdist

from arbora.hyperbolic.ghhc import seeding
from arbora.hyperbolic.ghhc.distances import Floats
from arbora.hyperbolic.ghhc.model import Ints


def initial_nodes(
    points: Floats,
    n_internal: int,
    rng: np.random.Generator,
    *,
    leaves: str = "k-means++",
    norms: str = "centroid",
    linkage: str = "ward",
    n_sweeps: int = 10,
) -> Floats:
    """Nodes of a binary hierarchy with at most `n_internal` nodes, leaves first, then in order of merging.

    Leaves are chosen among `points` (`leaves`: ``"k-means++"``, ``"farthest"``, ``"random"``), moved to the means
    of their surroundings by `n_sweeps` of Lloyd's algorithm, and merged by agglomerative `linkage`. A node is the
    average of its descendants; see `place` for its norm.

    Examples
    --------
    >>> import numpy as np
    >>> from arbora.hyperbolic.ghhc.initialise import initial_nodes
    >>> angle = np.linspace(0, 6, 40)
    >>> points = 0.9 * np.column_stack([np.cos(angle), np.sin(angle)])
    >>> initial_nodes(points, 15, np.random.default_rng(0)).shape
    (15, 2)
    """
    n_leaves = max(1, min((n_internal + 1) // 2, len(points)))
    rows = seeding.SEEDINGS[leaves](points, n_leaves, rng)
    means, nearest = seeding.move_to_means(points, points[rows], n_sweeps)
    radius = float(np.sqrt(np.einsum("nd,nd->n", points, points).max()))
    if n_sweeps:
        averages, size = seeding.group_means(points, nearest, n_leaves)
        averages = np.where(size[:, None] > 0, averages, means)
        size = np.maximum(size, 1)
    else:
        averages, size = means, np.ones(n_leaves, np.int64)
    merges = merge_order(averages, linkage)
    averages = _averages(averages, size, merges)
    return place(averages, n_leaves, radius, norms)


def merge_order(leaves: Floats, linkage: str) -> Ints:
    """Pairs merged by agglomerative clustering, in order, numbered as in SciPy: int64[n_leaves - 1, 2]."""
    if len(leaves) == 1:
        return np.empty((0, 2), np.int64)
    if linkage in ("ward", "centroid", "median", "single"):  # from vectors: no n² memory
        result = fastcluster.linkage_vector(leaves, method=linkage)
    else:
        result = fastcluster.linkage(pdist(leaves), method=linkage, preserve_input=False)
    return result[:, :2].astype(np.int64)


def _averages(leaves: Floats, size: Ints, merges: Ints) -> Floats:
    """Leaves, then every merged node as the average of the points below it."""
    n_leaves = len(leaves)
    total = np.empty((n_leaves + len(merges), leaves.shape[1]), leaves.dtype)
    weight = np.empty(len(total), leaves.dtype)
    total[:n_leaves], weight[:n_leaves] = leaves * size[:, None], size
    for step, (left, right) in enumerate(merges):
        total[n_leaves + step] = total[left] + total[right]
        weight[n_leaves + step] = weight[left] + weight[right]
    return total / weight[:, None]


def place(averages: Floats, n_leaves: int, radius: float, norms: str) -> Floats:
    """Scale averages of points of norm `radius` into the ball.

    ``norms="log"`` is the paper's: the node of the j-th of N merges gets norm ``log(N - j) / log N`` (times the
    radius), the leaves the largest. ``norms="centroid"`` makes a node the hyperbolic centroid of its points: their
    plain average in the Klein model, where averages belong, taken back to the Poincaré ball. A node is then as
    deep as its points are concentrated, which is where the distance to them is smallest.
    """
    length = np.sqrt(np.einsum("nd,nd->n", averages, averages))
    if norms == "log":
        n_merges = len(averages) - n_leaves
        wanted = np.full(len(averages), 0.99 * radius)
        left = np.maximum(n_merges - 1 - np.arange(n_merges), 1)
        wanted[n_leaves:] *= np.log(left) / np.log(max(n_merges, 2))
        return averages * (wanted / np.where(length > 0, length, 1.0))[:, None].astype(averages.dtype)
    to_klein = 2.0 / (1.0 + radius**2)  # a point of norm r lies at 2r / (1 + r²) in the Klein model
    klein = np.minimum(length * to_klein, 1.0)
    back = to_klein / (1.0 + np.sqrt(1.0 - klein**2))
    return averages * back[:, None].astype(averages.dtype)
