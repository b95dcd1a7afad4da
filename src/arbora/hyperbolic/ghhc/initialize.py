"""Where the nodes start: leaves chosen among the data, a hierarchy over them, embedded in the ball."""

from __future__ import annotations

from typing import Literal, TypeAlias

import fastcluster
import numpy as np
from scipy.spatial.distance import pdist

from arbora._base.memory import refuse_if_too_large
from arbora._base.threads import in_background
from arbora._base.types import AnyFloats, Ints
from arbora.hyperbolic.ghhc import _kernels as kernels
from arbora.hyperbolic.ghhc import seeding
from arbora.hyperbolic.ghhc.model import LARGEST_NORM
from arbora.hyperbolic.ghhc.seeding import Seeding

Linkage: TypeAlias = Literal["ward", "average", "complete", "single", "centroid", "median"]
Norms: TypeAlias = Literal["centroid", "log"]

# more seeds than leaves, merged down: better leaves than seeding alone
SEEDS_PER_LEAF, MOST_SEEDS = 8, 4096


def initial_nodes(
    points: AnyFloats,
    n_internal: int,
    rng: np.random.Generator,
    *,
    leaves: Seeding = "k-means++",
    norms: Norms = "centroid",
    linkage: Linkage = "ward",
    n_sweeps: int = 10,
) -> AnyFloats:
    """Nodes of a binary hierarchy with at most `n_internal` nodes, leaves first, then in order of merging.

    Seeds are chosen among `points` (`leaves`: ``"k-means++"``, ``"farthest"``, ``"random"``), a few for each
    leaf, and merged down to leaves by agglomerative `linkage`; leaves move to the means of their
    surroundings by `n_sweeps` of Lloyd's algorithm and are merged in turn up to the root. A node is the
    average of its descendants; see `place` for its norm.

    Examples
    --------
    >>> import numpy as np
    >>> from arbora.hyperbolic.ghhc.initialize import initial_nodes
    >>> angle = np.linspace(0, 6, 40)
    >>> points = 0.9 * np.column_stack([np.cos(angle), np.sin(angle)])
    >>> initial_nodes(points, 15, np.random.default_rng(0)).shape
    (15, 2)
    """
    n_leaves = max(1, min((n_internal + 1) // 2, len(points)))
    n_seeds = min(len(points), max(n_leaves, min(SEEDS_PER_LEAF * n_leaves, MOST_SEEDS)))
    seeds = points[seeding.SEEDINGS[leaves](points, n_seeds, rng)]
    means = _cut_to_means(seeds, n_leaves, linkage) if n_seeds > n_leaves else seeds
    means, nearest = seeding.move_to_means(points, means, n_sweeps)
    size = np.maximum(np.bincount(nearest, minlength=n_leaves), 1)
    averages = _averages(means, size, merge_order(means, size, linkage))
    radius = float(np.sqrt(np.einsum("nd,nd->n", points, points).max()))
    return place(averages, n_leaves, radius, norms)


def _cut_to_means(seeds: AnyFloats, n_leaves: int, linkage: Linkage) -> AnyFloats:
    """Means of the clusters of seeds that stand when agglomerative clustering has `n_leaves` left."""
    n_seeds = len(seeds)
    cluster = np.arange(2 * n_seeds - n_leaves)
    merges = merge_order(seeds, np.ones(n_seeds, np.int64), linkage)[: n_seeds - n_leaves]
    # from the top: what a merge belongs to, its parts belong to
    for step in range(len(merges) - 1, -1, -1):
        cluster[merges[step]] = cluster[n_seeds + step]
    label = np.unique(cluster[:n_seeds], return_inverse=True)[1]
    return seeding.group_means(seeds, label, n_leaves)[0]


def merge_order(leaves: AnyFloats, size: Ints, linkage: Linkage) -> Ints:
    """Pairs merged by agglomerative clustering, in order, numbered as in SciPy: int64[n_leaves - 1, 2].

    Ward's linkage counts the points behind each leaf (`size`); the others count every leaf as one.
    """
    if len(leaves) == 1:
        return np.empty((0, 2), np.int64)
    if linkage == "ward":
        pairs, heights = kernels.ward_merges(leaves, size)
        order = np.argsort(heights, kind="stable")
        return np.asarray(kernels.number_merges(pairs[order], len(leaves)))
    if linkage in ("centroid", "median", "single"):
        # from vectors: no n² memory
        result = in_background(lambda: fastcluster.linkage_vector(leaves, method=linkage))
    else:
        n = len(leaves)
        refuse_if_too_large(8 * n * n, f"The distances between {n} nodes", 'Use init_linkage="ward".')
        distances = pdist(leaves)
        result = in_background(lambda: fastcluster.linkage(distances, method=linkage, preserve_input=False))
    return np.asarray(result[:, :2], dtype=np.int64)


def _averages(leaves: AnyFloats, size: Ints, merges: Ints) -> AnyFloats:
    """Leaves, then every merged node as the average of the points below it."""
    n_leaves = len(leaves)
    total = np.empty((n_leaves + len(merges), leaves.shape[1]), leaves.dtype)
    weight = np.empty(len(total), leaves.dtype)
    total[:n_leaves], weight[:n_leaves] = leaves * size[:, None], size
    for step, (left, right) in enumerate(merges):
        total[n_leaves + step] = total[left] + total[right]
        weight[n_leaves + step] = weight[left] + weight[right]
    return total / weight[:, None]


def place(averages: AnyFloats, n_leaves: int, radius: float, norms: Norms) -> AnyFloats:
    """Scale averages of points of norm `radius` into the ball.

    ``norms="log"`` is the paper's: the node of the j-th of N merges gets norm ``log(N - j) / log N`` (times
    the radius), the leaves the largest. ``norms="centroid"`` makes a leaf the hyperbolic centroid of its
    points: their plain average in the Klein model, where averages belong, taken back to the Poincaré ball. A
    leaf is then as deep as its points are concentrated, which is where the distance to them is smallest. The
    nodes above get the square of their averages' Klein norms: well above their leaves, so that points and
    nodes prefer the leaf or child they belong to over an ancestor at nearly the same depth.
    """
    length = np.sqrt(np.einsum("nd,nd->n", averages, averages))
    safe = np.where(length > 0, length, 1.0)
    if norms == "log":
        wanted = np.full(len(averages), 0.99 * radius)
        wanted[n_leaves:] *= np.log(n_leaves - 1 - np.arange(n_leaves - 1)) / np.log(max(n_leaves, 2))
    else:
        # norm r is 2r / (1 + r²) in the Klein model
        klein = np.minimum(length * (2.0 / (1.0 + radius**2)), 1.0)
        klein[n_leaves:] **= 2
        wanted = np.minimum(klein / (1.0 + np.sqrt(1.0 - klein**2)), LARGEST_NORM * radius)
    return averages * (wanted / safe)[:, None].astype(averages.dtype)
