"""A step of sparse rows against the conditional costs of a sampled tree.

The costs are those of `_move_kernels.py`, only for the parents at which a leaf can gain: those above its neighbors.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arbora._base.jit import kernel
from arbora.probabilistic._kernels import simplex_threshold
from arbora.probabilistic._move_kernels import TSD, put_back, take_out
from arbora.probabilistic._tree_kernels import mark_path, xlogy_ratio


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


@kernel(nogil=True)
def gather_candidates(mover, i, parent, work):
    """The nodes with a neighbor of i below them, and the root: the only places where i can gain.

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


@kernel(nogil=True)
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


@kernel(nogil=True)
def price_aside(tree, mover, i, k, work):
    """Dasgupta cost of a parent with no neighbor below it: that of an ancestor, and its own longer path."""
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


@kernel(nogil=True)
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


@kernel(nogil=True)
def clear(mover, i, parent, n_candidates, work):
    """Work space as it was before a row."""
    for t in range(n_candidates):
        k = work.order[t]
        work.seen[k] = False
        work.near[k] = 0.0
        work.under[k] = False
    mark_path(parent, mover.current[i], work.on_path, False)


@kernel(nogil=True)
def empty_scratch(n_internal):
    """Work space for trees of `n_internal` nodes."""
    return Scratch(
        np.zeros(n_internal),
        np.zeros(n_internal, np.bool_),
        np.zeros(n_internal, np.bool_),
        np.zeros(n_internal, np.bool_),
        np.zeros(n_internal),
        np.zeros(n_internal),
        np.zeros(2 * n_internal, np.int64),
        np.zeros(n_internal + 1, np.int64),
    )


@kernel(nogil=True)
def add_own_parents(tree, mover, i, ptr, col, count, work, place, cost):
    """Price the parents that row i has and that are no candidates yet; returns the new number of candidates."""
    for e in range(ptr[i], ptr[i + 1]):
        if place[col[e]] < 0:
            cost[count] = price_aside(tree, mover, i, col[e], work)
            work.order[count] = col[e]
            place[col[e]] = count
            count += 1
    return count


@kernel(nogil=True)
def step_row(i, ptr, col, val, step, count, place, cost):
    """Turn the costs of row i into its entries after the gradient step, before projection."""
    lowest = cost[:count].min()
    for t in range(count):
        cost[t] = (lowest - cost[t]) * step[i]
    for e in range(ptr[i], ptr[i + 1]):
        if place[col[e]] >= 0:
            cost[place[col[e]]] += val[e]


@kernel(nogil=True)
def descend_sampled_rows(start, stop, objective, tree, mover, ptr, col, val, step):
    """One projected step of sparse rows against the costs of a sampled tree: (counts, columns, values).

    A row's candidates are the nodes above its neighbors and the parents it already has; all others cost at
    least as much as one of these. (For TSD, parents with no neighbor below are given up.)
    """
    n_internal = tree.parent.shape[0]
    work = empty_scratch(n_internal)
    columns = np.empty(3 * (stop - start) + 2 * n_internal, dtype=np.int32)
    values = np.empty(columns.shape[0], dtype=val.dtype)
    counts = np.zeros(stop - start, dtype=np.int64)
    cost, scratch = np.empty(2 * n_internal), np.empty(2 * n_internal)
    place = np.full(n_internal, -1, dtype=np.int64)
    p, q, mass = tree.p.copy(), tree.q.copy(), tree.below.copy()
    used = 0
    for i in range(start, stop):
        n_runs, total = gather_candidates(mover, i, tree.parent, work)
        count = work.stop[n_runs - 1]
        for t in range(count):
            place[work.order[t]] = t
        if objective == TSD:
            price_tsd(tree, mover, i, n_runs, work, p, q, mass, cost)
        else:
            price_dasgupta(tree, mover, i, n_runs, total, work, cost)
            count = add_own_parents(tree, mover, i, ptr, col, count, work, place, cost)
        step_row(i, ptr, col, val, step, count, place, cost)
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
