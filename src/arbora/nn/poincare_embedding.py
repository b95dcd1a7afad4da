"""A look-up table of points of the Poincaré ball."""

from __future__ import annotations

from arbora._base.pytorch import Tensor, nn, torch
from arbora.hyperbolic import poincare


class PoincareEmbedding(nn.Module):
    """Points of the Poincaré ball by number: the counterpart of `torch.nn.Embedding` in Euclidean space.

    Train `weight` with `arbora.hyperbolic.optim.RiemannianAdam` (or `RiemannianSGD`), which keep it in the
    ball.

    Parameters
    ----------
    num_embeddings : int
        Number of points.
    embedding_dim : int, default=2
    init_radius : float, default=1e-3
        Points start at random directions, at most this hyperbolic distance from the origin.
    generator : torch.Generator, optional
    dtype : torch.dtype, default=torch.float64
        Double precision reaches further towards the boundary.
    device : str or torch.device, optional

    Examples
    --------
    >>> import torch
    >>> from arbora.nn import PoincareEmbedding
    >>> table = PoincareEmbedding(10, 3, generator=torch.Generator().manual_seed(0))
    >>> table(torch.tensor([0, 4])).shape
    torch.Size([2, 3])
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int = 2,
        *,
        init_radius: float = 1e-3,
        generator: torch.Generator | None = None,
        dtype: torch.dtype = torch.float64,
        device: str | torch.device | None = None,
    ) -> None:
        super().__init__()
        if num_embeddings < 1:
            raise ValueError(f"num_embeddings must be at least 1. Got {num_embeddings!r}.")
        if embedding_dim < 2:
            raise ValueError(f"embedding_dim must be at least 2. Got {embedding_dim!r}.")
        if not init_radius > 0:
            raise ValueError(f"init_radius must be positive. Got {init_radius!r}.")
        directions = torch.randn(num_embeddings, embedding_dim, generator=generator, dtype=dtype)
        radii = init_radius * torch.rand(num_embeddings, generator=generator, dtype=dtype)
        points = poincare.project(poincare.at_radius(directions, radii))
        self.weight = nn.Parameter(points.to(device) if device is not None else points)

    def forward(self, index: Tensor) -> Tensor:
        """Points of the given numbers, coordinates on the last axis."""
        return self.weight[index]

    def at_radius(self, radius: Tensor | float) -> Tensor:
        """All points, moved along their rays to one distance from the origin."""
        return poincare.at_radius(self.weight, radius)

    def extra_repr(self) -> str:
        """Parameters as printed by PyTorch."""
        return f"{self.weight.shape[0]}, {self.weight.shape[1]}"
