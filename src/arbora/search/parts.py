"""What of a tree is free to change: below a kept top, around kept subtrees, within and between linked points.

Whatever stays together moves as one heavy point, so each of these is a search on fewer points, and the trees of the
parts are put together at the end. Links that contradict what is kept are refused before anything is searched.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from arbora._base.params import check_whole
from arbora._base.types import Ints
from arbora.search.constraints import Links, lowest_above
from arbora.search.engines import Engine
from arbora.tree import Tree
from arbora.tree.surgery import graft, top_over

SearchTree: TypeAlias = Callable[[Engine, Tree], Tree]


@dataclass(frozen=True)
class Kept:
    """Leaves of the subtrees that stay as they are (disjoint, each ascending), and how much of the top stays."""

    subtrees: list[Ints] = field(default_factory=list)
    top: int | None = None

    @classmethod
    def from_options(cls, tree: Tree, keep_subtrees: Sequence[int] | None, keep_top: int | None) -> Kept:
        """What `refine` was asked to keep of a tree, by its leaves: node numbers change, leaves do not."""
        nodes = [] if keep_subtrees is None else _checked_nodes(keep_subtrees, tree)
        if keep_top is not None:
            keep_top = check_whole(keep_top, "keep_top", least=1, most=tree.n_leaves)
        return cls([np.sort(tree.leaves(node)) for node in _outermost(tree, nodes)], keep_top)

    def __bool__(self) -> bool:
        return bool(self.subtrees) or self.top is not None


def _checked_nodes(nodes: Sequence[int], tree: Tree) -> list[int]:
    if isinstance(nodes, (str, bytes)) or np.ndim(nodes) != 1:
        raise TypeError(f"keep_subtrees must be a list of nodes. Got {nodes!r}.")
    return [check_whole(node, "a node of keep_subtrees", least=0, most=tree.n_nodes - 1) for node in nodes]


def _outermost(tree: Tree, nodes: Sequence[int]) -> list[int]:
    """The given nodes that do not lie below another of them."""
    chosen: list[int] = []
    covered = np.zeros(tree.n_leaves, dtype=bool)
    for node in sorted(set(nodes), key=lambda node: -int(tree.sizes[node])):
        leaves = tree.leaves(node)
        if not covered[leaves[0]]:
            covered[leaves] = True
            chosen.append(node)
    return chosen


@dataclass(frozen=True)
class Part:
    """A tree without unary nodes, the engine over its leaves, and what binds a search of it."""

    engine: Engine
    tree: Tree
    links: Links
    kept: Kept

    def inside(self, leaves: Ints, tree: Tree) -> Part:
        """The part over some of the leaves (ascending), whose tree is given."""
        subtrees = [np.searchsorted(leaves, kept) for kept in self.kept.subtrees if _is_within(kept, leaves)]
        return Part(self.engine.restrict(leaves), tree, self.links.inside(leaves), Kept(subtrees))


def _is_within(some: Ints, leaves: Ints) -> bool:
    return bool(np.isin(some, leaves, assume_unique=True).all())


def search_parts(part: Part, search: SearchTree) -> Tree:
    """Search what is free of a tree."""
    if part.kept.top is not None:
        return _below_top(part, part.kept.top, search)
    if part.kept.subtrees:
        return _around_subtrees(part, search)
    return _within_and_between_groups(part, search)


def _below_top(part: Part, top: int, search: SearchTree) -> Tree:
    tree = part.tree
    label = tree.cut(n_clusters=top, min_size=1)
    for kept in part.kept.subtrees:
        # a kept subtree that the cut would split is one part
        label[kept] = label[kept[0]]
    label = np.unique(label, return_inverse=True)[1]
    leaves = [np.flatnonzero(label == part_number) for part_number in range(label.max() + 1)]
    part.links.below_top(tree, label, top)
    nodes = np.array([lowest_above(tree, below) for below in leaves])
    parts = [
        search_parts(part.inside(below, tree.subtree(int(node))), search)
        for node, below in zip(nodes, leaves)
    ]
    return graft(top_over(tree, nodes), parts, leaves)


def _around_subtrees(part: Part, search: SearchTree) -> Tree:
    tree, kept = part.tree, part.kept.subtrees
    leaves, label = _groups_and_singles(tree.n_leaves, kept)
    links = part.links.around(tree, kept, label)
    inner = [tree.restrict(group) for group in kept]

    def search_between(engine: Engine, top: Tree) -> Tree:
        return _within_and_between_groups(Part(engine, top, links, Kept()), search)

    return _contracted(part, leaves, label, inner, search_between)


def _within_and_between_groups(part: Part, search: SearchTree) -> Tree:
    groups = part.links.groups
    if not groups:
        return _separated(part, search)
    leaves, label = _groups_and_singles(part.tree.n_leaves, groups)
    inner = [search(part.engine.restrict(group), part.tree.restrict(group)) for group in groups]
    apart = Links(cannot_link=label[part.links.cannot_link])

    def search_between(engine: Engine, top: Tree) -> Tree:
        return _separated(Part(engine, top, apart, Kept()), search)

    return _contracted(part, leaves, label, inner, search_between)


def _separated(part: Part, search: SearchTree) -> Tree:
    """Search, then separate what cannot be together at the root and search each side."""
    found = search(part.engine, part.tree)
    if len(part.links.cannot_link) == 0:
        return found
    sides = part.links.sides(found, part.engine)
    inner = [search(part.engine.restrict(side), found.restrict(side)) for side in sides]
    root = Tree([len(sides)] * len(sides) + [-1], len(sides))
    return graft(root, inner, sides)


def _groups_and_singles(n_leaves: int, groups: list[Ints]) -> tuple[list[Ints], Ints]:
    """The groups, then each other leaf by itself, ascending; and which of them each leaf is in."""
    label = np.full(n_leaves, -1, dtype=np.int64)
    for number, group in enumerate(groups):
        label[group] = number
    single = np.flatnonzero(label < 0)
    label[single] = len(groups) + np.arange(len(single))
    return [*groups, *single[:, None]], label


def _contracted(part: Part, leaves: list[Ints], label: Ints, inner: list[Tree], search: SearchTree) -> Tree:
    """Search with each group of leaves contracted to one heavy point, then put the inner trees back."""
    representatives = np.array([group[0] for group in leaves])
    top = search(part.engine.contract(label, len(leaves)), part.tree.restrict(representatives))
    lone = Tree([-1], 1)
    return graft(top, [*inner, *[lone] * (len(leaves) - len(inner))], leaves)
