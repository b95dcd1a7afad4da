"""What a tree would cost with one node under another parent, for all parents at once.

These are the conditional costs that make the gradient of the *expected* objective: see `expected.py`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from arbora.probabilistic._kernels import simplex_threshold

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
    """Per moved node: neighbours' parents (CSR), parent, size, self-loop, own pair, first candidate."""

    ptr: np.ndarray
    col: np.ndarray
    val: np.ndarray
    current: np.ndarray
    size: np.ndarray
    loop: np.ndarray
    own: np.ndarray
    first: np.ndarray


@njit(cache=True, nogil=True)
def xlogy_ratio(a, b):
    """``a log(a / b)``, 0 where a is 0 (or b is, which only rounding can bring about)."""
    if a <= 0.0 or b <= 0.0:
        return 0.0
    return a * np.log(a / b)


@njit(cache=True, nogil=True)
def sum_below(mover, i, parent, below):
    """Weight of the neighbours of i below every internal node, into `below`; returns the total."""
    below[:] = 0.0
    total = 0.0
    for e in range(mover.ptr[i], mover.ptr[i + 1]):
        below[mover.col[e]] += mover.val[e]
        total += mover.val[e]
    for node in range(parent.shape[0] - 1):
        below[parent[node]] += below[node]
    return total


@njit(cache=True, nogil=True)
def mark_path(parent, node, on_path, value):
    """Set ``on_path`` for a node and all its ancestors."""
    root = parent.shape[0] - 1
    on_path[node] = value
    while node != root:
        node = parent[node]
        on_path[node] = value


@njit(cache=True, nogil=True)
def dasgupta_costs(tree, mover, i, near, total, kept, on_path, out):
    """Dasgupta cost, up to a constant, with node i under each parent from ``mover.first[i]`` on.

    Under k, the s leaves of i count at every ancestor of k, where other pairs meet with weight ``path[k]``;
    and each neighbour meets i at lca(k, neighbour's parent), which has ``below`` leaves. Both sums still see
    i at its old place: together too much by s for every neighbour, and by s more for those that meet i at
    the same node for the old and the new parent, with weight ``kept[k]``. All follow from the root down in
    O(1): below k, neighbours come to meet i at k; off the old path, those below k no longer meet it there.
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def tsd_costs(tree, mover, i, near, everywhere, p, q, mass, gain, out):
    """Minus the tree sampling divergence, up to a constant, with node i under each parent.

    First i is taken out of its path to the root (p, q, mass are scratch copies of the tree's arrays). Under k
    it then meets, at an ancestor z of k, all that is below z but not below z's child towards k; ``gain`` adds
    up what that changes from the root down. Unless `everywhere`, parents with no neighbour of i below them
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def put_back(tree, node, p, q, mass):
    """Undo `take_out` exactly, by copying."""
    root = tree.parent.shape[0] - 1
    while True:
        p[node], q[node], mass[node] = tree.p[node], tree.q[node], tree.below[node]
        if node == root:
            return
        node = tree.parent[node]


@njit(cache=True, nogil=True)
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


class Scratch(NamedTuple):
    """Work space of one thread: per internal node, all zero or False between rows."""

    near: np.ndarray
    seen: np.ndarray
    on_path: np.ndarray
    under: np.ndarray
    value: np.ndarray
    kept: np.ndarray
    order: np.ndarray
    stop: np.ndarray


@njit(cache=True, nogil=True)
def gather_candidates(mover, i, parent, work):
    """The nodes with a neighbour of i below them, and the root: the only places where i can gain.

    They go to ``work.order`` in runs, each from a node upwards to where an earlier run passed; ``work.stop[r]``
    ends run r. Read run by run, each backwards, parents come before children. ``work.near`` sums the weight
    below each. Returns the number of runs and the total weight.
    """
    root = parent.shape[0] - 1
    count, total = 1, 0.0
    work.order[0] = root
    work.seen[root] = True
    work.stop[0] = 1
    n_runs = 1
    for e in range(mover.ptr[i], mover.ptr[i + 1]):
        node, weight = mover.col[e], mover.val[e]
        total += weight
        if not work.seen[node]:
            while not work.seen[node]:
                work.seen[node] = True
                work.order[count] = node
                count += 1
                node = parent[node]
            work.stop[n_runs] = count
            n_runs += 1
        node = mover.col[e]
        while node != root:
            work.near[node] += weight
            node = parent[node]
        work.near[root] += weight
    return n_runs, total


@njit(cache=True, nogil=True)
def price_dasgupta(tree, mover, i, n_runs, total, work, cost):
    """`dasgupta_costs` for the gathered candidates, in ``cost[t]`` for ``work.order[t]``."""
    parent, below = tree.parent, tree.below
    root = parent.shape[0] - 1
    size, loop, current = mover.size[i], mover.loop[i], mover.current[i]
    node, beneath = current, 0.0
    while True:
        work.on_path[node] = True
        work.kept[node] = total - beneath
        beneath = work.near[node]
        if node == root:
            break
        node = parent[node]
    start = 0
    for run in range(n_runs):
        for t in range(work.stop[run] - 1, start - 1, -1):
            k = work.order[t]
            above = parent[k]
            if k == root:
                work.value[k] = total * below[k]
                work.under[k] = k == current
            else:
                work.value[k] = work.value[above] + work.near[k] * (below[k] - below[above])
                work.under[k] = k == current or work.under[above]
                if not work.on_path[k]:
                    work.kept[k] = work.kept[above] - (work.near[k] if work.on_path[above] else 0.0)
            cost[t] = 2.0 * work.value[k] + size * (tree.path[k] - 2.0 * work.kept[k]) + loop * below[k]
            cost[t] -= loop * (int(work.on_path[k]) + int(work.under[k]))
        start = work.stop[run]


@njit(cache=True, nogil=True)
def price_aside(tree, mover, i, k, work):
    """Dasgupta cost of a parent with no neighbour below it: that of an ancestor, and its own longer path."""
    root = tree.parent.shape[0] - 1
    size, loop, current = mover.size[i], mover.loop[i], mover.current[i]
    joint = k
    while not (work.seen[joint] or work.on_path[joint]):
        joint = tree.parent[joint]
    node = joint
    while not work.seen[node]:
        node = tree.parent[node]
    cost = 2.0 * work.value[node] + size * (tree.path[k] - 2.0 * work.kept[joint]) + loop * tree.below[k]
    if loop != 0.0:
        node = k
        while node != current and node != root:
            node = tree.parent[node]
        cost -= loop * (int(work.on_path[k]) + int(node == current))
    return cost


@njit(cache=True, nogil=True)
def price_tsd(tree, mover, i, n_runs, work, p, q, mass, cost):
    """`tsd_costs` for the gathered candidates."""
    parent = tree.parent
    root = parent.shape[0] - 1
    size, loop, own = mover.size[i], mover.loop[i], mover.own[i]
    take_out(tree, mover, i, work.near, p, q, mass)
    start = 0
    for run in range(n_runs):
        for t in range(work.stop[run] - 1, start - 1, -1):
            k = work.order[t]
            before = xlogy_ratio(p[k], q[k])
            if k == root:
                work.value[k] = 0.0
            else:
                above = parent[k]
                more_p = 2.0 * (work.near[above] - work.near[k])
                more_q = 2.0 * size * (mass[above] - mass[k])
                work.value[k] = work.value[above] + xlogy_ratio(p[above] + more_p, q[above] + more_q)
                work.value[k] -= xlogy_ratio(p[above], q[above])
            here = xlogy_ratio(p[k] + 2.0 * work.near[k] + loop, q[k] + 2.0 * size * mass[k] + own)
            cost[t] = -(work.value[k] + here - before)
        start = work.stop[run]
    put_back(tree, mover.current[i], p, q, mass)


@njit(cache=True, nogil=True)
def clear(mover, i, parent, n_candidates, work):
    """Work space as it was before a row."""
    for t in range(n_candidates):
        k = work.order[t]
        work.seen[k] = False
        work.near[k] = 0.0
        work.under[k] = False
    mark_path(parent, mover.current[i], work.on_path, False)


@njit(cache=True, nogil=True)
def descend_sampled_rows(start, stop, objective, tree, mover, ptr, col, val, step):
    """One projected step of sparse rows against the costs of a sampled tree: (counts, columns, values).

    A row's candidates are the nodes above its neighbours and the parents it already has; all others cost at
    least as much as one of these. (For TSD, parents with no neighbour below are given up.)
    """
    k_all = tree.parent.shape[0]
    work = Scratch(
        np.zeros(k_all),
        np.zeros(k_all, np.bool_),
        np.zeros(k_all, np.bool_),
        np.zeros(k_all, np.bool_),
        np.zeros(k_all),
        np.zeros(k_all),
        np.zeros(2 * k_all, np.int64),
        np.zeros(k_all + 1, np.int64),
    )
    columns = np.empty(3 * (stop - start) + 2 * k_all, dtype=np.int32)
    values = np.empty(columns.shape[0], dtype=val.dtype)
    counts = np.zeros(stop - start, dtype=np.int64)
    cost, scratch = np.empty(2 * k_all), np.empty(2 * k_all)
    place = np.full(k_all, -1, dtype=np.int64)
    p, q, mass = tree.p.copy(), tree.q.copy(), tree.below.copy()
    used = 0
    for i in range(start, stop):
        n_runs, total = gather_candidates(mover, i, tree.parent, work)
        n_candidates = work.stop[n_runs - 1]
        if objective == TSD:
            price_tsd(tree, mover, i, n_runs, work, p, q, mass, cost)
        else:
            price_dasgupta(tree, mover, i, n_runs, total, work, cost)
        count = n_candidates
        for t in range(n_candidates):
            place[work.order[t]] = t
        if objective == DASGUPTA:
            for e in range(ptr[i], ptr[i + 1]):
                if place[col[e]] < 0:
                    cost[count] = price_aside(tree, mover, i, col[e], work)
                    work.order[count] = col[e]
                    place[col[e]] = count
                    count += 1
        lowest = cost[:count].min()
        for t in range(count):
            cost[t] = (lowest - cost[t]) * step[i]
        for e in range(ptr[i], ptr[i + 1]):
            if place[col[e]] >= 0:
                cost[place[col[e]]] += val[e]
        threshold = simplex_threshold(cost, count, scratch)
        if used + count > columns.shape[0]:
            columns = np.concatenate((columns, np.empty(columns.shape[0] + count, dtype=np.int32)))
            values = np.concatenate((values, np.empty(values.shape[0] + count, dtype=val.dtype)))
        first = used
        for t in range(count):
            place[work.order[t]] = -1
            if cost[t] > threshold:
                columns[used] = work.order[t]
                values[used] = cost[t] - threshold
                used += 1
        counts[i - start] = used - first
        clear(mover, i, tree.parent, count, work)
    return counts, columns[:used].copy(), values[:used].copy()


@njit(cache=True)
def tree_sums(parent, at_node):
    """Sum below every internal node, itself included, from the sums at each node."""
    total = at_node.copy()
    for node in range(parent.shape[0] - 1):
        total[parent[node]] += total[node]
    return total


@njit(cache=True)
def path_sums(parent, at_node):
    """Sum over every internal node and its ancestors."""
    total = at_node.copy()
    for node in range(parent.shape[0] - 2, -1, -1):
        total[node] += total[parent[node]]
    return total


@njit(cache=True)
def outside_weights(parent, S):
    """Row k: weight between the leaves below k and the leaves outside it, by the parent of the outer leaf."""
    n_internal = parent.shape[0]
    out = S.copy()
    inside = np.zeros((n_internal, n_internal), dtype=np.bool_)
    for k in range(n_internal):
        inside[k, k] = True
        if k < n_internal - 1:
            out[parent[k]] += out[k]
    for k in range(n_internal - 1):
        for below in range(k + 1):
            if inside[k, below]:
                inside[parent[k], below] = True
    for k in range(n_internal):
        for other in range(n_internal):
            if inside[k, other]:
                out[k, other] = 0.0
    return out


@njit(cache=True)
def joining_parents(leaf_parent, parent):
    """Parent of every leaf in the tree that is left when nodes with a single child are passed over.

    A leaf alone under a node would otherwise keep its pair with itself (TSD) to that node, which no tree has.
    """
    n_internal = parent.shape[0]
    n_children = np.zeros(n_internal, dtype=np.int64)
    for i in range(leaf_parent.shape[0]):
        n_children[leaf_parent[i]] += 1
    for node in range(n_internal - 1):
        if n_children[node] > 0:
            n_children[parent[node]] += 1
    joins = np.empty(n_internal, dtype=np.int64)
    joins[n_internal - 1] = n_internal - 1
    for node in range(n_internal - 2, -1, -1):
        joins[node] = node if n_children[node] > 1 else joins[parent[node]]
    return joins[leaf_parent]
