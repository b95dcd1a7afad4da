"""Subtrees of a large binary tree that are at their best place, which a bound shows without reading an edge.

What a subtree s adds to Dasgupta's cost is at most what all nodes above it cost. Wherever it is put, the i-th nearest
of its neighbors is met in a node that holds s and i leaves at least. So no place costs less than
``n_s W + sum_i i w_i``, where W is the weight that leaves s and the w_i are what single leaves outside can have of it:
their degrees, the largest first. In a star both are equal for every subtree that holds the center. To try these nested
subtrees one by one would read the edges of the center as often as it has neighbors.
"""

from __future__ import annotations

from arbora._base.jit import inlined, kernel
from arbora.search._place_kernels import RELATIVE_GAIN


@inlined
def least_cost(leaving, size, n_inside, degrees_before, ranked_before, smallest):
    """What a subtree of this size adds at least, anywhere, if the `n_inside` largest degrees are its own leaves'.

    `degrees_before[k]` is the sum of the k largest degrees, `ranked_before[k]` that of each times its rank (from 1).
    """
    given = degrees_before[n_inside]
    low, high = n_inside, degrees_before.shape[0] - 1
    while low < high:
        middle = (low + high + 1) >> 1
        if degrees_before[middle] - given <= leaving:
            low = middle
        else:
            high = middle - 1
    taken = degrees_before[low] - given
    in_turn = ranked_before[low] - ranked_before[n_inside] - n_inside * taken
    return size * leaving + smallest * (in_turn + (low - n_inside + 1) * max(leaving - taken, 0.0))


@kernel(nogil=True, allocates=False)
def find_settled(nodes, root, leaving, rank, degrees_before, ranked_before, smallest, order, paid, settled):
    """Set `settled` where no place is better than the present one.

    `leaving` and `rank` hold the degree and its rank, from 0, of every leaf, and are filled in for the other nodes:
    weight of edges that leave the node, and the first rank below it. `smallest` is the least size of a leaf; `order`
    and `paid` are scratch.
    """
    order[0] = root
    k, n_listed = 0, 1
    while k < n_listed:
        here = nodes[order[k]]
        if here.left >= 0:
            order[n_listed], order[n_listed + 1] = here.left, here.right
            n_listed += 2
        k += 1
    for k in range(n_listed - 1, -1, -1):
        here = nodes[order[k]]
        if here.left >= 0:
            leaving[order[k]] = max(leaving[here.left] + leaving[here.right] - 2.0 * here.cross, 0.0)
            rank[order[k]] = min(rank[here.left], rank[here.right])
    paid[root] = 0.0
    whole = nodes[root].size
    # from here on, the first rank that is not below a node
    rank[root] = degrees_before.shape[0] - 1
    for k in range(n_listed):
        node = order[k]
        here = nodes[node]
        if here.left < 0:
            continue
        left, right = here.left, here.right
        paid[left] = paid[right] = paid[node] + here.size * here.cross
        rank[left], rank[right] = min(rank[node], rank[right]), min(rank[node], rank[left])
        for child in (left, right):
            # most subtrees fail this, and need no search
            most = (1.0 - RELATIVE_GAIN) * paid[child]
            settled[child] = most <= whole * leaving[child] and most <= least_cost(
                leaving[child], nodes[child].size, rank[child], degrees_before, ranked_before, smallest
            )
