"""The training of TEMI: an ensemble of heads, each with a teacher that is its running average."""

from __future__ import annotations

import math

from arbora._base.pytorch import Tensor, torch
from arbora._base.threads import share_out

_TEACHER_MOMENTUM = 0.99
_MARGINAL_MOMENTUM = 0.9
_POINTS_PER_SEARCH = 2048


class Trainer:
    """One step at a time, on random pairs of neighbors.

    Parameters
    ----------
    points : float32[n_points, d]
        Rows of length 1.
    neighbors : int64[n_points, m]
    n_clusters : int
    n_heads, hidden, beta, temperature, learning_rate, batch_size, max_steps :
        As in `TEMI`.
    generator : torch.Generator
    """

    def __init__(
        self,
        points: Tensor,
        neighbors: Tensor,
        n_clusters: int,
        *,
        n_heads: int,
        hidden: int,
        beta: float,
        temperature: float,
        learning_rate: float,
        batch_size: int,
        max_steps: int,
        generator: torch.Generator,
    ) -> None:
        self._points, self._neighbors, self._generator = points, neighbors, generator
        self._beta, self._temperature = beta, temperature
        self._size = min(batch_size, len(points))
        self._student = _Heads(points.shape[1], hidden, n_clusters, n_heads, generator)
        self.teacher = self._student.copy()
        self._marginal = torch.full((n_heads, 1, n_clusters), 1.0 / n_clusters)
        parameters = [p.requires_grad_() for p in self._student.parameters]
        self._optimizer = torch.optim.Adam(parameters, lr=learning_rate)
        self._schedule = torch.optim.lr_scheduler.LambdaLR(
            self._optimizer, lambda t: 0.5 + 0.5 * math.cos(math.pi * t / max_steps)
        )

    def step(self) -> Tensor:
        """One step; the loss of every head."""
        chosen = torch.randint(0, len(self._points), (self._size,), generator=self._generator)
        near = _draw_neighbors(self._neighbors, chosen, self._generator)
        loss = self._losses(self._points[chosen], self._points[near])
        self._optimizer.zero_grad()
        torch.autograd.backward(loss.sum())
        self._optimizer.step()
        self._schedule.step()
        self.teacher.follow(self._student, _TEACHER_MOMENTUM)
        return loss.detach()

    def _losses(self, x: Tensor, near: Tensor) -> Tensor:
        """Loss of every head on a batch of pairs; updates the teachers' marginal distribution."""
        with torch.no_grad():
            # (n_heads, batch, n_clusters)
            q_teacher = [torch.softmax(self.teacher.logits(z) / self._temperature, dim=2) for z in (x, near)]
            mean = 0.5 * (q_teacher[0].mean(dim=1, keepdim=True) + q_teacher[1].mean(dim=1, keepdim=True))
            self._marginal.mul_(_MARGINAL_MOMENTUM).add_(mean, alpha=1 - _MARGINAL_MOMENTUM)
            # (batch,)
            together = (q_teacher[0] * q_teacher[1]).sum(dim=2).mean(dim=0)
        both = [torch.log_softmax(self._student.logits(z) / self._temperature, dim=2) for z in (x, near)]
        log_marginal = self._marginal.clamp_min(1e-8).log()
        pmi = [
            torch.logsumexp(self._beta * (log_q + q.clamp_min(1e-12).log()) - log_marginal, dim=2)
            for log_q, q in zip(both, reversed(q_teacher))
        ]
        return -0.5 * (together * (pmi[0] + pmi[1])).mean(dim=1)


class _Heads:
    """Several heads at once: parameters have a leading axis of heads."""

    def __init__(
        self, n_features: int, hidden: int, n_clusters: int, n_heads: int, generator: torch.Generator
    ) -> None:
        def random(rows: int, columns: int) -> Tensor:
            return torch.randn(n_heads, rows, columns, generator=generator) / math.sqrt(rows)

        width = hidden or n_features
        self.parameters = [random(width, n_clusters)]
        if hidden:
            self.parameters = [random(n_features, hidden), torch.zeros(n_heads, 1, hidden), *self.parameters]

    def logits(self, points: Tensor) -> Tensor:
        """Cosines between points and prototypes: (n_heads, n_points, n_clusters)."""
        functional = torch.nn.functional
        z = points
        if len(self.parameters) == 3:
            weight, bias, _ = self.parameters
            z = functional.normalize(functional.gelu(points @ weight + bias), dim=2)
        return z @ functional.normalize(self.parameters[-1], dim=1)

    def _with(self, parameters: list[Tensor]) -> _Heads:
        other = object.__new__(_Heads)
        other.parameters = parameters
        return other

    def copy(self) -> _Heads:
        return self._with([p.detach().clone() for p in self.parameters])

    def one(self, head: int) -> _Heads:
        return self._with([p[head : head + 1].detach().clone() for p in self.parameters])

    def follow(self, student: _Heads, momentum: float) -> None:
        """Move towards the student's parameters."""
        for own, other in zip(self.parameters, student.parameters):
            own.mul_(momentum).add_(other.detach(), alpha=1 - momentum)


def nearest_by_cosine(points: Tensor, n_neighbors: int, n_threads: int) -> Tensor:
    """Nearest other points of rows of length 1: int64 (n_points, m). A single point is its own neighbor."""
    n = len(points)
    m = min(n_neighbors, n - 1)
    if m == 0:
        return torch.zeros(n, 1, dtype=torch.int64)
    found = torch.empty(n, m, dtype=torch.int64)

    def search(first: int, last: int) -> None:
        for start in range(first * _POINTS_PER_SEARCH, min(last * _POINTS_PER_SEARCH, n), _POINTS_PER_SEARCH):
            similarity = points[start : start + _POINTS_PER_SEARCH] @ points.t()
            rows = torch.arange(len(similarity))
            similarity[rows, start + rows] = -math.inf
            found[start : start + _POINTS_PER_SEARCH] = similarity.topk(m, dim=1).indices

    # blocks of the same size whatever the number of threads: the result does not depend on it
    share_out(search, -(-n // _POINTS_PER_SEARCH), n_threads, at_once=1)
    return found


def _draw_neighbors(neighbors: Tensor, chosen: Tensor, generator: torch.Generator) -> Tensor:
    which = torch.randint(0, neighbors.shape[1], (len(chosen),), generator=generator)
    return neighbors[chosen, which]
