"""gHHC's cost of a tree as a PyTorch module, to be learned together with a model (gHHC, Sec. 5, Eq. 21)."""

from __future__ import annotations

from arbora._base.pytorch import Tensor, nn, torch
from arbora._base.random import numpy_generator
from arbora._base.types import RandomState
from arbora.hyperbolic import poincare
from arbora.hyperbolic.ghhc.distances import NodeTable
from arbora.hyperbolic.ghhc.extract import extract_tree
from arbora.hyperbolic.ghhc.initialize import initial_nodes
from arbora.hyperbolic.ghhc.model import nearest_parents, node_parents
from arbora.tree import Tree


class GHHCLoss(nn.Module):
    """Cost of the internal nodes of a tree over embeddings in the ball: ranking (equation 15) and margin (17).

    The nodes are a parameter of the module; train them with `arbora.hyperbolic.optim` (they are points of the
    ball) beside the parameters of the model.

    Parameters
    ----------
    n_internal : int
        Number of internal nodes.
    dimension : int
        Of the embeddings.
    temperature : float, default 0.2
        Of the distributions over least common ancestors (1 in the paper).
    margin, margin_weight : float
        Margin between the norms of child and parent, and weight of the margin cost (0: none).
    n_candidates : int, optional
        Consider only this many of the nodes nearest to a triple; by default all.
    generator : torch.Generator, optional
        For the first positions of the nodes; `start_from` places them by data.

    Examples
    --------
    >>> import torch
    >>> from arbora.nn import GHHCLoss
    >>> points = torch.tensor([[0.9, 0.0], [0.88, 0.1], [-0.9, 0.0], [-0.88, 0.1]])
    >>> loss = GHHCLoss(n_internal=3, dimension=2, generator=torch.Generator().manual_seed(0))
    >>> value = loss(points, torch.tensor([[0, 1, 2], [2, 3, 0]]))
    >>> value.backward()
    >>> loss.start_from(points, random_state=0).tree(points).cut(n_clusters=2).tolist()
    [0, 0, 1, 1]
    """

    def __init__(
        self,
        n_internal: int,
        dimension: int,
        *,
        temperature: float = 0.2,
        margin: float = 0.3,
        margin_weight: float = 0.01,
        n_candidates: int | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        for name, value in (("n_internal", n_internal), ("dimension", dimension)):
            if value < 1:
                raise ValueError(f"{name} must be at least 1. Got {value!r}.")
        if not temperature > 0:
            raise ValueError(f"temperature must be positive. Got {temperature!r}.")
        directions = torch.randn(n_internal, dimension, generator=generator)
        radii = torch.linspace(0.05, 0.8, n_internal)[:, None]
        self.nodes = nn.Parameter(radii * directions / directions.norm(dim=1, keepdim=True))
        self.temperature, self.margin, self.margin_weight = temperature, margin, margin_weight
        self.n_candidates = n_candidates

    def forward(self, embeddings: Tensor, triples: Tensor) -> Tensor:
        """Mean ranking cost of the triples (less that of an undecided model) plus the weighted margin cost.

        Parameters
        ----------
        embeddings : float[n, dimension]
            Inside the ball.
        triples : int64[B, 3]
            Rows (i, j, k) of which i and j are the most similar pair.
        """
        if triples.ndim != 2 or triples.shape[1] != 3:
            raise ValueError(f"triples must have shape (n_triples, 3). Got {tuple(triples.shape)}.")
        if embeddings.shape[-1] != self.nodes.shape[1]:
            raise ValueError(
                f"embeddings must have {self.nodes.shape[1]} columns, as the nodes have. "
                f"Got {embeddings.shape[-1]}."
            )
        cost = self.ranking(embeddings, triples)
        return cost + self.margin_weight * self.margin_cost() if self.margin_weight else cost

    def ranking(self, embeddings: Tensor, triples: Tensor) -> Tensor:
        """Mean over the triples of Eq. 15, less its value where nothing is decided, 3/2 per node."""
        points = embeddings[triples]  # [B, 3, d]
        with torch.no_grad():
            chosen = self._candidates(points)
        if chosen is not None:
            nearest = self.nodes[chosen][:, None]  # [B, 1, K, d]
            dissimilarity = child_parent_dissimilarity(points[:, :, None], nearest)
        else:
            dissimilarity = pairwise_dissimilarity(points, self.nodes)  # [B, 3, M]
        far_pair = dissimilarity[:, :2].amax(dim=1) / self.temperature
        far_triple = dissimilarity.amax(dim=1) / self.temperature
        pair = torch.softmax(-far_pair, dim=1)
        if pair.shape[1] > 1:
            best = torch.zeros_like(pair, dtype=torch.bool).scatter_(
                1, pair.argmax(dim=1, keepdim=True), True
            )
            triple = torch.softmax((-far_triple).masked_fill(best, -torch.inf), dim=1)
        else:
            triple = torch.zeros_like(pair)
        change = (pair - triple)[:, None]
        sign = dissimilarity.new_tensor([1.0, 1.0, -1.0])[:, None]
        return (torch.sigmoid(sign * dissimilarity * change) - 0.5).sum(dim=(1, 2)).mean()

    def _candidates(self, points: Tensor) -> Tensor | None:
        """Nodes nearest to the pair, then those nearest to the triple: int64[B, n_candidates]."""
        if self.n_candidates is None or self.n_candidates >= len(self.nodes):
            return None
        dissimilarity = pairwise_dissimilarity(points, self.nodes)
        half = self.n_candidates // 2
        first = dissimilarity[:, :2].amax(dim=1).topk(half, dim=1, largest=False).indices
        rest = dissimilarity.amax(dim=1).scatter(1, first, torch.inf)
        second = rest.topk(self.n_candidates - half, dim=1, largest=False).indices
        return torch.cat([first, second], dim=1)

    def margin_cost(self) -> Tensor:
        """Sum over the nodes of the dissimilarity to their parents with a margin (Eq. 17)."""
        with torch.no_grad():
            parent = torch.from_numpy(node_parents(self._table())).to(self.nodes.device)
        child = torch.nonzero(parent >= 0)[:, 0]
        return child_parent_dissimilarity(self.nodes[child], self.nodes[parent[child]], self.margin).sum()

    @torch.no_grad()
    def start_from(self, embeddings: Tensor, *, random_state: RandomState = None) -> GHHCLoss:
        """Place the nodes by an initial hierarchy over the embeddings; returns the module itself.

        A binary hierarchy has an odd number of nodes, at most one less than twice the number of points; additional
        nodes stay where they are.
        """
        points = embeddings.detach().cpu().double().numpy()
        found = initial_nodes(points, len(self.nodes), numpy_generator(random_state))
        self.nodes[: len(found)] = torch.from_numpy(found).to(self.nodes)
        return self

    def _table(self) -> NodeTable:
        return NodeTable(self.nodes.detach().cpu().double().numpy())

    def parents(self, embeddings: Tensor) -> Tensor:
        """Node that every embedding selects as parent (Eq. 4): int64[n]."""
        return torch.from_numpy(nearest_parents(self._table(), embeddings.detach().cpu().double().numpy())[0])

    def tree(self, embeddings: Tensor) -> Tree:
        """Tree over the embeddings."""
        table = self._table()
        points = embeddings.detach().cpu().double().numpy()
        parent, support = nearest_parents(table, points)
        height = (table.depth.max() - table.depth) + 1.0
        return extract_tree(parent, node_parents(table), height, point_support=support).tree


def child_parent_dissimilarity(child: Tensor, parent: Tensor, margin: float = 0.0) -> Tensor:
    """Distance weighted by one plus the excess of the parent's norm over the child's (Eq. 3, 16)."""
    excess = poincare.norm(parent) - poincare.norm(child) + margin
    return poincare.distance(child, parent) * (1.0 + excess.clamp_min(0.0))


def pairwise_dissimilarity(points: Tensor, nodes: Tensor) -> Tensor:
    """The same of all points [..., d] to all nodes [M, d], by one matrix product: [..., M]."""
    square = (points * points).sum(-1, keepdim=True) + (nodes * nodes).sum(-1) - 2.0 * points @ nodes.T
    ratio = square.clamp_min(1e-12) / (poincare.gap(points) * poincare.gap(nodes)[:, 0])
    distance = 2.0 * torch.asinh(torch.sqrt(ratio))
    excess = poincare.norm(nodes) - poincare.norm(points)[..., None]
    return distance * (1.0 + excess.clamp_min(0.0))
