"""From nodes in the ball to a `Tree` over the data (Eq. 4)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arbora._base.types import AnyFloats, Ints
from arbora.tree import Tree
from arbora.tree.groups import tree_of_groups


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
    node_height: AnyFloats | None = None,
    point_support: AnyFloats | None = None,
    node_support: AnyFloats | None = None,
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
    n_nodes = len(node_parent)
    # group m holds the data of model node m, group n_nodes + m is the node itself
    above = np.concatenate(
        [n_nodes + np.arange(n_nodes), np.where(node_parent >= 0, n_nodes + node_parent, -1)]
    )
    support = None
    if point_support is not None or node_support is not None:
        support = np.ones(2 * n_nodes)
        support[n_nodes:] = 1.0 if node_support is None else node_support
    found = tree_of_groups(
        above,
        point_parent,
        height=None if node_height is None else np.concatenate([node_height, node_height]),
        support=support,
        leaf_support=point_support,
    )
    return Extraction(found.tree, found.node[n_nodes:])
