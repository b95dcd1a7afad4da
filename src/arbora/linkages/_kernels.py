"""Agglomeration of a sparse graph: nearest-neighbor chains over heaps, spanning forests, the rest joined."""

from __future__ import annotations

import numpy as np

from arbora._base.jit import inlined, is_ready, kernel, pass_kernel
from arbora.linkages._heaps import (
    HALF,
    NOTHING,
    ShrinkingGraph,
    file_all_edges,
    file_edge,
    find_edge,
    meld,
    meld_siblings,
    pop,
    raise_key,
)
from arbora.linkages.small import merge_small

AVERAGE, COMPLETE = 0, 1
# points whose chains are followed without compiled code where there is none yet
SMALL = 2000


@inlined
def true_key(graph, mass, size, pairs, method, half):
    """Similarity along a half-edge up to a factor of its own cluster; negative where it has become 0.

    Average: w(S, T) / (mass(S) mass(T)), without the factor 1 / mass(S) that all half-edges of S share; so
    the growth of S never disorders its own heap. Complete: the least weight, if every pair has an edge.
    """
    edge = half >> 1
    far = graph.half[half ^ 1].end
    if method == AVERAGE:
        return graph.weight[edge] / mass[far]
    full = size[graph.half[half].end] * size[far]
    return graph.weight[edge] if pairs[edge] == full else -1.0


def start_graph(end, weight, n_points, mass, method):
    """The graph before any merge, every heap built."""
    n_slots = 16
    while n_slots < len(end):
        n_slots *= 2
    graph = ShrinkingGraph(
        np.empty(len(end), dtype=HALF),
        weight,
        np.full(n_points, NOTHING, dtype=np.int32),
        np.arange(n_points, dtype=np.int32),
        np.empty(n_slots, dtype=np.int32),
        np.zeros(1, dtype=np.int64),
    )
    build_heaps(graph, end, mass, method)
    return graph


@kernel(allocates=False)
def build_heaps(graph, end, mass, method):
    """Fill the half-edges, and make a heap of each cluster's."""
    for at in range(end.shape[0]):
        half, far = graph.half[at], end[at ^ 1]
        half.key = graph.weight[at >> 1]
        if method == AVERAGE:
            half.key /= mass[far]
        half.end, half.rank = end[at], far
        half.child, half.before, half.sibling = NOTHING, NOTHING, graph.top[end[at]]
        graph.top[end[at]] = at
    for cluster in range(graph.top.shape[0]):
        graph.top[cluster] = meld_siblings(graph, np.int64(graph.top[cluster]))
    file_all_edges(graph)


@inlined
def drop_edge(graph, edge):
    """Mark an edge as gone; its half-edges leave their heaps when they come to the top."""
    graph.half[2 * edge].end = NOTHING
    graph.half[2 * edge + 1].end = NOTHING


@inlined
def settle_top(graph, mass, size, pairs, method, cluster, degree):
    """Bring the truly best half-edge of a cluster to the top of its heap and return it, or NOTHING.

    Stored keys are never below the true ones (all linkages here are reducible: a merged cluster is no closer
    than the closer of its parts), stored ranks never above: a top whose key and rank are true is the best.
    """
    while graph.top[cluster] != NOTHING:
        half = np.int64(graph.top[cluster])
        key, rank = -1.0, np.int32(0)
        if graph.half[half].end != NOTHING:
            key = true_key(graph, mass, size, pairs, method, half)
            rank = graph.label[graph.half[half ^ 1].end]
            if key == graph.half[half].key and rank == graph.half[half].rank:
                return half
        # one call: each one is compiled into this loop separately
        pop(graph, cluster)
        if key < 0:
            drop_edge(graph, half >> 1)
            degree[cluster] -= 1
        else:
            graph.half[half].key = key
            graph.half[half].rank = rank
            graph.top[cluster] = meld(graph, np.int64(graph.top[cluster]), half)
    return NOTHING


@inlined
def join_edges(graph, mass, size, pairs, method, lost, kept, into):
    """Add edge `lost` to edge `kept`, which leads from cluster `into` to the same far cluster."""
    weight = graph.weight
    near = 2 * kept if graph.half[2 * kept].end == into else 2 * kept + 1
    if method == AVERAGE:
        weight[kept] += weight[lost]
    else:
        weight[kept] = weight[lost] if weight[lost] < weight[kept] else weight[kept]
        pairs[kept] += pairs[lost]
    drop_edge(graph, lost)
    for half in (near, near ^ 1):
        key = true_key(graph, mass, size, pairs, method, half)
        if key > graph.half[half].key:
            raise_key(graph, half, key)


@inlined
def move_edges(graph, mass, size, pairs, method, gone, into):
    """Hand the half-edges of cluster `gone` to `into`. Masses and sizes must be those after the merge."""
    todo = np.int64(graph.top[gone])
    graph.top[gone] = NOTHING
    while todo != NOTHING:
        half = todo
        todo = np.int64(graph.half[half].sibling)
        first = np.int64(graph.half[half].child)
        if first != NOTHING:
            # put the children in front of what is left to do
            last = first
            while graph.half[last].sibling != NOTHING:
                last = np.int64(graph.half[last].sibling)
            graph.half[last].sibling = todo
            todo = first
        graph.half[half].child = NOTHING
        graph.half[half].sibling = NOTHING
        graph.half[half].before = NOTHING
        if graph.half[half].end == NOTHING:
            continue
        edge, far = half >> 1, np.int64(graph.half[half ^ 1].end)
        if far == into:
            drop_edge(graph, edge)
            continue
        twin = find_edge(graph, into, far)
        if twin != NOTHING:
            join_edges(graph, mass, size, pairs, method, edge, twin, into)
        elif method == COMPLETE:
            # some pair has no edge: similarity 0, for good
            drop_edge(graph, edge)
        else:
            graph.half[half].end = into
            graph.half[half].key = true_key(graph, mass, size, pairs, method, half)
            graph.half[half].rank = graph.label[far]
            graph.top[into] = meld(graph, np.int64(graph.top[into]), half)
            file_edge(graph, edge)


def agglomerate(end, weight, mass, method):
    """Merges along nearest-neighbor chains.

    Consumes `weight` and `mass`. Returns (left, right, similarity): merge t joins nodes left[t] and right[t] into
    node n_points + t; parts without an edge between them stay apart. Chains start from the oldest cluster, and
    among equally near ones the oldest is taken, as scikit-network does.
    """
    n_points = len(mass)
    if n_points <= SMALL and method == AVERAGE and not is_ready(follow_chains):
        return merge_small(end, weight, mass)
    graph = start_graph(end, weight, n_points, mass, method)
    degree = np.bincount(end, minlength=n_points)
    size = np.ones(n_points, dtype=np.int64)
    pairs = np.ones(len(weight) if method == COMPLETE else 0, dtype=np.int64)
    chain = np.empty(n_points, dtype=np.int64)
    # the cluster that is, or was, each node
    holder = np.arange(2 * n_points - 1)
    merges = np.empty((2, n_points - 1), dtype=np.int64), np.empty(n_points - 1)
    on_chain = np.zeros(n_points, dtype=np.bool_)
    n_merges = follow_chains(graph, mass, size, pairs, degree, chain, on_chain, holder, *merges, method)
    parts, similarity = merges
    return parts[0, :n_merges], parts[1, :n_merges], similarity[:n_merges]


@kernel(allocates=False)
def follow_chains(graph, mass, size, pairs, degree, chain, on_chain, holder, parts, similarity, method):
    """Write the merges to `parts` and `similarity`; returns how many.

    The half-edges of the cluster with fewer of them move, so each moves O(log n) times.
    """
    n_points = mass.shape[0]
    n_chain, n_merges, start = 0, 0, 0
    while True:
        if n_chain == 0:
            while start < n_points + n_merges and (
                graph.label[holder[start]] != start or graph.top[holder[start]] == NOTHING
            ):
                start += 1
            if start == n_points + n_merges:
                return n_merges
            chain[0] = holder[start]
            n_chain = 1
            on_chain[chain[0]] = True
        tip = chain[n_chain - 1]
        half = settle_top(graph, mass, size, pairs, method, tip, degree)
        if half == NOTHING:
            # only at the start of a chain, or when rounding closed off its last edge
            on_chain[tip] = False
            n_chain -= 1
            continue
        nearest = np.int64(graph.half[half ^ 1].end)
        last = chain[n_chain - 2] if n_chain > 1 else NOTHING
        if nearest != last and not on_chain[nearest]:
            chain[n_chain] = nearest
            on_chain[nearest] = True
            n_chain += 1
            continue
        # `nearest` further back on the chain means a tie, up to rounding, all along: merge with the last one
        closeness = graph.weight[find_edge(graph, tip, last)]
        if method == AVERAGE:
            # one after the other: the product of two small masses may be 0
            closeness = closeness / mass[tip] / mass[last]
        one, other = graph.label[tip], graph.label[last]
        parts[0, n_merges], parts[1, n_merges] = (one, other) if one < other else (other, one)
        similarity[n_merges] = closeness
        into, gone = (tip, last) if degree[tip] >= degree[last] else (last, tip)
        mass[into] += mass[gone]
        size[into] += size[gone]
        graph.label[into] = n_points + n_merges
        holder[n_points + n_merges] = into
        move_edges(graph, mass, size, pairs, method, gone, into)
        degree[into] += degree[gone]
        on_chain[tip] = False
        on_chain[last] = False
        n_chain -= 2
        n_merges += 1


@pass_kernel()
def merge_along_edges(end, weight, order, n_points):
    """Single linkage: merges along the edges in the given order, skipping those inside a cluster."""
    above = np.arange(2 * n_points - 1)
    left = np.empty(n_points - 1, dtype=np.int64)
    right = np.empty(n_points - 1, dtype=np.int64)
    similarity = np.empty(n_points - 1, dtype=np.float64)
    n_merges = 0
    for edge in order:
        a, b = end[2 * edge], end[2 * edge + 1]
        while above[a] != a:
            above[a] = above[above[a]]
            a = above[a]
        while above[b] != b:
            above[b] = above[above[b]]
            b = above[b]
        if a == b:
            continue
        above[a] = above[b] = n_points + n_merges
        left[n_merges] = min(a, b)
        right[n_merges] = max(a, b)
        similarity[n_merges] = weight[edge]
        n_merges += 1
        if n_merges == n_points - 1:
            break
    return left[:n_merges], right[:n_merges], similarity[:n_merges]


@pass_kernel()
def cap_by_children(left, right, similarity, n_points):
    """A merge is no closer than the merges it stands on: takes out what rounding put in."""
    capped = similarity.copy()
    for t in range(left.shape[0]):
        for part in (left[t], right[t]):
            if part >= n_points and capped[part - n_points] < capped[t]:
                capped[t] = capped[part - n_points]
    return capped


def parents_of_merges(left, right, order, n_points):
    """Parent array when merges are renumbered in the given order; parts never merged are joined at the top.

    The two smallest parts are joined first, so that the top stays shallow.
    """
    n_made = n_points + len(left)
    parent = np.full(2 * n_points - 1, NOTHING)
    size = np.ones(2 * n_points - 1, dtype=np.int64)
    number = np.arange(n_made)
    number[n_points + order] = np.arange(n_points, n_made)
    merge_in_order(number[left[order]], number[right[order]], n_points, parent, size)
    roots = np.flatnonzero(parent[:n_made] == NOTHING)
    # sorted here: numba's own sort takes seconds to compile
    join_parts(parent, size, roots[np.argsort(size[roots], kind="stable")], n_made)
    return parent


@pass_kernel()
def merge_in_order(left, right, n_points, parent, size):
    """Set the parents and sizes that merge t makes of left[t] and right[t], which have their final numbers."""
    for t in range(left.shape[0]):
        node, a, b = n_points + t, left[t], right[t]
        parent[a] = node
        parent[b] = node
        size[node] = size[a] + size[b]


@pass_kernel()
def join_parts(parent, size, roots, made):
    """Join parts, given by ascending size, the two smallest first; nodes from `made` on are unused.

    Joined parts come out in ascending size: two queues replace a heap.
    """
    at_root, at_made = 0, made
    for node in range(made, parent.shape[0]):
        joined = 0
        for _ in range(2):
            take_made = at_root == roots.shape[0] or (at_made < node and size[at_made] < size[roots[at_root]])
            if take_made:
                part = at_made
                at_made += 1
            else:
                part = roots[at_root]
                at_root += 1
            parent[part] = node
            joined += size[part]
        size[node] = joined


@kernel()
def kmeans(rows, draws, n_steps):
    """Lloyd's k-means from a k-means++ start made with the random numbers `draws`: (labels, sum of squares).

    Parts may be empty where rows have fewer different values than `draws` numbers.
    """
    n_rows, n_features = rows.shape
    n_parts = draws.shape[0]
    centers = np.empty((n_parts, n_features), dtype=rows.dtype)
    label = np.zeros(n_rows, dtype=np.int64)
    # squared distance to the nearest center
    gap = np.full(n_rows, np.inf)
    chosen = int(draws[0] * n_rows)
    for k in range(n_parts):
        if k > 0:
            target = draws[k] * gap.sum()
            chosen = 0
            while chosen < n_rows - 1 and (target > gap[chosen] or gap[chosen] == 0.0):
                target -= gap[chosen]
                chosen += 1
        for f in range(rows.shape[1]):
            centers[k, f] = rows[chosen, f]
        for r in range(n_rows):
            gap[r] = min(gap[r], squared_gap(rows[r], centers[k]))
    total = np.inf
    for _ in range(n_steps):
        moved = False
        total = 0.0
        for r in range(n_rows):
            best, nearest = np.inf, 0
            for k in range(n_parts):
                value = squared_gap(rows[r], centers[k])
                if value < best:
                    best, nearest = value, k
            moved |= nearest != label[r]
            label[r] = nearest
            total += best
        if not moved and _ > 0:
            break
        size = np.zeros(n_parts, dtype=np.int64)
        for r in range(n_rows):
            if size[label[r]] == 0:
                centers[label[r]] = 0.0
            size[label[r]] += 1
            centers[label[r]] += rows[r]
        for k in range(n_parts):
            if size[k] > 0:
                centers[k] /= size[k]
    return label, total


@kernel()
def squared_gap(x, y):
    """Squared Euclidean distance of two rows."""
    total = 0.0
    for f in range(x.shape[0]):
        total += (x[f] - y[f]) ** 2
    return total
