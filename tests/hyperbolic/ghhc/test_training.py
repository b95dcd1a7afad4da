"""Options, triples and steps of gHHC's training: what decides them is seed and step alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arbora as ab
from arbora._base.rows import open_rows
from arbora.errors import DivergedError
from arbora.hyperbolic.ghhc import stages
from arbora.hyperbolic.ghhc.options import Options
from arbora.hyperbolic.ghhc.sampling import (
    RowTripleSampler,
    closest_pair_first,
    draw_rows,
    generator,
    nearest_neighbors,
    other_than,
    step_generator,
)
from arbora.hyperbolic.ghhc.train import annealed, restore, train

X = np.random.default_rng(0).normal(size=(60, 4))


def options(**changes):
    return Options.of(ab.GHHC(**{"n_internal": 9, "max_steps": 6, "batch_size": 16, "n_jobs": 1, **changes}))


# ---- triples -----------------------------------------------------------------------------------------------------


def test_every_stream_and_index_has_numbers_of_its_own_that_repeat():
    drawn = {key: generator(*key).random() for key in [(1, 0, 0), (1, 0, 1), (1, 1, 0), (2, 0, 0)]}
    assert len(set(drawn.values())) == 4
    assert generator(1, 0, 1).random() == drawn[1, 0, 1]
    assert step_generator(1, 5).random() == generator(1, 1, 5).random()


@given(st.integers(1, 50), st.integers(1, 60), st.integers(0, 100))
def test_rows_are_drawn_sorted_and_once(n_rows, size, seed):
    rows = draw_rows(n_rows, size, np.random.default_rng(seed))
    assert len(rows) == min(n_rows, size) and (np.diff(rows) > 0).all()
    assert rows.min() >= 0 and rows.max() < n_rows


@given(st.integers(3, 12), st.data())
def test_the_third_is_another_and_every_other_is_possible(n, data):
    first, second = data.draw(st.permutations(range(n)))[:2]
    drawn = np.arange(n - 2)
    found = other_than(np.full(n - 2, first), np.full(n - 2, second), drawn)
    assert sorted(found.tolist()) == sorted(set(range(n)) - {first, second})


@settings(max_examples=30)
@given(st.integers(0, 1000))
def test_the_nearest_pair_comes_first_and_triples_keep_their_members(seed):
    rng = np.random.default_rng(seed)
    points, triples = rng.normal(size=(8, 2)), np.stack([rng.permutation(8)[:3] for _ in range(5)]).T
    found = closest_pair_first(points, triples)
    for before, after in zip(triples.T, found.T):
        assert sorted(before) == sorted(after)
        i, j, k = points[after]
        assert ((i - j) ** 2).sum() <= min(((i - k) ** 2).sum(), ((j - k) ** 2).sum()) + 1e-12


@settings(max_examples=20)
@given(st.integers(2, 15), st.integers(0, 1000))
def test_neighbors_are_the_nearest_other_rows(n, seed):
    points = np.random.default_rng(seed).normal(size=(n, 3))
    k = min(4, n - 1)
    found = nearest_neighbors(points, k)
    distance = np.linalg.norm(points[:, None] - points, axis=2)
    np.fill_diagonal(distance, np.inf)
    np.testing.assert_allclose(
        np.sort(np.take_along_axis(distance, found, axis=1)), np.sort(distance, axis=1)[:, :k], atol=1e-9
    )


def sampler(n_rows=60, pool_size=100, reads=None):
    def read(rows):
        if reads is not None:
            reads.append(len(rows))
        return X[rows]

    return RowTripleSampler(read, n_rows, 7, 5, pool_size, pool_steps=3)


def test_small_data_is_read_once_and_large_data_a_pool_at_a_time():
    reads = []
    small = sampler(reads=reads)
    for step in range(9):
        small.draw(step, 4, step_generator(0, step))
    assert reads == [60]
    reads.clear()
    large = sampler(pool_size=20, reads=reads)
    rows = []
    for step in range(9):
        large.draw(step, 4, step_generator(0, step))
        rows.append(large.rows)
    assert reads == [20, 20, 20]
    assert (rows[0] == rows[2]).all() and (rows[0] != rows[3]).any()


def test_a_step_draws_the_same_whatever_came_before():
    through, resumed = sampler(pool_size=20), sampler(pool_size=20)
    for step in range(7):
        wanted = through.draw(step, 8, step_generator(0, step))
    np.testing.assert_array_equal(resumed.draw(6, 8, step_generator(0, 6)), wanted)
    np.testing.assert_array_equal(resumed.rows, through.rows)


# ---- options -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"n_internal": 0}, ValueError, "n_internal must be at least 1"),
        ({"max_steps": -1}, ValueError, "max_steps must be at least 0"),
        ({"batch_size": 0}, ValueError, "batch_size must be at least 1"),
        ({"learning_rate": 0}, ValueError, "learning_rate must be greater than 0"),
        ({"optimizer": "lbfgs"}, ValueError, "optimizer must be one of 'sgd', 'adam'"),
        ({"temperature": 0}, ValueError, "temperature must be greater than 0"),
        ({"noise": -1}, ValueError, "noise must be at least 0"),
        ({"margin": -1}, ValueError, "margin must be at least 0"),
        ({"margin_weight": -0.5}, ValueError, "margin_weight must be at least 0"),
        ({"n_neighbors": 0}, ValueError, "n_neighbors must be at least 1"),
        ({"pool_size": 2}, ValueError, "pool_size must be at least 3"),
        ({"n_candidates": "all"}, ValueError, "n_candidates must be one of 'auto', None"),
        ({"n_candidates": 1}, ValueError, "n_candidates must be at least 2"),
        ({"norm": 1.5}, ValueError, "norm must be greater than 0 and at most 1"),
        ({"projection": "pca"}, ValueError, "projection must be one of None, 'random', 'learned'"),
        ({"n_components": 0}, ValueError, "n_components must be at least 1"),
        ({"init": "grid"}, ValueError, "init must be one of"),
        ({"init_linkage": "paris"}, ValueError, "init_linkage must be one of"),
        ({"init_sweeps": -1}, ValueError, "init_sweeps must be at least 0"),
        ({"checkpoint_every": 0}, ValueError, "checkpoint_every must be at least 1"),
        ({"verbose": 1}, TypeError, "verbose must be True or False"),
    ],
)
def test_what_cannot_be_used_is_named(changes, error, message):
    with pytest.raises(error, match=message):
        options(**changes)


def test_the_edge_of_the_ball_is_as_far_as_numbers_reach():
    assert options(norm=1.0).norm_in(np.dtype(np.float64)) == 1 - 1e-7
    assert options(norm=1.0).norm_in(np.dtype(np.float32)) == 1 - 1e-4
    assert options(norm=0.5).norm_in(np.dtype(np.float32)) == 0.5


def test_a_plan_is_what_the_options_say():
    chosen = options(projection="learned", n_components=2, n_candidates=5, noise=0.5)
    plan = chosen.plan(seed=3, n_steps=11, anneal=False)
    assert (plan.seed, plan.n_steps, plan.anneal, plan.learn_projection) == (3, 11, False, True)
    assert plan.n_candidates == 5 and plan.noise == 0.5 and plan.batch_size == 16
    assert not options().plan(0, 1).learn_projection


@given(st.integers(0, 100), st.integers(1, 100), st.floats(0, 1))
def test_annealing_falls_from_one_to_its_floor(step, n_steps, floor):
    step = min(step, n_steps)
    assert floor - 1e-12 <= annealed(step, n_steps, floor) <= 1
    assert annealed(0, n_steps, floor) == 1 and annealed(n_steps, n_steps, floor) == pytest.approx(floor)
    assert annealed(0, 0) == 1


# ---- steps -------------------------------------------------------------------------------------------------------


def world(**changes):
    chosen, rows = options(**changes), open_rows(X)
    state = stages.first_state(rows, chosen, seed=5)
    return chosen, rows, state, stages.sampler(rows, state.placement, chosen, 5)


def test_the_start_has_as_many_nodes_as_asked_for_inside_the_ball():
    chosen, rows, state, _ = world()
    assert state.table.nodes.shape == (9, 4) and (np.linalg.norm(state.table.nodes, axis=1) < 1).all()
    assert state.step == 0 and state.costs == []
    assert stages.last_tree(state, rows).n_leaves == 60
    state.table.nodes[0, 0] = np.nan
    assert stages.last_tree(state, rows) is None
    assert chosen.n_internal == 9


@pytest.mark.parametrize(
    "changes", [{}, {"optimizer": "sgd"}, {"n_candidates": 4}, {"projection": "random", "n_components": 2}]
)
def test_stopped_and_resumed_training_ends_where_it_would_have_ended(changes):
    chosen, _, through, triples = world(**changes)
    plan = chosen.plan(5, 6)
    train(plan, through, triples)
    _, _, stopped, triples = world(**changes)
    train(plan, stopped, triples, after_step=lambda state: state.step == 3)
    assert stopped.step == 3
    saved = {name: np.asarray(value) for name, value in stopped.arrays().items()}
    resumed = restore(plan, saved, stopped.placement.norm)
    _, _, _, triples = world(**changes)
    train(plan, resumed, triples)
    np.testing.assert_array_equal(resumed.table.nodes, through.table.nodes)
    assert resumed.costs == through.costs and len(through.costs) == 6


def test_nodes_move_and_stay_inside():
    chosen, _, state, triples = world(max_steps=20)
    before = state.table.nodes.copy()
    train(chosen.plan(5, 20), state, triples)
    assert (state.table.nodes != before).any()
    assert np.linalg.norm(state.table.nodes, axis=1).max() < 1


def test_training_that_diverges_names_the_step():
    chosen, _, state, triples = world()
    with pytest.raises(DivergedError, match=r"Training turned non-finite at step 2. Lower learning_rate"):
        train(
            chosen.plan(5, 6),
            state,
            triples,
            after_step=lambda s: s.step == 2 and bool(s.table.nodes.fill(np.nan)),
        )


def test_a_learned_projection_follows_the_points():
    chosen, rows, state, triples = world(projection="learned", n_components=2)
    before = state.placement.projection.copy()
    train(chosen.plan(5, 4), state, triples, read_raw=rows.take)
    assert state.placement.projection.shape == before.shape and (state.placement.projection != before).any()
    ratio = np.linalg.norm(state.placement.projection - before) / np.linalg.norm(before)
    assert ratio < 0.3, "it follows slowly"
