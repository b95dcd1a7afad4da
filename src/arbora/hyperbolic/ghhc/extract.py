"""From nodes in the ball to a `Tree` over the data (Eq. 4)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arbora.hyperbolic.ghhc import _kernels as kernels
from arbora.hyperbolic.ghhc.distances import Floats
from arbora.hyperbolic.ghhc.model import Ints
from arbora.tree import Tree


class Extraction(NamedTuple):
    """A tree over the data and how the model's nodes appear in it.

    Attributes
    ----------
    tree : Tree
    tree_node : int64[M]
        Node of the tree that stands for a node of the model: itself, or where it was pruned for having one
        child only, what it stood above; -1 where no data lies below it.
    """

    tree: Tree
    tree_node: Ints


def extract_tree(
    point_parent: Ints,
    node_parent: Ints,
    node_height: Floats | None = None,
    point_support: Floats | None = None,
    node_support: Floats | None = None,
) -> Extraction:
    """Tree of a choice of parents for points and nodes.

    Where a node is parent of data and of nodes, its data goes under an extra node below it, so that cutting
    the tree can give exactly the partition of the data by parent. Nodes without data below are dropped;
    nodes with one child are replaced by it, and probabilities multiply along what is contracted.

    Examples
    --------
    >>> import numpy as np
    >>> from arbora.hyperbolic.ghhc.extract import extract_tree
    >>> extract_tree(np.array([0, 0, 1, 1, 1]), np.array([1, -1, 1])).tree.to_newick()
    '((0,1),(2,3,4));'
    """
    n_points, n_nodes = len(point_parent), len(node_parent)
    # extra node of model node m: n_points + m; the node itself: n_points + n_nodes + m
    parent = np.concatenate(
        [
            n_points + point_parent,
            n_points + n_nodes + np.arange(n_nodes),
            np.where(node_parent >= 0, n_points + n_nodes + node_parent, -1),
        ]
    )
    n_all = len(parent)
    support = np.ones(n_all)
    if point_support is not None:
        support[:n_points] = point_support
    if node_support is not None:
        support[n_points + n_nodes :] = node_support
    height = np.zeros(n_all)
    if node_height is not None:
        height[n_points : n_points + n_nodes] = node_height
        height[n_points + n_nodes :] = node_height
    order = kernels.upward_order(parent, n_points)
    above, stands_for = kernels.contract_unary(parent, order, n_points, support)
    kept = order[stands_for[order] == order]
    number = np.full(n_all, -1, np.int64)
    number[:n_points] = np.arange(n_points)
    number[kept] = n_points + np.arange(len(kept))
    nodes = np.concatenate([np.arange(n_points), kept])
    support[nodes[-1]] = 1.0  # the root
    tree = Tree(
        np.where(above[nodes] >= 0, number[above[nodes]], -1),
        n_points,
        height=None if node_height is None else height[nodes],
        support=support[nodes] if point_support is not None or node_support is not None else None,
    )
    final = stands_for[n_points + n_nodes :]
    return Extraction(tree, np.where(final >= 0, number[final], -1))
