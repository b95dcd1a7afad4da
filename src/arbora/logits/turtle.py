"""TURTLE: a labelling that linear classifiers in every representation space find easy (Gadetsky et al. 2024)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from arbora._base.lazily import lazily
from arbora._base.params import check_real, check_switch
from arbora._base.types import RandomState
from arbora.logits.flat_model import FlatModel, single_threaded
from arbora.logits.spaces import as_spaces


class TURTLE(FlatModel):
    """Flat clustering whose labels are linearly separable with a wide margin in frozen representation spaces.

    Bilevel: a task encoder (one weight-normalized linear head per space, their softmaxes averaged) proposes labels;
    linear classifiers learn them by gradient descent (the inner problem, warm started); the encoder then moves to
    labels that these classifiers predict better, with an entropy term against empty clusters. Gradients stop at the
    labels (the first-order hypergradient of the paper).

    Parameters
    ----------
    n_clusters : int, default=8
    entropy_weight : float, default=10.0
        Weight of the entropy of the mean label (the paper's gamma).
    max_steps : int, default=1000
        Outer steps.
    inner_steps : int, default=10
        Gradient steps of the classifiers per outer step.
    learning_rate, inner_learning_rate : float, default=1e-3
        Of Adam, for encoder and classifiers.
    batch_size : int, default=2000
        Points per outer step.
    warm_start_inner : bool, default=True
        Continue training the classifiers from step to step; False restarts them at every step (the paper's cold start).
    n_jobs : int, optional
        Training uses one thread, whatever this is: its matrices are too small to share.
    random_state : int, RandomState or None
    verbose : bool, default=False
        Show progress on standard error.

    Attributes
    ----------
    labels_ : ndarray of int64, shape (n_points,)
    loss_ : float
        Cross-entropy between the labels and the classifiers' predictions, averaged over the last tenth of the steps.
    normalized_loss_ : float
        ``loss_ / log(n_clusters)`` and per space: comparable between numbers of clusters; smallest near the true one
        (figure 5 of the L2H paper). See `arbora.logits.choose_n_clusters`.
    history_ : structured ndarray with fields step, loss, cost
        Training curve (cost is NaN: there is no tree to score).
    n_steps_ : int
        Steps taken.
    n_features_in_ : int
    n_features_per_space_ : list of int
        Features of each space, where several were given.

    Examples
    --------
    >>> import arbora as ab
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(300, n_features=5, centers=4, random_state=0)
    >>> model = ab.TURTLE(4, max_steps=200, random_state=0).fit(X)
    >>> tree = ab.L2H(random_state=0).fit(model.decision_function(X)).tree_
    >>> tree.n_leaves
    4
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        entropy_weight: float = 10.0,
        max_steps: int = 1000,
        inner_steps: int = 10,
        learning_rate: float = 1e-3,
        inner_learning_rate: float = 1e-3,
        batch_size: int = 2000,
        warm_start_inner: bool = True,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.entropy_weight = entropy_weight
        self.max_steps = max_steps
        self.inner_steps = inner_steps
        self.learning_rate = learning_rate
        self.inner_learning_rate = inner_learning_rate
        self.batch_size = batch_size
        self.warm_start_inner = warm_start_inner
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self, n_points: int) -> None:
        self._check_counts(n_points, inner_steps=1)
        self._check_positive(learning_rate=math.inf, inner_learning_rate=math.inf)
        check_real(self.entropy_weight, "entropy_weight", least=0)
        check_switch(self.warm_start_inner, "warm_start_inner")

    def _learn(self, spaces: list[Any]) -> None:
        from arbora.logits._turtle_training import Trainer, mean_probabilities

        trainer = Trainer(
            spaces,
            int(self.n_clusters),
            entropy_weight=float(self.entropy_weight),
            inner_steps=int(self.inner_steps),
            learning_rate=float(self.learning_rate),
            inner_learning_rate=float(self.inner_learning_rate),
            batch_size=int(self.batch_size),
            warm_start=bool(self.warm_start_inner),
            generator=self._generator(),
        )
        self.loss_ = float(self._take_steps(trainer.step))
        self._encoder = trainer.encoder()
        bound = len(spaces) * math.log(self.n_clusters)
        self.normalized_loss_ = self.loss_ / bound if bound > 0 else 0.0
        self.labels_ = mean_probabilities(self._encoder, spaces).argmax(dim=1).numpy()

    @lazily
    def decision_function(self, X: Any) -> NDArray[np.float32]:
        """Logits: those of the head for one space, log of the mean probability for several."""
        from arbora.logits._turtle_training import mean_logits

        check_is_fitted(self, "labels_")
        spaces = as_spaces(self, X, reset=False)
        with single_threaded():
            return np.asarray(mean_logits(self._encoder, self._scaling(spaces)))

    @lazily
    def predict_proba(self, X: Any) -> NDArray[np.float32]:
        """Probability of each cluster."""
        from arbora.logits._turtle_training import mean_probabilities

        check_is_fitted(self, "labels_")
        spaces = as_spaces(self, X, reset=False)
        with single_threaded():
            return np.asarray(mean_probabilities(self._encoder, self._scaling(spaces)))
