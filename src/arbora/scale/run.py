"""From the graphs of parts to one tree: what runs where, in order, whether rows or edges were given.

Each part links its points to a first tree. The pieces of these trees, as heavy points, make one small graph, whose tree
is searched here. Along it new parts are cut and searched, which have none of the borders of the first ones; and the
tree of their pieces is searched here once more.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from arbora._base.distributed import Workers
from arbora._base.optional import require
from arbora._base.progress import ProgressCallback, Stage
from arbora._base.types import Floats, Ints
from arbora.scale.assembly import Whole, put_together, searched_above
from arbora.scale.division import Bundles, bundled
from arbora.scale.exchange import Labeled, item
from arbora.scale.neighbors import PartGraph
from arbora.scale.pieces import Heavy, PartTree, PieceSizes, piece_graph
from arbora.scale.plan import Plan
from arbora.scale.searches import (
    FinalPart,
    NewPart,
    assemble,
    first_tree,
    heavy_engine,
    move_points,
    search_new_part,
    side_by_side,
    subtree_of,
    tree_of_pieces,
)
from arbora.scale.steps import Steps
from arbora.search.cluster import Timed
from arbora.tree import Tree


class Searched(NamedTuple):
    """What the searches found.

    Attributes
    ----------
    whole : Whole
    heavy : Heavy
        The graph of the last pieces.
    second : Labeled
        The parts that were searched, on the workers.
    finals : list of FinalPart
        What is known of them here.
    """

    whole: Whole
    heavy: Heavy
    second: Labeled
    finals: list[FinalPart]


class PartsRun:
    """One clustering in parts, step by step."""

    def __init__(
        self,
        workers: Workers,
        plan: Plan,
        steps: Steps,
        n_threads: int,
        progress: ProgressCallback,
        seconds: dict[str, float] | None = None,
    ) -> None:
        self.workers, self.plan, self.steps, self.n_threads = workers, plan, steps, n_threads
        self.delayed = require("dask", "A Dask array").delayed
        # time spent per stage
        self.seconds = {} if seconds is None else seconds
        # what the first tree cost, by edges between different points
        self.cost_before = float("nan")
        self._progress = progress

    @property
    def _pieces(self) -> PieceSizes:
        return PieceSizes(self.plan.piece, self.plan.limits.inner_pieces * self.plan.piece)

    def stage(self, name: str) -> Timed:
        """A stage whose time is noted."""
        return Timed(self.seconds, name, self._progress)

    def from_graphs(self, graphs: list[Any], partners: list[list[int]]) -> Searched:
        """The tree of parts whose graphs are there (delayed `PartGraph`s; the list is emptied)."""
        with self.stage("parts") as stage:
            first = self._first_trees(graphs, partners, stage)
            edges, summaries = first.sums()
        with self.stage("top"):
            heavy = piece_graph([one.sizes for one in summaries], edges)
            top = self._top(heavy, sum(one.inner_cost for one in summaries))
            bundles = bundled(top, heavy.sizes, self.plan.part)
        news = self._new_parts(first, heavy, top, bundles)
        needed = [first]
        graphs.clear()
        del first, heavy
        return self.from_new_parts(news, needed, top, bundles)

    def _first_trees(self, graphs: list[Any], partners: list[list[int]], stage: Stage) -> Labeled:
        """A tree of each part, cut into pieces."""
        trees = [
            self.steps.task(f"first-{part}", PartTree, first_tree, graph, self._pieces)
            for part, graph in enumerate(graphs)
        ]
        return Labeled(self.workers, self.delayed, graphs, self.workers.persist(trees, stage), partners)

    def _top(self, heavy: Heavy, inner_cost: float) -> Tree:
        """The tree over the pieces of all parts."""

        def compute() -> dict[str, Any]:
            start, found = tree_of_pieces(heavy, self.n_threads)
            cost = float(heavy_engine(heavy).costs(start).sum()) + inner_cost
            return {"parent": found.parent, "cost": np.array(cost)}

        kept = self.steps.here("top", compute)
        self.cost_before = float(kept["cost"])
        return Tree(kept["parent"], len(heavy.sizes))

    def _new_parts(self, first: Labeled, heavy: Heavy, top: Tree, bundles: Bundles) -> list[Any]:
        """New parts along the tree of pieces."""
        delayed = self.delayed
        bundle = bundles.label
        shared = [delayed(heavy.first, traverse=False), delayed(bundle, traverse=False)]
        moved = [
            delayed(move_points)(graph, tree, label, part, *shared)
            for part, (graph, tree, label) in enumerate(zip(first.graphs, first.trees, first.out_labels))
        ]
        news = []
        for part in range(int(bundle.max()) + 1):
            pieces = np.flatnonzero(bundle == part)
            senders = np.unique(np.searchsorted(heavy.first, pieces, side="right") - 1).tolist()
            over, roots = over_pieces(top, bundles.nodes[bundles.of_node == part], pieces)
            given = [delayed(item)(moved[sender], part) for sender in senders]
            news.append(delayed(assemble)(given, part, delayed(over, traverse=False), pieces, roots))
        return news

    def from_new_parts(
        self, news: list[Any], needed: list[Any], top: Tree, bundles: Bundles, sweeps: int | None = None
    ) -> Searched:
        """The tree of parts (delayed `NewPart`s) that were cut along a tree `top`, each searched.

        What is `needed` to make the parts is kept until they are there; both lists are emptied.
        """
        with self.stage("search") as stage:
            given = self.workers.persist(news)
            news.clear()
            needed.clear()
            second, finals = self._search(given, bundles.weight, sweeps, stage)
            del given
        with self.stage("top again"):
            edges, _ = second.sums()
            heavy = piece_graph([part.found.sizes for part in finals], edges)
            whole = searched_above(put_together(finals, top, bundles), heavy, self.n_threads)
        return Searched(whole, heavy, second, finals)

    def _search(
        self, given: list[Any], weight: Floats, sweeps: int | None, stage: Stage
    ) -> tuple[Labeled, list[FinalPart]]:
        """Each new part searched; and here what the whole tree is made of."""
        delayed = self.delayed
        how = self._pieces, self.plan.n_rows, sweeps
        found = self.workers.persist(
            [
                self.steps.task(f"second-{part}", FinalPart, search_new_part, new, *how)
                for part, new in enumerate(given)
            ],
            stage,
            weight.tolist(),
        )
        graphs = self.workers.persist([delayed(_graph_of)(new) for new in given])
        trees = self.workers.persist([delayed(_tree_of)(one) for one in found])
        partners = self.workers.gather([delayed(owners)(graph) for graph in graphs])
        return Labeled(self.workers, delayed, graphs, trees, partners), self.workers.gather(found)


def over_pieces(top: Tree, nodes: Ints, pieces: Ints) -> tuple[Tree, Ints]:
    """The tree over the pieces of one new part, below a node that joins the subtrees it consists of; and these."""
    found = [subtree_of(top, int(node)) for node in nodes]
    return side_by_side([tree for _, tree in found], [np.searchsorted(pieces, below) for below, _ in found])


def owners(graph: PartGraph) -> list[int]:
    """The parts at the other ends of a part's edges."""
    return [int(owner) for owner in np.unique(graph.out_owner)]


def _graph_of(new: NewPart) -> PartGraph:
    return new.graph


def _tree_of(final: FinalPart) -> PartTree:
    return final.found
