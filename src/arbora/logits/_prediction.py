"""Probabilities of all nodes of a tree, and the deepest node that is sure enough."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora._base.types import Floats, Ints
from arbora.logits._rows import ArrayRows
from arbora.tree import Tree

# Probabilities of nodes held at once: 128 MB.
_NUMBERS_AT_ONCE = 1 << 24


def node_probabilities(tree: Tree, rows: ArrayRows) -> Floats:
    """Probability of every node for each point: float64[n_nodes, n_points]."""
    # raises at rows that cannot be used
    rows.scan()
    out = np.zeros((tree.n_nodes, rows.n_points))
    out[: tree.n_leaves] = rows.probabilities().T
    for v in range(tree.n_leaves, tree.n_nodes):
        out[v] = out[tree.children(v)].sum(axis=0)
    return out


def sure_nodes(tree: Tree, rows: ArrayRows, confidences: Sequence[float]) -> Ints:
    """Deepest node with at least each confidence on the way down by the most probable child: int64[n_levels, n_points].

    The confidences must descend: a lower one is reached by walking further.
    """
    step = max(1, _NUMBERS_AT_ONCE // tree.n_nodes)
    found = []
    for start in range(0, rows.n_points, step):
        probability = node_probabilities(tree, rows.slice(start, start + step))
        found.append(_walk(tree, probability, confidences))
    return np.concatenate(found, axis=1)


def _walk(tree: Tree, probability: Floats, confidences: Sequence[float]) -> Ints:
    n_points = probability.shape[1]
    node = np.full(n_points, tree.root)
    found = np.empty((len(confidences), n_points), np.int64)
    for number, bound in enumerate(confidences):
        _descend(tree, probability, node, bound)
        found[number] = node
    return found


def _descend(tree: Tree, probability: Floats, node: Ints, bound: float) -> None:
    """Move every point to the most probable child as long as that is at least `bound`."""
    order = np.argsort(node, kind="stable")
    starts = np.flatnonzero(np.diff(node[order], prepend=-1))
    waiting = [(int(node[group[0]]), group) for group in np.split(order, starts[1:]) if len(group)]
    while waiting:
        v, points = waiting.pop()
        if v < tree.n_leaves:
            continue
        children = tree.children(v)
        of_children = probability[np.ix_(children, points)]
        best = of_children.argmax(axis=0)
        is_sure = of_children[best, np.arange(len(points))] >= bound
        for number, child in enumerate(children.tolist()):
            moved = points[is_sure & (best == number)]
            if len(moved):
                node[moved] = child
                waiting.append((child, moved))


def node_names(tree: Tree) -> NDArray[Any]:
    """Names of all nodes as an array of objects, "node 7" where a node has none."""
    names = [tree.label(v) if v < tree.n_leaves else "" for v in range(tree.n_nodes)]
    if tree.name is not None:
        names = [str(name) or own for name, own in zip(tree.name, names)]
    return np.array([name or f"node {v}" for v, name in enumerate(names)], dtype=object)
