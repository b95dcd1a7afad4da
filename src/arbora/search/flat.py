"""The flat clusters that arbora gives by default."""

from __future__ import annotations

from typing import Literal

from arbora._base.params import check_n_clusters, is_auto
from arbora._base.types import Ints
from arbora.tree import Tree


def flat_clusters(tree: Tree, n_clusters: int | Literal["auto"]) -> Ints:
    """Cluster of each leaf: the highest joins are split, and branches too small to be clusters join what is near.

    Heights compare each join with chance, so that no objective on the similarity did better on the sets of
    ``benchmarks/defaults.py`` that it may be chosen on.

    Examples
    --------
    >>> import arbora as ab
    >>> from arbora.search.flat import flat_clusters
    >>> path = ab.similarity.graph(([0, 1, 2], [1, 2, 3], [5.0, 1.0, 5.0]))
    >>> flat_clusters(ab.cluster(path, random_state=0), 2)
    array([0, 0, 1, 1])
    """
    if is_auto(n_clusters):
        return tree.cut("auto")
    wanted = check_n_clusters(n_clusters, tree.n_leaves)
    return tree.cut(wanted, exact="nearest")
