"""Optimal leaf ordering of a binary tree.

Leaves go by their position in the present order, so those below node v are ``start[v] : start[v] + size[v]``;
``middle[v]`` is the position at which its right child begins (its own position for a leaf).
"""

from __future__ import annotations

import numpy as np

from arbora._base.jit import kernel


@kernel()
def opposite_ends(end, begin, middle, stop):
    """Positions at which an order of the leaves [begin, stop) can end if it starts at `end`."""
    if stop - begin == 1:
        return begin, stop
    return (middle, stop) if end < middle else (begin, middle)


@kernel(nogil=True)
def measure_shortest_orders(distance, start, middle, stop, children):
    """Length of the shortest order of the leaves below LCA(u, w) with u and w at its ends: float64[n, n].

    For each node, first the best last leaf m of the left part for every first leaf k of the right part, then
    the best k for every other end w: O(n^3) in all (Bar-Joseph et al. 2001).
    """
    n_leaves = distance.shape[0]
    best = np.full((n_leaves, n_leaves), np.inf)
    for leaf in range(n_leaves):
        best[leaf, leaf] = 0.0
    for slot in range(children.shape[0]):
        left, right = children[slot]
        begin, cut, end = start[left], start[right], stop[right]
        joined = np.full((cut - begin, end - cut), np.inf)
        for u in range(begin, cut):
            low, high = opposite_ends(u, begin, middle[left], cut)
            for m in range(low, high):
                for k in range(cut, end):
                    joined[u - begin, k - cut] = min(joined[u - begin, k - cut], best[u, m] + distance[m, k])
        for u in range(begin, cut):
            for k in range(cut, end):
                low, high = opposite_ends(k, cut, middle[right], end)
                for w in range(low, high):
                    best[u, w] = min(best[u, w], joined[u - begin, k - cut] + best[k, w])
        for u in range(begin, cut):
            for w in range(cut, end):
                best[w, u] = best[u, w]
    return best


@kernel()
def find_joint(distance, best, u, w, left_ends, right_ends):
    """Last leaf m of the first part and first leaf k of the second in the best order from u to w."""
    least, joint = np.inf, (-1, -1)
    for m in range(left_ends[0], left_ends[1]):
        for k in range(right_ends[0], right_ends[1]):
            length = best[u, m] + distance[m, k] + best[k, w]
            if length < least:
                least, joint = length, (m, k)
    return joint


@kernel()
def trace_shortest_order(distance, best, start, middle, stop, children):
    """Positions of the leaves in the shortest order, from the table of `measure_shortest_orders`."""
    n_leaves = distance.shape[0]
    root = start.shape[0] - 1
    least, first, last = np.inf, 0, 0
    for u in range(start[root], middle[root]):
        for w in range(middle[root], stop[root]):
            if best[u, w] < least:
                least, first, last = best[u, w], u, w
    order = np.empty(n_leaves, dtype=np.int64)
    filled = 0
    # node, and the leaves at the ends of its order
    stack = [(root, first, last)]
    while len(stack) > 0:
        node, u, w = stack.pop()
        if node < n_leaves:
            order[filled] = u
            filled += 1
            continue
        one, two = children[node - n_leaves]
        if u >= middle[node]:
            # the order runs from the right child to the left
            one, two = two, one
        left_ends = opposite_ends(u, start[one], middle[one], stop[one])
        right_ends = opposite_ends(w, start[two], middle[two], stop[two])
        m, k = find_joint(distance, best, u, w, left_ends, right_ends)
        stack.append((two, k, w))
        stack.append((one, u, m))
    return order
