"""HypHC's continuous cost (Eq. 9) for leaf embeddings in a Poincaré ball of any dimension, in PyTorch."""

from __future__ import annotations

from typing import Any

from arbora._base.pytorch import Tensor, torch
from arbora.hyperbolic.hyphc.circle import circle_loss
from arbora.hyperbolic.lca import lca_depth


def triple_losses(points: Tensor, similarities: Tensor, temperature: float | Tensor) -> Tensor:
    """Loss of each triple: the cost of those similarities that are not at the deepest ancestor.

    Parameters
    ----------
    points : tensor of shape (t, 3, d)
        Embeddings of leaves i, j, k.
    similarities : tensor of shape (t, 3)
        (w_ij, w_ik, w_jk).
    temperature : float
        Of the softmax that stands for "deepest".

    Returns
    -------
    losses : tensor of shape (t,)
    """
    first, second, third = points.unbind(-2)
    depths = torch.stack(
        [lca_depth(first, second), lca_depth(first, third), lca_depth(second, third)], dim=-1
    )
    deepest = torch.softmax(depths / temperature, dim=-1)  # (t, 3)
    return similarities.sum(-1) - (similarities * deepest).sum(-1)


def circle_mean_loss(
    directions: Tensor, triples: Any, similarities: Any, *, radius: float, temperature: float
) -> Tensor:
    """Mean of `triple_losses` for leaves of the disk moved to one radius, by the compiled closed form.

    Parameters
    ----------
    directions : tensor of shape (n, 2)
        On the CPU; only the angles count.
    triples, similarities : arrays of shape (t, 3)
    """
    theta = torch.atan2(directions[:, 1], directions[:, 0])
    total: Tensor = _CircleLoss.apply(theta, triples, similarities, radius, temperature)  # type: ignore[no-untyped-call]
    return total / len(triples)


class _CircleLoss(torch.autograd.Function):
    """`circle_loss` with its own gradient in the angles."""

    @staticmethod
    def forward(
        ctx: Any, theta: Tensor, triples: Any, similarities: Any, radius: float, temperature: float
    ) -> Tensor:
        loss, gradient, _ = circle_loss(
            theta.detach().numpy(), triples, similarities, radius=radius, temperature=temperature
        )
        ctx.save_for_backward(torch.as_tensor(gradient, dtype=theta.dtype))
        return theta.new_tensor(loss)

    @staticmethod
    def backward(ctx: Any, *outputs: Tensor) -> tuple[Tensor, None, None, None, None]:
        (gradient,) = ctx.saved_tensors
        return outputs[0] * gradient, None, None, None, None
