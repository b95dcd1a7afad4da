"""A given taxonomy of classes as a tree, and how far the classes are apart in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from arbora._base.types import Floats, Ints
from arbora.tree import Tree

# Superclass of a class, or the names from the root down to it.
Entry: TypeAlias = str | int | Sequence[str]
Taxonomy: TypeAlias = Tree | Sequence[Entry] | Mapping[str, Entry]

_LEAST_OVERLAP = 0.5


def taxonomy_tree(taxonomy: Taxonomy, n_classes: int, class_names: Sequence[str] | None = None) -> Tree:
    """Tree over the classes from a taxonomy in any usual form.

    Parameters
    ----------
    taxonomy : Tree, sequence of labels, sequence of paths, or mapping of either by class name
        A tree over the same classes; the superclass of each class; or, for each class, the names from the root down to
        it (as WordNet's hypernym paths; the class itself may come last). A mapping must have every class.
    n_classes : int
    class_names : sequence of str, optional
        What the keys of a mapping are; by default the numbers of the classes.

    Examples
    --------
    >>> from arbora.logits import taxonomy_tree
    >>> taxonomy_tree(["pet", "pet", "farm"], 3).to_newick()
    '((0,1)pet,(2)farm);'
    >>> taxonomy_tree([["thing", "animal", "ant"], ["thing", "animal", "bee"], ["thing", "tool", "saw"]], 3).to_newick()
    '((0,1)animal,(2)tool)thing;'
    >>> taxonomy_tree({"cow": "farm", "cat": "pet"}, 2, ["cat", "cow"]).to_newick()
    '((0)pet,(1)farm);'
    """
    if isinstance(taxonomy, Tree):
        if taxonomy.n_leaves != n_classes:
            raise ValueError(f"taxonomy must have one leaf per class, {n_classes}. Got {taxonomy.n_leaves}.")
        return taxonomy
    entries = _entries(taxonomy, n_classes, class_names)
    if all(isinstance(entry, (str, int, np.integer)) for entry in entries):
        return _tree_of_paths([("", str(entry)) for entry in entries], n_classes)
    for number, entry in enumerate(entries):
        if isinstance(entry, (str, int)) or not isinstance(entry, (Sequence, np.ndarray)):
            raise TypeError(
                f"taxonomy must give all classes a label, or all a path. Class {number} has {entry!r:.60}."
            )
    paths = [tuple(str(name) for name in entry) for entry in entries if not isinstance(entry, int)]
    if any(len(path) == 0 for path in paths):
        raise ValueError(
            f"taxonomy must give every class a path. Class {[len(p) for p in paths].index(0)} has none."
        )
    if len({path[0] for path in paths}) > 1:
        paths = [("", *path) for path in paths]
    return _tree_of_paths(_without_the_class(paths), n_classes)


def _entries(
    taxonomy: Sequence[Entry] | Mapping[str, Entry], n_classes: int, class_names: Sequence[str] | None
) -> list[Entry]:
    if isinstance(taxonomy, Mapping):
        names = [str(c) for c in range(n_classes)] if class_names is None else list(class_names)
        given = {str(name): entry for name, entry in taxonomy.items()}
        missing = [name for name in names if name not in given]
        unknown = sorted(given.keys() - set(names))
        if missing or unknown:
            words = [f"no entry for {', '.join(map(repr, missing[:5]))}"] if missing else []
            words += [f"no class called {', '.join(map(repr, unknown[:5]))}"] if unknown else []
            raise ValueError(f"taxonomy must map every class by its name: there is {' and '.join(words)}.")
        return [given[name] for name in names]
    if isinstance(taxonomy, (str, bytes)) or not isinstance(taxonomy, (Sequence, np.ndarray)):
        raise TypeError(
            "taxonomy must be a Tree, one entry per class, or a mapping from class names. "
            f"Got {type(taxonomy).__name__}."
        )
    if len(taxonomy) != n_classes:
        raise ValueError(f"taxonomy must have one entry per class, {n_classes}. Got {len(taxonomy)}.")
    return list(taxonomy)


def name_nodes(tree: Tree, taxonomy: Taxonomy) -> Tree:
    """The tree of classes with names on the inner nodes that match a taxon.

    A node and a taxon match where each is the other's best and they share half of their union.

    Parameters
    ----------
    tree : Tree
        Over the classes, as ``L2H.tree_``.
    taxonomy : Tree, sequence or dict
        As in `class_report`: a tree over the classes, the superclass of each class, or a dictionary of them by name.

    Examples
    --------
    >>> import arbora as ab
    >>> tree = ab.Tree.from_newick("((cat,dog),(car,bus));")
    >>> ab.logits.name_nodes(tree, ["pet", "pet", "vehicle", "vehicle"]).to_newick()
    '((cat,dog)pet,(car,bus)vehicle);'
    """
    n = tree.n_leaves
    taxonomy = taxonomy_tree(taxonomy, n, [tree.label(leaf) for leaf in range(n)])
    taxa = [v for v in range(n, taxonomy.n_nodes) if taxonomy.name is not None and str(taxonomy.name[v])]
    if not taxa:
        return tree
    own, other = _members(tree, list(range(n, tree.n_nodes))), _members(taxonomy, taxa)
    shared = own @ other.T
    union = own.sum(axis=1)[:, None] + other.sum(axis=1)[None, :] - shared
    overlap = shared / union
    names = [tree.label(leaf) for leaf in range(n)] + [""] * tree.n_internal
    if tree.name is not None:
        names = [str(name) for name in tree.name]
    for k, taxon in enumerate(taxa):
        node = int(overlap[:, k].argmax())
        is_best = overlap[node, k] >= max(_LEAST_OVERLAP, overlap[node].max())
        if is_best and not names[n + node]:
            names[n + node] = str(taxonomy.name[taxon])  # type: ignore[index]
    return tree.replace(name=names)


def _members(tree: Tree, nodes: list[int]) -> Floats:
    """Which leaves are below which of the nodes: float64[n_nodes, n_leaves] of 0 and 1."""
    out = np.zeros((len(nodes), tree.n_leaves))
    for row, v in enumerate(nodes):
        out[row, tree.leaves(v)] = 1
    return out


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

    def meet(self, classes: Sequence[int] | Ints) -> int:
        """Lowest node above all the classes."""
        start = self.tree.leaf_start[np.asarray(classes)]
        leaves = self.tree.leaf_order[[start.min(), start.max()]]
        return int(self.tree.lca(int(leaves[0]), int(leaves[1])))

    def nearest_elsewhere(self, classes: Sequence[int] | Ints) -> int:
        """Depth of the lowest node above the classes that has other classes below it too."""
        node = self.meet(classes)
        while node != self.tree.root and self.tree.sizes[node] <= len(classes):
            node = int(self.tree.parent[node])
        return int(self.depth[node])

    def distance(self, a: Ints, b: Ints) -> Floats:
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
