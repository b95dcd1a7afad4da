"""TCL (Li et al. 2022) on features: an instance head and a cluster head, trained by contrast between two views."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from arbora._base.pytorch import Tensor, nn, torch
from arbora._base.types import RandomState
from arbora.baselines.deep import in_pieces, perceptron, seeded
from arbora.logits.flat_model import FlatModel, side_by_side, single_threaded
from arbora.logits.spaces import as_spaces

# share of the steps after which confident predictions are learned from, and how confident they must be
_BOOST_AFTER, _CONFIDENT = 2 / 3, 0.95


class TCL(FlatModel):
    """Twin contrastive learning [1]_ on given features: flat clusters with logits, for `arbora.L2H` to build a tree on.

    Each step sees two views of a batch. The instance head learns to recognize which two rows are views of one point,
    the cluster head which two columns of probabilities belong to one cluster, while all clusters stay in use.

    Parameters
    ----------
    n_clusters : int, default=8
    hidden : int, default=256
        Units of each head's hidden layer.
    projection : int, default=128
        Dimensions in which instances are compared (the paper's).
    noise : float, default=0.1
        Standard deviation of what a view adds to features of mean square 1 / n_features.
    dropped : float, default=0.2
        Share of the features that a view leaves out.
    instance_temperature, cluster_temperature : float
        0.5 and 1.0 (the paper's).
    max_steps : int, default=1000
    batch_size : int, default=256
        (The paper's.)
    learning_rate : float, default=0.0003
        (The paper's.)
    n_jobs : int, optional
    random_state : int, RandomState or None
    verbose : bool, default=False

    Attributes
    ----------
    labels_ : ndarray of int64
    loss_ : float
    history_ : structured ndarray with the fields step, loss, cost
    n_steps_ : int

    References
    ----------
    .. [1] Li, Yang, Peng, Li, Huang, Peng, "Twin contrastive learning for online clustering", IJCV 2022.

    Examples
    --------
    >>> import arbora as ab
    >>> from arbora.baselines.tcl import TCL
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(90, n_features=5, centers=3, random_state=0)
    >>> model = TCL(3, max_steps=20, hidden=16, random_state=0).fit(X)
    >>> ab.L2H(random_state=0).fit(model.decision_function(X)).tree_.n_leaves
    3
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        hidden: int = 256,
        projection: int = 128,
        noise: float = 0.1,
        dropped: float = 0.2,
        instance_temperature: float = 0.5,
        cluster_temperature: float = 1.0,
        max_steps: int = 1000,
        batch_size: int = 256,
        learning_rate: float = 3e-4,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.hidden = hidden
        self.projection = projection
        self.noise = noise
        self.dropped = dropped
        self.instance_temperature = instance_temperature
        self.cluster_temperature = cluster_temperature
        self.max_steps = max_steps
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self, n_points: int) -> None:
        self._check_counts(n_points, hidden=1, projection=1, batch_size=2)
        self._check_positive(
            instance_temperature=math.inf, cluster_temperature=math.inf, learning_rate=math.inf
        )

    def _learn(self, spaces: list[Any]) -> None:
        points = side_by_side(spaces)
        with seeded(self._generator().initial_seed()):
            self._instance = perceptron([points.shape[1], self.hidden, self.projection])
            self._cluster = perceptron([points.shape[1], self.hidden, int(self.n_clusters)])
            self._optimizer = torch.optim.Adam(
                [*self._instance.parameters(), *self._cluster.parameters()], lr=self.learning_rate
            )
            self._number = 0
            self.loss_ = float(self._take_steps(lambda: self._step(points)))
        del self._optimizer
        self.normalized_loss_ = self.loss_
        self.labels_ = in_pieces(self._cluster, points).argmax(dim=1).numpy()

    def _step(self, points: Tensor) -> Tensor:
        batch = points[torch.randperm(len(points))[: int(self.batch_size)]]
        first, second = self._view(batch), self._view(batch)
        loss = contrast(self._instance(first), self._instance(second), self.instance_temperature)
        chances = [torch.softmax(self._cluster(view), dim=1) for view in (first, second)]
        loss = loss + cluster_contrast(chances[0], chances[1], self.cluster_temperature)
        self._number += 1
        if self._number > _BOOST_AFTER * self.max_steps:
            loss = loss + self._boost(batch, second)
        self._optimizer.zero_grad(set_to_none=True)
        torch.autograd.backward(loss)
        self._optimizer.step()
        return loss.detach()

    def _view(self, batch: Tensor) -> Tensor:
        """The batch with noise, and with some features left out."""
        noisy = batch + self.noise / math.sqrt(batch.shape[1]) * torch.randn_like(batch)
        return noisy * (torch.rand_like(batch) >= self.dropped)

    def _boost(self, batch: Tensor, view: Tensor) -> Tensor:
        """Cross-entropy of a view with the prediction for the points themselves, where that is confident."""
        with torch.no_grad():
            chance, label = torch.softmax(self._cluster(batch), dim=1).max(dim=1)
        sure = chance > _CONFIDENT
        if not bool(sure.any()):
            return batch.new_zeros(())
        return nn.functional.cross_entropy(self._cluster(view[sure]), label[sure])

    def decision_function(self, X: Any) -> NDArray[np.float32]:
        """Logits of the cluster head."""
        check_is_fitted(self, "labels_")
        spaces = as_spaces(self, X, reset=False)
        with single_threaded():
            return np.asarray(in_pieces(self._cluster, side_by_side(self._scaling(spaces))))


def contrast(first: Tensor, second: Tensor, temperature: float) -> Tensor:
    """Cross-entropy of finding each row's other view among all other rows, by cosine."""
    both = nn.functional.normalize(torch.cat([first, second]), dim=1)
    n = len(first)
    similarity = both @ both.T / temperature
    similarity = similarity.masked_fill(torch.eye(2 * n, dtype=torch.bool), -math.inf)
    partner = torch.cat([torch.arange(n, 2 * n), torch.arange(n)])
    return nn.functional.cross_entropy(similarity, partner)


def cluster_contrast(first: Tensor, second: Tensor, temperature: float) -> Tensor:
    """The same for columns of probabilities, less the entropy of how often clusters are used."""
    entropy = sum(-(p * p.clamp_min(1e-12).log()).sum() for p in (first.mean(dim=0), second.mean(dim=0)))
    return contrast(first.T, second.T, temperature) - entropy
