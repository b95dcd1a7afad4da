"""Trees from trees: parts taken out, put in and put together, unary nodes removed, binary nodes added.

An antichain that covers the leaves (every leaf lies below exactly one of its nodes) divides a tree into a top
and parts. `top_over`, `with_top` and `graft` are about shape alone: what they return has no heights or names.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from arbora._base.types import Bools, Ints
from arbora.tree import edit_kernels
from arbora.tree import pass_kernels as kernels
from arbora.tree._tree import Tree


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
    # the last entry answers for "no parent", -1
    number = np.full(tree.n_nodes + 1, -1, dtype=np.int64)
    number[source] = np.arange(len(source))
    above = kernels.keep_nodes(tree.parent, keep)[source]
    return rebuilt(tree, number[above], len(leaves), source, order=_drawn_order(tree, leaves, number))


def _drawn_order(tree: Tree, leaves: Ints, number: Ints) -> Ints | None:
    """The leaves as they are drawn, by their new numbers; None where the tree has the default order."""
    if tree.order is None:
        return None
    return number[leaves[np.argsort(tree.leaf_start[leaves])]]


def in_depth_first_order(tree: Tree) -> tuple[Tree, Ints]:
    """The same shape with leaves and nodes numbered in depth-first order, and the old number of each leaf.

    What is near in such a tree is near in memory.

    Examples
    --------
    >>> from arbora import Tree
    >>> from arbora.tree.surgery import in_depth_first_order
    >>> tree, old = in_depth_first_order(Tree.from_merges([(1, 3), (0, 2), (4, 5)]))
    >>> tree.parent.tolist(), old.tolist()
    ([4, 4, 5, 5, 6, 6, -1], [0, 2, 1, 3])
    """
    order = np.array(tree.leaf_order)
    parent = np.concatenate([tree.parent[order], tree.parent[tree.n_leaves :]])
    return Tree.from_parents(parent, tree.n_leaves, sort=True), order


def subtree(tree: Tree, node: int) -> Tree:
    """The tree below a node; its leaves, ascending, become 0, 1, ...

    Examples
    --------
    >>> from arbora import Tree
    >>> Tree.from_newick("((a,b),(c,(d,e)));").subtree(7).to_newick()
    '(c,(d,e));'
    """
    node = tree.checked_node(node)
    leaves = np.sort(tree.leaves(node))
    start = tree.leaf_start
    keep = (start >= start[node]) & (start < start[node] + tree.sizes[node])
    # a unary node above has the same leaves, but a larger number
    keep[node + 1 :] = False
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
    leaves = tree.checked_nodes(leaves, "leaves")
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
    parent, source, added = edit_kernels.pair_children(tree.n_leaves, *tree.child_lists)
    order = None if tree.order is None else tree.leaf_order
    return rebuilt(tree, parent, tree.n_leaves, source, order=order, added=added)


def labels_by_position(tree: Tree, nodes: Ints) -> Ints:
    """Which of the nodes, an antichain that covers the leaves, each position of the leaf order lies below."""
    labels = np.zeros(tree.n_leaves, dtype=np.int64)
    by_position = np.argsort(tree.leaf_start[nodes])
    labels[tree.leaf_start[nodes[by_position[1:]]]] = 1
    return by_position[np.cumsum(labels)]


def is_above(tree: Tree, nodes: Ints) -> Bools:
    """Which nodes lie above an antichain that covers the leaves: bool[n_nodes]."""
    label = labels_by_position(tree, nodes)[tree.leaf_start]
    at = nodes[label]
    # a unary node above has as many leaves, but a larger number
    above: Bools = (tree.sizes >= tree.sizes[at]) & (np.arange(tree.n_nodes) > at)
    return above


def top_over(tree: Tree, nodes: Ints) -> Tree:
    """The tree above an antichain that covers the leaves: node k of the antichain becomes leaf k.

    Examples
    --------
    >>> import numpy as np
    >>> from arbora import Tree
    >>> from arbora.tree.surgery import top_over
    >>> top_over(Tree.from_newick("(((a,b),c),(d,e));"), np.array([5, 2, 7])).to_newick()
    '((0,1),2);'
    """
    upper = np.flatnonzero(is_above(tree, nodes))
    number = np.full(tree.n_nodes, -1, dtype=np.int64)
    number[nodes] = np.arange(len(nodes))
    number[upper] = len(nodes) + np.arange(len(upper))
    above = tree.parent[np.concatenate([nodes, upper])]
    return Tree(np.where(above >= 0, number[above], -1), len(nodes))


def with_top(tree: Tree, nodes: Ints, top: Tree) -> Tree:
    """The tree with what lies above an antichain replaced: leaf k of `top` is node k of the antichain.

    Examples
    --------
    >>> import numpy as np
    >>> from arbora import Tree
    >>> from arbora.tree.surgery import with_top
    >>> tree = Tree.from_newick("(((a,b),c),(d,e));")
    >>> with_top(tree, np.array([5, 2, 7]), Tree.from_newick("((x,y),z);")).to_newick()
    '(((0,1),2),(3,4));'
    """
    lower = ~is_above(tree, nodes)
    number = np.cumsum(lower) - 1
    n_lower = int(lower.sum())
    above = tree.parent[lower]
    parent = np.concatenate([np.where(above >= 0, number[above], -1), np.full(top.n_internal, -1)])
    to_top = n_lower - top.n_leaves
    parent[number[nodes]] = np.where(top.parent[: top.n_leaves] >= 0, top.parent[: top.n_leaves] + to_top, -1)
    inner = top.parent[top.n_leaves :]
    parent[n_lower:] = np.where(inner >= 0, inner + to_top, -1)
    return Tree(parent, tree.n_leaves)


def graft(top: Tree, parts: Sequence[Tree], leaves: Sequence[Ints]) -> Tree:
    """Put a tree in place of each leaf of `top`; ``leaves[k]`` are the final numbers of the leaves of part k.

    Examples
    --------
    >>> import numpy as np
    >>> from arbora import Tree
    >>> from arbora.tree.surgery import graft
    >>> pair = Tree.from_newick("(a,b);")
    >>> graft(pair, [pair, pair], [np.array([0, 2]), np.array([1, 3])]).to_newick()
    '((0,2),(1,3));'
    """
    n = sum(part.n_leaves for part in parts)
    n_inner = np.array([part.n_internal for part in parts])
    first_inner = n + np.concatenate([[0], np.cumsum(n_inner)])
    parent = np.full(first_inner[-1] + top.n_internal, -1, dtype=np.int64)
    to_top = first_inner[-1] - top.n_leaves
    for k, part in enumerate(parts):
        number = np.concatenate([leaves[k], np.arange(first_inner[k], first_inner[k + 1])])
        parent[number[:-1]] = number[part.parent[:-1]]
        above = top.parent[k]
        parent[number[-1]] = above + to_top if above >= 0 else -1
    above = top.parent[top.n_leaves :]
    parent[first_inner[-1] :] = np.where(above >= 0, above + to_top, -1)
    return Tree(parent, n)
