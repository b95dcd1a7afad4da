"""Which moves a search tries, in what order, and when it stops."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from arbora._base.types import Bools, Ints
from arbora.search.run import Run
from arbora.tree import Tree

# a kernel call takes about this long: between two calls the clock and Ctrl-C are checked
SECONDS_PER_CALL = 0.1
FIRST_CHUNK = 256
# visits of nodes that are enough to be certain of the best place
UNLIMITED_VISITS = 2**62
# neighbors of a point, where nobody counted them
_USUAL_NEIGHBORS = 20


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
        Try only these nodes and their parents at first, and then what is near those that moved.
    spreads : bool
        With ``False``, never try anything but the nodes `around`.
    max_size : float
        Larger subtrees stay where they are.
    max_visits : int
        Nodes visited before a subtree makes do with the best place so far; only under Dasgupta's cost on graphs
        without self-loops, where the climb can end early.
    max_sweeps : int
        Passes over the subtrees, at most.
    max_tries : float
        Subtrees tried, at most; a few more in practice, since the limit is checked only from time to time.
    certain : bool
        Try all subtrees once more when nothing moves any longer.
    rng : Generator, optional
        Shuffles the order of trying.
    """

    n_internal: int | None = None
    price: float = 0.0
    around: Ints | None = None
    spreads: bool = True
    max_size: float = np.inf
    max_visits: int = UNLIMITED_VISITS
    max_sweeps: int = 100
    max_tries: float = np.inf
    certain: bool = True
    rng: np.random.Generator | None = None

    def climb_little(self, tree: Tree) -> bool:
        """Whether so few small subtrees are tried that going from all their neighbors to the root passes few nodes."""
        if self.around is None or self.spreads:
            return False
        n_climbs = _USUAL_NEIGHBORS * tree.sizes[self.around].sum()
        return bool(n_climbs * tree.depths[: tree.n_leaves].mean() < tree.n_nodes)

    def sweep_over(
        self,
        tree: Tree,
        regraft: Callable[[Ints], int],
        dirty: Bools,
        run: Run,
        before_sweep: Callable[[], None] = lambda: None,
    ) -> None:
        """Regraft the nodes of a tree, of which `dirty` are to be tried, until nothing moves."""
        if self.around is not None:
            dirty[:] = False
            dirty[self.around] = True
            above = tree.parent[self.around]
            dirty[above[above >= 0]] = True
        order = np.arange(len(dirty)) if self.spreads or self.around is None else np.sort(self.around)
        if self.rng is not None:
            order = self.rng.permutation(order)
        sweep_until_still(
            regraft, dirty, order, self.max_sweeps, run, before_sweep, self.certain, self.max_tries
        )


def sweep_until_still(
    regraft: Callable[[Ints], int],
    dirty: Bools,
    order: Ints,
    max_sweeps: int,
    run: Run,
    before_sweep: Callable[[], None] = lambda: None,
    certain: bool = True,
    max_tries: float = np.inf,
) -> None:
    """Sweep over the subtrees whose surroundings changed; if `certain`, at last over all to be sure none moves."""
    tried_all = True
    n_tried = 0
    for sweep in range(max_sweeps):
        n_moves = 0
        before_sweep()
        for chunk in short_chunks(order):
            n_tried += int(dirty[chunk].sum())
            n_moves += regraft(chunk)
            run.show(
                _share_done(n_tried, int(dirty.sum()), len(order)), f"sweep {sweep + 1}: {n_moves} moves"
            )
            if run.is_over or n_tried >= max_tries:
                return
        if n_moves == 0:
            if tried_all or not certain:
                return
            dirty[:] = True
        tried_all = n_moves == 0


def short_chunks(order: Ints) -> Iterator[Ints]:
    """Consecutive pieces of an array, each about as long as the caller can handle in `SECONDS_PER_CALL`."""
    first, length = 0, FIRST_CHUNK
    while first < len(order):
        began = time.perf_counter()
        yield order[first : first + length]
        first += length
        spent = time.perf_counter() - began
        length = int(length * min(max(SECONDS_PER_CALL / max(spent, 1e-6), 0.25), 2.0)) + 1


def _share_done(n_tried: int, n_waiting: int, n_nodes: int) -> float:
    """How far along a search is, if each subtree still to be tried causes as many others to be tried as so far."""
    n_caused = n_tried + n_waiting - n_nodes
    growth = min(max(n_caused / max(n_tried, 1), 0.0), 0.8)
    return n_tried / max(n_tried + n_waiting / (1 - growth), 1)
