"""Every move's gain against recomputing the whole cost, and cached arrays against fresh ones."""

import numpy as np
import pytest
from graphs import random_graph
from hypothesis import given
from hypothesis import strategies as st
from kernels import opened
from trees import chain, insert_above, random_tree, steepest_rise_by_definition, trees

import arbora as ab
from arbora.search import (
    _bound_kernels,
    _gather_kernels,
    _graph_kernels,
    _insertion_kernels,
    _near_kernels,
    _open_kernels,
)
from arbora.search._state import OBJECTIVES, attach, detach, make_state, to_tree
from arbora.search.engines import FeatureEngine, GraphEngine
from arbora.search.moves import Moves
from arbora.search.run import Run


def cost_by_definition(tree, similarity, objective):
    if objective == "tsd":
        return -ab.metrics.tree_sampling_divergence(tree, similarity, normalize=False)
    return ab.metrics.dasgupta_cost(tree, similarity)


def assert_caches_are_fresh(state, tree, engine):
    fresh = engine.state(tree)
    used = np.setdiff1d(np.arange(len(state.nodes)), state.free[: state.numbers[0]])
    for name in ("size", "cross", "spread"):
        cached, recomputed = (
            np.sort(s.nodes[name][nodes]) for s, nodes in ((state, used), (fresh, np.arange(tree.n_nodes)))
        )
        np.testing.assert_allclose(cached, recomputed, atol=1e-9, err_msg=name)


@given(
    trees(min_leaves=3, max_leaves=14),
    st.integers(0, 10**6),
    st.sampled_from(["dasgupta", "tsd"]),
    st.booleans(),
    st.sampled_from([0.0, 0.1, 2.0]),
)
def test_the_gain_of_the_best_move_is_what_the_whole_cost_falls_by(tree, seed, objective, loops, price):
    rng = np.random.default_rng(seed)
    graph = random_graph(tree.n_leaves, rng, loops=loops)
    if graph.total == 0:
        return
    engine = GraphEngine(graph, objective)
    arrays = engine._arrays._replace(price=price)
    before = cost_by_definition(tree, graph, objective) + price * tree.n_internal
    for subtree in range(tree.n_nodes - 1):
        state = engine.state(tree)
        work = _gather_kernels.make_work(tree.n_leaves, len(state.nodes))
        target, as_child, cost, cost_now, _ = opened(_graph_kernels.find_best_place)(
            state, arrays, work, subtree, OBJECTIVES[objective]
        )
        if not cost < cost_now - 1e-9 * abs(cost_now):
            continue
        if work.nodes["mark"][target] != work.clock[0]:
            work.nodes["weight"][target] = 0.0
        opened(detach)(state, subtree, work.nodes, -1)
        opened(attach)(state, subtree, target, as_child, work.nodes, -1)
        moved = to_tree(state, tree)
        after = cost_by_definition(moved, graph, objective) + price * moved.n_internal
        np.testing.assert_allclose(before - after, cost_now - cost, atol=1e-9)
        assert_caches_are_fresh(state, moved, engine)


@given(
    trees(min_leaves=3, max_leaves=20),
    st.integers(0, 10**6),
    st.booleans(),
    st.sampled_from([0.0, 0.3, 5.0]),
)
def test_stopping_the_climb_early_never_misses_a_better_place(tree, seed, capped, price):
    rng = np.random.default_rng(seed)
    engine = GraphEngine(random_graph(tree.n_leaves, rng, density=0.3))
    state = engine.state(tree, tree.n_internal if capped else None)
    work = _gather_kernels.make_work(tree.n_leaves, len(state.nodes))
    _near_kernels.update_rise(state, work)
    arrays = engine._arrays._replace(price=price)
    for subtree in range(tree.n_nodes - 1):
        *_, cost, cost_now, _ = opened(_graph_kernels.find_best_place)(state, arrays, work, subtree, 0)
        n_marked = opened(_near_kernels.mark_near)(state.nodes, arrays, work, subtree, 10**9)
        *_, near_cost, near_now = opened(_near_kernels.best_of_climb)(state, work, n_marked, subtree, price)
        np.testing.assert_allclose(max(near_now - near_cost, 0), max(cost_now - cost, 0), atol=1e-9)


@given(trees(min_leaves=2, max_leaves=25), st.integers(0, 10**6))
def test_steepest_rise_equals_its_definition(tree, seed):
    engine = GraphEngine(random_graph(tree.n_leaves, np.random.default_rng(seed)))
    state = engine.state(tree)
    work = _gather_kernels.make_work(tree.n_leaves, len(state.nodes))
    _near_kernels.update_rise(state, work)
    expected = steepest_rise_by_definition(tree, engine.graph.cross(tree))
    np.testing.assert_allclose(work.nodes["rise"][: tree.n_nodes], expected, atol=1e-12)


@given(
    trees(min_leaves=1, max_leaves=14),
    st.integers(0, 10**6),
    st.sampled_from(["dasgupta", "tsd"]),
    st.booleans(),
)
def test_after_sweeps_on_a_graph_the_cost_is_lower_and_the_cap_kept(tree, seed, objective, capped):
    graph = random_graph(tree.n_leaves, np.random.default_rng(seed), loops=True)
    if graph.total == 0:
        return
    engine = GraphEngine(graph, objective)
    cap = tree.n_internal if capped else None
    found = engine.improve(tree, Run(), Moves(n_internal=cap))
    assert engine.costs(found).sum() <= engine.costs(tree).sum() + 1e-9
    np.testing.assert_allclose(
        engine.costs(found).sum(), cost_by_definition(found, graph, objective), atol=1e-9
    )
    assert not capped or found.n_internal <= tree.n_internal


@given(trees(min_leaves=1, max_leaves=14), st.integers(0, 10**6), st.booleans())
def test_after_sweeps_on_features_the_cost_is_that_of_a_graph_of_all_pairs(tree, seed, capped):
    X = np.random.default_rng(seed).normal(size=(tree.n_leaves, 3))
    similarity = ab.similarity.cosine(X)
    cap = tree.n_internal if capped else None
    found = FeatureEngine(similarity).improve(tree, Run(), Moves(n_internal=cap))
    assert ab.metrics.dasgupta_cost(found, similarity) <= ab.metrics.dasgupta_cost(tree, similarity) + 1e-9
    assert not capped or found.n_internal <= tree.n_internal


@given(st.integers(2, 40), st.integers(0, 10**6))
def test_branch_and_bound_finds_the_best_of_all_insertions(n, seed):
    rng = np.random.default_rng(seed)
    similarity = ab.similarity.cosine(rng.normal(size=(n + 1, 3)))
    tree = random_tree(n, rng)
    state = make_state(
        tree, FeatureEngine(similarity).restrict(np.arange(n)).similarity.cross(tree), np.ones(n), 0
    )
    features = _bound_kernels.make_features(
        similarity.features[:n], np.ones(n), tree.parent, len(state.nodes)
    )
    _bound_kernels.fill_bounds(state, features, n, tree.n_nodes)
    target = np.empty(1, dtype=np.int64)
    stack = _open_kernels.make_stack(len(state.nodes))
    rows = np.ascontiguousarray(similarity.features[n:], dtype=np.float64)
    _insertion_kernels.place_rows(state, features, stack, tree.root, rows, 0, 1, target)
    costs = [ab.metrics.dasgupta_cost(insert_above(tree, node), similarity) for node in range(tree.n_nodes)]
    assert costs[target[0]] == pytest.approx(min(costs), rel=1e-12)


def test_a_deep_chain_is_searched_without_trouble():
    n = 3000
    rng = np.random.default_rng(0)
    rows = np.arange(n - 1)
    graph = ab.similarity.graph((rows, rows + 1, rng.random(n - 1)))
    start = chain(n)
    found = GraphEngine(graph).improve(start, Run(), Moves(max_sweeps=3))
    assert ab.metrics.dasgupta_cost(found, graph) < 0.1 * ab.metrics.dasgupta_cost(start, graph)


def test_no_more_subtrees_are_tried_than_allowed():
    n = 3000
    dirty = np.ones(2 * n - 1, dtype=bool)
    tried = []

    def regraft(subtrees):
        # every subtree moves, and makes all others worth another try
        tried.append(int(dirty[subtrees].sum()))
        return len(subtrees)

    moves = Moves(max_tries=500)
    moves.sweep_over(random_tree(n, np.random.default_rng(0)), regraft, dirty, Run())
    # a piece that was begun is finished
    assert sum(tried) - tried[-1] < 500 <= sum(tried)
