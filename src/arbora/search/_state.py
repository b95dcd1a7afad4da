"""A tree that can change: linked sibling lists, and what each node must know of the pairs that meet there.

Nodes keep their numbers while subtrees move, so internal numbers lose the order that `Tree` guarantees;
`to_tree` restores it at the end. Internal nodes that are not in use wait on a stack.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from arbora._base.jit import inlined, kernel
from arbora._base.permutations import inverse_permutation
from arbora.tree import Tree
from arbora.tree.pass_kernels import meeting_mass, sort_children_first, sum_to_root

DASGUPTA, TSD = 0, 1
OBJECTIVES = {"dasgupta": DASGUPTA, "tsd": TSD}
NO_NODE = -1


# One record per node, a cache line long: a visit to a node needs most of it. Kernels that take a few record
# arrays also compile faster than ones that take twenty plain arrays.
NODE = np.dtype(
    [
        ("parent", np.int64),
        ("first", np.int64),  # first child
        ("after", np.int64),  # next sibling
        ("before", np.int64),  # previous sibling
        ("n_children", np.int64),
        ("size", np.float64),  # weight of the leaves below
        # similarity of the pairs that meet here (self-loops of leaf children included)
        ("cross", np.float64),
        ("spread", np.float64),  # sum of size_i * size_j over the pairs that meet here
    ],
    align=True,
)
LINKS = ("parent", "first", "after", "before")


class State(NamedTuple):
    """What kernels change in place; `self_pairs` has a row for each leaf."""

    # records of NODE
    nodes: np.ndarray
    # float64[n, 2]: weight of the leaf's edge to itself, which meets at its parent, and what that pair adds to the
    # parent's spread (TSD only)
    self_pairs: np.ndarray
    # int64, stack of unused internal nodes
    free: np.ndarray
    # int64[3]: unused internal nodes, leaves, how many more nodes may be used
    numbers: np.ndarray


def empty_nodes(n_nodes: int) -> np.ndarray:
    """Records of nodes that are linked to nothing."""
    nodes = np.zeros(n_nodes, dtype=NODE)
    for link in LINKS:
        nodes[link] = NO_NODE
    return nodes


@kernel()
def link_nodes(nodes, parent):
    """Link and count the nodes of a tree, whose parents come in the order of `Tree`."""
    # each becomes its parent's first child, so that the last one linked comes first: in order at the end
    for node in range(parent.shape[0] - 2, -1, -1):
        above = parent[node]
        nodes[node].parent = above
        nodes[above].n_children += 1
        head = nodes[above].first
        nodes[node].after = head
        if head >= 0:
            nodes[head].before = node
        nodes[above].first = node


def measure(nodes: np.ndarray, parent: np.ndarray, leaf_size: np.ndarray, own: np.ndarray) -> None:
    """Sizes and spreads of nodes that lie in the order of `Tree`."""
    below = np.zeros(len(parent))
    below[: len(leaf_size)] = leaf_size
    nodes["size"] = sum_to_root(parent, below)
    nodes["spread"] = 0.5 * meeting_mass(parent, leaf_size, 2 * own)


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
    """A mutable copy of a tree with room for the internal nodes it may come to have.

    `own` is what each leaf's pair with itself adds to its parent's spread, by default as if leaves were points.
    """
    n = tree.n_leaves
    # one node more than a binary tree: a move takes its new node before it gives the old one back
    room = max(tree.n_nodes, 2 * n - 1) + 1
    loops = np.zeros(n) if self_loops is None else self_loops
    if own is None:
        own = 0.5 * leaf_size**2 if objective == TSD else np.zeros(n)
    nodes = empty_nodes(room)
    link_nodes(nodes, tree.parent)
    measure(nodes[: tree.n_nodes], tree.parent, leaf_size, own)
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


def used_parents(state: State) -> tuple[np.ndarray, np.ndarray]:
    """The nodes that are in use, and the parent of each as a position among them."""
    is_used = np.ones(len(state.nodes), dtype=bool)
    is_used[state.free[: state.numbers[0]]] = False
    number = np.cumsum(is_used) - 1
    parent = state.nodes["parent"][is_used]
    return np.flatnonzero(is_used), np.where(parent >= 0, number[parent], -1)


def to_tree(state: State, like: Tree | None = None) -> Tree:
    """The tree of a state, with the leaf names of `like`."""
    n = int(state.numbers[1])
    name = None if like is None or like.name is None else like.name[:n]
    return Tree.from_parents(used_parents(state)[1], n, sort=True, name=name)


def measure_again(state: State, cross: Callable[[Tree], np.ndarray]) -> None:
    """Replace what moves have added and subtracted by the sums it stands for, so that no rounding is left in it.

    `cross` gives the cross weights of a tree's internal nodes.
    """
    n = int(state.numbers[1])
    used, parent = used_parents(state)
    position = inverse_permutation(sort_children_first(parent, n))
    tree = Tree.from_parents(parent, n, sort=True)
    nodes = state.nodes[used[position]]
    measure(nodes, tree.parent, state.nodes["size"][:n].copy(), state.self_pairs[:, 1])
    nodes["cross"][n:] = cross(tree)
    for key in ("size", "cross", "spread"):
        state.nodes[key][used[position]] = nodes[key]


@inlined
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

    Written again in NumPy, because another kernel would take half a second more to compile on first use.
    """
    size, cross, spread = (state.nodes[key] for key in ("size", "cross", "spread"))
    if objective == DASGUPTA:
        return size * cross
    costs, counts = np.zeros(len(cross)), (cross > 0) & (spread > 0)
    costs[counts] = -cross[counts] / total * np.log(cross[counts] * 2 * total / spread[counts])
    return costs


@inlined
def unlink(nodes, node):
    """Take a node out of its parent's list of children."""
    here = nodes[node]
    above, left, right = here.parent, here.before, here.after
    if left >= 0:
        nodes[left].after = right
    else:
        nodes[above].first = right
    if right >= 0:
        nodes[right].before = left
    nodes[above].n_children -= 1
    here.parent, here.before, here.after = NO_NODE, NO_NODE, NO_NODE


@inlined
def link(nodes, node, above):
    """Make a node the first child of another."""
    here, over = nodes[node], nodes[above]
    head = over.first
    here.parent, here.before, here.after = above, NO_NODE, head
    if head >= 0:
        nodes[head].before = node
    over.first = node
    over.n_children += 1


@inlined
def put_in_place_of(nodes, old, new):
    """Give `new` the place of `old` in the tree (old is left without a parent)."""
    gone, here = nodes[old], nodes[new]
    above, left, right = gone.parent, gone.before, gone.after
    here.parent, here.before, here.after = above, left, right
    if left >= 0:
        nodes[left].after = new
    elif above >= 0:
        nodes[above].first = new
    if right >= 0:
        nodes[right].before = new
    gone.parent, gone.before, gone.after = NO_NODE, NO_NODE, NO_NODE


@inlined
def loop_of(self_pairs, node):
    """Self-loop weight of a leaf; 0 for an internal node."""
    return self_pairs[node, 0] if node < self_pairs.shape[0] else 0.0


@inlined
def own_of(self_pairs, node):
    """What a leaf's pair with itself adds to its parent's spread; 0 for an internal node."""
    return self_pairs[node, 1] if node < self_pairs.shape[0] else 0.0


@inlined
def count_in(here, moved_size, met_weight, met_size):
    """Add to a node a subtree that meets this weight and size there; negative size and weight take it away."""
    here.size += moved_size
    here.cross += met_weight
    here.spread += moved_size * met_size


@inlined
def detach(state, moved, work, beyond):
    """Take a subtree out; a parent left with one child is given back.

    `work[v].weight` is the similarity between it and the other leaves below v, right on its path. Ancestors from
    `beyond` up (-1: none) are left as they are, for a subtree that will come back below them.
    """
    nodes = state.nodes
    moved_size, node = nodes[moved].size, nodes[moved].parent
    inner_weight, inner_size = 0.0, 0.0  # of the child the path comes from, without the moved subtree
    while node != beyond:
        here, weight = nodes[node], work[node].weight
        size = here.size - moved_size
        count_in(here, -moved_size, inner_weight - weight, size - inner_size)
        inner_weight, inner_size = weight, size
        node = here.parent
    cut_off(state, moved)


@inlined
def cut_off(state, moved):
    """Take a subtree off its parent, which is given back if it is left with one child."""
    nodes, pairs = state.nodes, state.self_pairs
    above = nodes[moved].parent
    home = nodes[above]
    home.cross -= loop_of(pairs, moved)
    home.spread -= own_of(pairs, moved)
    unlink(nodes, moved)
    if home.n_children > 1:
        return
    sibling = home.first
    put_in_place_of(nodes, above, sibling)
    if nodes[sibling].parent >= 0:
        over = nodes[nodes[sibling].parent]
        over.cross += loop_of(pairs, sibling)
        over.spread += own_of(pairs, sibling)
    # back to the unused nodes
    numbers = state.numbers
    state.free[numbers[0]] = above
    numbers[0] += 1
    numbers[2] += 1
    home.n_children = 0
    home.first = NO_NODE


@inlined
def split_edge(state, target, moved_size, weight):
    """Put a new node on the edge above `target`, for a subtree of this size and weight to it. Returns the node."""
    nodes, pairs, numbers = state.nodes, state.self_pairs, state.numbers
    numbers[0] -= 1
    numbers[2] -= 1
    joint = state.free[numbers[0]]
    loop, own = loop_of(pairs, target), own_of(pairs, target)
    here, size = nodes[joint], nodes[target].size
    put_in_place_of(nodes, target, joint)
    here.first, here.n_children = NO_NODE, 0
    link(nodes, target, joint)
    here.size = size + moved_size
    here.cross = weight + loop
    here.spread = moved_size * size + own
    if here.parent >= 0:
        over = nodes[here.parent]
        over.cross -= loop
        over.spread -= own
    return joint


@inlined
def graft(state, moved, target, as_child, weight):
    """Put a detached subtree, of this weight to it, next to `target` or (`as_child`) below it. Returns its parent.

    What nodes further up must know of the subtree is not changed, nor that of `target` as a parent.
    """
    nodes, pairs = state.nodes, state.self_pairs
    joint = target if as_child else split_edge(state, target, nodes[moved].size, weight)
    link(nodes, moved, joint)
    nodes[joint].cross += loop_of(pairs, moved)
    nodes[joint].spread += own_of(pairs, moved)
    return joint


@inlined
def attach(state, moved, target, as_child, work, beyond):
    """Put a detached subtree on the edge above `target`, or (`as_child`) directly below it. Returns its parent.

    `work` and `beyond` as in `detach`.
    """
    nodes, moved_size = state.nodes, state.nodes[moved].size
    joint = graft(state, moved, target, as_child, work[target].weight)
    node, inner_weight, inner_size = target, 0.0, 0.0
    if not as_child:
        node, inner_weight, inner_size = nodes[joint].parent, work[target].weight, nodes[target].size
    while node != beyond:
        here, weight, size = nodes[node], work[node].weight, nodes[node].size
        count_in(here, moved_size, weight - inner_weight, size - inner_size)
        inner_weight, inner_size = weight, size
        node = here.parent
    return joint
