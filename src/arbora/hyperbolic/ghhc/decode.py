"""What trained nodes say about data: trees, sampled trees, labels of new points."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from arbora._base.rows import Rows
from arbora._base.types import AnyFloats, Bools, Ints
from arbora.hyperbolic.ghhc import model
from arbora.hyperbolic.ghhc.distances import NodeTable
from arbora.hyperbolic.ghhc.extract import Extraction, extract_tree
from arbora.hyperbolic.ghhc.placement import CHUNK, BallPlacement
from arbora.tree import Tree


def placed_chunks(rows: Rows, placement: BallPlacement) -> Iterator[tuple[slice, AnyFloats]]:
    """Rows in the ball, a chunk at a time."""
    return ((places, placement(chunk)) for places, chunk in rows.chunks(CHUNK, finite=True))


def assign(
    table: NodeTable, rows: Rows, placement: BallPlacement, usable: Bools | None = None, n_threads: int = 1
) -> tuple[Ints, AnyFloats]:
    """Parent of every row and the probability of that choice."""
    parent, probability = np.empty(rows.count_rows(), np.int64), np.empty(rows.count_rows())
    work = partial(_assign_chunk, table, placement, usable, n_threads)
    for places, found in rows.mapped(work, CHUNK):
        parent[places], probability[places] = found
    return parent, probability


def _assign_chunk(
    table: NodeTable, placement: BallPlacement, usable: Bools | None, n_threads: int, chunk: AnyFloats
) -> tuple[Ints, AnyFloats]:
    return model.nearest_parents(table, placement(chunk), usable, n_threads)


def most_likely_tree(
    table: NodeTable, rows: Rows, placement: BallPlacement, n_threads: int = 1
) -> tuple[Extraction, Ints, Ints]:
    """Tree in which everything selects its nearest parent, with the parents of rows and of nodes.

    Heights are hyperbolic: how much nearer to the origin than the data a node lies. Support is the
    probability of the selected parent (Eq. 5).
    """
    point_parent, point_support = assign(table, rows, placement, n_threads=n_threads)
    place = model.ranks(table)
    node_parent = model.node_parents(table, place=place)
    node_support = np.ones(len(table))
    for part in model.blocks(len(table), len(table)):
        children = np.arange(part.start, part.stop)
        logs = model.node_log_probabilities(table, children, place)
        chosen = np.take_along_axis(logs, np.maximum(node_parent[part], 0)[:, None], axis=1)[:, 0]
        node_support[part] = np.where(node_parent[part] >= 0, np.exp(chosen), 1.0)
    found = extract_tree(point_parent, node_parent, heights(table, placement), point_support, node_support)
    return found, point_parent, node_parent


def heights(table: NodeTable, placement: BallPlacement) -> AnyFloats:
    """Hyperbolic distance of nodes from the sphere of the data, towards the origin."""
    return np.asarray(np.maximum(2.0 * np.arctanh(placement.norm) - table.depth.astype(np.float64), 0.0))


def sampled_tree(
    table: NodeTable,
    rows: Rows,
    placement: BallPlacement,
    rng: np.random.Generator,
    temperature: float,
) -> Tree:
    """Tree drawn from the distribution over trees (Eq. 6): every parent drawn by Eq. 5."""
    point_parent = np.empty(rows.count_rows(), np.int64)
    for places, chunk in placed_chunks(rows, placement):

        def of_points(part: slice, chunk: AnyFloats = chunk) -> AnyFloats:
            return model.point_log_probabilities(table, chunk[part], temperature)

        point_parent[places] = _draw(len(chunk), len(table), of_points, rng)
    place = model.ranks(table)
    node_parent = _draw(
        len(table),
        len(table),
        lambda part: model.node_log_probabilities(
            table, np.arange(part.start, part.stop), place, temperature
        ),
        rng,
    )
    node_parent[place == 0] = -1
    return extract_tree(point_parent, node_parent, heights(table, placement)).tree


def _draw(n_rows: int, n_nodes: int, logs: Callable[[slice], AnyFloats], rng: np.random.Generator) -> Ints:
    """One column for each row, with the given log probabilities (by adding Gumbel noise)."""
    drawn = np.empty(n_rows, np.int64)
    for part in model.blocks(n_rows, n_nodes):
        values = logs(part)
        drawn[part] = (values + rng.gumbel(size=values.shape)).argmax(axis=1)
    return drawn


def split_uncertainty(tree: Tree) -> AnyFloats:
    """Mean probability that a child of each internal node belongs elsewhere: float64[n_internal]."""
    support = np.ones(tree.n_nodes) if tree.support is None else tree.support
    doubt = 1.0 - support[:-1]
    above = tree.parent[:-1] - tree.n_leaves
    total = np.bincount(above, weights=doubt, minlength=tree.n_internal)
    return total / np.maximum(np.bincount(above, minlength=tree.n_internal), 1)


def cut(tree: Tree, n_clusters: int) -> Ints:
    """Labels of a cut into exactly that many clusters, even if a split into many children skips that number."""
    return tree.cut(n_clusters=min(n_clusters, tree.n_leaves), exact="binarize")


def label_of_nodes(labels: Ints, point_parent: Ints, node_parent: Ints, place: Ints) -> Ints:
    """Label that a new point gets below each node of the model: the most frequent one among the node's own data.

    A node without its own data takes the most frequent label of the data below it; -1 without any.
    """
    n_labels = int(labels.max()) + 1
    own = np.zeros((len(node_parent), n_labels), np.int64)
    np.add.at(own, (point_parent, labels), 1)
    below = own.copy()
    # children before parents
    for node in np.argsort(-place):
        if node_parent[node] >= 0:
            below[node_parent[node]] += below[node]
    count = np.where(own.any(axis=1, keepdims=True), own, below)
    return np.where(count.any(axis=1), count.argmax(axis=1), -1)
