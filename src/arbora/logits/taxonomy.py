"""A given taxonomy of classes as a tree, and how far the classes are apart in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora.tree import Tree


def taxonomy_tree(taxonomy: Any, n_classes: int) -> Tree:
    """Tree over the classes from a taxonomy in any usual form.

    Parameters
    ----------
    taxonomy : Tree, sequence of labels, or sequence of paths
        A tree over the same classes; the superclass of each class; or, for each class, the names from the root down to
        it (as WordNet's hypernym paths; the class itself may come last).
    n_classes : int

    Examples
    --------
    >>> from arbora.logits import taxonomy_tree
    >>> taxonomy_tree(["pet", "pet", "farm"], 3).to_newick()
    '((0,1)pet,(2)farm);'
    >>> taxonomy_tree([["thing", "animal", "ant"], ["thing", "animal", "bee"], ["thing", "tool", "saw"]], 3).to_newick()
    '((0,1)animal,(2)tool)thing;'
    """
    if isinstance(taxonomy, Tree):
        if taxonomy.n_leaves != n_classes:
            raise ValueError(f"taxonomy must have one leaf a class, {n_classes}. Got {taxonomy.n_leaves}.")
        return taxonomy
    entries = list(taxonomy)
    if len(entries) != n_classes:
        raise ValueError(f"taxonomy must have one entry a class, {n_classes}. Got {len(entries)}.")
    if all(isinstance(entry, (str, int, np.integer, np.str_)) for entry in entries):
        return _tree_of_paths([("", str(entry)) for entry in entries], n_classes)
    paths = [tuple(str(name) for name in entry) for entry in entries]
    if any(len(path) == 0 for path in paths):
        raise ValueError(
            f"taxonomy must give every class a path. Class {[len(p) for p in paths].index(0)} has none."
        )
    if len({path[0] for path in paths}) > 1:
        paths = [("", *path) for path in paths]
    return _tree_of_paths(_without_the_class(paths), n_classes)


def _without_the_class(paths: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Paths that are all different end with the class itself: drop it."""
    if len(set(paths)) < len(paths):
        return paths
    return [path[:-1] if len(path) > 1 else path for path in paths]


def _tree_of_paths(paths: list[tuple[str, ...]], n_classes: int) -> Tree:
    """A node for every beginning of a path: names alone may be shared by different taxa."""
    number: dict[tuple[str, ...], int] = {}
    for path in paths:
        for length in range(1, len(path) + 1):
            number.setdefault(path[:length], n_classes + len(number))
    parent = [number[path] for path in paths]
    parent += [number[taxon[:-1]] if len(taxon) > 1 else -1 for taxon in number]
    return Tree.from_parents(
        parent, n_classes, sort=True, name=[""] * n_classes + [taxon[-1] for taxon in number]
    )


class Placement:
    """Where classes and groups of classes meet in a taxonomy.

    Parameters
    ----------
    taxonomy : Tree
    """

    def __init__(self, taxonomy: Tree) -> None:
        self.tree = taxonomy
        self.depth = taxonomy.depths

    def meet(self, classes: Sequence[int] | NDArray[np.int64]) -> int:
        """Lowest node above all the classes."""
        start = self.tree.leaf_start[np.asarray(classes)]
        leaves = self.tree.leaf_order[[start.min(), start.max()]]
        return int(self.tree.lca(int(leaves[0]), int(leaves[1])))

    def nearest_elsewhere(self, classes: Sequence[int] | NDArray[np.int64]) -> int:
        """Depth of the lowest node above the classes that has other classes below it too."""
        node = self.meet(classes)
        while node != self.tree.root and self.tree.sizes[node] <= len(classes):
            node = int(self.tree.parent[node])
        return int(self.depth[node])

    def distance(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.float64]:
        """Of pairs of classes: 0 for siblings, 1 where they meet only at the root."""
        meet = self.depth[self.tree.lca(a, b)]
        reach = np.minimum(self.depth[a], self.depth[b]) - 1
        share = np.divide(meet, reach, out=np.zeros(len(meet)), where=reach > 0)
        return np.asarray(1.0 - share.clip(0, 1))

    def name(self, node: int) -> str:
        """Name of a node of the taxonomy, the nearest named one above it, or 'everything'."""
        while node >= 0:
            given = "" if self.tree.name is None else str(self.tree.name[node])
            if given and node >= self.tree.n_leaves:
                return given
            node = int(self.tree.parent[node])
        return "everything"
