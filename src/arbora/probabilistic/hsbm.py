"""Hierarchical stochastic block model: graphs whose hierarchy is known (Lyzinski et al. 2016; FPH App. B.9)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from arbora._base.params import check_whole
from arbora._base.random import numpy_generator
from arbora._base.types import Floats, Ints, RandomState
from arbora.tree import Tree


class HSBM(NamedTuple):
    """A graph and the communities it was drawn from.

    `levels[l]` labels the nodes at level l + 1, coarse to fine; `tree` has them as its nodes.

    Examples
    --------
    >>> from arbora.probabilistic import small_hsbm
    >>> drawn = small_hsbm(0)
    >>> drawn.tree.n_leaves == drawn.adjacency.shape[0] == drawn.levels.shape[1]
    True
    """

    adjacency: sp.csr_array
    levels: Ints
    tree: Tree


def hierarchical_block_model(
    probabilities: ArrayLike,
    branching: int | Sequence[int],
    community_size: tuple[int, int],
    n_nodes: int | None = None,
    *,
    random_state: RandomState = None,
) -> HSBM:
    """Draw a graph: two nodes are joined with a probability that depends on the level of their last common block.

    Parameters
    ----------
    probabilities : sequence of float, length n_levels + 1
        Of an edge between nodes that share no block, one level of blocks, ..., the finest block.
    branching : int or sequence of int
        Into how many blocks a block splits at each level; drawn from the sequence.
    community_size : tuple (smallest, largest)
        Nodes of a finest block.
    n_nodes : int, optional
        Number of nodes. Sizes are drawn until all blocks together have that many; needs room in `community_size`.
    random_state : int, RandomState, Generator or None

    Returns
    -------
    HSBM
        Symmetric adjacency, labels of every level, and the tree of the blocks.

    Examples
    --------
    >>> graph = hierarchical_block_model([0.01, 0.1, 0.3, 0.6], 2, (10, 15), n_nodes=100, random_state=0)
    >>> graph.adjacency.shape, graph.levels.max(axis=1) + 1
    ((100, 100), array([2, 4, 8]))
    """
    of_level = np.asarray(probabilities, dtype=np.float64)
    if of_level.ndim != 1 or len(of_level) < 2 or not ((of_level >= 0) & (of_level <= 1)).all():
        raise ValueError(f"probabilities must be two or more numbers in [0, 1]. Got {of_level.tolist()}.")
    smallest, largest = community_size
    if not 1 <= smallest <= largest:
        raise ValueError(
            f"community_size must be (smallest, largest) with 1 <= smallest. Got {community_size}."
        )
    splits = np.array([check_whole(split, "branching") for split in np.atleast_1d(branching).tolist()])
    if len(splits) == 0:
        raise ValueError("branching must be a whole number, or several. Got none.")
    rng = numpy_generator(random_state)
    blocks = _draw_blocks(len(of_level) - 1, splits, n_nodes, smallest, largest, rng)
    sizes = _draw_sizes(blocks.shape[1], n_nodes, smallest, largest, rng)
    levels = np.repeat(blocks, sizes, axis=1)
    return HSBM(_draw_edges(levels, of_level, rng), levels, _tree_of_levels(levels))


def small_hsbm(random_state: RandomState = None) -> HSBM:
    """The paper's small setting: 100 nodes, 3 levels, branching 2, communities of 10 to 15.

    Examples
    --------
    >>> drawn = small_hsbm(0)
    >>> drawn.adjacency.shape, (drawn.levels.max(axis=1) + 1).tolist()
    ((100, 100), [2, 4, 8])
    """
    return hierarchical_block_model([0.01, 0.1, 0.3, 0.6], 2, (10, 15), 100, random_state=random_state)


def large_hsbm(random_state: RandomState = None) -> HSBM:
    """The paper's large setting: 1,000 nodes, 3 levels, branching 2 to 4, communities of 30 to 35.

    Examples
    --------
    >>> drawn = large_hsbm(0)
    >>> drawn.adjacency.shape, len(drawn.levels)
    ((1000, 1000), 3)
    """
    return hierarchical_block_model(
        [0.001, 0.01, 0.1, 0.4], [2, 3, 4], (30, 35), 1000, random_state=random_state
    )


def _draw_blocks(
    n_levels: int,
    branching: Ints,
    n_nodes: int | None,
    smallest: int,
    largest: int,
    rng: np.random.Generator,
) -> Ints:
    """Labels of the finest blocks at every level; drawn again until `n_nodes` can be shared out among them."""
    for _ in range(10_000):
        blocks = np.zeros((0, 1), dtype=np.int64)
        for _level in range(n_levels):
            parts = rng.choice(branching, size=blocks.shape[1])
            blocks = np.repeat(blocks, parts, axis=1)
            blocks = np.vstack([blocks, np.arange(blocks.shape[1])])
        n_blocks = blocks.shape[1]
        if n_nodes is None or n_blocks * smallest <= n_nodes <= n_blocks * largest:
            return blocks
    raise ValueError(
        f"No draw of branching {branching.tolist()} gives {n_nodes} nodes in communities of {smallest} to {largest}."
    )


def _draw_sizes(
    n_blocks: int, n_nodes: int | None, smallest: int, largest: int, rng: np.random.Generator
) -> Ints:
    sizes = rng.integers(smallest, largest + 1, n_blocks)
    while n_nodes is not None and sizes.sum() != n_nodes:
        step = 1 if sizes.sum() < n_nodes else -1
        room = np.flatnonzero((sizes + step >= smallest) & (sizes + step <= largest))
        sizes[rng.choice(room)] += step
    return sizes


def _draw_edges(levels: Ints, probabilities: Floats, rng: np.random.Generator) -> sp.csr_array:
    """Edges of all pairs, a block of rows at a time."""
    n = levels.shape[1]
    rows, columns = [], []
    for start in range(0, n, 1024):
        stop = min(start + 1024, n)
        shared = (levels[:, start:stop, None] == levels[:, None, :]).sum(axis=0)
        drawn = rng.random(shared.shape) < probabilities[shared]
        drawn &= np.arange(start, stop)[:, None] < np.arange(n)
        found = np.nonzero(drawn)
        rows.append(found[0] + start)
        columns.append(found[1])
    i, j = np.concatenate(rows), np.concatenate(columns)
    both = (np.concatenate([i, j]), np.concatenate([j, i]))
    return sp.csr_array((np.ones(2 * len(i)), both), shape=(n, n))


def _tree_of_levels(levels: Ints) -> Tree:
    """Finest blocks first, then coarser ones, the root last."""
    n = levels.shape[1]
    parent = [n + levels[-1]]
    start = n
    for fine, coarse in zip(levels[:0:-1], levels[-2::-1]):
        start += fine.max() + 1
        # a node of each fine block is in its coarse block, too
        member = np.unique(fine, return_index=True)[1]
        parent.append(start + coarse[member])
    n_top = levels[0].max() + 1
    parent.append(np.append(np.full(n_top, start + n_top), -1))
    return Tree(np.concatenate(parent), n).collapse_unary()
