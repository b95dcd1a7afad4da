"""All scores of a tree at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from arbora.metrics.bounds import dasgupta_bounds, wang_cost
from arbora.metrics.cophenetic import cophenetic_correlation
from arbora.metrics.dasgupta import dasgupta_cost, moseley_wang_revenue
from arbora.metrics.levels import level_scores, named_levels
from arbora.metrics.purity import dendrogram_purity, least_hierarchical_distance
from arbora.metrics.sampling_divergence import tree_sampling_divergence
from arbora.metrics.table import HIGHER, LOWER, Scores
from arbora.similarity.inputs import covering_similarity

if TYPE_CHECKING:
    from arbora.similarity import Similarity
    from arbora.tree import Tree

# About a second; a larger set is bounded on request.
_MAX_POINTS_FOR_BOUNDS = 2000
_MAX_EDGES_FOR_BOUNDS = 1_000_000
# Points up to which all pairs are visited one by one.
_MAX_POINTS_FOR_INFORMATION = 10_000

_LOWER_IS_BETTER = {
    "dasgupta_cost",
    "dasgupta_normalized",
    "wang_cost",
    "share_of_bounds",
    "least_hierarchical_distance",
}


def score(
    tree: Tree,
    similarity: Any = None,
    y: Any = None,
    *,
    leaf_of_point: ArrayLike | None = None,
    distances: ArrayLike | None = None,
    bounds: bool | None = None,
) -> Scores:
    """Every score that the given data allow, as a small table.

    Parameters
    ----------
    tree : Tree
    similarity : Similarity, sparse adjacency or networkx graph, optional
        Gives Dasgupta's cost and Moseley and Wang's revenue (both also normalized), TSD (for graphs, and up to 10,000
        points otherwise), and with bounds Wang's ratio and where the cost lies between its bounds.
    y : labels, optional
        One level or several, as in `level_scores`. Gives dendrogram purity, and NMI, ARI and accuracy at the
        cut with as many clusters as classes; for several levels, each with the level's name.
    leaf_of_point : array-like of int, shape (n_points,), optional
        Leaf that holds each labeled point, for trees whose leaves are clusters. Adds the least hierarchical
        distance. The similarity still is that of the leaves.
    distances : array-like, optional
        Square or condensed; gives the cophenetic correlation of a tree with heights.
    bounds : bool, optional
        Whether to compute bounds from triples; by default up to 2,000 points or 1,000,000 edges.

    Returns
    -------
    scores : Scores
        A mapping from name to number that prints as a table.

    Examples
    --------
    >>> import arbora as ab
    >>> path = ab.similarity.graph(([0, 1, 2], [1, 2, 3]))
    >>> tree = ab.Tree([4, 4, 5, 5, 6, 6, -1], n_leaves=4)
    >>> ab.metrics.score(tree, path, y=["a", "a", "b", "b"])
    Tree of 4 leaves and 3 internal nodes
    score                         value  better
    dasgupta_cost                     8   lower
    dasgupta_normalized         2.66667   lower
    moseley_wang_revenue              4  higher
    moseley_wang_normalized    0.333333  higher
    wang_cost                         1   lower
    share_of_bounds                   0   lower
    tree_sampling_divergence  0.0652783  higher
    dendrogram_purity                 1  higher
    nmi                               1  higher
    ari                               1  higher
    acc                               1  higher
    purity                            1  higher
    """
    if similarity is None and y is None and distances is None:
        raise TypeError("score needs at least one of similarity, y and distances.")
    values: dict[str, float] = {}
    if similarity is not None:
        values |= _internal_scores(tree, similarity, bounds)
    if distances is not None:
        values["cophenetic_correlation"] = cophenetic_correlation(tree, distances)
    if y is not None:
        values |= _external_scores(tree, y, leaf_of_point)
    better = {name: LOWER if name.split(" ")[0] in _LOWER_IS_BETTER else HIGHER for name in values}
    return Scores(values, better, f"Tree of {tree.n_leaves} leaves and {tree.n_internal} internal nodes")


def _internal_scores(tree: Tree, similarity: Any, bounds: bool | None) -> dict[str, float]:
    similarity = covering_similarity(similarity, tree)
    values = {
        "dasgupta_cost": dasgupta_cost(tree, similarity),
        "dasgupta_normalized": dasgupta_cost(tree, similarity, normalize=True),
        "moseley_wang_revenue": moseley_wang_revenue(tree, similarity),
        "moseley_wang_normalized": moseley_wang_revenue(tree, similarity, normalize=True),
    }
    if bounds if bounds is not None else _bounds_are_quick(similarity):
        values |= _bound_scores(tree, similarity, values["dasgupta_cost"])
    if _information_is_quick(similarity) and similarity.is_non_negative:
        values["tree_sampling_divergence"] = tree_sampling_divergence(tree, similarity)
    return values


def _bound_scores(tree: Tree, similarity: Any, cost: float) -> dict[str, float]:
    lower, upper = dasgupta_bounds(similarity)
    share = (cost - lower) / (upper - lower) if upper > lower else float("nan")
    ratio = wang_cost(tree, similarity, base=lower - 2 * similarity.total)
    return {"wang_cost": ratio, "share_of_bounds": share}


def _bounds_are_quick(similarity: Similarity) -> bool:
    if similarity.csr is not None:
        return int(similarity.csr.nnz) <= 2 * _MAX_EDGES_FOR_BOUNDS
    return similarity.n_points <= _MAX_POINTS_FOR_BOUNDS


def _information_is_quick(similarity: Similarity) -> bool:
    return similarity.csr is not None or similarity.n_points <= _MAX_POINTS_FOR_INFORMATION


def _external_scores(tree: Tree, y: Any, leaf_of_point: ArrayLike | None) -> dict[str, float]:
    values: dict[str, float] = {}
    levels = named_levels(y)
    table = level_scores(tree, y, leaf_of_point)
    for name, labels in levels.items():
        suffix = f" ({name})" if len(levels) > 1 else ""
        values[f"dendrogram_purity{suffix}"] = dendrogram_purity(tree, labels, leaf_of_point)
        if leaf_of_point is not None:
            distance = least_hierarchical_distance(tree, labels, leaf_of_point)
            values[f"least_hierarchical_distance{suffix}"] = distance
        for key in ("nmi", "ari", "acc", "purity"):
            values[f"{key}{suffix}"] = table[name][key]
    return values
