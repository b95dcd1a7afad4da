"""The better parts of two trees over the same leaves.

What a node adds to an objective depends only on the leaves below each of its children. So where two trees have a
clade in common, either may take over how the other resolves it. The clades that both have cut the trees into
sectors, one below each such clade down to the next ones; the fused tree has each sector from the tree where it
costs less (Goloboff 1999 fuses phylogenetic trees this way).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arbora._base.types import Bools, Floats, Ints
from arbora.tree import Tree

# anything less is rounding
RELATIVE_GAIN = 1e-12


def fuse(
    first: Tree,
    first_costs: Floats,
    second: Tree,
    second_costs: Floats,
    n_internal: int | None = None,
) -> Tree:
    """The first tree with the sectors of the second that cost less.

    Parameters
    ----------
    first, second : Tree
        Over the same leaves, without nodes of one child.
    first_costs, second_costs : ndarray of float, shape (n_nodes,)
        What each node adds to the objective.
    n_internal : int, optional
        At most this many internal nodes, which the first tree keeps to. Sectors then also compete for nodes.

    Returns
    -------
    Tree
        Costs no more than the first. It is `first` itself where nothing is better.
    """
    here, there = common_clades(first, second)
    near_first, near_second = (
        nearest_at_or_above(tree.parent, nodes) for tree, nodes in ((first, here), (second, there))
    )
    n_common = len(here)
    cost, other_cost = (
        np.bincount(near, costs, n_common)
        for near, costs in ((near_first, first_costs), (near_second, second_costs))
    )
    gain = np.where(np.abs(cost - other_cost) > RELATIVE_GAIN * np.abs(cost), cost - other_cost, 0.0)
    if n_internal is None:
        is_taken = gain > 0
    else:
        count, other_count = (np.bincount(near, minlength=n_common) for near in (near_first, near_second))
        is_taken = best_within(gain, other_count - count, n_internal - first.n_internal)
    if not is_taken.any():
        return first
    return _joined(first, second, here, there, near_first, near_second, is_taken)


def best_within(gain: Floats, nodes: Ints, room: int) -> Bools:
    """Which exchanges to make: each has a gain and takes or frees a number of nodes, and there is some room.

    A price for nodes is raised until what is worth its price fits in; so an exchange at a loss may free the nodes
    for one that gains more.
    """
    is_taken = gain > 0
    if nodes[is_taken].sum() <= room:
        return is_taken
    per_node = gain / np.where(nodes == 0, 1, nodes)
    prices = np.unique(per_node[(nodes != 0) & (gain * nodes > 0)])
    # at the highest price nothing that takes nodes is worth it
    low, high = 0, len(prices) - 1
    while low < high:
        middle = (low + high) // 2
        if nodes[_are_worth(prices[middle], gain, nodes, per_node)].sum() <= room:
            high = middle
        else:
            low = middle + 1
    priced = _fill_room(_are_worth(prices[high], gain, nodes, per_node), gain, nodes, room)
    free_of_charge = is_taken & (nodes <= 0)
    return priced if gain[priced].sum() > gain[free_of_charge].sum() else free_of_charge


def _are_worth(price: float, gain: Floats, nodes: Ints, per_node: Floats) -> Bools:
    """Which exchanges are worth the price of the nodes they take, or cost less than that of the nodes they free.

    Quotients are compared, as prices are: a product of a quotient could round to the other side.
    """
    return np.where(nodes > 0, per_node > price, np.where(nodes < 0, per_node < price, gain > 0))


def _fill_room(is_taken: Bools, gain: Floats, nodes: Ints, room: int) -> Bools:
    """Make further exchanges, or take some back, as long as that gains and fits: most gain per node first."""
    sign = np.where(is_taken, -1, 1)
    gain, nodes = sign * gain, sign * nodes
    # what is taken takes -nodes
    room += int(nodes[is_taken].sum())
    useful = np.flatnonzero(gain > 0)
    for k in useful[np.argsort(-gain[useful] / np.maximum(nodes[useful], 0.5), kind="stable")]:
        if nodes[k] <= room:
            is_taken[k] = not is_taken[k]
            room -= int(nodes[k])
    return is_taken


def common_clades(first: Tree, second: Tree) -> tuple[Ints, Ints]:
    """Nodes of the two trees with the same leaves below, pair by pair; leaves among them."""
    keys = np.random.default_rng(0).integers(0, 2**63, first.n_leaves, dtype=np.uint64)
    clades = [_sums_below(tree, keys) for tree in (first, second)]
    _, here, there = np.intersect1d(clades[0], clades[1], assume_unique=True, return_indices=True)
    return here, there


def _sums_below(tree: Tree, keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Sum of the keys of the leaves below each node."""
    total = np.zeros(tree.n_leaves + 1, dtype=keys.dtype)
    np.cumsum(keys[tree.leaf_order], out=total[1:])
    below: NDArray[np.uint64] = total[tree.leaf_start + tree.sizes] - total[tree.leaf_start]
    return below


def new_clades(tree: Tree, known: Tree) -> Ints:
    """Nodes of a tree that stand for leaves which no node of the known one stands for."""
    is_new = np.ones(tree.n_nodes, dtype=bool)
    is_new[common_clades(tree, known)[0]] = False
    return np.flatnonzero(is_new)


def nearest_at_or_above(parent: Ints, nodes: Ints) -> Ints:
    """For every node, which of the given ones (among them the root) comes first on its way up."""
    above = parent.copy()
    above[nodes] = nodes
    # twice as far up each time
    while not np.array_equal(further := above[above], above):
        above = further
    label = np.empty_like(parent)
    label[nodes] = np.arange(len(nodes))
    nearest: Ints = label[above]
    return nearest


def _joined(
    first: Tree,
    second: Tree,
    here: Ints,
    there: Ints,
    near_first: Ints,
    near_second: Ints,
    is_taken: Bools,
) -> Tree:
    """Nodes of the first tree keep their numbers, those of the second follow; common clades have the first's."""
    n_first = first.n_nodes
    renumbered = n_first + np.arange(second.n_nodes)
    renumbered[there] = here
    parent = np.append(first.parent, np.full(second.n_nodes, -1))
    is_used = np.append(~is_taken[near_first], is_taken[near_second])
    is_used[here] = True
    is_used[n_first + there] = False
    below_root = second.parent >= 0
    parent[n_first:][below_root] = renumbered[second.parent[below_root]]
    # a common clade hangs where the sector that it borders from below has it
    is_root = here == n_first - 1
    around = near_first[first.parent[here[~is_root]]]
    moved = is_taken[around]
    parent[here[~is_root][moved]] = renumbered[second.parent[there[~is_root][moved]]]
    number = np.cumsum(is_used) - 1
    parent = parent[is_used]
    parent = np.where(parent >= 0, number[parent], -1)
    return Tree.from_parents(parent, first.n_leaves, sort=True)
