"""The better parts of two trees, and what perturbs a search."""

import itertools

import numpy as np
import pytest
from graphs import random_graph
from hypothesis import assume, given
from hypothesis import strategies as st
from trees import random_tree, trees

import arbora as ab
from arbora.search.engines import FeatureEngine, GraphEngine, symmetric_draw
from arbora.search.fuse import best_within, common_clades, fuse, new_clades
from arbora.search.moves import Moves
from arbora.search.run import Run


def clades_of(tree):
    return {frozenset(tree.leaves(node).tolist()): node for node in range(tree.n_nodes)}


def shaken(tree, engine, seed):
    """The tree a few moves on: some of its clades stay, others do not."""
    rng = np.random.default_rng(seed)
    perturbed, touched = engine.perturb(0.2, rng)
    return perturbed.improve(tree, Run(), Moves(max_sweeps=1, rng=rng, around=touched))


@given(trees(min_leaves=2, max_leaves=25), st.integers(0, 10**6))
def test_common_clades_are_those_with_equal_leaves(tree, seed):
    engine = GraphEngine(random_graph(tree.n_leaves, np.random.default_rng(seed)))
    other = shaken(tree, engine, seed)
    first, second = clades_of(tree), clades_of(other)
    expected = {(first[clade], second[clade]) for clade in first.keys() & second.keys()}
    assert set(zip(*(nodes.tolist() for nodes in common_clades(tree, other)))) == expected
    assert set(new_clades(other, tree)) == {second[clade] for clade in second.keys() - first.keys()}


def best_mixture(first, first_costs, second, second_costs, n_internal):
    """Least cost over every choice, for each common clade, of the tree that resolves it."""
    common = clades_of(first).keys() & clades_of(second).keys()

    def sectors(tree, costs):
        found = {clade: [0.0, 0] for clade in common}
        for clade, node in clades_of(tree).items():
            around = min((c for c in common if clade <= c), key=len)
            found[around][0] += costs[node]
            found[around][1] += node >= tree.n_leaves
        return found

    mine, other = sectors(first, first_costs), sectors(second, second_costs)
    open_sectors = [clade for clade in common if mine[clade] != other[clade]]
    best = np.inf
    for choice in itertools.product((mine, other), repeat=len(open_sectors)):
        taken = [chosen[clade] for chosen, clade in zip(choice, open_sectors)]
        rest = [mine[clade] for clade in common if clade not in open_sectors]
        if n_internal is None or sum(count for _, count in taken + rest) <= n_internal:
            best = min(best, sum(cost for cost, _ in taken + rest))
    return best


@given(trees(min_leaves=3, max_leaves=14), st.integers(0, 10**6), st.sampled_from(["dasgupta", "tsd"]))
def test_without_a_cap_the_fused_tree_is_the_best_mixture(tree, seed, objective):
    graph = random_graph(tree.n_leaves, np.random.default_rng(seed), loops=True)
    assume(graph.total > 0)
    engine = GraphEngine(graph, objective)
    other = shaken(tree, engine, seed)
    costs = engine.costs(tree), engine.costs(other)
    fused = fuse(tree, costs[0], other, costs[1])
    expected = best_mixture(tree, costs[0], other, costs[1], None)
    np.testing.assert_allclose(engine.costs(fused).sum(), expected, atol=1e-9)


@given(trees(min_leaves=3, max_leaves=14), st.integers(0, 10**6))
def test_with_a_cap_the_fused_tree_keeps_it_and_is_never_worse(tree, seed):
    engine = GraphEngine(random_graph(tree.n_leaves, np.random.default_rng(seed)))
    other = shaken(tree, engine, seed)
    costs = engine.costs(tree), engine.costs(other)
    fused = fuse(tree, costs[0], other, costs[1], tree.n_internal)
    assert fused.n_internal <= tree.n_internal
    cost = engine.costs(fused).sum()
    assert cost <= costs[0].sum() + 1e-9
    assert cost >= best_mixture(tree, costs[0], other, costs[1], tree.n_internal) - 1e-9


@given(st.integers(0, 10**6))
def test_rounding_never_takes_more_nodes_than_there_is_room_for(seed):
    rng = np.random.default_rng(seed)
    gain, nodes = rng.normal(size=6) / 3, rng.integers(-3, 6, size=6)
    assert nodes[best_within(gain, nodes, 0)].sum() <= 0


def test_an_exchange_at_a_loss_frees_the_node_for_one_that_gains_more():
    gain, nodes = np.array([10.0, -1.0, 2.0, -5.0]), np.array([1, -1, 1, -1])
    assert best_within(gain, nodes, 0).tolist() == [True, True, False, False]
    assert best_within(gain, nodes, 1).tolist() == [True, True, True, False]
    assert best_within(gain, nodes, 2).tolist() == [True, False, True, False]


@given(st.integers(0, 10**6), st.integers(0, 3))
def test_exchanges_fit_and_gain(seed, room):
    rng = np.random.default_rng(seed)
    gain, nodes = rng.integers(-5, 9, 8).astype(float), rng.integers(-2, 3, 8)
    taken = best_within(gain, nodes, room)
    assert nodes[taken].sum() <= room and gain[taken].sum() >= 0
    thrifty = (gain > 0) & (nodes <= 0)
    assert gain[taken].sum() >= gain[thrifty].sum()


def test_a_draw_is_symmetric_and_of_the_asked_share():
    i, j = (index.ravel() for index in np.indices((300, 300)))
    drawn = symmetric_draw(i, j, 7, 0.1).reshape(300, 300)
    np.testing.assert_array_equal(drawn, drawn.T)
    assert abs(drawn.mean() - 0.1) < 0.01
    assert not np.array_equal(drawn, symmetric_draw(i, j, 8, 0.1).reshape(300, 300))
    assert symmetric_draw(i, j, 7, 1.0).mean() > 0.9999 and not symmetric_draw(i, j, 7, 0.0).any()


@pytest.mark.parametrize("objective", ("dasgupta", "tsd"))
def test_a_perturbed_engine_is_that_of_the_graph_with_doubled_edges(objective):
    engine = GraphEngine(random_graph(40, np.random.default_rng(0)), objective)
    perturbed, touched = engine.perturb(0.1, np.random.default_rng(1))
    ratio = perturbed.graph.csr.toarray() / np.where(
        engine.graph.csr.toarray() > 0, engine.graph.csr.toarray(), 1
    )
    assert set(np.unique(ratio)) == {0.0, 1.0, 2.0}
    np.testing.assert_array_equal(touched, np.flatnonzero((ratio == 2).any(axis=1)))
    tree = random_tree(40, np.random.default_rng(2))
    fresh = GraphEngine(perturbed.graph, objective)
    np.testing.assert_allclose(perturbed.costs(tree), fresh.costs(tree), atol=1e-12)


def test_a_perturbed_feature_engine_doubles_the_similarities_of_the_points_it_names():
    engine = FeatureEngine(ab.similarity.cosine(np.random.default_rng(0).random((20, 3))))
    perturbed, touched = engine.perturb(0.3, np.random.default_rng(1))
    factor = np.where(np.isin(np.arange(20), touched), 2.0, 1.0)
    np.testing.assert_allclose(perturbed.similarity.features, factor[:, None] * engine.similarity.features)


@given(trees(min_leaves=3, max_leaves=12), st.integers(0, 10**6), st.sampled_from([0.05, 1.0]))
def test_a_price_on_nodes_never_lets_the_priced_cost_rise(tree, seed, price):
    rng = np.random.default_rng(seed)
    features = ab.similarity.cosine(rng.random((tree.n_leaves, 3)) + 0.01)
    for engine in (GraphEngine(random_graph(tree.n_leaves, rng)), FeatureEngine(features)):
        priced = [
            engine.costs(t).sum() + price * t.n_internal
            for t in (engine.improve(tree, Run(), Moves(price=price)), tree)
        ]
        assert priced[0] <= priced[1] + 1e-9
