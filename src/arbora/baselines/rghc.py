"""RGHC (Monath et al. 2017): routers in a fixed binary tree, trained on a relaxed Dasgupta cost."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from arbora._base.arrays import as_vectors, row_names
from arbora._base.params import check_choice, check_real, check_whole
from arbora._base.progress import ProgressCallback, Stage, check_progress
from arbora._base.pytorch import Tensor, nn, torch
from arbora._base.random import seed_of
from arbora._base.types import Floats, Ints, RandomState
from arbora.baselines.on_graphs import DEEPWALK_DIMENSION, is_graph, read_graph, walk_vectors
from arbora.tree import Tree


def rghc(
    data: Any,
    *,
    n_internal: int = 511,
    pairs: Literal["vectors", "edges"] = "vectors",
    dimension: int = DEEPWALK_DIMENSION,
    hidden: int = 128,
    batch_size: int = 512,
    learning_rate: float = 1e-4,
    max_steps: int = 5000,
    random_state: RandomState = None,
    progress: ProgressCallback | None = None,
) -> Tree:
    """Route every point down a binary tree whose nodes are small networks, trained by gradient descent [1]_.

    A router gives the probability with which a point goes left. So each point has a probability of reaching each node,
    each pair one of parting there, and the expected number of points below a node is the sum of the first: together an
    expected Dasgupta cost, which is minimized. Then every point takes the more likely branch at each router.

    Parameters
    ----------
    data : array-like of shape (n_points, n_features), or graph
        Nodes of a graph are routed by their DeepWalk vectors, as in FPH's tables.
    n_internal : int, default=511
        Most internal nodes. The tree is complete, so 511 are 255 routers and 256 lowest nodes, below which points hang.
    pairs : {"vectors", "edges"}, default="vectors"
        Similarities in the cost: (1 + cosine) / 2 of all pairs of a batch, or the edges of the graph among them.
    dimension : int, default=10
        Of DeepWalk vectors (FPH's).
    hidden : int, default=128
        Units of each router (FPH's).
    batch_size : int, default=512
        Points per step.
    learning_rate : float, default=0.0001
        Of Adam (FPH's).
    max_steps : int, default=5000
        (FPH's.)
    random_state : int, RandomState, Generator or None
    progress : callable, optional

    Returns
    -------
    tree : Tree
        At most `n_internal` internal nodes; nodes that no point reaches are left out.

    References
    ----------
    .. [1] Monath, Kobren, Krishnamurthy, McCallum, "Gradient-based hierarchical clustering", NIPS 2017 workshop on
       discrete structures in machine learning.

    Examples
    --------
    >>> import numpy as np
    >>> from arbora.baselines.rghc import rghc
    >>> X = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.1, 0.9]]).repeat(5, axis=0)
    >>> tree = rghc(X, n_internal=3, max_steps=60, learning_rate=0.01, random_state=0)
    >>> tree.n_leaves, tree.n_internal <= 3
    (20, True)
    """
    check_choice(pairs, "pairs", ("vectors", "edges"))
    check_real(learning_rate, "learning_rate", above=0)
    check_whole(max_steps, "max_steps")
    check_whole(batch_size, "batch_size")
    seed = seed_of(random_state)
    vectors, edges, names = _read(data, dimension, seed)
    if pairs == "edges" and edges is None:
        raise ValueError('pairs="edges" needs a graph. Got vectors: pass arbora.similarity.knn(X).')
    if len(vectors) == 1:
        return Tree([-1], 1, name=names)
    depth = max(1, int(np.log2(check_whole(n_internal, "n_internal", least=3) + 1)) - 1)
    generator = torch.Generator().manual_seed(seed)
    routers = Routers(vectors.shape[1], depth, hidden, generator)
    rows = torch.as_tensor(_standardized(vectors), dtype=torch.float32)
    optimizer = torch.optim.Adam(routers.parameters(), lr=learning_rate)
    unit = nn.functional.normalize(torch.as_tensor(vectors, dtype=torch.float32), dim=1)
    with Stage(check_progress(progress), "train", total=max_steps) as stage:
        for step in range(max_steps):
            batch = torch.randperm(len(rows), generator=generator)[:batch_size]
            weight = _weights(batch, unit, edges if pairs == "edges" else None)
            optimizer.zero_grad(set_to_none=True)
            torch.autograd.backward(relaxed_cost(routers(rows[batch]), weight))
            optimizer.step()
            stage.update(step + 1)
    return _decoded(routers, rows, names)


def _read(data: Any, dimension: int, seed: int) -> tuple[Floats, sp.csr_array | None, list[str] | None]:
    """Vectors, edges (of a graph) and names."""
    if is_graph(data):
        found = read_graph(data, "rghc")
        return walk_vectors(found, dimension, seed), found.csr, found.names
    return as_vectors(data, argument="data"), None, row_names(data)


def _standardized(vectors: Floats) -> Floats:
    centered = vectors - vectors.mean(axis=0)
    return np.asarray(centered / max(float(centered.std()), np.finfo(np.float64).tiny))


def _weights(batch: Tensor, unit: Tensor, edges: sp.csr_array | None) -> Tensor:
    """Similarities of the pairs of a batch, 0 for a point with itself."""
    if edges is None:
        weight = (1 + unit[batch] @ unit[batch].T) / 2
    else:
        index = batch.numpy()
        weight = torch.as_tensor(edges[index][:, index].toarray(), dtype=torch.float32)
    return weight * (1 - torch.eye(len(batch)))


class Routers(nn.Module):
    """A network of one hidden layer at every node of a complete binary tree, level by level."""

    def __init__(self, n_features: int, depth: int, hidden: int, generator: torch.Generator) -> None:
        super().__init__()
        self.depth = depth
        n_routers = 2**depth - 1
        self.first = nn.Parameter(_uniform((n_routers, n_features, hidden), n_features, generator))
        self.shift = nn.Parameter(torch.zeros(n_routers, 1, hidden))
        self.second = nn.Parameter(_uniform((n_routers, hidden, 1), hidden, generator))
        self.offset = nn.Parameter(torch.zeros(n_routers, 1, 1))

    def forward(self, rows: Tensor) -> list[Tensor]:
        """Probability with which each row reaches each node: a tensor [n_rows, 2**level] per level."""
        logits: Tensor = _Logits.apply(rows, self.first, self.shift, self.second)  # type: ignore[no-untyped-call]
        left = torch.sigmoid(logits.T + self.offset.flatten())
        reach = [torch.ones(len(rows), 1, dtype=rows.dtype)]
        for level in range(self.depth):
            chance = left[:, 2**level - 1 : 2 ** (level + 1) - 1]
            both = torch.stack([reach[-1] * chance, reach[-1] * (1 - chance)], dim=2)
            reach.append(both.flatten(1))
        return reach


class _Logits(torch.autograd.Function):
    """What every router says of every row before its offset, a few routers at a time.

    Hidden units of all routers are 67 MB, which autograd writes and reads nine times a step. Those of a few fit in the
    cache; computing them a second time for the gradient makes a step three times as fast.
    """

    _AT_ONCE = 4

    @classmethod
    def _parts(cls, n_routers: int) -> list[slice]:
        return [slice(first, first + cls._AT_ONCE) for first in range(0, n_routers, cls._AT_ONCE)]

    @staticmethod
    def _hidden(rows: Tensor, first: Tensor, shift: Tensor) -> Tensor:
        return torch.baddbmm(shift, rows.expand(len(first), *rows.shape), first).relu_()

    @staticmethod
    def forward(context: Any, rows: Tensor, first: Tensor, shift: Tensor, second: Tensor) -> Tensor:
        """A tensor [n_routers, n_rows]."""
        context.save_for_backward(rows, first, shift, second)
        hidden = _Logits._hidden
        parts = _Logits._parts(len(first))
        return torch.cat(
            [(hidden(rows, first[part], shift[part]) @ second[part]).squeeze(2) for part in parts]
        )

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """Gradients by the routers' parameters; rows are data."""
        rows, first, shift, second = context.saved_tensors
        found = tuple(torch.empty_like(parameter) for parameter in (first, shift, second))
        by_first, by_shift, by_second = found
        for part in _Logits._parts(len(first)):
            hidden = _Logits._hidden(rows, first[part], shift[part])
            of_rows = gradients[0][part].unsqueeze(2)
            by_second[part] = (of_rows.mT @ hidden).mT
            # the weight of a hidden unit is the same for all rows, and so comes after the sum over them
            active, weight = (hidden > 0) * of_rows, second[part].mT
            by_shift[part] = active.sum(dim=1, keepdim=True) * weight
            by_first[part] = (rows.T.expand(len(active), -1, -1) @ active) * weight
        return (None, *found)


def _uniform(shape: tuple[int, ...], n_in: int, generator: torch.Generator) -> Tensor:
    return (2 * torch.rand(shape, generator=generator) - 1) * float(np.sqrt(3.0 / n_in))


def relaxed_cost(reach: list[Tensor], weight: Tensor) -> Tensor:
    """Mean over pairs, by weight, of the expected share of points below the node at which the pair parts.

    A pair that meets at a node costs that node's share; where it stays together below, it costs the child's share
    instead. So every node below the root adds (its share - its parent's) for the weight that reaches it together.
    """
    cost = torch.ones((), dtype=weight.dtype)
    total = weight.sum().clamp_min(torch.finfo(weight.dtype).tiny)
    above = torch.ones(1, dtype=weight.dtype)
    for level in reach[1:]:
        share = level.mean(dim=0)
        together = (level * (weight @ level)).sum(dim=0) / total
        cost = cost + (together * (share - above.repeat_interleave(2))).sum()
        above = share
    return cost


@torch.no_grad()
def _decoded(routers: Routers, rows: Tensor, names: list[str] | None) -> Tree:
    """Every point takes the more likely branch at each router."""
    group = np.zeros(len(rows), dtype=np.int64)
    for first in range(0, len(rows), 4096):
        reach = routers(rows[first : first + 4096])
        group[first : first + 4096] = _likeliest(reach)
    n_groups = 2 ** (routers.depth + 1) - 1
    parent = [-1] + [(node - 1) // 2 for node in range(1, n_groups)]
    return Tree.from_groups(parent, group + 2**routers.depth - 1, leaf_name=names)


def _likeliest(reach: list[Tensor]) -> Ints:
    place = torch.zeros(len(reach[0]), 1, dtype=torch.int64)
    for level in reach[1:]:
        left, right = level.gather(1, 2 * place), level.gather(1, 2 * place + 1)
        place = 2 * place + (right > left).long()
    return np.asarray(place.squeeze(1).numpy(), dtype=np.int64)
