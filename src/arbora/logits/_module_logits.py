"""Logits of a PyTorch module, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from arbora._base.pytorch import Tensor, nn, torch
from arbora._base.row_stores import is_data_loader, loader_chunks
from arbora._base.types import Floats

_POINTS_PER_BATCH = 1024


def module_logits(module: nn.Module, X: Any) -> Floats:
    """Outputs of the module for all points, in evaluation mode and without gradients: (n_points, n_classes)."""
    first = next(module.parameters(), None)
    device = torch.device("cpu") if first is None else first.device
    was_training = module.training
    module.eval()
    try:
        with torch.no_grad():
            parts = [_checked(module(batch.to(device))) for batch in _batches(X, first)]
    finally:
        module.train(was_training)
    if not parts:
        raise ValueError("X must not be empty: it has no batch.")
    return np.concatenate(parts)


def _batches(X: Any, like: Tensor | None) -> Iterator[Tensor]:
    if is_data_loader(X):
        for batch in loader_chunks(X, "X"):
            yield torch.as_tensor(batch)
        return
    points = torch.as_tensor(X if isinstance(X, Tensor) else np.asarray(X))
    # NumPy makes arrays of doubles by default; modules rarely have that type
    if points.is_floating_point() and like is not None and like.is_floating_point():
        points = points.to(like.dtype)
    yield from torch.split(points, _POINTS_PER_BATCH)


def _checked(output: Any) -> Floats:
    logits = getattr(output, "logits", output)
    if not isinstance(logits, Tensor) or logits.ndim != 2:
        what = f"shape {tuple(logits.shape)}" if isinstance(logits, Tensor) else type(output).__name__
        raise TypeError(f"The module must return logits of shape (n_points, n_classes). It returned {what}.")
    return logits.detach().cpu().double().numpy()
