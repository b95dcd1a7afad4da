"""Linkage of a graph by definition, slowly, and random graphs to compare it on."""

import numpy as np
import pytest


def random_weights(n, density, rng, *, whole=False):
    """Symmetric weights with zero diagonal; whole numbers make many ties."""
    W = np.triu(rng.random((n, n)), 1)
    if whole:
        W = np.ceil(3 * W)
    W *= np.triu(rng.random((n, n)) < density, 1)
    return W + W.T


def similarity_by_definition(W, S, T, method):
    between = W[np.ix_(sorted(S), sorted(T))]
    if method == "single":
        return between.max()
    if method == "complete":
        return between.min()
    if method == "paris":
        degree = W.sum(axis=1)
        return between.sum() * degree.sum() / (degree[sorted(S)].sum() * degree[sorted(T)].sum())
    return between.mean()


def assert_greedy(tree, W, method):
    """Every node joins a pair that no other pair present then beats, at height 1 / similarity."""
    present = {leaf: {leaf} for leaf in range(tree.n_leaves)}
    for node in range(tree.n_leaves, tree.n_nodes):
        a, b = tree.children(node)
        names = list(present)
        best = max(
            similarity_by_definition(W, present[s], present[t], method)
            for k, s in enumerate(names)
            for t in names[:k]
        )
        joined = similarity_by_definition(W, present[a], present[b], method)
        assert joined >= best * (1 - 1e-9)
        if joined > 0:
            assert tree.height[node] == pytest.approx(1 / joined, rel=1e-9)
        present[node] = present.pop(a) | present.pop(b)
