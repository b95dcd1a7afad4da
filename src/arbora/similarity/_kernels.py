"""Cross weights: similarity summed at the lowest common ancestor of each pair."""

from __future__ import annotations

import numpy as np

from arbora._base.jit import kernel
from arbora.tree.pass_kernels import range_maximum


@kernel()
def cross_of_rows(rows, columns_of_position, first_position, neighbor_lca, n_leaves, cross):
    """Add to `cross` the similarities in `rows` of the pairs (position first_position + r, any later position).

    `rows[r, columns_of_position[b]]` is the similarity to the leaf at position b. Walking b to the right, the
    LCA is a running maximum of neighbor_lca, so a whole run of equal LCAs is summed before it is stored.
    """
    n_positions = neighbor_lca.shape[0] + 1
    for r in range(rows.shape[0]):
        row = rows[r]
        position = first_position + r
        if position + 1 >= n_positions:
            continue
        node = neighbor_lca[position]
        run = 0.0
        for b in range(position + 1, n_positions):
            if neighbor_lca[b - 1] > node:
                cross[node - n_leaves] += run
                run = 0.0
                node = neighbor_lca[b - 1]
            run += row[columns_of_position[b]]
        cross[node - n_leaves] += run


@kernel()
def cross_of_matrix(matrix, leaf_order, neighbor_lca, n_leaves, n_internal):
    """Cross weights of a dense symmetric matrix. O(n^2), rows read in leaf order."""
    cross = np.zeros(n_internal, dtype=np.float64)
    for position in range(n_leaves):
        leaf = leaf_order[position]
        cross_of_rows(matrix[leaf : leaf + 1], leaf_order, position, neighbor_lca, n_leaves, cross)
    return cross


@kernel()
def cross_of_features(sums, n_leaves, child_offsets, child_index):
    """Cross weights of inner-product features: float64[n_internal]. O(n d).

    `sums` (a float64 copy of the features) is overwritten: a node's sum takes the row of its first child, so
    that n rows serve all nodes. Children are added one after the other, which covers any branching.
    """
    n_internal = child_offsets.shape[0] - 1
    n_features = sums.shape[1]
    row_of = np.empty(n_leaves + n_internal, dtype=np.int64)
    for leaf in range(n_leaves):
        row_of[leaf] = leaf
    cross = np.zeros(n_internal, dtype=np.float64)
    for slot in range(n_internal):
        first = row_of[child_index[child_offsets[slot]]]
        row_of[n_leaves + slot] = first
        gathered = sums[first]
        for k in range(child_offsets[slot] + 1, child_offsets[slot + 1]):
            added = sums[row_of[child_index[k]]]
            product = 0.0
            for f in range(n_features):
                product += gathered[f] * added[f]
                gathered[f] += added[f]
            cross[slot] += product
    return cross


@kernel(nogil=True)
def add_cross_of_rows(
    indptr, indices, weights, self_loops, parent, leaf_start, neighbor_lca, table, first, last, cross
):
    """Add edges of leaves first .. last-1 of a symmetric graph, each edge once; a self-loop at its leaf's parent."""
    n_leaves = indptr.shape[0] - 1
    for i in range(first, last):
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            if j > i:
                low, high = leaf_start[i], leaf_start[j]
                if low > high:
                    low, high = high, low
                cross[range_maximum(neighbor_lca, table, low, high) - n_leaves] += weights[k]
        if parent[i] >= 0:
            cross[parent[i] - n_leaves] += self_loops[i]


@kernel(nogil=True)
def sum_between_groups(
    indptr, indices, data, label, members, group_start, offsets, far, weight, length, first, last
):
    """Sum up the edges between groups: row g of the groups first .. last-1 starts at offsets[g] and has length[g].

    `members` lists the points group by group, from group_start[g] on.
    """
    n_groups = group_start.shape[0] - 1
    seen_by = np.full(n_groups, -1, dtype=np.int32)
    total = np.zeros(n_groups, dtype=np.float64)
    for group in range(first, last):
        begin = end = offsets[group]
        for m in range(group_start[group], group_start[group + 1]):
            for k in range(indptr[members[m]], indptr[members[m] + 1]):
                other = label[indices[k]]
                if other == group or data[k] == 0:
                    continue
                if seen_by[other] != group:
                    seen_by[other] = group
                    total[other] = 0.0
                    far[end] = other
                    end += 1
                total[other] += data[k]
        far[begin:end].sort()
        for k in range(begin, end):
            weight[k] = total[far[k]]
        length[group] = end - begin


@kernel(nogil=True)
def copy_segments(offsets, far, weight, new_indptr, new_indices, new_data, first, last):
    """Write rows first .. last-1 without the gaps between them."""
    for row in range(first, last):
        shift = offsets[row] - new_indptr[row]
        for k in range(new_indptr[row], new_indptr[row + 1]):
            new_indices[k] = far[k + shift]
            new_data[k] = weight[k + shift]


@kernel(nogil=True)
def copy_rows(indptr, indices, data, order, place, new_indptr, new_indices, new_data, first, last):
    """Write rows first .. last-1 of a CSR matrix whose row r is the old row order[r] and column place[c] the old c."""
    for row in range(first, last):
        shift = new_indptr[row] - indptr[order[row]]
        for k in range(indptr[order[row]], indptr[order[row] + 1]):
            new_indices[k + shift] = place[indices[k]]
            new_data[k + shift] = data[k]
