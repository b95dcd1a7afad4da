"""Sums over one discrete tree of internal nodes, given as parents (children first, root last, its own parent)."""

from __future__ import annotations

import numpy as np

from arbora._base.jit import inner, kernel


@inner
def xlogy_ratio(a, b):
    """``a log(a / b)``, 0 where a is 0 (or b is, which only rounding can cause)."""
    if a <= 0.0 or b <= 0.0:
        return 0.0
    return a * np.log(a / b)


@inner
def mark_path(parent, node, on_path, value):
    """Set ``on_path`` for a node and all its ancestors."""
    root = parent.shape[0] - 1
    on_path[node] = value
    while node != root:
        node = parent[node]
        on_path[node] = value


@kernel()
def path_sums(parent, at_node):
    """Sum over every internal node and its ancestors."""
    total = at_node.copy()
    for node in range(parent.shape[0] - 2, -1, -1):
        total[node] += total[parent[node]]
    return total


@kernel()
def outside_weights(parent, S):
    """Row k: weight between the leaves below k and the leaves outside it, by the parent of the outer leaf."""
    n_internal = parent.shape[0]
    out = S.copy()
    inside = np.zeros((n_internal, n_internal), dtype=np.bool_)
    for k in range(n_internal):
        inside[k, k] = True
        if k < n_internal - 1:
            # entry by entry: compiling the sum of two rows takes seconds, for its error messages
            for other in range(n_internal):
                out[parent[k], other] += out[k, other]
    for k in range(n_internal - 1):
        for below in range(k + 1):
            if inside[k, below]:
                inside[parent[k], below] = True
    for k in range(n_internal):
        for other in range(n_internal):
            if inside[k, other]:
                out[k, other] = 0.0
    return out


@kernel()
def joining_parents(leaf_parent, parent):
    """Parent of every leaf in the tree that is left when nodes with a single child are passed over.

    Otherwise a leaf alone under a node would keep its pair with itself (TSD) at that node, which no tree has.
    """
    n_internal = parent.shape[0]
    n_children = np.zeros(n_internal, dtype=np.int64)
    for i in range(leaf_parent.shape[0]):
        n_children[leaf_parent[i]] += 1
    for node in range(n_internal - 1):
        if n_children[node] > 0:
            n_children[parent[node]] += 1
    joins = np.empty(n_internal, dtype=np.int64)
    joins[n_internal - 1] = n_internal - 1
    for node in range(n_internal - 2, -1, -1):
        joins[node] = node if n_children[node] > 1 else joins[parent[node]]
    joined = np.empty_like(leaf_parent)
    for i in range(leaf_parent.shape[0]):
        joined[i] = joins[leaf_parent[i]]
    return joined
