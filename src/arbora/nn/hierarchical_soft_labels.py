"""Soft labels from a tree: every class gets a share that falls with its distance from the true one."""

from __future__ import annotations

import numpy as np

from arbora._base.memory import refuse_if_too_large
from arbora._base.params import check_real
from arbora._base.pytorch import Tensor, torch
from arbora.logits.hierarchical import edges_to_leaves
from arbora.tree import Tree


def hierarchical_labels(tree: Tree, *, beta: float = 10.0) -> Tensor:
    """Soft labels of Bertinetto et al. (2020): row c is the target distribution of class c.

    The share of class b is proportional to ``exp(-beta * d(b, c))``, with d the height of the lowest common ancestor
    over that of the root. Large beta gives one-hot labels, 0 uniform ones. Use rows as targets of
    `torch.nn.CrossEntropyLoss`, which takes probabilities.

    Parameters
    ----------
    tree : Tree
        Over the classes: a taxonomy, or the tree of `arbora.L2H`.
    beta : float, default=10.0

    Returns
    -------
    labels : float32 tensor, shape (n_classes, n_classes)

    Examples
    --------
    >>> import torch, arbora as ab
    >>> labels = ab.nn.hierarchical_labels(ab.Tree.from_newick("((cat,dog),(car,bus));"), beta=2)
    >>> labels[0].round(decimals=2)
    tensor([0.6100, 0.2200, 0.0800, 0.0800])
    >>> y = torch.tensor([0, 3])
    >>> torch.nn.CrossEntropyLoss()(torch.zeros(2, 4), labels[y]).round(decimals=3)
    tensor(1.3860)
    """
    check_real(beta, "beta", least=0)
    n = tree.n_leaves
    refuse_if_too_large(
        48 * n * n,
        f"Soft labels of {n} classes",
        "Use arbora.nn.HierarchicalCrossEntropy, which needs no table.",
    )
    height = edges_to_leaves(tree)
    i, j = np.triu_indices(n, 1)
    distance = np.zeros((n, n))
    if n > 1:
        distance[i, j] = height[np.asarray(tree.lca(i, j))] / height[tree.root]
    weight = np.exp(-beta * (distance + distance.T))
    return torch.from_numpy((weight / weight.sum(axis=1, keepdims=True)).astype(np.float32))
