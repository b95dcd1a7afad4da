"""Trees from a hierarchy of groups: groups that hold nothing, or only one thing, do not become nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from arbora._base.types import Floats, Ints
from arbora.errors import TreeError
from arbora.tree import edit_kernels
from arbora.tree._arrays import as_ints
from arbora.tree._tree import Tree


class GroupedTree(NamedTuple):
    """A tree, and how the groups it was made from appear in it.

    Attributes
    ----------
    tree : Tree
    group : int64[n_internal]
        Group that each internal node is.
    node : int64[n_groups]
        Node that stands for each group: itself; for a group of one child what stands for the child; -1 for an
        empty group.
    """

    tree: Tree
    group: Ints
    node: Ints


def tree_of_groups(
    parent_of_group: ArrayLike,
    group_of_leaf: ArrayLike,
    *,
    height: ArrayLike | None = None,
    support: ArrayLike | None = None,
    name: Sequence[Any] | None = None,
    leaf_support: ArrayLike | None = None,
    leaf_name: Sequence[Any] | None = None,
) -> GroupedTree:
    """`Tree.from_groups` (see there), with the way from groups to nodes and back.

    Examples
    --------
    >>> from arbora.tree.groups import tree_of_groups
    >>> tree_of_groups([3, 3, 0, -1], [2, 1, 1]).node
    array([0, 3, 0, 4])
    """
    above_group, group = _checked_groups(parent_of_group, group_of_leaf)
    n, k = len(group), len(above_group)
    parent = np.concatenate([n + group, np.where(above_group >= 0, n + above_group, -1)])
    weight = np.ones(n + k)
    weight[:n] = 1.0 if leaf_support is None else _per(leaf_support, n, "leaf_support")
    weight[n:] = 1.0 if support is None else _per(support, k, "support")
    order = _children_first(above_group, parent, n)
    above, stands_for = edit_kernels.contract_unary(parent, order, n, weight)
    kept = order[stands_for[order] == order]
    number = np.full(n + k, -1, dtype=np.int64)
    number[:n] = np.arange(n)
    number[kept] = n + np.arange(len(kept))
    nodes = np.concatenate([np.arange(n), kept])
    weight[nodes[-1]] = 1.0
    tree = Tree(
        _single_root(np.where(above[nodes] >= 0, number[above[nodes]], -1)),
        n,
        height=None if height is None else np.concatenate([np.zeros(n), _per(height, k, "height")])[nodes],
        support=None if support is None and leaf_support is None else np.clip(weight[nodes], 0.0, 1.0),
        name=_names(name, leaf_name, nodes, n, k),
    )
    place = stands_for[n:]
    return GroupedTree(tree, kept - n, np.where(place >= 0, number[place], -1))


def expand(tree: Tree, leaf_of_point: ArrayLike) -> Tree:
    """Tree over points: every leaf of `tree` becomes a node with the points that belong to it below.

    Leaves without points, and nodes left with one child, drop out.

    Parameters
    ----------
    tree : Tree
        Over classes or clusters.
    leaf_of_point : array-like of int, shape (n_points,)
        Leaf of `tree` of each point.

    Returns
    -------
    expanded : Tree
        With `n_points` leaves; point i is leaf i. The nodes that remain keep height, support and name; points
        are at height 0.

    Examples
    --------
    >>> import arbora as ab
    >>> tree = ab.Tree([3, 3, 4, 4, -1], n_leaves=3, name=["cat", "dog", "car"])
    >>> tree.expand([0, 0, 1, 1, 1]).to_newick()
    '((0,1)cat,(2,3,4)dog);'
    """
    leaf = np.asarray(leaf_of_point)
    if leaf.ndim != 1 or leaf.dtype.kind not in "iu" or len(leaf) == 0:
        raise ValueError(
            f"leaf_of_point must be a non-empty list of leaf numbers. Got {leaf_of_point!r:.200}."
        )
    if leaf.min() < 0 or leaf.max() >= tree.n_leaves:
        raise ValueError(
            f"leaf_of_point must lie in [0, n_leaves={tree.n_leaves}). Got {leaf.min()}..{leaf.max()}."
        )
    names = None if tree.name is None else list(tree.name)
    found = tree_of_groups(tree.parent, leaf, height=tree.height, name=names)
    if tree.support is None:
        return found.tree
    support = np.concatenate([np.full(len(leaf), np.nan), tree.support[found.group]])
    return found.tree.replace(support=support)


def _checked_groups(parent_of_group: ArrayLike, group_of_leaf: ArrayLike) -> tuple[Ints, Ints]:
    """Both as one-dimensional arrays of group numbers; a root that is its own parent has parent -1."""
    above, group = as_ints(parent_of_group, "parent_of_group"), as_ints(group_of_leaf, "group_of_leaf")
    for values, argument, least in ((above, "parent_of_group", -1), (group, "group_of_leaf", 0)):
        if values.ndim != 1 or len(values) == 0:
            raise TreeError(f"{argument} must be a non-empty list of groups. Got shape {values.shape}.")
        if values.min() < least or values.max() >= len(above):
            raise TreeError(
                f"{argument} must hold groups 0..{len(above) - 1}{', or -1' if least else ''}. "
                f"Got {values.min()}..{values.max()}."
            )
    above[above == np.arange(len(above))] = -1
    return above, group


def _children_first(above_group: Ints, parent: Ints, n_leaves: int) -> Ints:
    """The groups as nodes, children before parents: in their own order, or its reverse, where that is so."""
    numbers = np.arange(len(above_group))
    has_parent = above_group >= 0
    if (above_group > numbers)[has_parent].all():
        return n_leaves + numbers
    if (above_group < numbers)[has_parent].all():
        return n_leaves + numbers[::-1]
    order: Ints = edit_kernels.upward_order(parent, n_leaves)
    if len(order) == 0:
        raise TreeError("parent_of_group has a cycle: a group is its own ancestor.")
    return order


def _single_root(parent: Ints) -> Ints:
    roots = int((parent == -1).sum())
    if roots != 1:
        raise TreeError(
            f"parent_of_group must have one root (parent -1) above all leaves. Got {roots} with leaves below."
        )
    return parent


def _names(
    name: Sequence[Any] | None, leaf_name: Sequence[Any] | None, nodes: Ints, n_leaves: int, n_groups: int
) -> list[Any] | None:
    if name is None and leaf_name is None:
        return None
    names = [None] * n_leaves if leaf_name is None else list(leaf_name)
    names += [None] * n_groups if name is None else list(name)
    if len(names) != n_leaves + n_groups:
        raise TreeError(
            f"name must have one name per group ({n_groups}), leaf_name one per leaf ({n_leaves})."
        )
    return [names[node] for node in nodes]


def _per(values: ArrayLike, length: int, argument: str) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if array.shape != (length,):
        raise TreeError(f"{argument} must have shape ({length},). Got {array.shape}.")
    return array
