"""Leaves and rows are matched by name. Numbers as names are row numbers; what does not match is refused."""

from __future__ import annotations

from collections import Counter

from arbora.cli._exit import Unusable
from arbora.reading import Dataset
from arbora.tree import Tree


def matched(tree: Tree, data: Dataset) -> Tree:
    """The tree with row i of the data as its leaf i, named as the data names it."""
    n = tree.n_leaves
    leaves = [tree.label(leaf) for leaf in range(n)]
    numbers = [str(row) for row in range(data.n_points)]
    if n != data.n_points:
        raise Unusable(f"{data.source} has {data.n_points:,} points, the tree {n:,} leaves.")
    if data.names is not None and leaves == data.names:
        return tree
    if tree.name is not None and data.names is not None and set(leaves) == set(data.names):
        return _by_name(tree, leaves, data)
    if tree.name is None or leaves == numbers:
        # no names: leaf i is row i
        found = tree
    elif set(leaves) == set(numbers):
        found = tree.matched_to(numbers)
    elif data.names is None:
        raise Unusable(
            f"The leaves of the tree have names ({leaves[0]!r}, ...), the rows of {data.source} have none. "
            "Name the column that holds them with --name-column."
        )
    else:
        return _by_name(tree, leaves, data)
    return found if data.names is None else found.replace(name=data.names)


def _by_name(tree: Tree, leaves: list[str], data: Dataset) -> Tree:
    assert data.names is not None
    repeated = [name for name, count in Counter(data.names).items() if count > 1]
    if repeated:
        shown = ", ".join(map(repr, repeated[:5]))
        raise Unusable(
            f"Names repeat in {data.source}: {shown}. Leaves can only be matched to distinct names."
        )
    missing = sorted(set(leaves) - set(data.names))
    if missing:
        shown = ", ".join(map(repr, missing[:5]))
        raise Unusable(
            f"{len(missing):,} leaves of the tree are not among the names in {data.source}, for example {shown}. "
            "--name-column says which column holds the names."
        )
    return tree.matched_to(data.names)


def matched_tree(other: Tree, tree: Tree, files: tuple[str, str]) -> Tree:
    """The other tree with its leaves numbered as in the tree; `files` are those of the tree and of the other."""
    ours, theirs = set(tree.leaf_names), set(other.leaf_names)
    parts = [
        f"{len(only):,} only in {file}: {', '.join(map(repr, sorted(only)[:5]))}{', ...' * (len(only) > 5)}."
        for file, only in zip(files, (ours - theirs, theirs - ours), strict=True)
        if only
    ]
    if parts:
        raise Unusable(f"Trees are compared by the names of their leaves, which differ. {' '.join(parts)}")
    return other.matched_to(tree)
