"""Logits of any scikit-learn classifier or clusterer and of PyTorch modules, so that L2H applies to their inputs."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

# Smaller probabilities are raised to this before the logarithm: finite, and far below any that matters.
_SMALLEST = 1e-30


def from_estimator(model: Any, X: Any) -> NDArray[np.float64]:
    """Logits that a fitted scikit-learn model, or a PyTorch module, gives to points.

    Taken, in this order, from what the model offers:

    - Gaussian mixtures: log responsibilities up to a constant per row (never underflowing);
    - classifiers and others with a `decision_function` of one column per class: that (TURTLE, TEMI, linear models);
      one with a single column: 0 and it, whose softmax is the logistic function;
    - `predict_log_proba` or `predict_proba`: log probabilities, zeros raised to 1e-30;
    - clusterers with centers (`transform` to distances, or `cluster_centers_`), and clusterers with only `labels_`
      (centers are then the means of the clusters in X, which must be the training points; noise, -1, has none):
      negative squared distances to the centers, on a scale that does not depend on units or dimension (see Notes).

    Parameters
    ----------
    model : fitted estimator, Pipeline or torch.nn.Module
        A module is called without gradients, in evaluation mode, on the device of its parameters; it must return
        logits, or something with an attribute `logits`.
    X : array-like, shape (n_points, n_features)
        For a module also a tensor of any shape, or a DataLoader (the first item of its batches).

    Returns
    -------
    logits : ndarray of float64, shape (n_points, n_classes)

    Notes
    -----
    Squared distances become logits as ``-d² / s``, with s the mean difference between the squared distances to the
    nearest and the second nearest center: a typical point then prefers its own cluster e : 1 to the next.

    Examples
    --------
    >>> import arbora as ab
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris().data
    >>> model = KMeans(6, n_init=4, random_state=0).fit(X)
    >>> logits = ab.logits.from_estimator(model, X)
    >>> bool((logits.argmax(axis=1) == model.labels_).all())
    True
    >>> ab.L2H(random_state=0).fit(logits).tree_
    Tree(n_leaves=6, n_internal=5, binary)
    """
    if _is_module(model):
        from arbora.logits._module_logits import module_logits

        return module_logits(model, X)
    check_is_fitted(model)
    if isinstance(model, Pipeline):
        return from_estimator(model[-1], model[:-1].transform(X) if len(model) > 1 else X)
    if hasattr(model, "precisions_cholesky_") and hasattr(model, "covariance_type"):
        return _log_joint(model, np.asarray(X, dtype=np.float64))
    if hasattr(model, "decision_function") and not hasattr(model, "offset_"):
        return _as_columns(np.asarray(model.decision_function(X), dtype=np.float64), model)
    if hasattr(model, "predict_log_proba"):
        # some models take the logarithm of zero themselves
        with np.errstate(divide="ignore"):
            return np.asarray(np.maximum(model.predict_log_proba(X), np.log(_SMALLEST)))
    if hasattr(model, "predict_proba"):
        return np.asarray(np.log(np.maximum(model.predict_proba(X), _SMALLEST)))
    return _from_distances(_squared_distances(model, X))


def _is_module(model: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(model, torch.nn.Module)


def _as_columns(scores: NDArray[np.float64], model: Any) -> NDArray[np.float64]:
    if scores.ndim == 1:
        return np.column_stack([np.zeros(len(scores)), scores])
    n_classes = len(getattr(model, "classes_", range(scores.shape[1])))
    # three classes have three pairs, so that the number of columns alone is not enough to decide
    is_of_pairs = getattr(model, "decision_function_shape", "ovr") == "ovo"
    if scores.shape[1] != n_classes or is_of_pairs:
        raise ValueError(
            f"decision_function gives {scores.shape[1]} columns for {n_classes} classes (one per pair of classes?). "
            "Set decision_function_shape='ovr', or pass log probabilities to L2H yourself."
        )
    return scores


def _log_joint(model: Any, X: NDArray[np.float64]) -> NDArray[np.float64]:
    """log(weight) + log density of each component, for all four covariance types."""
    n_components, n_features = model.means_.shape
    chol = model.precisions_cholesky_
    out = np.empty((len(X), n_components))
    # a component may have died out
    with np.errstate(divide="ignore"):
        weight = np.maximum(np.log(model.weights_), np.log(_SMALLEST))
    for k, mean in enumerate(model.means_):
        if model.covariance_type == "full":
            white, log_det = (X - mean) @ chol[k], np.log(np.diag(chol[k])).sum()
        elif model.covariance_type == "tied":
            white, log_det = (X - mean) @ chol, np.log(np.diag(chol)).sum()
        elif model.covariance_type == "diag":
            white, log_det = (X - mean) * chol[k], np.log(chol[k]).sum()
        else:
            white, log_det = (X - mean) * chol[k], n_features * np.log(chol[k])
        out[:, k] = weight[k] + log_det - 0.5 * (white**2).sum(axis=1)
    return out


def _squared_distances(model: Any, X: Any) -> NDArray[np.float64]:
    if hasattr(model, "cluster_centers_"):
        return _to_centers(np.asarray(X, dtype=np.float64), np.asarray(model.cluster_centers_))
    # Birch
    if hasattr(model, "subcluster_centers_") and hasattr(model, "subcluster_labels_"):
        return _to_centers(
            np.asarray(X, dtype=np.float64), _means(model.subcluster_centers_, model.subcluster_labels_)
        )
    if hasattr(model, "labels_"):
        X = np.asarray(X, dtype=np.float64)
        if len(model.labels_) != len(X):
            raise ValueError(
                f"{type(model).__name__} has no centers, so X must be its {len(model.labels_)} training points. "
                f"Got {len(X)}."
            )
        return _to_centers(X, _means(X, model.labels_))
    raise TypeError(
        f"{type(model).__name__} gives no logits: it has no decision_function, predict_proba, centers or labels_."
    )


def _means(X: NDArray[np.float64], labels: NDArray[np.int64]) -> NDArray[np.float64]:
    clusters = np.unique(labels[labels >= 0])
    if len(clusters) == 0:
        raise ValueError("All points are noise (-1): there are no clusters to take logits of.")
    return np.array([X[labels == k].mean(axis=0) for k in clusters])


def _to_centers(X: NDArray[np.float64], centers: NDArray[np.float64]) -> NDArray[np.float64]:
    from sklearn.metrics import euclidean_distances

    return np.asarray(euclidean_distances(X, centers, squared=True))


def _from_distances(squared: NDArray[np.float64]) -> NDArray[np.float64]:
    if squared.shape[1] < 2:
        return -squared
    nearest = np.partition(squared, 1, axis=1)
    scale = float((nearest[:, 1] - nearest[:, 0]).mean())
    return -squared / (scale if scale > 0 else 1.0)
