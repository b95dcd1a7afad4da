"""TreeVAE (Manduchi et al. 2023): a variational autoencoder whose latent variables form a tree that grows."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from arbora._base.arrays import row_names
from arbora._base.params import check_real, check_whole
from arbora._base.progress import ProgressCallback, Stage, check_progress
from arbora._base.pytorch import Tensor, torch
from arbora._base.random import seed_of
from arbora._base.types import Ints, RandomState
from arbora.baselines.deep import batches, in_pieces, scaled_rows, seeded
from arbora.baselines.treevae_model import TreeNetwork
from arbora.logits.flat_model import single_threaded
from arbora.tree import Tree


def treevae(
    data: Any,
    *,
    n_groups: int = 10,
    latent: int = 8,
    hidden: int = 64,
    encoder_hidden: int = 256,
    max_depth: int = 6,
    epochs_per_split: int = 5,
    max_epochs: int = 20,
    rows_per_epoch: int = 20_000,
    least_steps: int = 16,
    kl_weight: float = 0.15,
    batch_size: int = 256,
    learning_rate: float = 1e-3,
    random_state: RandomState = None,
    progress: ProgressCallback | None = None,
) -> Tree:
    """Tree variational autoencoder [1]_.

    The model is a binary tree of latent variables; every leaf has its own decoder, every inner node a router. It
    begins with two leaves. Then the leaf with the most points is split, first its new parts are trained, then all,
    until there are `n_groups`.

    Parameters
    ----------
    data : array-like of shape (n_points, n_features)
        Images as flat rows, or features. Values from 0 upwards are divided by the largest and rebuilt as
        probabilities, others are centered and rebuilt by squared error.
    n_groups : int, default=10
        Leaves of the model; points hang below them.
    latent, hidden : int
        Dimensions of each latent variable and of the representations it is inferred from.
    encoder_hidden : int, default=256
        Hidden units of encoder and decoders.
    max_depth : int, default=6
        Deepest place of a leaf.
    epochs_per_split : int, default=5
        Of the new parts of a split, and then of all parts.
    max_epochs : int, default=20
        Of the first two leaves, and of all parts at the end.
    rows_per_epoch : int, default=20000
        Of more rows than this, an epoch sees as many, drawn at random.
    least_steps : int, default=16
        Of an epoch: small data is passed through several times.
    kl_weight : float, default=0.15
        Of the divergences beside the reconstruction; reached step by step within the first epochs.
    batch_size : int, default=256
    learning_rate : float, default=0.001
    random_state : int, RandomState, Generator or None
    progress : callable, optional

    Returns
    -------
    tree : Tree
        Over all points; binary down to the leaves of the model.

    References
    ----------
    .. [1] Manduchi, Vandenhirtz, Ryser, Vogt, "Tree variational autoencoders", NeurIPS 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from arbora.baselines.treevae import treevae
    >>> X = np.random.default_rng(0).normal(size=(60, 4)) + 9 * np.repeat([[0.0], [1.0]], 30, axis=0)
    >>> treevae(X, n_groups=3, hidden=8, encoder_hidden=8, epochs_per_split=1, max_epochs=2, random_state=0).n_leaves
    60
    """
    check_real(learning_rate, "learning_rate", above=0)
    check_real(kl_weight, "kl_weight", least=0)
    check_whole(batch_size, "batch_size")
    rows, names = scaled_rows(data), row_names(data)
    if len(rows) < 2:
        return Tree([-1], 1, name=names)
    n_groups = min(check_whole(n_groups, "n_groups", least=2), len(rows))
    with seeded(seed_of(random_state)), single_threaded():
        is_binary = bool(rows.min() >= 0)
        sizes = (rows.shape[1], latent, hidden, encoder_hidden, check_whole(max_depth, "max_depth"))
        network = TreeNetwork(*sizes, is_binary)
        n_seen = min(check_whole(rows_per_epoch, "rows_per_epoch"), len(rows))
        n_steps = max(-(-n_seen // batch_size), check_whole(least_steps, "least_steps"))
        training = _Training(network, rows, batch_size, n_steps, learning_rate, kl_weight)
        n_epochs = 2 * max_epochs + (n_groups - 2) * 2 * epochs_per_split
        with Stage(check_progress(progress), "train", total=n_epochs) as stage:
            training.run(max_epochs, stage)
            while len(network.leaves) < n_groups:
                new = _split_largest(network, rows)
                if not new:
                    break
                training.run(epochs_per_split, stage, new)
                training.run(epochs_per_split, stage)
            training.run(max_epochs, stage)
        return _decoded(network, rows, names)


class _Training:
    """Epochs of Adam on all parts of a network or on some."""

    def __init__(
        self,
        network: TreeNetwork,
        rows: Tensor,
        batch_size: int,
        n_steps: int,
        learning_rate: float,
        kl_weight: float,
    ) -> None:
        self._network, self._rows, self._size, self._n_steps = network, rows, batch_size, n_steps
        self._rate, self._kl_weight = learning_rate, kl_weight
        self._done = 0

    def run(self, n_epochs: int, stage: Stage, only: list[Any] | None = None) -> None:
        """Train; with `only`, the other parts stay fixed."""
        modules = [self._network] if only is None else only
        parameters = [parameter for module in modules for parameter in module.parameters()]
        optimizer = torch.optim.Adam(parameters, lr=self._rate, weight_decay=1e-5)
        for epoch in range(n_epochs):
            # annealed early in a stage, so that new latent variables are not abandoned at once
            kl_weight = self._kl_weight * min(1.0, (epoch + 1) / max(1, n_epochs // 2))
            for batch in islice(self._passes(), self._n_steps):
                found = self._network(self._rows[batch])
                loss = found.reconstruction + kl_weight * (found.root + found.nodes + found.decisions)
                self._network.zero_grad(set_to_none=True)
                torch.autograd.backward(loss)
                optimizer.step()
            self._done += 1
            stage.update(self._done)

    def _passes(self) -> Iterator[Tensor]:
        """Batches of one pass through the rows after another, without end."""
        while True:
            yield from batches(len(self._rows), self._size)


def _assigned(network: TreeNetwork, rows: Tensor) -> Ints:
    """The most probable leaf of each row, as a node's number."""
    network.eval()
    probability = in_pieces(network.leaf_probabilities, rows)
    network.train()
    best: Ints = np.asarray(probability.argmax(dim=1), dtype=np.int64)
    return np.asarray(np.array(network.leaves)[best], dtype=np.int64)


def _split_largest(network: TreeNetwork, rows: Tensor) -> list[Any]:
    """Split the leaf with the most points that is not too deep; the new modules, none where no leaf can be split."""
    count = np.bincount(_assigned(network, rows), minlength=len(network.parent))
    able = [
        leaf for leaf in network.leaves if network.nodes[leaf].depth < network.max_depth and count[leaf] > 1
    ]
    return network.split(max(able, key=lambda leaf: int(count[leaf]))) if able else []


def _decoded(network: TreeNetwork, rows: Tensor, names: list[str] | None) -> Tree:
    """Every point below its most probable leaf; leaves without points are left out."""
    return Tree.from_groups(list(network.parent), _assigned(network, rows), leaf_name=names)
