"""Improve a tree, then perturb it and improve again: out of optima that no single move leaves.

A perturbation counts a random share of the similarities double, improves the tree for those, and then for the true
ones (Nixon 1999 does this for phylogenies and calls it a ratchet). The result is fused with the best tree so far
(`arbora.search.fuse`): what got better anywhere is taken over, what got worse elsewhere is not, so that nearly every
perturbation gains at first.

A tree with a cap on its internal nodes is perturbed at a price for nodes instead of the cap: nodes then move from
where they save little to where they save much, which no move at a fixed number of nodes can do.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeGuard

import numpy as np

from arbora.search.engines import Engine, GraphEngine
from arbora.search.fuse import fuse, new_clades
from arbora.search.moves import Moves
from arbora.search.multilevel import LEVELS, ByRegions, Levels, improve_by_levels
from arbora.search.related import join_related
from arbora.search.run import Run
from arbora.tree import Tree

# of the similarities that perturbations count double, in turn
SHARES = (0.3, 0.1, 0.03, 0.01)
# the same where regions are searched in threads: small shares gain too little for the passes over the tree they take
SHARE_OF_LARGE = 0.3
# of a node, relative to the cheapest one: median, and deviation of its logarithm
PRICE, PRICE_SPREAD = 1.5, 0.5


@dataclass(frozen=True)
class Search:
    """What guides a search; only perturbations draw from `rng`."""

    engine: Engine
    run: Run
    rng: np.random.Generator
    n_internal: int | None = None
    max_sweeps: int = 100
    n_perturbations: int = 0
    n_threads: int = 1
    levels: Levels = LEVELS

    def improve(self, tree: Tree) -> Tree:
        """Improve, and perturb as often as asked; with a deadline, until the time is up."""
        if self.n_internal is None:
            # growing leaves nodes n-ary where splitting them gains nothing; a cut should still find every number
            return self._with_related_joins(self._search(tree, None).binarize())
        # the best capped tree is found near the best full one
        with self.run.portion(0, 0.5):
            full = self._search(tree, None)
        with self.run.portion(0.5, 1):
            return self._search(self.engine.squeeze(full, self.n_internal), self.n_internal)

    def _with_related_joins(self, tree: Tree) -> Tree:
        """The tree without joins of unrelated points, which only a search that was cut short leaves behind."""
        if isinstance(self.engine, GraphEngine) and self.engine.objective == "dasgupta":
            return self.run.step(partial(join_related, self.engine, tree, self.run.finishing()), self.rng)
        return tree

    def _search(self, tree: Tree, cap: int | None) -> Tree:
        """Improve and perturb under a cap, until the time of the present portion is spent."""
        rounds = self.n_perturbations + 2 if self.n_perturbations else 1
        with self._round(0, rounds):
            best = self._until_still(tree, cap, certain=not self.n_perturbations)
        done = 0
        while tree.n_leaves > 3 and self._goes_on(done):
            with self._round(min(done + 1, rounds - 1), rounds):
                step = partial(self._perturb, best, cap, self._share(tree, done))
                best = self.run.step(step, self.rng)
                cost = abs(float(self.engine.costs(best).sum()))
                self.run.show(1, f"perturbation {done + 1}: objective {cost:.6g}")
            done += 1
        if done and not self.run.is_over:
            best = self._until_still(best, cap)
        return best

    def _round(self, number: int, rounds: int) -> AbstractContextManager[None]:
        """The portion of one round; with a deadline the number of rounds is unknown."""
        if self.run.is_timed:
            return nullcontext()
        return self.run.portion(number / rounds, (number + 1) / rounds)

    def _goes_on(self, n_done: int) -> bool:
        if self.run.is_timed:
            return not self.run.is_over and self.run.has_time()
        return not self.run.is_over and n_done < self.n_perturbations

    def _share(self, tree: Tree, number: int) -> float:
        """Of the similarities that a perturbation counts double."""
        return SHARE_OF_LARGE if self._has_regions(self.engine, tree) else SHARES[number % len(SHARES)]

    def _until_still(self, tree: Tree, cap: int | None, certain: bool = True) -> Tree:
        """Until no single move helps; where perturbations follow, there is no need to be `certain` yet."""
        if isinstance(self.engine, GraphEngine) and tree.n_leaves >= self.levels.large and cap is None:
            return improve_by_levels(
                self.engine,
                tree,
                self.run,
                self.rng,
                levels=self.levels,
                n_threads=self.n_threads,
                max_sweeps=self.max_sweeps,
            )
        if cap is None and self._has_regions(self.engine, tree):
            by_regions = ByRegions(self.engine, self.levels, self.n_threads, self.max_sweeps)
            improve = partial(by_regions.improve_until_still, tree.binarize(), self.run, certain=certain)
            return self.run.step(improve, self.rng)
        moves = Moves(n_internal=cap, max_sweeps=self.max_sweeps)
        return self.run.step(partial(self.engine.improve, tree, self.run, moves), self.rng)

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
        if tree.n_leaves >= self.levels.large:
            options["max_visits"] = self.levels.max_visits
        moves = Moves(around=nodes, certain=False, rng=self.rng, **options)
        is_binary = tree.n_internal == tree.n_leaves - 1
        if is_binary and moves.n_internal is None and moves.price == 0 and self._has_regions(engine, tree):
            by_regions = ByRegions(engine, self.levels, self.n_threads, moves.max_sweeps)
            return by_regions.improve_around(tree, nodes, self.run, moves.max_visits)
        return engine.improve(tree, self.run, moves)

    def _has_regions(self, engine: Engine, tree: Tree) -> TypeGuard[GraphEngine]:
        """Whether regions of the tree can be searched in threads, and it is large enough for that."""
        return isinstance(engine, GraphEngine) and tree.n_leaves >= self.levels.regions and engine.is_plain

    def _draw_price(self, tree: Tree) -> float:
        return self.engine.price_of_node(tree) * PRICE * float(np.exp(PRICE_SPREAD * self.rng.normal()))
