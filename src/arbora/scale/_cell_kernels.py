"""Clusters joined along a list of pairs as long as they stay small: plain functions of arrays."""

from __future__ import annotations

import numpy as np

from arbora._base.jit import pass_kernel


@pass_kernel()
def join_in_order(left, right, size, most, target):
    """Join the two ends of each pair, in order, where their sizes together are at most `most`.

    Ends as soon as only `target` clusters are left. Returns for each cluster the smallest one that it is joined with:
    int64[n]. O((n + n_pairs) log n).
    """
    n = size.shape[0]
    root = np.arange(n)
    weight = size.copy()
    n_left = n
    for k in range(left.shape[0]):
        if n_left <= target:
            break
        a, b = left[k], right[k]
        while root[a] != a:
            root[a] = root[root[a]]
            a = root[a]
        while root[b] != b:
            root[b] = root[root[b]]
            b = root[b]
        if a == b or weight[a] + weight[b] > most:
            continue
        if a > b:
            a, b = b, a
        root[b] = a
        weight[a] += weight[b]
        n_left -= 1
    for node in range(n):
        # what a node points to is smaller, and was made final before it
        root[node] = root[root[node]]
    return root
