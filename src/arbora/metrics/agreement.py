"""Agreement of a flat clustering with known classes: accuracy, mutual information, Rand index."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arbora._base.types import Floats, Ints
from arbora.errors import TooLargeError
from arbora.metrics.inputs import as_clusters, as_labels, check_same_length

# 800 MB for the assignment problem.
_MAX_ASSIGNMENT_CELLS = 100_000_000


class Contingency(NamedTuple):
    """Labeled points in each non-empty (cluster, class) cell."""

    cluster: Ints
    label: Ints
    points: Ints
    n_clusters: int
    n_classes: int

    @property
    def n_points(self) -> int:
        """Number of labeled points."""
        return int(self.points.sum())

    @property
    def cluster_sizes(self) -> Floats:
        """Labeled points of each cluster."""
        return np.bincount(self.cluster, self.points, self.n_clusters).astype(np.float64)

    @property
    def class_sizes(self) -> Floats:
        """Points of each class."""
        return np.bincount(self.label, self.points, self.n_classes).astype(np.float64)


def contingency(y: ArrayLike, labels: ArrayLike, names: tuple[str, str] = ("y", "labels")) -> Contingency:
    """Count the points of each cluster and class, leaving out those without a class."""
    clusters = as_clusters(labels, names[1])
    classes = as_labels(y, names[0])
    check_same_length(classes.codes, clusters, names)
    known = classes.codes >= 0
    found, codes = np.unique(clusters[known], return_inverse=True)
    return count_cells(classes.codes[known], codes, classes.n_classes, len(found))


def count_cells(y: Ints, labels: Ints, n_classes: int, n_clusters: int) -> Contingency:
    """Contingency of classes and clusters that are numbers already, ``0 .. n-1`` each."""
    cells, count = np.unique(labels * max(n_classes, 1) + y, return_counts=True)
    cluster, label = np.divmod(cells, max(n_classes, 1))
    return Contingency(cluster, label, count, n_clusters, n_classes)


def flat_scores(y: ArrayLike, labels: ArrayLike) -> dict[str, float]:
    """Agreement of a flat clustering with known classes: NMI, ARI, accuracy and purity. Higher is better.

    Parameters
    ----------
    y : array-like, shape (n_points,)
        Class of each point; -1, NaN and None mean no label, and such points are left out.
    labels : array-like, shape (n_points,)
        Cluster of each point.

    Returns
    -------
    scores : dict
        ``nmi`` (divided by the mean of the two entropies, scikit-learn's default), ``ari``, ``acc``
        (`clustering_accuracy`) and ``purity``. NaN where no point has a label.

    Examples
    --------
    >>> import arbora as ab
    >>> scores = ab.metrics.flat_scores(["a", "a", "b", "b", None], [0, 0, 1, 0, 1])
    >>> {name: round(value, 3) for name, value in scores.items()}
    {'nmi': 0.344, 'ari': 0.0, 'acc': 0.75, 'purity': 0.75}
    """
    return scores_of(contingency(y, labels))


def scores_of(table: Contingency) -> dict[str, float]:
    """The scores of `flat_scores` from counts."""
    return {
        "nmi": mutual_information_of(table),
        "ari": rand_index_of(table),
        "acc": accuracy_of(table),
        "purity": purity_of(table),
    }


def clustering_accuracy(y: ArrayLike, labels: ArrayLike) -> float:
    """Accuracy under the best one-to-one matching of clusters to classes (Hungarian). Higher is better.

    Parameters
    ----------
    y : array-like, shape (n_points,)
        Class of each point; -1, NaN and None mean no label, and such points are left out. Where there are
        more clusters than classes, the points of the clusters left over count as wrong.
    labels : array-like, shape (n_points,)
        Cluster of each point.

    Returns
    -------
    accuracy : float
        NaN where no point has a label.

    Examples
    --------
    >>> import arbora as ab
    >>> ab.metrics.clustering_accuracy(["a", "a", "a", "b"], [1, 1, 0, 0])
    0.75
    """
    return accuracy_of(contingency(y, labels))


def leaf_purity(y: ArrayLike, leaf_of_point: ArrayLike) -> float:
    """Share of the points that belong to the most frequent class of their leaf. Higher is better.

    Parameters
    ----------
    y : array-like, shape (n_points,)
        Class of each point; -1, NaN and None mean no label, and such points are left out.
    leaf_of_point : array-like, shape (n_points,)
        Leaf, or any other cluster, that holds each point.

    Returns
    -------
    purity : float
        NaN where no point has a label.

    Examples
    --------
    >>> import arbora as ab
    >>> ab.metrics.leaf_purity(["a", "a", "b", "b"], [0, 0, 0, 1])
    0.75
    """
    return purity_of(contingency(y, leaf_of_point, ("y", "leaf_of_point")))


def adjusted_rand_index(y: ArrayLike, labels: ArrayLike) -> float:
    """Adjusted Rand index of two flat clusterings: 1 for equal ones, 0 on average for independent ones.

    Examples
    --------
    >>> from arbora.metrics.agreement import adjusted_rand_index
    >>> adjusted_rand_index([0, 0, 1, 1], [5, 5, 3, 3])
    1.0
    """
    return rand_index_of(contingency(y, labels))


def purity_of(table: Contingency) -> float:
    """Share of the points in the largest class of their cluster."""
    largest = np.zeros(table.n_clusters, dtype=np.int64)
    np.maximum.at(largest, table.cluster, table.points)
    return float(largest.sum() / table.n_points) if table.n_points else float("nan")


def accuracy_of(table: Contingency) -> float:
    """Share of the points in cells that the best matching of clusters to classes selects."""
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
    """Mutual information divided by the mean of the two entropies (NMI), scikit-learn's default."""
    if table.n_points == 0:
        return float("nan")
    cluster_sizes, class_sizes = table.cluster_sizes, table.class_sizes
    mean_entropy = (_entropy(cluster_sizes) + _entropy(class_sizes)) / 2
    # one cluster and one class
    if mean_entropy <= 0:
        return 1.0
    expected = cluster_sizes[table.cluster] * class_sizes[table.label] / table.n_points
    information = float(table.points @ np.log(table.points / expected)) / table.n_points
    # equal partitions give 1 but for rounding
    return min(max(information, 0.0) / mean_entropy, 1.0)


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
