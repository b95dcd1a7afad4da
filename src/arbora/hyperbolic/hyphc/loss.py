"""HypHC's continuous cost (Eq. 9) for leaf embeddings in a Poincaré ball of any dimension, in PyTorch."""

from __future__ import annotations

import torch
from torch import Tensor

from arbora.hyperbolic.lca import lca_depth


def triple_losses(points: Tensor, similarities: Tensor, temperature: float | Tensor) -> Tensor:
    """Loss of each triple: what its three similarities cost that are not at the deepest ancestor.

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
