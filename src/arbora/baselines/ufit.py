"""Ultrametric fitting (Chierchia and Perret 2019): gradient descent over ultrametrics on a graph."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from arbora._base.arrays import as_vectors, row_names
from arbora._base.memory import refuse_if_too_large
from arbora._base.params import check_choice, check_real, check_whole
from arbora._base.progress import ProgressCallback, Stage, check_progress
from arbora._base.types import Floats
from arbora.baselines.on_graphs import is_graph, read_graph
from arbora.baselines.ultrametric import (
    Cost,
    Edges,
    Ultrametric,
    closest,
    cluster_size,
    dasgupta,
    subdominant,
    total,
    triplet,
)
from arbora.tree import Tree

CostName: TypeAlias = Literal["closest", "closest+size", "closest+triplet", "dasgupta"]
COSTS = ("closest", "closest+size", "closest+triplet", "dasgupta")
# steps of which the mean costs are compared to see whether it has converged, and how little they may differ
_WINDOW, _TOLERANCE = 30, 0.005
# of the largest distance, below which similarities 1 / distance in Dasgupta's cost stop growing: equal points have none
_LEAST_DISTANCE = 1e-3
# values whose squared differences, summed over columns, are still numbers
_LARGEST = 1e150
_FIRST_MOMENT, _SECOND_MOMENT, _TINY = 0.9, 0.999, 1e-8


def ufit(
    data: Any,
    cost: CostName = "closest+size",
    *,
    n_neighbors: int = 5,
    top_nodes: int = 10,
    weight: float = 1.0,
    triples: ArrayLike | None = None,
    margin: float = 1.0,
    slope: float = 50.0,
    learning_rate: float = 0.1,
    max_epochs: int = 500,
    progress: ProgressCallback | None = None,
) -> Tree:
    """Fit an ultrametric to the distances of a graph by gradient descent [1]_.

    Parameters
    ----------
    data : array-like of shape (n_points, n_features), or graph
        Of vectors the graph of nearest neighbors is taken, joined with a minimum spanning tree, with Euclidean
        distances. The distance of a graph's edge is 1 / weight.
    cost : {"closest", "closest+size", "closest+triplet", "dasgupta"}
        Squared differences from the distances; the same plus the cluster-size or the triplet cost; or a relaxation of
        Dasgupta's cost.
    n_neighbors : int, default=5
        Of vectors (the paper's).
    top_nodes : int, default=10
        The cluster-size cost counts edges that meet in this many highest nodes; 0 for all.
    weight : float, default=1.0
        Of the second cost.
    triples : array-like of shape (n_triples, 3), optional
        Rows (a, b, c) in which a and b belong together and c does not, for the triplet cost.
    margin : float, default=1.0
        By which a and c are to be further apart than a and b.
    slope : float, default=50.0
        Of the sigmoid in the relaxation of Dasgupta's cost; distances are divided by the largest for it.
    learning_rate : float, default=0.1
    max_epochs : int, default=500
        Fewer where the cost has stopped falling.
    progress : callable, optional

    Returns
    -------
    tree : Tree
        Binary, with the fitted ultrametric as heights.

    References
    ----------
    .. [1] Chierchia, Perret, "Ultrametric fitting by gradient descent", NeurIPS 2019.

    Examples
    --------
    >>> from arbora.baselines.ufit import ufit
    >>> ufit([[0.0], [1.0], [1.5], [9.0], [9.4], [10.0]], n_neighbors=2, max_epochs=20).cut(n_clusters=2)
    array([0, 0, 0, 1, 1, 1])
    """
    check_choice(cost, "cost", COSTS)
    check_real(learning_rate, "learning_rate", above=0)
    check_whole(max_epochs, "max_epochs")
    if is_graph(data):
        found = read_graph(data, "ufit")
        edges, names = _edges_of_graph(found.csr), found.names
    else:
        edges, names = edges_of_vectors(as_vectors(data, argument="data"), n_neighbors), row_names(data)
    if not len(edges.i):
        raise ValueError("ufit needs at least one edge. Got a single point or a graph without edges.")
    if cost == "dasgupta":
        distance = np.maximum(edges.distance / edges.distance.max(), _LEAST_DISTANCE)
        edges = Edges(edges.i, edges.j, distance, edges.n_points)
    chosen = _cost(cost, top_nodes, weight, triples, margin, slope)
    tree = fit_ultrametric(edges, chosen, learning_rate, max_epochs, progress).tree()
    return tree if names is None else tree.replace(name=names)


def _cost(
    name: CostName, top_nodes: int, weight: float, triples: ArrayLike | None, margin: float, slope: float
) -> Cost:
    if name == "closest":
        return closest
    if name == "closest+size":
        return total((1.0, closest), (weight, cluster_size(check_whole(top_nodes, "top_nodes", least=0))))
    if name == "dasgupta":
        return dasgupta(check_real(slope, "slope", above=0))
    if triples is None:
        raise ValueError('cost="closest+triplet" needs triples, rows (a, b, c) of points. Got None.')
    rows = np.asarray(triples)
    if rows.ndim != 2 or rows.shape[1] != 3 or rows.dtype.kind not in "iu":
        raise ValueError(f"triples must be whole numbers of shape (n_triples, 3). Got shape {rows.shape}.")
    return total((1.0, closest), (weight, triplet(rows, margin)))


def edges_of_vectors(vectors: Floats, n_neighbors: int = 5) -> Edges:
    """Nearest neighbors, and a minimum spanning tree of all points, by Euclidean distance."""
    from scipy.sparse.csgraph import minimum_spanning_tree
    from scipy.spatial.distance import pdist, squareform
    from sklearn.neighbors import kneighbors_graph

    n = len(vectors)
    if n < 2:
        return Edges(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0), n)
    if np.abs(vectors).max() > _LARGEST:
        raise ValueError(
            f"data must lie within {_LARGEST:g} of 0, so that distances are numbers. "
            f"Got {np.abs(vectors).max():.3g}; divide by it."
        )
    # distances, their square, a copy without zeros, and what the spanning tree is found in
    refuse_if_too_large(
        40 * n * n, f"The distances between {n} points", "Pass a graph, such as similarity.knn(X)."
    )
    near = kneighbors_graph(vectors, min(n_neighbors, n - 1), mode="distance")
    distances = squareform(pdist(vectors))
    # a distance of 0 between equal points is an edge as well
    floor = np.finfo(np.float64).tiny
    spanning = minimum_spanning_tree(np.maximum(distances, floor))
    pattern = sp.triu(
        near.astype(bool) + near.T.astype(bool) + (spanning + spanning.T).astype(bool), 1
    ).tocoo()
    i, j = pattern.row.astype(np.int64), pattern.col.astype(np.int64)
    order = np.lexsort((j, i))
    i, j = i[order], j[order]
    return Edges(i, j, np.maximum(distances[i, j], floor), n)


def _edges_of_graph(csr: sp.csr_array) -> Edges:
    upper = sp.triu(csr, 1).tocoo()
    i, j = upper.row.astype(np.int64), upper.col.astype(np.int64)
    return Edges(i, j, 1.0 / upper.data.astype(np.float64), int(csr.shape[0]))


# ---- descent -------------------------------------------------------------------------------------------------


def fit_ultrametric(
    edges: Edges,
    cost: Cost,
    learning_rate: float = 0.1,
    max_epochs: int = 500,
    progress: ProgressCallback | None = None,
) -> Ultrametric:
    """The best ultrametric that Adam (AMSGrad) meets, started at the largest one below the distances.

    The weights are the softplus of what is descended, so that they stay positive.
    """
    x = subdominant(edges, edges.distance).distance
    best_x, best_value = x.copy(), np.inf
    moment, square, largest = np.zeros_like(x), np.zeros_like(x), np.zeros_like(x)
    values: list[float] = []
    with Stage(check_progress(progress), "fit", total=max_epochs) as stage:
        for epoch in range(1, max_epochs + 1):
            found = subdominant(edges, np.logaddexp(0.0, x))
            value, at_merge = cost(found)
            if value < best_value:
                best_x, best_value = x.copy(), value
            gradient = np.zeros_like(x)
            gradient[found.edge_of_merge] = at_merge
            gradient *= 0.5 * (1.0 + np.tanh(0.5 * x))
            moment = _FIRST_MOMENT * moment + (1 - _FIRST_MOMENT) * gradient
            square = _SECOND_MOMENT * square + (1 - _SECOND_MOMENT) * gradient**2
            largest = np.maximum(largest, square)
            scale = np.sqrt(largest / (1 - _SECOND_MOMENT**epoch)) + _TINY
            x = x - learning_rate / (1 - _FIRST_MOMENT**epoch) * moment / scale
            values.append(value)
            stage.update(epoch)
            if _has_converged(values):
                break
    return subdominant(edges, np.logaddexp(0.0, best_x))


def _has_converged(values: list[float]) -> bool:
    """Whether the mean of the last costs differs little from that of those before, beside what was gained."""
    if len(values) < 2 * _WINDOW:
        return False
    before, after = np.mean(values[-2 * _WINDOW : -_WINDOW]), np.mean(values[-_WINDOW:])
    gained = abs(max(max(values), 0.0) - after)
    return bool(gained >= 1e-5 and abs(before - after) < _TOLERANCE * gained)
