"""Riemannian stochastic gradient descent and Adam (Bécigneul and Ganea, 2019) on the Poincaré ball.

A parameter group is a set of points of the ball (last axis: coordinates) unless it says ``ball=False``; so
one optimizer trains embeddings and the Euclidean weights of a model together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from arbora._base.pytorch import Tensor, torch
from arbora.hyperbolic import poincare

Parameters: TypeAlias = Iterable[Tensor] | Iterable[dict[str, Any]]


def _riemannian_gradient(point: Tensor, gradient: Tensor) -> Tensor:
    """Gradient in the metric of the ball: the Euclidean one divided by the squared conformal factor."""
    return gradient * (poincare.gap(point) / 2) ** 2


def _squared_length(point: Tensor, vector: Tensor) -> Tensor:
    return ((vector * poincare.conformal_factor(point)) ** 2).sum(-1, keepdim=True)


def _check_positive(**values: float) -> None:
    for name, value in values.items():
        if not value > 0:
            raise ValueError(f"{name} must be positive. Got {value!r}.")


class _GeodesicOptimizer(torch.optim.Optimizer):
    """Steps over all parameters; `_move` says how one of them moves."""

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:  # type: ignore[override]
        """Move every parameter one step; `closure` re-evaluates the loss, as in PyTorch."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for point in group["params"]:
                if point.grad is not None:
                    self._move(point, group)
        return loss

    def _move(self, point: Tensor, group: dict[str, Any]) -> None:
        raise NotImplementedError


class RiemannianSGD(_GeodesicOptimizer):
    """Stochastic gradient descent along geodesics, with momentum carried by parallel transport.

    Parameters
    ----------
    params : iterable of tensors or of parameter groups
        Groups with ``ball=False`` are trained as ordinary Euclidean parameters.
    lr : float
    momentum : float, default 0
    ball : bool, default True
        Default of the groups.

    Examples
    --------
    >>> import torch
    >>> from arbora.hyperbolic import poincare
    >>> from arbora.hyperbolic.optim import RiemannianSGD
    >>> x = torch.tensor([0.9, 0.0], dtype=torch.float64, requires_grad=True)
    >>> optimizer = RiemannianSGD([x], lr=0.5)
    >>> for _ in range(20):
    ...     optimizer.zero_grad()
    ...     (poincare.norm(x) ** 2 / 2).backward()
    ...     optimizer.step()
    >>> bool(poincare.norm(x) < 1e-5)
    True
    """

    def __init__(
        self, params: Parameters, lr: float = 1e-2, momentum: float = 0.0, *, ball: bool = True
    ) -> None:
        _check_positive(lr=lr)
        if not 0 <= momentum < 1:
            raise ValueError(f"momentum must lie in [0, 1). Got {momentum!r}.")
        super().__init__(params, {"lr": lr, "momentum": momentum, "ball": ball})

    def _move(self, point: Tensor, group: dict[str, Any]) -> None:
        ball = group["ball"]
        assert point.grad is not None
        direction = _riemannian_gradient(point, point.grad) if ball else point.grad
        if group["momentum"]:
            state = self.state[point]
            if "momentum" in state:
                direction = state["momentum"].mul_(group["momentum"]).add_(direction)
            state["momentum"] = direction.clone()
        if not ball:
            point.sub_(group["lr"] * direction)
            return
        moved = poincare.project(poincare.exp_map(point, -group["lr"] * direction))
        if group["momentum"]:
            self.state[point]["momentum"] = poincare.parallel_transport(point, moved, direction)
        point.copy_(moved)


class RiemannianAdam(_GeodesicOptimizer):
    """Adam along geodesics: one second moment per point, first moment carried by parallel transport.

    Parameters
    ----------
    params : iterable of tensors or of parameter groups
        Groups with ``ball=False`` are trained by ordinary Adam.
    lr : float
    betas : pair of floats
    eps : float
    ball : bool, default True
        Default of the groups.

    Examples
    --------
    >>> import torch
    >>> from arbora.hyperbolic import poincare
    >>> from arbora.hyperbolic.optim import RiemannianAdam
    >>> x = torch.tensor([[0.9, 0.0], [0.0, -0.5]], dtype=torch.float64, requires_grad=True)
    >>> optimizer = RiemannianAdam([x], lr=0.05)
    >>> for _ in range(200):
    ...     optimizer.zero_grad()
    ...     (poincare.norm(x) ** 2).sum().backward()
    ...     optimizer.step()
    >>> bool((poincare.norm(x) < 1e-2).all())
    True
    """

    def __init__(
        self,
        params: Parameters,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        *,
        ball: bool = True,
    ) -> None:
        _check_positive(lr=lr, eps=eps)
        if not all(0 <= beta < 1 for beta in betas):
            raise ValueError(f"betas must lie in [0, 1). Got {betas!r}.")
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "ball": ball})

    def _start(self, point: Tensor, ball: bool) -> dict[str, Any]:
        state: dict[str, Any] = self.state[point]
        if not state:
            state["step"] = 0
            state["first"] = torch.zeros_like(point)
            state["second"] = torch.zeros_like(point[..., :1] if ball else point)
        return state

    def _move(self, point: Tensor, group: dict[str, Any]) -> None:
        assert point.grad is not None
        ball, (beta1, beta2) = group["ball"], group["betas"]
        state = self._start(point, ball)
        state["step"] += 1
        gradient = _riemannian_gradient(point, point.grad) if ball else point.grad
        square = _squared_length(point, gradient) if ball else gradient**2
        state["first"].mul_(beta1).add_(gradient, alpha=1 - beta1)
        state["second"].mul_(beta2).add_(square, alpha=1 - beta2)
        first = state["first"] / (1 - beta1 ** state["step"])
        second = state["second"] / (1 - beta2 ** state["step"])
        move = -group["lr"] * first / (second.sqrt() + group["eps"])
        if not ball:
            point.add_(move)
            return
        moved = poincare.project(poincare.exp_map(point, move))
        state["first"] = poincare.parallel_transport(point, moved, state["first"])
        point.copy_(moved)
