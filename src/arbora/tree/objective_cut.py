"""Cuts chosen by an objective, exactly, among all partitions that a tree contains.

An objective gives each node a value; the best partition into k clusters is the k nodes, none below another, that
together cover the tree and whose values sum to the most. Branches smaller than `min_size` are not clusters: they are
left out of the sum, and afterwards join the nearest cluster or are marked as outliers.

- "information" (needs `similarity`): ``p ln(p / q)``, where p is the share of the similarity inside a cluster and q
  what chance would give; the cluster's part in the tree sampling divergence of the partition.
- "modularity" (needs `similarity`): ``p - q``.
- "density" (needs heights): how long its members stay together, in height; the excess of mass of HDBSCAN.
- "variance" (needs `data`): less the squared distances from its mean, as in k-means and Ward's method.
- "balance": less the square of its size.

By "height", the default, the highest joins are split, one after the other: see `arbora.tree.parting`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from arbora._base.arrays import as_vectors, row_names
from arbora._base.memory import refuse_if_too_large
from arbora._base.params import check_choice, check_whole, is_auto
from arbora._base.types import Floats, Ints
from arbora.tree import objective_kernels as kernels
from arbora.tree.parting import SHARE_OF_MEAN, Exact, MinSize, Parts, check_count, joining_heights
from arbora.tree.pass_kernels import sum_to_root
from arbora.tree.same_order import check_same_order

if TYPE_CHECKING:
    from arbora.tree._tree import Tree

CutObjective: TypeAlias = Literal["height", "information", "modularity", "density", "variance", "balance"]
# Where the number of clusters is to be found, their least size is that of a cut into this many.
_SUPPOSED = 20
# Every number of clusters up to this is compared where the number is to be found.
_MOST_CLUSTERS = 1000


class Partitions:
    """The best partition of a tree for each number of clusters, by one objective.

    Parameters
    ----------
    tree : Tree
    value : float64[n_nodes]
        What each node is worth as a cluster.
    most : int
        Largest number of clusters asked for.
    min_size : int
        Fewest leaves of a cluster.
    sizes : int64[n_nodes], optional
        Weight below each node, where leaves stand for several points.

    Examples
    --------
    >>> import numpy as np
    >>> from arbora import Tree
    >>> from arbora.tree.objective_cut import Partitions
    >>> tree = Tree.from_newick("(((a,b),(c,d)),((e,f),g));")
    >>> Partitions(tree, -(tree.sizes.astype(float) ** 2), most=3).nodes(3)
    array([ 7,  8, 11])
    """

    def __init__(
        self, tree: Tree, value: Floats, most: int, min_size: int = 1, *, sizes: Ints | None = None
    ) -> None:
        self._tree, self._value = tree, value
        is_eligible = (tree.sizes if sizes is None else sizes) >= min_size
        is_eligible[tree.root] = True
        self._n_parts = kernels.count_parts(tree.parent, tree.n_leaves, is_eligible, most)
        self._starts = np.concatenate([[0], np.cumsum(self._n_parts)])
        refuse_if_too_large(
            8 * int(self._starts[-1]),
            f"Tables for up to {most:,} clusters of a tree with {tree.n_leaves:,} leaves",
            "Ask for fewer clusters, or set min_size.",
        )
        self._table = kernels.fill_tables(
            tree.n_leaves, tree.child_offsets, tree.child_index, value, self._n_parts, self._starts
        )

    @property
    def values(self) -> Floats:
        """What the best partition into 1, 2, ... clusters is worth; -inf where there is no such partition."""
        start = self._starts[self._tree.root]
        return np.asarray(self._table[start : start + self._n_parts[self._tree.root]])

    def possible(self) -> Ints:
        """Numbers of clusters that some partition has."""
        return 1 + np.flatnonzero(self.values > -np.inf)

    def nodes(self, n_clusters: int) -> Ints:
        """Nodes of the best partition into exactly `n_clusters`."""
        tree = self._tree
        found = kernels.choose_nodes(
            *(tree.n_leaves, tree.root, tree.child_offsets, tree.child_index),
            *(self._value, self._n_parts, self._starts, self._table, n_clusters),
        )
        return np.asarray(found)


def best_parts(
    tree: Tree,
    n_clusters: int | Literal["auto"],
    by: CutObjective,
    *,
    min_size: MinSize = "auto",
    similarity: Any = None,
    data: Any = None,
    exact: Exact = "raise",
) -> Parts:
    """The clusters of the best partition; parameters as in `Tree.cut`."""
    if is_auto(n_clusters):
        smallest = check_min_size(min_size, tree.n_leaves, _SUPPOSED if is_auto(min_size) else 1, by)
        value = node_values(tree, by, smallest, similarity=similarity, data=data)
        partitions = Partitions(tree, value, _most(tree, smallest), smallest)
        return parts_of_nodes(tree, partitions.nodes(_best_number(partitions, by)))
    wanted = check_count(tree, "n_clusters", n_clusters)
    nodes = best_nodes(tree, wanted, by, min_size, similarity=similarity, data=data, exact=exact)
    return parts_of_nodes(tree, nodes)


def best_nodes(
    tree: Tree,
    n_clusters: int,
    by: CutObjective,
    min_size: MinSize,
    *,
    similarity: Any = None,
    data: Any = None,
    sizes: Ints | None = None,
    exact: Exact = "raise",
) -> Ints:
    """Nodes of the best partition into `n_clusters`; `sizes` where leaves stand for several points.

    ``min_size="auto"`` is lowered where the tree has no such partition into clusters of that size.
    """
    n_points = int(tree.n_leaves if sizes is None else sizes[tree.root])
    smallest = check_min_size(min_size, n_points, n_clusters, by)
    while True:
        value = node_values(tree, by, smallest, similarity=similarity, data=data, sizes=sizes)
        partitions = Partitions(tree, value, n_clusters, smallest, sizes=sizes)
        if min_size != "auto" or smallest == 1 or n_clusters in partitions.possible():
            return partitions.nodes(_possible_number(partitions, n_clusters, exact))
        smallest //= 2


def _most(tree: Tree, min_size: int) -> int:
    return max(1, min(_MOST_CLUSTERS, tree.n_leaves // min_size, int(np.sqrt(tree.n_leaves)) + 1))


def _best_number(partitions: Partitions, by: str) -> int:
    if by not in ("modularity", "density"):
        raise ValueError(
            f'n_clusters="auto" needs by="height", "modularity" or "density", which say how many there are. '
            f"Got by={by!r}."
        )
    return 1 + int(np.argmax(partitions.values))


def _possible_number(partitions: Partitions, wanted: int, exact: Exact) -> int:
    """The number of clusters asked for, or the nearest that some partition has, as `exact` says."""
    possible = partitions.possible()
    if wanted in possible:
        return wanted
    if exact == "nearest":
        return int(possible[np.argmin(np.abs(possible - wanted))])
    raise ValueError(
        f"There is no cut into n_clusters={wanted} with clusters of this size. Possible are {_listed(possible)}. "
        "Ask for one of these, lower min_size, or pass exact='nearest'."
    )


def _listed(numbers: Ints) -> str:
    shown = ", ".join(map(str, numbers[-8:].tolist()))
    return f"..., {shown}" if len(numbers) > 8 else shown


def auto_min_size(n_points: int, n_clusters: int, by: CutObjective = "height") -> int:
    """The size below which a branch is not a cluster, if the caller leaves it to us.

    Objectives that weigh a cluster by themselves need less: half the square root of the mean size.
    """
    mean = n_points / n_clusters
    return max(1, int(mean / SHARE_OF_MEAN if by in ("height", "balance") else math.sqrt(mean) / 2))


def check_min_size(min_size: Any, n_points: int, n_clusters: int, by: CutObjective = "height") -> int:
    """The smallest cluster allowed, as a number."""
    if isinstance(min_size, str):
        check_choice(min_size, "min_size", ("auto",))
        return auto_min_size(n_points, n_clusters, by)
    number = check_whole(min_size, "min_size")
    if number * n_clusters > n_points:
        raise ValueError(
            f"{n_clusters} clusters of at least min_size={number} leaves need {number * n_clusters} of them. "
            f"The tree has {n_points}."
        )
    return number


def parts_of_nodes(tree: Tree, nodes: Ints, sizes: Ints | None = None) -> Parts:
    """The clusters that begin at these nodes; what lies below none of them joins the nearest."""
    weight = tree.sizes if sizes is None else sizes
    below, nearest = kernels.label_leaves(tree.parent, tree.n_leaves, weight, nodes)
    labels = by_first_leaf(nearest)
    return Parts(labels, nodes[nearest[np.unique(labels, return_index=True)[1]]], below >= 0)


def by_first_leaf(labels: Ints) -> Ints:
    """Labels numbered in the order of their first leaves; -1 stays."""
    is_labeled = labels >= 0
    _, first, inverse = np.unique(labels[is_labeled], return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first))
    numbered = np.full(len(labels), -1, dtype=np.int64)
    numbered[is_labeled] = rank[inverse]
    return numbered


def node_values(
    tree: Tree,
    by: CutObjective,
    min_size: int = 1,
    *,
    similarity: Any = None,
    data: Any = None,
    sizes: Ints | None = None,
) -> Floats:
    """What each node is worth as a cluster: float64[n_nodes]; `sizes` where leaves stand for several points."""
    weight = tree.sizes if sizes is None else sizes
    check_choice(by, "by", get_args(CutObjective))
    if by in ("information", "modularity"):
        inside, chance = _shares(tree, similarity, by)
        return inside - chance if by == "modularity" else _information(inside, chance)
    if by == "variance":
        return -_squares(tree, data)
    size = weight.astype(np.float64)
    if by == "balance":
        return -(size**2)
    height = np.where(np.isfinite(joining_heights(tree)), joining_heights(tree), 0.0)
    above = height[np.where(tree.parent >= 0, tree.parent, tree.root)]
    exits = kernels.exit_heights(
        tree.n_leaves, tree.child_offsets, tree.child_index, weight, height, weight >= min_size
    )
    return np.asarray(size * above - exits)


def _shares(tree: Tree, similarity: Any, by: str) -> tuple[Floats, Floats]:
    """Share of all similarity inside each node, and the share that chance would put there."""
    if similarity is None:
        raise ValueError(
            f"by={by!r} needs similarity=, what the tree was built by: TreeClustering(...).fit(X).similarity_ "
            "or arbora.similarity.knn(X)."
        )
    # a similarity is known by what it can do: its package stands above this one
    if not callable(getattr(similarity, "cross", None)) or not hasattr(similarity, "degrees"):
        raise TypeError(f"similarity must come from arbora.similarity. Got {type(similarity).__name__}.")
    if similarity.n_points != tree.n_leaves:
        raise ValueError(
            f"similarity has {similarity.n_points} points, but the tree has {tree.n_leaves} leaves."
        )
    check_same_order(tree, getattr(similarity, "names", None), "similarity")
    cross, degrees = np.zeros(tree.n_nodes), np.zeros(tree.n_nodes)
    cross[tree.n_leaves :] = similarity.cross(tree)
    degrees[: tree.n_leaves] = similarity.degrees
    total = float(degrees.sum())
    if not similarity.is_non_negative or total <= 0:
        raise ValueError(f"by={by!r} needs similarities that are not negative and not all zero.")
    volume = sum_to_root(tree.parent, degrees / total)
    return np.asarray(sum_to_root(tree.parent, cross / (total / 2))), np.asarray(volume**2)


def _information(inside: Floats, chance: Floats) -> Floats:
    """P ln(p / q), 0 where there is no similarity inside."""
    ratio = np.divide(inside, chance, out=np.ones(len(inside)), where=(inside > 0) & (chance > 0))
    return inside * np.log(ratio)


def _squares(tree: Tree, data: Any) -> Floats:
    if data is None:
        raise ValueError("by='variance' needs data=, the vectors of the leaves.")
    vectors = as_vectors(data, argument="data")
    if len(vectors) != tree.n_leaves:
        raise ValueError(f"data must have one row per leaf, {tree.n_leaves}. Got {len(vectors)}.")
    check_same_order(tree, row_names(data), "data")
    refuse_if_too_large(8 * tree.n_nodes * vectors.shape[1], "Means of all nodes", "Use another objective.")
    mean = np.zeros((tree.n_nodes, vectors.shape[1]))
    mean[: tree.n_leaves] = vectors
    return np.asarray(kernels.sum_of_squares(tree.parent, tree.n_leaves, tree.sizes, mean))
