"""The top of a tree over a distributed graph that falls apart: components joined by the means of their cells."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from arbora._base.types import Floats, Ints
from arbora.scale.assembly import Whole
from arbora.scale.neighbors import PartGraph
from arbora.scale.pieces import PartTree
from arbora.search.components import component_nodes, joined_by_means
from arbora.tree import Tree
from arbora.tree.surgery import is_above


def component_of_rows(graph: sp.csr_array, whole: Whole) -> tuple[int, Ints, Ints]:
    """How many components the graph of pieces has, and the component of each piece and of each row."""
    tree, pieces = whole.tree, whole.pieces
    n_components, of_piece = connected_components(graph, directed=False)
    order = np.argsort(tree.leaf_start[pieces])
    of_row = np.empty(tree.n_leaves, dtype=np.int64)
    of_row[tree.leaf_order] = np.repeat(of_piece[order], tree.sizes[pieces[order]])
    return int(n_components), of_piece.astype(np.int64), of_row


def sum_cells(graph: PartGraph, found: PartTree, centers: NDArray[np.float32]) -> Floats:
    """Sum of the cell centers of the points of each piece: float64[n_pieces, n_features]."""
    shape = (len(found.nodes), len(centers))
    counts = sp.csr_array((np.ones(len(graph.cell)), (found.label, graph.cell)), shape=shape)
    return np.asarray(counts @ centers.astype(np.float64))


def means_of_components(sums: Floats, sizes: Floats, of_piece: Ints) -> Floats:
    """Mean of each component, to within the size of the cells: float64[n_components, n_features]."""
    n_components = int(of_piece.max()) + 1
    member = sp.csr_array(
        (np.ones(len(of_piece)), (of_piece, np.arange(len(of_piece)))), shape=(n_components, len(of_piece))
    )
    return np.asarray((member @ sums) / (member @ sizes)[:, None])


def join_components(tree: Tree, cross: Floats, of_row: Ints, means: Floats) -> tuple[Tree, Floats]:
    """The tree with its components joined by the distances of their means, and its sums; both as they were where a
    component is not one subtree.
    """
    nodes = component_nodes(tree, of_row)
    if len(nodes) != len(means):
        return tree, cross
    joined = joined_by_means(tree, nodes, means[of_row[tree.leaf_order[tree.leaf_start[nodes]]]])
    kept = cross[~is_above(tree, nodes)[tree.n_leaves :]]
    # nothing that components have in common meets above them
    return joined, np.concatenate([kept, np.zeros(joined.n_internal - len(kept))])
