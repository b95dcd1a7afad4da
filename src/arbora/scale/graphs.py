"""`arbora.cluster` and `arbora.refine` on a graph in shards, none of whose stages needs all edges on one machine."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora._base.checkpoint import Checkpoint, identity_of
from arbora._base.distributed import sum_as_tree
from arbora._base.progress import ProgressCallback, Stage, silent
from arbora._base.threads import count_threads
from arbora._base.types import Floats, Ints, PathLike, RandomState
from arbora.linkages.graph import heavy_linkage
from arbora.metrics.dasgupta import cost_of_cross
from arbora.scale.cells import find_cells
from arbora.scale.division import Bundles, bundled
from arbora.scale.exchange import item
from arbora.scale.graph_parts import count_ends, part_graph, part_of_tree, send_edges
from arbora.scale.plan import LIMITS, Limits, Plan
from arbora.scale.run import PartsRun, Searched, over_pieces, owners
from arbora.scale.steps import Steps
from arbora.search.cluster import Built, Options, Timed, build
from arbora.search.heights import with_heights
from arbora.search.inputs import read_input
from arbora.search.refine import Effort, Improved, Task
from arbora.search.report import ClusterReport
from arbora.similarity import GraphSimilarity
from arbora.similarity.sharded import ShardedGraph
from arbora.tree import Tree

# A cell is at most this share of a part, so that cells fill parts well.
_CELLS_THAT_FILL_A_PART = 4
# A tree with more than this many part-sized subtrees per piece is too chain-like to divide the graph.
_SUBTREES_PER_PIECE = 2


def build_graph_on_dask(
    graph: ShardedGraph,
    options: Options,
    progress: ProgressCallback = silent,
    *,
    limits: Limits | None = None,
) -> Built:
    """What `arbora.search.cluster.build` does, with the edges on a cluster.

    Examples
    --------
    >>> import dask, dask.dataframe as dd, pandas as pd
    >>> import arbora as ab
    >>> from arbora.scale import build_graph_on_dask
    >>> from arbora.search.cluster import Options
    >>> edges = pd.DataFrame({"source": [0, 1, 2], "target": [1, 2, 3], "weight": [5.0, 1.0, 5.0]})
    >>> with dask.config.set(scheduler="threads"):
    ...     graph = ab.similarity.graph(dd.from_pandas(edges, npartitions=2))
    ...     build_graph_on_dask(graph, Options(random_state=0)).tree.to_newick(lengths=False)
    '((0,1),(2,3));'
    """
    limits = limits or LIMITS
    if is_small(graph, limits):
        return _in_one_task(graph, options, progress)
    _refuse(options.n_perturbations or 0, options.max_seconds)
    run = _GraphRun(
        graph, limits, count_threads(options.n_jobs), progress, options.checkpoint, options.random_state
    )
    searched = run.from_cells()
    with run.parts.stage("heights"):
        tree, cross = run.with_heights(searched)
    return run.built(tree, cross)


def refine_on_dask(
    tree: Tree,
    graph: ShardedGraph,
    task: Task,
    effort: Effort,
    random_state: RandomState = None,
    progress: ProgressCallback = silent,
    checkpoint: PathLike | None = None,
    *,
    limits: Limits | None = None,
) -> Improved:
    """What `arbora.search.refine.improved` does, with the edges on a cluster.

    Parts are cut along the tree and searched; then pieces of all parts are searched across their borders.

    Examples
    --------
    >>> import dask, dask.dataframe as dd, pandas as pd
    >>> import arbora as ab
    >>> from arbora.scale import Limits, refine_on_dask
    >>> from arbora.search.refine import Effort, Task
    >>> edges = pd.DataFrame({"source": [0, 1, 2], "target": [1, 2, 3], "weight": [5.0, 1.0, 5.0]})
    >>> chain = ab.Tree.from_merges([(0, 2), (4, 1), (5, 3)])
    >>> with dask.config.set(scheduler="threads"):
    ...     graph = ab.similarity.graph(dd.from_pandas(edges, npartitions=2))
    ...     refine_on_dask(chain, graph, Task(), Effort(), 0, limits=Limits(part=3, smallest_piece=1)).cost_after
    24.0
    """
    limits = limits or LIMITS
    _refuse(task.n_perturbations, effort.max_seconds)
    _refuse_other_than_plain(task)
    run = _GraphRun(
        graph, limits, effort.n_threads, _as_refine(progress), checkpoint, random_state, tree=tree
    )
    start = tree.collapse_unary()
    bundles = bundled(start, run.weight, run.parts.plan.part)
    if len(bundles.nodes) > _SUBTREES_PER_PIECE * limits.pieces:
        searched = run.from_cells()
    else:
        searched = run.along(start, bundles, task.max_sweeps)
    found, cross = run.with_heights(searched)
    before = float(cost_of_cross(tree, graph.cross(tree)))
    after = float(cost_of_cross(found, cross))
    if after >= before:
        return Improved(with_heights(tree, graph), before, before)
    names = None if tree.name is None else tree.name[: tree.n_leaves]
    return Improved(found.replace(name=names), before, after)


def _as_refine(progress: ProgressCallback) -> ProgressCallback:
    """Progress of the search in parts as `refine` reports it; what comes after is short."""

    def report(stage: str, done: float, total: float | None) -> None:
        if stage == "search":
            progress("refine", done, total)

    return report


def is_small(graph: ShardedGraph, limits: Limits | None = None) -> bool:
    """Whether one machine holds the graph: so few nodes and edges that they make one part.

    Examples
    --------
    >>> import dask, dask.dataframe as dd, pandas as pd
    >>> import arbora as ab
    >>> from arbora.scale import Limits, is_small
    >>> edges = pd.DataFrame({"source": [0, 1, 2], "target": [1, 2, 3], "weight": [5.0, 1.0, 5.0]})
    >>> with dask.config.set(scheduler="threads"):
    ...     graph = ab.similarity.graph(dd.from_pandas(edges, npartitions=2))
    ...     is_small(graph), is_small(graph, Limits(part=3))
    (True, False)
    """
    limits = limits or LIMITS
    return graph.n_points <= limits.part and graph.n_pieces <= limits.edges


def _refuse(n_perturbations: int, max_seconds: float | None) -> None:
    if n_perturbations:
        raise ValueError(
            "n_perturbations must be 0 on a graph in shards that does not fit one part: perturbing needs all edges "
            "in memory."
        )
    if max_seconds is not None:
        raise ValueError(
            "max_seconds must be None on a graph in shards that does not fit one part: the tree would depend on how "
            "many workers there are."
        )


def _refuse_other_than_plain(task: Task) -> None:
    asked = {
        'objective="tsd"': task.objective != "dasgupta",
        "n_internal": task.n_internal is not None,
        "sample_weight": task.sample_weight is not None,
        "must_link and cannot_link": bool(task.links),
        "keep_subtrees and keep_top": bool(task.kept),
    }
    found = next((name for name, is_asked in asked.items() if is_asked), None)
    if found is not None:
        raise ValueError(
            f"{found} needs all edges on one machine, and this graph is in shards that do not fit one part. Leave it "
            "out, or pass a graph in memory."
        )


def _in_one_task(graph: ShardedGraph, options: Options, progress: ProgressCallback) -> Built:
    """A graph so small that the tree is that of memory."""
    here = GraphSimilarity(graph.csr, graph.self_loops)
    here.names = graph.names
    return build(read_input(here, options.similarity), options, progress)._replace(similarity=graph)


class _GraphRun:
    """One search of a graph in shards."""

    def __init__(
        self,
        graph: ShardedGraph,
        limits: Limits,
        n_threads: int,
        progress: ProgressCallback,
        checkpoint: PathLike | None,
        random_state: RandomState,
        tree: Tree | None = None,
    ) -> None:
        self.graph = graph
        workers, delayed = graph.workers, graph.delayed
        seconds: dict[str, float] = {}
        with Timed(seconds, "check", progress) as stage:
            # self-loops are left out of the search, and counted in heights and costs
            self.buckets = workers.persist(graph.without_self_loops().distinct(), stage)
            counts = [delayed(count_ends)(bucket, graph.n_points) for bucket in self.buckets]
            (ends,) = workers.gather([sum_as_tree(counts, sum)])
        self.weight, plan = _weights(ends, limits)
        steps = Steps(self._checkpoint(checkpoint, plan, tree, random_state), workers)
        self.parts = PartsRun(workers, plan, steps, n_threads, progress, seconds)

    def _checkpoint(
        self, folder: PathLike | None, plan: Plan, tree: Tree | None, random_state: RandomState
    ) -> Checkpoint | None:
        if folder is None:
            return None
        identity = identity_of(
            n_pieces=self.graph.n_pieces,
            degrees=self.graph.degrees,
            parent=None if tree is None else tree.parent,
            plan=[value for name, value in vars(plan).items() if name != "limits"],
            limits=vars(plan.limits),
        )
        method = "cluster of shards" if tree is None else "refine of shards"
        return Checkpoint(folder, method=method, identity=identity, random_state=random_state)

    def from_cells(self) -> Searched:
        """Parts that are made of cells of the graph, searched."""
        with self.parts.stage("cells"):
            part_of_node = self._divided()
        with self.parts.stage("graphs") as stage:
            graphs = self._graphs(part_of_node, stage)
            partners = self.parts.workers.gather([self.parts.delayed(owners)(one) for one in graphs])
        return self.parts.from_graphs(graphs, partners)

    def _divided(self) -> NDArray[np.int32]:
        """The part of each node: bundles of cells along a tree over the cells."""
        plan = self.parts.plan

        def compute() -> dict[str, Any]:
            cells = find_cells(
                self.parts.workers,
                self.parts.delayed,
                self.buckets,
                self.weight,
                self.graph.rounders,
                most=plan.part / _CELLS_THAT_FILL_A_PART,
                target=plan.n_cells,
            )
            tree = heavy_linkage(cells.graph, cells.weight)
            bundle = bundled(tree, cells.weight, plan.part).label
            return {"part": bundle[cells.of_node].astype(np.int32)}

        part: NDArray[np.int32] = self.parts.steps.here("division", compute)["part"]
        return part

    def _graphs(self, part_of_node: NDArray[np.int32], stage: Stage | None = None) -> list[Any]:
        """The graph of each part, on the workers."""
        delayed = self.parts.delayed
        shared = delayed(part_of_node, traverse=False)
        sent = [delayed(send_edges)(bucket, shared) for bucket in self.buckets]
        found = self.parts.workers.persist(
            [
                delayed(part_graph)([delayed(item)(one, part) for one in sent], part, shared)
                for part in range(int(part_of_node.max()) + 1)
            ],
            stage,
        )
        # the edges are in the parts now
        self.buckets = []
        return found

    def along(self, start: Tree, bundles: Bundles, sweeps: int) -> Searched:
        """Parts cut along a tree, searched."""
        delayed = self.parts.delayed
        label = bundles.label
        graphs = self._graphs(label.astype(np.int32))
        news = []
        for part, graph in enumerate(graphs):
            over, roots = over_pieces(
                start, bundles.nodes[bundles.of_node == part], np.flatnonzero(label == part)
            )
            news.append(delayed(part_of_tree)(graph, delayed(over, traverse=False), roots))
        return self.parts.from_new_parts(news, graphs, start, bundles, sweeps)

    def with_heights(self, searched: Searched) -> tuple[Tree, Floats]:
        """The tree with heights, and what meets at its nodes."""
        tree, cross = searched.whole.tree, searched.whole.cross
        loops = self.graph.self_loops
        if loops.any():
            n = tree.n_leaves
            cross = cross + np.bincount(tree.parent[:n] - n, loops, minlength=tree.n_internal)
        return with_heights(tree, self.graph, cross), cross

    def built(self, tree: Tree, cross: Floats) -> Built:
        """The tree with what it was built by."""
        total = self.graph.total or 1.0
        report = ClusterReport(
            f"graph of {self.graph.n_points:,} nodes in shards",
            repr(self.graph),
            self.parts.cost_before / total,
            float(cost_of_cross(tree, cross)) / total,
            self.parts.seconds,
        )
        return Built(tree, self.graph, report)


def _weights(ends: Ints, limits: Limits) -> tuple[Floats, Plan]:
    """What each node counts for in the size of a part, by itself and by its edges; and the sizes that follow."""
    weight = np.maximum(1.0, ends * (limits.part / limits.edges))
    return weight, Plan.of(len(ends), limits, total=float(weight.sum()))
