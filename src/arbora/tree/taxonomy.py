"""Trees with exactly the numbers of clusters that were asked for at their levels."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from arbora._base.params import check_choice
from arbora._base.types import Floats, Ints
from arbora.tree.objective_cut import best_nodes, check_min_size, parts_of_nodes
from arbora.tree.parting import MinSize, check_count, parting_order
from arbora.tree.pass_kernels import max_to_root, sum_to_root
from arbora.tree.surgery import rebuilt

if TYPE_CHECKING:
    from arbora.tree._tree import Tree

LevelObjective: TypeAlias = Literal["height", "density", "balance"]


class _Groups(NamedTuple):
    """One level: the group of each leaf, and the node of the tree that stands for each group."""

    labels: Ints
    nodes: Ints


def taxonomy(
    tree: Tree, n_clusters: Sequence[int], *, min_size: MinSize = "auto", by: LevelObjective = "height"
) -> Tree:
    """N-ary tree over the same leaves with exactly these numbers of clusters at its levels.

    Level d, the nodes at depth d below the root, has ``n_clusters[d - 1]`` clusters; the leaves come below the last
    level. By height, every level is the cut of the tree into that number (``tree.cut(k)``); by another objective the
    finest level is, and a coarser one joins its clusters. A cluster that the next level does not split has a single
    child there, so that every level is complete; `collapse_unary` removes these.

    Parameters
    ----------
    tree : Tree
    n_clusters : sequence of int
        Increasing.
    min_size : int or "auto"
        Smaller branches are no clusters of their own, as in `Tree.cut`.
    by : {"height", "density", "balance"}
        What the levels are best at; see `Tree.cut`.

    Examples
    --------
    >>> from arbora import Tree
    >>> tree = Tree.from_newick("(((a,b),(c,d)),((e,f),g));")
    >>> tree.taxonomy([2, 4]).to_newick()
    '(((a,b),(c,d)),((e,f),(g)));'
    """
    if isinstance(n_clusters, (int, np.integer, str)):
        raise TypeError(f"n_clusters must be a list of increasing numbers of clusters. Got {n_clusters!r}.")
    check_choice(by, "by", get_args(LevelObjective))
    counts = [check_count(tree, "n_clusters", k) for k in n_clusters]
    if not counts or any(fine <= coarse for coarse, fine in pairwise(counts)):
        raise ValueError(f"n_clusters must be a list of increasing numbers of clusters. Got {counts}.")
    # the root is the level of 1, the leaves that of n
    inner = [k for k in counts if 1 < k < tree.n_leaves]
    levels = (
        _levels_of_cuts(tree, inner, min_size)
        if by == "height"
        else _nested_levels(tree, inner, min_size, by)
    )
    return _tree_of_levels(tree, levels)


def _levels_of_cuts(tree: Tree, counts: list[int], min_size: MinSize) -> list[_Groups]:
    """The cuts into these numbers of clusters, which nest, from fine to coarse."""
    if not isinstance(min_size, str):
        check_min_size(min_size, tree.n_leaves, max(counts, default=1))
    order = parting_order(tree, min_size)
    parts = [order.parts(tree, order.n_steps(k)) for k in reversed(counts)]
    return [_Groups(one.labels, one.nodes) for one in parts]


def _nested_levels(tree: Tree, counts: list[int], min_size: MinSize, by: LevelObjective) -> list[_Groups]:
    """Levels from fine to coarse, each a union of groups of the one before."""
    levels: list[_Groups] = []
    group, standing = np.arange(tree.n_leaves), np.arange(tree.n_leaves)
    for k in reversed(counts):
        # the tree over the groups of the level below, each as heavy as its leaves
        over = tree if len(levels) == 0 else tree.restrict(_first_leaves(tree, standing))
        sizes = _sizes(over, np.bincount(group))
        nodes = best_nodes(over, k, by, min_size, sizes=sizes)
        labels = parts_of_nodes(over, nodes, sizes).labels
        standing = _nodes_of_groups(tree, standing, labels, k)
        group = labels[group]
        levels.append(_Groups(group, standing))
    return levels


def _sizes(tree: Tree, weight: Ints) -> Ints:
    """Weight below each node."""
    total = np.zeros(tree.n_nodes, dtype=np.int64)
    total[: tree.n_leaves] = weight
    return np.asarray(sum_to_root(tree.parent, total))


def _first_leaves(tree: Tree, nodes: Ints) -> Ints:
    return tree.leaf_order[tree.leaf_start[nodes]]


def _nodes_of_groups(tree: Tree, below: Ints, labels: Ints, n_groups: int) -> Ints:
    """For each group, the node that stands for the largest of its members' common ancestors of that group alone."""
    standing = np.empty(n_groups, dtype=np.int64)
    for label in range(n_groups):
        members = below[labels == label]
        heaviest = members[np.argmax(tree.sizes[members])]
        standing[label] = _highest_pure_ancestor(tree, int(heaviest), set(members.tolist()), below)
    return standing


def _highest_pure_ancestor(tree: Tree, node: int, members: set[int], below: Ints) -> int:
    """The highest ancestor of a member below which only members of its group stand."""
    starts = np.sort(tree.leaf_start[below])
    own = np.sort(tree.leaf_start[np.array(sorted(members))])
    while tree.parent[node] >= 0:
        above = int(tree.parent[node])
        first, last = tree.leaf_start[above], tree.leaf_start[above] + tree.sizes[above]
        n_all = np.searchsorted(starts, last) - np.searchsorted(starts, first)
        n_own = np.searchsorted(own, last) - np.searchsorted(own, first)
        if n_own < n_all:
            break
        node = above
    return node


def _tree_of_levels(tree: Tree, levels: list[_Groups]) -> Tree:
    source, parents = [np.arange(tree.n_leaves)], []
    # number of the first node of the level below
    first = 0
    labels_below = np.arange(tree.n_leaves)
    for labels, nodes in levels:
        label_of_below = np.empty(len(source[-1]), dtype=np.int64)
        label_of_below[labels_below] = labels
        first += len(source[-1])
        parents.append(first + label_of_below)
        source.append(nodes)
        labels_below = labels
    if tree.n_leaves > 1:
        parents.append(np.full(len(source[-1]), first + len(source[-1])))
        source.append(np.array([tree.root]))
    leaf_order = None if tree.order is None else tree.leaf_order
    parent = np.concatenate([*parents, [-1]]).astype(np.int64)
    nodes = np.concatenate(source)
    stands_for_leaf = (nodes < tree.n_leaves) & (np.arange(len(nodes)) >= tree.n_leaves)
    found = rebuilt(tree, parent, tree.n_leaves, nodes, order=leaf_order, added=stands_for_leaf)
    if found.height is None:
        return found
    # a group that took in strangers is at least as high as what it is made of
    height = max_to_root(found.parent, found.height)
    return found.replace(height=_levels_in_order(height, [len(nodes) for nodes in source[1:]], tree.n_leaves))


def _levels_in_order(height: Floats, n_of_level: list[int], n_leaves: int) -> Floats:
    """Heights such that no node is lower than one of a finer level: then every level is a cut."""
    ordered = height.copy()
    start = n_leaves
    for fine, coarse in pairwise(n_of_level):
        highest = ordered[start : start + fine].max()
        start += fine
        ordered[start : start + coarse] = np.maximum(ordered[start : start + coarse], highest)
    return ordered
