"""Loops that compare two trees.

The triplet distance. Take each node of the first tree but the root; let U be its leaves and R the leaves of
its parent that are not below it. A pair {a, b} of U and a leaf c of R form the triple ab|c, and every triple
that the first tree resolves comes up exactly once in this way. Write, in the second tree, I_v for the number
of leaves of U below node v, and Q_v for the number of pairs of U that meet at v. Then the sums over all such
c

    F = sum over ancestors v of c of Q_v
    G = sum over edges (i, v) on the path from c to the root of I_i * (I_v - I_i)

count the triples ab|c that are not ab|c in the second tree (c is below the node where a and b meet), and
those of them that are resolved there (c shares a child of that node with a or with b). So F - G triples are
resolved in the first tree only, and with "stars" for the triples that a tree leaves unresolved:

    distance = F + (stars of the first - (stars of the second - (F - G)))

F and G are kept while leaves are inserted into U one at a time. U grows from the largest child to its parent
by inserting the leaves of the others, the light children: O(n log n) insertions in all, each O(log^2 n)
through the heavy paths of the second tree. For the light children themselves the sums run over the second
tree restricted to their leaves.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from arbora._base.jit import kernel
from arbora.tree.pass_kernels import range_maximum

# The second tree cut into heavy paths. Each path has a segment tree over its nodes, top first; its cells
# begin at `base[path]` and its width is a power of two.
HeavyPaths = namedtuple("HeavyPaths", "path_of place top base width")
# A row of `cells` is one cell (one cache line), a row of `tops` the leaves of U below the top of a path. The
# stamp says in which round a row was last used: in any other it counts as zero.
PathSums = namedtuple("PathSums", "cells tops")
STAMP, PENDING, LIGHT, HEAVY_PAIRS, LIGHT_PAIRS = range(5)
BELOW = 1


@kernel()
def bound_positions(parent, n_leaves, position):
    """Smallest and largest position of the leaves below each node."""
    low = np.full(parent.shape[0], n_leaves, dtype=np.int64)
    high = np.full(parent.shape[0], -1, dtype=np.int64)
    for leaf in range(n_leaves):
        low[leaf] = high[leaf] = position[leaf]
    for node in range(parent.shape[0] - 1):
        above = parent[node]
        low[above] = min(low[above], low[node])
        high[above] = max(high[above], high[node])
    return low, high


@kernel()
def condensed_lca_heights(first, last, leaf_order, joined, height, found):
    """Set the height of the LCA of every pair, in SciPy's condensed order, whose leaf that comes first is in a range.

    Leaves are numbered in `leaf_order` here; the range is first .. last-1.
    """
    n_leaves = leaf_order.shape[0]
    for a in range(first, last):
        highest = joined[a]
        for b in range(a + 1, n_leaves):
            highest = max(highest, joined[b - 1])
            i, j = min(leaf_order[a], leaf_order[b]), max(leaf_order[a], leaf_order[b])
            found[i * n_leaves - i * (i + 1) // 2 + j - i - 1] = height[highest]


@kernel()
def count_stars(parent, size):
    """Triples of leaves that meet in one node, from three different children."""
    n_nodes = parent.shape[0]
    pairs = np.zeros(n_nodes, dtype=np.int64)
    seen = np.zeros(n_nodes, dtype=np.int64)
    stars = 0
    for node in range(n_nodes - 1):
        above = parent[node]
        stars += pairs[above] * size[node]
        pairs[above] += seen[above] * size[node]
        seen[above] += size[node]
    return stars


@kernel()
def find_heavy_children(parent, n_leaves, size):
    """Largest child of each node (-1 for leaves)."""
    heavy = np.full(parent.shape[0], -1, dtype=np.int64)
    for node in range(parent.shape[0] - 1):
        above = parent[node]
        if heavy[above] < 0 or size[node] > size[heavy[above]]:
            heavy[above] = node
    return heavy


@kernel()
def cut_into_paths(parent, heavy):
    """Heavy paths of a tree, from their top nodes down, and where the cells of each begin."""
    n_nodes = parent.shape[0]
    path_of = np.empty(n_nodes, dtype=np.int64)
    place = np.empty(n_nodes, dtype=np.int64)
    top = np.empty(n_nodes, dtype=np.int64)
    base = np.empty(n_nodes, dtype=np.int64)
    width = np.empty(n_nodes, dtype=np.int64)
    n_paths, n_cells = 0, 0
    for node in range(n_nodes - 1, -1, -1):
        above = parent[node]
        if above >= 0 and heavy[above] == node:
            continue
        at, k = node, 0
        while at >= 0:
            path_of[at] = n_paths
            place[at] = k
            k += 1
            at = heavy[at]
        wide = 1
        while wide < k:
            wide *= 2
        top[n_paths] = node
        base[n_paths] = n_cells
        width[n_paths] = wide
        n_cells += 2 * wide
        n_paths += 1
    paths = HeavyPaths(path_of, place, top[:n_paths].copy(), base[:n_paths].copy(), width[:n_paths].copy())
    return paths, n_cells


@kernel()
def refresh_cell(sums, cell, stamp):
    """Zero a cell that is left over from an earlier round."""
    if sums.cells[cell, STAMP] != stamp:
        sums.cells[cell] = 0
        sums.cells[cell, STAMP] = stamp


@kernel()
def leaves_below_top(sums, path, stamp):
    """How many leaves of U are below the top of a path."""
    return sums.tops[path, BELOW] if sums.tops[path, STAMP] == stamp else 0


@kernel()
def lead_through(sums, cell, times):
    """Insert `times` leaves below the heavy child of every node of a cell: each pairs with the light ones."""
    sums.cells[cell, HEAVY_PAIRS] += times * sums.cells[cell, LIGHT]
    sums.cells[cell, PENDING] += times


@kernel()
def open_cell(sums, base, index, stamp):
    """Push what is pending in a cell down to its two halves."""
    cell, left, right = base + index, base + 2 * index, base + 2 * index + 1
    refresh_cell(sums, left, stamp)
    refresh_cell(sums, right, stamp)
    if sums.cells[cell, PENDING] != 0:
        lead_through(sums, left, sums.cells[cell, PENDING])
        lead_through(sums, right, sums.cells[cell, PENDING])
        sums.cells[cell, PENDING] = 0


@kernel()
def descend(sums, base, width, place, stamp, insert):
    """Cell of a place on a path, and the sums (heavy pairs, light pairs) of the places above it.

    With `insert`, a leaf is led through the heavy children of all places above.
    """
    index, half = 1, width // 2
    heavy_pairs, light_pairs = 0, 0
    refresh_cell(sums, base + 1, stamp)
    while half > 0:
        open_cell(sums, base, index, stamp)
        index *= 2
        if place & half:
            heavy_pairs += sums.cells[base + index, HEAVY_PAIRS]
            light_pairs += sums.cells[base + index, LIGHT_PAIRS]
            if insert:
                lead_through(sums, base + index, 1)
            index += 1
        half //= 2
    return index, heavy_pairs, light_pairs


@kernel()
def add_up_cells(sums, base, index):
    """Bring the cells above `index` up to date after it changed."""
    index //= 2
    while index >= 1:
        left, right = base + 2 * index, base + 2 * index + 1
        sums.cells[base + index, LIGHT] = sums.cells[left, LIGHT] + sums.cells[right, LIGHT]
        sums.cells[base + index, HEAVY_PAIRS] = sums.cells[left, HEAVY_PAIRS] + sums.cells[right, HEAVY_PAIRS]
        sums.cells[base + index, LIGHT_PAIRS] = sums.cells[left, LIGHT_PAIRS] + sums.cells[right, LIGHT_PAIRS]
        index //= 2


@kernel()
def insert_leaf(parent, paths, sums, leaf, stamp):
    """Add a leaf to the set U."""
    # from_top: the path below, which joins this one through a light child
    node, from_top = leaf, -1
    while node >= 0:
        path = paths.path_of[node]
        base = paths.base[path]
        # otherwise the path is a single leaf
        if paths.width[path] > 1:
            index, _, _ = descend(sums, base, paths.width[path], paths.place[node], stamp, True)
            if from_top >= 0:
                # of one place: PENDING is the number of leaves below its heavy child
                cell = base + index
                # this leaf was counted there already
                below = sums.tops[from_top, BELOW] - 1
                sums.cells[cell, LIGHT_PAIRS] += sums.cells[cell, LIGHT] - below
                sums.cells[cell, HEAVY_PAIRS] += sums.cells[cell, PENDING]
                sums.cells[cell, LIGHT] += 1
            add_up_cells(sums, base, index)
        sums.tops[path, BELOW] = leaves_below_top(sums, path, stamp) + 1
        sums.tops[path, STAMP] = stamp
        from_top = path
        node = parent[paths.top[path]]


@kernel()
def query_leaf(parent, paths, sums, leaf, stamp):
    """What leaf c, not in U, adds to F and to G."""
    shape, shared = 0, 0
    node, from_top = leaf, -1
    while node >= 0:
        path = paths.path_of[node]
        base = paths.base[path]
        # otherwise the path is a single leaf
        if paths.width[path] > 1:
            place, width = paths.place[node], paths.width[path]
            index, heavy_pairs, light_pairs = descend(sums, base, width, place, stamp, False)
            shape += heavy_pairs + light_pairs
            # through heavy children: HEAVY_PAIRS counts I_i * (I_v - I_i)
            shared += heavy_pairs
            if from_top >= 0:
                cell = base + index
                shape += sums.cells[cell, HEAVY_PAIRS] + sums.cells[cell, LIGHT_PAIRS]
                below = leaves_below_top(sums, from_top, stamp)
                shared += below * (sums.cells[cell, LIGHT] + sums.cells[cell, PENDING] - below)
        from_top = path
        node = parent[paths.top[path]]
    return shape, shared


@kernel()
def count_prefix(counts, end):
    """Sum of the first `end` entries of a Fenwick tree."""
    total = 0
    while end > 0:
        total += counts[end]
        end -= end & -end
    return total


@kernel()
def add_at(counts, position, change):
    """Change one entry of a Fenwick tree."""
    k = position + 1
    while k < counts.shape[0]:
        counts[k] += change
        k += k & -k


@kernel()
def child_below(node, position, n_leaves, start, offsets, index):
    """Child of `node` whose leaves include the position (children lie in order of position)."""
    low, high = offsets[node - n_leaves], offsets[node - n_leaves + 1] - 1
    while low < high:
        middle = (low + high + 1) // 2
        if start[index[middle]] <= position:
            low = middle
        else:
            high = middle - 1
    return index[low]


@kernel()
def sum_light_child(positions, counts, n_leaves, start, size, offsets, index, joined, table):
    """F and G of a child whose leaves have these (sorted) positions in the second tree.

    `counts` holds the positions of its parent.

    The second tree restricted to the positions is walked with a stack of open nodes: each with the first of
    its positions and the pairs that met there so far.
    """
    shape, shared = 0, 0
    m = positions.shape[0]
    node_stack = np.empty(m + 1, dtype=np.int64)
    first_stack = np.empty(m + 1, dtype=np.int64)
    depth = 0
    for k in range(1, m + 1):
        # after the last position: close all
        meet = np.int64(1) << 62
        if k < m:
            meet = np.int64(range_maximum(joined, table, positions[k - 1], positions[k]))
        first = k - 1
        while depth > 0 and node_stack[depth - 1] < meet:
            node, first = node_stack[depth - 1], first_stack[depth - 1]
            depth -= 1
            here_shape, here_shared = sum_at_node(
                node, positions, first, k, counts, n_leaves, start, size, offsets, index
            )
            shape += here_shape
            shared += here_shared
        if k < m and (depth == 0 or node_stack[depth - 1] != meet):
            node_stack[depth] = meet
            first_stack[depth] = first
            depth += 1
    return shape, shared


@kernel()
def sum_at_node(node, positions, first, last, counts, n_leaves, start, size, offsets, index):
    """What node v adds to F and G, when U has ``positions[first:last]`` below it."""
    total = last - first
    others = count_prefix(counts, start[node] + size[node]) - count_prefix(counts, start[node]) - total
    pairs, shared, k = 0, 0, first
    while k < last:
        child = child_below(node, positions[k], n_leaves, start, offsets, index)
        end = start[child] + size[child]
        begin = k
        k = begin + np.searchsorted(positions[begin:last], end)
        below = k - begin
        others_below = count_prefix(counts, end) - count_prefix(counts, start[child]) - below
        pairs += below * (total - below)
        shared += others_below * below * (total - below)
    return others * (pairs // 2), shared


@kernel(nogil=True)
def count_differing_triples(first, second):
    """Number of triples of leaves that two trees resolve differently; see the top of this file.

    `first` is (parent, size, leaf_order, start, offsets, index); `second` (parent, size, start, offsets,
    index, joined, table).
    """
    parent1, size1, order1, start1, offsets1, index1 = first
    parent2, size2, start2, offsets2, index2, joined2, table2 = second
    n_leaves = order1.shape[0]
    heavy1 = find_heavy_children(parent1, n_leaves, size1)
    paths, n_cells = cut_into_paths(parent2, find_heavy_children(parent2, n_leaves, size2))
    sums = PathSums(
        np.full((n_cells, 5), -1, dtype=np.int64), np.full((paths.top.shape[0], 2), -1, dtype=np.int64)
    )
    counts = np.zeros(n_leaves + 1, dtype=np.int64)
    shape, shared = 0, 0
    for top in range(n_leaves, parent1.shape[0]):
        above = parent1[top]
        if above >= 0 and heavy1[above] == top:
            continue
        # one heavy path of the first tree, from its leaf up
        node = top
        while heavy1[node] >= 0:
            node = heavy1[node]
        insert_leaf(parent2, paths, sums, node, top)
        add_at(counts, start2[node], 1)
        while node != top:
            child, node = node, parent1[node]
            children = index1[offsets1[node - n_leaves] : offsets1[node - n_leaves + 1]]
            # first ask for the leaves of all light children, then insert them
            for light in children:
                if light != child:
                    for leaf in order1[start1[light] : start1[light] + size1[light]]:
                        here_shape, here_shared = query_leaf(parent2, paths, sums, leaf, top)
                        shape += here_shape
                        shared += here_shared
            for light in children:
                if light != child:
                    for leaf in order1[start1[light] : start1[light] + size1[light]]:
                        insert_leaf(parent2, paths, sums, leaf, top)
                        add_at(counts, start2[leaf], 1)
            for light in children:
                if light != child and size1[light] > 1:
                    below = order1[start1[light] : start1[light] + size1[light]]
                    here_shape, here_shared = sum_light_child(
                        np.sort(start2[below]),
                        counts,
                        n_leaves,
                        start2,
                        size2,
                        offsets2,
                        index2,
                        joined2,
                        table2,
                    )
                    shape += here_shape
                    shared += here_shared
        for k in range(start1[top], start1[top] + size1[top]):
            add_at(counts, start2[order1[k]], -1)
    return count_stars(parent1, size1) - count_stars(parent2, size2) + 2 * shape - shared
