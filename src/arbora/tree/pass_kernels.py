"""Passes over the parent array. Children come before parents, so one loop up or down replaces recursion."""

from __future__ import annotations

import numpy as np

from arbora._base.jit import inner, pass_kernel

# Problems that `find_order_problem` can report, with the node at which they were seen.
ORDER_OK, PARENT_OUT_OF_RANGE, PARENT_IS_LEAF, PARENT_TOO_EARLY, SECOND_ROOT, CHILDLESS = range(6)

# Leaves per block of the range-maximum index: memory of one int32 per leaf, scans of 2 blocks.
LCA_BLOCK = 16


@pass_kernel()
def find_order_problem(parent, n_leaves):
    """First violation of arbora's node order as (code, node); (ORDER_OK, -1) when there is none."""
    n_nodes = parent.shape[0]
    has_child = np.zeros(n_nodes, dtype=np.bool_)
    for node in range(n_nodes):
        above = parent[node]
        if node == n_nodes - 1:
            if above != -1:
                return PARENT_OUT_OF_RANGE, node
            continue
        if above == -1:
            return SECOND_ROOT, node
        if above < 0 or above >= n_nodes:
            return PARENT_OUT_OF_RANGE, node
        if above < n_leaves:
            return PARENT_IS_LEAF, node
        if above <= node:
            return PARENT_TOO_EARLY, node
        has_child[above] = True
    for node in range(n_leaves, n_nodes):
        if not has_child[node]:
            return CHILDLESS, node
    return ORDER_OK, -1


@pass_kernel()
def count_leaves(parent, n_leaves):
    """Number of leaves below each node: int64[n_nodes]. O(n_nodes)."""
    size = np.zeros(parent.shape[0], dtype=np.int64)
    size[:n_leaves] = 1
    # children come before parents: one pass
    for node in range(parent.shape[0] - 1):
        size[parent[node]] += size[node]
    return size


@pass_kernel()
def sum_to_root(parent, value):
    """Sum of a per-node value over each node's subtree (the node included)."""
    total = value.copy()
    for node in range(parent.shape[0] - 1):
        total[parent[node]] += total[node]
    return total


@pass_kernel()
def max_to_root(parent, value):
    """Largest per-node value in each node's subtree (the node included)."""
    highest = value.copy()
    for node in range(parent.shape[0] - 1):
        above = parent[node]
        if highest[node] > highest[above]:
            highest[above] = highest[node]
    return highest


@pass_kernel(nogil=True)
def note_farthest(indptr, indices, data, place, first, last, earliest, latest):
    """Of rows first .. last-1 of a graph: minus the first and the last place of a neighbor by a positive weight."""
    for row in range(first, last):
        for k in range(indptr[row], indptr[row + 1]):
            if data[k] > 0:
                at = place[indices[k]]
                earliest[row] = max(earliest[row], -at)
                latest[row] = max(latest[row], at)


@pass_kernel()
def count_depths(parent):
    """Number of edges from the root to each node."""
    depth = np.zeros(parent.shape[0], dtype=np.int64)
    for node in range(parent.shape[0] - 2, -1, -1):
        depth[node] = depth[parent[node]] + 1
    return depth


@pass_kernel()
def list_children(parent, n_leaves, order):
    """Children as (offsets, index), siblings sorted by the first of their leaves in `order`.

    Each leaf, taken in order, climbs while it is the first leaf below the node it stands on, and enters that
    node in its parent's list. Every node is entered once, so this is a sort of all sibling lists in
    O(n_nodes).
    """
    n_nodes = parent.shape[0]
    offsets = np.zeros(n_nodes - n_leaves + 1, dtype=np.int64)
    for node in range(n_nodes - 1):
        offsets[parent[node] - n_leaves + 1] += 1
    for k in range(1, offsets.shape[0]):
        offsets[k] += offsets[k - 1]
    index = np.empty(max(n_nodes - 1, 0), dtype=np.int64)
    filled = offsets[:-1].copy()
    for leaf in order:
        node = leaf
        while parent[node] >= 0:
            slot = parent[node] - n_leaves
            is_first = filled[slot] == offsets[slot]
            index[filled[slot]] = node
            filled[slot] += 1
            if not is_first:
                break
            node = parent[node]
    return offsets, index


@pass_kernel()
def place_leaves(n_leaves, size, offsets, index):
    """Position of each node's first leaf in depth-first order: v's are order[start[v]:start[v]+size[v]]."""
    n_nodes = size.shape[0]
    start = np.zeros(n_nodes, dtype=np.int64)
    for node in range(n_nodes - 1, n_leaves - 1, -1):
        position = start[node]
        for k in range(offsets[node - n_leaves], offsets[node - n_leaves + 1]):
            start[index[k]] = position
            position += size[index[k]]
    return start


@pass_kernel()
def first_leaves(parent, n_leaves, size):
    """Position of each node's first leaf in the order of their numbers; nothing where that is not depth-first.

    Then the leaves below a node are numbered without gaps, and the lowest number below it is the position.
    """
    n_nodes = parent.shape[0]
    first = np.full(n_nodes, n_leaves, dtype=np.int64)
    last = np.full(n_nodes, -1, dtype=np.int64)
    for leaf in range(n_leaves):
        first[leaf] = last[leaf] = leaf
    for node in range(n_nodes):
        if last[node] - first[node] + 1 != size[node]:
            return first[:0]
        above = parent[node]
        if above >= 0:
            first[above] = min(first[above], first[node])
            last[above] = max(last[above], last[node])
    return first


@pass_kernel()
def join_neighbors(parent, n_leaves, start):
    """LCA of the leaves at positions k and k+1 of the depth-first order: int32[n_leaves-1].

    A parent's number exceeds its children's, so the LCA of two positions is the largest entry between them. Children
    but the first begin where a sibling ends.
    """
    joined = np.empty(max(n_leaves - 1, 0), dtype=np.int32)
    for node in range(parent.shape[0] - 1):
        if start[node] != start[parent[node]]:
            joined[start[node] - 1] = parent[node]
    return joined


def index_range_maxima(values):
    """Sparse table over blocks of LCA_BLOCK entries: table[j, b] = max of blocks b .. b + 2**j - 1."""
    blocks = np.maximum.reduceat(values, np.arange(0, len(values), LCA_BLOCK)) if len(values) else [0]
    table = np.zeros((len(blocks).bit_length(), len(blocks)), dtype=np.int32)
    table[0] = blocks
    for j in range(1, len(table)):
        half = 1 << (j - 1)
        n_full = max(len(blocks) - 2 * half + 1, 0)
        table[j, :n_full] = np.maximum(table[j - 1, :n_full], table[j - 1, half : half + n_full])
    return table


@inner
def range_maximum(values, table, low, high):
    """Largest of values[low:high] (high > low)."""
    first, last = low // LCA_BLOCK, (high - 1) // LCA_BLOCK
    best = values[low]
    if first == last:
        for k in range(low, high):
            best = max(best, values[k])
        return best
    for k in range(low, (first + 1) * LCA_BLOCK):
        best = max(best, values[k])
    for k in range(last * LCA_BLOCK, high):
        best = max(best, values[k])
    span = last - first - 1
    if span > 0:
        j = 0
        while (1 << (j + 1)) <= span:
            j += 1
        best = max(best, max(table[j, first + 1], table[j, last - (1 << j)]))
    return best


@pass_kernel(steps=lambda *arguments: 2 * LCA_BLOCK * len(arguments[-1]))
def find_lca(start, size, joined, table, left, right):
    """LCA of each pair of nodes (leaves or internal)."""
    found = np.empty(left.shape[0], dtype=np.int64)
    for k in range(left.shape[0]):
        u, v = left[k], right[k]
        low = min(start[u], start[v])
        high = max(start[u] + size[u], start[v] + size[v]) - 1
        # one above the other (or the same): the range below lies inside its leaves
        best = max(u, v)
        if u != v and high > low:
            best = max(best, np.int64(range_maximum(joined, table, low, high)))
        found[k] = best
    return found


@pass_kernel()
def sort_children_first(parent, n_leaves):
    """Renumber arbitrary internal nodes so that children come before parents: new number of each old node.

    Each leaf, taken in order, climbs as long as it is the last below the node it stands on, which gets the next number:
    where leaves are in depth-first order, so are the nodes. The nodes of a cycle never get one (-1).
    """
    n_nodes = parent.shape[0]
    waiting = np.zeros(n_nodes, dtype=np.int32)
    for node in range(n_nodes):
        if parent[node] >= 0:
            waiting[parent[node]] += 1
    number = np.full(n_nodes, -1, dtype=np.int64)
    next_number = n_leaves
    for start in range(n_nodes):
        # an internal node without children, too: reported by find_order_problem
        if start >= n_leaves and (waiting[start] > 0 or number[start] >= 0):
            continue
        node = start
        while True:
            if node < n_leaves:
                number[node] = node
            else:
                number[node] = next_number
                next_number += 1
            node = parent[node]
            if node < 0:
                break
            waiting[node] -= 1
            if waiting[node] > 0:
                break
    return number


@pass_kernel()
def keep_nodes(parent, keep):
    """Nearest kept strict ancestor of each node; -1 where none is."""
    above = np.full(parent.shape[0], -1, dtype=np.int64)
    for node in range(parent.shape[0] - 2, -1, -1):
        p = parent[node]
        above[node] = p if keep[p] else above[p]
    return above


@pass_kernel()
def meeting_mass(parent, leaf_mass, own):
    """Sum of mass_i * mass_j over the ordered pairs of leaves that meet at each node: float64[n_nodes].

    `own` is what each leaf's pair with itself adds at the leaf's parent. It is the square of the mass in the tree
    sampling divergence, whose law q this is for masses that sum to one, and 0 where such pairs do not count.
    Siblings are added one after the other, 2 * mass * (mass of those before): every term is positive, so nothing
    cancels as it would in mass(v)^2 minus the squares of the children.
    """
    n_leaves, n_nodes = leaf_mass.shape[0], parent.shape[0]
    mass, meeting = np.zeros(n_nodes), np.zeros(n_nodes)
    for leaf in range(n_leaves):
        mass[leaf] = leaf_mass[leaf]
    # children come before parents: mass[node] is complete
    for node in range(n_nodes - 1):
        above = parent[node]
        meeting[above] += 2.0 * mass[node] * mass[above]
        if node < n_leaves:
            meeting[above] += own[node]
        mass[above] += mass[node]
    return meeting
