"""`refine`: a better tree from any tree."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from arbora.metrics import dasgupta_cost
from arbora.metrics._inputs import as_similarity
from arbora.search.budget import Budget, Report
from arbora.search.constraints import Constraints, check_links
from arbora.search.engines import Engine, make_engine
from arbora.search.heights import with_heights
from arbora.search.multilevel import graft
from arbora.search.restarts import Search
from arbora.search.steps import Steps, identity_of
from arbora.similarity import Similarity
from arbora.tree import Tree


def refine(
    tree: Tree,
    similarity: Any,
    objective: str = "dasgupta",
    *,
    max_sweeps: int = 100,
    n_internal: int | None = None,
    restarts: int = 0,
    max_seconds: float | None = None,
    sample_weight: ArrayLike | None = None,
    must_link: Sequence[tuple[int, int]] | None = None,
    cannot_link: Sequence[tuple[int, int]] | None = None,
    keep_subtrees: Sequence[int] | None = None,
    keep_top: int | None = None,
    n_jobs: int | None = None,
    random_state: Any = None,
    verbose: bool = False,
    progress: Report | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Tree:
    """Move subtrees to better places until no single move helps.

    Each move takes a subtree out and puts it back where it costs least, found exactly. A restart then counts a
    random share of the similarities double, improves the tree for those and then for the true ones, and takes over
    what got better: it leaves optima that no single move can. The result is never worse than the tree given, and
    the same for the same seed.

    Parameters
    ----------
    tree : Tree
        Where to start; any branching.
    similarity : similarity or sparse adjacency
        From `arbora.similarity`. Graphs and cosine features scale to millions of points; other kinds are
        searched as the graph of all pairs, up to 12,000 points.
    objective : {"dasgupta", "tsd"}
        Dasgupta's cost, or tree sampling divergence (graphs).
    max_sweeps : int
        Passes over the subtrees.
    n_internal : int, optional
        At most this many internal nodes.
    restarts : int
        How often to shake the tree.
    max_seconds : float, optional
        Time budget; restarts go on until it is spent. Results then depend on the speed of the machine.
    sample_weight : array-like of float, shape (n_leaves,), optional
        A point of weight 3 counts as three in every size (Dasgupta's cost).
    must_link, cannot_link : sequences of pairs of leaves, optional
        Points linked (also through others) form one subtree; points that cannot be linked are parted at the
        root, which gets as many children as that needs.
    keep_subtrees : sequence of int, optional
        Nodes below which nothing changes; they move as a whole.
    keep_top : int, optional
        What lies above the cut into this many clusters stays.
    n_jobs : int, optional
        Threads for large graphs; by default all cores.
    random_state : int, RandomState or None
        Seed of the restarts.
    verbose : bool
        Show progress. Ctrl-C returns the best tree so far.
    progress : callable, optional
        Called often with ``("refine", share)``, the share done by estimate, 0 to 1.
    checkpoint : path, optional
        Folder in which finished steps are kept. The same call finds them there and goes on, to the same tree as
        without an interruption; another call is refused.

    Returns
    -------
    Tree
        With heights: 1 / mean similarity of the pairs that meet at a node, made to grow upwards.

    Examples
    --------
    >>> import arbora as ab
    >>> path = ab.similarity.graph(([0, 1, 2], [1, 2, 3], [5.0, 1.0, 5.0]))
    >>> chain = ab.Tree.from_merges([(0, 2), (4, 1), (5, 3)])
    >>> better = ab.refine(chain, path)
    >>> better.to_newick(lengths=False), ab.metrics.dasgupta_cost(better, path)
    ('((0,1),(2,3));', 24.0)
    """
    similarity = _checked_similarity(similarity, tree)
    leaf_size = _checked_weights(sample_weight, tree.n_leaves, objective)
    _check_counts(max_sweeps=max_sweeps, restarts=restarts, n_internal=n_internal)
    engine = make_engine(similarity, objective, leaf_size)
    constraints = Constraints(
        check_links(must_link, "must_link", tree), check_links(cannot_link, "cannot_link", tree)
    )
    if n_internal is not None and (constraints or keep_subtrees or keep_top):
        raise ValueError(
            "n_internal cannot be combined with links or kept parts: refine first, then compress."
        )
    start = tree.collapse_unary()
    seed = int(check_random_state(random_state).randint(2**31))
    steps = None
    if checkpoint is not None:
        settings = (objective, max_sweeps, n_internal, restarts, keep_subtrees, keep_top, leaf_size)
        identity = identity_of(start, similarity, *settings, constraints.must_link, constraints.cannot_link)
        steps = Steps(checkpoint, identity, seed, is_chosen=random_state is not None)
    rng = np.random.default_rng(seed if steps is None else steps.seed)
    with Budget(max_seconds, verbose=verbose, progress=progress, steps=steps) as budget:

        def search(part_engine: Engine, part: Tree) -> Tree:
            searching = Search(part_engine, budget, rng, n_internal, max_sweeps, n_jobs)
            return searching.run(part, restarts)

        found = _with_kept_parts(engine, start, search, keep_subtrees, keep_top, constraints)
    if _is_allowed(tree, n_internal, constraints):
        found = _better(found, start, engine, similarity, leaf_size)
    named = found.replace(name=None if tree.name is None else tree.name[: tree.n_leaves])
    return with_heights(named, similarity)


def _with_kept_parts(
    engine: Engine,
    tree: Tree,
    search: Callable[[Engine, Tree], Tree],
    keep_subtrees: Sequence[int] | None,
    keep_top: int | None,
    constraints: Constraints,
) -> Tree:
    """Search what is free: between kept subtrees, below a kept top, within and between linked groups."""
    if keep_subtrees:
        kept = _outermost(tree, keep_subtrees)
        groups = [np.sort(tree.leaves(node)) for node in kept]
        inner = [tree.subtree(node) for node in kept]
        return _search_around(
            engine,
            tree,
            groups,
            inner,
            lambda e, t: _with_kept_parts(e, t, search, None, keep_top, Constraints()),
        )
    if keep_top is not None:
        nodes = tree.cut_nodes(n_clusters=keep_top)
        leaves = [np.sort(tree.leaves(int(node))) for node in nodes]
        parts = [
            search(engine.restrict(below), tree.subtree(int(node))) for node, below in zip(nodes, leaves)
        ]
        return graft(tree.prune(n_clusters=keep_top), parts, leaves)
    groups = constraints.linked_groups(tree.n_leaves)
    if groups:
        inner = [search(engine.restrict(group), tree.restrict(group)) for group in groups]
        return _search_around(
            engine,
            tree,
            groups,
            inner,
            lambda e, t: _parted(e, t, search, constraints.between(groups, tree.n_leaves)),
        )
    return _parted(engine, tree, search, constraints.cannot_link)


def _search_around(
    engine: Engine,
    tree: Tree,
    groups: list[np.ndarray],
    inner: list[Tree],
    search: Callable[[Engine, Tree], Tree],
) -> Tree:
    """Search with each group of leaves contracted to one heavy point, then put the inner trees back."""
    members = np.concatenate(groups)
    single = np.setdiff1d(np.arange(tree.n_leaves), members)
    leaves = [*groups, *single[:, None]]
    labels = np.empty(tree.n_leaves, dtype=np.int64)
    for label, group in enumerate(leaves):
        labels[group] = label
    representatives = np.array([group[0] for group in leaves])
    top = search(engine.contract(labels, len(leaves)), tree.restrict(representatives))
    return graft(top, [*inner, *[Tree([-1], 1)] * len(single)], leaves)


def _parted(
    engine: Engine, tree: Tree, search: Callable[[Engine, Tree], Tree], cannot_link: np.ndarray
) -> Tree:
    """Search, then part what cannot be together at the root and search each side."""
    found = search(engine, tree)
    if len(cannot_link) == 0:
        return found
    sides = Constraints(cannot_link=cannot_link).sides(found, engine)
    parts = [search(engine.restrict(side), found.restrict(side)) for side in sides]
    root = Tree([len(sides)] * len(sides) + [-1], len(sides))
    return graft(root, parts, sides)


def _outermost(tree: Tree, nodes: Sequence[int]) -> list[int]:
    """The given nodes that do not lie below another of them, refused where they are not nodes."""
    checked = sorted({tree._checked_node(node) for node in nodes}, reverse=True)
    chosen: list[int] = []
    for node in checked:
        if not any(tree.lca(node, above) == above for above in chosen):
            chosen.append(node)
    return chosen


def _better(
    found: Tree, start: Tree, engine: Engine, similarity: Similarity, leaf_size: np.ndarray | None
) -> Tree:
    """The tree of lower objective. Where an engine has raised negative similarities, which ranks only binary trees
    rightly, the given ones decide.
    """
    if engine.objective == "dasgupta":
        costs = [dasgupta_cost(tree, similarity, sample_weight=leaf_size) for tree in (found, start)]
    else:
        costs = [engine.costs(tree).sum() for tree in (found, start)]
    return found if costs[0] < costs[1] else start


def _is_allowed(tree: Tree, n_internal: int | None, constraints: Constraints) -> bool:
    return (n_internal is None or tree.n_internal <= n_internal) and not constraints


def _checked_similarity(similarity: Any, tree: Tree) -> Similarity:
    if not isinstance(tree, Tree):
        raise TypeError(f"tree must be a Tree. Got {type(tree).__name__}.")
    similarity = as_similarity(similarity, "similarity")
    if similarity.n_points != tree.n_leaves:
        raise ValueError(
            f"similarity has {similarity.n_points} points, but the tree has {tree.n_leaves} leaves."
        )
    return similarity


def _checked_weights(sample_weight: ArrayLike | None, n_leaves: int, objective: str) -> np.ndarray | None:
    if sample_weight is None:
        return None
    if objective == "tsd":
        raise ValueError("sample_weight does not apply to objective='tsd', where degrees take its place.")
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n_leaves,) or not np.isfinite(weights).all() or (weights <= 0).any():
        raise ValueError(f"sample_weight must hold {n_leaves} positive numbers. Got shape {weights.shape}.")
    return weights


def _check_counts(**counts: int | None) -> None:
    for argument, value in counts.items():
        lowest = 0 if argument == "restarts" else 1
        if value is not None and (
            isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < lowest
        ):
            raise ValueError(f"{argument} must be a whole number, {lowest} or more. Got {value!r}.")
