"""Flat clusterings of a tree, and the upper part of a tree as a tree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict, Unpack, get_args

import numpy as np

from arbora._base.params import check_choice, check_whole
from arbora._base.types import Bools, Floats, Ints
from arbora.tree import edit_kernels
from arbora.tree import pass_kernels as kernels
from arbora.tree._tree import Tree
from arbora.tree.surgery import rebuilt

if TYPE_CHECKING:
    from arbora.tree.objective_cut import CutObjective

Exact = Literal["raise", "nearest", "binarize"]


class Criterion(TypedDict, total=False):
    """The criteria of `Tree.cut` besides `n_clusters`, for the methods that take the same ones."""

    height: float | None
    max_size: int | None
    min_size: int | None
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


class SplitOrder(NamedTuple):
    """The order in which nodes are split from the root down.

    Splitting ``nodes[:t]`` leaves ``n_clusters[t]`` clusters; ``height[t]`` is that of the next split.
    """

    nodes: Ints
    n_clusters: Ints
    height: Floats

    def n_splits(self, n_clusters: int, exact: Exact = "raise") -> int:
        """How many splits leave that many clusters; `exact` decides where an n-ary split jumps over the number."""
        splits = int(np.searchsorted(self.n_clusters, n_clusters))
        fewer, more = int(self.n_clusters[splits - 1]), int(self.n_clusters[splits])
        if more == n_clusters:
            return splits
        if exact == "nearest":
            # the first number of splits with `fewer`: unary nodes are not taken apart for nothing
            is_fewer_nearer = n_clusters - fewer <= more - n_clusters
            return int(np.searchsorted(self.n_clusters, fewer)) if is_fewer_nearer else splits
        raise ValueError(
            f"There is no cut into n_clusters={n_clusters}: the split of node {self.nodes[splits - 1]} leads "
            f"from {fewer} to {more}. Ask for {fewer} or {more}, or pass exact='nearest' for the nearer of them "
            f"or exact='binarize' for a cut of tree.binarize()."
        )


def joining_heights(tree: Tree) -> Floats:
    """Height at which the leaves below each node have all joined: that of the highest join below.

    Without heights the number of leaves serves. Leaves and unary nodes join nothing; a leaf has height -inf.
    """
    if tree.height is None:
        return tree.sizes.astype(np.float64)
    height = np.full(tree.n_nodes, -np.inf)
    joins = tree.n_leaves + np.flatnonzero(tree.n_children >= 2)
    height[joins] = tree.height[joins]
    highest: Floats = kernels.max_to_root(tree.parent, height)
    return highest


def split_order(tree: Tree) -> SplitOrder:
    """Highest node first; of equally high ones the largest number, so that parents come before children."""
    height = joining_heights(tree)[tree.n_leaves :][::-1]
    ranked = np.argsort(-height, kind="stable")
    nodes = tree.root - ranked
    added = tree.n_children[nodes - tree.n_leaves] - 1
    return SplitOrder(nodes, np.concatenate([[1], 1 + np.cumsum(added)]), np.append(height[ranked], -np.inf))


def check_exact(exact: Any) -> Exact:
    """One of the ways to treat a number of clusters that a tree does not have."""
    found: Exact = check_choice(exact, "exact", get_args(Exact))
    return found


def cut(tree: Tree, n_clusters: int | None = None, **criterion: Unpack[Criterion]) -> Ints:
    """Flat cluster label of each leaf, by exactly one criterion; see `Tree.cut`."""
    if check_exact(criterion.get("exact", "raise")) == "binarize" and n_clusters is not None:
        # nodes of the binary tree are not nodes of this one, labels of leaves are the same
        tree = tree.binarize()
    return clusters(tree, split_nodes(tree, n_clusters, **criterion))[0]


def cut_nodes(tree: Tree, n_clusters: int | None = None, **criterion: Unpack[Criterion]) -> Ints:
    """The nodes that stand for the clusters of `cut`, in label order."""
    _refuse_binarize(tree, check_exact(criterion.get("exact", "raise")), "cut_nodes")
    return clusters(tree, split_nodes(tree, n_clusters, **criterion))[1]


def clusters(tree: Tree, is_split: Bools) -> tuple[Ints, Ints]:
    """Label of each leaf, numbered by first leaf, and node of each label, when the marked nodes are taken apart.

    Every cut ends here: a criterion only decides which nodes to split (a node only if its parent is).
    """
    labels, nodes = edit_kernels.name_clusters(tree.parent, tree.n_leaves, is_split)
    return labels, nodes


def split_nodes(
    tree: Tree,
    n_clusters: int | None = None,
    *,
    height: float | None = None,
    max_size: int | None = None,
    min_size: int | None = None,
    exact: Exact = "raise",
    by: CutObjective = "height",
    similarity: Any = None,
    data: Any = None,
) -> Bools:
    """Which nodes a criterion takes apart: bool[n_nodes]."""
    if not isinstance(by, str) or by != "height":
        return _best_split(tree, n_clusters, by, similarity, data, exact, (height, max_size, min_size))
    check_exact(exact)
    criteria = {"n_clusters": n_clusters, "height": height, "max_size": max_size, "min_size": min_size}
    given = [key for key, value in criteria.items() if value is not None]
    if len(given) != 1:
        raise ValueError(
            f"cut() takes exactly one of {', '.join(criteria)}. Got {' and '.join(given) or 'none'}."
        )
    if height is not None:
        is_split: Bools = joining_heights(tree) > _checked_height(tree, height)
        return is_split
    if max_size is not None:
        is_split = tree.sizes > check_whole(max_size, "max_size")
        return is_split
    bound = check_count(tree, given[0], criteria[given[0]])
    if min_size is not None:
        is_split = edit_kernels.split_above_size(tree.parent, tree.n_leaves, tree.sizes, bound)
        return is_split
    order = split_order(tree)
    return _first_splits(tree, order, order.n_splits(bound, exact))


def _best_split(
    tree: Tree, n_clusters: Any, by: Any, similarity: Any, data: Any, exact: Exact, others: tuple[Any, ...]
) -> Bools:
    """What the best partition by an objective splits: everything above its nodes."""
    from arbora.tree import objective_cut

    if n_clusters is None:
        objective_cut.refuse_without_n_clusters(by, None, False)
    if any(one is not None for one in others):
        raise ValueError(
            f"by={by!r} can only be combined with n_clusters: merged small branches are not nodes. Use cut()."
        )
    wanted = check_count(tree, "n_clusters", n_clusters)
    nodes = objective_cut.best_nodes(tree, wanted, by, 1, similarity=similarity, data=data, exact=exact)
    chosen = np.zeros(tree.n_nodes)
    chosen[nodes] = 1
    is_split: Bools = kernels.sum_to_root(tree.parent, chosen.copy()) > chosen
    return is_split


def _refuse_binarize(tree: Tree, exact: Exact | None, method: str) -> None:
    if exact == "binarize" and not tree.is_binary:
        raise ValueError(
            f"{method}() answers with nodes of this tree, which exact='binarize' would not be. "
            f"Use tree.binarize().{method}(...)."
        )


def _first_splits(tree: Tree, order: SplitOrder, n_splits: int) -> Bools:
    is_split = np.zeros(tree.n_nodes, dtype=np.bool_)
    is_split[order.nodes[:n_splits]] = True
    return is_split


def check_count(tree: Tree, argument: str, value: Any) -> int:
    number = check_whole(value, argument, least=None)
    if not 1 <= number <= tree.n_leaves:
        raise ValueError(f"{argument} must lie in [1, n_leaves={tree.n_leaves}]. Got {value!r}.")
    return number


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
    tree: Tree, n_clusters: Sequence[int] | None = None, *, exact: Exact = "raise"
) -> Iterator[tuple[int, Ints]]:
    """Iterate over (n_clusters, labels) along the tree, coarse to fine: all of them, or those asked for.

    `exact` as in `Tree.cut`.

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
    check_choice(exact, "exact", ("raise", "nearest", "binarize"))
    if exact == "binarize":
        tree = tree.binarize()
    order = split_order(tree)
    if n_clusters is None:
        counts = np.unique(order.n_clusters).tolist()
    else:
        counts = sorted({check_count(tree, "n_clusters", k) for k in n_clusters})
    # an impossible number raises here, not at the first iteration
    splits = sorted({order.n_splits(k, exact) for k in counts})
    return _iterate_clusterings(tree, order, splits)


def _iterate_clusterings(tree: Tree, order: SplitOrder, splits: list[int]) -> Iterator[tuple[int, Ints]]:
    for n_splits in splits:
        labels = clusters(tree, _first_splits(tree, order, n_splits))[0]
        yield int(order.n_clusters[n_splits]), labels


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
    if not tree.is_binary and np.ptp(tree.depths[: tree.n_leaves]) == 0:
        return _levels_by_depth(tree, max_levels, most)
    order = split_order(tree)
    gaps = order.height[:-2] - order.height[1:-1] if len(order.height) > 2 else np.empty(0)
    n_clusters = order.n_clusters[1 : 1 + len(gaps)]
    proposed = np.flatnonzero((gaps > 0) & (n_clusters >= 2) & (n_clusters <= most))
    stability = _mean_supports(tree, order)[1 : 1 + len(gaps)]
    value = gaps * np.where(np.isnan(stability), 1.0, stability)
    best = np.sort(proposed[np.argsort(-value[proposed], kind="stable")][:max_levels])
    found = []
    for k in best:
        is_split = _first_splits(tree, order, k + 1)
        labels, nodes = clusters(tree, is_split)
        found.append(Level(len(nodes), labels, nodes, float(gaps[k]), float(stability[k])))
    return found


def _levels_by_depth(tree: Tree, max_levels: int, max_clusters: int) -> list[Level]:
    """The levels of a tree whose leaves are all equally deep; of too many, those with the largest gaps."""
    height = joining_heights(tree)
    found: list[Level] = []
    for depth in range(1, int(tree.depths[0])):
        is_split = tree.depths < depth
        labels, nodes = clusters(tree, is_split)
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


def _mean_supports(tree: Tree, order: SplitOrder) -> Floats:
    """Mean support of the clusters after each number of splits; NaN without support. Unknown support is left out."""
    if tree.support is None:
        return np.full(len(order.n_clusters), np.nan)
    known = ~np.isnan(tree.support)
    value = np.where(known, tree.support, 0.0)
    gain, more = np.zeros(len(order.nodes) + 1), np.zeros(len(order.nodes) + 1)
    gain[0], more[0] = value[tree.root], known[tree.root]
    for k, v in enumerate(order.nodes.tolist()):
        children = tree.children(v)
        gain[k + 1] = value[children].sum() - value[v]
        more[k + 1] = known[children].sum() - float(known[v])
    total, count = np.cumsum(gain), np.cumsum(more)
    return np.asarray(np.divide(total, count, out=np.full(len(total), np.nan), where=count > 0))


def prune(tree: Tree, n_clusters: int | None = None, **criterion: Unpack[Criterion]) -> Tree:
    """The upper part as a tree: the clusters of a cut become its leaves, in label order.

    Examples
    --------
    >>> from arbora import Tree
    >>> Tree.from_newick("((a,b)birds,(c,d,e)fish)animals;").prune(n_clusters=2).to_newick()
    '(birds,fish)animals;'
    """
    _refuse_binarize(tree, check_exact(criterion.get("exact", "raise")), "prune")
    is_split = split_nodes(tree, n_clusters, **criterion)
    nodes = clusters(tree, is_split)[1]
    source = np.concatenate([nodes, np.flatnonzero(is_split)])
    # the last entry answers for the root's parent, -1
    number = np.full(tree.n_nodes + 1, -1, dtype=np.int64)
    number[source] = np.arange(len(source))
    order = None if tree.order is None else np.argsort(tree.leaf_start[nodes])
    return rebuilt(tree, number[tree.parent[source]], len(nodes), source, order=order)
