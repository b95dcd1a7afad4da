"""TURTLE: a labelling that linear classifiers in every representation space find easy (Gadetsky et al. 2024)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from arbora.logits._spaces import as_spaces, import_torch
from arbora.logits.flat import FlatModel


class TURTLE(FlatModel):
    """Flat clustering whose labels are linearly separable with a wide margin in frozen representation spaces.

    Bilevel: a task encoder (one weight-normalized linear head a space, their softmaxes averaged) proposes labels;
    linear classifiers learn them by gradient descent (the inner problem, warm started); the encoder then moves to
    labels that these classifiers predict better, with an entropy term against empty clusters. Gradients stop at the
    labels (the first-order hypergradient of the paper).

    Parameters
    ----------
    n_clusters : int, default=8
    entropy_weight : float, default=10.0
        Weight of the entropy of the mean label (the paper's gamma).
    n_steps : int, default=1000
        Outer steps at most.
    inner_steps : int, default=10
        Gradient steps of the classifiers per outer step.
    learning_rate, inner_learning_rate : float, default=1e-3
        Of Adam, for encoder and classifiers.
    batch_size : int, default=2000
        Points per outer step.
    warm_start_inner : bool, default=True
        Go on training the classifiers from step to step; False starts them afresh (the paper's cold start).
    random_state : int, RandomState or None

    Attributes
    ----------
    labels_ : ndarray of int64, shape (n_points,)
    loss_ : float
        Cross-entropy between the labels and the classifiers' predictions, averaged over the last tenth of the steps.
    normalized_loss_ : float
        ``loss_ / log(n_clusters)`` and per space: comparable between numbers of clusters; smallest near the true one
        (figure 5 of the L2H paper). See `arbora.logits.choose_n_clusters`.
    n_steps_ : int
        Steps taken.
    n_features_in_ : int

    Examples
    --------
    >>> import arbora as ab
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(300, n_features=5, centers=4, random_state=0)
    >>> model = ab.TURTLE(4, n_steps=200, random_state=0).fit(X)
    >>> tree = ab.L2H().fit(model.decision_function(X)).tree_
    >>> tree.n_leaves
    4
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        entropy_weight: float = 10.0,
        n_steps: int = 1000,
        inner_steps: int = 10,
        learning_rate: float = 1e-3,
        inner_learning_rate: float = 1e-3,
        batch_size: int = 2000,
        warm_start_inner: bool = True,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.entropy_weight = entropy_weight
        self.n_steps = n_steps
        self.inner_steps = inner_steps
        self.learning_rate = learning_rate
        self.inner_learning_rate = inner_learning_rate
        self.batch_size = batch_size
        self.warm_start_inner = warm_start_inner
        self.random_state = random_state

    def _check_parameters(self, n_points: int) -> None:
        self._check_counts(n_points, inner_steps=1)
        self._check_positive(learning_rate=math.inf, inner_learning_rate=math.inf)
        weight = self.entropy_weight
        if not isinstance(weight, (int, float, np.number)) or not 0 <= weight < math.inf:
            raise ValueError(f"entropy_weight must be 0 or more. Got {weight!r}.")

    def _learn(self, spaces: list[Any]) -> None:
        torch, generator = import_torch(), self._generator()
        k, n = int(self.n_clusters), len(spaces[0])
        encoder = [_Head(torch, space.shape[1], k, generator) for space in spaces]
        encoder_optimizer = torch.optim.Adam(
            [p for head in encoder for p in head.parameters], lr=self.learning_rate
        )
        classifiers = _Classifiers(torch, spaces, k, self.inner_learning_rate, generator)

        def step() -> Any:
            nonlocal classifiers
            batch = _draw(torch, spaces, n, min(int(self.batch_size), n), generator)
            per_space = [head.probabilities(points) for head, points in zip(encoder, batch)]
            labels = torch.stack(per_space).mean(dim=0)  # (batch, k)
            if not self.warm_start_inner:
                classifiers = _Classifiers(torch, spaces, k, self.inner_learning_rate, generator)
            for _ in range(int(self.inner_steps)):
                classifiers.step(batch, labels.detach())
            error = classifiers.cross_entropy(batch, labels)
            entropy = sum(torch.special.entr(p.mean(dim=0)).sum() for p in per_space)
            encoder_optimizer.zero_grad()
            (error - self.entropy_weight * entropy).backward()
            encoder_optimizer.step()
            return error.detach()

        self.loss_ = float(self._take_steps(step))
        self._encoder = [head.frozen() for head in encoder]
        self.normalized_loss_ = self.loss_ / (len(spaces) * math.log(k)) if k > 1 else 0.0
        self.labels_ = _softmax_mean(torch, self._encoder, spaces).argmax(dim=1).numpy()

    def decision_function(self, X: Any) -> NDArray[np.float32]:
        """Logits: those of the head for one space, log of the mean probability for several."""
        check_is_fitted(self, "labels_")
        torch = import_torch()
        spaces = self._scaling(as_spaces(self, X, reset=False))
        if len(spaces) == 1:
            weight, bias = self._encoder[0]
            return torch.addmm(bias, spaces[0], weight.t()).numpy()
        logs = [
            torch.log_softmax(torch.addmm(b, z, w.t()), dim=1) for z, (w, b) in zip(spaces, self._encoder)
        ]
        return (torch.logsumexp(torch.stack(logs), dim=0) - math.log(len(logs))).numpy()

    def predict_proba(self, X: Any) -> NDArray[np.float32]:
        """Probability of each cluster."""
        check_is_fitted(self, "labels_")
        torch = import_torch()
        return _softmax_mean(torch, self._encoder, self._scaling(as_spaces(self, X, reset=False))).numpy()


class _Head:
    """Weight-normalized linear map: each row of weights has a direction and a length of its own."""

    def __init__(self, torch: Any, n_features: int, n_clusters: int, generator: Any) -> None:
        self.torch = torch
        self.direction, self.bias = _random_linear(torch, n_features, n_clusters, generator)
        self.length = self.direction.norm(dim=1, keepdim=True)
        for parameter in self.parameters:
            parameter.requires_grad_()

    @property
    def parameters(self) -> list[Any]:
        return [self.direction, self.length, self.bias]

    def weight(self) -> Any:
        return self.direction * (self.length / self.direction.norm(dim=1, keepdim=True))

    def probabilities(self, points: Any) -> Any:
        return self.torch.softmax(self.torch.addmm(self.bias, points, self.weight().t()), dim=1)

    def frozen(self) -> tuple[Any, Any]:
        return self.weight().detach(), self.bias.detach()


class _Classifiers:
    """One linear classifier a space, trained on soft labels; gradients in closed form, without autograd."""

    def __init__(
        self, torch: Any, spaces: list[Any], n_clusters: int, learning_rate: float, generator: Any
    ) -> None:
        self.torch, self.learning_rate, self.n_taken = torch, learning_rate, 0
        self.linear = [_random_linear(torch, space.shape[1], n_clusters, generator) for space in spaces]
        self.moments = [[(torch.zeros_like(p), torch.zeros_like(p)) for p in pair] for pair in self.linear]

    def step(self, batch: list[Any], labels: Any) -> None:
        """One gradient step on the mean cross-entropy."""
        torch = self.torch
        self.n_taken += 1
        for points, (weight, bias), moments in zip(batch, self.linear, self.moments):
            residual = (
                torch.softmax(torch.addmm(bias, points, weight.t()), dim=1).sub_(labels).div_(len(points))
            )
            self._adam(weight, residual.t() @ points, *moments[0])
            self._adam(bias, residual.sum(dim=0), *moments[1])

    def _adam(self, parameter: Any, gradient: Any, mean: Any, square: Any) -> None:
        """Adam's update with its usual constants; torch's own spends more on bookkeeping than on arithmetic."""
        mean.mul_(0.9).add_(gradient, alpha=0.1)
        square.mul_(0.999).addcmul_(gradient, gradient, value=0.001)
        scale = math.sqrt(1 - 0.999**self.n_taken)
        step = self.learning_rate * scale / (1 - 0.9**self.n_taken)
        parameter.addcdiv_(mean, square.sqrt().add_(1e-8 * scale), value=-step)

    def cross_entropy(self, batch: list[Any], labels: Any) -> Any:
        """Mean cross-entropy over the points, summed over spaces, as a function of the labels alone."""
        torch = self.torch
        return sum(
            -(labels * torch.log_softmax(torch.addmm(bias, points, weight.t()), dim=1)).sum(dim=1).mean()
            for points, (weight, bias) in zip(batch, self.linear)
        )


def _random_linear(torch: Any, n_features: int, n_clusters: int, generator: Any) -> tuple[Any, Any]:
    """Uniform in +-1/sqrt(n_features), the usual start of a linear layer."""
    bound = 1.0 / math.sqrt(n_features)
    weight = (torch.rand(n_clusters, n_features, generator=generator) * 2 - 1) * bound
    return weight, (torch.rand(n_clusters, generator=generator) * 2 - 1) * bound


def _draw(torch: Any, spaces: list[Any], n_points: int, size: int, generator: Any) -> list[Any]:
    """Random points, the same in every space; all of them where the batch holds them."""
    if size >= n_points:
        return spaces
    chosen = torch.randint(0, n_points, (size,), generator=generator)
    return [space[chosen] for space in spaces]


def _softmax_mean(torch: Any, encoder: list[Any], spaces: list[Any]) -> Any:
    return torch.stack(
        [torch.softmax(torch.addmm(b, z, w.t()), dim=1) for z, (w, b) in zip(spaces, encoder)]
    ).mean(dim=0)
