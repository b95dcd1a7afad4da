"""Which moves a search tries, in what order, and when it stops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from arbora.search.budget import Budget
from arbora.tree import Tree

CHUNKS_PER_SWEEP = 64  # kernel calls a sweep: how often the clock and Ctrl-C are looked at
ALL_LOOKS = 2**62  # as many as it takes to be sure


@dataclass(frozen=True)
class Moves:
    """What to move and where to; by default every subtree, until no single move helps.

    Parameters
    ----------
    n_internal : int, optional
        At most this many internal nodes.
    price : float
        What each internal node adds to the objective.
    around : ndarray of int, optional
        Look at first only at these nodes and their parents, and then near what moved.
    max_size : float
        Larger subtrees stay where they are.
    max_looks : int
        Nodes a subtree looks at before it makes do with the best place so far; only under Dasgupta's cost on graphs
        without self-loops, where the climb can end early.
    max_sweeps : int
        At most so many passes over the subtrees.
    certain : bool
        Look at all subtrees once more when nothing moves any longer.
    rng : Generator, optional
        Shuffles the order of trying.
    """

    n_internal: int | None = None
    price: float = 0.0
    around: np.ndarray | None = None
    max_size: float = np.inf
    max_looks: int = ALL_LOOKS
    max_sweeps: int = 100
    certain: bool = True
    rng: np.random.Generator | None = None

    def sweep_over(
        self,
        tree: Tree,
        regraft: Callable[[np.ndarray], int],
        dirty: np.ndarray,
        budget: Budget,
        before_sweep: Callable[[], None] = lambda: None,
    ) -> None:
        """Regraft the nodes of a tree, of which `dirty` are to be looked at, until nothing moves."""
        if self.around is not None:
            dirty[:] = False
            dirty[self.around] = True
            above = tree.parent[self.around]
            dirty[above[above >= 0]] = True
        n_nodes = len(dirty)
        order = np.arange(n_nodes) if self.rng is None else self.rng.permutation(n_nodes)
        sweep_until_still(regraft, dirty, order, self.max_sweeps, budget, before_sweep, self.certain)


def sweep_until_still(
    regraft: Callable[[np.ndarray], int],
    dirty: np.ndarray,
    order: np.ndarray,
    max_sweeps: int,
    budget: Budget,
    before_sweep: Callable[[], None] = lambda: None,
    certain: bool = True,
) -> None:
    """Sweep over the subtrees whose surroundings changed; if `certain`, at last over all to be sure none moves."""
    chunks = np.array_split(order, min(CHUNKS_PER_SWEEP, max(1, len(order) // 256)))
    looked_at_all = True
    n_looks = 0
    try:
        for sweep in range(max_sweeps):
            n_moves = 0
            before_sweep()
            for chunk in chunks:
                n_looks += int(dirty[chunk].sum())
                n_moves += regraft(chunk)
                share = _share_done(n_looks, int(dirty.sum()), len(order))
                budget.show(f"sweep {sweep + 1}", share, f"{n_moves} moves")
                if budget.is_over:
                    return
            if n_moves == 0:
                if looked_at_all or not certain:
                    return
                dirty[:] = True
            looked_at_all = n_moves == 0
    except KeyboardInterrupt:
        budget.interrupted = True


def _share_done(n_looks: int, n_waiting: int, n_nodes: int) -> float:
    """How far a search is, if subtrees still to look at go on causing as many others to be looked at as so far."""
    n_caused = n_looks + n_waiting - n_nodes
    growth = min(max(n_caused / max(n_looks, 1), 0.0), 0.8)
    return n_looks / max(n_looks + n_waiting / (1 - growth), 1)
