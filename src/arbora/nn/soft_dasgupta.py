"""Soft-Dasgupta as a PyTorch module."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from arbora._base.pytorch import Tensor, nn, torch
from arbora.probabilistic import objectives
from arbora.probabilistic.parameterizations import torch_graph
from arbora.probabilistic.sparse import edge_distribution
from arbora.similarity import graph

Directed: TypeAlias = Literal["sum", "max", "mean"]


class GraphLoss(nn.Module):
    """Holds a graph's edge distribution as buffers, for losses of a probabilistic hierarchy (A, B)."""

    pairs: Tensor
    loops: Tensor

    def __init__(
        self, similarity: Any, *, directed: Directed = "sum", dtype: torch.dtype = torch.float64
    ) -> None:
        super().__init__()
        pairs, loops = torch_graph(edge_distribution(graph(similarity, directed=directed)), dtype)
        self.register_buffer("pairs", pairs)
        self.register_buffer("loops", loops)

    def check(self, A: Tensor, B: Tensor) -> None:
        """Raise unless A has one row per node of the graph and B fits A."""
        if A.ndim != 2 or A.shape[0] != len(self.loops):
            raise ValueError(f"A must have one row per node, {len(self.loops)}. Got shape {tuple(A.shape)}.")
        if B.shape != (A.shape[1], A.shape[1]):
            raise ValueError(
                f"B must be {A.shape[1]} x {A.shape[1]}, like A's columns. Got {tuple(B.shape)}."
            )

    def expected(
        self, A: Tensor, B: Tensor, n_samples: int = 1, generator: torch.Generator | None = None
    ) -> Tensor:
        """Mean loss of sampled trees, with a straight-through gradient."""
        self.check(A, B)
        return objectives.expected_by_straight_through(self.forward, A, B, n_samples, generator)


class SoftDasgupta(GraphLoss):
    """Dasgupta cost of a probabilistic hierarchy over a graph, divided by the total weight; lower is better.

    For binary A and B, the normalized cost of that tree. Differentiable in both, in O(m n' + n n'^2).

    Parameters
    ----------
    similarity : sparse matrix, networkx graph, tuple (rows, cols[, weights]) or GraphSimilarity
    directed : {"sum", "max", "mean"}
        How an asymmetric adjacency becomes symmetric.
    dtype : torch.dtype
        Of the graph; A and B should have the same. Sums cancel: float32 loses up to 0.3 %.

    Examples
    --------
    >>> import torch
    >>> from arbora.nn import SoftDasgupta
    >>> loss = SoftDasgupta(([0, 0, 1], [1, 2, 2]))
    >>> A = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]], dtype=torch.float64, requires_grad=True)
    >>> B = torch.tensor([[0.0, 1.0], [0.0, 0.0]], dtype=torch.float64)
    >>> round(loss(A, B).item(), 4)  # two edges meet at the root (3 leaves), one below it (2 leaves)
    2.6667
    """

    def forward(self, A: Tensor, B: Tensor) -> Tensor:
        """Soft cost of (A, B): a scalar."""
        self.check(A, B)
        return objectives.soft_dasgupta(A, B, self.pairs, self.loops)
