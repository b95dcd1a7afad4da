"""`arbora.cluster` on a Dask array: what runs where, in order.

Rows are sent to parts; each part finds the neighbors of its rows and links them to a first tree. The pieces of these
trees, as heavy points, make one small graph, whose tree is searched here. Along it new parts are cut and searched,
which have none of the borders of the first ones; and the tree of their pieces is searched here once more.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from arbora._base.checkpoint import Checkpoint, identity_of
from arbora._base.distributed import (
    Engine,
    check_finite_chunks,
    checked_array,
    client_for,
    count_non_finite,
    in_even_chunks,
    refuse_non_finite,
    row_blocks,
)
from arbora._base.optional import require
from arbora._base.progress import ProgressCallback, Stage, silent
from arbora._base.random import LARGEST_SEED, seed_of
from arbora._base.threads import count_threads
from arbora._base.types import AnyFloats, Floats, Ints
from arbora.metrics import dasgupta_cost
from arbora.scale.assembly import Whole, put_together, searched_above
from arbora.scale.division import Bundles, Coordinates, Division, bundled, divide, natural, send_to_parts
from arbora.scale.exchange import Labeled, item, letters_to, mutual
from arbora.scale.joins import component_of_rows, join_components, means_of_components, sum_cells
from arbora.scale.neighbors import Directed, PartGraph, find_neighbors, join_part, mail_edges
from arbora.scale.pieces import Heavy, PartTree, piece_graph
from arbora.scale.plan import LIMITS, Limits, Plan
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
from arbora.scale.summed import DistributedGraph
from arbora.search.cluster import Built, Options, Settled, Timed, build
from arbora.search.heights import with_heights
from arbora.search.inputs import read_input
from arbora.search.report import ClusterReport
from arbora.tree import Tree


def build_on_dask(
    X: Any,
    options: Options,
    progress: ProgressCallback = silent,
    *,
    limits: Limits | None = None,
    argument: str = "X",
) -> Built:
    """What `arbora.search.cluster.build` does, with the rows on a cluster.

    Examples
    --------
    >>> import numpy as np, dask.array as da
    >>> from arbora.scale import build_on_dask
    >>> from arbora.search.cluster import Options
    >>> X = da.from_array(np.random.default_rng(0).normal(size=(60, 3)), chunks=(20, 3))
    >>> build_on_dask(X, Options(random_state=0)).tree
    Tree(n_leaves=60, n_internal=59, binary)
    """
    _refuse_what_needs_one_machine(options)
    engine = client_for(X)
    X = checked_array(X, engine, argument=argument)
    plan = Plan.of(X.shape[0], limits or LIMITS)
    if plan.is_one_part:
        return _in_one_task(X, options, engine, progress, argument)
    return _Run(X, options, engine, progress, plan, argument).build()


def _refuse_what_needs_one_machine(options: Options) -> None:
    if options.metric == "precomputed":
        raise ValueError(
            'metric="precomputed" takes a matrix in memory. On a Dask array use "cosine" or "euclidean".'
        )
    if options.similarity == "cosine":
        raise ValueError('similarity="cosine" compares all pairs. On a Dask array use similarity="knn".')
    if options.directed is not None:
        raise ValueError("directed applies to graphs. A Dask array holds vectors.")
    if options.n_perturbations:
        raise ValueError(
            "n_perturbations must be None or 0 on a Dask array: perturbing needs the whole graph in memory."
        )
    if options.max_seconds is not None:
        raise ValueError(
            "max_seconds must be None on a Dask array: the tree would depend on how many workers there are."
        )


# ---- few rows ------------------------------------------------------------------------------------------------


def _in_one_task(
    X: Any, options: Options, engine: Engine, progress: ProgressCallback, argument: str
) -> Built:
    """So few rows that one task builds the same tree as in memory."""
    delayed = require("dask", "A Dask array").delayed
    seconds: dict[str, float] = {}
    with Timed(seconds, "check", progress) as stage:
        check_finite_chunks(X, engine, argument=argument, stage=stage)
    inner = replace(options, n_jobs=options.n_jobs or 1, verbose=False)
    with Timed(seconds, "parts", progress) as stage:
        (built,) = engine.gather([delayed(_build_in_memory)(row_blocks(X), inner, argument)], stage)
    return built  # type: ignore[no-any-return]


def _build_in_memory(blocks: list[Any], options: Options, argument: str) -> Built:
    rows = np.concatenate([natural(block) for block in blocks])
    return build(read_input(rows, options.similarity, argument=argument), options)


# ---- many rows -----------------------------------------------------------------------------------------------


class _Run:
    """One clustering, step by step."""

    def __init__(
        self, X: Any, options: Options, engine: Engine, progress: ProgressCallback, plan: Plan, argument: str
    ) -> None:
        self.X = in_even_chunks(X, plan.block)
        self.options, self.engine, self.progress, self.plan = options, engine, progress, plan
        self.argument = argument
        self.delayed = require("dask", "A Dask array").delayed
        self.n_threads = count_threads(options.n_jobs)
        # the first row of each block, and where the last one ends
        self.starts = np.concatenate([[0], np.cumsum(self.X.chunks[0])])
        self.seconds: dict[str, float] = {}
        checkpoint = self._checkpoint()
        self.seed = seed_of(options.random_state) if checkpoint is None else checkpoint.seed
        self.steps = Steps(checkpoint, engine)

    def _checkpoint(self) -> Checkpoint | None:
        options = self.options
        if options.checkpoint is None:
            return None
        identity = identity_of(
            shape=self.X.shape,
            dtype=str(self.X.dtype),
            metric=options.metric,
            scale=options.scale,
            n_neighbors=options.n_neighbors,
            plan=[value for name, value in vars(self.plan).items() if name != "limits"],
            limits=vars(self.plan.limits),
        )
        method = "cluster on Dask"
        return Checkpoint(
            options.checkpoint, method=method, identity=identity, random_state=options.random_state
        )

    def stage(self, name: str) -> Timed:
        return Timed(self.seconds, name, self.progress)

    def build(self) -> Built:
        """All of it."""
        with self.stage("check") as stage:
            drawn = self._divide(stage)
        with self.stage("neighbors") as stage:
            graphs, partners = self._graphs(drawn, stage)
        with self.stage("parts") as stage:
            first = self._first_trees(graphs, partners, stage)
            edges, summaries = first.sums()
        with self.stage("top"):
            heavy = piece_graph([one.sizes for one in summaries], edges)
            top, cost_before = self._top(heavy, sum(one.inner_cost for one in summaries))
            bundles = bundled(top, heavy.sizes, self.plan.part)
        with self.stage("search") as stage:
            second, finals = self._search(first, heavy, top, bundles, stage)
            del first, graphs
        with self.stage("top again"):
            edges, _ = second.sums()
            heavy = piece_graph([part.found.sizes for part in finals], edges)
            whole = searched_above(put_together(finals, top, bundles), heavy, self.n_threads)
        with self.stage("heights"):
            tree, similarity = self._with_heights(whole, heavy, second, finals, drawn)
        return self._built(tree, similarity, cost_before, drawn.settled)

    # ---- the division ----------------------------------------------------------------------------------------

    def _divide(self, stage: Stage) -> _Drawn:
        """Check all rows, draw a sample, settle how rows are compared, and divide the space into parts."""
        rng = np.random.default_rng((self.seed, 1))
        sampled = np.sort(rng.choice(self.plan.n_rows, self.plan.n_sampled, replace=False, shuffle=False))
        bounds = np.searchsorted(sampled, self.starts)
        wanted = [sampled[a:b] - start for a, b, start in zip(bounds, bounds[1:], self.starts)]
        found = self.engine.gather(
            [self.delayed(_checked_sample)(*pair) for pair in zip(row_blocks(self.X), wanted)], stage
        )
        refuse_non_finite(self.X, [counts for counts, _ in found], self.argument)
        sample = np.concatenate([rows for _, rows in found])
        self.steps.check_same(sample)
        settled = self.options.settle(read_input(sample, self.options.similarity, argument=self.argument))
        scaled = settled.given.values
        coordinates = Coordinates.of_sample(scaled, settled.metric, settled.scaling)
        placed = coordinates.of_scaled(scaled)
        division = divide(placed, coordinates, self.plan, self.seed, self.n_threads)
        return _Drawn(sampled, scaled, settled, division)

    # ---- the first parts -------------------------------------------------------------------------------------

    def _graphs(self, drawn: _Drawn, stage: Stage) -> tuple[list[Any], list[list[int]]]:
        """The symmetric graph of each part, on the workers, and which parts have edges in common."""
        delayed, division = self.delayed, drawn.division
        shared = delayed(division, traverse=False)
        sent = [
            delayed(send_to_parts)(block, int(start), shared)
            for block, start in zip(row_blocks(self.X), self.starts)
        ]
        options = (self.options.n_neighbors, drawn.settled.metric)
        found = self.engine.persist(
            [
                self.steps.task(
                    f"neighbors-{part}",
                    Directed,
                    find_neighbors,
                    [delayed(item)(one, part) for one in sent],
                    part,
                    *options,
                    (self.seed + part) % LARGEST_SEED,
                )
                for part in range(division.n_parts)
            ],
            stage,
        )
        letters = self.engine.persist([delayed(mail_edges)(one, part) for part, one in enumerate(found)])
        partners = mutual(self.engine.gather([delayed(list)(one) for one in letters]))
        graphs = self.engine.persist(
            [
                delayed(join_part)(one, part, letters_to(delayed, letters, part, partners[part]))
                for part, one in enumerate(found)
            ]
        )
        return graphs, partners

    def _first_trees(self, graphs: list[Any], partners: list[list[int]], stage: Stage) -> Labeled:
        """A tree of each part, cut into pieces."""
        trees = [
            self.steps.task(f"first-{part}", PartTree, first_tree, graph, self.plan.piece)
            for part, graph in enumerate(graphs)
        ]
        return Labeled(self.engine, self.delayed, graphs, self.engine.persist(trees, stage), partners)

    # ---- the tree of pieces ----------------------------------------------------------------------------------

    def _top(self, heavy: Heavy, inner_cost: float) -> tuple[Tree, float]:
        """The tree over the pieces of all parts, and what the first tree costs."""

        def compute() -> dict[str, Any]:
            start, found = tree_of_pieces(heavy, self.n_threads)
            cost = float(heavy_engine(heavy).costs(start).sum()) + inner_cost
            return {"parent": found.parent, "cost": np.array(cost)}

        kept = self.steps.here("top", compute)
        return Tree(kept["parent"], len(heavy.sizes)), float(kept["cost"])

    # ---- the new parts ---------------------------------------------------------------------------------------

    def _search(
        self, first: Labeled, heavy: Heavy, top: Tree, bundles: Bundles, stage: Stage
    ) -> tuple[Labeled, list[FinalPart]]:
        """New parts along the tree of pieces, each searched; and here what the whole tree is made of."""
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
            over, roots = _over_pieces(top, bundles.nodes[bundles.of_node == part], pieces)
            given = [delayed(item)(moved[sender], part) for sender in senders]
            news.append(delayed(assemble)(given, part, delayed(over, traverse=False), pieces, roots))
        news = self.engine.persist(news)
        sizes = self.plan.piece, self.plan.n_rows
        found = self.engine.persist(
            [
                self.steps.task(f"second-{part}", FinalPart, search_new_part, new, *sizes)
                for part, new in enumerate(news)
            ],
            stage,
        )
        graphs = self.engine.persist([delayed(_graph_of)(new) for new in news])
        trees = self.engine.persist([delayed(_tree_of)(one) for one in found])
        partners = self.engine.gather([delayed(_owners)(graph) for graph in graphs])
        return Labeled(self.engine, delayed, graphs, trees, partners), self.engine.gather(found)

    # ---- the result ------------------------------------------------------------------------------------------

    def _with_heights(
        self, whole: Whole, heavy: Heavy, second: Labeled, finals: list[FinalPart], drawn: _Drawn
    ) -> tuple[Tree, DistributedGraph]:
        """The tree with heights and with its components joined, and its graph."""
        degrees = np.empty(self.plan.n_rows)
        for part in finals:
            degrees[part.ids] = part.degrees
        n_components, of_piece, of_row = component_of_rows(heavy.graph, whole)
        self.n_components = n_components
        graph = self._graph(whole.tree, whole.cross, degrees, finals, drawn)
        tree = with_heights(whole.tree, graph)
        if n_components < 3:
            return tree, graph
        centers = self.delayed(drawn.division.centers)
        sums = self.engine.gather(
            [self.delayed(sum_cells)(*pair, centers) for pair in zip(second.graphs, second.trees)]
        )
        means = means_of_components(np.concatenate(sums), heavy.sizes, of_piece)
        tree, cross = join_components(tree, whole.cross, of_row, means)
        return tree, self._graph(tree, cross, degrees, finals, drawn)

    def _graph(
        self, tree: Tree, cross: Floats, degrees: Floats, finals: list[FinalPart], drawn: _Drawn
    ) -> DistributedGraph:
        return DistributedGraph(
            tree.parent,
            cross,
            degrees,
            n_edges=sum(int(part.n_edges) for part in finals) // 2,
            n_neighbors=self.options.n_neighbors,
            metric=drawn.settled.metric,
            sampled=drawn.sampled,
            sample=drawn.sample,
        )

    def _built(self, tree: Tree, graph: DistributedGraph, cost_before: float, settled: Settled) -> Built:
        total = graph.total or 1.0
        report = ClusterReport(
            f"{self.plan.n_rows:,} vectors of {self.X.shape[1]:,} features in a Dask array",
            repr(graph),
            cost_before / total,
            float(dasgupta_cost(tree, graph)) / total,
            self.seconds,
            n_components=self.n_components,
            choices=self.options.choices(settled, graph),
        )
        return Built(tree, graph, report, settled.metric, settled.scaling)


class _Drawn(NamedTuple):
    """What is decided by a sample."""

    sampled: Ints
    sample: AnyFloats
    settled: Settled
    division: Division


def _checked_sample(block: AnyFloats, wanted: Ints) -> tuple[tuple[int, int], AnyFloats]:
    """What is not finite in a block, and some of its rows."""
    return count_non_finite(block), natural(block[wanted])


def _over_pieces(top: Tree, nodes: Ints, pieces: Ints) -> tuple[Tree, Ints]:
    """The tree over the pieces of one new part, below a node that joins the subtrees it consists of; and these."""
    found = [subtree_of(top, int(node)) for node in nodes]
    return side_by_side([tree for _, tree in found], [np.searchsorted(pieces, below) for below, _ in found])


def _graph_of(new: NewPart) -> PartGraph:
    return new.graph


def _tree_of(final: FinalPart) -> PartTree:
    return final.found


def _owners(graph: PartGraph) -> list[int]:
    return [int(owner) for owner in np.unique(graph.out_owner)]
