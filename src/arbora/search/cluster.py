"""`cluster`: one call from data to the best tree that can be found quickly.

`arbora.TreeClustering` is the same as a scikit-learn estimator; both run `build`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple

import scipy.sparse as sp

from arbora._base.distributed import array_of, is_dask
from arbora._base.params import check_choice, check_seconds, check_switch, check_whole
from arbora._base.progress import Bar, ProgressCallback, Stage, both, check_progress, silent
from arbora._base.random import with_words_for_seed
from arbora._base.threads import count_threads
from arbora._base.types import PathLike, RandomState
from arbora.search.components import join_components
from arbora.search.inputs import (
    DIRECTIONS,
    METRICS,
    SIMILARITY_KINDS,
    Direction,
    Input,
    Metric,
    SettledMetric,
    SimilarityKind,
    compare,
    read_input,
)
from arbora.search.multilevel import LEVELS
from arbora.search.refine import MAX_SWEEPS, Effort, Improved, Task, improved
from arbora.search.report import ClusterReport, cost_per_weight
from arbora.search.start import first_tree
from arbora.similarity import Similarity, are_few
from arbora.similarity.scaling import SCALES, Scale, Scaling, choose, fit_scaling
from arbora.tree import Tree

# Perturbations of the search for up to this many points; none beyond.
_PERTURBATIONS = ((2_000, 8), (10_000, 4), (30_000, 2))
# mean depth of leaves from which it adds to the work of a sweep; vectors and most graphs stay below 30, stars do not
_DEEP = 100
N_NEIGHBORS = 10


def cluster(
    data: Any,
    metric: Metric = "auto",
    similarity: SimilarityKind = "auto",
    *,
    scale: Scale = "auto",
    n_neighbors: int = N_NEIGHBORS,
    directed: Direction | None = None,
    n_perturbations: int | None = None,
    max_seconds: float | None = None,
    n_jobs: int | None = None,
    random_state: RandomState = None,
    verbose: bool = False,
    progress: ProgressCallback | None = None,
    checkpoint: PathLike | None = None,
) -> Tree:
    """Hierarchical clustering of vectors, a graph or any similarity, with choices that suit its size.

    Vectors become a graph of nearest neighbors, on which a tree's cost says how pure its clusters are (on all
    pairs it hardly does). Average linkage gives a first tree, of large networks inside their communities first
    (`arbora.linkages.community_linkage`); `refine` improves it. Above 30,000 points each subtree is tried a few times,
    which is most of the gain for a part of the time; ``TreeClustering().fit(data).refine()`` continues from there, on
    the same similarity.

    Parameters
    ----------
    data : array-like of shape (n, d), frame, path, store, iterable of chunks, sparse matrix, networkx graph, \
            tuple (rows, cols[, weights]), similarity or Dask array
        Rows are points. A square symmetric sparse matrix, a networkx graph or a tuple is a graph. A square
        symmetric array is refused: pass ``arbora.similarity.dense(W)``. The index of a pandas frame and the nodes
        of a networkx graph become the names of the leaves.
        Rows may also be read in pieces: the path of a .npy, HDF5, Parquet or zarr file or of a directory of such files,
        a memory map, an open store, a list or an iterator of matrices, a function that returns one. They are collected
        in one array; `arbora.read` is for other files.
        The rows of a Dask array stay on its cluster, and so do the edges of a graph in shards
        (`arbora.similarity.graph`): see the guide, "From a laptop to a cluster".
    metric : {"auto", "cosine", "euclidean", "precomputed"}
        How vectors are compared. "auto" picks what suits them (`arbora.similarity.scaling`): the cosine for embeddings,
        pixels and sparse rows, distances for tables and principal components. "precomputed" where `data` are
        distances, a square matrix or SciPy's condensed form.
    similarity : {"auto", "knn", "cosine"}
        For vectors: "auto" and "knn" build a graph of nearest neighbors, "cosine" compares all pairs. "auto"
        compares all pairs of up to two points per neighbor, and refuses what may not be vectors:
        rows of probabilities, which `arbora.L2H` is for, and square matrices.
    scale : {"auto", "standard", "robust", "rank", "components", "none"}
        What is done with the columns of vectors first. "auto", together with ``metric="auto"``, standardizes a table
        of unlike units, takes the ranks of heavy-tailed columns, and else what finds clearly more structure than the
        columns as they are; with your own choice of metric nothing is done. "components" leaves the principal
        components that stand out of noise.
    n_neighbors : int
        Neighbors of each point in the graph.
    directed : {"sum", "max", "mean"}, optional
        How the two directions of an edge become one in a graph that is not symmetric; without it such a graph is
        refused.
    n_perturbations : int, optional
        Times the tree is perturbed at random and improved again (see `refine`); by default 8 for up to 2,000
        points, down to none above 30,000. Trees far deeper than usual, as of a star, count as more points.
    max_seconds : float, optional
        Time budget of the refinement.
    n_jobs : int, optional
        Threads; by default all cores.
    random_state : int, RandomState, Generator or None
        Seed.
    verbose : bool
        Show progress and print the report, both on standard error: what a program prints stays its own.
    progress : callable, optional
        Called often with ``(stage, done, total)``; the stages are "similarity", "average linkage", "refine" and
        "components", after "reading" where rows are read in pieces.
    checkpoint : path, optional
        Folder in which finished steps of the search are saved; the same call resumes from them (see `refine`).

    Returns
    -------
    tree : Tree
        Binary, with heights. `arbora.TreeClustering` also gives the similarity, the report and `predict`.

    Examples
    --------
    >>> import arbora as ab
    >>> from sklearn.datasets import load_iris
    >>> tree = ab.cluster(load_iris().data, random_state=0)
    >>> tree
    Tree(n_leaves=150, n_internal=149, binary)
    >>> len(set(tree.cut(n_clusters=3)))
    3
    """
    options = Options(
        metric,
        similarity,
        scale,
        n_neighbors,
        directed,
        n_perturbations,
        max_seconds,
        n_jobs,
        random_state,
        verbose,
        checkpoint,
    )
    options.check()
    report = options.with_bar(check_progress(progress))
    data, _ = array_of(data, argument="data")
    if is_dask(data):
        # the package that can do this is a layer above this one
        built = import_module("arbora.scale").build_on_dask(data, options, report, argument="data")
    else:
        built = build(options.read(data, "data", report), options, report)
    if verbose:
        print(built.report, file=sys.stderr)
    tree: Tree = built.tree
    return tree


@dataclass(frozen=True)
class Options:
    """The parameters that `cluster` and `TreeClustering` share, as the user gave them."""

    metric: Metric = "auto"
    similarity: SimilarityKind = "auto"
    scale: Scale = "auto"
    n_neighbors: int = N_NEIGHBORS
    directed: Direction | None = None
    n_perturbations: int | None = None
    max_seconds: float | None = None
    n_jobs: int | None = None
    random_state: RandomState = None
    verbose: bool = False
    checkpoint: PathLike | None = None

    def check(self) -> None:
        """Refuse what is wrong before any work begins."""
        check_choice(self.metric, "metric", METRICS)
        check_choice(self.similarity, "similarity", SIMILARITY_KINDS)
        check_choice(self.scale, "scale", SCALES)
        check_choice(self.directed, "directed", (None, *DIRECTIONS))
        if self.similarity == "cosine" and self.metric not in ("auto", "cosine"):
            raise ValueError(
                f'similarity="cosine" compares by the cosine. Use similarity="knn" for metric={self.metric!r}.'
            )
        check_whole(self.n_neighbors, "n_neighbors")
        if self.n_perturbations is not None:
            check_whole(self.n_perturbations, "n_perturbations", least=0)
        check_seconds(self.max_seconds)
        count_threads(self.n_jobs)
        with_words_for_seed(self.random_state)
        check_switch(self.verbose, "verbose")

    def with_bar(self, progress: ProgressCallback) -> ProgressCallback:
        """Where progress is reported: to the caller and, if asked for, on a bar."""
        return both(progress, Bar()) if self.verbose else progress

    def read(self, data: Any, argument: str, progress: ProgressCallback = silent) -> Input:
        """What was given, checked."""
        return read_input(
            data, self.similarity, self.directed, metric=self.metric, argument=argument, progress=progress
        )

    def perturbations_for(self, first: Tree) -> int:
        """Perturbations of the search: as given, or what suits the size of the tree it begins with.

        A sweep passes each edge's ends on their way up to where they meet: chains, as of a star, make it quadratic.
        """
        if self.n_perturbations is not None:
            return self.n_perturbations
        size = first.n_leaves * max(1.0, _mean_depth(first) / _DEEP)
        return next((count for limit, count in _PERTURBATIONS if size <= limit), 0)

    def compares_all_pairs_of(self, n_points: int) -> bool:
        """Whether all pairs are compared because among a few points being the nearest says little."""
        return self.similarity == "auto" and are_few(n_points, self.n_neighbors)

    def settle(self, given: Input) -> Settled:
        """The metric and the scaled vectors, where they were left to us."""
        metric: SettledMetric = "cosine" if self.metric == "auto" else self.metric
        if given.kind != "vectors" or self.similarity == "cosine":
            return Settled(given, metric)
        scale, reason = ("none" if self.scale == "auto" else self.scale), ""
        if self.metric == "auto":
            choice = choose(given.values)
            metric, reason = choice.metric, choice.reason
            scale = choice.scale if self.scale == "auto" else self.scale
            # scaled columns have no direction that means anything
            metric = "euclidean" if scale != "none" else metric
        if scale != "none" and sp.issparse(given.values):
            raise ValueError(
                f"scale={scale!r} needs dense vectors: centered columns are not sparse. Use scale='none'."
            )
        scaling = fit_scaling(scale, given.values) if scale != "none" else None
        if scaling is not None:
            scaled = scaling.apply(given.values, overwrite=given.is_own)
            given = given._replace(values=scaled, is_own=True)
        return Settled(given, metric, scaling, reason)

    def choices(self, settled: Settled, compared: Similarity, first: Tree | None) -> dict[str, str]:
        """What was chosen and why, for each parameter that was left to us.

        `first` is the tree that the search began with; None where it was searched in parts, which are not perturbed.
        """
        n_points = compared.n_points
        given, chosen = settled.given, {}
        if settled.reason:
            chosen["metric"] = f"{settled.metric}, scale {settled.scale} ({settled.reason})"
        is_compared = given.kind in ("vectors", "distances") and self.similarity == "auto"
        if is_compared and self.compares_all_pairs_of(n_points):
            chosen["similarity"] = f"all pairs, metric {settled.metric} ({n_points} points are few)"
        elif is_compared:
            chosen["similarity"] = f"knn, metric {settled.metric} ({given.description} were given)"
        if self.n_perturbations is not None:
            return chosen
        if first is None:
            chosen["n_perturbations"] = "0 (parts are not perturbed)"
        else:
            depth = _mean_depth(first)
            deep = f", {depth:,.0f} deep in the mean" if depth > _DEEP else ""
            chosen["n_perturbations"] = f"{self.perturbations_for(first)} (suits {n_points:,} points{deep})"
        return chosen


class Settled(NamedTuple):
    """Data ready to be compared, and how."""

    given: Input
    metric: SettledMetric
    scaling: Scaling | None = None
    reason: str = ""

    @property
    def scale(self) -> str:
        """What was done with the columns."""
        return scale_of(self.scaling)


class Built(NamedTuple):
    """A tree with what it was built by."""

    tree: Tree
    similarity: Similarity
    report: ClusterReport
    metric: SettledMetric = "cosine"
    scaling: Scaling | None = None

    @property
    def scale(self) -> str:
        """What was done with the columns."""
        return scale_of(self.scaling)


def scale_of(scaling: Scaling | None) -> str:
    """A scaling as the parameter `scale` names it."""
    return "none" if scaling is None else scaling.kind


def build(given: Input, options: Options, progress: ProgressCallback = silent) -> Built:
    """Compare, link, refine, join what the graph leaves apart."""
    shards = given.values.in_shards() if given.kind in ("similarity", "graph") else None
    if shards is not None:
        # the package that can do this is a layer above this one
        spread: Built = import_module("arbora.scale").build_graph_on_dask(shards, options, progress)
        return spread
    seconds: dict[str, float] = {}
    n_threads = count_threads(options.n_jobs)
    with Timed(seconds, "similarity", progress) as stage:
        settled = options.settle(given)
        compared = compare(
            settled.given,
            metric=settled.metric,
            similarity=options.similarity,
            n_neighbors=options.n_neighbors,
            n_jobs=n_threads,
            random_state=options.random_state,
            progress=stage.update,
            overwrite=settled.given.is_own,
        )
        # vectors that are no longer needed
        given = given._replace(values=None)
        settled = settled._replace(given=given)
    with Timed(seconds, "average linkage", progress):
        # names from here on, so that an interrupted search hands out a tree with names
        first = first_tree(compared, n_threads).replace(name=given.names)
    with Timed(seconds, "refine", progress) as stage:
        found = _refined(first, compared, options, stage.update)
    with Timed(seconds, "components", progress):
        tree, n_components = join_components(found.tree, compared, found.cross)
    report = ClusterReport(
        given.description,
        repr(compared),
        cost_per_weight(found.cost_before, compared),
        cost_per_weight(found.cost_after, compared),
        seconds,
        n_components=n_components,
        choices=options.choices(settled, compared, first),
        _compared=compared,
    )
    return Built(tree, compared, report, settled.metric, settled.scaling)


def _refined(
    first: Tree, compared: Similarity, options: Options, update: Callable[[float], None]
) -> Improved:
    task = Task(
        max_sweeps=MAX_SWEEPS if first.n_leaves < LEVELS.large else 1,
        n_perturbations=options.perturbations_for(first),
    )
    return improved(
        first,
        compared,
        task,
        Effort(options.max_seconds, count_threads(options.n_jobs)),
        options.random_state,
        progress=lambda stage, done, total: update(done),
        checkpoint=options.checkpoint,
    )


def _mean_depth(tree: Tree) -> float:
    """Edges between a leaf and the root, in the mean."""
    return float(tree.depths[: tree.n_leaves].mean())


class Timed(Stage):
    """A stage whose time is added to a table."""

    def __init__(self, seconds: dict[str, float], name: str, progress: ProgressCallback) -> None:
        super().__init__(progress, name)
        self._table = seconds

    def __exit__(self, problem: object, *rest: object) -> None:
        super().__exit__(problem, *rest)
        self._table[self.name] = self.seconds
