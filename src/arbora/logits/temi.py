"""TEMI: clusters that keep neighbors together, by pointwise mutual information (Adaloglou et al. 2023)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from arbora._base.lazily import lazily
from arbora._base.threads import count_threads
from arbora._base.types import RandomState
from arbora.logits.flat_model import FlatModel, side_by_side, single_threaded
from arbora.logits.spaces import as_spaces


class TEMI(FlatModel):
    """Flat clustering that maximizes the pointwise mutual information between a point and its nearest neighbors.

    An ensemble of heads (cosine similarity to prototypes, after an optional hidden layer) is trained on frozen
    features; each has a teacher, its running average. For a point x and a neighbor x' a head's loss is minus
    ``log sum_c (q_student(c|x) q_teacher(c|x'))**beta / q_teacher(c)``, both ways, weighted by how surely all teachers
    put x and x' together. The head with the lowest loss gives the clustering.

    Parameters
    ----------
    n_clusters : int, default=8
    n_neighbors : int, default=50
        Neighbors (cosine) among which pairs are drawn; fewer where there are fewer points.
    n_heads : int, default=8
    hidden : int, default=0
        Width of a hidden layer in each head; 0 for none.
    beta : float, default=0.6
        Exponent in (0.5, 1]; below 1 it keeps clusters from being all alike or all empty.
    temperature : float, default=0.1
        Cosines are divided by it.
    max_steps : int, default=1000
        Batches of pairs.
    batch_size : int, default=512
    learning_rate : float, default=3e-2
        Of Adam; falls to zero along a cosine.
    n_jobs : int, optional
        Threads of the search for neighbors; training itself uses one.
    random_state : int, RandomState or None
    verbose : bool, default=False
        Show progress on standard error.

    Attributes
    ----------
    labels_ : ndarray of int64, shape (n_points,)
    head_losses_ : ndarray, shape (n_heads,)
        Mean loss of each head over the last tenth of the steps.
    loss_, normalized_loss_ : float
        Lowest of these; and as a share of its bounds: 0 when neighbors always fall together in equal, sure
        clusters, 1 when labels carry no information. See `arbora.logits.choose_n_clusters`.
    history_ : structured ndarray with fields step, loss, cost
        Training curve of the best head (cost is NaN: there is no tree to score).
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
    >>> model = ab.TEMI(4, random_state=0).fit(X)
    >>> ab.L2H(random_state=0).fit(model.decision_function(X)).tree_.n_leaves
    4
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_neighbors: int = 50,
        n_heads: int = 8,
        hidden: int = 0,
        beta: float = 0.6,
        temperature: float = 0.1,
        max_steps: int = 1000,
        batch_size: int = 512,
        learning_rate: float = 3e-2,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.n_heads = n_heads
        self.hidden = hidden
        self.beta = beta
        self.temperature = temperature
        self.max_steps = max_steps
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self, n_points: int) -> None:
        self._check_counts(n_points, n_neighbors=1, n_heads=1, hidden=0)
        self._check_positive(beta=1.0, temperature=math.inf, learning_rate=math.inf)
        if self.beta <= 0.5:
            raise ValueError(f"beta must lie in (0.5, 1]. Got {self.beta!r}.")

    def _learn(self, spaces: list[Any]) -> None:
        from arbora.logits._temi_training import Trainer, nearest_by_cosine

        points = side_by_side(spaces)
        trainer = Trainer(
            points,
            nearest_by_cosine(points, int(self.n_neighbors), count_threads(self.n_jobs)),
            int(self.n_clusters),
            n_heads=int(self.n_heads),
            hidden=int(self.hidden),
            beta=float(self.beta),
            temperature=float(self.temperature),
            learning_rate=float(self.learning_rate),
            batch_size=int(self.batch_size),
            max_steps=int(self.max_steps),
            generator=self._generator(),
        )
        losses = self._take_steps(trainer.step)
        best = int(losses.argmin())
        self._head = trainer.teacher.one(best)
        self.head_losses_ = losses.numpy().astype(np.float64)
        self.loss_ = float(losses[best])
        # sure, equal clusters shared by all neighbors: weight 1, information log(n_clusters)
        bound = math.log(self.n_clusters)
        self.normalized_loss_ = 1.0 + self.loss_ / bound if bound > 0 else 0.0
        self.labels_ = self._logits(points).argmax(dim=1).numpy()

    def _logits(self, points: Any) -> Any:
        return self._head.logits(points)[0] / self.temperature

    @lazily
    def decision_function(self, X: Any) -> NDArray[np.float32]:
        """Logits of the best head's teacher."""
        check_is_fitted(self, "labels_")
        spaces = as_spaces(self, X, reset=False)
        with single_threaded():
            return np.asarray(self._logits(side_by_side(self._scaling(spaces))))

    @lazily
    def predict_proba(self, X: Any) -> NDArray[np.float32]:
        """Probability of each cluster."""
        from scipy.special import softmax

        return np.asarray(softmax(self.decision_function(X), axis=1))
