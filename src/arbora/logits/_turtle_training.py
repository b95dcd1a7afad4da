"""The training of TURTLE: a task encoder, and linear classifiers that learn its labels."""

from __future__ import annotations

import math
from typing import TypeAlias

from arbora._base.pytorch import Tensor, torch

# Weight and bias of one linear head per space.
Encoder: TypeAlias = list[tuple[Tensor, Tensor]]


class Trainer:
    """One outer step at a time.

    Parameters
    ----------
    spaces : list of float32[n_points, d]
    n_clusters : int
    entropy_weight, inner_steps, learning_rate, inner_learning_rate, batch_size, warm_start :
        As in `TURTLE`.
    generator : torch.Generator
    """

    def __init__(
        self,
        spaces: list[Tensor],
        n_clusters: int,
        *,
        entropy_weight: float,
        inner_steps: int,
        learning_rate: float,
        inner_learning_rate: float,
        batch_size: int,
        warm_start: bool,
        generator: torch.Generator,
    ) -> None:
        self._spaces, self._n_clusters, self._generator = spaces, n_clusters, generator
        self._entropy_weight, self._inner_steps = entropy_weight, inner_steps
        self._inner_learning_rate, self._warm_start = inner_learning_rate, warm_start
        self._batch_size = min(batch_size, len(spaces[0]))
        self._heads = [_Head(space.shape[1], n_clusters, generator) for space in spaces]
        parameters = [p for head in self._heads for p in head.parameters]
        self._optimizer = torch.optim.Adam(parameters, lr=learning_rate)
        self._classifiers = self._new_classifiers()

    def _new_classifiers(self) -> _Classifiers:
        return _Classifiers(self._spaces, self._n_clusters, self._inner_learning_rate, self._generator)

    def step(self) -> Tensor:
        """One outer step; the cross-entropy between labels and classifiers."""
        batch = _draw(self._spaces, len(self._spaces[0]), self._batch_size, self._generator)
        per_space = [head.probabilities(points) for head, points in zip(self._heads, batch)]
        # (batch, n_clusters)
        labels = torch.stack(per_space).mean(dim=0)
        if not self._warm_start:
            self._classifiers = self._new_classifiers()
        for _ in range(self._inner_steps):
            self._classifiers.step(batch, labels.detach())
        error = self._classifiers.cross_entropy(batch, labels)
        entropy = torch.stack([torch.special.entr(p.mean(dim=0)).sum() for p in per_space]).sum()
        self._optimizer.zero_grad()
        torch.autograd.backward(error - self._entropy_weight * entropy)
        self._optimizer.step()
        return error.detach()

    def encoder(self) -> Encoder:
        """The heads as they are now."""
        return [head.frozen() for head in self._heads]


class _Head:
    """Weight-normalized linear map: each row of weights has its own direction and length."""

    def __init__(self, n_features: int, n_clusters: int, generator: torch.Generator) -> None:
        self.direction, self.bias = _random_linear(n_features, n_clusters, generator)
        self.length = self.direction.norm(dim=1, keepdim=True)
        for parameter in self.parameters:
            parameter.requires_grad_()

    @property
    def parameters(self) -> list[Tensor]:
        return [self.direction, self.length, self.bias]

    def weight(self) -> Tensor:
        length: Tensor = self.direction.norm(dim=1, keepdim=True)
        weight: Tensor = self.direction * (self.length / length)
        return weight

    def probabilities(self, points: Tensor) -> Tensor:
        return torch.softmax(torch.addmm(self.bias, points, self.weight().t()), dim=1)

    def frozen(self) -> tuple[Tensor, Tensor]:
        return self.weight().detach(), self.bias.detach()


class _Classifiers:
    """One linear classifier per space, trained on soft labels; gradients in closed form, without autograd."""

    def __init__(
        self, spaces: list[Tensor], n_clusters: int, learning_rate: float, generator: torch.Generator
    ) -> None:
        self.learning_rate, self.n_taken = learning_rate, 0
        self.linear = [_random_linear(space.shape[1], n_clusters, generator) for space in spaces]
        self.moments = [[(torch.zeros_like(p), torch.zeros_like(p)) for p in pair] for pair in self.linear]

    def step(self, batch: list[Tensor], labels: Tensor) -> None:
        """One gradient step on the mean cross-entropy."""
        self.n_taken += 1
        for points, (weight, bias), moments in zip(batch, self.linear, self.moments):
            residual = (
                torch.softmax(torch.addmm(bias, points, weight.t()), dim=1).sub_(labels).div_(len(points))
            )
            self._adam(weight, residual.t() @ points, *moments[0])
            self._adam(bias, residual.sum(dim=0), *moments[1])

    def _adam(self, parameter: Tensor, gradient: Tensor, mean: Tensor, square: Tensor) -> None:
        """Adam's update with its usual constants; torch's own spends more on bookkeeping than on arithmetic."""
        mean.mul_(0.9).add_(gradient, alpha=0.1)
        square.mul_(0.999).addcmul_(gradient, gradient, value=0.001)
        scale = math.sqrt(1 - 0.999**self.n_taken)
        step = self.learning_rate * scale / (1 - 0.9**self.n_taken)
        parameter.addcdiv_(mean, square.sqrt().add_(1e-8 * scale), value=-step)

    def cross_entropy(self, batch: list[Tensor], labels: Tensor) -> Tensor:
        """Mean cross-entropy over the points, summed over spaces, as a function of the labels alone."""
        losses = [
            -(labels * torch.log_softmax(torch.addmm(bias, points, weight.t()), dim=1)).sum(dim=1).mean()
            for points, (weight, bias) in zip(batch, self.linear)
        ]
        return torch.stack(losses).sum()


def _random_linear(n_features: int, n_clusters: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Uniform in +-1/sqrt(n_features), the usual start of a linear layer."""
    bound = 1.0 / math.sqrt(n_features)
    weight = (torch.rand(n_clusters, n_features, generator=generator) * 2 - 1) * bound
    return weight, (torch.rand(n_clusters, generator=generator) * 2 - 1) * bound


def _draw(spaces: list[Tensor], n_points: int, size: int, generator: torch.Generator) -> list[Tensor]:
    """Random points, the same in every space; all of them where the batch holds them."""
    if size >= n_points:
        return spaces
    chosen = torch.randint(0, n_points, (size,), generator=generator)
    return [space[chosen] for space in spaces]


def mean_probabilities(encoder: Encoder, spaces: list[Tensor]) -> Tensor:
    """Mean of the softmaxes of all spaces: (n_points, n_clusters)."""
    return torch.stack(
        [torch.softmax(torch.addmm(b, z, w.t()), dim=1) for z, (w, b) in zip(spaces, encoder)]
    ).mean(dim=0)


def mean_logits(encoder: Encoder, spaces: list[Tensor]) -> Tensor:
    """Logits of one space, or the log of the mean probability of several."""
    if len(spaces) == 1:
        weight, bias = encoder[0]
        return torch.addmm(bias, spaces[0], weight.t())
    logs = [torch.log_softmax(torch.addmm(b, z, w.t()), dim=1) for z, (w, b) in zip(spaces, encoder)]
    return torch.logsumexp(torch.stack(logs), dim=0) - math.log(len(logs))
