"""Isotonic regression on a tree: the nearest values that grow from the root to the leaves."""

from __future__ import annotations

import numpy as np

from arbora._base.jit import inner, pass_kernel


@inner
def meld(first, second, key, left, right):
    """Root of the heap that holds both heaps, smallest key on top; -1 is an empty heap. Amortized O(log n)."""
    if first < 0:
        return second
    if second < 0:
        return first
    if key[second] < key[first]:
        first, second = second, first
    root, current = first, first
    while True:
        following = right[current]
        # the sides change places on the way down, which keeps the heap shallow on average
        right[current] = left[current]
        if following < 0:
            left[current] = second
            return root
        if key[second] < key[following]:
            following, second = second, following
        left[current] = following
        current = following


@pass_kernel()
def multiply_children(parent, size):
    """Sum over the pairs of children of each node of the product of their sizes; nothing cancels."""
    product, so_far = np.zeros(parent.shape[0]), np.zeros(parent.shape[0])
    for node in range(parent.shape[0] - 1):
        above = parent[node]
        product[above] += so_far[above] * size[node]
        so_far[above] += size[node]
    return product


@pass_kernel()
def pool_ratios(parent, n_leaves, n_children, share, weight):
    """Ratio share / weight of each internal node, pooled until no child has a smaller one than its parent.

    A child whose ratio is smaller is pooled with its parent: both get the sum of shares over the sum of weights. This
    is the isotonic regression of the ratios with these weights, and also the answer to another question: cutting the
    tree at a ratio r gives the partition that maximizes (similarity inside clusters) - r * (weight inside clusters).

    Returns float64[n_nodes]; infinity for leaves and for nodes with a single child. O(n log n).
    """
    n_nodes = parent.shape[0]
    top, bottom = np.zeros(n_nodes), np.zeros(n_nodes)
    ratio = np.full(n_nodes, np.inf)
    heap = np.full(n_nodes, -1, dtype=np.int64)
    left = np.full(n_nodes, -1, dtype=np.int64)
    right = np.full(n_nodes, -1, dtype=np.int64)
    pooled_into = np.full(n_nodes, -1, dtype=np.int64)
    for node in range(n_leaves, n_nodes):
        above = parent[node]
        # nothing meets at a node with a single child: what is below it is passed on
        if n_children[node - n_leaves] < 2:
            if above >= 0:
                heap[above] = meld(heap[above], heap[node], ratio, left, right)
            continue
        top[node], bottom[node] = share[node - n_leaves], weight[node - n_leaves]
        ratio[node] = top[node] / bottom[node]
        while heap[node] >= 0 and ratio[heap[node]] < ratio[node]:
            child = heap[node]
            rest = meld(left[child], right[child], ratio, left, right)
            heap[node] = meld(rest, heap[child], ratio, left, right)
            top[node] += top[child]
            bottom[node] += bottom[child]
            ratio[node] = top[node] / bottom[node]
            pooled_into[child] = node
        if above >= 0:
            left[node] = right[node] = -1
            heap[above] = meld(heap[above], node, ratio, left, right)
    for node in range(n_nodes - 1, n_leaves - 1, -1):
        if pooled_into[node] >= 0:
            ratio[node] = ratio[pooled_into[node]]
    return ratio
