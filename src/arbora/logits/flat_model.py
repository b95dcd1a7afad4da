"""What TURTLE and TEMI have in common: checked parameters, a seeded generator, a loop of steps, predictions."""

from __future__ import annotations

import contextlib
import math
from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.callback import CallbackSupportMixin

from arbora._base.lazily import lazily
from arbora._base.optional import require
from arbora._base.params import check_real, check_whole
from arbora._base.random import seed_of
from arbora._base.threads import count_threads, limited_threads
from arbora._base.training import FitProgress, history, with_callbacks
from arbora._base.types import Ints, RandomState
from arbora.errors import DivergedError
from arbora.logits.spaces import Scaling, as_spaces

_Self = TypeVar("_Self", bound="FlatModel")


class FlatModel(CallbackSupportMixin, ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """A clustering trained by steps of gradient descent, with logits for any point."""

    # X may be a list of matrices with the same rows
    takes_spaces = True

    n_clusters: int
    max_steps: int
    batch_size: int
    n_jobs: int | None
    random_state: RandomState
    verbose: bool
    normalized_loss_: float

    @with_callbacks
    def fit(self: _Self, X: Any, y: Any = None) -> _Self:
        """Cluster the points.

        Parameters
        ----------
        X : array-like of shape (n_points, n_features), or a list of several with the same rows
            Representations of the points in one or more spaces; each is centered and scaled to mean square 1. A space
            may also be the path of a .npy, HDF5, Parquet or zarr file, an open store, or an iterator of chunks.
        y : ignored
        """
        spaces = as_spaces(self, X, reset=True)
        require("torch", type(self).__name__)
        self._check_parameters(len(spaces[0]))
        self._scaling = Scaling(spaces)
        with single_threaded():
            self._learn(self._scaling(spaces))
        return self

    @abstractmethod
    def _check_parameters(self, n_points: int) -> None:
        """Raise where a parameter is wrong."""

    @abstractmethod
    def _learn(self, spaces: list[Any]) -> None:
        """Train on scaled spaces (torch tensors) and set the attributes."""

    @abstractmethod
    def decision_function(self, X: Any) -> NDArray[np.float32]:
        """Logits of each cluster."""

    @lazily
    def predict(self, X: Any) -> Ints:
        """Most probable cluster of each point."""
        return np.asarray(self.decision_function(X).argmax(axis=1))

    def _check_counts(self, n_points: int, **least: int) -> None:
        """Whole numbers, each with its smallest value; no more clusters than points."""
        for name, lowest in {"n_clusters": 1, "max_steps": 1, "batch_size": 1, **least}.items():
            check_whole(getattr(self, name), name, least=lowest)
        count_threads(self.n_jobs)
        if self.n_clusters > n_points:
            raise ValueError(
                f"n_clusters={self.n_clusters} must not exceed the number of points, {n_points}."
            )

    def _check_positive(self, **highest: float) -> None:
        """Numbers above 0 and up to a largest value."""
        for name, high in highest.items():
            check_real(getattr(self, name), name, above=0, most=None if math.isinf(high) else high)

    def _generator(self) -> Any:
        """PyTorch's random numbers, seeded by `random_state`."""
        return require("torch", type(self).__name__).Generator().manual_seed(seed_of(self.random_state))

    def _take_steps(self, step: Callable[[], Any]) -> Any:
        """Take `max_steps` steps, or fewer if a callback asks to stop; the losses averaged over the last tenth of them.

        A step returns one loss or several, of which the lowest goes into `history_`.
        """
        torch = require("torch", type(self).__name__)
        losses: list[Any] = []
        curve: list[tuple[int, float, float]] = []
        with FitProgress(self, int(self.max_steps), unit="step", verbose=self.verbose) as progress:
            for number in range(1, int(self.max_steps) + 1):
                losses.append(step())
                lowest = float(losses[-1].min())
                if not math.isfinite(lowest):
                    raise DivergedError(f"The loss turned {lowest} at step {number}. Lower learning_rate.")
                curve.append((number, lowest, math.nan))
                if progress.step(number, note=f"loss {lowest:.4g}", metadata={"loss": lowest}):
                    break
        self.n_steps_, self.history_ = len(losses), history(curve)
        return torch.stack(losses[-max(1, len(losses) // 10) :]).mean(dim=0)


@contextlib.contextmanager
def single_threaded() -> Iterator[None]:
    """Let PyTorch use one thread.

    The matrices of a step are small: a second thread saves nothing, rounds differently, and takes ten times the CPU
    as soon as other processes want the cores, because threads spin while they wait for each other.
    """
    torch = require("torch", "TURTLE and TEMI")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with limited_threads(1):
            yield
    finally:
        torch.set_num_threads(before)


def side_by_side(spaces: list[Any]) -> Any:
    """All spaces (torch tensors) as one, rows of length 1; a row of zeros stays."""
    torch = require("torch", "A flat model")
    return torch.nn.functional.normalize(torch.cat(spaces, dim=1), dim=1)
