"""One round of agglomeration: every cluster's nearest neighbor, and the graph after all mutual pairs have merged.

Kernels work on rows ``first .. last-1`` and write nothing else, so that threads can share a round.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arbora._base.jit import inlined, kernel

NOTHING = np.int64(-1)

# What is summed up for one neighbor of a merged cluster, see `contract_rows`.
SUMS = np.dtype([("like", np.float64), ("unlike", np.float64), ("row", np.int64)], align=True)


class Rows(NamedTuple):
    """Edges of a graph of clusters: row c leads to far[start[c] : start[c] + length[c]]."""

    start: NDArray[np.int64]
    length: NDArray[np.int32]
    far: NDArray[np.int32]
    weight: NDArray[np.float64]


class Clusters(NamedTuple):
    """What is known of each cluster."""

    mass: NDArray[np.float64]
    # its node in the tree
    label: NDArray[np.int64]
    # the round that made it
    born: NDArray[np.int64]


@inlined
def mixed_pair(one, other):
    """A pseudo-random number, the same for both orders of a pair."""
    low, high = (one, other) if one < other else (other, one)
    mixed = ((np.uint64(low) << np.uint64(32)) | np.uint64(high)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return mixed ^ (mixed >> np.uint64(32))


@inlined
def rank_among_equals(clusters, one, other):
    """Breaks ties between pairs that are equally near, smaller first.

    Pairs of older clusters come first: what a cluster found nearest stays so when others merge. Among them chance
    decides, or in a graph of equal weights only one pair of each path would be mutual.
    """
    born = max(clusters.born[one], clusters.born[other])
    chance = mixed_pair(clusters.label[one], clusters.label[other])
    return (np.uint64(born) << np.uint64(48)) | (chance >> np.uint64(16))


@inlined
def nearness(weight, mass, other_mass):
    """Average weight between two clusters, the same in both orders; a product of small masses could be 0."""
    high, low = (mass, other_mass) if mass > other_mass else (other_mass, mass)
    return weight / high / low


@kernel(nogil=True, allocates=False)
def find_nearest(rows, clusters, first, last, near, closeness):
    """Write the nearest neighbor and how near it is, where `near` is NOTHING; it stays so without neighbors."""
    for cluster in range(first, last):
        if near[cluster] != NOTHING:
            continue
        best, nearest, rank = -1.0, NOTHING, np.uint64(0)
        for k in range(rows.start[cluster], rows.start[cluster] + rows.length[cluster]):
            other = np.int64(rows.far[k])
            value = nearness(rows.weight[k], clusters.mass[cluster], clusters.mass[other])
            if value > best:
                best, nearest = value, other
                rank = rank_among_equals(clusters, cluster, other)
            elif value == best:
                other_rank = rank_among_equals(clusters, cluster, other)
                if other_rank < rank:
                    nearest, rank = other, other_rank
        near[cluster] = nearest
        closeness[cluster] = best


@kernel(nogil=True, allocates=False)
def contract_rows(rows, code, one, other, merged, first, last, sums, first_row):
    """Write rows first .. last-1 of the graph whose cluster c is one[c], joined with other[c] unless that is NOTHING.

    `code` of an old cluster is twice its new number, plus 1 for the second of a pair. Up to four old edges become
    one: those between alike parts (both first or both second) and those between unlike parts are summed apart, so
    that both ends of the new edge have the same weight to the last bit. `sums` hold those of other rows before; rows
    are told apart by their numbers, counted from `first_row`.
    """
    for c in range(first, last):
        begin = end = merged.start[c]
        for part in range(2):
            old = one[c] if part == 0 else other[c]
            if old == NOTHING:
                continue
            for k in range(rows.start[old], rows.start[old] + rows.length[old]):
                far = np.int64(code[rows.far[k]])
                entry = sums[far >> 1]
                if far >> 1 == c:
                    continue
                if entry.row != first_row + c:
                    entry.row, entry.like, entry.unlike = first_row + c, 0.0, 0.0
                    merged.far[end] = far >> 1
                    end += 1
                if far & 1 == part:
                    entry.like += rows.weight[k]
                else:
                    entry.unlike += rows.weight[k]
        for k in range(begin, end):
            entry = sums[merged.far[k]]
            merged.weight[k] = entry.like + entry.unlike
        merged.length[c] = end - begin
