"""A tree that can change: linked sibling lists, and what each node must know of the pairs that meet there.

Nodes keep their numbers while subtrees move, so internal numbers lose the order that `Tree` guarantees;
`to_parents` restores it at the end. Internal nodes that are not in use wait on a stack.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from arbora.tree import Tree
from arbora.tree._kernels import inner

DASGUPTA, TSD = 0, 1
OBJECTIVES = {"dasgupta": DASGUPTA, "tsd": TSD}
NO_NODE = -1


class State(NamedTuple):
    """Arrays over nodes (`numbers`, `free` apart); kernels change them in place."""

    parent: np.ndarray  # int32
    first: np.ndarray  # int32, first child
    after: np.ndarray  # int32, next sibling
    before: np.ndarray  # int32, previous sibling
    n_children: np.ndarray  # int32
    size: np.ndarray  # float64, weight of the leaves below
    cross: (
        np.ndarray
    )  # float64, similarity of the pairs that meet here (self-loops of leaf children included)
    spread: np.ndarray  # float64, sum of size_i * size_j over the pairs that meet here
    loop: np.ndarray  # float64 per leaf, weight of its edge to itself; it meets at the leaf's parent
    own: np.ndarray  # float64 per leaf, what its pair with itself adds to its parent's spread (TSD only)
    free: np.ndarray  # int32, stack of unused internal nodes
    numbers: np.ndarray  # int64[3]: unused internal nodes, leaves, how many more nodes may be used


@njit(cache=True)
def link_children(parent, first, after, before, n_children):
    """Fill the sibling lists from the parent array."""
    for node in range(parent.shape[0] - 1, -1, -1):
        above = parent[node]
        if above >= 0:
            head = first[above]
            after[node] = head
            if head >= 0:
                before[head] = node
            first[above] = node
            n_children[above] += 1


@njit(cache=True)
def measure(parent, n_leaves, size, spread, own):
    """Sizes and spreads from leaf sizes; needs the node order of `Tree`."""
    for node in range(parent.shape[0] - 1):
        above = parent[node]
        spread[above] += size[above] * size[node]
        size[above] += size[node]
        if node < n_leaves:
            spread[above] += own[node]


def make_state(
    tree: Tree,
    cross: np.ndarray,
    leaf_size: np.ndarray,
    objective: int,
    *,
    self_loops: np.ndarray | None = None,
    n_internal: int | None = None,
) -> State:
    """A changeable copy of a tree with room for the internal nodes it may come to have."""
    n = tree.n_leaves
    # one node more than a binary tree: a move takes its new node before it gives the old one back
    room = max(tree.n_nodes, 2 * n - 1) + 1
    parent = np.full(room, NO_NODE, dtype=np.int32)
    parent[: tree.n_nodes] = tree.parent
    lists = [np.full(room, NO_NODE, dtype=np.int32) for _ in range(3)]
    n_children = np.zeros(room, dtype=np.int32)
    link_children(parent, *lists, n_children)
    size, spread, all_cross = np.zeros(room), np.zeros(room), np.zeros(room)
    size[:n] = leaf_size
    own = 0.5 * leaf_size**2 if objective == TSD else np.zeros(n)
    measure(parent[: tree.n_nodes], n, size, spread, own)
    all_cross[n : tree.n_nodes] = cross
    free = np.arange(room - 1, n - 1, -1, dtype=np.int32)
    n_free = room - tree.n_nodes
    allowed = (n - 1 if n_internal is None else n_internal) - tree.n_internal
    loop = np.zeros(n) if self_loops is None else self_loops
    numbers = np.array([n_free, n, allowed], dtype=np.int64)
    return State(parent, *lists, n_children, size, all_cross, spread, loop, own, free, numbers)


def to_tree(state: State, like: Tree) -> Tree:
    """The tree of a state, with the leaf names of `like`."""
    n = int(state.numbers[1])
    used = np.ones(len(state.parent), dtype=bool)
    used[state.free[: state.numbers[0]]] = False
    number = np.cumsum(used) - 1
    parent = state.parent[used].astype(np.int64)
    parent = np.where(parent >= 0, number[parent], -1)
    name = None if like.name is None else like.name[:n]
    return Tree.from_parents(parent, n, sort=True, name=name)


@inner
def node_cost(objective, size, cross, spread, total):
    """What one node adds to the objective (smaller is better).

    Dasgupta: size * cross. TSD: -p log(p / q) with p = cross / total, q = spread / (2 total^2), where the
    sizes are degrees, which sum to 2 * total.
    """
    if objective == DASGUPTA:
        return size * cross
    if cross <= 0.0 or spread <= 0.0:
        return 0.0
    return -cross / total * np.log(cross * 2.0 * total / spread)


@njit(cache=True)
def total_cost(state, objective, total):
    """Objective of the whole state."""
    cost = 0.0
    for node in range(state.numbers[1], state.parent.shape[0]):
        if state.n_children[node] > 0:
            cost += node_cost(objective, state.size[node], state.cross[node], state.spread[node], total)
    return cost


@inner
def unlink(state, node):
    """Take a node out of its parent's list of children."""
    above, left, right = state.parent[node], state.before[node], state.after[node]
    if left >= 0:
        state.after[left] = right
    else:
        state.first[above] = right
    if right >= 0:
        state.before[right] = left
    state.n_children[above] -= 1
    state.parent[node] = NO_NODE
    state.before[node] = NO_NODE
    state.after[node] = NO_NODE


@inner
def link(state, node, above):
    """Make a node the first child of another."""
    head = state.first[above]
    state.after[node] = head
    state.before[node] = NO_NODE
    if head >= 0:
        state.before[head] = node
    state.first[above] = node
    state.parent[node] = above
    state.n_children[above] += 1


@inner
def put_in_place_of(state, old, new):
    """Give `new` the place of `old` in the tree (old is left without a parent)."""
    above, left, right = state.parent[old], state.before[old], state.after[old]
    state.parent[new], state.before[new], state.after[new] = above, left, right
    if left >= 0:
        state.after[left] = new
    elif above >= 0:
        state.first[above] = new
    if right >= 0:
        state.before[right] = new
    state.parent[old] = NO_NODE
    state.before[old] = NO_NODE
    state.after[old] = NO_NODE


@inner
def take_node(state):
    """An unused internal node, emptied."""
    state.numbers[0] -= 1
    state.numbers[2] -= 1
    node = state.free[state.numbers[0]]
    state.first[node] = NO_NODE
    state.n_children[node] = 0
    state.size[node] = 0.0
    state.cross[node] = 0.0
    state.spread[node] = 0.0
    return node


@inner
def give_back(state, node):
    """Return an internal node to the unused ones."""
    state.free[state.numbers[0]] = node
    state.numbers[0] += 1
    state.numbers[2] += 1
    state.n_children[node] = 0
    state.first[node] = NO_NODE
    state.parent[node] = NO_NODE


@inner
def loop_of(state, node):
    """Self-loop weight of a leaf; 0 for an internal node."""
    return state.loop[node] if node < state.numbers[1] else 0.0


@inner
def own_of(state, node):
    """What a leaf's pair with itself adds to its parent's spread; 0 for an internal node."""
    return state.own[node] if node < state.numbers[1] else 0.0


@njit(cache=True)
def detach(state, moved, weight, beyond):
    """Take a subtree out; a parent left with one child is given back.

    `weight[v]` is the similarity between it and the other leaves below v, right on its path. Ancestors from
    `beyond` up (-1: none) are left as they are, for a subtree that will come back below them.
    """
    moved_size = state.size[moved]
    node = state.parent[moved]
    inner_weight, inner_size = 0.0, 0.0  # of the child the path comes from, without the moved subtree
    while node != beyond:
        state.size[node] -= moved_size
        state.cross[node] -= weight[node] - inner_weight
        state.spread[node] -= moved_size * (state.size[node] - inner_size)
        inner_weight, inner_size = weight[node], state.size[node]
        node = state.parent[node]
    above = state.parent[moved]
    state.cross[above] -= loop_of(state, moved)
    state.spread[above] -= own_of(state, moved)
    unlink(state, moved)
    if state.n_children[above] > 1:
        return
    sibling = state.first[above]
    unlink(state, sibling)
    put_in_place_of(state, above, sibling)
    if state.parent[sibling] >= 0:
        state.cross[state.parent[sibling]] += loop_of(state, sibling)
        state.spread[state.parent[sibling]] += own_of(state, sibling)
    give_back(state, above)


@njit(cache=True)
def attach(state, moved, target, as_child, weight, beyond):
    """Put a detached subtree on the edge above `target`, or (`as_child`) directly below it. Returns its parent.

    `weight` and `beyond` as in `detach`.
    """
    moved_size = state.size[moved]
    if as_child:
        joint, inner_weight, inner_size = target, 0.0, 0.0
    else:
        joint = take_node(state)
        put_in_place_of(state, target, joint)
        link(state, target, joint)
        state.size[joint] = state.size[target] + moved_size
        state.cross[joint] = weight[target] + loop_of(state, target)
        state.spread[joint] = moved_size * state.size[target] + own_of(state, target)
        if state.parent[joint] >= 0:
            state.cross[state.parent[joint]] -= loop_of(state, target)
            state.spread[state.parent[joint]] -= own_of(state, target)
        inner_weight, inner_size = weight[target], state.size[target]
    link(state, moved, joint)
    state.cross[joint] += loop_of(state, moved)
    state.spread[joint] += own_of(state, moved)
    node = joint if as_child else state.parent[joint]
    while node != beyond:
        state.spread[node] += moved_size * (state.size[node] - inner_size)
        state.cross[node] += weight[node] - inner_weight
        inner_weight, inner_size = weight[node], state.size[node]
        state.size[node] += moved_size
        node = state.parent[node]
    return joint
