"""The searches: of a part's first tree, of the tree of all pieces, and of new parts cut along that tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from arbora._base.types import Floats, Ints
from arbora.linkages import linkage
from arbora.linkages.graph import heavy_linkage
from arbora.scale.neighbors import PartGraph
from arbora.scale.pieces import Heavy, PartTree, PieceSizes, cut_to_pieces
from arbora.search.engines import Engine, GraphEngine, make_engine
from arbora.search.multilevel import LEVELS
from arbora.search.perturb import Search
from arbora.search.run import Run
from arbora.similarity import GraphSimilarity
from arbora.tree import Tree
from arbora.tree.surgery import graft, is_above

# Sweeps until no move helps; and those of `arbora.cluster` on data large enough to be searched by levels.
_MAX_SWEEPS, _SWEEPS_OF_LARGE = 100, 1
_BY_LEVELS = replace(LEVELS, large=1)


def first_tree(graph: PartGraph, largest_piece: PieceSizes) -> PartTree:
    """Average linkage of a part's points by the edges within the part; a part may have got no points."""
    if len(graph.ids) == 0:
        nobody = np.empty(0, dtype=np.int32)
        return PartTree(nobody, np.empty(0), nobody.astype(np.int64), nobody)
    return cut_to_pieces(linkage(GraphSimilarity(graph.csr), "average", n_jobs=1), graph, largest_piece)


def searched(
    engine: Engine, tree: Tree, n_rows: int, *, n_threads: int = 1, sweeps: int | None = None
) -> Tree:
    """A tree improved with the effort of `arbora.cluster` on `n_rows` rows in memory, or with `sweeps` sweeps."""
    rng = np.random.default_rng(0)
    is_large = n_rows >= LEVELS.large
    most = sweeps or (_SWEEPS_OF_LARGE if is_large else _MAX_SWEEPS)
    levels = _BY_LEVELS if is_large else LEVELS
    return Search(engine, Run(), rng, max_sweeps=most, n_threads=n_threads, levels=levels).improve(tree)


def searched_pieces(heavy: Heavy, start: Tree, n_threads: int) -> Tree:
    """A tree of pieces improved."""
    return searched(heavy_engine(heavy), start, int(heavy.sizes.sum()), n_threads=n_threads)


def heavy_engine(heavy: Heavy) -> GraphEngine:
    """Engine of pieces as heavy points."""
    return GraphEngine(GraphSimilarity(heavy.graph), "dasgupta", heavy.sizes, is_lone=heavy.sizes == 1)


def tree_of_pieces(heavy: Heavy, n_threads: int) -> tuple[Tree, Tree]:
    """Average linkage of all pieces, and the tree that a search makes of it."""
    start = heavy_linkage(heavy.graph, heavy.sizes)
    return start, searched_pieces(heavy, start, n_threads)


# ---- new parts -----------------------------------------------------------------------------------------------


class NearEdges(NamedTuple):
    """Edges between points that move together: how many each point has, the places of the other ends, the weights."""

    degree: Ints
    place: NDArray[np.int32]
    weight: NDArray[np.float32]


class FarEdges(NamedTuple):
    """Other edges of points that move: the point's place, the row at the other end, its new part, the weight."""

    place: NDArray[np.int32]
    id: Ints
    owner: NDArray[np.int32]
    weight: NDArray[np.float32]


class Moved(NamedTuple):
    """Points of one part that go to a new part, with their edges and the trees of their pieces.

    Attributes
    ----------
    ids, cell : ndarray
        Of the points, as in `PartGraph`. Their places are counted in this order.
    near : NearEdges
    far : FarEdges
    parent : ndarray of int64
        Points, then the internal nodes of the pieces. The parent of a piece's root is -1 - (number of the piece).
    """

    ids: Ints
    cell: NDArray[np.int32]
    near: NearEdges
    far: FarEdges
    parent: Ints


def move_points(
    graph: PartGraph,
    found: PartTree,
    out_label: NDArray[np.int32],
    part: int,
    first_piece: Ints,
    bundle: Ints,
) -> dict[int, Moved]:
    """The points of a part by the new part that their piece goes to; `bundle` is that of every piece."""
    if len(graph.ids) == 0:
        return {}
    new_part = bundle[first_piece[part] + found.label].astype(np.int32)
    out_part = bundle[first_piece[graph.out_owner] + out_label].astype(np.int32)
    top_of_node = _bundle_of_nodes(found, bundle[first_piece[part] : first_piece[part + 1]])
    moved = {}
    for new in np.unique(new_part).tolist():
        points = np.flatnonzero(new_part == new)
        near, far = _edges_of_points(graph, points, new_part, out_part)
        forest = _forest(found, np.flatnonzero(top_of_node == new), int(first_piece[part]))
        moved[new] = Moved(graph.ids[points], graph.cell[points], near, far, forest)
    return moved


def _edges_of_points(
    graph: PartGraph, points: Ints, new_part: NDArray[np.int32], out_part: NDArray[np.int32]
) -> tuple[NearEdges, FarEdges]:
    """The edges of points that go to one new part, among each other and to the rest."""
    place = np.full(len(graph.ids), -1, dtype=np.int32)
    place[points] = np.arange(len(points))
    inside, point = _rows_of(graph.indptr, points)
    target, weight = graph.indices[inside], graph.data[inside]
    is_near = place[target] >= 0
    degree = np.bincount(point[is_near], minlength=len(points))
    near = NearEdges(degree, place[target[is_near]], weight[is_near])
    target, weight, point = target[~is_near], weight[~is_near], point[~is_near]
    out = np.flatnonzero(place[graph.out_point] >= 0)
    far = FarEdges(
        np.concatenate([point.astype(np.int32), place[graph.out_point[out]]]),
        np.concatenate([graph.ids[target], graph.out_id[out]]),
        np.concatenate([new_part[target], out_part[out]]),
        np.concatenate([weight, graph.out_weight[out]]),
    )
    return near, far


def _rows_of(indptr: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """Where the entries of these rows stand, row by row, and which of the rows each of them is in."""
    counts = np.diff(indptr)[rows]
    of_row = np.repeat(np.arange(len(rows)), counts)
    before = np.cumsum(counts) - counts
    return np.arange(len(of_row)) + (indptr[rows] - before)[of_row], of_row


def _bundle_of_nodes(found: PartTree, bundle: Ints) -> Ints:
    """The new part of each node at or below a piece; -1 above."""
    tree = found.tree
    of_node = bundle[found.label[tree.leaf_order[tree.leaf_start]]]
    return np.where(is_above(tree, found.nodes), -1, of_node)


def _forest(found: PartTree, nodes: Ints, first_piece: int) -> Ints:
    """Parents among these nodes (points first), the roots of pieces marked with the piece's number."""
    number = np.full(len(found.parent), -1, dtype=np.int64)
    number[nodes] = np.arange(len(nodes))
    parent = number[found.parent[nodes]]
    is_root = np.full(len(found.parent), -1, dtype=np.int64)
    is_root[found.nodes] = np.arange(len(found.nodes))
    piece = is_root[nodes]
    return np.where(piece >= 0, -1 - (first_piece + piece), parent)


class NewPart(NamedTuple):
    """A part cut along the tree of pieces: its graph, its tree, and the roots of the subtrees that it consists of."""

    graph: PartGraph
    parent: Ints
    roots: Ints


def assemble(moved: Sequence[Moved | None], part: int, top: Tree, pieces: Ints, roots: Ints) -> NewPart:
    """A new part from what the old parts sent.

    `top` is a tree over the pieces of this part, leaf k being the piece ``pieces[k]`` (ascending); `roots` are those
    nodes of it that are subtrees of the whole tree. Above them stands one node, if there are several.
    """
    given = [one for one in moved if one is not None]
    ids = np.concatenate([one.ids for one in given])
    order = np.argsort(ids, kind="stable")
    place = np.empty(len(ids), dtype=np.int64)
    place[order] = np.arange(len(ids))
    parent, root_of_piece = _joined_forest(given, place, pieces)
    n_lower = len(parent)
    to_top = n_lower - top.n_leaves
    above = top.parent[: top.n_leaves]
    parent[root_of_piece] = np.where(above >= 0, above + to_top, -1)
    inner = top.parent[top.n_leaves :]
    parent = np.concatenate([parent, np.where(inner >= 0, inner + to_top, -1)])
    new_roots = np.where(
        roots < top.n_leaves, root_of_piece[np.minimum(roots, top.n_leaves - 1)], roots + to_top
    )
    graph = _joined_graph(given, ids, place, part)
    return NewPart(graph, parent, new_roots)


def _joined_forest(given: Sequence[Moved], place: Ints, pieces: Ints) -> tuple[Ints, Ints]:
    """Parents of all points and inner nodes, points by their place, and the node of each piece."""
    n_points = [len(one.ids) for one in given]
    n_inner = [len(one.parent) - len(one.ids) for one in given]
    first_point = np.concatenate([[0], np.cumsum(n_points)])
    first_inner = len(place) + np.concatenate([[0], np.cumsum(n_inner)])
    parent = np.full(int(first_inner[-1]), -1, dtype=np.int64)
    root_of_piece = np.full(len(pieces), -1, dtype=np.int64)
    for k, one in enumerate(given):
        own = place[first_point[k] : first_point[k + 1]]
        number = np.concatenate([own, np.arange(first_inner[k], first_inner[k + 1])])
        is_root = one.parent < 0
        parent[number[~is_root]] = number[one.parent[~is_root]]
        root_of_piece[np.searchsorted(pieces, -1 - one.parent[is_root])] = number[is_root]
    return parent, root_of_piece


def _joined_graph(given: Sequence[Moved], ids: Ints, place: Ints, part: int) -> PartGraph:
    """The graph of the points `ids`, in the order in which they came; `place` is where each goes."""
    n = len(ids)
    sorted_ids, cell = np.empty(n, dtype=ids.dtype), np.empty(n, dtype=np.int32)
    sorted_ids[place] = ids
    cell[place] = np.concatenate([one.cell for one in given])
    places = np.split(place, np.cumsum([len(one.ids) for one in given])[:-1])
    far_point = np.concatenate([own[one.far.place] for own, one in zip(places, given)])
    far_id, owner, far_weight = (np.concatenate(columns) for columns in zip(*(one.far[1:] for one in given)))
    # edges that led from one old part to another, and now lie within this part
    came = owner == part
    point = np.concatenate([*map(np.repeat, places, (one.near.degree for one in given)), far_point[came]])
    other = [own[one.near.place] for own, one in zip(places, given)]
    other.append(np.searchsorted(sorted_ids, far_id[came]))
    weight = np.concatenate([*(one.near.weight for one in given), far_weight[came]])
    inside = sp.csr_array((weight, (point, np.concatenate(other))), shape=(n, n))
    inside.sort_indices()
    out = np.flatnonzero(~came)
    out = out[np.lexsort((far_id[out], far_point[out]))]
    return PartGraph(
        sorted_ids,
        cell,
        inside.indptr,
        inside.indices,
        inside.data,
        far_point[out].astype(np.int32),
        far_id[out],
        owner[out],
        far_weight[out],
    )


class FinalPart(NamedTuple):
    """What the coordinator gets of a new part: the rows, a `PartTree` over them, and what heights are made of.

    Attributes
    ----------
    roots : ndarray of int64
        The subtrees that the part consists of; where they are several, the last node stands above them.
    degrees : ndarray of float64
        Sum of the similarities of each point.
    n_edges : ndarray of int64, shape ()
        Edges of all points, those within the part counted twice.
    """

    ids: Ints
    parent: NDArray[np.int32]
    cross: Floats
    nodes: Ints
    label: NDArray[np.int32]
    roots: Ints
    degrees: Floats
    n_edges: Ints

    @property
    def found(self) -> PartTree:
        """The tree with its pieces."""
        return PartTree(self.parent, self.cross, self.nodes, self.label)


def search_new_part(
    given: NewPart, largest_piece: PieceSizes, n_rows: int, sweeps: int | None = None
) -> FinalPart:
    """Search each subtree of a new part; `n_rows` are those of all parts, sweeps by default what `cluster` makes."""
    graph = given.graph
    tree = Tree(given.parent, len(graph.ids))
    engine = make_engine(GraphSimilarity(graph.csr), "dasgupta")
    subtrees, leaves = [], []
    for node in given.roots.tolist():
        below, subtree = subtree_of(tree, node)
        if len(below) > 2:
            subtree = searched(engine.restrict(below), subtree, n_rows, sweeps=sweeps)
        subtrees.append(subtree)
        leaves.append(below)
    whole, roots = side_by_side(subtrees, leaves)
    found = cut_to_pieces(whole, graph, largest_piece, roots)
    inside = np.repeat(np.arange(len(graph.ids)), np.diff(graph.indptr))
    degrees = np.zeros(len(graph.ids))
    degrees += np.bincount(inside, graph.data, minlength=len(graph.ids))
    degrees += np.bincount(graph.out_point, graph.out_weight, minlength=len(graph.ids))
    n_edges = np.array(len(graph.data) + len(graph.out_id))
    return FinalPart(graph.ids, found.parent, found.cross, found.nodes, found.label, roots, degrees, n_edges)


def subtree_of(tree: Tree, node: int) -> tuple[Ints, Tree]:
    """The leaves below a node, ascending, and the tree over them."""
    if node < tree.n_leaves:
        return np.array([node]), Tree([-1], 1)
    return np.sort(tree.leaves(node)), tree.subtree(node)


def side_by_side(subtrees: Sequence[Tree], leaves: Sequence[Ints]) -> tuple[Tree, Ints]:
    """One tree with the subtrees below one node, or the only subtree; and the nodes of their roots."""
    if len(subtrees) == 1:
        return subtrees[0], np.array([subtrees[0].root])
    star = Tree([len(subtrees)] * len(subtrees) + [-1], len(subtrees))
    whole = graft(star, subtrees, leaves)
    n = sum(tree.n_leaves for tree in subtrees)
    last = n + np.cumsum([tree.n_internal for tree in subtrees]) - 1
    roots = [
        int(below[0]) if tree.n_internal == 0 else int(end)
        for tree, below, end in zip(subtrees, leaves, last)
    ]
    return whole, np.array(roots)
