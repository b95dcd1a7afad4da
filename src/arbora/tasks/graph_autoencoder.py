"""Variational graph autoencoder without node features (Kipf and Welling 2016): a baseline for link prediction."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from arbora._base.pytorch import Tensor, nn, torch
from arbora._base.random import numpy_generator
from arbora._base.types import RandomState
from arbora.similarity.graph import GraphSimilarity


class GraphAutoencoder(nn.Module):
    """Two graph convolutions from one-hot nodes to a Gaussian in the latent space; edges by inner product.

    Examples
    --------
    >>> import torch
    >>> from arbora.tasks.graph_autoencoder import GraphAutoencoder
    >>> mean, log_scale = GraphAutoencoder(n_nodes=5, latent=2)(torch.eye(5))
    >>> mean.shape, log_scale.shape
    (torch.Size([5, 2]), torch.Size([5, 2]))
    """

    def __init__(self, n_nodes: int, hidden: int = 32, latent: int = 16, generator: Any = None) -> None:
        super().__init__()
        self.first = nn.Parameter(_glorot(n_nodes, hidden, generator))
        self.mean = nn.Parameter(_glorot(hidden, latent, generator))
        self.log_scale = nn.Parameter(_glorot(hidden, latent, generator))

    def forward(self, propagate: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and logarithm of the standard deviation of every node's embedding."""
        hidden = torch.relu(propagate @ self.first)
        return propagate @ (hidden @ self.mean), propagate @ (hidden @ self.log_scale)


def embed_graph(
    similarity: GraphSimilarity,
    *,
    hidden: int = 32,
    latent: int = 16,
    learning_rate: float = 0.01,
    max_epochs: int = 200,
    random_state: RandomState = None,
) -> NDArray[np.float32]:
    """Mean embeddings after training on the edges, with as many random pairs drawn in every epoch.

    Returns
    -------
    ndarray of float32, shape (n_nodes, latent)

    Examples
    --------
    >>> from arbora.probabilistic import small_hsbm
    >>> from arbora.similarity import graph
    >>> from arbora.tasks.graph_autoencoder import embed_graph
    >>> embed_graph(graph(small_hsbm(0).adjacency), latent=4, max_epochs=5, random_state=0).shape
    (100, 4)
    """
    generator = torch.Generator().manual_seed(int(numpy_generator(random_state).integers(2**31)))
    propagate = _normalized(similarity)
    edges = torch.as_tensor(np.stack(sp.triu(similarity.csr, 1).nonzero()).astype(np.int64))
    n = similarity.n_points
    model = GraphAutoencoder(n, hidden, latent, generator)
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
    for _ in range(max_epochs):
        optimizer.zero_grad(set_to_none=True)
        mean, log_scale = model(propagate)
        z = mean + torch.randn(mean.shape, generator=generator) * log_scale.exp()
        others = torch.randint(n, edges.shape, generator=generator)
        logits = [(z[pair[0]] * z[pair[1]]).sum(1) for pair in (edges, others)]
        fit = nn.functional.softplus(-logits[0]).mean() + nn.functional.softplus(logits[1]).mean()
        divergence = 0.5 * (mean**2 + (2 * log_scale).exp() - 1 - 2 * log_scale).sum(1).mean()
        (fit + divergence / n).backward()
        optimizer.step()
    with torch.no_grad():
        found: NDArray[np.float32] = model(propagate)[0].numpy()
    return found


def _glorot(n_in: int, n_out: int, generator: Any) -> Tensor:
    bound = float(np.sqrt(6.0 / (n_in + n_out)))
    return (2 * torch.rand((n_in, n_out), generator=generator) - 1) * bound


def _normalized(similarity: GraphSimilarity) -> Tensor:
    """D^-1/2 (A + I) D^-1/2."""
    adjacency = sp.csr_array(
        (similarity.csr > 0).astype(np.float32) + sp.eye_array(similarity.n_points, dtype=np.float32)
    )
    scale = sp.diags_array(1.0 / np.sqrt(adjacency.sum(axis=1)))
    coo = (scale @ adjacency @ scale).tocoo()
    index = torch.as_tensor(np.stack([coo.row, coo.col]).astype(np.int64))
    values = torch.as_tensor(coo.data.astype(np.float32))
    return torch.sparse_coo_tensor(index, values, coo.shape, check_invariants=False).coalesce()
