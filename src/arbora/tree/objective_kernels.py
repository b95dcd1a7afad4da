"""The best partition among all that a tree contains, for every number of clusters at once.

A value is given per node, and the value of a partition is the sum over its clusters. What a subtree is worth with j
clusters is a table of j numbers; the table of a node is the best way to share j out among its children.
"""

from __future__ import annotations

import numpy as np

from arbora._base.jit import inner, kernel, pass_kernel


@pass_kernel()
def count_parts(parent, n_leaves, is_eligible, most):
    """Length of each node's table: the most clusters its subtree can have, capped at `most`; 0 where not eligible."""
    n_nodes = parent.shape[0]
    below = np.zeros(n_nodes, dtype=np.int64)
    for node in range(n_nodes):
        if not is_eligible[node]:
            continue
        below[node] = min(max(below[node], 1), most)
        if parent[node] >= 0:
            below[parent[node]] += below[node]
    return below


@inner
def share_out(left, n_left, right, n_right, out, n_out):
    """Best sum of one entry each of two tables, by the number of clusters together; entry j - 1 is for j clusters."""
    for j in range(n_out):
        out[j] = -np.inf
    for i in range(n_left):
        for j in range(min(n_right, n_out - 1 - i)):
            value = left[i] + right[j]
            if value > out[i + j + 1]:
                out[i + j + 1] = value


def longest_joins(n_parts, starts):
    """No more sums are made where every entry of a table is joined with the longest one."""
    return int(starts[-1]) * int(n_parts.max(initial=1))


@pass_kernel(steps=lambda *arguments: longest_joins(*arguments[4:6]))
def fill_tables(n_leaves, child_offsets, child_index, value, n_parts, starts):
    """Tables of all eligible nodes, one after the other: that of v is ``table[starts[v] : starts[v] + n_parts[v]]``.

    Children that are not eligible are left out. A node with a single eligible child may stand for itself or leave the
    rest out and stand for that child.
    """
    n_nodes = n_parts.shape[0]
    table = np.empty(starts[n_nodes], dtype=np.float64)
    longest = n_parts.max() + 1
    joined = np.empty(longest, dtype=np.float64)
    scratch = np.empty(longest, dtype=np.float64)
    for node in range(n_nodes):
        length = n_parts[node]
        if length == 0:
            continue
        n_joined, n_eligible = 0, 0
        if node >= n_leaves:
            slot = node - n_leaves
            for k in range(child_offsets[slot], child_offsets[slot + 1]):
                child = child_index[k]
                if n_parts[child] == 0:
                    continue
                n_eligible += 1
                part = table[starts[child] : starts[child] + n_parts[child]]
                if n_eligible == 1:
                    n_joined = n_parts[child]
                    for j in range(n_joined):
                        joined[j] = part[j]
                else:
                    n_both = min(n_joined + n_parts[child], length)
                    share_out(joined, n_joined, part, n_parts[child], scratch, n_both)
                    for j in range(n_both):
                        joined[j] = scratch[j]
                    n_joined = n_both
        own = table[starts[node] : starts[node] + length]
        for j in range(length):
            own[j] = joined[j] if j < n_joined else -np.inf
        # several eligible children cannot be one cluster unless the node itself is
        if n_eligible != 1 or value[node] > own[0]:
            own[0] = value[node]
    return table


@pass_kernel(steps=lambda *arguments: longest_joins(*arguments[5:7]))
def choose_nodes(n_leaves, root, child_offsets, child_index, value, n_parts, starts, table, n_clusters):
    """Nodes of the best partition into exactly `n_clusters`."""
    chosen = np.empty(n_clusters, dtype=np.int64)
    n_chosen = 0
    stack_node = np.empty(n_parts.shape[0] + 1, dtype=np.int64)
    stack_want = np.empty(n_parts.shape[0] + 1, dtype=np.int64)
    stack_node[0], stack_want[0] = root, n_clusters
    top = 1
    while top > 0:
        top -= 1
        node, want = stack_node[top], stack_want[top]
        if want == 1 and table[starts[node]] == value[node]:
            chosen[n_chosen] = node
            n_chosen += 1
            continue
        slot = node - n_leaves
        children = child_index[child_offsets[slot] : child_offsets[slot + 1]]
        eligible = children[np.array([n_parts[child] > 0 for child in children])]
        # tables of the first, the first two, ... children, from which the shares are read backwards
        prefixes = np.full((len(eligible), want), -np.inf)
        for k in range(len(eligible)):
            child = eligible[k]
            part = table[starts[child] : starts[child] + n_parts[child]]
            if k == 0:
                for j in range(min(n_parts[child], want)):
                    prefixes[0, j] = part[j]
            else:
                share_out(prefixes[k - 1], want, part, n_parts[child], prefixes[k], want)
        for k in range(len(eligible) - 1, 0, -1):
            child = eligible[k]
            part = table[starts[child] : starts[child] + n_parts[child]]
            best, best_share = -np.inf, 1
            for share in range(1, min(n_parts[child], want - 1) + 1):
                worth = part[share - 1] + prefixes[k - 1, want - share - 1]
                if worth > best:
                    best, best_share = worth, share
            stack_node[top], stack_want[top] = child, best_share
            top += 1
            want -= best_share
        stack_node[top], stack_want[top] = eligible[0], want
        top += 1
    return chosen[:n_chosen]


@pass_kernel()
def label_leaves(parent, n_leaves, size, chosen):
    """Which of the chosen nodes each leaf belongs to, and which it is nearest to where it lies below none of them.

    Returns two int64[n_leaves]: the place in `chosen` (-1 below none), and the same with each leaf that is left over
    given to the largest cluster below its lowest ancestor that has one.
    """
    n_nodes = parent.shape[0]
    cluster = np.full(n_nodes, -1, dtype=np.int64)
    for k in range(chosen.shape[0]):
        cluster[chosen[k]] = k
    # the largest chosen cluster at or below each node
    nearest = cluster.copy()
    for node in range(n_nodes - 1):
        above, found = parent[node], nearest[node]
        if found >= 0 and (nearest[above] < 0 or size[chosen[found]] > size[chosen[nearest[above]]]):
            nearest[above] = found
    for node in range(n_nodes - 2, -1, -1):
        above = parent[node]
        if cluster[node] < 0:
            cluster[node] = cluster[above]
        if nearest[node] < 0 or cluster[node] >= 0:
            nearest[node] = cluster[node] if cluster[node] >= 0 else nearest[above]
    return cluster[:n_leaves], nearest[:n_leaves]


@kernel()
def exit_heights(n_leaves, child_offsets, child_index, size, height, is_eligible):
    """Sum over the leaves below each node of the height at which they leave the cluster that begins there.

    A leaf leaves with its branch where that is too small to be a cluster, and otherwise when the cluster splits.
    """
    n_nodes = size.shape[0]
    total = np.zeros(n_nodes)
    for node in range(n_leaves, n_nodes):
        slot = node - n_leaves
        n_eligible, only = 0, -1
        for k in range(child_offsets[slot], child_offsets[slot + 1]):
            if is_eligible[child_index[k]]:
                n_eligible, only = n_eligible + 1, child_index[k]
        if n_eligible == 1:
            total[node] = total[only] + (size[node] - size[only]) * height[node]
        else:
            total[node] = size[node] * height[node]
    return total


@kernel()
def sum_of_squares(parent, n_leaves, size, mean):
    """Sum of squared distances of the leaves below each node from their mean; `mean` is filled for inner nodes.

    Differences of means are added up, never squares subtracted, so that nothing cancels.
    """
    n_nodes = parent.shape[0]
    inside, count = np.zeros(n_nodes), np.zeros(n_nodes)
    for node in range(n_nodes - 1):
        above = parent[node]
        before = count[above]
        count[above] += size[node]
        distance = 0.0
        for j in range(mean.shape[1]):
            difference = mean[node, j] - mean[above, j]
            distance += difference * difference
            mean[above, j] += difference * (size[node] / count[above])
        inside[above] += inside[node] + (distance * before * size[node] / count[above] if before > 0 else 0.0)
    return inside
