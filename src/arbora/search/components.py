"""The top of a tree over a neighbor graph that falls apart.

Between the connected components of a graph every similarity is 0, so no cost says how to join them. The vectors
do: components are joined by the linkage of their means, which changes no cost.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from arbora._base.types import Floats, Ints
from arbora.linkages import linkage
from arbora.similarity import Similarity, knn
from arbora.tree import Tree
from arbora.tree.pass_kernels import max_to_root
from arbora.tree.surgery import is_above, labels_by_position, with_top

# components whose means are joined by average linkage; more are joined by their own neighbor graph
LINKED_UP_TO = 10_000
_ROWS_SUMMED = 65_536


def join_components(
    tree: Tree, similarity: Similarity, cross: Floats | None = None
) -> tuple[Tree, int | None]:
    """The tree with the components of its neighbor graph joined by the distances of their means; how many there are.

    Unchanged where the similarity has no vectors, or a component is not one subtree: its place was worth something.
    No cost changes. Where all pairs are compared there are no components to count. `cross` is
    ``similarity.cross(tree)`` where that is known already.
    """
    if similarity.csr is None:
        return tree, None
    label = None if cross is None else components_seen(tree, cross)
    if label is None:
        label = connected_components(similarity.csr, directed=False)[1]
    n_components = int(label.max()) + 1
    if n_components < 3:
        return tree, n_components
    nodes = component_nodes(tree, label)
    vectors = similarity.vectors() if len(nodes) == n_components else None
    if vectors is None:
        return tree, n_components
    first = tree.leaf_order[tree.leaf_start[nodes]]
    means = _means(vectors, label, n_components)[label[first]]
    return joined_by_means(tree, nodes, means), n_components


def components_seen(tree: Tree, cross: Floats) -> Ints | None:
    """The component of each leaf, where the tree shows them: similarity meets everywhere but above the components.

    Of two sides that are connected and have some similarity in common all is connected. None where that does not settle
    it: something meets above a join at which nothing does.
    """
    if not tree.is_binary or (cross < 0).any():
        return None
    nothing_meets = np.zeros(tree.n_nodes, dtype=np.int64)
    nothing_meets[tree.n_leaves :] = cross == 0
    is_apart = max_to_root(tree.parent, nothing_meets) > 0
    if (is_apart[tree.n_leaves :] & (cross > 0)).any():
        return None
    tops = np.flatnonzero(~is_apart & (is_apart[tree.parent] | (tree.parent < 0)))
    label = np.empty(tree.n_leaves, dtype=np.int64)
    label[tree.leaf_order] = labels_by_position(tree, tops)
    return label


def joined_by_means(tree: Tree, nodes: Ints, means: Floats) -> Tree:
    """The tree with its components, the subtrees at these nodes, joined by the distances of their means."""
    top = _tree_of_means(means)
    joined = with_top(tree, nodes, top)
    height = None if tree.height is None else _heights(tree, tree.height, nodes, joined, top)
    return joined.replace(height=height, name=None if tree.name is None else tree.name[: tree.n_leaves])


def component_nodes(tree: Tree, label: Ints) -> Ints:
    """The highest nodes whose leaves all have one label."""
    labels = np.full(tree.n_nodes, -1, dtype=np.int64)
    labels[: tree.n_leaves] = label
    highest = max_to_root(tree.parent, labels)
    lowest = -max_to_root(tree.parent, np.where(labels >= 0, -labels, np.iinfo(np.int64).min))
    is_pure = highest == lowest
    above_is_pure = np.where(tree.parent >= 0, is_pure[tree.parent], False)
    return np.flatnonzero(is_pure & ~above_is_pure)


def _means(rows: Any, label: Ints, n_components: int) -> Floats:
    """Mean vector of each component, summed in double precision piece by piece."""
    share, means = 1 / np.bincount(label, minlength=n_components), np.zeros((n_components, rows.shape[1]))
    for first in range(0, len(label), _ROWS_SUMMED):
        piece = label[first : first + _ROWS_SUMMED]
        shape = n_components, len(piece)
        member = sp.csr_array((share[piece], (piece, np.arange(len(piece)))), shape=shape)
        sums = member @ rows[first : first + _ROWS_SUMMED]
        means += sums.toarray() if sp.issparse(sums) else sums
    return means


def _tree_of_means(means: Floats) -> Tree:
    if len(means) <= LINKED_UP_TO:
        return linkage(means, "average", kind="vectors")
    return linkage(knn(means, n_neighbors=15, metric="euclidean"), "average")


def _heights(tree: Tree, height_below: Floats, nodes: Ints, joined: Tree, top: Tree) -> Floats:
    """Heights below the components as they were; above, between once and twice the greatest of them."""
    n_lower = joined.n_nodes - top.n_internal
    height = np.zeros(joined.n_nodes)
    height[:n_lower] = height_below[~is_above(tree, nodes)]
    base = height[:n_lower].max() or 1.0
    rise = top.height[top.n_leaves :] if top.height is not None else top.sizes[top.n_leaves :].astype(float)
    height[n_lower:] = base * (1 + np.maximum(rise, 0) / (rise.max() or 1.0))
    return np.asarray(max_to_root(joined.parent, height))
