"""DeepECT (Mautz et al. 2020): an autoencoder and a binary tree of centers in its embedding, learned together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from arbora._base.arrays import row_names
from arbora._base.params import check_real, check_whole
from arbora._base.progress import ProgressCallback, Stage, check_progress
from arbora._base.pytorch import Tensor, nn, torch
from arbora._base.random import seed_of
from arbora._base.types import Floats, Ints, RandomState
from arbora.baselines.deep import Autoencoder, batches, in_pieces, scaled_rows, seeded
from arbora.logits.flat_model import single_threaded
from arbora.tree import Tree

# running number of a leaf's points per batch below which it is removed (the paper's)
_SMALLEST_WEIGHT = 0.1


def deepect(
    data: Any,
    *,
    n_groups: int = 20,
    latent: int = 10,
    hidden: Sequence[int] = (256, 256),
    pretrain_epochs: int = 20,
    max_steps: int = 10_000,
    grow_every: int = 500,
    batch_size: int = 256,
    learning_rate: float = 1e-3,
    random_state: RandomState = None,
    progress: ProgressCallback | None = None,
) -> Tree:
    """Deep embedded cluster tree [1]_.

    An autoencoder is trained first. Then a tree of centers grows in its embedding: at regular intervals the leaf with
    the largest sum of squares is split by 2-means. Steps move the centers of leaves to the means of their points, and
    the embedded points towards their center along the line between the two centers of each split.

    Parameters
    ----------
    data : array-like of shape (n_points, n_features)
        Images as flat rows, or features.
    n_groups : int, default=20
        Leaves of the tree of centers (the paper's); points hang below them.
    latent : int, default=10
        Dimensions of the embedding (the paper's).
    hidden : sequence of int, default=(256, 256)
        Layers of the encoder; the decoder mirrors them.
    pretrain_epochs : int, default=20
        Of the autoencoder alone.
    max_steps : int, default=10000
        With the tree.
    grow_every : int, default=500
        Steps between splits (the paper's).
    batch_size : int, default=256
    learning_rate : float, default=0.001
    random_state : int, RandomState, Generator or None
    progress : callable, optional

    Returns
    -------
    tree : Tree
        Over all points; binary down to the leaves of the tree of centers.

    References
    ----------
    .. [1] Mautz, Plant, Böhm, "DeepECT: the deep embedded cluster tree", Data Science and Engineering 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from arbora.baselines.deepect import deepect
    >>> X = np.random.default_rng(0).normal(size=(60, 4)) + 9 * np.repeat([[0.0], [1.0]], 30, axis=0)
    >>> tree = deepect(X, n_groups=2, hidden=(8,), latent=2, pretrain_epochs=2, max_steps=5, random_state=0)
    >>> tree.n_leaves, tree.n_internal
    (60, 3)
    """
    check_real(learning_rate, "learning_rate", above=0)
    counts = {"max_steps": max_steps, "grow_every": grow_every, "latent": latent, "batch_size": batch_size}
    for name, value in counts.items():
        check_whole(value, name)
    rows, names = scaled_rows(data), row_names(data)
    n_groups = min(check_whole(n_groups, "n_groups", least=2), len(rows))
    if len(rows) < 2:
        return Tree([-1], 1, name=names)
    report = check_progress(progress)
    seed = seed_of(random_state)
    with seeded(seed), single_threaded():
        network = Autoencoder(rows.shape[1], hidden, latent)
        _pretrain(network, rows, pretrain_epochs, batch_size, learning_rate, report)
        centers = CenterTree(n_groups, latent, seed)
        training = _Training(network, centers, rows, batch_size, learning_rate)
        with Stage(report, "grow", total=max_steps) as stage:
            for step in range(max_steps):
                if step % grow_every == 0 and centers.n_leaves < n_groups:
                    centers.grow(in_pieces(network.encoder, rows))
                training.step()
                stage.update(step + 1)
        return centers.tree_over(in_pieces(network.encoder, rows), names)


def _pretrain(
    network: Autoencoder,
    rows: Tensor,
    n_epochs: int,
    batch_size: int,
    learning_rate: float,
    progress: ProgressCallback,
) -> None:
    optimizer = torch.optim.Adam(network.parameters(), lr=learning_rate)
    with Stage(progress, "pretrain", total=n_epochs) as stage:
        for epoch in range(n_epochs):
            for batch in batches(len(rows), batch_size):
                optimizer.zero_grad(set_to_none=True)
                torch.autograd.backward(_reconstruction(network(rows[batch])[1], rows[batch]))
                optimizer.step()
            stage.update(epoch + 1)


def _reconstruction(rebuilt: Tensor, rows: Tensor) -> Tensor:
    """Mean squared length of the error: a sum over features, so that the embedding cannot shrink to suit the tree."""
    return (rebuilt - rows).square().sum(dim=1).mean()


class CenterTree:
    """A binary tree whose leaves are centers in the embedding; a center of an inner node is the mean of its children's.

    Nodes are numbered as they come: the root is 0, and children come after their parents.
    """

    def __init__(self, n_leaves: int, latent: int, seed: int) -> None:
        # leaves that are taken out leave their numbers unused
        self.centers = torch.zeros(4 * n_leaves + 8, latent, requires_grad=True)
        self.parent = [-1]
        self.children: dict[int, tuple[int, int]] = {}
        self.weight = [1.0]
        self._alive = {0}
        self._seed = seed

    @property
    def leaves(self) -> list[int]:
        """Leaves in the order of their numbers."""
        return sorted(node for node in self._alive if node not in self.children)

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return len(self._alive) - len(self.children)

    def assign(self, embedded: Tensor) -> Tensor:
        """The leaf with the nearest center, for each row."""
        leaves = torch.as_tensor(self.leaves)
        return leaves[torch.cdist(embedded, self.centers[leaves].detach()).argmin(dim=1)]

    def grow(self, embedded: Tensor) -> None:
        """Split the leaf with the largest sum of squared distances by 2-means."""
        if len(self.parent) + 2 > len(self.centers):
            return
        leaf = self.assign(embedded)
        squares = (embedded - self.centers.detach()[leaf]).square().sum(dim=1)
        if len(self._alive) == 1:
            squares = (embedded - embedded.mean(dim=0)).square().sum(dim=1)
        spread = torch.zeros(len(self.parent)).index_add_(0, leaf, squares)
        widest = int(spread.argmax())
        points = embedded[leaf == widest].double().numpy()
        if len(points) < 2 or float(spread[widest]) == 0:
            return
        if len(np.unique(points, axis=0)) < 2:
            return
        label = KMeans(2, n_init=10, random_state=(self._seed + len(self.parent)) % 2**32).fit(points).labels_
        self._split(widest, [points[label == side] for side in (0, 1)])

    def _split(self, node: int, parts: list[Floats]) -> None:
        first = len(self.parent)
        for number, part in enumerate(parts, start=first):
            self.parent.append(node)
            self.weight.append(1.0)
            self._alive.add(number)
            self.centers.data[number] = torch.as_tensor(part.mean(axis=0), dtype=torch.float32)
        self.children[node] = (first, first + 1)

    def update(self, leaf: Tensor) -> None:
        """Follow how many points of a batch each node has, take out leaves without any, and place inner centers."""
        count = np.bincount(leaf.numpy(), minlength=len(self.parent)).astype(np.float64)
        for node in range(len(self.parent) - 1, 0, -1):
            if node in self._alive:
                count[self.parent[node]] += count[node]
                self.weight[node] = 0.5 * self.weight[node] + 0.5 * count[node]
        for node in self.leaves:
            if node != 0 and self.weight[node] < _SMALLEST_WEIGHT and self.n_leaves > 2:
                self._take_out(node)
        for node in sorted(self.children, reverse=True):
            a, b = self.children[node]
            total = max(self.weight[a] + self.weight[b], 1e-9)
            mean = (self.weight[a] * self.centers.data[a] + self.weight[b] * self.centers.data[b]) / total
            self.centers.data[node] = mean

    def _take_out(self, leaf: int) -> None:
        """Remove a leaf; its sibling takes the place of their parent."""
        above = self.parent[leaf]
        a, b = self.children.pop(above)
        sibling = b if a == leaf else a
        self._alive -= {leaf, sibling}
        self.centers.data[above] = self.centers.data[sibling]
        self.weight[above] = self.weight[sibling]
        if sibling in self.children:
            self.children[above] = self.children.pop(sibling)
            for child in self.children[above]:
                self.parent[child] = above

    def compression_loss(self, embedded: Tensor, leaf: Tensor) -> Tensor:
        """Mean distance of points from their side's center along the line between the two centers of each split."""
        pairs = torch.as_tensor(list(self.children.values()), dtype=torch.int64).reshape(-1, 2)
        centers = self.centers.detach()
        between = centers[pairs[:, 0]] - centers[pairs[:, 1]]
        line = nn.functional.normalize(between, dim=1, eps=1e-9).repeat_interleave(2, dim=0)
        side = pairs.flatten()
        distance = (centers[side] * line).sum(dim=1) - embedded @ line.T
        return (distance.abs() * self._is_below(side)[leaf]).sum() / max(len(side) * len(embedded), 1)

    def center_loss(self, embedded: Tensor, leaf: Tensor) -> Tensor:
        """Mean distance of the leaves' centers from the means of their points."""
        n = len(self.parent)
        count = torch.bincount(leaf, minlength=n)
        total = torch.zeros(n, embedded.shape[1]).index_add_(0, leaf, embedded.detach())
        present = torch.nonzero(count).flatten()
        mean = total[present] / count[present, None]
        distance: Tensor = (self.centers[present] - mean).norm(dim=1)
        return distance.sum() / self.n_leaves

    def _is_below(self, side: Tensor) -> Tensor:
        """Which leaves, by their numbers, are below which of the given nodes: float32[n_nodes, n_sides]."""
        column = {node: k for k, node in enumerate(side.tolist())}
        found = np.zeros((len(self.parent), len(side)), dtype=np.float32)
        for leaf in self.leaves:
            node = leaf
            while node > 0:
                found[leaf, column[node]] = 1.0
                node = self.parent[node]
        return torch.as_tensor(found)

    def tree_over(self, embedded: Tensor, names: list[str] | None) -> Tree:
        """The tree with all points below their leaves."""
        alive = sorted(self._alive)
        number = {node: k for k, node in enumerate(alive)}
        parent = [-1 if node == 0 else number[self.parent[node]] for node in alive]
        group: Ints = np.array([number[node] for node in self.assign(embedded).tolist()], dtype=np.int64)
        return Tree.from_groups(parent, group, leaf_name=names)


class _Training:
    """Steps of Adam on network and centers."""

    def __init__(
        self, network: Autoencoder, centers: CenterTree, rows: Tensor, batch_size: int, learning_rate: float
    ) -> None:
        self._network, self._centers, self._rows, self._size = network, centers, rows, batch_size
        self._optimizer = torch.optim.Adam([*network.parameters(), centers.centers], lr=learning_rate)

    def step(self) -> None:
        batch = torch.randperm(len(self._rows))[: self._size]
        rows = self._rows[batch]
        embedded, rebuilt = self._network(rows)
        leaf = self._centers.assign(embedded.detach())
        loss = self._centers.center_loss(embedded, leaf) + self._centers.compression_loss(embedded, leaf)
        loss = loss + _reconstruction(rebuilt, rows)
        self._optimizer.zero_grad(set_to_none=True)
        torch.autograd.backward(loss)
        self._optimizer.step()
        self._centers.update(leaf)
