"""Leaves meet points by position; where both have names, these must not say otherwise, or decide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from arbora._base.arrays import row_names
from arbora._base.types import Ints

if TYPE_CHECKING:
    from arbora.tree._tree import Tree


def check_same_order(tree: Tree, names: Sequence[str] | None, argument: str) -> None:
    """Refuse a tree whose leaf i is called as another point than point i is.

    Leaves without names, and names that only one side has, say nothing. Points without names go by their numbers where
    the tree is one without names that was written and read: its leaves are called by numbers then.

    Parameters
    ----------
    tree : Tree
    names : sequence of str, optional
        Names of the points.
    argument : str
        What holds the points, for the error.

    Examples
    --------
    >>> from arbora import Tree
    >>> from arbora.tree.same_order import check_same_order
    >>> check_same_order(Tree.from_newick("((c,a),b);"), ["a", "b", "c"], "similarity")
    Traceback (most recent call last):
    ...
    ValueError: Leaf i must be point i, but names say otherwise: leaf 0 of the tree is 'c', which is point 2 of \
similarity. Pass tree.matched_to(['a', 'b', 'c']) to match them by name, with all names of similarity, or \
tree.replace(name=None) where leaf i is point i whatever it is called.
    """
    if tree.name is None:
        return
    ours: list[str] = tree.name[: tree.n_leaves].tolist()
    if names is None:
        names = _numbers_if_called_so(tree, ours)
    theirs = [] if names is None else list(names)
    if len(theirs) != len(ours) or ours == theirs:
        return
    moved = _first_elsewhere(ours, theirs)
    if moved is None:
        return
    leaf, point = moved
    shown = ", ".join(map(repr, theirs[:3])) + ", ..." * (len(theirs) > 3)
    raise ValueError(
        f"Leaf i must be point i, but names say otherwise: leaf {leaf} of the tree is {ours[leaf]!r}, which is "
        f"point {point} of {argument}. Pass tree.matched_to([{shown}]) to match them by name, with all names of "
        f"{argument}, or tree.replace(name=None) where leaf i is point i whatever it is called."
    )


def leaf_of_row(tree: Tree, names: Sequence[str] | None, argument: str) -> Ints | None:
    """Leaf of each row, where `names` of the rows are those of all leaves, in whatever order; None: row i is leaf i.

    Rows some of whose names are those of other leaves are refused, as by `check_same_order`.
    """
    if tree.name is None:
        return None
    if names is not None and list(names) != (ours := tree.leaf_names):
        leaf = {name: number for number, name in enumerate(ours)}
        if len(names) == len(leaf) == tree.n_leaves and set(names) == set(leaf):
            return np.array([leaf[name] for name in names], dtype=np.int64)
    check_same_order(tree, names, argument)
    return None


def row_of_leaf(tree: Tree, values: Any, argument: str) -> Ints:
    """Row of each leaf in `values`, which have a row per leaf: by the names in the index of a pandas object, if any.

    Examples
    --------
    >>> import pandas as pd
    >>> from arbora import Tree
    >>> from arbora.tree.same_order import row_of_leaf
    >>> tree = Tree.from_newick("((c,a),b);")
    >>> row_of_leaf(tree, pd.Series([1, 2, 3], index=["a", "b", "c"]), "metadata").tolist()
    [2, 0, 1]
    >>> row_of_leaf(tree, [3, 1, 2], "metadata").tolist()
    [0, 1, 2]
    """
    leaves = leaf_of_row(tree, row_names(values), argument)
    return np.arange(tree.n_leaves) if leaves is None else np.argsort(leaves)


def _numbers_if_called_so(tree: Tree, ours: list[str]) -> list[str] | None:
    """The numbers of all points, if leaves are called so because a tree without names was written and read.

    It then has its leaves in the order of drawing. The tree of a frame whose rows were shuffled has not.
    """
    if not ours[0].isdecimal() or (tree.leaf_order != np.arange(len(ours))).any():
        return None
    numbers = [str(number) for number in range(len(ours))]
    return numbers if set(ours) == set(numbers) else None


def _first_elsewhere(ours: list[str], theirs: list[str]) -> tuple[int, int] | None:
    """The first leaf whose name is that of another point alone, and that point."""
    count, once = Counter(ours), Counter(theirs)
    place = {name: point for point, name in enumerate(theirs)}
    for leaf, name in enumerate(ours):
        if name and count[name] == once[name] == 1 and place[name] != leaf:
            return leaf, place[name]
    return None
