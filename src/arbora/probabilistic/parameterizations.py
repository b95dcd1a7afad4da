"""Unconstrained parameters of A and B, trained with Adam in PyTorch (the paper's FPH-U and FPH Emb.)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from arbora._base.pytorch import Tensor, nn, torch
from arbora._base.types import Objective
from arbora.probabilistic import objectives
from arbora.probabilistic.row_blocks import csr_from_parts
from arbora.probabilistic.sparse import EdgeDistribution, Model
from arbora.probabilistic.training import Relaxation
from arbora.tree import Tree


def masked_softmax(scores: Tensor) -> Tensor:
    """Rows of B: softmax over the internal nodes after each one, 0 for the root."""
    k = len(scores)
    later = torch.ones((k, k), dtype=torch.bool, device=scores.device).triu(1)
    rows = torch.softmax(scores[:-1].masked_fill(~later[:-1], -torch.inf), dim=1)
    return torch.cat([rows, torch.zeros_like(scores[:1])])


class SoftmaxParameters(nn.Module):
    """A and B as softmax of free scores; starting from a tree, the parent's score stands out by `sharpness`."""

    def __init__(
        self, tree: Tree, sharpness: float = 5.0, *, seed: int = 0, dtype: DTypeLike = np.float64
    ) -> None:
        super().__init__()
        options: dict[str, Any] = {
            "generator": torch.Generator().manual_seed(seed),
            "dtype": torch_dtype(dtype),
        }
        n, k = tree.n_leaves, tree.n_internal
        A = 0.01 * torch.randn((n, k), **options)
        B = 0.01 * torch.randn((k, k), **options)
        parent = torch.as_tensor(np.array(tree.parent))
        A[torch.arange(n), parent[:n] - n] += sharpness
        B[torch.arange(k - 1), parent[n:-1] - n] += sharpness
        self.leaf_scores, self.internal_scores = nn.Parameter(A), nn.Parameter(B)

    def forward(self) -> tuple[Tensor, Tensor]:
        """(A, B)."""
        return torch.softmax(self.leaf_scores, dim=1), masked_softmax(self.internal_scores)


class EmbeddingParameters(nn.Module):
    """A and B as softmax of negative distances between embeddings: linear in the number of leaves.

    Internal nodes start at the mean of the leaves below them.
    """

    def __init__(
        self,
        tree: Tree,
        leaf_embedding: NDArray[np.floating],
        sharpness: float = 5.0,
        *,
        dtype: DTypeLike = np.float64,
    ) -> None:
        super().__init__()
        kind = torch_dtype(dtype)
        leaves = torch.as_tensor(np.asarray(leaf_embedding)).to(kind)
        total = torch.zeros((tree.n_nodes, leaves.shape[1]), dtype=kind)
        total[: tree.n_leaves] = leaves
        for node in range(tree.n_nodes - 1):
            total[tree.parent[node]] += total[node]
        sizes = torch.as_tensor(tree.sizes[tree.n_leaves :].copy()).to(kind)
        centers = total[tree.n_leaves :] / sizes[:, None]
        self.leaves, self.internal = nn.Parameter(leaves), nn.Parameter(centers)
        self.log_sharpness = nn.Parameter(torch.tensor(float(np.log(sharpness)), dtype=kind))

    def forward(self) -> tuple[Tensor, Tensor]:
        """(A, B)."""
        scale = self.log_sharpness.exp()
        leaf_scores = -scale * _distances(self.leaves, self.internal)
        return torch.softmax(leaf_scores, 1), masked_softmax(
            -scale * _distances(self.internal, self.internal)
        )


def _distances(x: Tensor, y: Tensor) -> Tensor:
    """Euclidean distances; a little is added under the root, whose slope is infinite at 0."""
    squared = (x * x).sum(1)[:, None] + (y * y).sum(1) - 2 * x @ y.T
    return torch.sqrt(squared.clamp_min(0.0) + 1e-12)


def torch_dtype(dtype: DTypeLike) -> torch.dtype:
    """PyTorch's name of a NumPy kind of number."""
    kind: torch.dtype = getattr(torch, np.dtype(dtype).name)
    return kind


def torch_graph(graph: EdgeDistribution, dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor]:
    """Pairs and self-loops of an edge distribution as tensors."""
    pairs = graph.pairs
    indices = np.stack([np.repeat(np.arange(graph.n_nodes), np.diff(pairs.indptr)), pairs.indices])
    sparse = torch.sparse_coo_tensor(
        torch.as_tensor(indices), torch.as_tensor(pairs.data).to(dtype), pairs.shape, check_invariants=False
    )
    return sparse.coalesce(), torch.as_tensor(graph.loops).to(dtype)


def numpy_model(A: Tensor, B: Tensor, cutoff: float = 1e-9) -> Model:
    """The parameters as a `Model`; entries of A below `cutoff` are dropped, rows scaled to sum to 1 again."""
    dense = A.detach().to(torch.float64).numpy()
    dense = np.where(dense > cutoff, dense, 0.0)
    dense /= dense.sum(1, keepdims=True)
    rows, columns = np.nonzero(dense)
    ptr = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=len(dense)))))
    sparse = csr_from_parts(ptr, columns.astype(np.int32), dense[rows, columns], dense.shape)
    return Model(sparse, B.detach().to(torch.float64).numpy().copy())


class AdamTrainer:
    """Steps of Adam on unconstrained parameters, for the loop in `training.py`."""

    def __init__(
        self,
        graph: EdgeDistribution,
        parameters: SoftmaxParameters | EmbeddingParameters,
        objective: Objective,
        relaxation: Relaxation,
        rate: float,
        seed: int,
        exact_q: bool = True,
    ) -> None:
        dtype = next(parameters.parameters()).dtype
        self.pairs, self.loops = torch_graph(graph, dtype)
        self.parameters = parameters
        self.optimizer = torch.optim.Adam(parameters.parameters(), lr=rate)
        self.objective, self.relaxation, self.exact_q = objective, relaxation, exact_q
        self.generator = torch.Generator().manual_seed(seed)

    def loss(self, A: Tensor, B: Tensor) -> Tensor:
        """Loss to be minimized."""
        if self.objective == "dasgupta":
            return objectives.soft_dasgupta(A, B, self.pairs, self.loops)
        return -objectives.soft_tsd(A, B, self.pairs, self.loops, self.exact_q)

    def step(self) -> tuple[Model, float]:
        """One epoch; returns the new model and the loss before."""
        self.optimizer.zero_grad(set_to_none=True)
        A, B = self.parameters()
        # the expectation has no other gradient here than the one through sampled trees
        if self.relaxation in ("expected", "straight-through"):
            loss = objectives.expected_by_straight_through(self.loss, A, B, generator=self.generator)
        else:
            loss = self.loss(A, B)
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        return self.model(), float(loss.detach())

    def model(self) -> Model:
        """The current A and B."""
        with torch.no_grad():
            return numpy_model(*self.parameters())
