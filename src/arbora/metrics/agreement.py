"""Agreement of a flat clustering with known classes: accuracy, mutual information, Rand index."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arbora.errors import TooLargeError
from arbora.metrics._inputs import as_labels, check_same_length

_MAX_ASSIGNMENT_CELLS = 100_000_000  # 800 MB for the assignment problem


class Contingency(NamedTuple):
    """Labeled points in each non-empty (cluster, class) cell."""

    cluster: NDArray[np.int64]
    label: NDArray[np.int64]
    points: NDArray[np.int64]
    n_clusters: int
    n_classes: int

    @property
    def n_points(self) -> int:
        return int(self.points.sum())

    @property
    def cluster_sizes(self) -> NDArray[Any]:
        return np.bincount(self.cluster, weights=self.points, minlength=self.n_clusters)

    @property
    def class_sizes(self) -> NDArray[Any]:
        return np.bincount(self.label, weights=self.points, minlength=self.n_classes)


def contingency(clusters: ArrayLike, y: ArrayLike, names: tuple[str, str]) -> Contingency:
    """Count the points of each cluster and class, leaving out those without a class."""
    clusters = np.asarray(clusters)
    if clusters.ndim != 1:
        raise ValueError(f"{names[0]} must have one entry a point. Got shape {clusters.shape}.")
    if clusters.dtype.kind == "f" and not np.isfinite(clusters).all():
        raise ValueError(f"{names[0]} must not hold NaN or infinity.")
    labels = as_labels(y, names[1])
    check_same_length(clusters, labels.codes, names)
    known = labels.codes >= 0
    found, codes = np.unique(clusters[known], return_inverse=True)
    n_classes = max(labels.n_classes, 1)
    cells, count = np.unique(codes * n_classes + labels.codes[known], return_counts=True)
    cluster, label = np.divmod(cells, n_classes)
    return Contingency(cluster, label, count, len(found), labels.n_classes)


def clustering_accuracy(labels: ArrayLike, y: ArrayLike) -> float:
    """Accuracy under the best one-to-one matching of clusters to classes (Hungarian). Higher is better.

    Parameters
    ----------
    labels : array-like, shape (n_points,)
        Cluster of each point.
    y : array-like, shape (n_points,)
        Class of each point; -1, NaN and None mean no label, and such points are left out. Where there are
        more clusters than classes, the points of the clusters left over count as wrong.

    Returns
    -------
    accuracy : float
        NaN where no point has a label.

    Examples
    --------
    >>> import arbora as ab
    >>> ab.metrics.clustering_accuracy([1, 1, 0, 0], ["a", "a", "a", "b"])
    0.75
    """
    return accuracy_of(contingency(labels, y, ("labels", "y")))


def leaf_purity(leaf_of_point: ArrayLike, y: ArrayLike) -> float:
    """Share of the points that belong to the most frequent class of their leaf. Higher is better.

    Parameters
    ----------
    leaf_of_point : array-like, shape (n_points,)
        Leaf, or any other cluster, that holds each point.
    y : array-like, shape (n_points,)
        Class of each point; -1, NaN and None mean no label, and such points are left out.

    Returns
    -------
    purity : float
        NaN where no point has a label.

    Examples
    --------
    >>> import arbora as ab
    >>> ab.metrics.leaf_purity([0, 0, 0, 1], ["a", "a", "b", "b"])
    0.75
    """
    return purity_of(contingency(leaf_of_point, y, ("leaf_of_point", "y")))


def purity_of(table: Contingency) -> float:
    """Share of the points in the largest class of their cluster."""
    largest = np.zeros(table.n_clusters, dtype=np.int64)
    np.maximum.at(largest, table.cluster, table.points)
    return float(largest.sum() / table.n_points) if table.n_points else float("nan")


def accuracy_of(table: Contingency) -> float:
    """Share of the points in cells that the best matching of clusters to classes keeps."""
    from scipy.optimize import linear_sum_assignment

    if table.n_points == 0:
        return float("nan")
    if table.n_clusters * table.n_classes > _MAX_ASSIGNMENT_CELLS:
        raise TooLargeError(
            f"Matching {table.n_clusters} clusters to {table.n_classes} classes needs too large a matrix. "
            f"Cut the tree into fewer clusters, or use leaf_purity."
        )
    cells = np.zeros((table.n_clusters, table.n_classes))
    cells[table.cluster, table.label] = table.points
    matched = linear_sum_assignment(cells, maximize=True)
    return float(cells[matched].sum() / table.n_points)


def mutual_information_of(table: Contingency) -> float:
    """Mutual information divided by the mean of the two entropies (NMI), as scikit-learn's default."""
    if table.n_points == 0:
        return float("nan")
    cluster_sizes, class_sizes = table.cluster_sizes, table.class_sizes
    if table.n_clusters == table.n_classes == 1:
        return 1.0
    expected = cluster_sizes[table.cluster] * class_sizes[table.label] / table.n_points
    information = float(table.points @ np.log(table.points / expected)) / table.n_points
    mean_entropy = (_entropy(cluster_sizes) + _entropy(class_sizes)) / 2
    return max(information, 0.0) / mean_entropy


def rand_index_of(table: Contingency) -> float:
    """Adjusted Rand index (ARI): 1 for equal partitions, 0 on average for independent ones."""
    if table.n_points == 0:
        return float("nan")
    together = _pairs(table.points)
    in_clusters, in_classes = _pairs(table.cluster_sizes), _pairs(table.class_sizes)
    expected = in_clusters * in_classes / max(_pairs(np.array([table.n_points])), 1.0)
    highest = (in_clusters + in_classes) / 2
    return (together - expected) / (highest - expected) if highest != expected else 1.0


def _entropy(sizes: NDArray[Any]) -> float:
    share = sizes[sizes > 0] / sizes.sum()
    return float(-share @ np.log(share))


def _pairs(sizes: NDArray[Any]) -> float:
    sizes = sizes.astype(np.float64)
    return float((sizes * (sizes - 1)).sum() / 2)
