"""Improve a tree, then perturb it and improve again: out of optima that no single move leaves.

A perturbation counts a random share of the similarities double, improves the tree for those, and then for the true
ones (Nixon 1999 does this to phylogenies, and calls it a ratchet). The result is fused with the best tree so far
(`arbora.search.fuse`): what got better anywhere is taken over, what got worse elsewhere is not, so that nearly every
perturbation gains at first.

A tree with a cap on its internal nodes is perturbed at a price for nodes instead of the cap: nodes then move from
where they save little to where they save much, which no move at a fixed number of nodes can do.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from arbora.search.budget import Budget
from arbora.search.engines import Engine, GraphEngine
from arbora.search.fuse import fuse, new_clades
from arbora.search.moves import Moves
from arbora.search.multilevel import LOOKS, improve_by_levels
from arbora.tree import Tree

LARGE = 30_000  # leaves from which a graph is searched by levels
# of the similarities that perturbations count double, in turn
SHARES = (0.3, 0.1, 0.03, 0.01)
PRICE, PRICE_SPREAD = 1.5, 0.5  # relative to the cheapest node: median and deviation (of its logarithm)


@dataclass(frozen=True)
class Search:
    """What a search goes by; `rng` is drawn from by perturbations only."""

    engine: Engine
    budget: Budget
    rng: np.random.Generator
    n_internal: int | None = None
    max_sweeps: int = 100
    n_jobs: int | None = None

    def run(self, tree: Tree, n_perturbations: int = 0) -> Tree:
        """Improve, and perturb as often as asked; with a deadline, until the time is up."""
        if self.n_internal is None:
            # growing leaves nodes n-ary where splitting them gains nothing; a cut should still find every number
            return self._search(tree, n_perturbations, None).binarize()
        with self.budget.portion(0, 0.5):  # the best capped tree is found near the best full one
            full = self._search(tree, n_perturbations, None, until=0.5)
        with self.budget.portion(0.5, 1):
            return self._search(self.engine.squeeze(full, self.n_internal), n_perturbations, self.n_internal)

    def _search(self, tree: Tree, n_perturbations: int, cap: int | None, until: float = 1.0) -> Tree:
        """Improve and perturb under a cap, `until` that share of the time is spent."""
        rounds = n_perturbations + 2 if n_perturbations else 1
        with self.budget.portion(0, 1 / rounds):
            best = self._improve(tree, cap)
        done = 0
        while tree.n_leaves > 3 and self._goes_on(done < n_perturbations, until):
            taken = min(done + 1, rounds - 1)
            with self.budget.portion(taken / rounds, (taken + 1) / rounds):
                step = partial(self._perturb, best, cap, SHARES[done % len(SHARES)])
                best = self.budget.step(step, self.rng)
                cost = abs(float(self.engine.costs(best).sum()))
                self.budget.show(f"perturbation {done + 1}", 1, f"objective {cost:.6g}")
            done += 1
        if done and not self.budget.is_over:
            best = self._improve(best, cap)
        return best

    def _goes_on(self, has_more: bool, until: float) -> bool:
        if self.budget.is_timed:
            return not self.budget.is_over and self.budget.share_of_time < until
        return not self.budget.is_over and has_more

    def _improve(self, tree: Tree, cap: int | None) -> Tree:
        """Until no single move helps."""
        if isinstance(self.engine, GraphEngine) and tree.n_leaves >= LARGE and cap is None:
            n_jobs = self.n_jobs or os.cpu_count() or 1
            return improve_by_levels(
                self.engine, tree, self.budget, n_jobs=n_jobs, max_sweeps=self.max_sweeps
            )
        moves = Moves(n_internal=cap, max_sweeps=self.max_sweeps)
        return self.budget.step(partial(self.engine.improve, tree, self.budget, moves), self.rng)

    def _perturb(self, best: Tree, cap: int | None, share: float) -> Tree:
        """Perturb the best tree, improve it, and take over what got better."""
        perturbed, touched = self.engine.perturb(share, self.rng)
        price = 0.0 if cap is None else self._draw_price(best)
        shaken = self._improve_around(perturbed, best, touched, price=price, max_sweeps=1)
        nearby = np.union1d(new_clades(shaken, best), touched)
        other = self._improve_around(self.engine, shaken, nearby, price=price)
        if cap is not None:
            squeezed = self.engine.squeeze(other, cap)
            nearby = np.union1d(new_clades(squeezed, best), touched)
            other = self._improve_around(self.engine, squeezed, nearby, n_internal=cap)
        return fuse(best, self.engine.costs(best), other, self.engine.costs(other), cap)

    def _improve_around(self, engine: Engine, tree: Tree, nodes: np.ndarray, **options: Any) -> Tree:
        """Until no move near these nodes helps, and near those that moved."""
        options = {"max_sweeps": self.max_sweeps} | options
        if tree.n_leaves >= LARGE:
            options["max_looks"] = LOOKS
        moves = Moves(around=nodes, certain=False, rng=self.rng, **options)
        return engine.improve(tree, self.budget, moves)

    def _draw_price(self, tree: Tree) -> float:
        return self.engine.price_of_node(tree) * PRICE * float(np.exp(PRICE_SPREAD * self.rng.normal()))
