"""What a tree would cost with one node under another parent, for all parents at once.

These are the conditional costs that make the gradient of the *expected* objective: see `expected.py`. Here they are
dense, one row of costs per node; `_row_kernels.py` has those of few candidates, for sparse rows. Both are compiled for
one objective at a time: q is None for Dasgupta's cost, which has none.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arbora._base.jit import inner, kernel
from arbora.probabilistic._tree_kernels import mark_path, xlogy_ratio


class TreeTerms(NamedTuple):
    """A sampled tree over the internal nodes (root last, its own parent) and its distributions.

    `below` counts leaves for Dasgupta and sums their probability for TSD; `path` sums p up to the root.
    """

    parent: np.ndarray
    below: np.ndarray
    p: np.ndarray
    q: np.ndarray | None
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
def sum_below(ptr, col, val, i, parent, below):
    """Weight of the neighbors of i below every internal node, into `below`; returns the total."""
    for node in range(parent.shape[0]):
        below[node] = 0.0
    total = 0.0
    for e in range(ptr[i], ptr[i + 1]):
        below[col[e]] += val[e]
        total += val[e]
    for node in range(parent.shape[0] - 1):
        below[parent[node]] += below[node]
    return total


@inner
def dasgupta_costs(parent, below, path, current, size, loop, first, near, total, kept, on_path, out):
    """Dasgupta cost, up to a constant, with node i under each parent from `first` on.

    Under k, the s leaves of i count at every ancestor of k, where other pairs meet with weight ``path[k]``;
    and each neighbor meets i at lca(k, neighbor's parent), which has ``below`` leaves. Both sums still see
    i at its old place: together too much by s for every neighbor, and by s more for those that meet i at
    the same node for the old and the new parent, with weight ``kept[k]``. All follow from the root down in
    O(1): below k, neighbors come to meet i at k; off the old path, those below k no longer meet it there.
    """
    root = parent.shape[0] - 1
    node = current
    under = 0.0
    while True:
        kept[node] = total - under
        under = near[node]
        if node == root:
            break
        node = parent[node]
    out[root] = total * below[root]
    for k in range(root - 1, first - 1, -1):
        above = parent[k]
        out[k] = out[above] + near[k] * (below[k] - below[above])
        if not on_path[k]:
            kept[k] = kept[above] - near[k] if on_path[above] else kept[above]
    for k in range(first, root + 1):
        out[k] = 2.0 * out[k] + size * (path[k] - 2.0 * kept[k]) + loop * below[k]
    if loop != 0.0:
        take_loop_back(parent, current, loop, out)


@inner
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


@inner
def tsd_costs(parent, size, loop, own, first, near, everywhere, p, q, mass, gain, out):
    """Minus the tree sampling divergence, up to a constant, with a node that was taken out under each parent.

    Under k it meets, at an ancestor z of k, all that is below z but not below z's child towards k; ``gain`` adds
    up what that changes from the root down. Unless `everywhere`, parents with no neighbor of i below them
    are left out (infinite cost): each is worse than its own parent, and logarithms are what this costs.
    """
    root = parent.shape[0] - 1
    gain[root] = 0.0
    for k in range(root, first - 1, -1):
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


@inner
def take_out(parent, node, size, loop, own, near, p, q, mass):
    """Subtract what a node with this parent adds to p, q and mass along its path to the root."""
    root = parent.shape[0] - 1
    p[node] -= loop
    q[node] -= own
    near_under, mass_under = 0.0, 0.0
    while True:
        mass[node] -= size
        p[node] -= 2.0 * (near[node] - near_under)
        q[node] -= 2.0 * size * (mass[node] - mass_under)
        near_under, mass_under = near[node], mass[node]
        if node == root:
            return
        node = parent[node]


@inner
def put_back(parent, node, p, q, mass, old_p, old_q, old_mass):
    """Undo `take_out` exactly, by copying."""
    root = parent.shape[0] - 1
    while True:
        p[node], q[node], mass[node] = old_p[node], old_q[node], old_mass[node]
        if node == root:
            return
        node = parent[node]


def move_costs(start, stop, tree, mover, everywhere):
    """Costs of all parents for the nodes ``start..stop``, dense; 0 before ``mover.first``."""
    return fill_move_costs(start, stop, *tree, *mover, everywhere)


@kernel(nogil=True)
def fill_move_costs(
    start, stop, parent, below, p, q, path, ptr, col, val, current, size, loop, own, first, everywhere
):
    """The loop of `move_costs`: arrays one by one, because those in tuples take longer to compile."""
    n_internal = parent.shape[0]
    out = np.zeros((stop - start, n_internal))
    near, scratch = np.empty(n_internal), np.empty(n_internal)
    if q is None:
        on_path = np.zeros(n_internal, dtype=np.bool_)
    else:
        new_p, new_q, mass = p.copy(), q.copy(), below.copy()
    for i in range(start, stop):
        node = current[i]
        if node < 0:
            continue
        total = sum_below(ptr, col, val, i, parent, near)
        row = out[i - start]
        if q is None:
            mark_path(parent, node, on_path, True)
            dasgupta_costs(
                parent, below, path, node, size[i], loop[i], first[i], near, total, scratch, on_path, row
            )
            mark_path(parent, node, on_path, False)
        else:
            take_out(parent, node, size[i], loop[i], own[i], near, new_p, new_q, mass)
            tsd_costs(
                parent, size[i], loop[i], own[i], first[i], near, everywhere, new_p, new_q, mass, scratch, row
            )
            put_back(parent, node, new_p, new_q, mass, p, q, below)
    return out
