"""Which leaf of one tree is which leaf of another: leaves are matched by name.

A leaf goes by its name, or by its number where it has none. A tree whose leaves are called "0", "1", ... therefore
fits one without names, wherever its leaves were written: a Newick file of an unnamed tree finds its rows again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from arbora._base.arrays import is_missing
from arbora._base.types import Ints
from arbora.tree._tree import Tree
from arbora.tree.surgery import keep_internal

_SHOWN = 5


def matched_to(tree: Tree, other: Tree | Sequence[Any]) -> Tree:
    """The same tree with its leaves numbered as in `other`.

    Parameters
    ----------
    tree : Tree
    other : Tree or sequence of str
        A tree over the same leaves, or their names in the wanted order (a number stands for that row).

    Returns
    -------
    Tree
        Leaf i is the one that `other` has at i. Heights, supports, names and drawing order move along.

    Raises
    ------
    ValueError
        Where a name is missing on either side, or repeats.

    Examples
    --------
    >>> from arbora import Tree
    >>> Tree.from_newick("((c,a),b);").matched_to(["a", "b", "c"]).to_newick()
    '((a,c),b);'
    """
    if isinstance(other, str) or (not isinstance(other, Tree) and not isinstance(other, Iterable)):
        raise TypeError(f"other must be a Tree or a sequence of names. Got {other!r:.60}.")
    wanted = other.leaf_names if isinstance(other, Tree) else _keys_of_names(other)
    return renumbered(tree, matching_leaves(tree.leaf_names, wanted))


def matched_pair(tree: Tree, other: Tree, *, common: bool = False) -> tuple[Tree, Tree]:
    """Both trees with leaves numbered alike, `tree` as it is; with `common`, both over the leaves they share."""
    if not isinstance(other, Tree):
        raise TypeError(f"other must be a Tree. Got {type(other).__name__}.")
    # trees without names, the usual case of a search, need no dictionary
    if tree.name is None and other.name is None and tree.n_leaves == other.n_leaves:
        return tree, other
    ours, theirs = tree.leaf_names, other.leaf_names
    if not common:
        return tree, renumbered(other, matching_leaves(theirs, ours, ("other", "the tree")))
    _refuse_repeats(ours, "the tree")
    place = _places(theirs, "other")
    shared = [leaf for leaf, key in enumerate(ours) if key in place]
    if not shared:
        raise ValueError(f"The trees share no leaf. {_difference(ours, theirs, ('the tree', 'other'))}")
    return tree.restrict(shared), other.restrict([place[ours[leaf]] for leaf in shared])


def matching_leaves(
    keys: Sequence[str], wanted: Sequence[str], whose: tuple[str, str] = ("the tree", "other")
) -> Ints:
    """Where each wanted key stands among the keys; refused unless both are the same set without repeats.

    `whose` says in errors where keys and wanted keys come from.
    """
    place = _places(keys, whose[0])
    _refuse_repeats(wanted, whose[1])
    if len(keys) != len(wanted) or any(key not in place for key in wanted):
        raise ValueError(
            f"Both must have the same leaves. {_difference(keys, wanted, whose)} "
            "Compare what they share with common=True or tree.restrict(leaves); where leaf i is the same in both, "
            "give both the same names with tree.replace(name=...), or none."
        )
    return np.array([place[key] for key in wanted], dtype=np.int64)


def renumbered(tree: Tree, leaves: Ints) -> Tree:
    """The tree with ``leaves[i]`` as its leaf i."""
    if np.array_equal(leaves, np.arange(tree.n_leaves)):
        return tree
    return keep_internal(tree, np.ones(tree.n_nodes, dtype=np.bool_), leaves)


def _keys_of_names(names: Iterable[Any]) -> list[str]:
    return [str(row) if is_missing(name) or name == "" else str(name) for row, name in enumerate(names)]


def _places(keys: Sequence[str], whose: str) -> dict[str, int]:
    place = {key: leaf for leaf, key in enumerate(keys)}
    if len(place) < len(keys):
        _refuse_repeats(keys, whose)
    return place


def _refuse_repeats(keys: Sequence[str], whose: str) -> None:
    seen: set[str] = set()
    # set.add returns None, so this collects keys met before
    repeated = {key for key in keys if key in seen or seen.add(key)}  # type: ignore[func-returns-value]
    if repeated:
        raise ValueError(
            f"Leaves are matched by name, but {len(repeated)} names repeat in {whose}: {_shown(repeated)}. "
            "Where leaf i is the same in both, drop the names with tree.replace(name=None)."
        )


def _difference(ours: Sequence[str], theirs: Sequence[str], whose: tuple[str, str]) -> str:
    ours_only, theirs_only = set(ours) - set(theirs), set(theirs) - set(ours)
    parts = []
    if ours_only:
        parts.append(f"{len(ours_only)} of {len(ours)} only in {whose[0]}: {_shown(ours_only)}.")
    if theirs_only:
        parts.append(f"{len(theirs_only)} of {len(theirs)} only in {whose[1]}: {_shown(theirs_only)}.")
    return " ".join(parts)


def _shown(keys: Iterable[str]) -> str:
    ordered = sorted(keys)
    return ", ".join(map(repr, ordered[:_SHOWN])) + (", ..." if len(ordered) > _SHOWN else "")
