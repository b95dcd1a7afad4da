"""`refine`: a better tree from any tree."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from arbora._base.checkpoint import Checkpoint, identity_of
from arbora._base.params import check_choice, check_seconds, check_switch, check_whole
from arbora._base.progress import ProgressCallback, check_progress, silent
from arbora._base.random import seed_of
from arbora._base.threads import allowing_threads, count_threads
from arbora._base.types import Floats, Objective, PathLike, RandomState
from arbora.errors import Interrupted
from arbora.metrics.dasgupta import cost_of_cross
from arbora.search._state import OBJECTIVES
from arbora.search.constraints import Links, check_links
from arbora.search.engines import Engine, GraphEngine, make_engine
from arbora.search.heights import with_heights
from arbora.search.multilevel import LEVELS, Levels
from arbora.search.parts import Kept, Part, SearchTree, search_parts
from arbora.search.perturb import Search
from arbora.search.run import Run, started
from arbora.similarity import Similarity, as_similarity
from arbora.tree import Tree
from arbora.tree.same_order import check_same_order

# until no move helps
MAX_SWEEPS = 100


def refine(
    tree: Tree,
    similarity: Any,
    objective: Objective = "dasgupta",
    *,
    max_sweeps: int = MAX_SWEEPS,
    n_internal: int | None = None,
    n_perturbations: int = 0,
    max_seconds: float | None = None,
    sample_weight: ArrayLike | None = None,
    must_link: Sequence[tuple[int, int]] | None = None,
    cannot_link: Sequence[tuple[int, int]] | None = None,
    keep_subtrees: Sequence[int] | None = None,
    keep_top: int | None = None,
    n_jobs: int | None = None,
    random_state: RandomState = None,
    verbose: bool = False,
    progress: ProgressCallback | None = None,
    checkpoint: PathLike | None = None,
) -> Tree:
    """Move subtrees to better places until no single move helps.

    Each move takes a subtree out and puts it back where it costs least, found exactly. A perturbation then counts a
    random share of the similarities double, improves the tree for those and then for the true ones, and takes over
    what got better: it leaves optima that no single move can. The result is never worse than the tree given (if
    that satisfies the links and `n_internal`), and the same for the same seed.

    Parameters
    ----------
    tree : Tree
        Where to start; any branching.
    similarity : similarity or sparse adjacency
        From `arbora.similarity`. Graphs and cosine features scale to millions of points; other kinds are
        searched as the graph of all pairs, up to 12,000 points. The edges of a large graph in shards stay where they
        are: see the guide, "From a laptop to a cluster".
    objective : {"dasgupta", "tsd"}
        Dasgupta's cost, or tree sampling divergence (graphs).
    max_sweeps : int
        Passes over the subtrees.
    n_internal : int, optional
        At most this many internal nodes.
    n_perturbations : int
        How often to perturb the tree.
    max_seconds : float, optional
        Time budget; perturbations continue until it is spent. Results then depend on the speed of the machine.
    sample_weight : array-like of float, shape (n_leaves,), optional
        A point of weight 3 counts as three in every size (Dasgupta's cost).
    must_link, cannot_link : sequences of pairs of leaves, optional
        Points linked (also through others) form one subtree; points that cannot be linked are separated at the
        root, which gets as many children as that needs.
    keep_subtrees : sequence of int, optional
        Nodes of `tree` below which nothing changes; they move as a whole.
    keep_top : int, optional
        What lies above the cut into this many clusters stays. A kept subtree that the cut would split stays whole.
    n_jobs : int, optional
        Threads for large graphs; by default all cores.
    random_state : int, RandomState, Generator or None
        Seed of the perturbations.
    verbose : bool
        Show progress on standard error.
    progress : callable, optional
        Called often with ``("refine", done, 1.0)``: the share done, by estimate.
    checkpoint : path, optional
        Folder in which finished steps are saved. The same call resumes from them, with the same tree as without an
        interruption; another call is refused.

    Returns
    -------
    Tree
        With heights, which say how much less alike than chance two groups are when they join (`arbora.search.heights`).

    Raises
    ------
    ConstraintError
        Where links contradict each other or what is to be kept.
    Interrupted
        On Ctrl-C, within about a second; its ``tree`` is the best tree so far.

    Examples
    --------
    >>> import arbora as ab
    >>> path = ab.similarity.graph(([0, 1, 2], [1, 2, 3], [5.0, 1.0, 5.0]))
    >>> chain = ab.Tree.from_merges([(0, 2), (4, 1), (5, 3)])
    >>> better = ab.refine(chain, path, random_state=0)
    >>> better.to_newick(lengths=False), ab.metrics.dasgupta_cost(better, path)
    ('((0,1),(2,3));', 24.0)
    """
    similarity = _checked_similarity(similarity, tree)
    task = Task(
        objective=check_choice(objective, "objective", OBJECTIVES),
        sample_weight=_checked_weights(sample_weight, tree.n_leaves, objective),
        max_sweeps=check_whole(max_sweeps, "max_sweeps"),
        n_internal=None if n_internal is None else check_whole(n_internal, "n_internal"),
        n_perturbations=check_whole(n_perturbations, "n_perturbations", least=0),
        links=Links.from_pairs(
            check_links(must_link, "must_link", tree.n_leaves),
            check_links(cannot_link, "cannot_link", tree.n_leaves),
            tree.n_leaves,
        ),
        kept=Kept.from_options(tree, keep_subtrees, keep_top),
    )
    effort = Effort(check_seconds(max_seconds), count_threads(n_jobs), check_switch(verbose, "verbose"))
    return improved(tree, similarity, task, effort, random_state, check_progress(progress), checkpoint).tree


@dataclass(frozen=True)
class Effort:
    """How a search is run, without effect on a result that has the time it needs."""

    max_seconds: float | None = None
    n_threads: int = 1
    verbose: bool = False


@dataclass(frozen=True)
class Task:
    """What decides the result of a search, its data and seed aside."""

    objective: Objective = "dasgupta"
    sample_weight: Floats | None = None
    max_sweeps: int = MAX_SWEEPS
    n_internal: int | None = None
    n_perturbations: int = 0
    links: Links = field(default_factory=Links)
    kept: Kept = field(default_factory=Kept)

    def __post_init__(self) -> None:
        if self.n_internal is not None and (self.links or self.kept):
            raise ValueError(
                "n_internal cannot be combined with links or kept parts: refine first, then compress."
            )

    def allows(self, tree: Tree) -> bool:
        """Whether a tree is one that the search could return."""
        is_small = self.n_internal is None or tree.n_internal <= self.n_internal
        return is_small and self.links.are_met_by(tree)

    def identity(self) -> dict[str, Any]:
        """All of it, as plain values and arrays."""
        return {**vars(self), "links": vars(self.links), "kept": vars(self.kept)}


class Improved(NamedTuple):
    """A better tree, and what the given one and this one cost by the given similarity.

    The costs are NaN where the two did not have to be compared.
    """

    tree: Tree
    cost_before: float = math.nan
    cost_after: float = math.nan
    # similarity that meets at each internal node, where it had to be known
    cross: Floats | None = None


def improved(
    tree: Tree,
    similarity: Similarity,
    task: Task,
    effort: Effort,
    random_state: RandomState = None,
    progress: ProgressCallback = silent,
    checkpoint: PathLike | None = None,
    levels: Levels = LEVELS,
) -> Improved:
    """The tree that `refine` returns, from options that are checked; raises `Interrupted` on Ctrl-C."""
    shards = similarity.in_shards()
    if shards is not None:
        # the package that can do this is a layer above this one
        scale = import_module("arbora.scale")
        if not scale.is_small(shards):
            spread: Improved = scale.refine_on_dask(
                tree, shards, task, effort, random_state, progress, checkpoint
            )
            return spread
    with allowing_threads(effort.n_threads):
        return _improved(tree, similarity, task, effort, random_state, progress, checkpoint, levels)


def _improved(
    tree: Tree,
    similarity: Similarity,
    task: Task,
    effort: Effort,
    random_state: RandomState,
    progress: ProgressCallback,
    checkpoint: PathLike | None,
    levels: Levels,
) -> Improved:
    engine = make_engine(similarity, task.objective, task.sample_weight)
    start = tree.collapse_unary()
    saved = None
    if checkpoint is not None:
        # steps of large trees hold leaves in depth-first order; those of earlier versions did not
        identity = identity_of(tree=tree, similarity=similarity, task=task, leaves="depth-first")
        saved = Checkpoint(checkpoint, method="refine", identity=identity, random_state=random_state)
    rng = np.random.default_rng(seed_of(random_state) if saved is None else saved.seed)
    found = start
    try:
        with started(
            "refine",
            progress,
            max_seconds=effort.max_seconds,
            verbose=effort.verbose,
            checkpoint=saved,
        ) as run:
            options = (task.n_internal, task.max_sweeps, task.n_perturbations, effort.n_threads, levels)
            search = _in_portions(tree.n_leaves * task.links.n_rounds, run, rng, options)
            found = search_parts(Part(engine, start, task.links, task.kept), search)
            if run.watch.is_interrupted:
                raise KeyboardInterrupt
    except KeyboardInterrupt as stop:
        best = _finished(found, tree, similarity, task, engine).tree
        raise Interrupted("The search was interrupted. The best tree so far is .tree.", best) from stop
    return _finished(found, tree, similarity, task, engine)


def _in_portions(n_expected: int, run: Run, rng: np.random.Generator, options: tuple[Any, ...]) -> SearchTree:
    """A search of parts, each of which gets time and a share of the progress by its number of leaves."""
    n_searched = 0

    def search(engine: Engine, part: Tree) -> Tree:
        nonlocal n_searched
        bounds = [min(count / n_expected, 1.0) for count in (n_searched, n_searched + part.n_leaves)]
        n_searched += part.n_leaves
        with run.portion(*bounds):
            return Search(engine, run, rng, *options).improve(part)

    return search


def _finished(found: Tree, start: Tree, similarity: Similarity, task: Task, engine: Engine) -> Improved:
    """The better of the two trees, with names and heights."""
    cross, costs = None, (math.nan, math.nan)
    if not task.allows(start):
        best = found
    elif engine.objective == "dasgupta":
        # where an engine has raised negative similarities, which ranks only binary trees rightly, the given ones decide
        crosses = [_cross(tree, similarity, engine) for tree in (found, start)]
        after, before = (
            cost_of_cross(tree, cross, task.sample_weight) for tree, cross in zip((found, start), crosses)
        )
        best, cross = (found, crosses[0]) if _is_better(found, start, after, before) else (start, crosses[1])
        costs = before, min(before, after)
    else:
        after, before = (float(engine.costs(tree).sum()) for tree in (found, start))
        best = found if _is_better(found, start, after, before) else start
    named = best.replace(name=None if start.name is None else start.name[: start.n_leaves])
    return Improved(with_heights(named, similarity, cross), *costs, cross)


def _cross(tree: Tree, similarity: Similarity, engine: Engine) -> Floats:
    """``similarity.cross(tree)``; what the search summed last is not summed again."""
    if isinstance(engine, GraphEngine) and engine.graph is similarity:
        return engine.cross(tree)
    return similarity.cross(tree)


def _is_better(found: Tree, start: Tree, after: float, before: float) -> bool:
    """Whether the tree that was found is the one to return.

    A tree whose cost is not finite cannot be compared; unary nodes are worth returning only if they gain.
    """
    return after < before or (after == before and bool((start.n_children < 2).any()))


def _checked_similarity(similarity: Any, tree: Tree) -> Similarity:
    if not isinstance(tree, Tree):
        raise TypeError(f"tree must be a Tree. Got {type(tree).__name__}.")
    read: Similarity = as_similarity(similarity, "similarity")
    if read.n_points != tree.n_leaves:
        raise ValueError(f"similarity has {read.n_points} points, but the tree has {tree.n_leaves} leaves.")
    check_same_order(tree, read.names, "similarity")
    return read


def _checked_weights(sample_weight: ArrayLike | None, n_leaves: int, objective: str) -> Floats | None:
    if sample_weight is None:
        return None
    if objective == "tsd":
        raise ValueError("sample_weight does not apply to objective='tsd', where degrees take its place.")
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n_leaves,) or not np.isfinite(weights).all() or (weights <= 0).any():
        raise ValueError(f"sample_weight must hold {n_leaves} positive numbers. Got shape {weights.shape}.")
    return weights
