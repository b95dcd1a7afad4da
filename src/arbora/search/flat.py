"""The flat clusters that arbora gives by default."""

from __future__ import annotations

from arbora._base.types import Ints
from arbora.similarity import Similarity
from arbora.tree import Tree


def flat_clusters(tree: Tree, similarity: Similarity, n_clusters: int) -> Ints:
    """Cluster of each leaf in the partition of the tree that says most about the similarity.

    Where similarities may be negative or are all zero, chance means nothing and the heights decide.

    Examples
    --------
    >>> import arbora as ab
    >>> from arbora.search.flat import flat_clusters
    >>> path = ab.similarity.graph(([0, 1, 2], [1, 2, 3], [5.0, 1.0, 5.0]))
    >>> flat_clusters(ab.cluster(path, random_state=0), path, 2)
    array([0, 0, 1, 1])
    """
    if similarity.is_non_negative and similarity.total > 0:
        return tree.cut(n_clusters, by="information", similarity=similarity, min_size="auto", exact="nearest")
    return tree.cut(n_clusters, min_size="auto", exact="nearest")
