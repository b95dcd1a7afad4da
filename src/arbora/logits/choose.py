"""How many clusters: the number whose flat model has the lowest normalized loss."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from sklearn.base import clone


class Choice(NamedTuple):
    """Fitted models for several numbers of clusters.

    Attributes
    ----------
    best : estimator
        The fitted model with the lowest normalized loss.
    losses : dict
        Normalized loss of each number of clusters, averaged over repeats.
    """

    best: Any
    losses: dict[int, float]


def choose_n_clusters(model: Any, X: Any, candidates: Iterable[int], *, n_repeats: int = 1) -> Choice:
    """Fit a model for each number of clusters and keep the one with the lowest normalized loss.

    The loss over its value for labels that say nothing, log(n_clusters): figure 5 of the L2H paper found the minimum
    at the true number of classes.

    Parameters
    ----------
    model : TURTLE or TEMI
        Its parameters are used, except for `n_clusters`.
    X : array-like or list of them
    candidates : iterable of int
        Numbers of clusters, 2 or more.
    n_repeats : int
        Fits per number, with different seeds; losses are averaged.

    Examples
    --------
    >>> import arbora as ab
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(300, n_features=5, centers=4, cluster_std=0.5, random_state=1)
    >>> turtle = ab.TURTLE(max_steps=100, learning_rate=1e-2, inner_learning_rate=1e-2, random_state=0)
    >>> choice = ab.logits.choose_n_clusters(turtle, X, [3, 4, 8])
    >>> choice.best.n_clusters
    4
    """
    numbers = [int(k) for k in candidates]
    if not numbers or min(numbers) < 2:
        raise ValueError(f"candidates must be numbers of clusters, 2 or more. Got {numbers}.")
    if n_repeats < 1:
        raise ValueError(f"n_repeats must be 1 or more. Got {n_repeats!r}.")
    seed = model.get_params()["random_state"]
    losses, fitted = {}, {}
    for k in numbers:
        runs = []
        for repeat in range(n_repeats):
            run = clone(model).set_params(n_clusters=k)
            if repeat and isinstance(seed, int):
                run.set_params(random_state=seed + repeat)
            runs.append(run.fit(X))
        losses[k] = sum(run.normalized_loss_ for run in runs) / n_repeats
        fitted[k] = min(runs, key=lambda run: run.normalized_loss_)
    return Choice(fitted[min(losses, key=losses.__getitem__)], losses)
