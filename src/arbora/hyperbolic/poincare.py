"""The Poincaré ball of curvature -1, in any dimension, as functions on PyTorch tensors.

Points are the last axis of a tensor; every other axis is a batch and broadcasts. All functions are written so
that nothing cancels near the boundary: `1 - |x|²` is computed to full relative accuracy from the stored
coordinates (`gap`), and every other quantity is a sum of positive terms in it. Gradients are finite
everywhere, also at coincident, opposite and collinear points and at the origin (where a distance has no
derivative, 0 is taken).
"""

from __future__ import annotations

import math

from arbora._base.pytorch import Tensor, torch

# Largest Euclidean norm that `project` lets a point have, and the grid on which squares sum without rounding.
_BOUNDARY = {torch.float64: 1e-7, torch.float32: 1e-4, torch.float16: 1e-2, torch.bfloat16: 1e-2}
_GRID = {torch.float64: 2.0**26, torch.float32: 2.0**11, torch.float16: 2.0**4, torch.bfloat16: 2.0**3}


def boundary_gap(dtype: torch.dtype) -> float:
    """Least distance `project` keeps from the boundary: 1e-7 in float64, 1e-4 in float32."""
    return _BOUNDARY[dtype]


def max_radius(dtype: torch.dtype) -> float:
    """Largest hyperbolic distance from the origin that `project` keeps: 16.8 in float64, 9.9 in float32."""
    return 2 * math.atanh(1 - _BOUNDARY[dtype])


def gap(x: Tensor) -> Tensor:
    """`1 - |x|²` of every point, last axis kept with length 1, to full relative accuracy.

    Coordinates are split as x = coarse + fine with `coarse` on a grid so wide that its squares sum exactly;
    what remains, fine·(x + coarse), is too small to matter to the rounding. Clamped below at the smallest
    normal number, so that points on the boundary give huge distances rather than infinite ones.
    """
    grid = _GRID[x.dtype]
    coarse = (torch.round(x.detach() * grid) / grid).clamp(-1.0, 1.0)
    exact = 1 - (coarse * coarse).sum(-1, keepdim=True)
    fine = ((x - coarse) * (x + coarse)).sum(-1, keepdim=True)
    return (exact - fine).clamp_min(1e-30)


def _euclidean_norm(x: Tensor) -> Tensor:
    # its derivative at 0 is 0
    norm: Tensor = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
    return norm


def _unit(x: Tensor) -> Tensor:
    """`x / |x|`, and 0 at 0, with finite gradients."""
    length = _euclidean_norm(x)
    return x / torch.where(length > 0, length, torch.ones_like(length))


def _along(direction: Tensor, length: Tensor, limit: Tensor | float) -> Tensor:
    """The vector of that `length` along `direction`; `limit` is length / |direction| where both are 0.

    Without the limit the derivative at 0 of maps like `exp_map`, which is not 0, would be lost.
    """
    size = _euclidean_norm(direction)
    ratio = length / torch.where(size > 0, size, torch.ones_like(size))
    return direction * torch.where(
        size > 0, ratio, torch.as_tensor(limit, dtype=size.dtype, device=size.device)
    )


def norm(x: Tensor) -> Tensor:
    """Hyperbolic distance from the origin, `2 artanh |x|`.

    Examples
    --------
    >>> import torch
    >>> from arbora.hyperbolic import poincare
    >>> poincare.norm(torch.tensor([0.6, 0.0], dtype=torch.float64))
    tensor(1.3863, dtype=torch.float64)
    """
    return (2 * torch.asinh(_euclidean_norm(x) / gap(x).sqrt())).squeeze(-1)


def distance(x: Tensor, y: Tensor) -> Tensor:
    """Hyperbolic distance of two (batches of) points, Eq. 3 of HypHC.

    Written `2 arsinh(|x - y| / √((1 - |x|²)(1 - |y|²)))`: the usual arcosh form loses short distances.

    Examples
    --------
    >>> import torch
    >>> from arbora.hyperbolic import poincare
    >>> x = torch.tensor([[0.5, 0.0], [0.0, 0.0]])
    >>> poincare.distance(x, torch.tensor([-0.5, 0.0]))
    tensor([2.1972, 1.0986])
    """
    ratio = _euclidean_norm(x - y) / (gap(x).sqrt() * gap(y).sqrt())
    return (2 * torch.asinh(ratio)).squeeze(-1)


def conformal_factor(x: Tensor) -> Tensor:
    """`2 / (1 - |x|²)`: by how much the metric stretches Euclidean lengths at x; last axis kept."""
    return 2 / gap(x)


def project(x: Tensor, boundary: float | None = None) -> Tensor:
    """Nearest point with Euclidean norm at most `1 - boundary` (default `boundary_gap(x.dtype)`)."""
    limit = 1 - (_BOUNDARY[x.dtype] if boundary is None else boundary)
    length = _euclidean_norm(x)
    inside = length <= limit
    return torch.where(inside, x, x * (limit / torch.where(inside, torch.ones_like(length), length)))


def at_radius(x: Tensor, radius: Tensor | float) -> Tensor:
    """Move every point along its ray to hyperbolic distance `radius` from the origin.

    The point at the origin has no ray and stays. This is HypHC's normalization of leaf embeddings.
    """
    radius = torch.as_tensor(radius, dtype=x.dtype, device=x.device)
    return _unit(x) * torch.tanh(radius / 2)[..., None]


def mobius_add(x: Tensor, y: Tensor) -> Tensor:
    """Möbius addition x ⊕ y, the translation of the ball that takes 0 to x, applied to y.

    In the form `((1-|x|²)(x+y) + |x+y|² x) / ((1-|x|²)(1-|y|²) + |x+y|²)`, where nothing cancels.
    """
    gap_x, gap_y, total = gap(x), gap(y), x + y
    square = (total * total).sum(-1, keepdim=True)
    return (gap_x * total + square * x) / (gap_x * gap_y + square)


def exp_map(x: Tensor, v: Tensor) -> Tensor:
    """Follow the geodesic that leaves x with velocity v for unit time."""
    gap_x = gap(x)
    return mobius_add(x, _along(v, torch.tanh(_euclidean_norm(v) / gap_x), 1 / gap_x))


def exp_map_origin(v: Tensor) -> Tensor:
    """`exp_map` at the origin: `tanh(|v|) v / |v|`."""
    return _along(v, torch.tanh(_euclidean_norm(v)), 1.0)


def log_map(x: Tensor, y: Tensor) -> Tensor:
    """Tangent vector v at x with `exp_map(x, v) = y`."""
    gap_x, difference = gap(x), y - x
    square = (difference * difference).sum(-1, keepdim=True)
    direction = gap_x * difference - square * x  # along (-x) ⊕ y
    return _along(direction, (gap_x / 2) * distance(x, y)[..., None], 1 / gap_x)


def geodesic(x: Tensor, y: Tensor, t: Tensor | float) -> Tensor:
    """Point at fraction `t` of the way from x to y (t outside [0, 1] continues the geodesic)."""
    t = torch.as_tensor(t, dtype=x.dtype, device=x.device)
    return exp_map(x, t[..., None] * log_map(x, y))


def parallel_transport(x: Tensor, y: Tensor, v: Tensor) -> Tensor:
    """Carry the tangent vector v from x to y along the geodesic."""
    return gyration(y, -x, v) * (gap(y) / gap(x))


def gyration(a: Tensor, b: Tensor, v: Tensor) -> Tensor:
    """Rotation gyr[a, b] of v, by which Möbius addition fails to associate (Ungar's closed form)."""
    ab, av, bv = ((p * q).sum(-1, keepdim=True) for p, q in ((a, b), (a, v), (b, v)))
    aa, bb = (a * a).sum(-1, keepdim=True), (b * b).sum(-1, keepdim=True)
    total = a + b
    square = (total * total).sum(-1, keepdim=True)
    along_a = -av * bb + bv + 2 * ab * bv
    along_b = -bv * aa - av
    return v + 2 * (along_a * a + along_b * b) / (gap(a) * gap(b) + square)


def reflect(x: Tensor, axis: Tensor) -> Tensor:
    """Reflect x across the line through the origin and `axis`: an isometry that keeps the origin."""
    unit = _unit(axis)
    return 2 * (x * unit).sum(-1, keepdim=True) * unit - x


def inversion_center(x: Tensor) -> Tensor:
    """Center `x / |x|²` of the sphere, orthogonal to the boundary, whose inversion swaps x and the origin."""
    square = (x * x).sum(-1, keepdim=True)
    return x / torch.where(square > 0, square, torch.ones_like(square))


def invert(x: Tensor, center: Tensor) -> Tensor:
    """Invert x in the sphere around `center` (outside the ball) orthogonal to the boundary: a reflection.

    Examples
    --------
    >>> import torch
    >>> from arbora.hyperbolic import poincare
    >>> x = torch.tensor([0.5, 0.0])
    >>> poincare.invert(x, poincare.inversion_center(x))
    tensor([0., 0.])
    """
    radius_square = (center * center).sum(-1, keepdim=True) - 1
    offset = x - center
    square = (offset * offset).sum(-1, keepdim=True)
    return center + offset * (radius_square / torch.where(square > 0, square, torch.ones_like(square)))


def to_klein(x: Tensor) -> Tensor:
    """The same point in the Klein model, where geodesics are straight: `2x / (1 + |x|²)`."""
    return 2 * x / (2 - gap(x))


def from_klein(k: Tensor) -> Tensor:
    """Inverse of `to_klein`: `k / (1 + √(1 - |k|²))`."""
    return k / (1 + gap(k).sqrt())


def check_in_ball(x: Tensor, name: str = "embeddings") -> Tensor:
    """Return x, or raise ValueError where a point is not finite or not strictly inside the unit ball."""
    if not torch.is_floating_point(x):
        raise TypeError(f"{name} must be a floating-point tensor. Got dtype {x.dtype}.")
    if x.ndim == 0 or x.shape[-1] < 1:
        raise ValueError(f"{name} must have its coordinates on the last axis. Got shape {tuple(x.shape)}.")
    length = torch.linalg.vector_norm(x.detach(), dim=-1)
    outside = ~(length < 1)  # also true for NaN
    if bool(outside.any()):
        worst = length[outside].max().item()
        raise ValueError(
            f"{name} must lie strictly inside the unit ball. Got {int(outside.sum())} of {outside.numel()} "
            f"points outside or not finite (largest norm {worst:.6g}). "
            "Use arbora.hyperbolic.poincare.project(...)."
        )
    return x
