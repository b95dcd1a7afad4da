"""Heights for trees that a search found."""

from __future__ import annotations

import numpy as np

from arbora.similarity import Similarity
from arbora.tree import Tree
from arbora.tree.pass_kernels import max_to_root


def with_heights(tree: Tree, similarity: Similarity) -> Tree:
    """The tree with height 1 / (mean similarity of the pairs that meet at a node), made to grow upwards.

    These are the heights of average linkage. Nodes where nothing similar meets stand at twice the greatest of
    the others (at 1 if there are none).
    """
    if tree.n_internal == 0:
        return tree.replace(height=np.zeros(tree.n_nodes))
    n = tree.n_leaves
    within_children = np.bincount(
        tree.parent[:-1], weights=tree.sizes[:-1].astype(np.float64) ** 2, minlength=tree.n_nodes
    )
    n_pairs = (tree.sizes[n:].astype(np.float64) ** 2 - within_children[n:]) / 2
    # at a node with a single child nothing meets: it stands as high as the child
    has_pairs = n_pairs > 0
    mean = np.divide(similarity.cross(tree), n_pairs, out=np.zeros(len(n_pairs)), where=has_pairs)
    height = np.zeros(tree.n_nodes)
    meets = mean > 0
    height[n:][meets] = 1 / mean[meets]
    height[n:][~meets & has_pairs] = 2 * height.max() if meets.any() else 1.0
    return tree.replace(height=max_to_root(tree.parent, height))
