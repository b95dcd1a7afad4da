"""Loops that cut, split and contract trees."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from arbora._base.jit import inner, kernel, pass_kernel
from arbora._base.threads import in_background

# What a contraction is charged by: see `contract_greedily`.
DASGUPTA, SAMPLING_DIVERGENCE = 0, 1
ChildLinks = namedtuple("ChildLinks", "first last following count")
# Parents with more internal children reprice them when they come up, not at once.
MAX_EXACT_SIBLINGS = 64


@kernel()
def name_clusters(parent, n_leaves, is_split):
    """Labels of the leaves, and the cluster node of each label, when the nodes `is_split` are taken apart.

    `is_split` must be closed upwards: a node is split only if its parent is.
    """
    n_nodes = parent.shape[0]
    # the highest unsplit node above or at each node
    cluster = np.empty(n_nodes, dtype=np.int64)
    for node in range(n_nodes - 1, -1, -1):
        above = parent[node]
        cluster[node] = node if above < 0 or is_split[above] else cluster[above]
    label_of_node = np.full(n_nodes, -1, dtype=np.int64)
    labels = np.empty(n_leaves, dtype=np.int64)
    nodes = np.empty(n_leaves, dtype=np.int64)
    n_clusters = 0
    for leaf in range(n_leaves):
        node = cluster[leaf]
        if label_of_node[node] < 0:
            label_of_node[node] = n_clusters
            nodes[n_clusters] = node
            n_clusters += 1
        labels[leaf] = label_of_node[node]
    return labels, nodes[:n_clusters].copy()


@kernel()
def split_above_size(parent, n_leaves, size, min_size):
    """Nodes to split so that every cluster keeps `min_size` leaves and no further split is possible."""
    n_nodes = parent.shape[0]
    # smallest child
    smallest = np.full(n_nodes, n_leaves + 1, dtype=np.int64)
    for node in range(n_nodes - 1):
        smallest[parent[node]] = min(smallest[parent[node]], size[node])
    is_split = np.zeros(n_nodes, dtype=np.bool_)
    for node in range(n_nodes - 1, n_leaves - 1, -1):
        above = parent[node]
        is_split[node] = smallest[node] >= min_size and (above < 0 or is_split[above])
    return is_split


@kernel()
def pair_children(n_leaves, offsets, index):
    """Binary tree in which each node's children are joined in pairs, round by round.

    Returns the new parents, the old node each new node came from, and whether it was added.
    """
    n_new = max(2 * n_leaves - 1, 1)
    parent = np.full(n_new, -1, dtype=np.int64)
    source = np.arange(n_new)
    added = np.zeros(n_new, dtype=np.bool_)
    # new number of each old node
    number = np.arange(n_leaves + offsets.shape[0] - 1)
    queue = np.empty(n_leaves, dtype=np.int64)
    made = n_leaves
    for slot in range(offsets.shape[0] - 1):
        waiting = offsets[slot + 1] - offsets[slot]
        for k in range(waiting):
            queue[k] = number[index[offsets[slot] + k]]
        while waiting > 1:
            kept = 0
            for k in range(0, waiting - 1, 2):
                parent[queue[k]] = made
                parent[queue[k + 1]] = made
                source[made] = n_leaves + slot
                added[made] = waiting > 2
                queue[kept] = made
                kept += 1
                made += 1
            if waiting % 2 == 1:
                queue[kept] = queue[waiting - 1]
                kept += 1
            waiting = kept
        number[n_leaves + slot] = queue[0]
    return parent, source, added


@kernel()
def upward_order(parent, n_leaves):
    """Internal nodes, every child before its parent, for parents in any order: int64[n_internal].

    Deepest first. Empty where the parents form a cycle.
    """
    n_nodes = parent.shape[0]
    depth = np.full(n_nodes, -1, dtype=np.int64)
    path = np.empty(n_nodes, dtype=np.int64)
    for node in range(n_leaves, n_nodes):
        length, at = 0, node
        while at >= 0 and depth[at] < 0:
            if length == n_nodes:
                return np.empty(0, dtype=np.int64)
            path[length] = at
            length += 1
            at = parent[at]
        below = depth[at] if at >= 0 else -1
        for k in range(length - 1, -1, -1):
            below += 1
            depth[path[k]] = below
    return n_leaves + np.argsort(-depth[n_leaves:], kind="mergesort")


@pass_kernel()
def contract_unary(parent, order, n_leaves, support):
    """Drop internal nodes without leaves, replace those with one child by it.

    Returns `above`, the parent of every node that stays, and `stands_for`, the node that stands for each
    (-1: none). `support` is multiplied along what is contracted, in place.
    """
    n_nodes = parent.shape[0]
    above = np.full(n_nodes, -2, dtype=np.int64)
    stands_for = np.full(n_nodes, -1, dtype=np.int64)
    n_children = np.zeros(n_nodes, dtype=np.int64)
    child = np.full(n_nodes, -1, dtype=np.int64)
    for leaf in range(n_leaves):
        stands_for[leaf] = leaf
        above[leaf] = parent[leaf]
        n_children[parent[leaf]] += 1
        child[parent[leaf]] = leaf
    for node in order:
        if n_children[node] == 0:
            continue
        if n_children[node] == 1:
            stands_for[node] = child[node]
            if parent[node] >= 0:
                support[child[node]] *= support[node]
        else:
            stands_for[node] = node
        above[stands_for[node]] = parent[node]
        if parent[node] >= 0:
            n_children[parent[node]] += 1
            child[parent[node]] = stands_for[node]
    return above, stands_for


@inner
def current_parent(above, node):
    """The node that now stands for `node` after contractions, with path halving."""
    while above[node] != node:
        above[node] = above[above[node]]
        node = above[node]
    return node


@inner
def divergence_term(p, q):
    """The term ``p log(p / q)``; 0 where p is 0, and where q is (leaves without a degree)."""
    return p * np.log(p / q) if p > 0.0 and q > 0.0 else 0.0


@inner
def contraction_loss(objective, weight, level, node, above):
    """What contracting `node` into `above` costs now.

    DASGUPTA: the pairs that meet at `node` (`weight`) now meet at `above`: weight times the rise in `level`.
    SAMPLING_DIVERGENCE: `weight` is p, `level` is q of each node, and both add up in the merged node.
    """
    if objective == DASGUPTA:
        return weight[node] * (level[above] - level[node])
    apart = divergence_term(weight[node], level[node]) + divergence_term(weight[above], level[above])
    return apart - divergence_term(weight[node] + weight[above], level[node] + level[above])


@kernel()
def contraction_losses(parent, n_leaves, weight, level, objective):
    """What contracting each internal node but the root into its parent costs."""
    losses = np.empty(parent.shape[0] - n_leaves - 1)
    for node in range(n_leaves, parent.shape[0] - 1):
        losses[node - n_leaves] = contraction_loss(objective, weight, level, node, parent[node])
    return losses


@inner
def sift_up(keys, items, k):
    """Restore a binary min-heap after its entry k became smaller."""
    key, item = keys[k], items[k]
    while k > 0:
        up = (k - 1) // 2
        if keys[up] <= key:
            break
        keys[k], items[k] = keys[up], items[up]
        k = up
    keys[k], items[k] = key, item


@inner
def sift_down(keys, items, k, length):
    """Restore a binary min-heap after its entry k became larger."""
    key, item = keys[k], items[k]
    while 2 * k + 1 < length:
        down = 2 * k + 1
        if down + 1 < length and keys[down + 1] < keys[down]:
            down += 1
        if keys[down] >= key:
            break
        keys[k], items[k] = keys[down], items[down]
        k = down
    keys[k], items[k] = key, item


@inner
def push(keys, items, length, key, item):
    """Add to a heap that grows when full; returns (keys, items, new length)."""
    if length == keys.shape[0]:
        wider_keys, wider_items = np.empty(2 * length, np.float64), np.empty(2 * length, np.int64)
        # a slice assignment would take seconds to compile, for its error message
        for k in range(length):
            wider_keys[k], wider_items[k] = keys[k], items[k]
        keys, items = wider_keys, wider_items
    keys[length], items[length] = key, item
    sift_up(keys, items, length)
    return keys, items, length + 1


@inner
def pop(keys, items, length):
    """Remove the smallest entry of a heap: (key, item, new length)."""
    key, item = keys[0], items[0]
    length -= 1
    keys[0], items[0] = keys[length], items[length]
    # a plain 0 would compile it a second time
    sift_down(keys, items, np.int64(0), length)
    return key, item, length


@kernel()
def link_internal_children(parent, n_leaves, links):
    """Enter the internal children of each node into linked lists, which can be joined in O(1)."""
    for node in range(n_leaves, parent.shape[0] - 1):
        above = parent[node]
        links.following[node] = links.first[above]
        links.first[above] = node
        if links.last[above] < 0:
            links.last[above] = node
        links.count[above] += 1


@inner
def hand_over_children(links, node, above):
    """The children of `node`, which is being contracted, join those of `above`."""
    if links.first[node] >= 0:
        links.following[links.last[node]] = links.first[above]
        links.first[above] = links.first[node]
        if links.last[above] < 0:
            links.last[above] = links.last[node]
    links.count[above] += links.count[node] - 1


@inner
def reprice_children(links, keep, weight, level, objective, price, above, keys, items, length):
    """Enter children of `above` again whose loss has fallen, and unlink contracted ones: the heap."""
    before, child = -1, links.first[above]
    while child >= 0:
        following = links.following[child]
        if not keep[child]:
            if before < 0:
                links.first[above] = following
            else:
                links.following[before] = following
            if following < 0:
                links.last[above] = before
        else:
            before = child
            now = contraction_loss(objective, weight, level, child, above)
            if now < price[child]:
                price[child] = now
                keys, items, length = push(keys, items, length, now, child)
        child = following
    return keys, items, length


def contract_greedily(parent, n_leaves, weight, level, objective, n_internal):
    """Contract the node of least loss into its parent until `n_internal` remain: kept nodes, bool[n_nodes].

    `weight` and `level` (per node, see `contraction_loss`) are changed in place. A contraction changes the
    losses of the node contracted into, of its other children and of those it takes over. For DASGUPTA losses
    only grow, so it is exact to reprice a node when it comes up. For SAMPLING_DIVERGENCE they can also fall:
    the children are repriced at once, unless there are more than MAX_EXACT_SIBLINGS.
    """
    n_nodes = len(parent)
    keep = np.ones(n_nodes, dtype=np.bool_)
    price = np.full(n_nodes, np.inf)
    links = ChildLinks(*np.full((3, n_nodes), -1), np.zeros(n_nodes, dtype=np.int64))
    link_internal_children(parent, n_leaves, links)
    # union-find: a contracted node stands for its parent
    stands_for = np.arange(n_nodes)
    # the heap of all internal nodes but the root, and some room
    items = np.arange(n_leaves, n_nodes + 15)
    arrays = (weight, level, links, stands_for, keep, price, np.empty(len(items)), items)
    in_background(lambda: contract_until(parent, n_leaves, objective, n_internal, *arrays))
    return keep


@kernel(nogil=True)
def contract_until(
    parent, n_leaves, objective, n_internal, weight, level, links, stands_for, keep, price, keys, items
):
    """The loop of `contract_greedily`."""
    n_nodes = parent.shape[0]
    length = n_nodes - 1 - n_leaves
    for k in range(length):
        node = items[k]
        price[node] = contraction_loss(objective, weight, level, node, parent[node])
        keys[k] = price[node]
    for k in range(length // 2 - 1, -1, -1):
        sift_down(keys, items, k, length)
    remaining = n_nodes - n_leaves
    while remaining > n_internal and length > 0:
        key, node, length = pop(keys, items, length)
        if not keep[node] or key != price[node]:
            # contracted already, or an entry from before a repricing
            continue
        above = current_parent(stands_for, parent[node])
        now = contraction_loss(objective, weight, level, node, above)
        if now > key:
            price[node] = now
            keys, items, length = push(keys, items, length, now, node)
            continue
        keep[node] = False
        stands_for[node] = above
        remaining -= 1
        weight[above] += weight[node]
        if objective == DASGUPTA:
            continue
        level[above] += level[node]
        hand_over_children(links, node, above)
        if parent[above] >= 0:
            now = contraction_loss(objective, weight, level, above, current_parent(stands_for, parent[above]))
            if now < price[above]:
                price[above] = now
                keys, items, length = push(keys, items, length, now, above)
        if links.count[above] <= MAX_EXACT_SIBLINGS:
            keys, items, length = reprice_children(
                links, keep, weight, level, objective, price, above, keys, items, length
            )
