"""Riemannian descent on single rows of a table of nodes: only the rows that a batch touches are read or written.

The retraction is the paper's (Eq. 19): add, and pull whatever exceeds the largest allowed norm back to it. The same
moves for PyTorch tensors, along geodesics, are in `arbora.hyperbolic.optim`.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from arbora._base.types import AnyFloats
from arbora.errors import DivergedError
from arbora.hyperbolic.ghhc.distances import NodeTable
from arbora.hyperbolic.ghhc.objectives import RowGradient


def retract(points: AnyFloats, moves: AnyFloats, limit: float) -> AnyFloats:
    """Points moved in the ambient space, and scaled back to norm `limit` where they exceed it (Eq. 19)."""
    moved = points + moves
    norm = np.sqrt(np.einsum("nd,nd->n", moved, moved))
    if not np.isfinite(norm).all():
        raise DivergedError("A node diverged to NaN or infinity.")
    outside = norm > limit
    moved[outside] *= (limit / norm[outside])[:, None]
    return moved


class RowDescent:
    """Stochastic Riemannian gradient descent (Eq. 18–20)."""

    def __init__(self, n_nodes: int, dimension: int, dtype: np.dtype[Any]) -> None:
        # no state
        del n_nodes, dimension, dtype

    def step(self, table: NodeTable, gradient: RowGradient, rate: float, limit: float) -> None:
        """Move the touched nodes against their Riemannian gradient."""
        rows, values = gradient
        scale = (-rate / 4.0) * table.gap[rows] ** 2
        table.nodes[rows] = retract(table.nodes[rows], values * scale[:, None], limit)
        table.refresh(rows)

    def state(self) -> dict[str, NDArray[Any]]:
        """Arrays that a checkpoint must hold."""
        return {}

    def load(self, state: dict[str, NDArray[Any]]) -> None:
        """Restore the arrays of `state`."""


class RowAdam:
    """Adam with one second moment per node; moments advance only where a node is touched."""

    decay_first, decay_second, floor = 0.9, 0.999, 1e-8

    def __init__(self, n_nodes: int, dimension: int, dtype: np.dtype[Any]) -> None:
        self.first = np.zeros((n_nodes, dimension), dtype)
        self.second = np.zeros(n_nodes, dtype)
        self.count = np.zeros(n_nodes, np.int64)

    def step(self, table: NodeTable, gradient: RowGradient, rate: float, limit: float) -> None:
        """Move the touched nodes by the normalized running mean of their Riemannian gradient."""
        rows, values = gradient
        gap = table.gap[rows]
        direction = values * (gap**2 / 4.0)[:, None]
        # in the metric of the ball
        length = np.einsum("nd,nd->n", direction, direction) * (2.0 / gap) ** 2
        self.count[rows] += 1
        self.first[rows] = self.decay_first * self.first[rows] + (1 - self.decay_first) * direction
        self.second[rows] = self.decay_second * self.second[rows] + (1 - self.decay_second) * length
        first = self.first[rows] / (1 - self.decay_first ** self.count[rows])[:, None]
        second = self.second[rows] / (1 - self.decay_second ** self.count[rows])
        moves = first * (-rate / (np.sqrt(second) + self.floor))[:, None]
        table.nodes[rows] = retract(table.nodes[rows], moves.astype(table.nodes.dtype), limit)
        table.refresh(rows)

    def state(self) -> dict[str, NDArray[Any]]:
        """Arrays that a checkpoint must hold."""
        return {"first": self.first, "second": self.second, "count": self.count}

    def load(self, state: dict[str, NDArray[Any]]) -> None:
        """Restore the arrays of `state`."""
        self.first, self.second, self.count = state["first"], state["second"], state["count"]


Optimizer: TypeAlias = RowDescent | RowAdam
OptimizerKind: TypeAlias = Literal["sgd", "adam"]
OPTIMIZERS: dict[OptimizerKind, type[Optimizer]] = {"sgd": RowDescent, "adam": RowAdam}
