"""`cluster`: the one call, from data to the best tree that can be had quickly."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from arbora.linkages import linkage
from arbora.metrics import dasgupta_bounds, dasgupta_cost
from arbora.search.budget import Report
from arbora.search.components import join_components
from arbora.search.refine import refine
from arbora.search.restarts import LARGE
from arbora.similarity import GraphSimilarity, KnnSimilarity, Similarity, cosine, graph, knn
from arbora.similarity._protocol import is_similarity
from arbora.similarity.features import checked_vectors
from arbora.tree import Tree

_RESTARTS = ((2_000, 8), (10_000, 4), (30_000, 1))  # up to this many points: so many restarts
_SAMPLED_TRIPLES = 200_000
_KINDS = ("auto", "knn", "cosine")
N_NEIGHBORS = 10
_MAX_SWEEPS = 100  # until no move helps


@dataclass
class ClusterReport:
    """What `cluster` did, how good the tree is, and how long each stage took."""

    data: str
    similarity: str
    cost_before: float
    cost_after: float
    lower_bound: float
    upper_bound: float
    seconds: dict[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        gain = 100 * (1 - self.cost_after / self.cost_before) if self.cost_before else 0.0
        stages = ", ".join(f"{stage} {spent:.2f} s" for stage, spent in self.seconds.items())
        return (
            f"{self.data} -> {self.similarity}\n"
            f"Dasgupta cost (normalized): average linkage {self.cost_before:.4f}, refined {self.cost_after:.4f} "
            f"({gain:.2f} % lower); bounds [{self.lower_bound:.4f}, {self.upper_bound:.4f}]\n"
            f"{stages}"
        )


def cluster(
    data: Any,
    metric: str = "cosine",
    similarity: str = "auto",
    *,
    n_neighbors: int = N_NEIGHBORS,
    restarts: int | None = None,
    max_seconds: float | None = None,
    n_jobs: int | None = None,
    random_state: Any = None,
    verbose: bool = False,
    return_report: bool = False,
    progress: Report | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Any:
    """Hierarchical clustering of vectors, a graph or any similarity, with choices that suit its size.

    Vectors become a graph of nearest neighbors, on which a tree's cost says how pure its clusters are (on all
    pairs it hardly does). Average linkage gives a first tree; `refine` improves it. Above 30,000 points it looks
    at each subtree once or twice, which is most of the gain for a third of the time; ``refine(tree,
    similarity.knn(X))`` goes on from there.

    Parameters
    ----------
    data : array-like of shape (n, d), sparse matrix, networkx graph, tuple (rows, cols[, weights]) or similarity
        Rows are points; a square symmetric sparse matrix, a networkx graph or a tuple is a graph. A square
        symmetric array is refused: say ``arbora.similarity.dense(W)``.
    metric : {"cosine", "euclidean"}
        How vectors are compared.
    similarity : {"auto", "knn", "cosine"}
        For vectors: "auto" and "knn" build a graph of nearest neighbors, "cosine" compares all pairs. "auto"
        refuses rows of probabilities, which `arbora.L2H` is for; "knn" takes them as vectors.
    n_neighbors : int
        Neighbors of each point in the graph.
    restarts : int, optional
        Times the tree is shaken and improved anew (see `refine`); by default 8 for up to 2,000 points, down to none.
    max_seconds : float, optional
        Time budget of the refinement.
    n_jobs : int, optional
        Threads; by default all cores.
    random_state : int, RandomState or None
        Seed.
    verbose : bool
        Show progress and print the report.
    return_report : bool
        Return ``(tree, ClusterReport)``.
    progress : callable, optional
        Called often with the stage ("similarity", "average linkage", "refine") and the share of it that is done.
    checkpoint : path, optional
        Folder in which finished steps of the search are kept; the same call takes them up (see `refine`).

    Returns
    -------
    tree : Tree
        Binary, with heights.

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
    seconds: dict[str, float] = {}
    workers = n_jobs if n_jobs and n_jobs > 0 else os.cpu_count() or 1
    with _Clock(seconds, "similarity", progress):
        tell = None if progress is None else partial(progress, "similarity")
        compared, what = _as_similarity(data, metric, similarity, n_neighbors, workers, random_state, tell)
    n = compared.n_points
    with _Clock(seconds, "average linkage", progress):
        first = linkage(compared, "average")
    if restarts is None:
        restarts = next((count for limit, count in _RESTARTS if n <= limit), 0)
    with _Clock(seconds, "refine", progress):
        seed = None if random_state is None else check_random_state(random_state).randint(2**31)
        tree = refine(
            first,
            compared,
            restarts=restarts,
            max_sweeps=_MAX_SWEEPS if n < LARGE else 1,
            max_seconds=max_seconds,
            n_jobs=workers,
            random_state=seed,
            verbose=verbose,
            progress=progress,
            checkpoint=checkpoint,
        )
    if isinstance(compared, KnnSimilarity) and not is_similarity(data):
        with _Clock(seconds, "components"):
            tree = join_components(tree, compared, data, metric)
    if not (verbose or return_report):
        return tree
    with _Clock(seconds, "report"):
        report = _report(what, first, tree, compared, seconds)
    if verbose:
        print(report)
    return (tree, report) if return_report else tree


class _Clock:
    """Adds the time spent inside to a table, and tells when it begins and ends."""

    def __init__(self, seconds: dict[str, float], stage: str, progress: Report | None = None) -> None:
        self._seconds, self._stage = seconds, stage
        self._tell = progress or (lambda stage, share: None)

    def __enter__(self) -> None:
        self._start = time.perf_counter()
        self._tell(self._stage, 0.0)

    def __exit__(self, problem: object, *_: object) -> None:
        self._seconds[self._stage] = time.perf_counter() - self._start
        if problem is None:
            self._tell(self._stage, 1.0)


def _report(
    what: str, first: Tree, tree: Tree, similarity: Similarity, seconds: dict[str, float]
) -> ClusterReport:
    if similarity.n_points < 3 or similarity.total <= 0:
        lower = upper = before = after = dasgupta_cost(tree, similarity) if similarity.n_points > 1 else 0.0
    else:
        before = dasgupta_cost(first, similarity, normalize=True)
        after = dasgupta_cost(tree, similarity, normalize=True)
        sampled = (
            None
            if isinstance(similarity, GraphSimilarity) or similarity.n_points <= 1000
            else _SAMPLED_TRIPLES
        )
        lower, upper = dasgupta_bounds(similarity, n_samples=sampled, random_state=0, normalize=True)
    return ClusterReport(what, repr(similarity), before, after, lower, upper, seconds)


def _as_similarity(
    data: Any,
    metric: str,
    similarity: str,
    n_neighbors: int,
    n_jobs: int,
    random_state: Any,
    progress: Callable[[float], None] | None,
) -> tuple[Similarity, str]:
    if similarity not in _KINDS:
        raise ValueError(f"similarity must be one of {_KINDS}. Got {similarity!r}.")
    if metric not in ("cosine", "euclidean"):
        raise ValueError(f'metric must be "cosine" or "euclidean". Got {metric!r}.')
    if is_similarity(data):
        return data, "similarity given"
    if isinstance(data, tuple) or hasattr(data, "adj") or _is_adjacency(data):
        found = graph(data)
        return found, f"graph of {found.n_points:,} nodes"
    _refuse_what_is_not_vectors(data, similarity)
    n, d = data.shape if sp.issparse(data) else np.shape(data)
    if similarity == "cosine":
        if metric != "cosine":
            raise ValueError(
                'similarity="cosine" compares by the cosine. Use similarity="knn" for metric="euclidean".'
            )
        return cosine(data), f"{n:,} vectors of {d} features"
    found = knn(
        data,
        n_neighbors=min(n_neighbors, max(1, n - 1)),
        metric=metric,
        n_jobs=n_jobs,
        random_state=random_state,
        progress=progress,
    )
    return found, f"{n:,} vectors of {d} features"


def _is_adjacency(data: Any) -> bool:
    """A square sparse matrix equal to its mirror is the adjacency of a graph."""
    return sp.issparse(data) and data.shape[0] == data.shape[1] and abs(data - data.T).max() < 1e-9


def _refuse_what_is_not_vectors(data: Any, similarity: str) -> None:
    if sp.issparse(data):
        return
    array = checked_vectors(data, argument="data")
    n, d = array.shape
    if n == d and n > 2 and np.allclose(array, array.T):
        raise ValueError(
            "data is a square symmetric array: similarities, distances or vectors? Pass arbora.similarity.dense(W) "
            "for similarities W, and for distances D arbora.similarity.dense(D.max() - D)."
        )
    if similarity == "auto" and d > 2 and n > d and _looks_like_class_scores(array):
        raise ValueError(
            "The rows of data are probabilities or log-probabilities of classes. For a tree over the classes use "
            'arbora.L2H; to cluster the rows as vectors say similarity="knn".'
        )


def _looks_like_class_scores(array: np.ndarray) -> bool:
    """Rows that sum to 1, or whose exponentials do."""
    probe = array[:: max(1, len(array) // 1000)]
    if probe.min() >= 0:
        return bool(np.allclose(probe.sum(axis=1), 1, atol=1e-3))
    return bool(probe.max() <= 1e-6 and np.allclose(np.exp(probe).sum(axis=1), 1, atol=1e-3))
