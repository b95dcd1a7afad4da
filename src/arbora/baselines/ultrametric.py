"""Ultrametrics on the edges of a graph: the largest one below given weights, and costs with their gradients.

The largest ultrametric below edge weights gives every edge the weight at which its ends meet in single linkage, which
is the weight of one edge of a minimum spanning tree. So a cost of the ultrametric is a function of the heights of the
merges, and its gradient goes to the edges of the spanning tree.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from arbora._base.types import Floats, Ints
from arbora.baselines import _ultrametric_kernels as kernels
from arbora.tree import Tree

# value, and gradient by the heights of the merges
Cost: TypeAlias = Callable[["Ultrametric"], tuple[float, Floats]]


@dataclass(frozen=True)
class Edges:
    """Edges of a graph, each once, with how unlike their ends are."""

    i: Ints
    j: Ints
    distance: Floats
    n_points: int


@dataclass(frozen=True)
class Ultrametric:
    """Single linkage of edges with given weights.

    Attributes
    ----------
    edges : Edges
    edge_of_merge : int64[n_merges]
        The edge along which each merge happened, in ascending weight.
    height : float64[n_merges]
        Its weight.
    merge_of_edge : int64[n_edges]
        The merge at which the ends of each edge meet.
    left, right : int64[n_merges]
        What was merged: points, then merges after them.
    size : int64[n_points + n_merges]
        Points below each node.
    """

    edges: Edges
    edge_of_merge: Ints
    height: Floats
    merge_of_edge: Ints
    left: Ints
    right: Ints
    size: Ints
    _above: Ints = field(repr=False)
    _linked_at: Ints = field(repr=False)

    @property
    def distance(self) -> Floats:
        """The ultrametric: the height at which the ends of each edge meet."""
        return self.height[self.merge_of_edge]

    @property
    def smaller_side(self) -> Ints:
        """Points in the smaller side of each merge."""
        return np.minimum(self.size[self.left], self.size[self.right])

    def meeting(self, i: Ints, j: Ints) -> Ints:
        """The merge at which pairs of different, connected points meet."""
        return np.asarray(kernels.meeting_merges(self._above, self._linked_at, i, j))

    def tree(self) -> Tree:
        """Binary; parts without an edge between them are joined at the top, at twice the largest height."""
        n = self.edges.n_points
        merges = list(zip(self.left.tolist(), self.right.tolist()))
        height = self.height.tolist()
        below = {node for pair in merges for node in pair}
        roots = [node for node in range(n + len(merges)) if node not in below]
        top = 2 * max(height, default=0.5)
        while len(roots) > 1:
            merges.append((roots.pop(0), roots.pop(0)))
            height.append(top)
            roots.append(n + len(merges) - 1)
        return Tree.from_merges(merges, n, height=np.array(height))


def subdominant(edges: Edges, weight: Floats) -> Ultrametric:
    """The largest ultrametric below the weights of the edges.

    Examples
    --------
    >>> import numpy as np
    >>> from arbora.baselines.ultrametric import Edges, subdominant
    >>> i, j, weight = np.array([0, 1, 0]), np.array([1, 2, 2]), np.array([1.0, 2.0, 5.0])
    >>> subdominant(Edges(i, j, weight, 3), weight).distance
    array([1., 2., 2.])
    """
    order = np.argsort(weight, kind="stable")
    above, linked_at, edge, left, right, size = kernels.merge_in_order(
        edges.i, edges.j, order, edges.n_points
    )
    meet = kernels.meeting_merges(above, linked_at, edges.i, edges.j)
    return Ultrametric(edges, edge, weight[edge], meet, left, right, size, above, linked_at)


# ---- costs ---------------------------------------------------------------------------------------------------


def closest(found: Ultrametric) -> tuple[float, Floats]:
    """Mean squared difference between the ultrametric and the distances."""
    error = found.distance - found.edges.distance
    gradient = np.bincount(found.merge_of_edge, 2 * error / len(error), minlength=len(found.height))
    return float(np.mean(error**2)), np.asarray(gradient, dtype=np.float64)


def cluster_size(top_nodes: int = 0) -> Cost:
    """Mean height over the size of the smaller side, for edges that meet in the `top_nodes` highest merges (0: all).

    It makes the splits near the root even.
    """

    def cost(found: Ultrametric) -> tuple[float, Floats]:
        first = len(found.height) - top_nodes if top_nodes else 0
        merge = found.merge_of_edge[found.merge_of_edge >= first]
        share = np.bincount(merge, minlength=len(found.height)) / (found.smaller_side * max(len(merge), 1))
        return float(share @ found.height), share

    return cost


def triplet(triples: Ints, margin: float = 1.0) -> Cost:
    """Mean of max(0, u(a, b) - u(a, c) + margin) over rows (a, b, c), of which a and b belong together."""
    a, b, c = (np.ascontiguousarray(column, dtype=np.int64) for column in triples.T)

    def cost(found: Ultrametric) -> tuple[float, Floats]:
        near, far = found.meeting(a, b), found.meeting(a, c)
        excess = np.maximum(found.height[near] - found.height[far] + margin, 0.0)
        share = (excess > 0) / len(excess)
        n = len(found.height)
        gradient = np.bincount(near, share, n) - np.bincount(far, share, n)
        return float(excess.mean()), np.asarray(gradient, dtype=np.float64)

    return cost


def dasgupta(slope: float = 50.0, similarity: Floats | None = None) -> Cost:
    """Mean over the edges of similarity times the soft number of points below where their ends meet.

    Without similarities they are 1 / distance, as in the paper.
    """

    def cost(found: Ultrametric) -> tuple[float, Floats]:
        weight = 1.0 / found.edges.distance if similarity is None else similarity
        at_merge = np.bincount(found.merge_of_edge, weight / len(weight), minlength=len(found.height))
        i, j = found.edges.i[found.edge_of_merge], found.edges.j[found.edge_of_merge]
        parts = (i, j, found.height, found.left, found.right, found.size, slope)
        gradient: Floats = kernels.soft_sizes_gradient(at_merge, *parts)
        return float(at_merge @ kernels.soft_sizes(*parts)), gradient

    return cost


def total(*costs: tuple[float, Cost]) -> Cost:
    """A weighted sum of costs."""

    def cost(found: Ultrametric) -> tuple[float, Floats]:
        parts = [(weight, *one(found)) for weight, one in costs]
        value = sum(weight * value for weight, value, _ in parts)
        return value, np.sum([weight * gradient for weight, _, gradient in parts], axis=0)

    return cost
