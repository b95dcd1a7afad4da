"""One step of training shared out: a fixed number of shares, whose results are joined in a fixed order.

The result depends on the number of shares, never on how many workers there are or which of them was first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from arbora._base.distributed import Workers
from arbora._base.optional import require

Result = TypeVar("Result")

# Into how many shares a step is divided, whoever works on them.
N_SHARES = 8


def share_bounds(n_items: int, n_shares: int = N_SHARES) -> list[tuple[int, int]]:
    """First and last item of every share that has any.

    Examples
    --------
    >>> from arbora._base.sharing import share_bounds
    >>> share_bounds(10, 4)
    [(0, 2), (2, 5), (5, 7), (7, 10)]
    """
    bounds = [(n_items * k // n_shares, n_items * (k + 1) // n_shares) for k in range(n_shares)]
    return [(first, last) for first, last in bounds if last > first]


class Shares:
    """Runs the shares of steps: here, one after the other, or on the workers of a cluster.

    Parameters
    ----------
    workers : Workers or None
        None works here.
    """

    def __init__(self, workers: Workers | None) -> None:
        self._workers = workers

    @property
    def are_spread(self) -> bool:
        """Whether there are other machines."""
        return self._workers is not None and self._workers.client is not None

    def send(self, *values: Any) -> list[Any]:
        """Values that many steps need, sent to the workers once; pass what is returned to `run`."""
        if self._workers is None or not self.are_spread:
            return list(values)
        return list(self._workers.client.scatter(list(values), broadcast=True, hash=False))

    def run(
        self,
        function: Callable[..., Result],
        common: Sequence[Any],
        shares: Sequence[Sequence[Any]],
        *,
        here: bool,
    ) -> list[Result]:
        """``function(*common, *share)`` of every share, in order; `here` says that sending them is not worth while."""
        if here or self._workers is None or not self.are_spread:
            return [function(*common, *share) for share in shares]
        delayed = require("dask", "A Dask array").delayed
        # whole arrays go to a worker once, not with every share
        sent = [value if hasattr(value, "key") else delayed(value, traverse=False) for value in common]
        return self._workers.gather([delayed(function, pure=False)(*sent, *share) for share in shares])
