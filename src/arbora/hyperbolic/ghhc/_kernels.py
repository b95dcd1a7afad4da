"""Numba kernels of gHHC: plain arrays in and out, one pass over a batch each."""

from __future__ import annotations

import math

import numpy as np

from arbora._base.jit import kernel


@kernel()
def nearest_candidates(scores, n_candidates):
    """Nodes that can carry mass in the LCA distributions of each triple: int64[B, n_candidates].

    `scores` is float[3, B, M], growing with the dissimilarity. The first half of a row are the nodes nearest
    to the farther of points i and j (Eq. 12), the second half the nearest of the others to the farthest of
    all three (Eq. 13). A bounded insertion list: nearly every node fails one comparison.
    """
    n_triples, n_nodes = scores.shape[1], scores.shape[2]
    chosen = np.empty((n_triples, n_candidates), dtype=np.int64)
    n_pair = n_candidates // 2
    pair_score = np.empty(n_nodes, dtype=scores.dtype)
    triple_score = np.empty(n_nodes, dtype=scores.dtype)
    kept = np.empty(n_candidates, dtype=scores.dtype)
    taken = np.zeros(n_nodes, dtype=np.bool_)
    for t in range(n_triples):
        for n in range(n_nodes):
            pair_score[n] = max(scores[0, t, n], scores[1, t, n])
            triple_score[n] = max(pair_score[n], scores[2, t, n])
        _keep_smallest(pair_score, taken, chosen[t, :n_pair], kept)
        for c in range(n_pair):
            taken[chosen[t, c]] = True
        _keep_smallest(triple_score, taken, chosen[t, n_pair:], kept)
        for c in range(n_pair):
            taken[chosen[t, c]] = False
    return chosen


@kernel()
def _keep_smallest(values, skip, chosen, kept):
    """Indices of the smallest values that are not skipped, ascending, into `chosen`."""
    size, capacity = 0, chosen.shape[0]
    for n in range(values.shape[0]):
        if skip[n] or (size == capacity and (capacity == 0 or values[n] >= kept[size - 1])):
            continue
        place = size if size < capacity else capacity - 1
        while place > 0 and kept[place - 1] > values[n]:
            kept[place] = kept[place - 1]
            chosen[place] = chosen[place - 1]
            place -= 1
        kept[place] = values[n]
        chosen[place] = n
        size = min(size + 1, capacity)


@kernel()
def take_candidates(scores, candidates):
    """Values of the candidate nodes: float[3, B, K]."""
    n_triples, n_candidates = candidates.shape
    out = np.empty((3, n_triples, n_candidates), dtype=scores.dtype)
    for p in range(3):
        for t in range(n_triples):
            for c in range(n_candidates):
                out[p, t, c] = scores[p, t, candidates[t, c]]
    return out


@kernel()
def scatter_gradient(candidates, towards, along, points, nodes, position, n_rows):
    """Euclidean gradient of the touched nodes: float[n_rows, d].

    A point x adds ``-towards * x`` to the gradient of a candidate z, its triple ``along * z``; `position` is the
    row of a node.
    """
    dimension = nodes.shape[1]
    n_triples, n_candidates = candidates.shape
    gradient = np.zeros((n_rows, dimension), dtype=nodes.dtype)
    scale = np.zeros(n_rows, dtype=nodes.dtype)
    source = np.empty(n_rows, dtype=np.int64)
    for t in range(n_triples):
        for c in range(n_candidates):
            node = candidates[t, c]
            row = position[node]
            source[row] = node
            scale[row] += along[t, c]
            for p in range(3):
                weight = towards[p, t, c]
                if weight != 0.0:
                    for k in range(dimension):
                        gradient[row, k] -= weight * points[p, t, k]
    for row in range(n_rows):
        for k in range(dimension):
            gradient[row, k] += scale[row] * nodes[source[row], k]
    return gradient


@kernel()
def nearest_smaller(scores, rank, child_rank):
    """For each child the node of lower rank with the smallest score, -1 if there is none: int64[C]."""
    n_children, n_nodes = scores.shape
    parent = np.full(n_children, -1, dtype=np.int64)
    for child in range(n_children):
        best = np.inf
        for node in range(n_nodes):
            if rank[node] < child_rank[child] and scores[child, node] < best:
                best = scores[child, node]
                parent[child] = node
    return parent


@kernel()
def ward_merges(means, size):
    """Ward's agglomeration of groups of given sizes, by nearest-neighbor chains.

    Returns pairs of representatives, int64[n - 1, 2], with heights (the growth of the sum of squares), in
    the order found. O(n² d) time and O(n d) memory: a distance comes from the two means.
    """
    n_groups, dimension = means.shape
    center = means.copy()
    weight = size.astype(np.float64)
    alive = np.arange(n_groups)
    n_alive = n_groups
    pairs = np.empty((n_groups - 1, 2), dtype=np.int64)
    heights = np.empty(n_groups - 1)
    chain = np.empty(n_groups, dtype=np.int64)
    length, found = 0, 0
    while found < n_groups - 1:
        if length == 0:
            chain[0] = alive[0]
            length = 1
        while True:
            tip = chain[length - 1]
            before = chain[length - 2] if length > 1 else -1
            best, nearest = before, np.inf
            if before >= 0:
                nearest = _ward_distance(center, weight, tip, before, dimension)
            for place in range(n_alive):
                other = alive[place]
                if other == tip:
                    continue
                distance = _ward_distance(center, weight, tip, other, dimension)
                if distance < nearest:
                    best, nearest = other, distance
            if best == before:
                break
            chain[length] = best
            length += 1
        length -= 2
        pairs[found, 0], pairs[found, 1], heights[found] = tip, before, nearest
        found += 1
        total = weight[tip] + weight[before]
        for k in range(dimension):
            center[tip, k] = (weight[tip] * center[tip, k] + weight[before] * center[before, k]) / total
        weight[tip] = total
        for place in range(n_alive):
            if alive[place] == before:
                n_alive -= 1
                alive[place] = alive[n_alive]
                break
    return pairs, heights


# the sum may run in vector registers
@kernel(fastmath={"reassoc", "contract"})
def _ward_distance(center, weight, a, b, dimension):
    square = 0.0
    for k in range(dimension):
        difference = center[a, k] - center[b, k]
        square += difference * difference
    return square * weight[a] * weight[b] / (weight[a] + weight[b])


@kernel()
def number_merges(pairs, n_groups):
    """Merges given by representatives, in order of height, renumbered as in SciPy: int64[n - 1, 2]."""
    label = np.arange(n_groups)
    link = np.arange(n_groups)
    merges = np.empty_like(pairs)
    for step in range(pairs.shape[0]):
        for side in range(2):
            root = pairs[step, side]
            while link[root] != root:
                link[root] = link[link[root]]
                root = link[root]
            merges[step, side] = root
        left, right = merges[step]
        link[right] = left
        merges[step, 0], merges[step, 1] = label[left], label[right]
        label[left] = n_groups + step
    return merges


@kernel(nogil=True, fastmath=True)
def unnormalized_mass(scores, point_gap):
    """Sum over the nodes of ``exp(-distance)`` for each point: float64[N].

    Since the distance is ``2 arsinh sqrt(q)``, its exponential is ``(sqrt(q) + sqrt(1 + q))^-2``: no
    logarithm, and the loop runs in vector registers, in the precision of the scores.
    """
    n_points, n_nodes = scores.shape
    total = np.zeros(n_points)
    zero, one = scores.dtype.type(0), scores.dtype.type(1)
    for i in range(n_points):
        share = one / point_gap[i]
        mass = zero
        for n in range(n_nodes):
            ratio = max(scores[i, n], zero) * share
            root = math.sqrt(ratio) + math.sqrt(one + ratio)
            mass += one / (root * root)
        total[i] = mass
    return total
