"""How many internal nodes: where more of them stop paying (Thorndike 1953; paper Sec. 3.5)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def elbow(sizes: Sequence[int], losses: Sequence[float]) -> int:
    """The size at the bend of a falling curve: farthest below the line from the first to the last point.

    Sizes are compared by their logarithm, since each candidate doubles the one before.

    Examples
    --------
    >>> elbow([8, 16, 32, 64, 128], [100.0, 50.0, 40.0, 38.0, 37.0])
    16
    """
    size, loss = np.asarray(sizes), np.asarray(losses, dtype=np.float64)
    if len(sizes) == 0 or len(sizes) != len(losses):
        raise ValueError(
            f"sizes and losses must be equally long, at least 1. Got {len(sizes)}, {len(losses)}."
        )
    span = loss[0] - loss[-1]
    if len(size) < 3 or not span > 0:
        return int(size[np.argmin(loss)])
    along = (np.log(size) - np.log(size[0])) / (np.log(size[-1]) - np.log(size[0]))
    fallen = (loss[0] - loss) / span
    return int(size[np.argmax(fallen - along)])


def candidate_sizes(n_leaves: int, largest: int = 1024) -> list[int]:
    """Powers of two from 8 to `largest`, below the number of leaves."""
    sizes = [
        candidate
        for candidate in (2**power for power in range(3, 31))
        if candidate <= min(largest, n_leaves - 1)
    ]
    return sizes or [max(n_leaves - 1, 1)]
