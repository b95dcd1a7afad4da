"""Where training starts: directions of the leaves, random, spectral, or taken from a tree."""

from __future__ import annotations

import math
from inspect import signature
from typing import Literal, TypeAlias

import numpy as np
import scipy.sparse.linalg as sla
from numpy.typing import ArrayLike, NDArray

from arbora.hyperbolic.sarkar import circle_angles
from arbora.similarity.protocol import Similarity
from arbora.tree import Tree

Start: TypeAlias = Literal["spectral", "random"] | Tree | ArrayLike

# Noise beside the unit vectors of a spectral start. Parts of a graph that are not connected may share a place
# in the few eigenvectors computed; little noise would leave them mixed up for good.
_SPECTRAL_NOISE = 0.5
_TREE_NOISE = 0.01
# most points of a similarity that computes each pair at every call
_PAIRS_MULTIPLIED_UP_TO = 2000


def start_directions(
    init: Start, similarity: Similarity, dimension: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Unit vectors of the leaves, float64[n, dimension]."""
    n = similarity.n_points
    if isinstance(init, Tree):
        return _from_tree(init, n, dimension, rng)
    if not isinstance(init, str):
        return _from_array(init, n, dimension)
    if init not in ("spectral", "random"):
        raise ValueError(f"init must be 'spectral', 'random', a Tree or an array. Got {init!r}.")
    if init == "random" or n <= dimension + 1:
        return _unit(rng.normal(size=(n, dimension)))
    coordinates = _spectral(similarity, dimension, rng)
    return _unit(_unit(coordinates) + _SPECTRAL_NOISE * rng.normal(size=(n, dimension)))


def _spectral(similarity: Similarity, dimension: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Leading eigenvectors, after the trivial one, of the similarity normalized by its row sums.

    In two dimensions their angle is a first seriation of the leaves.
    """
    n = similarity.n_points
    has_quick_product = any(
        form is not None for form in (similarity.csr, similarity.matrix, similarity.features)
    )
    if n > _PAIRS_MULTIPLIED_UP_TO and not has_quick_product:
        return rng.normal(size=(n, dimension))
    own = np.zeros(n) if similarity.csr is not None else similarity.pairs(np.arange(n), np.arange(n))

    def multiply(x: NDArray[np.float64]) -> NDArray[np.float64]:
        product: NDArray[np.float64] = similarity.multiply(x) + own * x
        return product

    degree = np.maximum(multiply(np.ones(n)), 0.0)
    scale = 1 / np.sqrt(np.where(degree > 0, degree, 1.0))
    operator = sla.LinearOperator((n, n), matvec=lambda x: scale * multiply(scale * x.ravel()), dtype=float)
    try:
        # ARPACK draws new directions where it runs out of them, as with equal points; SciPy may seed that
        seeded = {"rng": rng} if "rng" in signature(sla.eigsh).parameters else {}
        _, vectors = sla.eigsh(
            operator, k=dimension + 1, which="LA", v0=rng.normal(size=n), maxiter=300, tol=1e-3, **seeded
        )
    except sla.ArpackError:
        # no convergence, or nothing to decompose: any start will do
        return rng.normal(size=(n, dimension))
    return np.asarray(vectors[:, :-1][:, ::-1])


def _from_tree(tree: Tree, n: int, dimension: int, rng: np.random.Generator) -> NDArray[np.float64]:
    if tree.n_leaves != n:
        raise ValueError(f"init must have one leaf per point. Got {tree.n_leaves} leaves and {n} points.")
    angles = circle_angles(tree)
    directions = _TREE_NOISE * rng.normal(size=(n, dimension)) if dimension > 2 else np.zeros((n, dimension))
    directions[:, :2] += np.column_stack([np.cos(angles), np.sin(angles)])
    return _unit(directions)


def _from_array(init: ArrayLike, n: int, dimension: int) -> NDArray[np.float64]:
    points = np.asarray(init, dtype=np.float64)
    if points.ndim == 1 and dimension == 2:
        points = np.column_stack([np.cos(points), np.sin(points)])
    if points.shape != (n, dimension):
        raise ValueError(f"init must have shape ({n}, {dimension}), one row per point. Got {points.shape}.")
    if not np.isfinite(points).all():
        raise ValueError("init must be finite.")
    return _unit(points)


def _unit(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    along_first = np.eye(1, vectors.shape[1])
    return np.where(norms > 0, vectors / np.where(norms > 0, norms, 1.0), along_first)


def angles_of(directions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Angles of two-dimensional directions in [0, 2π)."""
    return np.mod(np.arctan2(directions[:, 1], directions[:, 0]), 2 * math.pi)
