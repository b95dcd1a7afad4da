"""The places that a best-first search knows, and a heap of those it may still look below."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arbora._base.jit import inlined


class Stack(NamedTuple):
    """Places: a node, what is paid above it, at least in all, its weight to the moved subtree, and the place above.

    Places keep their entries, so that the way to the best one can be followed back to the root. `heap` holds those
    still open, the one with the smallest `least` first.
    """

    node: np.ndarray
    above: np.ndarray
    least: np.ndarray
    weight: np.ndarray
    came: np.ndarray  # entry of the place above, -1: none
    heap: np.ndarray
    counts: np.ndarray  # int64[2]: places, and those that are open


def make_stack(n_nodes: int) -> Stack:
    """Room for every node."""
    node, came, heap = (np.empty(n_nodes, dtype=np.int64) for _ in range(3))
    above, least, weight = (np.empty(n_nodes) for _ in range(3))
    return Stack(node, above, least, weight, came, heap, np.zeros(2, dtype=np.int64))


@inlined
def forget_places(stack):
    """Start anew."""
    stack.counts[0] = 0
    stack.counts[1] = 0


@inlined
def note_place(stack, node, came, above, least, weight):
    """Add a place; returns its entry."""
    entry = stack.counts[0]
    stack.node[entry], stack.came[entry], stack.above[entry] = node, came, above
    stack.least[entry], stack.weight[entry] = least, weight
    stack.counts[0] += 1
    return entry


@inlined
def open_place(stack, entry):
    """Put a place on the heap."""
    heap, least = stack.heap, stack.least[entry]
    at = stack.counts[1]
    stack.counts[1] += 1
    while at > 0 and stack.least[heap[(at - 1) >> 1]] > least:
        heap[at] = heap[(at - 1) >> 1]
        at = (at - 1) >> 1
    heap[at] = entry


@inlined
def next_place(stack, ahead):
    """The open place that may cost least, no longer on the heap: it may be `ahead`, which is not yet there; or -1."""
    heap, n_open = stack.heap, stack.counts[1]
    if n_open == 0 or (ahead >= 0 and stack.least[ahead] <= stack.least[heap[0]]):
        return ahead
    best, moved = heap[0], ahead
    if ahead < 0:
        n_open -= 1
        stack.counts[1], moved = n_open, heap[n_open]
    at, child = 0, 1
    while child < n_open:
        if child + 1 < n_open and stack.least[heap[child + 1]] < stack.least[heap[child]]:
            child += 1
        if stack.least[moved] <= stack.least[heap[child]]:
            break
        heap[at] = heap[child]
        at, child = child, 2 * child + 1
    heap[at] = moved
    return best
