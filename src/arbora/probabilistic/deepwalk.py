"""DeepWalk embeddings (Perozzi et al. 2014): random walks, and skip-grams with negative samples."""

from __future__ import annotations

import numpy as np

from arbora._base.jit import kernel
from arbora.similarity.graph import GraphSimilarity


def deepwalk(
    similarity: GraphSimilarity,
    dimension: int = 10,
    *,
    n_walks: int = 10,
    walk_length: int = 80,
    window: int = 10,
    n_negative: int = 5,
    learning_rate: float = 0.025,
    random_state=None,
) -> np.ndarray:
    """Embed the nodes of a graph so that nodes near each other on random walks have large inner products.

    Walks follow edges with probability proportional to their weight; self-loops are left out. A node without
    edges keeps its random start.

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
    if dimension < 1:
        raise ValueError(f"dimension must be at least 1. Got {dimension}.")
    rng = np.random.default_rng(random_state)
    csr = similarity.csr
    n = similarity.n_points
    cumulative = np.cumsum(csr.data, dtype=np.float64)
    noise = _noise_table(np.asarray(csr.sum(axis=1)).ravel())
    vectors = ((rng.random((n, dimension)) - 0.5) / dimension).astype(np.float32)
    context = np.zeros((n, dimension), dtype=np.float32)
    for walk in range(n_walks):
        order = rng.permutation(n)
        rates = learning_rate * (1 - walk / n_walks), learning_rate * max(1 - (walk + 1) / n_walks, 1e-4)
        _walk_and_learn(
            csr.indptr,
            csr.indices,
            cumulative,
            noise,
            order,
            walk_length,
            window,
            n_negative,
            *rates,
            int(rng.integers(1, 2**62)),
            vectors,
            context,
        )
    return vectors


def _noise_table(degree, size=2**20):
    """Nodes, each as often as its degree to the power 3/4 asks: drawing a negative is one look-up."""
    weight = np.cumsum(np.maximum(degree, 1e-12) ** 0.75)
    size = max(size, 4 * len(degree))
    return np.searchsorted(weight, (np.arange(size) + 0.5) / size * weight[-1]).astype(np.int32)


@kernel()
def _next_random(state):
    """xorshift64*: the state and a number in [0, 1)."""
    state ^= state >> np.uint64(12)
    state ^= state << np.uint64(25)
    state ^= state >> np.uint64(27)
    return state, np.float64((state * np.uint64(2685821657736338717)) >> np.uint64(11)) / 9007199254740992.0


@kernel()
def _walk(ptr, col, cumulative, start, path, state):
    """Fill `path` with a weighted random walk; returns its length and the random state."""
    node = start
    path[0] = node
    for t in range(1, path.shape[0]):
        first, last = ptr[node], ptr[node + 1]
        if first == last:
            return t, state
        before = cumulative[first - 1] if first > 0 else 0.0
        state, u = _next_random(state)
        target = before + u * (cumulative[last - 1] - before)
        edge = min(first + np.searchsorted(cumulative[first:last], target, side="right"), last - 1)
        node = col[edge]
        path[t] = node
    return path.shape[0], state


@kernel(fastmath=True)
def _learn_pair(center, target, label, rate, vectors, context, change):
    """One step of logistic regression on a (node, context) pair; the node's change is only collected."""
    score = np.float32(0.0)
    for d in range(change.shape[0]):
        score += vectors[center, d] * context[target, d]
    step = np.float32(rate * (label - 1.0 / (1.0 + np.exp(-score))))
    for d in range(change.shape[0]):
        change[d] += step * context[target, d]
        context[target, d] += step * vectors[center, d]


@kernel()
def _walk_and_learn(
    ptr, col, cumulative, noise, order, length, window, n_negative, rate, last_rate, seed, vectors, context
):
    """One walk from every node; skip-grams with a random window, as in word2vec."""
    state = np.uint64(seed)
    path = np.empty(length, dtype=np.int64)
    change = np.empty(vectors.shape[1], dtype=np.float32)
    n = order.shape[0]
    for s in range(n):
        now = rate + (last_rate - rate) * s / n
        n_steps, state = _walk(ptr, col, cumulative, order[s], path, state)
        for t in range(n_steps):
            state, u = _next_random(state)
            reach = 1 + int(u * window)
            for other in range(max(0, t - reach), min(n_steps, t + reach + 1)):
                if other == t:
                    continue
                change[:] = 0.0
                _learn_pair(path[t], path[other], 1.0, now, vectors, context, change)
                for _ in range(n_negative):
                    state, u = _next_random(state)
                    negative = noise[int(u * noise.shape[0])]
                    if negative != path[other]:
                        _learn_pair(path[t], negative, 0.0, now, vectors, context, change)
                for d in range(change.shape[0]):
                    vectors[path[t], d] += change[d]
