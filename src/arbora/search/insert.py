"""A tree that gets more points: each at its best place, then a search around them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from arbora._base.params import check_seconds, check_switch, check_whole
from arbora._base.progress import ProgressCallback, check_progress
from arbora._base.types import Ints
from arbora.errors import Interrupted
from arbora.search.engines import Engine, GraphEngine, make_engine
from arbora.search.heights import with_heights
from arbora.search.moves import Moves
from arbora.search.related import join_related
from arbora.search.run import Run, started
from arbora.similarity import as_similarity
from arbora.similarity.checks import check_points
from arbora.tree import Tree

# Subtrees tried around the new points, so that the work grows with them: a large tree was not searched until nothing
# moves, and what moves around a new point sets off a search of all that was left. At least this many, at little cost.
_TRIES_PER_POINT = 100
_LEAST_TRIES = 20_000


def insert(
    tree: Tree,
    similarity: Any,
    new_points: ArrayLike | None = None,
    *,
    max_sweeps: int = 100,
    max_seconds: float | None = None,
    verbose: bool = False,
    progress: ProgressCallback | None = None,
) -> Tree:
    """Insert new points into a tree, each at its exactly best place, and improve what lies around them.

    What is far from the new points stays as it is, so that a growing tree keeps its topics. It costs what the new
    points cost, not what a new tree would.

    Parameters
    ----------
    tree : Tree
        Over the points known so far.
    similarity : similarity or sparse adjacency
        Of all points, known and new.
    new_points : array-like of int, optional
        Numbers of the new points in `similarity`; by default the last ones. The others, in ascending order, are the
        leaves of `tree`.
    max_sweeps : int
        Passes over the subtrees around the new points; 0 only inserts.
    max_seconds : float, optional
        Time budget of these passes.
    verbose : bool
        Show progress on standard error.
    progress : callable, optional
        Called with ``("insert", done, 1.0)``: the share done, by estimate.

    Returns
    -------
    Tree
        Binary if `tree` is, with heights as from `refine`; leaf i is point i of `similarity`. Names are those of
        `similarity`, where it has some.

    Examples
    --------
    >>> import arbora as ab
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris().data
    >>> tree = ab.cluster(X[:120], random_state=0)
    >>> ab.search.insert(tree, ab.similarity.knn(X, n_neighbors=10, metric="cosine"))
    Tree(n_leaves=150, n_internal=149, binary)
    """
    similarity = as_similarity(similarity, "similarity")
    old, new = _old_and_new(tree, similarity.n_points, new_points)
    check_whole(max_sweeps, "max_sweeps", least=0)
    engine = make_engine(similarity, "dasgupta")
    found = tree.collapse_unary()
    if len(new) == 0:
        return with_heights(found, similarity)
    found = engine.insert(found, old, _reachable_first(similarity.csr, old, new))
    check_switch(verbose, "verbose")
    seconds = check_seconds(max_seconds)
    with started("insert", check_progress(progress), max_seconds=seconds, verbose=verbose) as run:
        found = _around(engine, found, new, max_sweeps, run)
    named = found.replace(name=similarity.names)
    grown = with_heights(named, similarity)
    if run.watch.is_interrupted:
        raise Interrupted("Ctrl-C was pressed. The tree with the new points inserted is .tree.", grown)
    return grown


def _old_and_new(tree: Tree, n_points: int, new_points: ArrayLike | None) -> tuple[Ints, Ints]:
    if not isinstance(tree, Tree):
        raise TypeError(f"tree must be a Tree. Got {type(tree).__name__}.")
    if new_points is None:
        new = np.arange(tree.n_leaves, n_points)
    else:
        new = np.unique(check_points(new_points, n_points)) if np.size(new_points) else np.empty(0, np.int64)
    if n_points - len(new) != tree.n_leaves:
        raise ValueError(
            f"similarity has {n_points} points, of which {len(new)} are new; the tree has {tree.n_leaves} leaves, "
            f"so that {n_points - tree.n_leaves} must be new."
        )
    return np.setdiff1d(np.arange(n_points), new), new


def _reachable_first(csr: sp.csr_array | None, old: Ints, new: Ints) -> Ints:
    """The new points, those first that have an edge into the tree, then their neighbors, and so on."""
    if csr is None:
        return new
    order: list[Ints] = []
    is_waiting = np.zeros(csr.shape[0], dtype=bool)
    is_waiting[new] = True
    reached = old
    while len(reached) and is_waiting.any():
        rows = csr[reached]
        reached = np.unique(rows.indices[is_waiting[rows.indices]]).astype(np.int64)
        is_waiting[reached] = False
        order.append(reached)
    return np.concatenate([*order, np.flatnonzero(is_waiting)])


def _around(engine: Engine, tree: Tree, new: Ints, max_sweeps: int, run: Run) -> Tree:
    """Search around the new leaves, and around what moves."""
    if max_sweeps > 0:
        max_tries = max(_TRIES_PER_POINT * len(new), _LEAST_TRIES)
        moves = Moves(around=new, max_sweeps=max_sweeps, max_tries=max_tries, certain=False)
        tree = engine.improve(tree, run, moves)
    if isinstance(engine, GraphEngine):
        tree = join_related(engine, tree, run.finishing())
    return tree
