"""Trees from trees: subtree, restriction, unary nodes removed, binary nodes added."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from arbora.tree import _edit_kernels as edit_kernels
from arbora.tree import _kernels as kernels
from arbora.tree._tree import Ints, Tree


def rebuilt(
    tree: Tree,
    parent: Ints,
    n_leaves: int,
    source: Ints,
    *,
    order: Ints | None = None,
    added: np.ndarray | None = None,
) -> Tree:
    """Tree with new parents whose node v carries height, support and name of node ``source[v]`` of `tree`.

    Nodes marked `added` are new: they keep the height of their source, but neither its name nor its support.
    """
    height = None if tree.height is None else tree.height[source]
    support = None if tree.support is None else tree.support[source]
    name = None if tree.name is None else tree.name[source]
    if added is not None and support is not None:
        support[added] = np.nan
    if added is not None and name is not None:
        name[added] = ""
    return Tree(parent, n_leaves, height=height, support=support, name=name, order=order)


def keep_internal(tree: Tree, keep: np.ndarray, leaves: Ints | None = None) -> Tree:
    """The tree over `leaves` (all by default) whose internal nodes are those with ``keep[node]``.

    The children of a node that goes are handed to its nearest kept ancestor. The kept internal nodes must be
    those above some of the leaves, and the last of them above all of them.
    """
    leaves = np.arange(tree.n_leaves) if leaves is None else leaves
    inner = tree.n_leaves + np.flatnonzero(keep[tree.n_leaves :])
    source = np.concatenate([leaves, inner])
    number = np.full(tree.n_nodes + 1, -1, dtype=np.int64)  # the last entry answers for "no parent", -1
    number[source] = np.arange(len(source))
    above = kernels.keep_nodes(tree.parent, keep)[source]
    return rebuilt(tree, number[above], len(leaves), source, order=_drawn_order(tree, leaves, number))


def _drawn_order(tree: Tree, leaves: Ints, number: Ints) -> Ints | None:
    """The leaves as they are drawn, by their new numbers; None where the tree has the default order."""
    if tree._order is None:
        return None
    return number[leaves[np.argsort(tree.leaf_start[leaves])]]


def subtree(tree: Tree, node: int) -> Tree:
    """The tree below a node; its leaves, ascending, become 0, 1, ...

    Examples
    --------
    >>> from arbora import Tree
    >>> Tree.from_newick("((a,b),(c,(d,e)));").subtree(7).to_newick()
    '(c,(d,e));'
    """
    node = tree._checked_node(node)
    leaves = np.sort(tree.leaves(node))
    start = tree.leaf_start
    keep = (start >= start[node]) & (start < start[node] + tree.sizes[node])
    keep[node + 1 :] = False  # a unary node above has the same leaves, but a larger number
    return keep_internal(tree, keep, leaves)


def restrict(tree: Tree, leaves: ArrayLike) -> Tree:
    """The tree that remains when only these leaves are kept, numbered in the given order.

    Nodes left with a single child go.

    Examples
    --------
    >>> from arbora import Tree
    >>> Tree.from_newick("((a,b),(c,(d,e)));").restrict([0, 3, 4]).to_newick()
    '(a,(d,e));'
    """
    leaves = tree._checked_nodes(leaves, "leaves")
    if leaves.ndim != 1 or leaves.size == 0:
        raise ValueError(f"leaves must be a non-empty list of leaves. Got shape {leaves.shape}.")
    if leaves.max() >= tree.n_leaves:
        raise ValueError(f"leaves must lie in [0, n_leaves={tree.n_leaves}). Got {leaves.max()}.")
    is_kept = np.zeros(tree.n_nodes, dtype=np.int64)
    is_kept[leaves] = 1
    if is_kept.sum() != len(leaves):
        raise ValueError(f"leaves must not repeat. Got {len(leaves)} leaves, {is_kept.sum()} different.")
    remains = kernels.sum_to_root(tree.parent, is_kept) > 0
    kept_children = np.bincount(tree.parent[:-1][remains[:-1]], minlength=tree.n_nodes)
    keep = kept_children >= 2
    keep[leaves] = True
    return keep_internal(tree, keep, leaves)


def collapse_unary(tree: Tree) -> Tree:
    """Without nodes that have a single child.

    Examples
    --------
    >>> from arbora import Tree
    >>> Tree.from_newick("((a),((b,c)));").collapse_unary().to_newick()
    '(a,(b,c));'
    """
    keep = np.ones(tree.n_nodes, dtype=np.bool_)
    keep[tree.n_leaves :] = tree.n_children >= 2
    return tree if keep.all() else keep_internal(tree, keep)


def binarize(tree: Tree) -> Tree:
    """Binary: a node with more children becomes a balanced run of binary nodes at the same height.

    Children are joined in pairs in drawing order, so a node with k children becomes ceil(log2(k)) levels.
    Added nodes have neither a name nor a support. Nodes with a single child go.

    Examples
    --------
    >>> from arbora import Tree
    >>> Tree.from_newick("(a,b,c,d,e);").binarize().to_newick()
    '(((a,b),(c,d)),e);'
    """
    if tree.is_binary:
        return tree
    parent, source, added = edit_kernels.pair_children(tree.n_leaves, *tree._child_lists)
    order = None if tree._order is None else tree.leaf_order
    return rebuilt(tree, parent, tree.n_leaves, source, order=order, added=added)
