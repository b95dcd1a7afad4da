"""The options of HypHC, checked, and what "by default" means for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from arbora._base.params import check_choice, check_real, check_refine, check_span, check_switch, check_whole
from arbora.hyperbolic.hyphc._kernels import Schedule
from arbora.hyperbolic.hyphc.circle import PARALLEL_FROM
from arbora.hyperbolic.hyphc.decode import Decoder
from arbora.hyperbolic.hyphc.triples import count_pairs

if TYPE_CHECKING:
    from arbora.hyperbolic.hyphc.estimator import HypHC

SimilarityKind: TypeAlias = Literal["cosine", "knn", "gaussian", "precomputed"]
EngineKind: TypeAlias = Literal["auto", "circle", "torch"]

# beyond it embeddings come too near the boundary of the ball to be distinguished in floating point
MAX_RADIUS = 16.0
_FEWEST_TRIPLES, _MOST_TRIPLES = 40_000, 20_000_000
_SMALLEST_BATCH, _LARGEST_BATCH = 256, 1 << 16
# triples per step for each leaf
_LEAF_BATCH, _PARALLEL_LEAF_BATCH = 4, 8
_TORCH_BATCH = 1 << 12


@dataclass(frozen=True)
class Options:
    """What a `HypHC` was asked for; every value has been checked."""

    similarity: SimilarityKind
    max_epochs: int
    n_triples: int | None
    batch_size: int | None
    schedule: Schedule
    dimension: int
    equal_radii: bool
    engine: Literal["circle", "torch"]
    decoder: Decoder
    neighbor_bias: float
    n_neighbors: int
    patience: int | None
    n_init: int
    refine: dict[str, Any] | None
    checkpoint_every: int
    verbose: bool

    @classmethod
    def of(cls, model: HypHC) -> Options:
        """The options of an estimator; an error names the first that cannot be used."""
        dimension = check_whole(model.dimension, "dimension", least=2)
        equal_radii = check_switch(model.equal_radii, "equal_radii")
        return cls(
            similarity=check_choice(model.similarity, "similarity", get_args(SimilarityKind)),
            max_epochs=check_whole(model.max_epochs, "max_epochs"),
            n_triples=_whole_or_none(model.n_triples, "n_triples"),
            batch_size=_whole_or_none(model.batch_size, "batch_size"),
            schedule=_schedule(model),
            dimension=dimension,
            equal_radii=equal_radii,
            engine=_engine(model.engine, dimension, equal_radii),
            decoder=_decoder(model.decoder, dimension, equal_radii),
            neighbor_bias=check_real(model.neighbor_bias, "neighbor_bias", least=0, most=1),
            n_neighbors=check_whole(model.n_neighbors, "n_neighbors"),
            patience=_whole_or_none(model.patience, "patience"),
            n_init=check_whole(model.n_init, "n_init"),
            refine=check_refine(model.refine),
            checkpoint_every=check_whole(model.checkpoint_every, "checkpoint_every"),
            verbose=check_switch(model.verbose, "verbose"),
        )

    def triples_per_epoch(self, n_points: int) -> int:
        """`n_triples`, or by default every pair once, within bounds."""
        if self.n_triples is not None:
            return self.n_triples
        return min(max(count_pairs(n_points), _FEWEST_TRIPLES), _MOST_TRIPLES)

    def triples_per_step(self, n_points: int) -> int:
        """`batch_size`, or by default a few triples per point, within bounds."""
        if self.batch_size is not None:
            return self.batch_size
        is_parallel = _PARALLEL_LEAF_BATCH * n_points >= PARALLEL_FROM
        per_leaf = _PARALLEL_LEAF_BATCH if is_parallel else _LEAF_BATCH
        by_points = min(max(per_leaf * n_points, _SMALLEST_BATCH), _LARGEST_BATCH)
        return by_points if self.engine == "circle" else max(by_points, _TORCH_BATCH)

    def runs_side_by_side(self, n_points: int) -> bool:
        """Whether several starts advance together, one thread each: their batches are too small to share out."""
        is_small = self.triples_per_step(n_points) < PARALLEL_FROM
        return self.n_init > 1 and is_small and self.engine == "circle"


def _schedule(model: HypHC) -> Schedule:
    radius = check_span(model.radius, "radius")
    if max(radius) > MAX_RADIUS:
        raise ValueError(
            f"radius must not exceed {MAX_RADIUS}: farther out, points of the ball cannot be distinguished in "
            f"floating point. Got {model.radius!r}."
        )
    return Schedule(
        check_span(model.learning_rate, "learning_rate"),
        check_span(model.temperature, "temperature"),
        radius,
        check_switch(model.learn_radius, "learn_radius"),
    )


def _engine(value: Any, dimension: int, equal_radii: bool) -> Literal["circle", "torch"]:
    """The engine, "auto" resolved."""
    chosen: EngineKind = check_choice(value, "engine", get_args(EngineKind))
    on_circle = dimension == 2 and equal_radii
    if chosen == "auto":
        return "circle" if on_circle else "torch"
    if chosen == "circle" and not on_circle:
        raise ValueError(
            "engine='circle' needs dimension=2 and equal_radii=True. "
            f"Got dimension={dimension}, equal_radii={equal_radii}. Use engine='torch'."
        )
    return chosen


def _decoder(value: Any, dimension: int, equal_radii: bool) -> Decoder:
    decoder: Decoder = check_choice(value, "decoder", get_args(Decoder))
    if decoder == "greedy" and dimension != 2:
        raise ValueError(f"decoder='greedy' needs dimension=2. Got {dimension}. Use decoder='exact'.")
    if decoder == "circle" and not (dimension == 2 and equal_radii):
        raise ValueError("decoder='circle' needs dimension=2 and equal_radii=True. Use decoder='exact'.")
    return decoder


def _whole_or_none(value: Any, name: str) -> int | None:
    return None if value is None else check_whole(value, name)
