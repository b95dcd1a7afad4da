"""The hyperbolic lowest common ancestor: the point of a geodesic nearest to the origin (Eq. 7 of HypHC).

In the Klein model geodesics are straight chords and Euclidean nearness to the center is hyperbolic nearness,
so the ancestor is the foot of a perpendicular, in any dimension. `lca_point` and `lca_depth` compute that
without cancellation. `lca_depth_lemma` (Lemma 4.1, the disk) and `lca_by_inversion` (reflections, any
dimension) are the paper's two forms, exact in theory, fragile near the boundary: they serve as checks.
"""

from __future__ import annotations

from arbora._base.pytorch import Tensor, torch
from arbora.hyperbolic import poincare


def _chord(x: Tensor, y: Tensor, segment: bool) -> tuple[Tensor, Tensor]:
    """Klein coordinates of the ancestor and `1 - |ancestor|²`, both without cancellation."""
    gap_x, gap_y = poincare.gap(x), poincare.gap(y)
    klein_x, klein_y = 2 * x / (2 - gap_x), 2 * y / (2 - gap_y)
    klein_gap_x, klein_gap_y = (gap_x / (2 - gap_x)) ** 2, (gap_y / (2 - gap_y)) ** 2
    # klein_y - klein_x, with the difference of the two squared norms taken from y - x
    difference = y - x
    growth = (difference * (x + y)).sum(-1, keepdim=True)
    chord = 2 * ((2 - gap_x) * difference - growth * x) / ((2 - gap_x) * (2 - gap_y))
    square = (chord * chord).sum(-1, keepdim=True)
    # The nearest point is stationary in t (or t is held at an end), so t needs no gradient.
    with torch.no_grad():
        t = (square + klein_gap_y - klein_gap_x) / torch.where(
            square > 0, 2 * square, torch.ones_like(square)
        )
        t = torch.where(square > 0, t, torch.full_like(t, 0.5))
        if segment:
            t = t.clamp(0.0, 1.0)
    foot = torch.where(t <= 0.5, klein_x + t * chord, klein_y - (1 - t) * chord)
    foot_gap = (1 - t) * klein_gap_x + t * klein_gap_y + t * (1 - t) * square
    return foot, foot_gap.clamp_min(1e-38)


def lca_point(x: Tensor, y: Tensor, *, segment: bool = True) -> Tensor:
    """Hyperbolic lowest common ancestor of x and y.

    Parameters
    ----------
    x, y : tensors of shape (..., d)
        Points of the ball.
    segment : bool, default True
        Nearest point of the shortest path between x and y, as Eq. 7 defines it: an end of the path where the
        perpendicular misses it. False: the foot of the perpendicular on the whole geodesic, as Lemma 4.1.

    Examples
    --------
    >>> import torch
    >>> from arbora.hyperbolic.lca import lca_point
    >>> x, y = torch.tensor([0.5, 0.5]), torch.tensor([0.5, -0.5])
    >>> lca_point(x, y)
    tensor([0.3820, 0.0000])
    """
    foot, foot_gap = _chord(x, y, segment)
    return foot / (1 + foot_gap.sqrt())


def lca_depth(x: Tensor, y: Tensor, *, segment: bool = True) -> Tensor:
    """Hyperbolic distance from the origin to the lowest common ancestor of x and y.

    First derivatives are exact and finite everywhere; second derivatives are not offered.

    Examples
    --------
    >>> import torch
    >>> from arbora.hyperbolic.lca import lca_depth
    >>> lca_depth(torch.tensor([0.5, 0.5]), torch.tensor([0.5, -0.5]))
    tensor(0.8047)
    """
    foot, foot_gap = _chord(x, y, segment)
    length = torch.linalg.vector_norm(foot, dim=-1)
    return torch.asinh(length / foot_gap.squeeze(-1).sqrt())


def lca_depth_lemma(x: Tensor, y: Tensor) -> Tensor:
    """`lca_depth(x, y, segment=False)` by Lemma 4.1: points of the disk, not on a line with the origin."""
    norm_x, norm_y = torch.linalg.vector_norm(x, dim=-1), torch.linalg.vector_norm(y, dim=-1)
    cosine = (x * y).sum(-1) / (norm_x * norm_y)
    sine = (1 - cosine**2).sqrt()
    ratio = norm_x * (norm_y**2 + 1) / (norm_y * (norm_x**2 + 1))
    alpha = torch.atan((ratio - cosine) / sine)
    center = (norm_x**2 + 1) / (2 * norm_x * torch.cos(alpha))
    radius = (center**2 - 1).sqrt()
    return 2 * torch.atanh((radius**2 + 1).sqrt() - radius)


def lca_by_inversion(x: Tensor, y: Tensor) -> Tensor:
    """`lca_point(x, y, segment=False)` by reflections, in any dimension; neither point at the origin.

    Inverting x to the origin makes the geodesic a straight line; the origin's mirror image in that line, sent
    back, is its mirror image in the geodesic, and the ancestor lies half-way to it.
    """
    center = poincare.inversion_center(x)
    line = poincare.invert(y, center)
    image = poincare.invert(poincare.reflect(x, line), center)
    return poincare.from_klein(image)  # k / (1 + √(1 - |k|²)) halves a hyperbolic distance, too
