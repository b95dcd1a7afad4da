"""A tree that can change: linked sibling lists, and what each node must know of the pairs that meet there.

Nodes keep their numbers while subtrees move, so internal numbers lose the order that `Tree` guarantees;
`to_parents` restores it at the end. Internal nodes that are not in use wait on a stack.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arbora._base.jit import inner, kernel
from arbora.tree import Tree

DASGUPTA, TSD = 0, 1
OBJECTIVES = {"dasgupta": DASGUPTA, "tsd": TSD}
NO_NODE = -1


# One record per node, a cache line long: whoever visits a node needs most of it. Kernels that take a few record
# arrays also compile faster than ones that take twenty plain arrays.
NODE = np.dtype(
    [
        ("parent", np.int64),
        ("first", np.int64),  # first child
        ("after", np.int64),  # next sibling
        ("before", np.int64),  # previous sibling
        ("n_children", np.int64),
        ("size", np.float64),  # weight of the leaves below
        (
            "cross",
            np.float64,
        ),  # similarity of the pairs that meet here (self-loops of leaf children included)
        ("spread", np.float64),  # sum of size_i * size_j over the pairs that meet here
    ],
    align=True,
)
LINKS = ("parent", "first", "after", "before")


class State(NamedTuple):
    """What kernels change in place; `self_pairs` has a row for each leaf."""

    nodes: np.ndarray  # records of NODE
    self_pairs: (
        np.ndarray
    )  # float64[n, 2]: weight of the leaf's edge to itself, which meets at its parent, and
    # what that pair adds to the parent's spread (TSD only)
    free: np.ndarray  # int64, stack of unused internal nodes
    numbers: np.ndarray  # int64[3]: unused internal nodes, leaves, how many more nodes may be used


def empty_nodes(n_nodes: int) -> np.ndarray:
    """Records of nodes that are linked to nothing."""
    nodes = np.zeros(n_nodes, dtype=NODE)
    for link in LINKS:
        nodes[link] = NO_NODE
    return nodes


@kernel()
def fill_nodes(nodes, parent, n_leaves, leaf_size, own):
    """Link, count and measure the nodes of a tree, whose parents come in the order of `Tree`."""
    for node in range(n_leaves):
        nodes[node].size = leaf_size[node]
    for node in range(parent.shape[0] - 1):
        above = parent[node]
        nodes[node].parent = above
        nodes[above].n_children += 1
        nodes[above].spread += nodes[above].size * nodes[node].size
        nodes[above].size += nodes[node].size
        if node < n_leaves:
            nodes[above].spread += own[node]
    for node in range(
        parent.shape[0] - 2, -1, -1
    ):  # each becomes its parent's first child: in order at the end
        above = parent[node]
        head = nodes[above].first
        nodes[node].after = head
        if head >= 0:
            nodes[head].before = node
        nodes[above].first = node


def make_state(
    tree: Tree,
    cross: np.ndarray,
    leaf_size: np.ndarray,
    objective: int,
    *,
    self_loops: np.ndarray | None = None,
    own: np.ndarray | None = None,
    n_internal: int | None = None,
) -> State:
    """A changeable copy of a tree with room for the internal nodes it may come to have.

    `own` is what each leaf's pair with itself adds to its parent's spread, by default as if leaves were points.
    """
    n = tree.n_leaves
    # one node more than a binary tree: a move takes its new node before it gives the old one back
    room = max(tree.n_nodes, 2 * n - 1) + 1
    loops = np.zeros(n) if self_loops is None else self_loops
    if own is None:
        own = 0.5 * leaf_size**2 if objective == TSD else np.zeros(n)
    nodes = empty_nodes(room)
    fill_nodes(nodes, tree.parent, n, leaf_size, own)
    nodes["cross"][n : tree.n_nodes] = cross
    free = np.arange(room - 1, n - 1, -1)
    allowed = (n - 1 if n_internal is None else n_internal) - tree.n_internal
    numbers = np.array([room - tree.n_nodes, n, allowed])
    return State(nodes, np.column_stack([loops, own]), free, numbers)


def enlarged(state: State, leaves: np.ndarray, n_leaves: int) -> State:
    """The state with room for more leaves: leaf k becomes leaf ``leaves[k]`` of `n_leaves`, the others are unlinked.

    Internal nodes follow the leaves in the same order.
    """
    n_old = int(state.numbers[1])
    place = np.concatenate([leaves, n_leaves + np.arange(len(state.nodes) - n_old)])
    n_nodes = n_leaves + max(n_leaves, len(state.nodes) - n_old)
    moved = state.nodes.copy()
    for name in LINKS:
        moved[name] = np.where(moved[name] >= 0, place[moved[name]], NO_NODE)
    nodes = empty_nodes(n_nodes)
    nodes[place] = moved
    pairs = np.zeros((n_leaves, 2))
    pairs[leaves] = state.self_pairs
    added = np.arange(n_nodes - 1, place[-1], -1)
    free = np.concatenate([added, place[state.free[: state.numbers[0]]]])
    room = np.zeros(n_nodes - n_leaves, dtype=np.int64)
    room[: len(free)] = free
    return State(nodes, pairs, room, np.array([len(free), n_leaves, len(free)]))


def to_tree(state: State, like: Tree | None = None) -> Tree:
    """The tree of a state, with the leaf names of `like`."""
    n = int(state.numbers[1])
    used = np.ones(len(state.nodes), dtype=bool)
    used[state.free[: state.numbers[0]]] = False
    number = np.cumsum(used) - 1
    parent = state.nodes["parent"][used]
    parent = np.where(parent >= 0, number[parent], -1)
    name = None if like is None or like.name is None else like.name[:n]
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


def node_costs(state: State, objective: int, total: float) -> np.ndarray:
    """`node_cost` of each node of a state just made.

    Written again in NumPy, because a kernel more is half a second more to compile on first use.
    """
    size, cross, spread = (state.nodes[key] for key in ("size", "cross", "spread"))
    if objective == DASGUPTA:
        return size * cross
    costs, counts = np.zeros(len(cross)), (cross > 0) & (spread > 0)
    costs[counts] = -cross[counts] / total * np.log(cross[counts] * 2 * total / spread[counts])
    return costs


@inner
def unlink(state, node):
    """Take a node out of its parent's list of children."""
    above, left, right = state.nodes[node].parent, state.nodes[node].before, state.nodes[node].after
    if left >= 0:
        state.nodes[left].after = right
    else:
        state.nodes[above].first = right
    if right >= 0:
        state.nodes[right].before = left
    state.nodes[above].n_children -= 1
    state.nodes[node].parent = NO_NODE
    state.nodes[node].before = NO_NODE
    state.nodes[node].after = NO_NODE


@inner
def link(state, node, above):
    """Make a node the first child of another."""
    head = state.nodes[above].first
    state.nodes[node].after = head
    state.nodes[node].before = NO_NODE
    if head >= 0:
        state.nodes[head].before = node
    state.nodes[above].first = node
    state.nodes[node].parent = above
    state.nodes[above].n_children += 1


@inner
def put_in_place_of(state, old, new):
    """Give `new` the place of `old` in the tree (old is left without a parent)."""
    above, left, right = state.nodes[old].parent, state.nodes[old].before, state.nodes[old].after
    state.nodes[new].parent, state.nodes[new].before, state.nodes[new].after = above, left, right
    if left >= 0:
        state.nodes[left].after = new
    elif above >= 0:
        state.nodes[above].first = new
    if right >= 0:
        state.nodes[right].before = new
    state.nodes[old].parent = NO_NODE
    state.nodes[old].before = NO_NODE
    state.nodes[old].after = NO_NODE


@inner
def take_node(state):
    """An unused internal node, emptied."""
    state.numbers[0] -= 1
    state.numbers[2] -= 1
    node = state.free[state.numbers[0]]
    state.nodes[node].first = NO_NODE
    state.nodes[node].n_children = 0
    state.nodes[node].size = 0.0
    state.nodes[node].cross = 0.0
    state.nodes[node].spread = 0.0
    return node


@inner
def give_back(state, node):
    """Return an internal node to the unused ones."""
    state.free[state.numbers[0]] = node
    state.numbers[0] += 1
    state.numbers[2] += 1
    state.nodes[node].n_children = 0
    state.nodes[node].first = NO_NODE
    state.nodes[node].parent = NO_NODE


@inner
def loop_of(state, node):
    """Self-loop weight of a leaf; 0 for an internal node."""
    return state.self_pairs[node, 0] if node < state.numbers[1] else 0.0


@inner
def own_of(state, node):
    """What a leaf's pair with itself adds to its parent's spread; 0 for an internal node."""
    return state.self_pairs[node, 1] if node < state.numbers[1] else 0.0


@inner
def detach(state, moved, work, beyond):
    """Take a subtree out; a parent left with one child is given back.

    `work[v].weight` is the similarity between it and the other leaves below v, right on its path. Ancestors from
    `beyond` up (-1: none) are left as they are, for a subtree that will come back below them.
    """
    moved_size = state.nodes[moved].size
    node = state.nodes[moved].parent
    inner_weight, inner_size = 0.0, 0.0  # of the child the path comes from, without the moved subtree
    while node != beyond:
        state.nodes[node].size -= moved_size
        state.nodes[node].cross -= work[node].weight - inner_weight
        state.nodes[node].spread -= moved_size * (state.nodes[node].size - inner_size)
        inner_weight, inner_size = work[node].weight, state.nodes[node].size
        node = state.nodes[node].parent
    above = state.nodes[moved].parent
    state.nodes[above].cross -= loop_of(state, moved)
    state.nodes[above].spread -= own_of(state, moved)
    unlink(state, moved)
    if state.nodes[above].n_children > 1:
        return
    sibling = state.nodes[above].first
    unlink(state, sibling)
    put_in_place_of(state, above, sibling)
    if state.nodes[sibling].parent >= 0:
        state.nodes[state.nodes[sibling].parent].cross += loop_of(state, sibling)
        state.nodes[state.nodes[sibling].parent].spread += own_of(state, sibling)
    give_back(state, above)


@inner
def attach(state, moved, target, as_child, work, beyond):
    """Put a detached subtree on the edge above `target`, or (`as_child`) directly below it. Returns its parent.

    `work` and `beyond` as in `detach`.
    """
    moved_size = state.nodes[moved].size
    if as_child:
        joint, inner_weight, inner_size = target, 0.0, 0.0
    else:
        joint = take_node(state)
        put_in_place_of(state, target, joint)
        link(state, target, joint)
        state.nodes[joint].size = state.nodes[target].size + moved_size
        state.nodes[joint].cross = work[target].weight + loop_of(state, target)
        state.nodes[joint].spread = moved_size * state.nodes[target].size + own_of(state, target)
        if state.nodes[joint].parent >= 0:
            state.nodes[state.nodes[joint].parent].cross -= loop_of(state, target)
            state.nodes[state.nodes[joint].parent].spread -= own_of(state, target)
        inner_weight, inner_size = work[target].weight, state.nodes[target].size
    link(state, moved, joint)
    state.nodes[joint].cross += loop_of(state, moved)
    state.nodes[joint].spread += own_of(state, moved)
    node = joint if as_child else state.nodes[joint].parent
    while node != beyond:
        state.nodes[node].spread += moved_size * (state.nodes[node].size - inner_size)
        state.nodes[node].cross += work[node].weight - inner_weight
        inner_weight, inner_size = work[node].weight, state.nodes[node].size
        state.nodes[node].size += moved_size
        node = state.nodes[node].parent
    return joint
