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
def learn_node(center, targets, n_targets, rate, vectors, context, own, change, step):
    """One step of logistic regression: the node is near the first target, and not near the others.

    All products come before all changes, so that the processor waits for many rows at once, not for one after another.
    """
    for d in range(own.shape[0]):
        own[d] = vectors[center, d]
        change[d] = 0.0
    for j in range(n_targets):
        score = np.float32(0.0)
        for d in range(own.shape[0]):
            score += own[d] * context[targets[j], d]
        step[j] = score
    for j in range(n_targets):
        is_near = np.float32(1.0) if j == 0 else np.float32(0.0)
        step[j] = rate * (is_near - np.float32(1.0) / (np.float32(1.0) + np.exp(-step[j])))
    for j in range(n_targets):
        for d in range(own.shape[0]):
            change[d] += step[j] * context[targets[j], d]
            context[targets[j], d] += step[j] * own[d]
    for d in range(own.shape[0]):
        vectors[center, d] = own[d] + change[d]


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
    own, change = np.empty(vectors.shape[1], dtype=np.float32), np.empty(vectors.shape[1], dtype=np.float32)
    targets, step = np.empty(n_negative + 1, dtype=np.int64), np.empty(n_negative + 1, dtype=np.float32)
    n = order.shape[0]
    for s in range(first, last):
        now = np.float32(rate + (last_rate - rate) * s / n)
        n_steps, state = walk(ptr, col, cumulative, order[s], path, state)
        for t in range(n_steps):
            state, u = next_random(state)
            reach = 1 + int(u * window)
            for other in range(max(0, t - reach), min(n_steps, t + reach + 1)):
                if other == t:
                    continue
                targets[0], n_targets = path[other], 1
                for _ in range(n_negative):
                    state, u = next_random(state)
                    targets[n_targets] = noise[int(u * noise.shape[0])]
                    n_targets += targets[n_targets] != path[other]
                learn_node(path[t], targets, n_targets, now, vectors, context, own, change, step)
    random[0] = state
