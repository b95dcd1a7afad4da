"""Hyperbolic distances of many points to many nodes by one matrix product, in NumPy.

`arbora.hyperbolic.poincare` is the geometry, for PyTorch tensors; these are its distances in the one form
gHHC needs at scale. With the gap ``1 - |z|²`` of a node, ``|x - z|² / gap`` is linear in ``(x, 1, |x|²)``;
so the scores of a batch against all nodes are one product with a table that changes only where nodes move.
"""

from __future__ import annotations

import numpy as np

from arbora._base.types import AnyFloats, Ints

# of a squared distance over gaps: keeps derivatives finite where point and node coincide
SMALLEST = 1e-12


def gaps(points: AnyFloats) -> AnyFloats:
    """``1 - |x|²`` of every row."""
    gap = np.maximum(1.0 - np.einsum("...d,...d->...", points, points), 1e-12)
    return np.asarray(gap, dtype=points.dtype)


def depths(points: AnyFloats) -> AnyFloats:
    """Hyperbolic norm ``2 artanh |x|`` of every row (Eq. 2), from the same gap as the distances."""
    gap = gaps(points)
    return 2.0 * np.arcsinh(np.sqrt((1.0 - gap) / gap))


class NodeTable:
    """Nodes in the ball, with the table that turns points into scores.

    Attributes
    ----------
    nodes : float[M, d]
    gap : float[M]
    depth : float[M]
        Hyperbolic norm of each node.

    Examples
    --------
    >>> import numpy as np
    >>> from arbora.hyperbolic.ghhc.distances import NodeTable
    >>> table = NodeTable(np.array([[0.0, 0.0], [0.5, 0.0]]))
    >>> table.distances(np.array([[-0.5, 0.0]])).round(4)
    array([[1.0986, 2.1972]])
    """

    def __init__(self, nodes: AnyFloats) -> None:
        self.nodes = np.array(nodes, order="C")
        n_nodes, dimension = self.nodes.shape
        self.gap = np.empty(n_nodes, self.nodes.dtype)
        self.depth = np.empty(n_nodes, self.nodes.dtype)
        self._table = np.empty((n_nodes, dimension + 2), self.nodes.dtype)
        self.refresh(slice(None))

    def __len__(self) -> int:
        return len(self.nodes)

    def refresh(self, rows: slice | Ints) -> None:
        """Recompute what depends on `nodes[rows]` after they moved."""
        nodes = self.nodes[rows]
        gap = gaps(nodes)
        self.gap[rows] = gap
        self.depth[rows] = 2.0 * np.arcsinh(np.sqrt((1.0 - gap) / gap))
        self._table[rows, :-2] = nodes * (-2.0 / gap)[:, None]
        self._table[rows, -2] = (1.0 - gap) / gap
        self._table[rows, -1] = 1.0 / gap

    def scores(self, points: AnyFloats) -> AnyFloats:
        """``|x - z|² / (1 - |z|²)``, ordering the nodes around a point as the distance does: float[..., M]."""
        flat = points.reshape(-1, points.shape[-1])
        return (lifted(flat) @ self._table.T).reshape(*points.shape[:-1], len(self))

    def ratios(self, points: AnyFloats) -> AnyFloats:
        """``|x - z|² / ((1 - |x|²)(1 - |z|²))``, never below `SMALLEST`: float[N, M]."""
        ratio = self.scores(points)
        ratio /= gaps(points)[:, None]
        return np.maximum(ratio, SMALLEST, out=ratio)

    def distances(self, points: AnyFloats) -> AnyFloats:
        """Hyperbolic distance of every point to every node: float[N, M]."""
        ratio = self.ratios(points)
        return np.multiply(2.0, np.arcsinh(np.sqrt(ratio, out=ratio), out=ratio), out=ratio)

    def dissimilarities(self, children: AnyFloats, margin: float = 0.0) -> AnyFloats:
        """Child–parent dissimilarity of every row of `children` to every node (Eq. 3; with a margin Eq. 16).

        The distance, weighted by one plus how far the parent's norm (plus the margin) exceeds the child's.
        """
        excess = self.depth[None, :] - depths(children)[:, None] + margin
        return self.distances(children) * (1.0 + np.maximum(excess, 0.0))


def lifted(points: AnyFloats) -> AnyFloats:
    """Rows ``(x, 1, |x|²)``."""
    out = np.empty((len(points), points.shape[1] + 2), points.dtype)
    out[:, :-2] = points
    out[:, -2] = 1.0
    out[:, -1] = np.einsum("nd,nd->n", points, points)
    return out
