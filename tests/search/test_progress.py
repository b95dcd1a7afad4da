"""What a search reports while it runs, and how it resumes after a stop."""

import itertools
import os
import signal
import time

import numpy as np
import pytest
from trees import random_tree

import arbora as ab
from arbora.errors import FormatError, Interrupted
from arbora.search.engines import GraphEngine
from arbora.search.moves import short_chunks
from arbora.search.multilevel import LEVELS, Levels
from arbora.search.refine import Effort, Task, improved
from arbora.search.run import Run, ShareDone, Watch, started

RNG = np.random.default_rng(0)
POINTS = RNG.normal(size=(6, 5))[RNG.integers(0, 6, 300)] + 0.7 * RNG.normal(size=(300, 5))
GRAPH = ab.similarity.knn(POINTS, 5)
SMALL_LEVELS = Levels(large=200, block=60, pieces=(40, 10))


def search(levels, n_perturbations=3, **options):
    """A search of which the size of the levels can be chosen."""
    task = Task(n_perturbations=n_perturbations)
    return improved(ab.linkage(GRAPH), GRAPH, task, Effort(), 3, levels=levels, **options).tree


class Stopped(Exception):
    """Stands for a machine that goes down."""


def stop_at(count, problem=Stopped):
    """A callback that ends the program when it is called for the `count`-th time."""
    calls = iter(range(count))

    def report(stage, done, total):
        if stage == "refine" and next(calls, None) is None:
            raise problem

    return report


@pytest.mark.parametrize("limits", ({}, {"n_perturbations": 3}, {"max_seconds": 0.5}))
def test_shares_never_fall_and_every_stage_ends(limits):
    reported = []
    ab.cluster(
        POINTS, random_state=0, progress=lambda stage, done, total: reported.append((stage, done)), **limits
    )
    assert list(dict(reported)) == ["similarity", "average linkage", "refine", "components"]
    for stage in dict(reported):
        shares = [share for name, share in reported if name == stage]
        assert shares[0] == 0 and shares[-1] == 1
        assert all(a <= b for a, b in itertools.pairwise(shares))
    assert sum(0 < share < 1 for stage, share in reported if stage == "refine") > 3


def test_parts_move_the_share_in_turn():
    reported = []
    tree = ab.linkage(GRAPH)
    ab.refine(tree, GRAPH, keep_top=4, progress=lambda stage, done, total: reported.append((done, total)))
    assert reported[0] == (0, 1) and reported[-1] == (1, 1)
    assert len({done for done, _ in reported}) > 4


def test_a_search_by_levels_moves_through_its_levels():
    reported = []
    search(SMALL_LEVELS, 0, progress=lambda stage, done, total: reported.append(done))
    assert any(0 < share < 0.6 for share in reported) and any(0.75 < share < 1 for share in reported)


@pytest.mark.parametrize("problem", (Stopped, KeyboardInterrupt))
@pytest.mark.parametrize("levels", (LEVELS, SMALL_LEVELS))
def test_a_search_stopped_anywhere_resumes_to_the_same_tree(tmp_path, levels, problem):
    reported = []
    whole = search(levels, progress=lambda stage, done, total: reported.append(stage))
    saved = []
    for count in np.linspace(1, len(reported) - 2, 5).astype(int):
        folder = tmp_path / str(count)
        with pytest.raises(Interrupted if problem is KeyboardInterrupt else Stopped):
            search(levels, checkpoint=folder, progress=stop_at(count, problem))
        saved = set(os.listdir(folder))
        resumed = search(levels, checkpoint=folder)
        np.testing.assert_array_equal(resumed.parent, whole.parent)
        np.testing.assert_array_equal(resumed.height, whole.height)
        assert saved < set(os.listdir(folder))
    assert len(saved) > 2, "the latest stop did leave steps to resume from"


def test_cluster_resumes_from_its_checkpoint(tmp_path):
    whole = ab.cluster(POINTS, random_state=3, n_perturbations=3)
    with pytest.raises(Stopped):
        ab.cluster(POINTS, random_state=3, n_perturbations=3, checkpoint=tmp_path, progress=stop_at(10))
    resumed = ab.cluster(POINTS, random_state=3, n_perturbations=3, checkpoint=tmp_path)
    np.testing.assert_array_equal(resumed.parent, whole.parent)


def test_a_finished_search_is_not_repeated(tmp_path, monkeypatch):
    start = ab.linkage(GRAPH)
    options = {"n_perturbations": 2, "random_state": 0, "checkpoint": tmp_path}
    first = ab.refine(start, GRAPH, **options)

    def refuse(*args, **kwargs):
        raise AssertionError("searched again")

    monkeypatch.setattr(GraphEngine, "improve", refuse)
    assert ab.refine(start, GRAPH, **options).same_topology(first)


def test_an_unseeded_search_resumes_with_the_seed_it_began_with(tmp_path):
    start = random_tree(300, np.random.default_rng(1))
    with pytest.raises(Stopped):
        ab.refine(start, GRAPH, n_perturbations=2, checkpoint=tmp_path, progress=stop_at(8))
    once = ab.refine(start, GRAPH, n_perturbations=2, checkpoint=tmp_path)
    again = ab.refine(start, GRAPH, n_perturbations=2, checkpoint=tmp_path)
    np.testing.assert_array_equal(once.parent, again.parent)


def test_another_search_is_refused(tmp_path):
    start = ab.linkage(GRAPH)
    options = {"random_state": 0, "checkpoint": tmp_path, "max_sweeps": 1, "n_internal": 12}
    ab.refine(start, GRAPH, **options)
    others = (
        {"n_perturbations": 1},
        {"random_state": 1},
        {"objective": "tsd"},
        {"max_sweeps": 11, "n_internal": 2},
        {"sample_weight": np.ones(300)},
        {"n_internal": None, "must_link": [(0, 1)]},
        {"n_internal": None, "keep_top": 3},
    )
    for other in others:
        with pytest.raises(ValueError, match="belongs to other work"):
            ab.refine(start, GRAPH, **{**options, **other})
    with pytest.raises(ValueError, match="belongs to other work"):
        ab.refine(start, ab.similarity.knn(POINTS + 1e-3 * POINTS**2, 5), **options)
    with pytest.raises(ValueError, match="belongs to other work"):
        ab.refine(random_tree(300, RNG), GRAPH, **options)


def test_a_damaged_step_is_named(tmp_path):
    start = ab.linkage(GRAPH)
    options = {"random_state": 0, "checkpoint": tmp_path}
    ab.refine(start, GRAPH, **options)
    step = tmp_path / "step0000.npz"
    whole = step.read_bytes()
    step.write_bytes(whole[:100])
    with pytest.raises(FormatError, match=r"step0000\.npz"):
        ab.refine(start, GRAPH, **options)


def test_ctrl_c_is_noticed_within_a_second_and_the_handler_is_restored():
    X = np.random.default_rng(0).normal(size=(4000, 8))
    graph = ab.similarity.knn(X, 15)
    start = random_tree(4000, np.random.default_rng(0))
    ab.refine(random_tree(300, np.random.default_rng(1)), GRAPH, random_state=0)
    pressed = []

    def press(stage, done, total):
        if done > 0 and not pressed:
            # CPU seconds: a busy machine changes the clock
            pressed.append(time.process_time())
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(Interrupted) as stop:
        ab.refine(start, graph, n_perturbations=10_000, progress=press)
    assert time.process_time() - pressed[0] < 3
    assert ab.metrics.dasgupta_cost(stop.value.tree, graph) <= ab.metrics.dasgupta_cost(start, graph)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_ctrl_c_interrupts_at_once():
    with pytest.raises(KeyboardInterrupt), started("refine") as run:
        signal.raise_signal(signal.SIGINT)
        assert run.is_over
        signal.raise_signal(signal.SIGINT)


def test_a_handler_of_the_program_is_left_alone():
    calls = []
    before = signal.signal(signal.SIGINT, lambda number, frame: calls.append(number))
    try:
        with Watch().listening():
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
    assert calls == [signal.SIGINT]


def test_portions_nest():
    shares = ShareDone()
    with shares.portion(0.5, 1), shares.portion(0, 0.5):
        assert shares.within(0) == 0.5 and shares.within(1) == 0.75
    assert shares.within(1) == 1


def test_a_run_without_a_deadline_has_time():
    run = Run()
    assert run.has_time() and not run.is_timed and not run.is_over


def test_chunks_cover_everything_in_order_and_shrink_where_work_is_slow(monkeypatch):
    clock = itertools.count()
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(clock)))
    chunks = list(short_chunks(np.arange(5000)))
    np.testing.assert_array_equal(np.concatenate(chunks), np.arange(5000))
    assert len(chunks[-2]) < len(chunks[0])
