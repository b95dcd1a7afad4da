"""Soft tree sampling divergence as a PyTorch module."""

from __future__ import annotations

from typing import Any

from arbora._base.pytorch import Tensor, torch
from arbora.nn.soft_dasgupta import Directed, GraphLoss
from arbora.probabilistic import objectives


class SoftTSD(GraphLoss):
    """Minus the tree sampling divergence of a probabilistic hierarchy over a graph: a loss, lower is better.

    For binary A and B, minus the TSD of that tree.

    Parameters
    ----------
    similarity : sparse matrix, networkx graph, tuple (rows, cols[, weights]) or GraphSimilarity
    exact : bool
        q(z) as in App. A.11 of the paper; False takes its proxy, which lets a leaf's pair with itself meet
        where two independent walks from it do.
    normalize : bool
        Divide by the graph's mutual information, the largest value any tree can reach.
    directed, dtype
        As for `SoftDasgupta`.

    Examples
    --------
    >>> import torch
    >>> from arbora.nn import SoftTSD
    >>> loss = SoftTSD(([0, 1, 2], [1, 2, 3]), normalize=True)
    >>> A = torch.tensor([[1.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 0]], dtype=torch.float64)
    >>> B = torch.tensor([[0.0, 0, 1], [0, 0, 1], [0, 0, 0]], dtype=torch.float64)
    >>> round(loss(A, B).item(), 4)
    -0.0653
    """

    def __init__(
        self,
        similarity: Any,
        *,
        exact: bool = True,
        normalize: bool = False,
        directed: Directed = "sum",
        dtype: torch.dtype = torch.float64,
    ) -> None:
        super().__init__(similarity, directed=directed, dtype=dtype)
        self.exact = exact
        self.scale = 1.0 / self.mutual_information() if normalize else 1.0

    def mutual_information(self) -> float:
        """Mutual information of the two ends of an edge, in nats."""
        (i, j), weight = self.pairs.indices(), self.pairs.values()
        nodes = torch.sparse.sum(self.pairs, 1).to_dense() + self.loops
        inside = self.loops > 0
        loops = self.loops[inside] * torch.log(self.loops[inside] / nodes[inside] ** 2)
        return float((weight * torch.log(weight / (nodes[i] * nodes[j]))).sum() + loops.sum())

    def forward(self, A: Tensor, B: Tensor) -> Tensor:
        """Minus the soft divergence of (A, B): a scalar."""
        self.check(A, B)
        return -self.scale * objectives.soft_tsd(A, B, self.pairs, self.loops, self.exact)
