"""What a tree would cost with one node under another parent, for all parents at once.

These are the conditional costs that make the gradient of the *expected* objective: see `expected.py`. Here they are
dense, one row of costs per node; `_row_kernels.py` has those of few candidates, for sparse rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arbora._base.jit import kernel
from arbora.probabilistic._tree_kernels import mark_path, xlogy_ratio

DASGUPTA = 0
TSD = 1


class TreeTerms(NamedTuple):
    """A sampled tree over the internal nodes (root last, its own parent) and its distributions.

    `below` counts leaves for Dasgupta and sums their probability for TSD; `path` sums p up to the root.
    """

    parent: np.ndarray
    below: np.ndarray
    p: np.ndarray
    q: np.ndarray
    path: np.ndarray


class Mover(NamedTuple):
    """Per moved node: neighbors' parents (CSR), parent, size, self-loop, own pair, first candidate."""

    ptr: np.ndarray
    col: np.ndarray
    val: np.ndarray
    current: np.ndarray
    size: np.ndarray
    loop: np.ndarray
    own: np.ndarray
    first: np.ndarray


@kernel(nogil=True)
def sum_below(mover, i, parent, below):
    """Weight of the neighbors of i below every internal node, into `below`; returns the total."""
    below[:] = 0.0
    total = 0.0
    for e in range(mover.ptr[i], mover.ptr[i + 1]):
        below[mover.col[e]] += mover.val[e]
        total += mover.val[e]
    for node in range(parent.shape[0] - 1):
        below[parent[node]] += below[node]
    return total


@kernel(nogil=True)
def dasgupta_costs(tree, mover, i, near, total, kept, on_path, out):
    """Dasgupta cost, up to a constant, with node i under each parent from ``mover.first[i]`` on.

    Under k, the s leaves of i count at every ancestor of k, where other pairs meet with weight ``path[k]``;
    and each neighbor meets i at lca(k, neighbor's parent), which has ``below`` leaves. Both sums still see
    i at its old place: together too much by s for every neighbor, and by s more for those that meet i at
    the same node for the old and the new parent, with weight ``kept[k]``. All follow from the root down in
    O(1): below k, neighbors come to meet i at k; off the old path, those below k no longer meet it there.
    """
    parent, below = tree.parent, tree.below
    root = parent.shape[0] - 1
    size, loop = mover.size[i], mover.loop[i]
    node = mover.current[i]
    under = 0.0
    while True:
        kept[node] = total - under
        under = near[node]
        if node == root:
            break
        node = parent[node]
    out[root] = total * below[root]
    for k in range(root - 1, mover.first[i] - 1, -1):
        above = parent[k]
        out[k] = out[above] + near[k] * (below[k] - below[above])
        if not on_path[k]:
            kept[k] = kept[above] - near[k] if on_path[above] else kept[above]
    for k in range(mover.first[i], root + 1):
        out[k] = 2.0 * out[k] + size * (tree.path[k] - 2.0 * kept[k]) + loop * below[k]
    if loop != 0.0:
        take_loop_back(parent, mover.current[i], loop, out)


@kernel(nogil=True)
def take_loop_back(parent, current, loop, out):
    """The same correction for a self-loop, which meets at the parent itself.

    It was counted at the old place once too often for every new parent below, and for every one above.
    """
    root = parent.shape[0] - 1
    node = current
    while node != root:
        out[node] -= loop
        node = parent[node]
    out[root] -= loop
    under = np.zeros(root + 1, dtype=np.bool_)
    under[current] = True
    out[current] -= loop
    for k in range(current - 1, -1, -1):
        if under[parent[k]]:
            under[k] = True
            out[k] -= loop


@kernel(nogil=True)
def tsd_costs(tree, mover, i, near, everywhere, p, q, mass, gain, out):
    """Minus the tree sampling divergence, up to a constant, with node i under each parent.

    First i is taken out of its path to the root (p, q, mass are scratch copies of the tree's arrays). Under k
    it then meets, at an ancestor z of k, all that is below z but not below z's child towards k; ``gain`` adds
    up what that changes from the root down. Unless `everywhere`, parents with no neighbor of i below them
    are left out (infinite cost): each is worse than its own parent, and logarithms are what this costs.
    """
    parent = tree.parent
    root = parent.shape[0] - 1
    size, loop, own = mover.size[i], mover.loop[i], mover.own[i]
    take_out(tree, mover, i, near, p, q, mass)
    gain[root] = 0.0
    for k in range(root, mover.first[i] - 1, -1):
        if not everywhere and near[k] <= 0.0 and k != root:
            out[k] = np.inf
            continue
        if k != root:
            above = parent[k]
            more_p = 2.0 * (near[above] - near[k])
            more_q = 2.0 * size * (mass[above] - mass[k])
            gain[k] = gain[above] + xlogy_ratio(p[above] + more_p, q[above] + more_q)
            gain[k] -= xlogy_ratio(p[above], q[above])
        here = xlogy_ratio(p[k] + 2.0 * near[k] + loop, q[k] + 2.0 * size * mass[k] + own)
        out[k] = -(gain[k] + here - xlogy_ratio(p[k], q[k]))
    put_back(tree, mover.current[i], p, q, mass)


@kernel(nogil=True)
def take_out(tree, mover, i, near, p, q, mass):
    """Subtract what node i adds to p, q and mass along its path to the root."""
    parent = tree.parent
    root = parent.shape[0] - 1
    size = mover.size[i]
    node = mover.current[i]
    p[node] -= mover.loop[i]
    q[node] -= mover.own[i]
    near_under, mass_under = 0.0, 0.0
    while True:
        mass[node] -= size
        p[node] -= 2.0 * (near[node] - near_under)
        q[node] -= 2.0 * size * (mass[node] - mass_under)
        near_under, mass_under = near[node], mass[node]
        if node == root:
            return
        node = parent[node]


@kernel(nogil=True)
def put_back(tree, node, p, q, mass):
    """Undo `take_out` exactly, by copying."""
    root = tree.parent.shape[0] - 1
    while True:
        p[node], q[node], mass[node] = tree.p[node], tree.q[node], tree.below[node]
        if node == root:
            return
        node = tree.parent[node]


@kernel(nogil=True)
def move_costs(start, stop, objective, tree, mover, everywhere):
    """Costs of all parents for the nodes ``start..stop``, dense; 0 before ``mover.first``."""
    n_internal = tree.parent.shape[0]
    out = np.zeros((stop - start, n_internal))
    near, scratch = np.empty(n_internal), np.empty(n_internal)
    on_path = np.zeros(n_internal, dtype=np.bool_)
    p, q, mass = tree.p.copy(), tree.q.copy(), tree.below.copy()
    for i in range(start, stop):
        if mover.current[i] < 0:
            continue
        total = sum_below(mover, i, tree.parent, near)
        if objective == TSD:
            tsd_costs(tree, mover, i, near, everywhere, p, q, mass, scratch, out[i - start])
        else:
            mark_path(tree.parent, mover.current[i], on_path, True)
            dasgupta_costs(tree, mover, i, near, total, scratch, on_path, out[i - start])
            mark_path(tree.parent, mover.current[i], on_path, False)
    return out
