"""HypHC's continuous Dasgupta cost as a PyTorch module."""

from __future__ import annotations

from arbora._base.pytorch import Tensor, nn, torch
from arbora.hyperbolic import poincare
from arbora.hyperbolic.hyphc.loss import triple_losses


class HypHCLoss(nn.Module):
    """Continuous Dasgupta cost of leaf embeddings on a batch of triples (equation 9 of HypHC).

    For each triple the three similarities are summed, less the one whose pair has the deepest hyperbolic
    ancestor, by a softmax with a temperature. Add it to the loss of any model; it works on any device.

    Parameters
    ----------
    temperature : float, default=0.1
        Of the softmax. Anneal it by assigning to the attribute.
    reduction : {"mean", "sum"}, default="mean"
        Over triples. The sum over all triples of leaves, plus twice the sum of the similarities, is the cost.
    radius : float, optional
        Move embeddings to this hyperbolic distance from the origin first (the paper normalizes so). By
        default they are taken as they are.
    check : bool, default=True
        Check that embeddings lie inside the ball and triples are leaves. On a GPU this waits for the device.

    Examples
    --------
    >>> import torch
    >>> from arbora.nn import HypHCLoss
    >>> embeddings = torch.tensor([[0.8, 0.1], [0.8, -0.1], [-0.8, 0.0]], requires_grad=True)
    >>> triples = torch.tensor([[0, 1, 2]])
    >>> similarities = torch.tensor([[1.0, 0.2, 0.1]])  # of (0, 1), (0, 2), (1, 2)
    >>> loss = HypHCLoss(temperature=0.1)(embeddings, triples, similarities)
    >>> round(loss.item(), 4)
    0.3
    >>> loss.backward()
    """

    def __init__(
        self,
        temperature: float = 0.1,
        *,
        reduction: str = "mean",
        radius: float | None = None,
        check: bool = True,
    ) -> None:
        super().__init__()
        if not temperature > 0:
            raise ValueError(f"temperature must be positive. Got {temperature!r}.")
        if reduction not in ("mean", "sum"):
            raise ValueError(f"reduction must be 'mean' or 'sum'. Got {reduction!r}.")
        if radius is not None and not radius > 0:
            raise ValueError(f"radius must be positive. Got {radius!r}.")
        self.temperature = temperature
        self.reduction = reduction
        self.radius = radius
        self.check = check

    def forward(self, embeddings: Tensor, triples: Tensor, similarities: Tensor) -> Tensor:
        """Loss of a batch.

        Parameters
        ----------
        embeddings : tensor of shape (n_leaves, dimension)
            Points of the ball, dimension at least 2.
        triples : integer tensor of shape (t, 3)
            Leaves (i, j, k).
        similarities : tensor of shape (t, 3)
            (w_ij, w_ik, w_jk).
        """
        if self.check:
            _check(embeddings, triples, similarities, normalized=self.radius is not None)
        points = embeddings[triples]  # (t, 3, d)
        if self.radius is not None:
            points = poincare.at_radius(points, self.radius)
        losses = triple_losses(points, similarities.to(points.dtype), self.temperature)
        return losses.mean() if self.reduction == "mean" else losses.sum()

    def extra_repr(self) -> str:
        """Parameters as printed by PyTorch."""
        return f"temperature={self.temperature}, reduction={self.reduction!r}, radius={self.radius}"


def _check(embeddings: Tensor, triples: Tensor, similarities: Tensor, normalized: bool) -> None:
    if embeddings.ndim != 2 or embeddings.shape[1] < 2:
        shape = tuple(embeddings.shape)
        raise ValueError(f"embeddings must have shape (n_leaves, dimension), dimension >= 2. Got {shape}.")
    if triples.ndim != 2 or triples.shape[1] != 3 or len(triples) == 0:
        raise ValueError(f"triples must have shape (t, 3), t >= 1. Got {tuple(triples.shape)}.")
    if triples.is_floating_point() or triples.dtype == torch.bool:
        raise TypeError(f"triples must hold whole numbers. Got {triples.dtype}.")
    if similarities.shape != triples.shape:
        raise ValueError(
            f"similarities must have the shape of triples. "
            f"Got {tuple(similarities.shape)} and {tuple(triples.shape)}."
        )
    if bool(triples.min() < 0) or bool(triples.max() >= len(embeddings)):
        raise ValueError(
            f"triples must lie in [0, n_leaves={len(embeddings)}). "
            f"Got {int(triples.min())}..{int(triples.max())}."
        )
    if not bool(torch.isfinite(similarities).all()):
        raise ValueError("similarities must be finite.")
    if not normalized:
        poincare.check_in_ball(embeddings, "embeddings")
