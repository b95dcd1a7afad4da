"""Projected gradient descent, judged by the decoded tree.

The soft loss falls far below what the most likely tree reaches, and that tree often gets worse before it gets
better; so the model kept is the one whose decoded tree was best, and patience is counted on it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from arbora._base.files import read_archive, write_archive
from arbora.errors import DivergedError, FormatError
from arbora.probabilistic.batching import draw_batch, rows_of, with_rows
from arbora.probabilistic.expected import decoded_loss, expected_step, sample_parents
from arbora.probabilistic.sparse import EdgeDistribution, Model, binary_model, csr_from_parts, soft_step
from arbora.probabilistic.start import tree_of_parents

MARKER = "arbora.fph"


@dataclass(frozen=True)
class Settings:
    """How to descend."""

    objective: str = "dasgupta"
    relaxation: str = "expected"
    leaf_rate: float = 0.3
    internal_rate: float = 0.3
    max_epochs: int = 500
    patience: int = 100
    exact_q: bool = True
    batch_size: int | None = None
    batch_limit: int = 200_000
    evaluate_every: int = 1
    n_rounds: int = 1
    n_threads: int = 1

    def round_starts(self) -> list[int]:
        """First epoch of every round: the first takes half of the epochs, the next half of what is left, ..."""
        return [self.max_epochs - self.max_epochs // 2**done for done in range(self.n_rounds)]


@dataclass
class Progress:
    """Where training is: enough to stop and go on later as if nothing had happened."""

    model: Model
    rng: np.random.Generator
    epoch: int = 0
    best_epoch: int = 0
    best_loss: float = np.inf
    best_model: Model | None = None
    best_parents: tuple | None = None
    history: list = field(default_factory=list)  # (epoch, training loss before the step, decoded loss)
    round: int = 0
    round_start: int = 0


def train(
    graph: EdgeDistribution,
    progress: Progress,
    settings: Settings,
    on_epoch: Callable[[Progress], bool] = lambda progress: False,
    take_step: Callable[[], tuple[Model, float]] | None = None,
    renew: Callable[[Progress], Model] | None = None,
) -> Progress:
    """Descend until `max_epochs`, until patience ends, or until `on_epoch` says to stop.

    The tree at the start counts as epoch 0: what comes out is never worse than what went in. `take_step`
    replaces the projected step (an optimizer with its own state, which checkpoints do not hold). A round after
    the first starts from what `renew` makes of the best model.
    """
    if progress.best_model is None:
        judge(graph, progress, settings, np.nan)
    while progress.epoch < settings.max_epochs:
        if _round_is_over(progress, settings):
            if progress.round + 1 >= settings.n_rounds:
                break
            progress.round, progress.round_start = progress.round + 1, progress.epoch
            progress.model = progress.best_model if renew is None else renew(progress)
        if take_step is None:
            progress.model, loss = step(graph, progress.model, settings, progress.rng)
        else:
            progress.model, loss = take_step()
        progress.epoch += 1
        if not np.isfinite(loss) or not np.isfinite(progress.model.B).all():
            tree = tree_of_parents(*progress.best_parents)[0]
            raise DivergedError(
                f"The loss turned {loss} in epoch {progress.epoch}. Lower learning_rate "
                f"(leaf {settings.leaf_rate}, internal {settings.internal_rate}).",
                tree=tree,
            )
        if progress.epoch % settings.evaluate_every == 0 or progress.epoch == settings.max_epochs:
            judge(graph, progress, settings, loss)
        if on_epoch(progress):
            break
    return progress


def _round_is_over(progress: Progress, settings: Settings) -> bool:
    """Whether nothing got better for too long, or the next round is due."""
    stale = progress.epoch - max(progress.best_epoch, progress.round_start) >= settings.patience
    following = settings.round_starts()[progress.round + 1 :]
    return stale or (len(following) > 0 and progress.epoch >= following[0])


def judge(graph: EdgeDistribution, progress: Progress, settings: Settings, loss: float) -> None:
    """Decode, and keep the model if its tree is the best so far."""
    decoded, parents = decoded_loss(graph, progress.model, settings.objective)
    progress.history.append((progress.epoch, loss, decoded))
    if progress.best_model is None or decoded < progress.best_loss - 1e-12 * abs(progress.best_loss):
        progress.best_loss, progress.best_epoch = decoded, progress.epoch
        progress.best_model, progress.best_parents = progress.model, parents


def step(graph: EdgeDistribution, model: Model, settings: Settings, rng) -> tuple[Model, float]:
    """One epoch: a step on the whole graph, or on one batch."""
    if settings.batch_size is None:
        return _step_on(graph, model, settings, rng)
    batch = draw_batch(graph, settings.batch_size, settings.batch_limit, rng)
    if batch is None:
        return model, 0.0
    part, loss = _step_on(batch.graph, rows_of(model, batch.nodes), settings, rng)
    return with_rows(model, batch.nodes, part), loss


def _step_on(graph, model, settings, rng):
    rates = settings.leaf_rate, settings.internal_rate
    if settings.relaxation == "expected":
        return expected_step(graph, model, settings.objective, *rates, rng, settings.n_threads)
    at = None
    if settings.relaxation == "straight-through":
        at = binary_model(*sample_parents(model, rng), dtype=model.B.dtype)
    return soft_step(graph, model, settings.objective, *rates, settings.n_threads, settings.exact_q, at)


def save_checkpoint(path, progress: Progress) -> None:
    """Write everything training needs to go on; an earlier file stays whole until the new one is complete."""
    arrays = {
        "B": progress.model.B,
        "best_B": progress.best_model.B,
        "best_leaf_parent": progress.best_parents[0],
        "best_parent": progress.best_parents[1],
        "history": np.array(progress.history, dtype=np.float64).reshape(-1, 3),
        "numbers": np.array([progress.epoch, progress.best_epoch, progress.round, progress.round_start]),
        "best_loss": np.array(progress.best_loss),
        "rng": np.array(json.dumps(progress.rng.bit_generator.state)),
    }
    for name, A in (("A", progress.model.A), ("best_A", progress.best_model.A)):
        arrays |= {f"{name}_ptr": A.indptr, f"{name}_col": A.indices, f"{name}_val": A.data}
    write_archive(path, MARKER, arrays)


def load_checkpoint(path, n_leaves: int) -> Progress:
    """Read what `save_checkpoint` wrote."""
    try:
        progress = _progress_from(read_archive(path, MARKER))
    except (FormatError, KeyError, ValueError) as problem:
        raise FormatError(
            f"{path} is not a whole FPH checkpoint: {problem}. Delete it to start anew."
        ) from problem
    if progress.model.A.shape[0] != n_leaves:
        raise ValueError(
            f"{path} is of a graph with {progress.model.A.shape[0]} nodes. This one has {n_leaves}."
        )
    return progress


def _progress_from(saved) -> Progress:
    rng = np.random.default_rng()
    rng.bit_generator.state = json.loads(str(saved["rng"]))
    models = []
    for A, B in (("A", "B"), ("best_A", "best_B")):
        ptr = saved[f"{A}_ptr"]
        parts = (ptr, saved[f"{A}_col"], saved[f"{A}_val"])
        models.append(Model(csr_from_parts(*parts, (len(ptr) - 1, len(saved[B]))), saved[B]))
    epoch, best_epoch, *rounds = (int(number) for number in saved["numbers"])
    history = [(int(row[0]), float(row[1]), float(row[2])) for row in saved["history"]]
    parents = (saved["best_leaf_parent"], saved["best_parent"])
    best = float(saved["best_loss"]), models[1], parents
    return Progress(models[0], rng, epoch, best_epoch, *best, history, *rounds)
