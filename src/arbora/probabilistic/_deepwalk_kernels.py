"""Weighted random walks over a graph, and skip-grams learned from them."""

from __future__ import annotations

import numpy as np

from arbora._base.jit import kernel


@kernel()
def next_random(state):
    """xorshift64*: the state and a number in [0, 1)."""
    state ^= state >> np.uint64(12)
    state ^= state << np.uint64(25)
    state ^= state >> np.uint64(27)
    return state, np.float64((state * np.uint64(2685821657736338717)) >> np.uint64(11)) / 9007199254740992.0


@kernel()
def walk(ptr, col, cumulative, start, path, state):
    """Fill `path` with a weighted random walk; returns its length and the random state."""
    node = start
    path[0] = node
    for t in range(1, path.shape[0]):
        first, last = ptr[node], ptr[node + 1]
        if first == last:
            return t, state
        before = cumulative[first - 1] if first > 0 else 0.0
        state, u = next_random(state)
        target = before + u * (cumulative[last - 1] - before)
        edge = min(first + np.searchsorted(cumulative[first:last], target, side="right"), last - 1)
        node = col[edge]
        path[t] = node
    return path.shape[0], state


@kernel(fastmath=True)
def learn_pair(center, target, label, rate, vectors, context, change):
    """One step of logistic regression on a (node, context) pair; the node's change is only collected."""
    score = np.float32(0.0)
    for d in range(change.shape[0]):
        score += vectors[center, d] * context[target, d]
    step = np.float32(rate * (label - 1.0 / (1.0 + np.exp(-score))))
    for d in range(change.shape[0]):
        change[d] += step * context[target, d]
        context[target, d] += step * vectors[center, d]


@kernel(nogil=True)
def walk_and_learn(
    ptr,
    col,
    cumulative,
    noise,
    order,
    first,
    last,
    length,
    window,
    n_negative,
    rate,
    last_rate,
    random,
    vectors,
    context,
):
    """A walk from the nodes first .. last-1 in the given order; skip-grams with a random window, as in word2vec.

    `random` (uint64[1]) is the state of the random numbers, from one call to the next.
    """
    state = random[0]
    path = np.empty(length, dtype=np.int64)
    change = np.empty(vectors.shape[1], dtype=np.float32)
    n = order.shape[0]
    for s in range(first, last):
        now = rate + (last_rate - rate) * s / n
        n_steps, state = walk(ptr, col, cumulative, order[s], path, state)
        for t in range(n_steps):
            state, u = next_random(state)
            reach = 1 + int(u * window)
            for other in range(max(0, t - reach), min(n_steps, t + reach + 1)):
                if other == t:
                    continue
                change[:] = 0.0
                learn_pair(path[t], path[other], 1.0, now, vectors, context, change)
                for _ in range(n_negative):
                    state, u = next_random(state)
                    negative = noise[int(u * noise.shape[0])]
                    if negative != path[other]:
                        learn_pair(path[t], negative, 0.0, now, vectors, context, change)
                for d in range(change.shape[0]):
                    vectors[path[t], d] += change[d]
    random[0] = state
