"""Which cluster of one tree became which of another: last week's topics in this week's tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment

from arbora._base.memory import refuse_if_too_large
from arbora._base.params import check_whole
from arbora._base.types import Floats, Ints
from arbora.tree import Tree


@dataclass(frozen=True)
class Match:
    """How the clusters of two trees share their common leaves.

    Attributes
    ----------
    overlap : int64[n_old, n_new]
        Common leaves that are in both clusters.
    new_of_old : int64[n_old]
        The new cluster that each old one became, no two the same; -1 if none is left for it.
    similarity : float64[n_old]
        Jaccard similarity of the two over the common leaves; 0 where there is no match.
    n_common : int
        Leaves that both trees have.
    n_only_old, n_only_new : int
        Leaves that one of them has.

    Examples
    --------
    >>> import arbora as ab
    >>> old = ab.Tree.from_newick("(((a,b),c),(d,e));")
    >>> new = ab.Tree.from_newick("((d,e),((a,b),f));")
    >>> found = ab.match(old, new, n_clusters=2)
    >>> found.n_common, found.n_only_old, found.n_only_new, found.overlap.tolist(), found.new_of_old.tolist()
    (4, 1, 1, [[0, 2], [2, 0]], [1, 0])
    """

    overlap: Ints
    new_of_old: Ints
    similarity: Floats
    n_common: int
    n_only_old: int
    n_only_new: int

    def relabel(self, labels: Ints) -> Ints:
        """Labels of the new tree's cut, with the numbers of the old clusters they match; others follow after them."""
        n_old, n_new = self.overlap.shape
        number = np.full(n_new, -1, dtype=np.int64)
        matched = np.flatnonzero(self.new_of_old >= 0)
        number[self.new_of_old[matched]] = matched
        free = np.flatnonzero(number < 0)
        number[free] = n_old + np.arange(len(free))
        return number[labels]

    def __str__(self) -> str:
        lines = [
            f"{self.n_common:,} common leaves, {self.n_only_old:,} only in the old tree, "
            f"{self.n_only_new:,} only in the new one"
        ]
        for old, (new, value) in enumerate(zip(self.new_of_old, self.similarity)):
            size = int(self.overlap[old].sum())
            fate = f"cluster {new} (Jaccard {value:.2f})" if new >= 0 else "no cluster of its own"
            lines.append(f"cluster {old} ({size:,} leaves) became {fate}")
        return "\n".join(lines)


def match(
    old: Tree,
    new: Tree,
    n_clusters: int,
    *,
    n_clusters_new: int | None = None,
    min_size: int | Literal["auto"] | None = None,
) -> Match:
    """Match the clusters of two trees over the leaves they share.

    Leaves are matched by name or, if neither tree has names, by number.

    Parameters
    ----------
    old, new : Tree
    n_clusters : int
        Clusters that both are cut into.
    n_clusters_new : int, optional
        Another number for the new tree.
    min_size : int or "auto", optional
        Fewest leaves of a cluster, as in `Tree.cut`, whose default it has. If given, the nearest number of clusters
        that the trees have is good enough.

    Examples
    --------
    >>> import arbora as ab
    >>> old = ab.Tree.from_newick("((a,b),(c,d));")
    >>> new = ab.Tree.from_newick("(((d,e),c),(b,a));")
    >>> ab.match(old, new, 2).new_of_old
    array([1, 0])
    """
    n_clusters = check_whole(n_clusters, "n_clusters")
    n_new = n_clusters if n_clusters_new is None else check_whole(n_clusters_new, "n_clusters_new")
    refuse_if_too_large(
        32 * n_clusters * n_new, f"The overlaps of {n_clusters} x {n_new} clusters", "Ask for fewer clusters."
    )
    i, j = _common(old, new)
    labels_old, labels_new = (_clusters(tree, k, min_size) for tree, k in ((old, n_clusters), (new, n_new)))
    n_clusters, n_new = int(labels_old.max()) + 1, int(labels_new.max()) + 1
    overlap = sp.coo_array(
        (np.ones(len(i), dtype=np.int64), (labels_old[i], labels_new[j])), shape=(n_clusters, n_new)
    ).toarray()
    union = overlap.sum(axis=1)[:, None] + overlap.sum(axis=0) - overlap
    jaccard = overlap / np.maximum(union, 1)
    rows, columns = linear_sum_assignment(-jaccard)
    new_of_old, value = np.full(n_clusters, -1, dtype=np.int64), np.zeros(n_clusters)
    # without shared leaves there is no match
    real = jaccard[rows, columns] > 0
    new_of_old[rows[real]], value[rows[real]] = columns[real], jaccard[rows[real], columns[real]]
    return Match(overlap, new_of_old, value, len(i), old.n_leaves - len(i), new.n_leaves - len(i))


def _clusters(tree: Tree, n_clusters: int, min_size: int | Literal["auto"] | None) -> Ints:
    return (
        tree.cut(n_clusters) if min_size is None else tree.cut(n_clusters, min_size=min_size, exact="nearest")
    )


def _common(old: Tree, new: Tree) -> tuple[Ints, Ints]:
    """Numbers in both trees of the leaves they share."""
    if (old.name is None) != (new.name is None):
        raise ValueError("One tree has names and the other has none: name the leaves of both, or of neither.")
    if old.name is None or new.name is None:
        both = np.arange(min(old.n_leaves, new.n_leaves))
        return both, both
    place = {str(name): k for k, name in enumerate(new.name[: new.n_leaves])}
    names = [str(name) for name in old.name[: old.n_leaves]]
    if len(place) != new.n_leaves or len(set(names)) != old.n_leaves:
        raise ValueError("Names of leaves must not repeat: clusters are matched by them.")
    pairs = [(k, place[name]) for k, name in enumerate(names) if name in place]
    if not pairs:
        raise ValueError("The trees have no leaf name in common.")
    i, j = np.array(pairs, dtype=np.int64).T
    return i, j
