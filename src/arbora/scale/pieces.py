"""Trees of parts, cut into pieces that move as one, and the graph of all pieces.

A part's points have edges to points of other parts. Both parts hold such an edge, and list those they share in the same
order. So a part that sends the pieces of its ends, and nothing else, lets the other sum the edges between pieces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from arbora._base.types import Floats, Ints
from arbora.scale.division import highest
from arbora.scale.neighbors import PartGraph
from arbora.similarity import GraphSimilarity
from arbora.tree import Tree
from arbora.tree.pass_kernels import max_to_root
from arbora.tree.surgery import is_above


class PartTree(NamedTuple):
    """A tree over the points of a part, and its pieces.

    Attributes
    ----------
    parent : ndarray of int32
        Leaf i is the i-th of the part's points.
    cross : ndarray of float64
        Similarity that meets at each internal node.
    nodes : ndarray of int64
        The node of each piece.
    label : ndarray of int32
        The piece of each point.
    """

    parent: NDArray[np.int32]
    cross: Floats
    nodes: Ints
    label: NDArray[np.int32]

    @property
    def tree(self) -> Tree:
        """The tree as such."""
        return Tree(self.parent.astype(np.int64), len(self.label))

    @property
    def sizes(self) -> Ints:
        """Points of each piece."""
        return np.bincount(self.label, minlength=len(self.nodes))


class PieceSizes(NamedTuple):
    """Points of a piece at most: where some have edges to other parts, and where none has.

    Between parts only what has such edges can find a better place; the rest moves along, and may be coarse.
    """

    border: int
    inner: int


def cut_to_pieces(tree: Tree, graph: PartGraph, largest: PieceSizes, roots: Ints | None = None) -> PartTree:
    """The tree with its pieces: the largest subtrees of at most these sizes in which everything joined is related.

    What joins without any similarity belongs together by no evidence of this part, and is left to the search between
    pieces. No piece contains one of the `roots` strictly.
    """
    cross = GraphSimilarity(graph.csr).cross(tree)
    is_torn = np.zeros(tree.n_nodes, dtype=np.int64)
    is_torn[tree.n_leaves :] = cross <= 0
    if roots is not None and len(roots) > 1:
        is_torn[-1] = 1
    at_border = np.zeros(tree.n_nodes, dtype=np.int64)
    at_border[graph.out_point] = 1
    most = np.where(np.asarray(max_to_root(tree.parent, at_border)) > 0, largest.border, largest.inner)
    is_whole = (tree.sizes <= most) & (np.asarray(max_to_root(tree.parent, is_torn)) == 0)
    nodes = highest(tree, is_whole)
    label = np.empty(tree.n_leaves, dtype=np.int32)
    nodes = nodes[np.argsort(tree.leaf_start[nodes])]
    label[tree.leaf_order] = np.repeat(np.arange(len(nodes)), tree.sizes[nodes])
    return PartTree(tree.parent.astype(np.int32), cross, nodes, label)


def mail_labels(graph: PartGraph, found: PartTree) -> dict[int, NDArray[np.int32]]:
    """For each other part: the pieces of the ends here of the edges shared with it, in the order both know."""
    label = found.label[graph.out_point]
    return {
        other: label[graph.out_owner == other].astype(np.int32)
        for other in np.unique(graph.out_owner).tolist()
    }


def read_labels(graph: PartGraph, mail: Mapping[int, NDArray[np.int32]]) -> NDArray[np.int32]:
    """The piece, in its part, of the other end of each edge that leaves this part."""
    label = np.full(len(graph.out_id), -1, dtype=np.int32)
    for other, sent in mail.items():
        shared = np.flatnonzero(graph.out_owner == other)
        # the sender's order: by its end, then by ours
        label[shared[np.lexsort((graph.out_point[shared], graph.out_id[shared]))]] = sent
    return label


class PieceEdges(NamedTuple):
    """Summed edges between the pieces of a part and pieces of this or a later part."""

    piece: NDArray[np.int32]
    other_part: NDArray[np.int32]
    other_piece: NDArray[np.int32]
    weight: Floats


def sum_edges(graph: PartGraph, part: int, found: PartTree, out_label: NDArray[np.int32]) -> PieceEdges:
    """Each pair of pieces once: those within a part, and those with a part of higher number."""
    row = np.repeat(np.arange(len(graph.ids), dtype=np.int32), np.diff(graph.indptr))
    a, b = found.label[row], found.label[graph.indices]
    is_pair = a < b
    n_pieces = len(found.nodes)
    weight = graph.data[is_pair].astype(np.float64)
    inside = sp.csr_array((weight, (a[is_pair], b[is_pair])), shape=(n_pieces, n_pieces)).tocoo()
    out = _sum_to_later(graph, part, found, out_label)
    return PieceEdges(
        np.concatenate([inside.row.astype(np.int32), out.piece]),
        np.concatenate([np.full(inside.nnz, part, dtype=np.int32), out.other_part]),
        np.concatenate([inside.col.astype(np.int32), out.other_piece]),
        np.concatenate([inside.data, out.weight]),
    )


def _sum_to_later(graph: PartGraph, part: int, found: PartTree, out_label: NDArray[np.int32]) -> PieceEdges:
    """The edges to parts of higher number, summed."""
    later = graph.out_owner > part
    piece, other_part, other = found.label[graph.out_point[later]], graph.out_owner[later], out_label[later]
    weight = graph.out_weight[later].astype(np.float64)
    order = np.lexsort((other, other_part, piece))
    piece, other, other_part, weight = piece[order], other[order], other_part[order], weight[order]
    is_first = np.ones(len(piece), dtype=bool)
    is_first[1:] = (np.diff(piece) != 0) | (np.diff(other) != 0) | (np.diff(other_part) != 0)
    first = np.flatnonzero(is_first)
    summed = np.add.reduceat(weight, first) if len(first) else weight
    return PieceEdges(piece[first], other_part[first], other[first], summed)


class Summary(NamedTuple):
    """What the coordinator learns of a part beside its pieces' edges."""

    sizes: Ints
    # Dasgupta's cost below the pieces
    inner_cost: float


def summarize(found: PartTree) -> Summary:
    """Sizes of the pieces, and what the tree below them costs."""
    if len(found.nodes) == 0:
        return Summary(found.sizes, 0.0)
    tree = found.tree
    inner = ~is_above(tree, found.nodes)[tree.n_leaves :]
    cost = float(found.cross[inner] @ tree.sizes[tree.n_leaves :][inner])
    return Summary(found.sizes, cost)


class Heavy(NamedTuple):
    """The pieces of all parts as heavy points.

    Attributes
    ----------
    graph : csr_array of float64
        Summed edges between pieces, symmetric.
    sizes : ndarray of float64
        Rows of each piece.
    first : ndarray of int64, shape (n_parts + 1,)
        The number of each part's first piece.
    """

    graph: sp.csr_array
    sizes: Floats
    first: Ints


def piece_graph(sizes: Sequence[Ints], edges: Sequence[PieceEdges]) -> Heavy:
    """The graph of the pieces of all parts."""
    first = np.concatenate([[0], np.cumsum([len(own) for own in sizes])])
    row = np.concatenate([first[part] + found.piece for part, found in enumerate(edges)])
    column = np.concatenate([first[found.other_part] + found.other_piece for found in edges])
    weight = np.concatenate([found.weight for found in edges])
    n = int(first[-1])
    index = np.int32 if max(n, 2 * len(row)) < 2**31 else np.int64
    ends = np.concatenate([row, column]).astype(index), np.concatenate([column, row]).astype(index)
    graph = sp.csr_array((np.concatenate([weight, weight]), ends), shape=(n, n))
    graph.sort_indices()
    return Heavy(graph, np.concatenate(sizes).astype(np.float64), first)
