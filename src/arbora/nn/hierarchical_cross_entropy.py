"""Cross-entropy that knows a tree of classes: mistakes within a group cost less."""

from __future__ import annotations

from typing import Literal

import numpy as np

from arbora._base.params import check_choice, check_real
from arbora._base.pytorch import Tensor, nn, torch
from arbora._base.types import Ints
from arbora.logits.hierarchical import edges_to_leaves
from arbora.tree import Tree


class HierarchicalCrossEntropy(nn.Module):
    """Hierarchical cross-entropy of Bertinetto et al. (2020): cross-entropy along the path to the true class.

    The probability of a class is the product, over the nodes v on its path, of p(v | parent of v). Each factor's
    logarithm counts ``exp(-alpha * (depth(v) - 1))``: with ``alpha=0`` all alike, which is plain cross-entropy; the
    larger alpha, the more the first, coarse decisions count, so that mistakes stay within groups.

    Parameters
    ----------
    tree : Tree
        Over the classes; column c of the logits is leaf c. A taxonomy, or the tree of `arbora.L2H`.
    alpha : float, default=0.1
    reduction : {"mean", "sum", "none"}, default="mean"

    Examples
    --------
    >>> import torch, arbora as ab
    >>> tree = ab.Tree.from_newick("((cat,dog),(car,bus));")
    >>> loss = ab.nn.HierarchicalCrossEntropy(tree)
    >>> logits = torch.tensor([[0.0, 4.0, 0.0, 0.0], [0.0, 0.0, 4.0, 0.0]], requires_grad=True)
    >>> near, far = (loss(row[None], torch.tensor([0])).item() for row in logits)
    >>> near < far
    True
    """

    path: Tensor
    weight: Tensor

    def __init__(
        self, tree: Tree, *, alpha: float = 0.1, reduction: Literal["mean", "sum", "none"] = "mean"
    ) -> None:
        super().__init__()
        self.alpha = check_real(alpha, "alpha", least=0)
        self.reduction = check_choice(reduction, "reduction", ("mean", "sum", "none"))
        self.n_classes, self.n_nodes = tree.n_leaves, tree.n_nodes
        height = edges_to_leaves(tree)
        self._steps = _steps(tree, height)
        for number, (_, padded) in enumerate(self._steps):
            self.register_buffer(f"children_{number}", torch.from_numpy(padded), persistent=False)
        path = _padded([_path(tree, leaf) for leaf in range(tree.n_leaves)], tree.n_nodes)
        self.register_buffer("path", torch.from_numpy(path), persistent=False)
        depth = np.append(tree.depths, 1)
        weight = np.exp(-self.alpha * (depth - 1)).astype(np.float32)
        self.register_buffer("weight", torch.from_numpy(weight), persistent=False)

    def node_log_probabilities(self, logits: Tensor) -> Tensor:
        """Log probability of every node, in node order: (n_points, n_nodes)."""
        known = torch.log_softmax(logits, dim=1)
        nothing = torch.full_like(known[:, :1], -torch.inf)
        columns: list[Tensor] = [known]
        place = np.full(self.n_nodes + 1, -1, np.int64)
        place[: self.n_classes] = np.arange(self.n_classes)
        for number, (nodes, _) in enumerate(self._steps):
            # a padding child has probability 0; it is the last column
            available = torch.cat([*columns, nothing], dim=1)
            position = torch.from_numpy(place).to(logits.device)
            position = torch.where(position < 0, available.shape[1] - 1, position)
            below = available[:, position[self.get_buffer(f"children_{number}")]]
            place[nodes] = sum(part.shape[1] for part in columns) + np.arange(len(nodes))
            columns.append(torch.logsumexp(below, dim=2))
        return torch.cat(columns, dim=1)[:, torch.from_numpy(place[:-1]).to(logits.device)]

    def forward(self, logits: Tensor, target: Tensor) -> Tensor:
        """Loss of logits (n_points, n_classes) for target classes (n_points,)."""
        if logits.ndim != 2 or logits.shape[1] != self.n_classes:
            raise ValueError(
                f"logits must have shape (n_points, n_classes={self.n_classes}). Got {tuple(logits.shape)}."
            )
        log_p = self.node_log_probabilities(logits)
        # the root is certain, and so is the padding of a path
        log_p = torch.cat([log_p, torch.zeros_like(log_p[:, :1])], dim=1)
        path = self.path[target]
        along = log_p.gather(1, path)
        above = torch.cat([along[:, 1:], torch.zeros_like(along[:, :1])], dim=1)
        losses = -((along - above) * self.weight.to(logits.dtype)[path]).sum(dim=1)
        if self.reduction == "none":
            return losses
        return losses.mean() if self.reduction == "mean" else losses.sum()


def _path(tree: Tree, leaf: int) -> list[int]:
    """Nodes from a leaf up to just below the root."""
    nodes = []
    while leaf != tree.root:
        nodes.append(leaf)
        leaf = int(tree.parent[leaf])
    return nodes


def _padded(rows: list[list[int]], filler: int) -> Ints:
    out = np.full((len(rows), max([1, *map(len, rows)])), filler, np.int64)
    for number, row in enumerate(rows):
        out[number, : len(row)] = row
    return out


def _steps(tree: Tree, height: Ints) -> list[tuple[Ints, Ints]]:
    """Internal nodes by height, so that children are known first; each with its padded children."""
    steps = []
    for level in range(1, int(height.max()) + 1):
        nodes = np.flatnonzero(height == level)
        steps.append((nodes, _padded([tree.children(int(v)).tolist() for v in nodes], tree.n_nodes)))
    return steps
