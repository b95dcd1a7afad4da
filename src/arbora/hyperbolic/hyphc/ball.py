"""The general engine: leaves anywhere in a Poincaré ball, PyTorch gradients, Riemannian Adam."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora._base.pytorch import Tensor, torch
from arbora.hyperbolic import poincare
from arbora.hyperbolic.hyphc import _kernels as kernels
from arbora.hyperbolic.hyphc._kernels import Schedule
from arbora.hyperbolic.hyphc.decode import Decoder, decode
from arbora.hyperbolic.hyphc.loss import triple_losses
from arbora.hyperbolic.hyphc.triples import TripleSampler
from arbora.hyperbolic.optim import RiemannianAdam
from arbora.tree import Tree


class BallEngine:
    """Trains points of the ball; the interface of `CircleEngine`.

    Parameters
    ----------
    sampler : TripleSampler
    embedding : ndarray of shape (n, d)
        Points to start from.
    schedule : Schedule
        The radius counts where points have equal radii.
    n_epochs : int
        Number of epochs over which the schedule extends.
    batch_size : int
    equal_radii : bool
        Keep all leaves at one distance from the origin (the paper's setting); otherwise they move freely.
    device : str or torch.device
    """

    def __init__(
        self,
        sampler: TripleSampler,
        embedding: NDArray[np.float64],
        schedule: Schedule,
        *,
        n_epochs: int,
        batch_size: int,
        equal_radii: bool = True,
        device: Any = "cpu",
    ) -> None:
        self._sampler = sampler
        self._schedule = schedule
        self._n_epochs = n_epochs
        self._batch = batch_size
        self._equal_radii = equal_radii
        start = torch.as_tensor(np.asarray(embedding), dtype=torch.float64, device=device)
        self._points = poincare.project(start).clone().requires_grad_()
        self._radius = torch.tensor(float(schedule.radius[0]), dtype=torch.float64, device=device)
        groups: list[dict[str, Any]] = [{"params": [self._points]}]
        if equal_radii and schedule.learn_radius:
            self._radius.requires_grad_()
            groups.append({"params": [self._radius], "ball": False})
        self._optimizer = RiemannianAdam(groups)

    @property
    def radius(self) -> float:
        """Hyperbolic distance of the leaves from the origin, where all have the same."""
        return float(self._radius.detach()) if self._schedule.learn_radius else self._schedule.radius[1]

    @property
    def embedding(self) -> NDArray[np.float64]:
        """Points of the ball, float64[n, d]."""
        points = self._points.detach()
        if self._equal_radii:
            points = poincare.at_radius(points, self.radius)
        return points.cpu().numpy()

    def decode(self, decoder: Decoder) -> Tree:
        """Tree of the leaves as they are."""
        return decode(self.embedding, decoder)

    def state(self) -> dict[str, NDArray[Any]]:
        """Arrays from which `load` resumes to the same result."""
        kept = {"points": self._points.detach().cpu().numpy(), "radius": self._radius.detach().cpu().numpy()}
        for number, moments in self._optimizer.state_dict()["state"].items():
            kept |= {f"{name}_{number}": np.asarray(value) for name, value in moments.items()}
        return kept

    def load(self, state: dict[str, NDArray[Any]]) -> None:
        """Resume from a `state`."""
        with torch.no_grad():
            self._points.copy_(torch.as_tensor(state["points"]))
            self._radius.copy_(torch.as_tensor(state["radius"]))
        for number, group in enumerate(self._optimizer.param_groups):
            (parameter,) = group["params"]
            self._optimizer.state[parameter] = {
                "step": int(state[f"step_{number}"]),
                **{
                    name: torch.as_tensor(state[f"{name}_{number}"], device=parameter.device)
                    for name in ("first", "second")
                },
            }

    def run_epoch(self, epoch: int) -> float:
        """Train on the triples of one epoch; the mean loss of a triple."""
        done, total = 0, 0.0
        for triples, weights in self._sampler.blocks(epoch, self._batch):
            progress = (epoch + done / self._sampler.n_triples) / self._n_epochs
            total += self._step(triples, weights, progress) * len(triples)
            done += len(triples)
        return total / done

    def _step(self, triples: NDArray[np.int64], weights: NDArray[np.float64], progress: float) -> float:
        rate, temperature, radius = kernels.plan(self._schedule, progress, float(self._radius.detach()))
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        self._optimizer.zero_grad()
        loss = self.loss(triples, weights, radius, temperature)
        loss.backward()  # type: ignore[no-untyped-call]
        self._optimizer.step()
        with torch.no_grad():
            self._radius.clamp_(kernels.MIN_RADIUS, poincare.max_radius(torch.float64))
        return float(loss.detach())

    def loss(
        self, triples: NDArray[np.int64], weights: NDArray[np.float64], radius: float, temperature: float
    ) -> Tensor:
        """Mean loss of given triples at the current points."""
        device = self._points.device
        index = torch.as_tensor(triples, device=device)
        w = torch.as_tensor(weights, dtype=torch.float64, device=device)
        points = self._points[index.reshape(-1)].reshape(*index.shape, -1)
        if self._equal_radii:
            points = poincare.at_radius(points, self._radius if self._schedule.learn_radius else radius)
        return triple_losses(points, w, temperature).mean()
