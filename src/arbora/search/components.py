"""The top of a tree over a neighbor graph that falls apart.

Between the connected components of a graph every similarity is 0, so no cost says how to join them. The vectors
do: components are joined by the linkage of their means, which changes no cost.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from arbora._base.arrays import as_sparse, as_vectors
from arbora.linkages import linkage
from arbora.similarity import GraphSimilarity, knn
from arbora.similarity.features import directions, directions_of_sparse
from arbora.tree import Tree
from arbora.tree.pass_kernels import max_to_root
from arbora.tree.surgery import is_above, with_top

LINKED_UP_TO = (
    10_000  # components whose means are joined by average linkage; more by their own neighbor graph
)

_LARGEST_SUMMED = 1e150


def join_components(tree: Tree, graph: GraphSimilarity, X: Any, metric: str) -> Tree:
    """The tree with the components of its graph joined by the distances of their means."""
    n_components, label = connected_components(graph.csr, directed=False)
    if n_components < 3:
        return tree
    nodes = _component_nodes(tree, label)
    if (
        len(nodes) != n_components
    ):  # a component is not one subtree: its place in the tree was worth something
        return tree
    first = tree.leaf_order[tree.leaf_start[nodes]]
    top = _tree_of_means(_means(X, label, n_components, metric)[label[first]])
    joined = with_top(tree, nodes, top)
    height = None if tree.height is None else _heights(tree, tree.height, nodes, joined, top)
    return joined.replace(height=height, name=None if tree.name is None else tree.name[: tree.n_leaves])


def _component_nodes(tree: Tree, label: np.ndarray) -> np.ndarray:
    """The highest nodes whose leaves all have one label."""
    labels = np.full(tree.n_nodes, -1, dtype=np.int64)
    labels[: tree.n_leaves] = label
    highest = max_to_root(tree.parent, labels)
    lowest = -max_to_root(tree.parent, np.where(labels >= 0, -labels, np.iinfo(np.int64).min))
    is_pure = highest == lowest
    above_is_pure = np.where(tree.parent >= 0, is_pure[tree.parent], False)
    return np.flatnonzero(is_pure & ~above_is_pure)


def _means(X: Any, label: np.ndarray, n_components: int, metric: str) -> np.ndarray:
    """Mean vector of each component; of directions for the cosine."""
    rows: Any = as_sparse(X) if sp.issparse(X) else as_vectors(X)
    if metric == "cosine":
        rows = directions_of_sparse(rows) if sp.issparse(rows) else directions(rows)
    elif np.abs(rows.data if sp.issparse(rows) else rows).max(initial=0.0) > _LARGEST_SUMMED:
        # the joins do not depend on the scale, and sums must not overflow
        rows = rows / _LARGEST_SUMMED
    sizes = np.bincount(label, minlength=n_components)
    member = sp.csr_array(
        (1 / sizes[label], (label, np.arange(len(label)))), shape=(n_components, len(label))
    )
    means = member @ rows
    return means.toarray() if sp.issparse(means) else means


def _tree_of_means(means: np.ndarray) -> Tree:
    if len(means) <= LINKED_UP_TO:
        return linkage(means, "average", kind="vectors")
    return linkage(knn(means, n_neighbors=15, metric="euclidean"), "average")


def _heights(tree: Tree, height_below: np.ndarray, nodes: np.ndarray, joined: Tree, top: Tree) -> np.ndarray:
    """Heights below the components as they were; above, between once and twice the greatest of them."""
    n_lower = joined.n_nodes - top.n_internal
    height = np.zeros(joined.n_nodes)
    height[:n_lower] = height_below[~is_above(tree, nodes)]
    base = height[:n_lower].max() or 1.0
    rise = top.height[top.n_leaves :] if top.height is not None else top.sizes[top.n_leaves :].astype(float)
    height[n_lower:] = base * (1 + np.maximum(rise, 0) / (rise.max() or 1.0))
    return max_to_root(joined.parent, height)
