"""Parts of a graph in shards: every part gets the edges of its nodes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from arbora._base.types import Ints
from arbora.scale.neighbors import PartGraph
from arbora.scale.searches import NewPart
from arbora.similarity.shards import Edges
from arbora.tree import Tree


def count_ends(edges: Edges, n_points: int) -> Ints:
    """Edges at each node."""
    return np.bincount(edges.low, minlength=n_points) + np.bincount(edges.high, minlength=n_points)


def send_edges(edges: Edges, part_of_node: NDArray[np.int32]) -> dict[int, Edges]:
    """The edges that have an end in each part: those between two parts go to both."""
    a, b = part_of_node[edges.low], part_of_node[edges.high]
    apart = np.flatnonzero(a != b)
    target = np.concatenate([a, b[apart]])
    which = np.concatenate([np.arange(len(a)), apart])
    order = np.argsort(target, kind="stable")
    target, which = target[order], which[order]
    parts, first = np.unique(target, return_index=True)
    bounds = [*first.tolist(), len(target)]
    return {
        int(part): Edges(*(column[which[start:stop]] for column in edges))
        for part, start, stop in zip(parts, bounds, bounds[1:])
    }


def part_graph(sent: Sequence[Edges | None], part: int, part_of_node: NDArray[np.int32]) -> PartGraph:
    """The graph of a part from the edges that were sent to it, each of them once."""
    ids = np.flatnonzero(part_of_node == part)
    given = [edges for edges in sent if edges is not None] or [Edges(ids[:0], ids[:0], np.empty(0))]
    low, high, weight = (np.concatenate(column) for column in zip(*given))
    # both directions of every edge, of which those count that start here
    point, other, weight = np.concatenate([low, high]), np.concatenate([high, low]), np.tile(weight, 2)
    starts_here = part_of_node[point] == part
    point, other, weight = np.searchsorted(ids, point[starts_here]), other[starts_here], weight[starts_here]
    order = np.lexsort((other, point))
    point, other, weight = point[order], other[order], weight[order]
    owner = part_of_node[other]
    is_inside = owner == part
    ends = point[is_inside], np.searchsorted(ids, other[is_inside])
    inside = sp.csr_array((weight[is_inside], ends), shape=(len(ids), len(ids)))
    inside.sort_indices()
    return PartGraph(
        ids,
        np.zeros(len(ids), dtype=np.int32),
        inside.indptr,
        inside.indices,
        inside.data,
        point[~is_inside].astype(np.int32),
        other[~is_inside],
        owner[~is_inside],
        weight[~is_inside],
    )


def part_of_tree(graph: PartGraph, over: Tree, roots: Ints) -> NewPart:
    """A part whose points are the leaves of a tree, in order; `roots` are the subtrees that it consists of."""
    return NewPart(graph, over.parent, roots)


def edges_of_part(graph: PartGraph, part: int) -> Edges:
    """The edges within a part, and those to later parts."""
    row = np.repeat(np.arange(len(graph.ids)), np.diff(graph.indptr))
    once = row < graph.indices
    later = graph.out_owner > part
    left = np.concatenate([graph.ids[row[once]], graph.ids[graph.out_point[later]]])
    right = np.concatenate([graph.ids[graph.indices[once]], graph.out_id[later]])
    weight = np.concatenate([graph.data[once], graph.out_weight[later]]).astype(np.float64)
    return Edges(np.minimum(left, right), np.maximum(left, right), weight)
