"""HypHC's options and the course of a training, with an engine whose losses are given."""

import numpy as np
import pytest

import arbora as ab
from arbora.errors import DivergedError
from arbora.hyperbolic.hyphc import training
from arbora.hyperbolic.hyphc.options import MAX_RADIUS, Options
from arbora.hyperbolic.hyphc.training import Run

SIMILARITY = ab.similarity.graph(([0, 2, 1], [1, 3, 2], [4.0, 4.0, 1.0]))
GOOD = ab.Tree([4, 4, 5, 5, 6, 6, -1], 4)
BAD = ab.Tree([4, 5, 4, 5, 6, 6, -1], 4)


class Scripted:
    """An engine whose losses and trees are given, one per epoch."""

    def __init__(self, trees, losses=None, dimension=2):
        self.trees, self.losses = trees, losses or [1.0] * len(trees)
        self.epoch, self.n_decoded, self.dimension = 0, 0, dimension

    @property
    def embedding(self):
        return np.full((4, self.dimension), 0.1 * self.epoch)

    def run_epoch(self, epoch):
        assert epoch == self.epoch
        self.epoch += 1
        return self.losses[epoch]

    def decode(self, decoder):
        self.n_decoded += 1
        return self.trees[self.epoch - 1]

    def state(self):
        return {"epoch": np.array(self.epoch)}

    def load(self, state):
        self.epoch = int(state["epoch"])


def run_of(trees, *, patience=None, decoder="auto", **engine):
    return Run(Scripted(trees, **engine), SIMILARITY, len(trees), decoder, patience)


def advanced(run):
    while not run.is_over:
        run.advance()
    return run


def test_the_cheapest_tree_and_its_embedding_are_kept():
    run = advanced(run_of([BAD, GOOD, BAD]))
    assert run.best.tree == GOOD and run.best.cost == ab.metrics.dasgupta_cost(GOOD, SIMILARITY)
    np.testing.assert_array_equal(run.best.embedding, np.full((4, 2), 0.2))
    assert [step for step, *_ in run.history] == [1, 2, 3]
    assert run.history[1][2] == run.best.cost < run.history[0][2]
    assert run.outcome().best is run.best and run.outcome().history is run.history


def test_patience_counts_epochs_without_a_better_tree():
    run = advanced(run_of([GOOD, BAD, BAD, BAD, BAD], patience=2))
    assert run.epoch == 3 and run.since_best == 2
    assert advanced(run_of([BAD, BAD, GOOD, BAD], patience=3)).epoch == 4


def test_someone_can_ask_to_stop():
    run = run_of([GOOD] * 5)
    run.advance()
    run.is_stopped = True
    assert run.is_over and run.epoch == 1


@pytest.mark.parametrize("loss", [np.nan, np.inf])
def test_a_loss_that_is_not_finite_brings_the_best_tree_along(loss):
    run = run_of([GOOD, BAD], losses=[1.0, loss])
    run.advance()
    with pytest.raises(
        DivergedError, match=r"no longer finite in epoch 1 \(start 0\). Lower learning_rate"
    ) as caught:
        run.advance()
    assert caught.value.tree == GOOD


def test_where_decoding_is_slow_it_is_done_now_and_then_and_at_the_end(monkeypatch):
    monkeypatch.setattr(training, "_QUICK_EXACT", 3)
    run = advanced(run_of([BAD] * 7, decoder="exact"))
    assert run.engine.n_decoded == 2, "epoch 5, and the last"
    assert [np.isnan(cost) for *_, cost in run.history] == [True] * 4 + [False, True, False]
    assert advanced(run_of([BAD] * 7, decoder="circle")).engine.n_decoded == 7
    assert advanced(run_of([BAD] * 7, decoder="auto", dimension=3)).engine.n_decoded == 2


def test_a_run_that_was_stopped_before_any_tree_decodes_one(monkeypatch):
    monkeypatch.setattr(training, "_QUICK_EXACT", 3)
    run = run_of([GOOD, BAD], decoder="exact")
    run.advance()
    assert run.best is None
    assert run.outcome().best.tree == GOOD


def test_a_run_survives_the_way_through_arrays():
    run = run_of([BAD, GOOD, BAD, BAD])
    for _ in range(3):
        run.advance()
    again = run_of([BAD, GOOD, BAD, BAD])
    again.load({name: np.asarray(value) for name, value in run.arrays().items()})
    assert again.epoch == 3 and again.since_best == 1 and again.engine.epoch == 3
    assert again.best.tree == GOOD and again.best.cost == run.best.cost and again.history == run.history
    fresh = run_of([GOOD])
    fresh.load({name: np.asarray(value) for name, value in run_of([GOOD]).arrays().items()})
    assert fresh.best is None and fresh.epoch == 0


# ---- options -----------------------------------------------------------------------------------------------------


def options(**changes):
    return Options.of(ab.HypHC(**changes))


@pytest.mark.parametrize(
    ("changes", "engine"),
    [
        ({}, "circle"),
        ({"dimension": 3}, "torch"),
        ({"equal_radii": False}, "torch"),
        ({"engine": "torch"}, "torch"),
    ],
)
def test_the_circle_is_taken_wherever_leaves_are_on_one(changes, engine):
    assert options(**changes).engine == engine


@pytest.mark.parametrize(("n_points", "triples"), [(3, 40_000), (1000, 499_500), (10**6, 20_000_000)])
def test_an_epoch_is_every_pair_once_within_bounds(n_points, triples):
    assert options().triples_per_epoch(n_points) == triples
    assert options(n_triples=7).triples_per_epoch(n_points) == 7


def test_batches_grow_with_the_points_and_are_larger_for_pytorch():
    chosen = options()
    sizes = [chosen.triples_per_step(n) for n in (3, 100, 1000, 10**6)]
    assert sizes == sorted(sizes) and sizes[0] == 256 and sizes[-1] == 1 << 16
    assert options(dimension=3).triples_per_step(3) == 1 << 12
    assert options(batch_size=5).triples_per_step(10**6) == 5


def test_small_runs_go_side_by_side():
    assert options(n_init=3).runs_side_by_side(50)
    assert not options(n_init=1).runs_side_by_side(50)
    assert not options(n_init=3).runs_side_by_side(10**6)
    assert not options(n_init=3, dimension=3).runs_side_by_side(50)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"dimension": 1}, ValueError, "dimension must be at least 2"),
        ({"max_epochs": 0}, ValueError, "max_epochs must be at least 1"),
        ({"n_triples": 0}, ValueError, "n_triples must be at least 1"),
        ({"batch_size": 0}, ValueError, "batch_size must be at least 1"),
        ({"similarity": "dot"}, ValueError, "similarity must be one of 'cosine'"),
        ({"radius": MAX_RADIUS + 1}, ValueError, "radius must not exceed 16"),
        ({"radius": (1.0, 99.0)}, ValueError, "radius must not exceed 16"),
        ({"learning_rate": (0.1, 0)}, ValueError, "learning_rate must be greater than 0"),
        ({"temperature": "hot"}, TypeError, "temperature must be a number"),
        ({"learn_radius": 1}, TypeError, "learn_radius must be True or False"),
        ({"neighbor_bias": 1.5}, ValueError, "neighbor_bias must be at least 0 and at most 1"),
        ({"engine": "numpy"}, ValueError, "engine must be one of 'auto', 'circle', 'torch'"),
        ({"engine": "circle", "dimension": 3}, ValueError, "needs dimension=2 and equal_radii=True"),
        ({"engine": "circle", "equal_radii": False}, ValueError, "Use engine='torch'"),
        ({"decoder": "greedy", "dimension": 3}, ValueError, "decoder='greedy' needs dimension=2. Got 3"),
        ({"decoder": "circle", "equal_radii": False}, ValueError, "Use decoder='exact'"),
        ({"patience": 0}, ValueError, "patience must be at least 1"),
        ({"n_init": 0}, ValueError, "n_init must be at least 1"),
        ({"refine": 1}, TypeError, "refine must be True, False or a dictionary"),
        ({"checkpoint_every": 0}, ValueError, "checkpoint_every must be at least 1"),
    ],
)
def test_what_cannot_be_used_is_named(changes, error, message):
    with pytest.raises(error, match=message):
        options(**changes)
