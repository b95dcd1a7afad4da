"""How many internal nodes: where more of them stop paying (Thorndike 1953; paper Sec. 3.5)."""

from __future__ import annotations

import numpy as np


def elbow(sizes, losses) -> int:
    """The size at the bend of a falling curve: farthest below the line from the first to the last point.

    Sizes are compared by their logarithm, since each candidate doubles the one before.

    Examples
    --------
    >>> elbow([8, 16, 32, 64, 128], [100.0, 50.0, 40.0, 38.0, 37.0])
    16
    """
    sizes, losses = np.asarray(sizes), np.asarray(losses, dtype=np.float64)
    if len(sizes) == 0 or len(sizes) != len(losses):
        raise ValueError(
            f"sizes and losses must be equally long, at least 1. Got {len(sizes)}, {len(losses)}."
        )
    span = losses[0] - losses[-1]
    if len(sizes) < 3 or not span > 0:
        return int(sizes[np.argmin(losses)])
    along = (np.log(sizes) - np.log(sizes[0])) / (np.log(sizes[-1]) - np.log(sizes[0]))
    fallen = (losses[0] - losses) / span
    return int(sizes[np.argmax(fallen - along)])


def candidate_sizes(n_leaves: int, largest: int = 1024) -> list[int]:
    """Powers of two from 8 to `largest`, below the number of leaves."""
    sizes = [size for size in (2**power for power in range(3, 31)) if size <= min(largest, n_leaves - 1)]
    return sizes or [max(n_leaves - 1, 1)]
