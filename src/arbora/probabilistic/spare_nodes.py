"""Putting internal nodes to use that training left without leaves.

In the most likely tree some of the n' internal nodes join nothing, while others have many children. Here the wide
splits are resolved into binary ones, the most similar children first (`flat.resolve`), and the whole is compressed
to n' nodes again. The model follows: mass that was not on the most likely parents stays where it was.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from arbora._base.types import Ints, Objective
from arbora.probabilistic.expected import decoded_loss, most_likely_parents
from arbora.probabilistic.flat import resolve
from arbora.probabilistic.row_blocks import csr_from_parts
from arbora.probabilistic.sparse import EdgeDistribution, Model, Parents
from arbora.probabilistic.start import nearest_kept, tree_of_parents
from arbora.probabilistic.training import Best
from arbora.similarity.graph import GraphSimilarity
from arbora.tree import Tree


def use_spare_nodes(
    similarity: GraphSimilarity, graph: EdgeDistribution, best: Best, objective: Objective
) -> Best:
    """The best model of training, or one that uses all its nodes, as long as its tree gets better by 1e-4."""
    while True:
        model = refilled(best.model, best.parents, similarity, objective)
        loss, parents = decoded_loss(graph, model, objective)
        if loss >= best.loss - 1e-4 * abs(best.loss):
            return best
        best = Best(loss, model, parents, best.epoch)


def refilled(model: Model, parents: Parents, similarity: GraphSimilarity, objective: Objective) -> Model:
    """The model whose most likely tree is that of `model`, resolved and compressed to as many nodes again."""
    old, column = tree_of_parents(*parents)
    new = resolve(old, similarity).compress(model.n_internal, similarity, objective)
    image = _images(old, new)
    number = np.full(model.n_internal, -1)
    number[column] = np.arange(len(column))
    keeper = nearest_kept(parents[1], number >= 0, np.ones(model.n_internal))[0]
    # where a column's mass goes
    moved = np.where(keeper >= 0, image[number[keeper]], new.n_internal - 1)
    A = _leaf_rows(model.A, parents[0], moved, new)
    return Model(A, _internal_rows(model.B, column, image, moved, old, new))


def _images(old: Tree, new: Tree) -> Ints:
    """Per internal node of `old`, the lowest internal node of `new` above all its leaves."""
    n = old.n_leaves
    place = np.empty(n, dtype=np.int64)
    place[new.leaf_order] = np.arange(n)
    low, high = np.full(old.n_nodes, n), np.full(old.n_nodes, -1)
    low[:n] = high[:n] = place
    for node in range(old.n_nodes - 1):
        above = old.parent[node]
        low[above], high[above] = min(low[above], low[node]), max(high[above], high[node])
    return np.asarray(new.lca(new.leaf_order[low[n:]], new.leaf_order[high[n:]])) - n


def _leaf_rows(A: sp.csr_array, leaf_parent: Ints, moved: Ints, new: Tree) -> sp.csr_array:
    """Rows of A over the nodes of `new`; a row whose most likely parent would not be the tree's becomes certain."""
    n = new.n_leaves
    row = np.repeat(np.arange(n), np.diff(A.indptr))
    wanted = new.parent[:n] - n
    target = np.where(A.indices == leaf_parent[row], wanted[row], moved[A.indices])
    out = sp.csr_array((A.data, (row, target)), shape=(n, new.n_internal))
    out = csr_from_parts(out.indptr, out.indices.astype(np.int32), out.data, out.shape)
    found = most_likely_parents(Model(out, np.zeros((1, 1))))[0]
    row = np.repeat(np.arange(n), np.diff(out.indptr))
    wrong = (found != wanted)[row]
    out.data[wrong] = out.indices[wrong] == wanted[row[wrong]]
    out.eliminate_zeros()
    return out


def _internal_rows(
    B: NDArray[np.floating], column: Ints, image: Ints, moved: Ints, old: Tree, new: Tree
) -> NDArray[np.floating]:
    """The same for B; nodes that `old` does not have are sure of their parent."""
    n, k = new.n_leaves, new.n_internal
    out = np.zeros((k, k), dtype=B.dtype)
    wanted = new.parent[n:-1] - n
    same = new.sizes[n:][image] == old.sizes[n:]
    # not the root
    for node in np.flatnonzero(same[:-1]):
        at, row = image[node], B[column[node]].copy()
        mode = int(row.argmax())
        out[at, wanted[at]] = row[mode]
        row[mode] = 0.0
        target = np.where(moved > at, moved, wanted[at])
        out[at] += np.bincount(target, row, minlength=k)
    wrong = np.flatnonzero(out[:-1].argmax(axis=1) != wanted)
    wrong = np.union1d(wrong, np.flatnonzero(out[:-1].sum(axis=1) == 0))
    out[wrong] = 0.0
    out[wrong, wanted[wrong]] = 1.0
    return out
