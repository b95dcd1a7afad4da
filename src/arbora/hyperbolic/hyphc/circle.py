"""The fused engine: leaves on a circle of the disk, closed-form gradients, plain Adam on the angles."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arbora._base.sharing import Shares, share_bounds
from arbora.hyperbolic.hyphc import _kernels as kernels
from arbora.hyperbolic.hyphc._kernels import Circle, Schedule
from arbora.hyperbolic.hyphc.decode import Decoder, decode, decode_circle
from arbora.hyperbolic.hyphc.triples import TripleSampler, weigh
from arbora.tree import Tree

# triples; smaller batches are done before other threads have woken up
PARALLEL_FROM = 1 << 14
# parts of a batch that may run at the same time; fixed, so that results do not depend on threads
_BLOCKS = 8
# triples per call of a kernel, so that Ctrl-C is noticed in between
_TRIPLES_AT_ONCE = 100_000
# numbers that a batch reads; smaller batches are finished here before they could be sent to other machines
WORTH_SENDING = 1 << 26


def circle_loss(
    theta: ArrayLike, triples: ArrayLike, weights: ArrayLike, *, radius: float, temperature: float
) -> tuple[float, NDArray[np.float64], float]:
    """HypHC's loss (the sum over triples in Eq. 9) on a circle, and its gradient.

    Parameters
    ----------
    theta : array-like of float, shape (n,)
        Angle of each leaf.
    triples : array-like of int, shape (t, 3)
    weights : array-like of float, shape (t, 3)
        Similarities (w_ij, w_ik, w_jk).
    radius : float
        Hyperbolic distance of the leaves from the origin.
    temperature : float

    Returns
    -------
    loss : float
    gradient : ndarray of shape (n,)
        In the angles.
    radius_gradient : float

    Examples
    --------
    >>> from arbora.hyperbolic.hyphc.circle import circle_loss
    >>> theta, triples, weights = [0.0, 0.5, 3.0], [[0, 1, 2]], [[1.0, 0.2, 0.1]]
    >>> loss, gradient, _ = circle_loss(theta, triples, weights, radius=2, temperature=1)
    >>> round(loss, 4)
    0.5659
    """
    theta = np.asarray(theta, dtype=np.float64)
    gradient = np.zeros(len(theta) + 1)
    loss = kernels.add_gradients(
        half_angles(theta),
        np.ascontiguousarray(triples, dtype=np.int64),
        np.ascontiguousarray(weights, dtype=np.float64),
        float(radius),
        float(temperature),
        gradient,
    )
    return loss, gradient[:-1], gradient[-1]


def half_angles(theta: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cosine and sine of half of each angle, float64[n, 2]."""
    return np.column_stack([np.cos(theta / 2), np.sin(theta / 2)])


class CircleEngine:
    """Trains angles; one call of `run_epoch` per epoch.

    Parameters
    ----------
    sampler : TripleSampler
    theta : ndarray of shape (n,)
        Angles to start from.
    schedule : Schedule
    n_epochs : int
        Number of epochs over which the schedule extends.
    batch_size : int
    shares : Shares, optional
        Where the shares of large batches are computed.
    """

    def __init__(
        self,
        sampler: TripleSampler,
        theta: NDArray[np.float64],
        schedule: Schedule,
        *,
        n_epochs: int,
        batch_size: int,
        shares: Shares | None = None,
    ) -> None:
        n = len(theta)
        self._shares = shares
        self._sent: list[Any] | None = None
        self._sampler = sampler
        self._weights = sampler.arrays
        self._schedule = schedule
        self._n_epochs = n_epochs
        self._batch = batch_size
        self._circle = Circle(
            np.array(theta, dtype=np.float64),
            half_angles(theta),
            np.zeros(n + 1),
            np.zeros(n + 1),
            np.array([schedule.radius[0], 0.0]),
        )

    @property
    def theta(self) -> NDArray[np.float64]:
        """Angles, in [0, 2π)."""
        return np.asarray(np.mod(self._circle.theta, 2 * math.pi))

    @property
    def radius(self) -> float:
        """Hyperbolic distance of the leaves from the origin."""
        if self._schedule.learn_radius:
            return float(self._circle.scalars[0])
        return float(self._schedule.radius[1])

    @property
    def embedding(self) -> NDArray[np.float64]:
        """Points of the disk, float64[n, 2]."""
        theta = self._circle.theta
        return math.tanh(self.radius / 2) * np.column_stack([np.cos(theta), np.sin(theta)])

    def decode(self, decoder: Decoder) -> Tree:
        """Tree of the leaves as they are."""
        return (
            decode(self.embedding, decoder) if decoder == "exact" else decode_circle(self.theta, self.radius)
        )

    def state(self) -> dict[str, NDArray[Any]]:
        """Arrays from which `load` resumes to the same result."""
        arrays: dict[str, NDArray[Any]] = self._circle._asdict()
        return arrays

    def load(self, state: dict[str, NDArray[Any]]) -> None:
        """Resume from a `state`."""
        for name, array in self._circle._asdict().items():
            array[...] = state[name]

    def run_epoch(self, epoch: int) -> float:
        """Train on the triples of one epoch; the mean loss of a triple."""
        done, total = 0, 0.0
        for draw, count in self._sampler.passes(epoch):
            parts = np.array([done, done + count]) / self._sampler.n_triples
            progress = tuple((epoch + parts) / self._n_epochs)
            total += self._train(draw, count, progress)
            done += count
        return total / done

    def _train(self, draw: Any, count: int, progress: tuple[float, float]) -> float:
        if self._weights is None:
            return self._train_by_pairs(draw, count, progress)
        is_large, shares = self._batch >= PARALLEL_FROM, self._shares
        if is_large and shares is not None and shares.are_spread and self._is_worth_sending:
            return self._train_shared(shares, draw, count, progress)
        arguments = (self._circle, draw, self._weights, self._schedule, count, self._batch, progress)
        total, n_steps = 0.0, -(-count // self._batch)
        at_once = max(1, _TRIPLES_AT_ONCE // self._batch)
        for first in range(0, n_steps, at_once):
            steps = (first, min(first + at_once, n_steps))
            if is_large:
                total += kernels.train_parallel(*arguments, steps, _BLOCKS)
            else:
                total += kernels.train(*arguments, steps)
        return total

    @property
    def _is_worth_sending(self) -> bool:
        assert self._weights is not None
        width = self._weights.values.shape[1] if self._weights.kind == kernels.FEATURES else 1
        return self._batch * width >= WORTH_SENDING

    def _train_shared(self, shares: Shares, draw: Any, count: int, progress: tuple[float, float]) -> float:
        """The same steps as `train_parallel`, to the last bit, its blocks on other machines."""
        if self._sent is None:
            self._sent = shares.send(self._weights)
        drawn = shares.send(draw)
        total, n_steps = 0.0, -(-count // self._batch)
        for step in range(n_steps):
            first = step * self._batch
            size = min(self._batch, count - first)
            done = progress[0] + (progress[1] - progress[0]) * step / n_steps
            rate, temperature, radius = kernels.plan(self._schedule, done, self._circle.scalars[0])
            found = shares.run(
                _gradient_of_share,
                (self._circle.half, *drawn, *self._sent, radius, temperature),
                [(first + low, high - low) for low, high in share_bounds(size, _BLOCKS)],
                here=False,
            )
            for loss, _ in found:
                total += loss
            gradients = np.array([gradient for _, gradient in found])
            kernels.move(self._circle, gradients, size, rate, self._schedule.learn_radius)
        return total

    def _train_by_pairs(self, draw: Any, count: int, progress: tuple[float, float]) -> float:
        """The same steps for a similarity that only answers `pairs`."""
        gradients = np.zeros((1, len(self._circle.theta) + 1))
        total = 0.0
        for first in range(0, count, self._batch):
            size = min(self._batch, count - first)
            done = progress[0] + (progress[1] - progress[0]) * first / count
            rate, temperature, radius = kernels.plan(self._schedule, done, self._circle.scalars[0])
            triples = kernels.draw_triples(draw, first, size)
            w = weigh(self._sampler.similarity, triples)
            total += kernels.add_gradients(self._circle.half, triples, w, radius, temperature, gradients[0])
            kernels.move(self._circle, gradients, size, rate, self._schedule.learn_radius)
        return total


def _gradient_of_share(
    half: NDArray[np.float64],
    draw: Any,
    weights: Any,
    radius: float,
    temperature: float,
    first: int,
    count: int,
) -> tuple[float, NDArray[np.float64]]:
    """Loss and gradient of the triples first .. first + count - 1 of a pass."""
    gradient = np.zeros(len(half) + 1)
    loss = kernels.add_drawn_gradients(half, draw, weights, first, count, radius, temperature, gradient)
    return float(loss), gradient
