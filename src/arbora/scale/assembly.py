"""The whole tree from the trees of the parts, and a last search between pieces across the borders of the parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from arbora._base.types import Floats, Ints
from arbora.scale.division import Bundles
from arbora.scale.pieces import Heavy
from arbora.scale.searches import FinalPart, heavy_engine, searched_pieces
from arbora.similarity import GraphSimilarity
from arbora.tree import Tree
from arbora.tree.surgery import is_above, top_over, with_top


class Whole(NamedTuple):
    """A tree over all rows, with the similarity that meets at its internal nodes, where that is known.

    Attributes
    ----------
    tree : Tree
    cross : ndarray of float64, shape (n_internal,)
        NaN above the pieces.
    pieces : ndarray of int64
        The node of each piece.
    """

    tree: Tree
    cross: Floats
    pieces: Ints


def put_together(parts: Sequence[FinalPart], top: Tree, bundles: Bundles) -> Whole:
    """All parts below the tree of pieces from which they were cut; `top` is that tree."""
    over = top_over(top, bundles.nodes)
    n_rows = sum(len(part.ids) for part in parts)
    has_star = [len(part.roots) > 1 for part in parts]
    n_inner = [len(part.cross) - star for part, star in zip(parts, has_star)]
    first = n_rows + np.concatenate([[0], np.cumsum(n_inner)])
    parent = np.full(int(first[-1]) + over.n_internal, -1, dtype=np.int64)
    cross = np.full(len(parent) - n_rows, np.nan)
    pieces = []
    for k, part in enumerate(parts):
        number = np.concatenate([part.ids, np.arange(first[k], first[k + 1])])
        own = part.parent[: len(number)]
        is_root = np.zeros(len(number), dtype=bool)
        is_root[part.roots] = True
        parent[number[~is_root]] = number[own[~is_root]]
        above = over.parent[np.flatnonzero(bundles.of_node == k)]
        parent[number[part.roots]] = np.where(above >= 0, above + first[-1] - over.n_leaves, -1)
        cross[first[k] - n_rows : first[k + 1] - n_rows] = part.cross[: n_inner[k]]
        pieces.append(number[part.nodes])
    inner = over.parent[over.n_leaves :]
    parent[int(first[-1]) :] = np.where(inner >= 0, inner + first[-1] - over.n_leaves, -1)
    return Whole(Tree(parent, n_rows), cross, np.concatenate(pieces))


def searched_above(whole: Whole, heavy: Heavy, n_threads: int) -> Whole:
    """The tree with what lies above its pieces searched once more, and the sums there filled in."""
    engine = heavy_engine(heavy)
    start = top_over(whole.tree, whole.pieces)
    found = searched_pieces(heavy, start, n_threads)
    if engine.costs(found).sum() >= engine.costs(start).sum():
        found = start
    is_lower = ~is_above(whole.tree, whole.pieces)[whole.tree.n_leaves :]
    cross = np.concatenate([whole.cross[is_lower], GraphSimilarity(heavy.graph).cross(found)])
    tree = with_top(whole.tree, whole.pieces, found)
    # what lies below pieces keeps its order, and so do the pieces
    number = np.cumsum(np.concatenate([np.ones(tree.n_leaves, dtype=bool), is_lower])) - 1
    return Whole(tree, cross, number[whole.pieces])
