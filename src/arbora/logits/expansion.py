"""Trees over points from a tree over classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from arbora.tree import Tree


def expand(tree: Tree, assignments: ArrayLike) -> Tree:
    """Tree over points: every leaf of `tree` becomes a node with the points assigned to it below.

    Leaves without points, and nodes left with one child, drop out.

    Parameters
    ----------
    tree : Tree
        Over classes or clusters.
    assignments : array-like of int, shape (n_points,)
        Leaf of `tree` of each point.

    Returns
    -------
    expanded : Tree
        With `n_points` leaves; point i is leaf i. Heights and names are those of the nodes that remain (a class's
        points hang at height 0, the class itself too).

    Examples
    --------
    >>> import arbora as ab
    >>> tree = ab.Tree([3, 3, 4, 4, -1], n_leaves=3, name=["cat", "dog", "car"])
    >>> ab.logits.expand(tree, [0, 0, 1, 1, 1]).to_newick()
    '((0,1)cat,(2,3,4)dog);'
    """
    leaf = np.asarray(assignments)
    if leaf.ndim != 1 or leaf.dtype.kind not in "iu" or len(leaf) == 0:
        raise ValueError(f"assignments must be a non-empty list of leaf numbers. Got {assignments!r:.200}.")
    if leaf.min() < 0 or leaf.max() >= tree.n_leaves:
        raise ValueError(
            f"assignments must lie in [0, n_leaves={tree.n_leaves}). Got {leaf.min()}..{leaf.max()}."
        )
    n = len(leaf)
    stands_for = _surviving_descendant(tree, np.bincount(leaf, minlength=tree.n_leaves))
    kept = np.flatnonzero(stands_for == np.arange(tree.n_nodes))
    number = np.full(tree.n_nodes, -1, np.int64)
    number[kept] = n + np.arange(len(kept))
    single = np.flatnonzero(np.bincount(leaf, minlength=tree.n_leaves) == 1)
    point_of_leaf = np.full(tree.n_leaves, -1, np.int64)
    point_of_leaf[leaf] = np.arange(n)
    above = _kept_parent(tree, stands_for)
    parent = np.full(n + len(kept), -1, np.int64)
    parent[n:] = np.where(above[kept] >= 0, number[above[kept]], -1)
    parent[:n] = number[leaf]
    lone = point_of_leaf[single]
    parent[lone] = np.where(above[single] >= 0, number[above[single]], -1)
    height = None if tree.height is None else np.concatenate([np.zeros(n), tree.height[kept]])
    name = None if tree.name is None else [""] * n + [str(tree.name[v]) for v in kept]
    return Tree(parent, n, height=height, name=name)


def _surviving_descendant(tree: Tree, count: np.ndarray) -> np.ndarray:
    """The node that takes each node's place: itself where it still joins two or more, -1 where nothing is below.

    A leaf with one point survives as that point and is marked by its own number minus `n_nodes`, so negative.
    """
    lone = np.arange(tree.n_leaves) - tree.n_nodes - 1
    place = np.full(tree.n_nodes, -1, np.int64)
    place[: tree.n_leaves] = np.where(count > 1, np.arange(tree.n_leaves), np.where(count == 1, lone, -1))
    for v in range(tree.n_leaves, tree.n_nodes):
        below = place[tree.children(v)]
        below = below[below != -1]
        place[v] = v if len(below) > 1 else (below[0] if len(below) == 1 else -1)
    return place


def _kept_parent(tree: Tree, place: np.ndarray) -> np.ndarray:
    """Nearest ancestor of each node that survives as itself, or -1."""
    above = np.full(tree.n_nodes, -1, np.int64)
    for v in range(tree.n_nodes - 2, -1, -1):
        p = tree.parent[v]
        above[v] = p if place[p] == p else above[p]
    return above
