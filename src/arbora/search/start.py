"""The tree that a search begins with."""

from __future__ import annotations

from arbora.linkages import community_linkage, linkage
from arbora.search.multilevel import LEVELS
from arbora.similarity import Similarity
from arbora.tree import Tree


def first_tree(similarity: Similarity, n_jobs: int | None = None) -> Tree:
    """Average linkage; of a large network inside its communities first.

    A search by levels moves small subtrees over short ways, so it does not mend a tree that is wrong at the top, as
    average linkage of large networks is. Where points have places in space the two trees lead to about the same cost,
    and average linkage of the whole runs in threads.

    Examples
    --------
    >>> import arbora as ab
    >>> from arbora.search.start import first_tree
    >>> first_tree(ab.similarity.graph(([0, 1, 2], [1, 2, 3], [5.0, 1.0, 5.0]))).to_newick(lengths=False)
    '((0,1),(2,3));'
    """
    is_network = similarity.csr is not None and similarity.nearby_order() is None
    if is_network and similarity.n_points >= LEVELS.large:
        return community_linkage(similarity, n_jobs=n_jobs)
    return linkage(similarity, "average", n_jobs=n_jobs)
