"""How many clusters: the number whose flat model has the lowest normalized loss."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from sklearn.base import clone

from arbora._base.params import check_whole
from arbora._base.progress import ProgressCallback, Stage, check_progress
from arbora._base.random import LARGEST_SEED, generator
from arbora.logits.flat_model import FlatModel


class Choice(NamedTuple):
    """Fitted models for several numbers of clusters.

    Attributes
    ----------
    best : estimator
        The fitted model with the lowest normalized loss.
    losses : dict
        Normalized loss of each number of clusters, averaged over repeats.
    """

    best: FlatModel
    losses: dict[int, float]


def choose_n_clusters(
    model: FlatModel,
    X: Any,
    candidates: Iterable[int],
    *,
    n_init: int = 1,
    progress: ProgressCallback | None = None,
) -> Choice:
    """Fit a model for each number of clusters and keep the one with the lowest normalized loss.

    The loss is divided by its value for uninformative labels, log(n_clusters): figure 5 of the L2H paper found the
    minimum at the true number of classes.

    Parameters
    ----------
    model : TURTLE or TEMI
        Its parameters are used, except for `n_clusters`.
    X : array-like or list of them
    candidates : iterable of int
        Numbers of clusters, 2 or more.
    n_init : int
        Fits per number, with different seeds; losses are averaged.
    progress : callable, optional
        Called with (stage, done, total).

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
    numbers = [check_whole(k, "candidates", least=2) for k in candidates]
    if not numbers:
        raise ValueError("candidates must not be empty.")
    check_whole(n_init, "n_init")
    # the first fit is that of the model itself
    seeds = (
        [] if n_init == 1 else generator(model.random_state).integers(LARGEST_SEED, size=n_init - 1).tolist()
    )
    losses: dict[int, float] = {}
    fitted: dict[int, FlatModel] = {}
    with Stage(check_progress(progress), "numbers of clusters", len(numbers) * n_init) as stage:
        for k in numbers:
            runs = []
            for start in range(n_init):
                run = clone(model).set_params(n_clusters=k)
                if start:
                    run.set_params(random_state=seeds[start - 1])
                runs.append(run.fit(X))
                stage.update(len(losses) * n_init + start + 1)
            losses[k] = sum(run.normalized_loss_ for run in runs) / n_init
            fitted[k] = min(runs, key=lambda run: float(run.normalized_loss_))
    return Choice(fitted[min(losses, key=losses.__getitem__)], losses)
