"""What the deep systems share: seeded networks, an autoencoder, rows encoded in pieces."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from arbora._base.arrays import as_vectors
from arbora._base.pytorch import Tensor, nn, torch
from arbora._base.types import Floats

_ROWS_AT_ONCE = 4096


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[torch.Generator]:
    """Networks made and trained inside depend on the seed alone; the caller's random numbers are left as they were."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield torch.default_generator


def scaled_rows(data: Any) -> Tensor:
    """Rows as float32: values from 0 upwards divided by their largest, others centered and scaled as a whole."""
    rows: Floats = as_vectors(data, argument="data")
    if rows.min() >= 0 and rows.max() > 0:
        rows = rows / rows.max()
    else:
        rows = rows - rows.mean(axis=0)
        rows = rows / max(float(rows.std()), float(np.finfo(np.float64).tiny))
    return torch.as_tensor(rows, dtype=torch.float32)


def perceptron(sizes: Sequence[int]) -> Any:
    """Linear layers of the given sizes with rectifiers between them."""
    layers: list[Any] = []
    for n_in, n_out in pairwise(sizes):
        layers += [nn.Linear(n_in, n_out), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


class Autoencoder(nn.Module):
    """A perceptron to few dimensions, and its mirror image back."""

    def __init__(self, n_features: int, hidden: Sequence[int], latent: int) -> None:
        super().__init__()
        sizes = [n_features, *hidden, latent]
        self.encoder = perceptron(sizes)
        self.decoder = perceptron(sizes[::-1])

    def forward(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Embedding and reconstruction."""
        embedded = self.encoder(rows)
        return embedded, self.decoder(embedded)


def batches(n_rows: int, batch_size: int) -> Iterator[Tensor]:
    """Row numbers in random order, in pieces; the last piece joins the one before where it would be a single row."""
    order = torch.randperm(n_rows)
    first = 0
    while first < n_rows:
        last = first + batch_size
        if n_rows - last < 2:
            last = n_rows
        yield order[first:last]
        first = last


@torch.no_grad()
def in_pieces(function: Callable[[Tensor], Tensor], rows: Tensor) -> Tensor:
    """A function of rows, applied to a few thousand at a time."""
    return torch.cat([function(rows[k : k + _ROWS_AT_ONCE]) for k in range(0, len(rows), _ROWS_AT_ONCE)])
