"""Average linkage of a small graph on its full matrix: needs no compiler, and makes the same merges as the kernels."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from arbora._base.types import Floats, Ints

# in the matrix: no edge between two clusters
_NONE = -1.0
# left and right part and similarity of each merge
Merges: TypeAlias = tuple[Ints, Ints, Floats]


def merge_small(end: NDArray[np.int32], weight: Floats, mass: Floats) -> Merges:
    """Merges along nearest-neighbor chains, as `_kernels.agglomerate` makes them; O(n^2) memory and operations.

    Chains start from the oldest cluster, and among equally near ones the oldest is taken.
    """
    n_points = len(mass)
    matrix = np.full((n_points, n_points), _NONE)
    matrix[end[::2], end[1::2]] = weight
    matrix[end[1::2], end[::2]] = weight
    label = np.arange(n_points)
    left, right, similarity = [], [], []
    waiting = np.ones(n_points, dtype=bool)
    chain: list[int] = []
    while True:
        if not chain:
            if not waiting.any():
                break
            chain.append(int(np.where(waiting, label, 2 * n_points).argmin()))
        tip = chain[-1]
        nearest = _nearest(matrix[tip], mass, label)
        if nearest is None:
            waiting[chain.pop()] = False
        elif nearest not in chain:
            chain.append(nearest)
        else:
            # further back on the chain means a tie, up to rounding, all along: merge with the last one
            last = chain[-2]
            similarity.append(matrix[tip, last] / mass[tip] / mass[last])
            left.append(min(label[tip], label[last]))
            right.append(max(label[tip], label[last]))
            _join(matrix, mass, tip, last)
            label[tip], label[last] = n_points + len(left) - 1, 2 * n_points
            waiting[last] = False
            del chain[-2:]
    return (
        np.array(left, dtype=np.int64),
        np.array(right, dtype=np.int64),
        np.array(similarity, dtype=np.float64),
    )


def _nearest(row: Floats, mass: Floats, label: Ints) -> int | None:
    """The cluster with the largest weight per mass; the oldest of those that are equally near."""
    key = row / mass
    best = key.max()
    if best < 0:
        return None
    equal = np.flatnonzero(key == best)
    return int(equal[0] if len(equal) == 1 else equal[label[equal].argmin()])


def _join(matrix: Floats, mass: Floats, into: int, gone: int) -> None:
    """Add the edges of one cluster to those of another."""
    kept, added = matrix[into], matrix[gone]
    joined = np.where(added < 0, kept, np.where(kept < 0, added, kept + added))
    joined[[into, gone]] = _NONE
    matrix[into] = joined
    matrix[:, into] = joined
    matrix[gone] = _NONE
    matrix[:, gone] = _NONE
    mass[into] += mass[gone]
