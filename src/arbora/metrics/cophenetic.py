"""Correlation between the heights of a tree and the distances it was built from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from arbora.metrics.dasgupta import as_dissimilarity, pairs_meeting
from arbora.similarity.inputs import covering_similarity

if TYPE_CHECKING:
    from arbora.tree import Tree


def cophenetic_correlation(
    tree: Tree, distances: ArrayLike | None = None, *, similarity: Any = None
) -> float:
    """Pearson correlation, over all pairs, of the height at which they meet with their distance.

    Exactly one of `distances` and `similarity` is given; a similarity counts with its sign reversed, so that in
    both cases 1 is best. Works from the weights that meet at each node: neither the cophenetic distances nor,
    for vectors and graphs, the similarities are written out.

    Parameters
    ----------
    tree : Tree
        With heights.
    distances : array-like, shape (n, n) or condensed as by SciPy's ``pdist``
    similarity : Similarity, sparse adjacency or networkx graph
        Pairs without an edge count with similarity 0, self-loops not at all.

    Returns
    -------
    correlation : float
        In [-1, 1]; NaN where heights or distances do not vary.

    Examples
    --------
    >>> import arbora as ab
    >>> from scipy.cluster.hierarchy import linkage
    >>> from scipy.spatial.distance import pdist
    >>> distances = pdist([[0.0], [1.0], [5.0], [7.0]])
    >>> tree = ab.Tree.from_linkage(linkage(distances, "average"))
    >>> round(ab.metrics.cophenetic_correlation(tree, distances), 4)
    0.902
    """
    if (distances is None) == (similarity is None):
        raise TypeError("Give exactly one of distances and similarity=.")
    if tree.height is None:
        raise ValueError(
            "cophenetic_correlation needs a tree with heights. Give them with tree.replace(height=...)."
        )
    sign = 1.0 if similarity is None else -1.0
    weights = (
        as_dissimilarity(distances, tree, "distances")
        if similarity is None
        else covering_similarity(similarity, tree).without_self_loops()
    )
    n_pairs = tree.n_leaves * (tree.n_leaves - 1) / 2
    meeting = pairs_meeting(tree)
    if n_pairs == 0:
        return float("nan")
    height = tree.height[tree.n_leaves :]
    height = height - meeting @ height / n_pairs
    mean = weights.total / n_pairs
    covariance = float(height @ (weights.cross(tree) - mean * meeting))
    spread = np.sqrt(float(meeting @ height**2) * max(weights.sum_of_squares(mean), 0.0))
    return sign * float(np.clip(covariance / spread, -1, 1)) if spread > 0 else float("nan")
