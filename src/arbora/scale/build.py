"""`arbora.cluster` on a Dask array: rows are sent to parts, and each part finds the neighbors of its rows.

What follows, from the graphs of the parts to the tree, is in `arbora.scale.run`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from arbora._base.checkpoint import Checkpoint, identity_of
from arbora._base.distributed import (
    Workers,
    check_finite_chunks,
    checked_array,
    count_non_finite,
    in_even_chunks,
    refuse_non_finite,
    row_blocks,
    workers_for,
)
from arbora._base.optional import require
from arbora._base.progress import ProgressCallback, Stage, silent
from arbora._base.random import LARGEST_SEED, seed_of
from arbora._base.threads import count_threads
from arbora._base.types import AnyFloats, Floats, Ints
from arbora.metrics import dasgupta_cost
from arbora.scale.division import Coordinates, Division, divide, natural, send_to_parts
from arbora.scale.exchange import item, letters_to, mutual
from arbora.scale.graph_parts import edges_of_part
from arbora.scale.joins import component_of_rows, join_components, means_of_components, sum_cells
from arbora.scale.neighbors import Directed, find_neighbors, join_part, mail_edges
from arbora.scale.plan import LIMITS, Limits, Plan
from arbora.scale.run import PartsRun, Searched
from arbora.scale.steps import Steps
from arbora.search.cluster import Built, Options, Settled, Timed, build
from arbora.search.heights import with_heights
from arbora.search.inputs import read_input
from arbora.search.report import ClusterReport
from arbora.similarity.summed import DistributedGraph, Parts
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
    workers = workers_for(X)
    X = checked_array(X, workers, argument=argument)
    plan = Plan.of(X.shape[0], limits or LIMITS)
    if plan.is_one_part:
        return _in_one_task(X, options, workers, progress, argument)
    return _Run(X, options, workers, progress, plan, argument).build()


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
    X: Any, options: Options, workers: Workers, progress: ProgressCallback, argument: str
) -> Built:
    """So few rows that one task builds the same tree as in memory."""
    delayed = require("dask", "A Dask array").delayed
    seconds: dict[str, float] = {}
    with Timed(seconds, "check", progress) as stage:
        check_finite_chunks(X, workers, argument=argument, stage=stage)
    inner = replace(options, n_jobs=options.n_jobs or 1, verbose=False)
    with Timed(seconds, "parts", progress) as stage:
        (built,) = workers.gather([delayed(_build_in_memory)(row_blocks(X), inner, argument)], stage)
    return built  # type: ignore[no-any-return]


def _build_in_memory(blocks: list[Any], options: Options, argument: str) -> Built:
    rows = np.concatenate([natural(block) for block in blocks])
    return build(read_input(rows, options.similarity, argument=argument), options)


# ---- many rows -----------------------------------------------------------------------------------------------


class _Run:
    """One clustering of rows, step by step."""

    def __init__(
        self,
        X: Any,
        options: Options,
        workers: Workers,
        progress: ProgressCallback,
        plan: Plan,
        argument: str,
    ) -> None:
        self.X = in_even_chunks(X, plan.block)
        self.options, self.workers, self.plan = options, workers, plan
        self.argument = argument
        # the first row of each block, and where the last one ends
        self.starts = np.concatenate([[0], np.cumsum(self.X.chunks[0])])
        checkpoint = self._checkpoint()
        self.seed = seed_of(options.random_state) if checkpoint is None else checkpoint.seed
        self.steps = Steps(checkpoint, workers)
        self.parts = PartsRun(workers, plan, self.steps, count_threads(options.n_jobs), progress)
        self.delayed = self.parts.delayed

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

    def build(self) -> Built:
        """All of it."""
        with self.parts.stage("check") as stage:
            drawn = self._divide(stage)
        with self.parts.stage("neighbors") as stage:
            graphs, partners = self._graphs(drawn, stage)
        searched = self.parts.from_graphs(graphs, partners)
        with self.parts.stage("heights"):
            tree, similarity = self._with_heights(searched, drawn)
        return self._built(tree, similarity, drawn.settled)

    # ---- the division ----------------------------------------------------------------------------------------

    def _divide(self, stage: Stage) -> _Drawn:
        """Check all rows, draw a sample, settle how rows are compared, and divide the space into parts."""
        rng = np.random.default_rng((self.seed, 1))
        sampled = np.sort(rng.choice(self.plan.n_rows, self.plan.n_sampled, replace=False, shuffle=False))
        bounds = np.searchsorted(sampled, self.starts)
        wanted = [sampled[a:b] - start for a, b, start in zip(bounds, bounds[1:], self.starts)]
        found = self.workers.gather(
            [self.delayed(_checked_sample)(*pair) for pair in zip(row_blocks(self.X), wanted)], stage
        )
        refuse_non_finite(self.X, [counts for counts, _ in found], self.argument)
        sample = np.concatenate([rows for _, rows in found])
        self.steps.check_same(sample)
        settled = self.options.settle(read_input(sample, self.options.similarity, argument=self.argument))
        scaled = settled.given.values
        coordinates = Coordinates.of_sample(scaled, settled.metric, settled.scaling)
        placed = coordinates.of_scaled(scaled)
        division = divide(placed, coordinates, self.plan, self.seed, self.parts.n_threads)
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
        found = self.workers.persist(
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
        letters = self.workers.persist([delayed(mail_edges)(one, part) for part, one in enumerate(found)])
        partners = mutual(self.workers.gather([delayed(list)(one) for one in letters]))
        graphs = self.workers.persist(
            [
                delayed(join_part)(one, part, letters_to(delayed, letters, part, partners[part]))
                for part, one in enumerate(found)
            ]
        )
        return graphs, partners

    # ---- the result ------------------------------------------------------------------------------------------

    def _with_heights(self, searched: Searched, drawn: _Drawn) -> tuple[Tree, DistributedGraph]:
        """The tree with heights and with its components joined, and its graph."""
        whole, heavy, second = searched.whole, searched.heavy, searched.second
        degrees = np.empty(self.plan.n_rows)
        for part in searched.finals:
            degrees[part.ids] = part.degrees
        n_components, of_piece, of_row = component_of_rows(heavy.graph, whole)
        self.n_components = n_components
        graph = self._graph(whole.tree, whole.cross, degrees, searched, drawn)
        tree = with_heights(whole.tree, graph)
        if n_components < 3:
            return tree, graph
        centers = self.delayed(drawn.division.centers)
        sums = self.workers.gather(
            [self.delayed(sum_cells)(*pair, centers) for pair in zip(second.graphs, second.trees)]
        )
        means = means_of_components(np.concatenate(sums), heavy.sizes, of_piece)
        tree, cross = join_components(tree, whole.cross, of_row, means)
        return tree, self._graph(tree, cross, degrees, searched, drawn)

    def _graph(
        self, tree: Tree, cross: Floats, degrees: Floats, searched: Searched, drawn: _Drawn
    ) -> DistributedGraph:
        return DistributedGraph(
            tree.parent,
            cross,
            degrees,
            n_edges=sum(int(part.n_edges) for part in searched.finals) // 2,
            n_neighbors=self.options.n_neighbors,
            metric=drawn.settled.metric,
            sampled=drawn.sampled,
            sample=drawn.sample,
            parts=Parts(searched.second.graphs, edges_of_part),
        )

    def _built(self, tree: Tree, graph: DistributedGraph, settled: Settled) -> Built:
        total = graph.total or 1.0
        report = ClusterReport(
            f"{self.plan.n_rows:,} vectors of {self.X.shape[1]:,} features in a Dask array",
            repr(graph),
            self.parts.cost_before / total,
            float(dasgupta_cost(tree, graph)) / total,
            self.parts.seconds,
            n_components=self.n_components,
            choices=self.options.choices(settled, graph, None),
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
