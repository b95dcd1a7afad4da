"""From leaf embeddings to a tree: exact (Algorithm 1 of HypHC), greedy, and on a circle.

Heights say how far an ancestor lies from the outermost leaf: (largest leaf radius) - (depth of the ancestor).
"""

from __future__ import annotations

import math
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arbora._base.params import check_choice
from arbora.hyperbolic.hyphc import _decode_kernels as kernels
from arbora.tree import Tree

Decoder: TypeAlias = Literal["auto", "exact", "greedy", "circle"]
_GRID = 2.0**26
_EQUAL_RADII = 1e-6


def decode(embedding: ArrayLike, method: Decoder = "auto") -> Tree:
    """Tree of leaf embeddings.

    Parameters
    ----------
    embedding : array-like of shape (n, d)
        Points strictly inside the unit ball.
    method : {"auto", "exact", "greedy", "circle"}
        `decode_exact` (any embedding, O(n²) time), `decode_greedy` (the disk, O(n log n)), `decode_circle`
        (the disk, all at one radius, O(n log n)). "auto" takes the circle where it applies, else exact.

    Examples
    --------
    >>> from arbora.hyperbolic.hyphc.decode import decode
    >>> decode([[0.9, 0.1], [0.9, -0.1], [-0.9, 0.0]]).to_newick(lengths=False)
    '((0,1),2);'
    """
    points = _checked(embedding)
    check_choice(method, "method", get_args(Decoder))
    if method == "auto":
        method = "circle" if is_normalized(points) else "exact"
    if method == "exact":
        return decode_exact(points)
    if method == "greedy":
        return decode_greedy(points)
    if not is_normalized(points):
        raise ValueError(
            "method='circle' needs points of the disk at one distance from the origin. "
            f"Got {points.shape[1]} dimensions, norms {_spread_of_norms(points)}. Use method='exact'."
        )
    return decode_circle(_angles(points), _radius(points))


def is_normalized(embedding: NDArray[np.floating]) -> bool:
    """Whether all points lie on one circle of the disk (in norm, to a relative 1e-6), none at the origin."""
    if embedding.shape[1] != 2 or len(embedding) == 0:
        return False
    norms = np.linalg.norm(embedding, axis=1)
    return bool(norms.min() > 0 and np.ptp(norms) <= _EQUAL_RADII * norms.max())


def decode_circle(theta: ArrayLike, radius: float = 1.0) -> Tree:
    """Tree of leaves at the given angles of a circle of hyperbolic radius `radius`.

    On a circle the depth of an ancestor only depends on the angle between two leaves, so merging by deepest
    ancestor is single linkage on the circle: neighbors merge by ascending gap, and the widest gap is never
    used. O(n log n).

    Examples
    --------
    >>> from arbora.hyperbolic.hyphc.decode import decode_circle
    >>> decode_circle([0.1, 3.0, 0.2, 6.2]).to_newick(lengths=False)
    '((3,(0,2)),1);'
    """
    angles: NDArray[np.float64] = np.asarray(theta, dtype=np.float64)
    if angles.ndim != 1 or len(angles) == 0 or not np.isfinite(angles).all():
        raise ValueError(f"theta must be a non-empty array of finite angles. Got shape {angles.shape}.")
    angles = np.mod(angles, 2 * math.pi)
    order = np.argsort(angles, kind="stable")
    gaps = np.diff(angles[order], append=angles[order[0]] + 2 * math.pi)
    widest = int(np.argmax(gaps))
    order, gaps = np.roll(order, -widest - 1), np.roll(gaps, -widest - 1)[:-1]
    parent = kernels.merge_path(order, np.argsort(gaps, kind="stable"))
    depth = np.arctanh(np.minimum(np.cos(np.sort(gaps) / 2), 1.0) * math.tanh(min(radius, 18.0)))
    height = np.concatenate([np.zeros(len(angles)), np.maximum(min(radius, 18.0) - depth, 0.0)])
    return Tree(parent, len(angles), height=height, order=order)


def decode_greedy(embedding: ArrayLike) -> Tree:
    """Top-down decoding of points of the disk by the widest angle, Sec. 5 of HypHC.

    Points are taken to one radius (only their directions count), sorted by angle, and split at the widest
    gap, then each part again. Splitting top-down at the widest gap and merging bottom-up by the narrowest
    give the same tree, so this is `decode_circle` of the directions: never the quadratic worst case.
    """
    points = _checked(embedding)
    if points.shape[1] != 2:
        raise ValueError(
            f"Greedy decoding needs points of the disk. Got {points.shape[1]} dimensions. Use method='exact'."
        )
    return decode_circle(_angles(points), _radius(points))


def decode_exact(embedding: ArrayLike) -> Tree:
    """Algorithm 1 of HypHC: merge the pair with the deepest LCA first, in any dimension.

    Only the pairs of a spanning tree of deepest ancestors ever merge anything, and Prim's algorithm finds
    them one leaf at a time: O(n² d) time, O(n d) memory, no n x n array for any n.
    """
    points = _checked(embedding)
    n = len(points)
    if n == 1:
        return Tree([-1], 1, height=[0.0])
    gaps = _gaps(points)
    edges, lengths = kernels.deepest_spanning_tree(points, gaps)
    ranking = np.argsort(lengths, kind="stable")
    parent = kernels.merge_edges(edges, ranking)
    depth = np.arccosh(np.maximum(1 / np.sqrt(lengths[ranking]), 1.0))
    outermost = float(2 * np.arcsinh(np.sqrt((1 - gaps.min()) / gaps.min())))
    height = np.concatenate([np.zeros(n), np.maximum(outermost - depth, 0.0)])
    return Tree(parent, n, height=height)


def _checked(embedding: Any) -> NDArray[np.float64]:
    points = np.asarray(embedding, dtype=np.float64)
    if points.ndim != 2 or 0 in points.shape:
        raise ValueError(f"embedding must have shape (n_leaves, dimension). Got {points.shape}.")
    if points.shape[1] < 2:
        raise ValueError(f"embedding must have at least 2 dimensions. Got {points.shape[1]}.")
    outside = ~(np.linalg.norm(points, axis=1) < 1)
    if outside.any():
        raise ValueError(
            f"embedding must lie strictly inside the unit ball. Got {int(outside.sum())} of {len(points)} "
            f"points outside or not finite, the first in row {int(np.argmax(outside))}."
        )
    return np.ascontiguousarray(points)


def _gaps(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 - |x|² to full relative accuracy; see arbora.hyperbolic.poincare.gap."""
    coarse = np.round(points * _GRID) / _GRID
    fine = np.einsum("ij,ij->i", points - coarse, points + coarse)
    return np.asarray(np.maximum((1 - np.einsum("ij,ij->i", coarse, coarse)) - fine, 1e-30))


def _angles(points: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.arctan2(points[:, 1], points[:, 0])


def _radius(points: NDArray[np.float64]) -> float:
    gaps = _gaps(points)
    return float(2 * np.arcsinh(np.sqrt((1 - gaps.min()) / gaps.min())))


def _spread_of_norms(points: NDArray[np.float64]) -> str:
    norms = np.linalg.norm(points, axis=1)
    return f"{norms.min():.6g} to {norms.max():.6g}"
