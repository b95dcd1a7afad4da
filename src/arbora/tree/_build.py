"""Trees from parent arrays, linkage matrices, merges and scikit-learn models; linkage matrices from trees."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from arbora._base.permutations import inverse_permutation
from arbora._base.types import Bools, Floats, Ints
from arbora.errors import TreeError
from arbora.tree import pass_kernels as kernels
from arbora.tree._arrays import as_ints
from arbora.tree._tree import Tree


def from_parents(
    parent: ArrayLike, n_leaves: int | None = None, *, sort: bool = False, **per_node: Any
) -> Tree:
    """Tree from a parent array.

    Parameters
    ----------
    parent : array-like of int
        Parent of each node; the root's is -1.
    n_leaves : int, optional
        Leaves are the first nodes. By default the nodes without children, which must come first.
    sort : bool
        Accept internal nodes in any order and renumber them, children first.
    **per_node
        `height`, `support`, `name`, `order` as in `Tree`; sorted along.
    """
    parent = as_ints(parent, "parent")
    if parent.ndim != 1 or parent.size == 0:
        raise TreeError(f"parent must be a non-empty one-dimensional array. Got shape {parent.shape}.")
    if n_leaves is None:
        inner = parent[parent >= 0]
        n_leaves = int(inner.min()) if inner.size else len(parent)
    if not sort:
        return Tree(parent, n_leaves, **per_node)
    number = _children_first_numbers(parent, n_leaves)
    old_of_new = inverse_permutation(number)
    above = parent[old_of_new]
    renumbered = np.where(above >= 0, number[above], -1)
    moved = {key: _moved(values, old_of_new, key) for key, values in per_node.items()}
    return Tree(renumbered, n_leaves, **moved)


def leaves_first(above: Sequence[int], is_leaf: Bools) -> tuple[Ints, Ints]:
    """Nodes listed parents first, put into a tree's order: which node is where, and the parent array.

    Leaves come in the order listed, then internal nodes from the end of the list, so that children come first.
    """
    order = np.concatenate([np.flatnonzero(is_leaf), np.flatnonzero(~is_leaf)[::-1]])
    # the last entry answers for the root's parent, -1
    number = np.full(len(order) + 1, -1, dtype=np.int64)
    number[order] = np.arange(len(order))
    return order, number[np.asarray(above, dtype=np.int64)[order]]


def _moved(values: Any, old_of_new: Ints, key: str) -> Any:
    if values is None or key == "order" or len(values) != len(old_of_new):
        # leaf names and the leaf order stay as they are: leaves keep their numbers
        return values
    return np.asarray(values, dtype=object if key == "name" else np.float64)[old_of_new]


def _children_first_numbers(parent: Ints, n_leaves: int) -> Ints:
    if parent.max() >= len(parent) or parent.min() < -1:
        raise TreeError(
            f"parent must hold nodes 0..{len(parent) - 1}, or -1. Got {parent.min()}..{parent.max()}."
        )
    roots = np.flatnonzero(parent == -1)
    if len(roots) != 1:
        raise TreeError(f"A tree has one root (parent -1). Got {len(roots)}: {roots[:5].tolist()}.")
    if not 1 <= n_leaves <= len(parent):
        raise TreeError(f"n_leaves must lie in [1, {len(parent)}]. Got {n_leaves}.")
    if ((parent >= 0) & (parent < n_leaves)).any():
        node = int(np.argmax((parent >= 0) & (parent < n_leaves)))
        raise TreeError(
            f"Node {node} has parent {parent[node]}, which is a leaf (leaves are 0..{n_leaves - 1})."
        )
    number: Ints = kernels.sort_children_first(parent, n_leaves)
    if (number < 0).any():
        raise TreeError(f"Node {int(np.argmax(number < 0))} is its own ancestor: the parents form a cycle.")
    return number


def from_merges(
    pairs: Iterable[Sequence[int]],
    n_leaves: int | None = None,
    *,
    height: ArrayLike | None = None,
    name: Sequence[str] | None = None,
) -> Tree:
    """Tree from the groups of nodes merged at each step; step t makes node ``n_leaves + t``.

    Examples
    --------
    >>> from arbora import Tree
    >>> Tree.from_merges([(0, 1), (2, 3), (4, 5)]).parent
    array([ 4,  4,  5,  5,  6,  6, -1])
    """
    if isinstance(pairs, np.ndarray) and pairs.ndim == 2:
        members, group_sizes = as_ints(pairs, "pairs").ravel(), np.full(len(pairs), pairs.shape[1])
    else:
        groups = [as_ints(group, "pairs").ravel() for group in pairs]
        members = np.concatenate([np.empty(0, dtype=np.int64), *groups])
        group_sizes = np.array([len(group) for group in groups], dtype=np.int64)
    n_steps = len(group_sizes)
    if n_leaves is None:
        n_leaves = len(members) - n_steps + 1
    made = np.repeat(np.arange(n_steps) + n_leaves, group_sizes)
    heights = None
    if height is not None:
        heights = np.concatenate([np.zeros(n_leaves), np.asarray(height, dtype=np.float64)])
    parent = _parents_from_members(members, made, n_leaves + n_steps)
    return Tree(parent, n_leaves, height=heights, name=name)


def _parents_from_members(members: Ints, made: Ints, n_nodes: int) -> Ints:
    """Parent array when `members[k]` was merged into `made[k]`, each node exactly once."""
    if len(members) and not (members.min() >= 0 and members.max() < n_nodes):
        raise TreeError(f"Merged nodes must lie in [0, {n_nodes}). Got {members.min()}..{members.max()}.")
    times = np.bincount(members, minlength=n_nodes)
    # the root is merged into nothing
    times[-1] += 1
    if (times != 1).any():
        node = int(np.argmax(times != 1))
        raise TreeError(
            f"Every node but the root is merged exactly once. Node {node} is merged {times[node]} times."
        )
    parent = np.full(n_nodes, -1, dtype=np.int64)
    parent[members] = made
    return parent


def from_linkage(Z: ArrayLike, *, name: Sequence[str] | None = None) -> Tree:
    """Tree from a SciPy linkage matrix.

    Examples
    --------
    >>> import scipy.cluster.hierarchy as sch
    >>> from arbora import Tree
    >>> Tree.from_linkage(sch.linkage([[0.0], [1.0], [5.0]])).height
    array([0., 0., 0., 1., 4.])
    """
    try:
        Z = np.asarray(Z, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TreeError(f"Z must be a linkage matrix of numbers: {error}.") from error
    if Z.ndim != 2 or Z.shape[1] < 3:
        raise TreeError(f"Z must be a linkage matrix of shape (n - 1, 4). Got shape {Z.shape}.")
    if not np.isfinite(Z).all():
        raise TreeError(f"Z must be finite. Row {int(np.argmin(np.isfinite(Z).all(axis=1)))} is not.")
    n_leaves = len(Z) + 1
    members = as_ints(Z[:, :2].ravel(), "Z")
    parent = _parents_from_members(members, np.repeat(np.arange(len(Z)) + n_leaves, 2), 2 * n_leaves - 1)
    return Tree(parent, n_leaves, height=np.concatenate([np.zeros(n_leaves), Z[:, 2]]), name=name)


def to_linkage(tree: Tree) -> Floats:
    """SciPy linkage matrix of a binary tree; without heights, the number of leaves below serves as height.

    SciPy wants rows by ascending height, so nodes are renumbered that way (stably: the matrix a tree was
    built from comes back unchanged). Where a child is higher than its parent (centroid linkage), the order
    of the tree is kept instead.
    """
    if not tree.is_binary:
        raise TreeError(
            f"A linkage matrix needs a binary tree. Got {tree!r}. Use tree.binarize().to_linkage()."
        )
    n = tree.n_leaves
    height = tree.sizes.astype(np.float64) if tree.height is None else tree.height
    rank = np.arange(n - 1)
    inner_children = np.arange(n, tree.root)
    if (height[inner_children] <= height[tree.parent[inner_children]]).all():
        rank = np.argsort(height[n:], kind="stable")
    number = np.arange(tree.n_nodes)
    number[n + rank] = np.arange(n, tree.n_nodes)
    pairs = np.sort(number[tree.child_index.reshape(n - 1, 2)], axis=1)
    columns = [pairs, height[n:, None], tree.sizes[n:, None]]
    return np.hstack(columns).astype(np.float64)[rank]


def from_sklearn(model: Any) -> Tree:
    """Tree of a fitted scikit-learn model that has ``children_``.

    Examples
    --------
    >>> from sklearn.cluster import AgglomerativeClustering
    >>> from arbora import Tree
    >>> model = AgglomerativeClustering(n_clusters=None, distance_threshold=0).fit([[0.0], [1.0], [5.0]])
    >>> Tree.from_sklearn(model).cut(n_clusters=2)
    array([0, 0, 1])
    """
    if not hasattr(model, "children_"):
        raise TypeError(
            f"{type(model).__name__} has no children_. "
            "Fit an AgglomerativeClustering or FeatureAgglomeration first."
        )
    children = np.asarray(model.children_)
    if len(children) + 1 != getattr(model, "n_leaves_", len(children) + 1):
        raise TreeError("The model stopped early and has no full tree. Fit it with compute_full_tree=True.")
    return from_merges(children, len(children) + 1, height=getattr(model, "distances_", None))
