"""In which order branches part from the rest of a tree, and the clusters after a number of steps."""

from __future__ import annotations

import numpy as np

from arbora._base.jit import inner, pass_kernel


@inner
def push(heap, n_waiting, entry):
    """Put an entry into a heap of which the smallest comes first."""
    at = n_waiting
    while at > 0 and heap[(at - 1) // 2] > entry:
        heap[at] = heap[(at - 1) // 2]
        at = (at - 1) // 2
    heap[at] = entry


@inner
def pop(heap, n_waiting):
    """Take the smallest entry out of a heap."""
    smallest, last = heap[0], heap[n_waiting - 1]
    n_left = n_waiting - 1
    at = 0
    while 2 * at + 1 < n_left:
        below = 2 * at + 1
        if below + 1 < n_left and heap[below + 1] < heap[below]:
            below += 1
        if heap[below] >= last:
            break
        heap[at] = heap[below]
        at = below
    heap[at] = last
    return smallest


@pass_kernel()
def largest_children(parent, size):
    """The largest child of each node, of equally large ones the first; -1 for leaves."""
    n_nodes = parent.shape[0]
    largest = np.full(n_nodes, -1, dtype=np.int64)
    for node in range(n_nodes - 1):
        before = largest[parent[node]]
        if before < 0 or size[node] > size[before]:
            largest[parent[node]] = node
    return largest


@pass_kernel()
def part_branches(place, since, n_places):
    """Step at which each branch parts, and the place of the node opened at each step.

    `place` is the rank of each branch's parent among all nodes with branches to part, the highest first, and `since`,
    which must not fall, the number of clusters from which on a branch counts. Of the nodes with branches that count,
    the highest is opened next; where none counts, the next branches in line do.
    """
    n_branches = place.shape[0]
    step = np.empty(n_branches, dtype=np.int64)
    opened = np.empty(n_branches, dtype=np.int64)
    heap = np.empty(n_places, dtype=np.int64)
    # branches of one place that count and have not parted: the latest of them, and the one before each
    latest = np.full(n_places, -1, dtype=np.int64)
    before = np.empty(n_branches, dtype=np.int64)
    n_waiting, n_counted, n_parted, n_steps = 0, 0, 0, 0
    while n_parted < n_branches:
        bound = n_parted + 2
        if n_waiting == 0:
            bound = max(bound, since[n_counted])
        while n_counted < n_branches and since[n_counted] <= bound:
            here = place[n_counted]
            if latest[here] < 0:
                push(heap, n_waiting, here)
                n_waiting += 1
            before[n_counted] = latest[here]
            latest[here] = n_counted
            n_counted += 1
        here = pop(heap, n_waiting)
        n_waiting -= 1
        branch = latest[here]
        latest[here] = -1
        while branch >= 0:
            step[branch] = n_steps
            n_parted += 1
            branch = before[branch]
        opened[n_steps] = here
        n_steps += 1
    return step, opened[:n_steps].copy()


@pass_kernel()
def first_below(parent, step):
    """The first step that parts something below each node, from those at which nodes part from their parents."""
    n_nodes = parent.shape[0]
    never = step[n_nodes - 1]
    first = np.full(n_nodes, never, dtype=np.int64)
    for node in range(n_nodes - 1):
        first[parent[node]] = min(first[parent[node]], first[node], step[node])
    return first


@pass_kernel()
def name_parts(parent, n_leaves, size, step, first, n_steps):
    """Clusters after a number of steps: label of each leaf, node of each label, and the piece that each leaf lies in.

    A piece is a highest node below which nothing has parted. A cluster consists of one piece or, where branches too
    small to be clusters lie around it, of several; the largest, of equally large ones the first, stands for it.
    """
    n_nodes = parent.shape[0]
    top = np.empty(n_nodes, dtype=np.int64)
    piece = np.empty(n_nodes, dtype=np.int64)
    largest = np.full(n_nodes, -1, dtype=np.int64)
    for node in range(n_nodes - 1, -1, -1):
        above = parent[node]
        top[node] = node if above < 0 or step[node] < n_steps else top[above]
        if above >= 0 and first[above] >= n_steps:
            piece[node] = piece[above]
            continue
        piece[node] = node
        found = largest[top[node]]
        if first[node] >= n_steps and (found < 0 or size[node] >= size[found]):
            largest[top[node]] = node
    label_of_top = np.full(n_nodes, -1, dtype=np.int64)
    labels = np.empty(n_leaves, dtype=np.int64)
    nodes = np.empty(n_leaves, dtype=np.int64)
    n_clusters = 0
    for leaf in range(n_leaves):
        above = top[leaf]
        if label_of_top[above] < 0:
            label_of_top[above] = n_clusters
            nodes[n_clusters] = largest[above]
            n_clusters += 1
        labels[leaf] = label_of_top[above]
    return labels, nodes[:n_clusters].copy(), piece[:n_leaves].copy()
