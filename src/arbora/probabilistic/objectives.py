"""Soft-Dasgupta and Soft-TSD in PyTorch, and their expectations by sampled trees."""

from __future__ import annotations

from collections.abc import Callable

from arbora._base.pytorch import Tensor, torch
from arbora.probabilistic import markov


def soft_dasgupta(A: Tensor, B: Tensor, pairs: Tensor, loops: Tensor) -> Tensor:
    """``sum_z p(z) c(z)``: p(z) over edges, c(z) the expected number of leaves below z (App. A.1)."""
    p = markov.edge_lca_distribution(A, B, pairs, loops)
    return p @ (A.sum(0) @ markov.fundamental_matrix(B))


def soft_tsd(A: Tensor, B: Tensor, pairs: Tensor, loops: Tensor, exact: bool = True) -> Tensor:
    """``KL(p || q)`` over internal nodes (App. A.1), in nats; to be maximized."""
    nodes = torch.sparse.sum(pairs, 1).to_dense() + loops if pairs.is_sparse else pairs.sum(1) + loops
    p = markov.edge_lca_distribution(A, B, pairs, loops)
    q = markov.node_lca_distribution(A, B, nodes, exact)
    tiny = torch.finfo(p.dtype).tiny
    inside = (p > tiny) & (q > tiny)
    return torch.sum(torch.where(inside, p * torch.log(p.clamp_min(tiny) / q.clamp_min(tiny)), 0.0))


def expected_by_straight_through(
    loss: Callable[[Tensor, Tensor], Tensor],
    A: Tensor,
    B: Tensor,
    n_samples: int = 1,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Mean of `loss` over sampled trees; the gradient passes through the sampling as if it were the identity.

    The value is an unbiased estimate of the expected objective. The gradient is the loss's slope at the sampled
    trees, which is not that of the expectation where the loss is curved; `arbora.probabilistic.expected` has an
    unbiased one.
    """
    total = torch.zeros((), dtype=A.dtype, device=A.device)
    for _ in range(n_samples):
        hard_A, hard_B = markov.sample_tree(A, B, generator)
        total = total + loss(hard_A + A - A.detach(), hard_B + B - B.detach())
    return total / n_samples
