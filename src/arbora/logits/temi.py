"""TEMI: clusters that tell neighbors together, by pointwise mutual information (Adaloglou et al. 2023)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from arbora.logits._spaces import as_spaces, import_torch
from arbora.logits.flat import FlatModel

_TEACHER_MOMENTUM = 0.99
_MARGINAL_MOMENTUM = 0.9
_POINTS_PER_SEARCH = 2048


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
    n_steps : int, default=1000
        Batches of pairs.
    batch_size : int, default=512
    learning_rate : float, default=3e-2
        Of Adam; falls to zero along a cosine.
    random_state : int, RandomState or None

    Attributes
    ----------
    labels_ : ndarray of int64, shape (n_points,)
    head_losses_ : ndarray, shape (n_heads,)
        Mean loss of each head over the last tenth of the steps.
    loss_, normalized_loss_ : float
        Lowest of these; and as a share of its bounds: 0 when neighbors always fall together in equal, sure
        clusters, 1 when labels carry no information. See `arbora.logits.choose_n_clusters`.
    n_steps_ : int
        Steps taken.
    n_features_in_ : int

    Examples
    --------
    >>> import arbora as ab
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(300, n_features=5, centers=4, random_state=0)
    >>> model = ab.TEMI(4, random_state=0).fit(X)
    >>> ab.L2H().fit(model.decision_function(X)).tree_.n_leaves
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
        n_steps: int = 1000,
        batch_size: int = 512,
        learning_rate: float = 3e-2,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.n_heads = n_heads
        self.hidden = hidden
        self.beta = beta
        self.temperature = temperature
        self.n_steps = n_steps
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.random_state = random_state

    def _check_parameters(self, n_points: int) -> None:
        self._check_counts(n_points, n_neighbors=1, n_heads=1, hidden=0)
        self._check_positive(beta=1.0, temperature=math.inf, learning_rate=math.inf)
        if self.beta <= 0.5:
            raise ValueError(f"beta must lie in (0.5, 1]. Got {self.beta!r}.")

    def _learn(self, spaces: list[Any]) -> None:
        points = _side_by_side(spaces)
        self._train(points, _neighbors(import_torch(), points, int(self.n_neighbors)), self._generator())
        self.labels_ = self._logits(points).argmax(dim=1).numpy()

    def _train(self, points: Any, neighbors: Any, generator: Any) -> None:
        torch = import_torch()
        n, k = len(points), int(self.n_clusters)
        student = _Heads(torch, points.shape[1], int(self.hidden), k, int(self.n_heads), generator)
        teacher = student.copy()
        marginal = torch.full((int(self.n_heads), 1, k), 1.0 / k)
        optimizer = torch.optim.Adam([p.requires_grad_() for p in student.parameters], lr=self.learning_rate)
        size, total = min(int(self.batch_size), n), int(self.n_steps)
        schedule = torch.optim.lr_scheduler.LambdaLR(
            optimizer, lambda t: 0.5 + 0.5 * math.cos(math.pi * t / total)
        )

        def step() -> Any:
            chosen = torch.randint(0, n, (size,), generator=generator)
            near = _draw_neighbors(torch, neighbors, chosen, generator)
            loss = self._losses(torch, student, teacher, marginal, points[chosen], points[near])
            optimizer.zero_grad()
            loss.sum().backward()
            optimizer.step()
            schedule.step()
            teacher.follow(student, _TEACHER_MOMENTUM)
            return loss.detach()

        self._keep_best(teacher, self._take_steps(step))

    def _losses(self, torch: Any, student: Any, teacher: Any, marginal: Any, x: Any, near: Any) -> Any:
        """Loss of every head on a batch of pairs; updates the teachers' marginal distribution."""
        with torch.no_grad():
            q_teacher = [
                torch.softmax(teacher.logits(z) / self.temperature, dim=2) for z in (x, near)
            ]  # (H, B, K)
            mean = 0.5 * (q_teacher[0].mean(dim=1, keepdim=True) + q_teacher[1].mean(dim=1, keepdim=True))
            marginal.mul_(_MARGINAL_MOMENTUM).add_(mean, alpha=1 - _MARGINAL_MOMENTUM)
            together = (q_teacher[0] * q_teacher[1]).sum(dim=2).mean(dim=0)  # (B,)
        both = [torch.log_softmax(student.logits(z) / self.temperature, dim=2) for z in (x, near)]
        log_marginal = marginal.clamp_min(1e-8).log()
        pmi = sum(
            torch.logsumexp(self.beta * (log_q + q.clamp_min(1e-12).log()) - log_marginal, dim=2)
            for log_q, q in zip(both, reversed(q_teacher))
        )
        return -0.5 * (together * pmi).mean(dim=1)

    def _keep_best(self, teacher: Any, losses: Any) -> None:
        best = int(losses.argmin())
        self._head = teacher.one(best)
        self.head_losses_ = losses.numpy().astype(np.float64)
        self.loss_ = float(losses[best])
        # Sure, equal clusters shared by all neighbors: weight 1, information log(n_clusters).
        k = int(self.n_clusters)
        self.normalized_loss_ = 1.0 + self.loss_ / math.log(k) if k > 1 else 0.0

    def _logits(self, points: Any) -> Any:
        return self._head.logits(points)[0] / self.temperature

    def decision_function(self, X: Any) -> NDArray[np.float32]:
        """Logits of the best head's teacher."""
        check_is_fitted(self, "labels_")
        return self._logits(_side_by_side(self._scaling(as_spaces(self, X, reset=False)))).numpy()

    def predict_proba(self, X: Any) -> NDArray[np.float32]:
        """Probability of each cluster."""
        check_is_fitted(self, "labels_")
        torch = import_torch()
        logits = self._logits(_side_by_side(self._scaling(as_spaces(self, X, reset=False))))
        return torch.softmax(logits, dim=1).numpy()


class _Heads:
    """Several heads at once: parameters have a leading axis of heads."""

    def __init__(
        self, torch: Any, n_features: int, hidden: int, n_clusters: int, n_heads: int, generator: Any
    ) -> None:
        def random(rows: int, columns: int) -> Any:
            return torch.randn(n_heads, rows, columns, generator=generator) / math.sqrt(rows)

        width = hidden or n_features
        self.parameters = [random(width, n_clusters)]
        if hidden:
            self.parameters = [random(n_features, hidden), torch.zeros(n_heads, 1, hidden), *self.parameters]

    def logits(self, points: Any) -> Any:
        """Cosines between points and prototypes: (n_heads, n_points, n_clusters)."""
        functional = import_torch().nn.functional
        z = points
        if len(self.parameters) == 3:
            weight, bias, _ = self.parameters
            z = functional.normalize(functional.gelu(points @ weight + bias), dim=2)
        return z @ functional.normalize(self.parameters[-1], dim=1)

    def _with(self, parameters: list[Any]) -> _Heads:
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


def _side_by_side(spaces: list[Any]) -> Any:
    """All spaces as one, rows of length 1 (a row of zeros stays)."""
    torch = import_torch()
    return torch.nn.functional.normalize(torch.cat(spaces, dim=1), dim=1)


def _neighbors(torch: Any, points: Any, n_neighbors: int) -> Any:
    """Nearest other points by cosine: int64 (n_points, m). A single point is its own neighbor."""
    n = len(points)
    m = min(n_neighbors, n - 1)
    if m == 0:
        return torch.zeros(n, 1, dtype=torch.int64)
    found = torch.empty(n, m, dtype=torch.int64)
    for start in range(0, n, _POINTS_PER_SEARCH):
        similarity = points[start : start + _POINTS_PER_SEARCH] @ points.t()
        rows = torch.arange(len(similarity))
        similarity[rows, start + rows] = -math.inf
        found[start : start + _POINTS_PER_SEARCH] = similarity.topk(m, dim=1).indices
    return found


def _draw_neighbors(torch: Any, neighbors: Any, chosen: Any, generator: Any) -> Any:
    which = torch.randint(0, neighbors.shape[1], (len(chosen),), generator=generator)
    return neighbors[chosen, which]
