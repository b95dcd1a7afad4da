"""DeepWalk embeddings (Perozzi et al. 2014): random walks, and skip-grams with negative samples."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arbora._base.params import check_real, check_whole
from arbora._base.random import numpy_generator
from arbora._base.types import RandomState
from arbora.probabilistic import _deepwalk_kernels as kernels
from arbora.similarity.graph import GraphSimilarity

_PRODUCTS_PER_CALL = 10_000_000


def deepwalk(
    similarity: GraphSimilarity,
    dimension: int = 10,
    *,
    n_walks: int = 10,
    walk_length: int = 80,
    window: int = 10,
    n_negative: int = 5,
    learning_rate: float = 0.025,
    random_state: RandomState = None,
) -> NDArray[np.float32]:
    """Embed the nodes of a graph so that nodes near each other on random walks have large inner products.

    Walks follow edges with probability proportional to their weight; self-loops are left out. A node without
    edges keeps its random start.

    Parameters
    ----------
    similarity : GraphSimilarity
    dimension : int, default=10
    n_walks, walk_length : int
        Walks from every node, and nodes on each.
    window : int, default=10
        Largest distance on a walk at which two nodes count as near.
    n_negative : int, default=5
        Random nodes that each pair is compared with.
    learning_rate : float, default=0.025
    random_state : int, RandomState or None

    Returns
    -------
    ndarray of float32, shape (n_points, dimension)

    Examples
    --------
    >>> import arbora as ab
    >>> graph = ab.similarity.graph(([0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3]))
    >>> deepwalk(graph, 4, random_state=0).shape
    (6, 4)
    """
    dimension, n_walks = check_whole(dimension, "dimension"), check_whole(n_walks, "n_walks")
    walk_length, window = check_whole(walk_length, "walk_length"), check_whole(window, "window")
    n_negative = check_whole(n_negative, "n_negative", least=0)
    learning_rate = check_real(learning_rate, "learning_rate", above=0)
    rng = numpy_generator(random_state)
    csr = similarity.csr
    n = similarity.n_points
    cumulative = np.cumsum(csr.data, dtype=np.float64)
    noise = _noise_table(np.asarray(csr.sum(axis=1)).ravel())
    vectors = ((rng.random((n, dimension)) - 0.5) / dimension).astype(np.float32)
    context = np.zeros((n, dimension), dtype=np.float32)
    # between calls, a third of a second each at most, Ctrl-C is noticed
    n_at_once = max(1, _PRODUCTS_PER_CALL // (walk_length * window * (1 + n_negative) * dimension))
    for walk in range(n_walks):
        order = rng.permutation(n)
        rates = learning_rate * (1 - walk / n_walks), learning_rate * max(1 - (walk + 1) / n_walks, 1e-4)
        random = np.array([rng.integers(1, 2**62)], dtype=np.uint64)
        for first in range(0, n, n_at_once):
            kernels.walk_and_learn(
                csr.indptr,
                csr.indices,
                cumulative,
                noise,
                order,
                first,
                min(first + n_at_once, n),
                walk_length,
                window,
                n_negative,
                *rates,
                random,
                vectors,
                context,
            )
    return vectors


def _noise_table(degree: NDArray[np.floating], size: int = 2**20) -> NDArray[np.int32]:
    """Nodes, each in proportion to its degree to the power 3/4: drawing a negative sample is one lookup."""
    weight = np.cumsum(np.maximum(degree, 1e-12) ** 0.75)
    size = max(size, 4 * len(degree))
    places = (np.arange(size) + 0.5) / size * weight[-1]
    return np.asarray(np.searchsorted(weight, places), dtype=np.int32)
