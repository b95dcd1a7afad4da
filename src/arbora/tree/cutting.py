"""Flat clusterings of a tree, and the upper part of a tree as a tree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, TypedDict, Unpack, get_args

import numpy as np

from arbora._base.params import check_choice, check_switch, check_whole, is_auto
from arbora._base.types import Bools, Floats, Ints
from arbora.tree import edit_kernels
from arbora.tree import pass_kernels as kernels
from arbora.tree._tree import Tree
from arbora.tree.number import find_number
from arbora.tree.objective_cut import CutObjective, best_parts, by_first_leaf, check_min_size
from arbora.tree.parting import (
    Exact,
    MinSize,
    PartingOrder,
    Parts,
    check_count,
    check_exact,
    has_complete_levels,
    joining_heights,
    parting_order,
    staying_children,
)
from arbora.tree.surgery import rebuilt

NumberOfClusters: TypeAlias = int | Literal["auto"] | None


class Criterion(TypedDict, total=False):
    """The criteria of `Tree.cut` besides `n_clusters`, for the methods that take the same ones."""

    height: float | None
    max_size: int | None
    min_size: MinSize | None
    exact: Exact
    by: CutObjective
    similarity: Any
    data: Any


class Level(NamedTuple):
    """A cut that `Tree.levels` proposes.

    `gap` is how far it could move in height without a change; `stability` the mean support of its nodes (NaN
    where the tree has no support).
    """

    n_clusters: int
    labels: Ints
    nodes: Ints
    gap: float
    stability: float = float("nan")


def cut(
    tree: Tree, n_clusters: NumberOfClusters = None, *, outliers: bool = False, **criterion: Unpack[Criterion]
) -> Ints:
    """Flat cluster label of each leaf; see `Tree.cut`."""
    if check_exact(criterion.get("exact", "raise")) == "binarize" and n_clusters is not None:
        # nodes of the binary tree are not nodes of this one, labels of leaves are the same
        tree = tree.binarize()
    if check_switch(outliers, "outliers") and n_clusters is None:
        raise ValueError(
            "outliers=True needs n_clusters: leaves of branches too small to be clusters are outliers."
        )
    found = find_parts(tree, n_clusters, **criterion)
    return by_first_leaf(np.where(found.is_core, found.labels, -1)) if outliers else found.labels


def cut_nodes(tree: Tree, n_clusters: NumberOfClusters = None, **criterion: Unpack[Criterion]) -> Ints:
    """The nodes that stand for the clusters of `cut`, in label order."""
    _refuse_binarize(tree, check_exact(criterion.get("exact", "raise")), "cut_nodes")
    return find_parts(tree, n_clusters, **criterion).nodes


def find_parts(
    tree: Tree,
    n_clusters: NumberOfClusters = None,
    *,
    height: float | None = None,
    max_size: int | None = None,
    min_size: MinSize | None = None,
    exact: Exact = "raise",
    by: CutObjective = "height",
    similarity: Any = None,
    data: Any = None,
) -> Parts:
    """The clusters by a criterion; parameters as in `Tree.cut`."""
    check_exact(exact)
    check_choice(by, "by", get_args(CutObjective))
    if n_clusters is None:
        return _parts_without_number(tree, height, max_size, min_size, by)
    if height is not None or max_size is not None:
        raise ValueError("cut() takes exactly one of n_clusters, height, max_size: they cannot be combined.")
    least: MinSize = "auto" if min_size is None else min_size
    if by == "height":
        return _parts_by_height(tree, n_clusters, least, exact)
    return best_parts(tree, n_clusters, by, min_size=least, similarity=similarity, data=data, exact=exact)


def _parts_by_height(tree: Tree, n_clusters: Any, min_size: Any, exact: Exact) -> Parts:
    if is_auto(n_clusters):
        number = find_number(tree, None if is_auto(min_size) else check_min_size(min_size, tree.n_leaves, 1))
        n_clusters, exact = number.n_clusters, "nearest"
    wanted = check_count(tree, "n_clusters", n_clusters)
    if not isinstance(min_size, str):
        check_min_size(min_size, tree.n_leaves, wanted)
    order = parting_order(tree, min_size)
    return order.parts(tree, order.n_steps(wanted, exact))


def _parts_without_number(tree: Tree, height: Any, max_size: Any, min_size: Any, by: str) -> Parts:
    if by != "height":
        raise ValueError(f"by={by!r} needs n_clusters, or n_clusters='auto'.")
    if isinstance(min_size, str):
        raise ValueError(f"min_size={min_size!r} needs n_clusters.")
    criteria = {"n_clusters": None, "height": height, "max_size": max_size, "min_size": min_size}
    given = [key for key, value in criteria.items() if value is not None]
    if len(given) != 1:
        raise ValueError(
            f"cut() takes exactly one of {', '.join(criteria)}; min_size can be combined with n_clusters. "
            f"Got {' and '.join(given) or 'none'}."
        )
    if height is not None:
        is_split: Bools = joining_heights(tree) > _checked_height(tree, height)
    elif max_size is not None:
        is_split = tree.sizes > check_whole(max_size, "max_size")
    else:
        least = check_count(tree, "min_size", min_size)
        is_split = edit_kernels.split_above_size(tree.parent, tree.n_leaves, tree.sizes, least)
    return _parts_below(tree, is_split)


def _parts_below(tree: Tree, is_split: Bools) -> Parts:
    """The clusters when the marked nodes are taken apart (a node only if its parent is)."""
    labels, nodes = edit_kernels.name_clusters(tree.parent, tree.n_leaves, is_split)
    return Parts(labels, nodes, np.ones(tree.n_leaves, dtype=np.bool_))


def _refuse_binarize(tree: Tree, exact: Exact | None, method: str) -> None:
    if exact == "binarize" and not tree.is_binary:
        raise ValueError(
            f"{method}() answers with nodes of this tree, which exact='binarize' would not be. "
            f"Use tree.binarize().{method}(...)."
        )


def _checked_height(tree: Tree, height: Any) -> float:
    if tree.height is None:
        raise ValueError("This tree has no heights to cut at. Cut it by n_clusters, max_size or min_size.")
    try:
        value = float(height)
    except (TypeError, ValueError) as error:
        raise TypeError(f"height must be a number. Got {height!r}.") from error
    if np.isnan(value):
        raise ValueError("height must be a number. Got NaN.")
    return value


def flat_clusterings(
    tree: Tree,
    n_clusters: Sequence[int] | None = None,
    *,
    exact: Exact = "raise",
    min_size: MinSize = "auto",
) -> Iterator[tuple[int, Ints]]:
    """Iterate over (n_clusters, labels) along the tree, coarse to fine: all of them, or those asked for.

    `exact` and `min_size` as in `Tree.cut`; each clustering refines the one before.

    Examples
    --------
    >>> from arbora import Tree
    >>> for k, labels in Tree.from_newick("((a,b),(c,d,e));").flat_clusterings():
    ...     print(k, labels)
    1 [0 0 0 0 0]
    2 [0 0 1 1 1]
    4 [0 0 1 2 3]
    5 [0 1 2 3 4]
    """
    if check_exact(exact) == "binarize":
        tree = tree.binarize()
    order = parting_order(tree, min_size)
    if n_clusters is None:
        steps = list(range(len(order.n_clusters)))
    else:
        # an impossible number raises here, not at the first iteration
        steps = sorted({order.n_steps(check_count(tree, "n_clusters", k), exact) for k in n_clusters})
    return ((int(order.n_clusters[step]), order.parts(tree, step).labels) for step in steps)


def levels(tree: Tree, max_levels: int = 3, *, max_clusters: int | None = None) -> list[Level]:
    """The cuts before the largest gaps in height, coarse to fine.

    The gap of a cut is the height of the last split it makes less that of the highest split it does not make:
    how far the cut could move without a change. Without heights, numbers of leaves are used. The trivial cuts
    (one cluster, every leaf its own) and cuts between equal heights are never proposed, so fewer than
    `max_levels` can come back.

    A tree of complete levels, as `taxonomy` makes it (all leaves equally deep, not binary), has its own levels
    proposed instead; their gaps count from the lowest node that is split to the highest that is not.

    Examples
    --------
    >>> from arbora import Tree
    >>> import scipy.cluster.hierarchy as sch
    >>> tree = Tree.from_linkage(sch.linkage([[0], [1], [10], [11], [100], [103]], "average"))
    >>> [(level.n_clusters, round(level.gap, 1)) for level in tree.levels(2)]
    [(2, 86.0), (3, 7.0)]
    """
    check_whole(max_levels, "max_levels")
    most = tree.n_leaves - 1 if max_clusters is None else check_count(tree, "max_clusters", max_clusters)
    if has_complete_levels(tree):
        return _levels_by_depth(tree, max_levels, most)
    order = parting_order(tree)
    # a small branch may part late, although it joins high: what has parted is as low as the lowest before
    lowest = np.minimum.accumulate(order.height)
    gaps = lowest[:-2] - order.height[1:-1] if len(order.height) > 2 else np.empty(0)
    n_clusters = order.n_clusters[1 : 1 + len(gaps)]
    proposed = np.flatnonzero((gaps > 0) & (n_clusters >= 2) & (n_clusters <= most))
    stability = _mean_supports(tree, order)[1 : 1 + len(gaps)]
    value = gaps * np.where(np.isnan(stability), 1.0, stability)
    best = np.sort(proposed[np.argsort(-value[proposed], kind="stable")][:max_levels])
    found = []
    for k in best:
        parts = order.parts(tree, int(k) + 1)
        found.append(Level(len(parts.nodes), parts.labels, parts.nodes, float(gaps[k]), float(stability[k])))
    return found


def _levels_by_depth(tree: Tree, max_levels: int, max_clusters: int) -> list[Level]:
    """The levels of a tree whose leaves are all equally deep; of too many, those with the largest gaps."""
    height = joining_heights(tree)
    found: list[Level] = []
    for depth in range(1, int(tree.depths[0])):
        is_split = tree.depths < depth
        labels, nodes, _ = _parts_below(tree, is_split)
        if not 2 <= len(nodes) <= max_clusters or (found and len(nodes) == found[-1].n_clusters):
            continue
        gap = max(float(height[is_split].min() - height[nodes].max()), 0.0)
        supports = np.empty(0) if tree.support is None else tree.support[nodes]
        known = supports[~np.isnan(supports)]
        found.append(
            Level(len(nodes), labels, nodes, gap, float(known.mean()) if len(known) else float("nan"))
        )
    chosen = sorted(range(len(found)), key=lambda k: (-found[k].gap, k))[:max_levels]
    return [found[k] for k in sorted(chosen)]


def _mean_supports(tree: Tree, order: PartingOrder) -> Floats:
    """Mean support of the clusters after each number of steps; NaN without support. Unknown support is left out."""
    n_steps = len(order.nodes)
    if tree.support is None:
        return np.full(n_steps + 1, np.nan)
    known = ~np.isnan(tree.support)
    support = np.column_stack([np.where(known, tree.support, 0.0), known])
    change = np.zeros((n_steps + 1, 2))
    change[0] = support[tree.root]
    # a branch that parts becomes the node of a cluster
    parting = np.flatnonzero(order.step < n_steps)
    np.add.at(change, order.step[parting] + 1, support[parting])
    # the highest node whose first step this is stood for a cluster; now a child of the opened node does
    first_above = np.append(order.first[tree.parent[:-1]], -1)
    highest = np.flatnonzero((order.first < n_steps) & (first_above < order.first))
    opened = order.nodes[order.first[highest]]
    new = support[staying_children(tree)[opened]] - support[highest]
    np.add.at(change, order.first[highest] + 1, new)
    total, count = np.cumsum(change, axis=0).T
    return np.asarray(np.divide(total, count, out=np.full(len(total), np.nan), where=count > 0))


def prune(tree: Tree, n_clusters: NumberOfClusters = None, **criterion: Unpack[Criterion]) -> Tree:
    """The upper part as a tree: the clusters of a cut become its leaves, in label order.

    Examples
    --------
    >>> from arbora import Tree
    >>> Tree.from_newick("((a,b)birds,(c,d,e)fish)animals;").prune(n_clusters=2).to_newick()
    '(birds,fish)animals;'
    """
    _refuse_binarize(tree, check_exact(criterion.get("exact", "raise")), "prune")
    nodes = find_parts(tree, n_clusters, **criterion).nodes
    source = np.concatenate([nodes, _kept_above(tree, nodes)])
    number = np.full(tree.n_nodes, -1, dtype=np.int64)
    number[source] = np.arange(len(source))
    above = kernels.keep_nodes(tree.parent, number >= 0)[source]
    parent = np.where(above >= 0, number[above], -1)
    order = None if tree.order is None else np.argsort(tree.leaf_start[nodes])
    return rebuilt(tree, parent, len(nodes), source, order=order)


def _kept_above(tree: Tree, nodes: Ints) -> Ints:
    """Nodes at which clusters join, and those above clusters that have a single child in the tree itself."""
    n_below = np.zeros(tree.n_nodes, dtype=np.int64)
    n_below[nodes] = 1
    n_below = kernels.sum_to_root(tree.parent, n_below)
    with_clusters = np.bincount(tree.parent[:-1][n_below[:-1] > 0], minlength=tree.n_nodes)
    with_clusters[nodes] = 0
    is_unary = np.zeros(tree.n_nodes, dtype=np.bool_)
    is_unary[tree.n_leaves :] = tree.n_children == 1
    return np.flatnonzero((with_clusters >= 2) | ((with_clusters == 1) & is_unary))
