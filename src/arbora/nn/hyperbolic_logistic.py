"""Multinomial logistic regression on the Poincaré ball (Ganea, Bécigneul and Hofmann, 2018)."""

from __future__ import annotations

from arbora._base.pytorch import Tensor, nn, torch
from arbora.hyperbolic import poincare


class HyperbolicLogisticRegression(nn.Module):
    """Logits of points of the ball: signed distances to one gyroplane per class, scaled.

    A class k has a point p_k and a normal a_k; the hyperplane through p_k orthogonal to a_k is the union of
    the geodesics that leave p_k orthogonally to it. The logit is λ(p) times the length of a
    times the signed distance of x.
    p_k is stored as a vector at the origin (p = exp(vector)), so any Euclidean optimizer trains the module.

    Parameters
    ----------
    in_features : int
        Dimension of the ball.
    n_classes : int
    generator : torch.Generator, optional
    dtype : torch.dtype, default=torch.float64

    Examples
    --------
    >>> import torch
    >>> from arbora.nn import HyperbolicLogisticRegression
    >>> layer = HyperbolicLogisticRegression(2, 3, generator=torch.Generator().manual_seed(0))
    >>> layer(torch.zeros(5, 2, dtype=torch.float64)).shape
    torch.Size([5, 3])
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        *,
        generator: torch.Generator | None = None,
        dtype: torch.dtype = torch.float64,
    ) -> None:
        super().__init__()
        if in_features < 1:
            raise ValueError(f"in_features must be at least 1. Got {in_features!r}.")
        if n_classes < 2:
            raise ValueError(f"n_classes must be at least 2. Got {n_classes!r}.")
        shape = (n_classes, in_features)
        self.offset = nn.Parameter(0.01 * torch.randn(shape, generator=generator, dtype=dtype))
        self.normal = nn.Parameter(torch.randn(shape, generator=generator, dtype=dtype) / in_features**0.5)

    def forward(self, x: Tensor) -> Tensor:
        """Logits of points of the ball: (..., in_features) to (..., n_classes)."""
        if x.shape[-1] != self.normal.shape[1]:
            raise ValueError(
                f"x must have {self.normal.shape[1]} coordinates on its last axis. Got {tuple(x.shape)}."
            )
        point = poincare.project(poincare.exp_map_origin(self.offset))
        return gyroplane_logits(x, point, self.normal)


def gyroplane_logits(x: Tensor, point: Tensor, normal: Tensor) -> Tensor:
    """Eq. 25 of Ganea et al. at curvature -1: ``λ(p) |a| arsinh(2 <-p ⊕ x, a> / ((1 - |-p ⊕ x|²) |a|))``.

    `normal` is the tangent vector at the origin; carried to p it is shorter by the factor 1 - |p|², which
    cancels λ(p) up to 2. With u = -p ⊕ x, ``1 - |u|² = (1-|p|²)(1-|x|²) / D`` where D is the denominator of
    the Möbius sum; so the ratio needs neither u itself nor a cancelling difference.
    """
    x = x.unsqueeze(-2)  # (..., 1, d) against (k, d)
    gap_x, gap_p, difference = poincare.gap(x), poincare.gap(point), x - point
    square = (difference * difference).sum(-1, keepdim=True)
    numerator = gap_p * difference - square * point  # D times u
    along = (numerator * normal).sum(-1)
    length = torch.linalg.vector_norm(normal, dim=-1).clamp_min(1e-15)
    ratio = 2 * along / ((gap_p * gap_x).squeeze(-1) * length)
    distance: Tensor = 2 * length * torch.asinh(ratio)
    return distance
