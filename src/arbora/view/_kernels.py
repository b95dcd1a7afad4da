"""Loops of the layouts and of the explorer: plain arrays in, plain arrays out."""

from __future__ import annotations

import numpy as np

from arbora._base.jit import kernel


@kernel()
def center_over_children(n_leaves, start, offsets, index):
    """Position of each node across the tree: leaves at 0.5, 1.5, ...; parents midway between children."""
    center = np.empty(n_leaves + offsets.shape[0] - 1, dtype=np.float64)
    for leaf in range(n_leaves):
        center[leaf] = start[leaf] + 0.5
    for slot in range(offsets.shape[0] - 1):
        center[n_leaves + slot] = 0.5 * (center[index[offsets[slot]]] + center[index[offsets[slot + 1] - 1]])
    return center


@kernel()
def limit_by_parent(parent, value):
    """Smallest value on the path from the root to each node: heights without children above their parents."""
    limited = value.copy()
    for node in range(parent.shape[0] - 2, -1, -1):
        limited[node] = min(limited[node], limited[parent[node]])
    return limited


@kernel()
def deepest_below(parent, depth):
    """Depth of the deepest node below each node (its own depth for a leaf)."""
    deepest = depth.copy()
    for node in range(parent.shape[0] - 1):
        deepest[parent[node]] = max(deepest[parent[node]], deepest[node])
    return deepest


@kernel()
def tile_rectangles(n_leaves, size, offsets, index):
    """Treemap: rectangle (x0, y0, x1, y1) of each node in the unit square, area proportional to its leaves.

    The children of a node, in order, are halved by size again and again, always across the longer side.
    """
    n_nodes = n_leaves + offsets.shape[0] - 1
    rect = np.zeros((n_nodes, 4), dtype=np.float64)
    rect[n_nodes - 1, 2:] = 1.0
    most = 1
    for slot in range(offsets.shape[0] - 1):
        most = max(most, offsets[slot + 1] - offsets[slot])
    spans = np.empty((most + 1, 2), dtype=np.int64)
    areas = np.empty((most + 1, 4), dtype=np.float64)
    for slot in range(offsets.shape[0] - 2, -1, -1):
        spans[0, 0], spans[0, 1] = offsets[slot], offsets[slot + 1]
        areas[0] = rect[n_leaves + slot]
        depth = 1
        while depth > 0:
            depth -= 1
            low, high = spans[depth]
            x0, y0, x1, y1 = areas[depth]
            if high - low == 1:
                rect[index[low], 0], rect[index[low], 1], rect[index[low], 2], rect[index[low], 3] = (
                    x0,
                    y0,
                    x1,
                    y1,
                )
                continue
            total = 0
            for k in range(low, high):
                total += size[index[k]]
            middle, left = low + 1, size[index[low]]
            while middle < high - 1 and 2 * left + size[index[middle]] <= total:
                left += size[index[middle]]
                middle += 1
            share = left / total
            spans[depth, 0], spans[depth, 1] = low, middle
            spans[depth + 1, 0], spans[depth + 1, 1] = middle, high
            if x1 - x0 >= y1 - y0:
                x = x0 + share * (x1 - x0)
                areas[depth] = np.array([x0, y0, x, y1])
                areas[depth + 1] = np.array([x, y0, x1, y1])
            else:
                y = y0 + share * (y1 - y0)
                areas[depth] = np.array([x0, y0, x1, y])
                areas[depth + 1] = np.array([x0, y, x1, y1])
            depth += 2
    return rect


@kernel()
def unfold(root, smallest, limit, n_leaves, size, offsets, index):
    """Nodes below `root`, breadth first: those with `smallest` leaves are opened until `limit` are listed.

    Returns the nodes and how many children of each are listed: 0 for a leaf, -1 for a node left closed.
    Children of one node are neighbors, in order; the children of listed nodes follow in the nodes' order.
    `root` is always opened; a node is opened wholly or not at all.
    """
    nodes = np.empty(16, dtype=np.int64)
    opened = np.empty(16, dtype=np.int64)
    nodes[0] = root
    length, head = 1, 0
    while head < length:
        node = nodes[head]
        if node < n_leaves:
            opened[head] = 0
        elif node != root and (size[node] < smallest or length >= limit):
            opened[head] = -1
        else:
            low, high = offsets[node - n_leaves], offsets[node - n_leaves + 1]
            while length + high - low > nodes.shape[0]:
                nodes = np.concatenate((nodes, np.empty_like(nodes)))
                opened = np.concatenate((opened, np.empty_like(opened)))
            for k in range(low, high):
                nodes[length] = index[k]
                length += 1
            opened[head] = high - low
        head += 1
    return nodes[:length].copy(), opened[:length].copy()


@kernel()
def count_inversions(position):
    """Number of pairs i < j with position[i] > position[j], by merge sort: the crossings of a tanglegram."""
    values = position.copy()
    spare = np.empty_like(values)
    total = 0
    width = 1
    while width < values.shape[0]:
        for low in range(0, values.shape[0], 2 * width):
            middle = min(low + width, values.shape[0])
            high = min(low + 2 * width, values.shape[0])
            left, right = low, middle
            for k in range(low, high):
                if left < middle and (right >= high or values[left] <= values[right]):
                    spare[k] = values[left]
                    left += 1
                else:
                    spare[k] = values[right]
                    right += 1
                    total += middle - left
        values, spare = spare, values
        width *= 2
    return total


@kernel()
def best_exemplars(n_leaves, features, size, parent, offsets, index, k):
    """For each node the (up to) k leaves nearest the mean of its leaves, -1 where it has fewer.

    A node considers only the exemplars of its children, so the whole takes O(nodes * branching * k * d).
    """
    n_nodes = n_leaves + offsets.shape[0] - 1
    mean = np.zeros((n_nodes, features.shape[1]), dtype=np.float64)
    for leaf in range(n_leaves):
        for f in range(features.shape[1]):
            mean[leaf, f] = features[leaf, f]
    for node in range(n_nodes - 1):
        if node >= n_leaves:
            mean[node] /= size[node]
        mean[parent[node]] += mean[node] * size[node]
    if n_nodes > n_leaves:
        mean[n_nodes - 1] /= size[n_nodes - 1]
    chosen = np.full((n_nodes, k), -1, dtype=np.int64)
    for leaf in range(n_leaves):
        chosen[leaf, 0] = leaf
    distance = np.empty(k, dtype=np.float64)
    for slot in range(offsets.shape[0] - 1):
        node = n_leaves + slot
        filled = 0
        for c in range(offsets[slot], offsets[slot + 1]):
            for j in range(k):
                leaf = chosen[index[c], j]
                if leaf < 0:
                    break
                d = 0.0
                for f in range(features.shape[1]):
                    d += (features[leaf, f] - mean[node, f]) ** 2
                if filled == k and d >= distance[k - 1]:
                    continue
                at = min(filled, k - 1)
                while at > 0 and distance[at - 1] > d:
                    distance[at], chosen[node, at] = distance[at - 1], chosen[node, at - 1]
                    at -= 1
                distance[at], chosen[node, at] = d, leaf
                filled = min(filled + 1, k)
    return chosen


@kernel()
def majority_below(codes, n_classes, start, size):
    """Most frequent class below each node, and its count; codes are in leaf order, negative = missing.

    One pass of running counts per class: O(n_classes * nodes) time, O(nodes) memory.
    """
    winner = np.full(start.shape[0], -1, dtype=np.int64)
    count = np.zeros(start.shape[0], dtype=np.int64)
    running = np.zeros(codes.shape[0] + 1, dtype=np.int64)
    for label in range(n_classes):
        for k in range(codes.shape[0]):
            running[k + 1] = running[k] + (codes[k] == label)
        for node in range(start.shape[0]):
            here = running[start[node] + size[node]] - running[start[node]]
            if here > count[node]:
                count[node] = here
                winner[node] = label
    return winner, count
