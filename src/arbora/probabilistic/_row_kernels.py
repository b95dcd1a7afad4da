"""A step of sparse rows against the conditional costs of a sampled tree.

The costs are those of `_move_kernels.py`, only for the parents at which a leaf can gain: those above its neighbors.
"""

from __future__ import annotations

import numpy as np

from arbora._base.jit import inner, kernel
from arbora.probabilistic._kernels import simplex_threshold, with_room_for
from arbora.probabilistic._move_kernels import put_back, take_out
from arbora.probabilistic._tree_kernels import xlogy_ratio

# Work space of one thread, per internal node: all zero or False between rows.
SCRATCH = np.dtype(
    [
        ("value", np.float64),
        ("kept", np.float64),
        ("seen", np.bool_),
        ("on_path", np.bool_),
        ("under", np.bool_),
    ],
    align=True,
)


@inner
def gather_candidates(ptr, col, val, i, parent, work, near, order, stop):
    """The nodes with a neighbor of i below them, and the root: the only places where i can gain.

    They go to `order` in runs, each from a node upwards to where an earlier run passed; ``stop[r]``
    ends run r. Read run by run, each backwards, parents come before children. `near` sums the weight
    below each. Returns the number of runs and the total weight.
    """
    root = parent.shape[0] - 1
    count, total = 1, 0.0
    order[0] = root
    work[root].seen = True
    stop[0] = 1
    n_runs = 1
    for e in range(ptr[i], ptr[i + 1]):
        node, weight = np.int64(col[e]), val[e]
        total += weight
        if not work[node].seen:
            while not work[node].seen:
                work[node].seen = True
                order[count] = node
                count += 1
                node = parent[node]
            stop[n_runs] = count
            n_runs += 1
        node = np.int64(col[e])
        while node != root:
            near[node] += weight
            node = parent[node]
        near[root] += weight
    return n_runs, total


@inner
def mark_kept(parent, current, total, work, near):
    """Mark the old path, with the weight that meets the leaf at the same node from there as from above."""
    root = parent.shape[0] - 1
    node, beneath = current, 0.0
    while True:
        work[node].on_path = True
        work[node].kept = total - beneath
        beneath = near[node]
        if node == root:
            return
        node = parent[node]


@inner
def price_dasgupta(parent, below, path, current, size, loop, n_runs, total, work, near, order, stop, cost):
    """`dasgupta_costs` for the gathered candidates, in ``cost[t]`` for ``order[t]``."""
    root = parent.shape[0] - 1
    mark_kept(parent, current, total, work, near)
    start = 0
    for run in range(n_runs):
        for t in range(stop[run] - 1, start - 1, -1):
            k = order[t]
            here = work[k]
            if k == root:
                here.value = total * below[k]
                here.under = k == current
            else:
                above, upper = parent[k], work[parent[k]]
                here.value = upper.value + near[k] * (below[k] - below[above])
                here.under = k == current or upper.under
                if not here.on_path:
                    here.kept = upper.kept - (near[k] if upper.on_path else 0.0)
            cost[t] = 2.0 * here.value + size * (path[k] - 2.0 * here.kept) + loop * below[k]
            cost[t] -= loop * (int(here.on_path) + int(here.under))
        start = stop[run]


@inner
def price_aside(parent, below, path, current, size, loop, k, work):
    """Dasgupta cost of a parent with no neighbor below it: that of an ancestor, and its own longer path."""
    root = parent.shape[0] - 1
    joint = k
    while not (work[joint].seen or work[joint].on_path):
        joint = parent[joint]
    node = joint
    while not work[node].seen:
        node = parent[node]
    cost = 2.0 * work[node].value + size * (path[k] - 2.0 * work[joint].kept) + loop * below[k]
    if loop != 0.0:
        node = k
        while node != current and node != root:
            node = parent[node]
        cost -= loop * (int(work[k].on_path) + int(node == current))
    return cost


@inner
def price_tsd(parent, size, loop, own, n_runs, work, near, order, stop, p, q, mass, cost):
    """`tsd_costs` for the gathered candidates."""
    root = parent.shape[0] - 1
    start = 0
    for run in range(n_runs):
        for t in range(stop[run] - 1, start - 1, -1):
            k = order[t]
            before = xlogy_ratio(p[k], q[k])
            if k == root:
                work[k].value = 0.0
            else:
                above = parent[k]
                more_p = 2.0 * (near[above] - near[k])
                more_q = 2.0 * size * (mass[above] - mass[k])
                gain = work[above].value + xlogy_ratio(p[above] + more_p, q[above] + more_q)
                work[k].value = gain - xlogy_ratio(p[above], q[above])
            here = xlogy_ratio(p[k] + 2.0 * near[k] + loop, q[k] + 2.0 * size * mass[k] + own)
            cost[t] = -(work[k].value + here - before)
        start = stop[run]


@inner
def clear(parent, current, n_candidates, work, near, order):
    """Work space as it was before a row."""
    for t in range(n_candidates):
        k = order[t]
        work[k].seen = False
        work[k].under = False
        near[k] = 0.0
    root = parent.shape[0] - 1
    node = current
    work[node].on_path = False
    while node != root:
        node = parent[node]
        work[node].on_path = False


@inner
def step_row(first, last, col, val, rate, count, place, cost):
    """Turn the costs of a row into its entries after the gradient step, before projection."""
    lowest = cost[0]
    for t in range(1, count):
        lowest = min(lowest, cost[t])
    for t in range(count):
        cost[t] = (lowest - cost[t]) * rate
    for e in range(first, last):
        if place[col[e]] >= 0:
            cost[place[col[e]]] += val[e]


def descend_sampled_rows(start, stop, tree, mover, ptr, col, val, step):
    """One projected step of sparse rows against the costs of a sampled tree: (counts, columns, values).

    A row's candidates are the nodes above its neighbors and the parents it already has; all others cost at
    least as much as one of these. (For TSD, parents with no neighbor below are given up.)
    """
    work = np.zeros(len(tree.parent), dtype=SCRATCH)
    return descend_rows(start, stop, *tree, *mover[:-1], ptr, col, val, step, work)


@kernel(nogil=True)
def descend_rows(
    start,
    stop,
    parent,
    below,
    p,
    q,
    path,
    near_ptr,
    near_col,
    near_val,
    current,
    size,
    loop,
    own,
    ptr,
    col,
    val,
    step,
    work,
):
    """The loop of `descend_sampled_rows`: arrays one by one, because those in tuples take longer to compile."""
    n_internal = parent.shape[0]
    order, runs = np.zeros(2 * n_internal, np.int64), np.zeros(n_internal + 1, np.int64)
    near, cost, scratch = np.zeros(n_internal), np.empty(2 * n_internal), np.empty(2 * n_internal)
    place = np.full(n_internal, -1, dtype=np.int64)
    columns = np.empty(3 * (stop - start) + 2 * n_internal, dtype=np.int32)
    values = np.empty(columns.shape[0], dtype=val.dtype)
    counts = np.zeros(stop - start, dtype=np.int64)
    if q is not None:
        new_p, new_q, mass = p.copy(), q.copy(), below.copy()
    used = np.int64(0)
    for i in range(start, stop):
        node = current[i]
        n_runs, total = gather_candidates(near_ptr, near_col, near_val, i, parent, work, near, order, runs)
        count = runs[n_runs - 1]
        for t in range(count):
            place[order[t]] = t
        if q is None:
            price_dasgupta(
                parent, below, path, node, size[i], loop[i], n_runs, total, work, near, order, runs, cost
            )
            for e in range(ptr[i], ptr[i + 1]):
                k = np.int64(col[e])
                if place[k] < 0:
                    cost[count] = price_aside(parent, below, path, node, size[i], loop[i], k, work)
                    order[count] = k
                    place[k] = count
                    count += 1
        else:
            take_out(parent, node, size[i], loop[i], own[i], near, new_p, new_q, mass)
            price_tsd(
                parent, size[i], loop[i], own[i], n_runs, work, near, order, runs, new_p, new_q, mass, cost
            )
            put_back(parent, node, new_p, new_q, mass, p, q, below)
        step_row(ptr[i], ptr[i + 1], col, val, step[i], count, place, cost)
        threshold = simplex_threshold(cost, count, scratch)
        columns, values = with_room_for(columns, used, count), with_room_for(values, used, count)
        first = used
        for t in range(count):
            place[order[t]] = -1
            if cost[t] > threshold:
                columns[used] = order[t]
                values[used] = cost[t] - threshold
                used += 1
        counts[i - start] = used - first
        clear(parent, node, count, work, near, order)
    return counts, columns[:used].copy(), values[:used].copy()
