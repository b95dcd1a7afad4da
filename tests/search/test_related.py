"""No join of unrelated points where a related place exists."""

import numpy as np
import pytest
import scipy.sparse as sp
from graphs import random_graph
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import leaf_sets, random_tree, trees

import arbora as ab
from arbora.search._region_kernels import Reach
from arbora.search.constraints import Links
from arbora.search.engines import GraphEngine
from arbora.search.moves import Moves
from arbora.search.multilevel import Levels, improve_by_levels
from arbora.search.parts import Kept
from arbora.search.refine import Effort, Task, improved
from arbora.search.regions import Phase, RegionSearch
from arbora.search.related import join_related, unrelated_joins, unrelated_sides
from arbora.search.run import Run

SMALL_LEVELS = Levels(large=200, block=120, pieces=(60, 8), moved_at_once=4)


def unrelated_by_definition(tree, graph):
    W = graph.csr.toarray()
    below = leaf_sets(tree)
    found = []
    for node in range(tree.n_leaves, tree.n_nodes):
        inside = sorted(below[node])
        children = [sorted(below[child]) for child in range(tree.n_nodes) if tree.parent[child] == node]
        meets = any(W[np.ix_(a, b)].any() for k, a in enumerate(children) for b in children[k + 1 :])
        outside = np.setdiff1d(np.arange(tree.n_leaves), inside)
        found.append(not meets and bool(W[np.ix_(inside, outside)].any()))
    return np.array(found, dtype=bool)


@given(trees(min_leaves=2, max_leaves=20), st.integers(0, 10**6), st.booleans())
def test_unrelated_joins_equal_their_definition(tree, seed, loops):
    graph = random_graph(tree.n_leaves, np.random.default_rng(seed), density=0.15, loops=loops)
    expected = unrelated_by_definition(tree, graph)
    np.testing.assert_array_equal(unrelated_joins(tree, graph), expected)
    found = unrelated_sides(tree, graph)
    for node in range(tree.n_leaves, tree.n_nodes):
        children = tree.children(node)
        moved = np.intersect1d(children, found)
        assert len(moved) == (len(children) - 1 if expected[node - tree.n_leaves] else 0)
        if len(moved):
            stays = np.setdiff1d(children, moved)
            assert tree.sizes[stays].min() >= tree.sizes[moved].max()


@settings(max_examples=60)
@given(trees(min_leaves=3, max_leaves=30), st.integers(0, 10**6))
def test_any_tree_is_repaired_and_never_costs_more(tree, seed):
    graph = random_graph(tree.n_leaves, np.random.default_rng(seed), density=0.1)
    engine, tree = GraphEngine(graph), tree.binarize()
    repaired = join_related(engine, tree, Run())
    assert not unrelated_joins(repaired, graph).any()
    assert engine.costs(repaired).sum() <= engine.costs(tree).sum() * (1 + 1e-12)


@settings(max_examples=40)
@given(trees(min_leaves=3, max_leaves=30), st.integers(0, 10**6), st.data())
def test_a_few_subtrees_find_places_as_good_without_what_ends_climbs_early(tree, seed, data):
    engine = GraphEngine(random_graph(tree.n_leaves, np.random.default_rng(seed), density=0.2))
    tree = tree.binarize()
    around = np.array([data.draw(st.integers(0, tree.n_nodes - 2))])
    costs = []
    for climbs_little in (False, True):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Moves, "climb_little", lambda self, tree, answer=climbs_little: answer)
            moved = engine.improve(tree, Run(), Moves(around=around, spreads=False, max_sweeps=1))
        costs.append(engine.costs(moved).sum())
    np.testing.assert_allclose(costs[0], costs[1], rtol=1e-12)


def test_only_few_small_subtrees_of_a_large_tree_climb_little():
    tree = random_tree(3000, np.random.default_rng(0))
    leaf, root = np.array([5]), np.array([tree.root])
    assert Moves(around=leaf, spreads=False).climb_little(tree)
    assert not Moves(around=leaf).climb_little(tree)
    assert not Moves(around=root, spreads=False).climb_little(tree)
    assert not Moves().climb_little(tree)


def test_the_sums_of_the_last_tree_are_remembered():
    engine = GraphEngine(random_graph(12, np.random.default_rng(0), density=0.5))
    one, other = (random_tree(12, np.random.default_rng(seed)) for seed in (1, 2))
    known = engine.cross(one)
    assert engine.cross(one) is known
    np.testing.assert_array_equal(engine.cross(other), engine.graph.cross(other))
    np.testing.assert_array_equal(engine.cross(one), known)


def points(n=900, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(12, 6))[rng.integers(0, 12, n)] + 0.5 * rng.normal(size=(n, 6))


def test_a_search_by_levels_with_one_sweep_leaves_none():
    graph = ab.similarity.knn(points(), 6)
    start = random_tree(900, np.random.default_rng(1))
    engine = GraphEngine(graph)
    searched = improve_by_levels(
        engine, start, Run(), np.random.default_rng(0), levels=SMALL_LEVELS, max_sweeps=1
    )
    task = Task("dasgupta", None, 1, None, 0, Links(), Kept())
    found = improved(start, graph, task, Effort(), 0, levels=SMALL_LEVELS).tree
    assert not unrelated_joins(found, graph).any()
    assert engine.costs(found).sum() <= engine.costs(searched).sum()


def test_regions_repair_joins_of_unrelated_points_as_they_are():
    graph = ab.similarity.knn(points(), 6)
    start = random_tree(900, np.random.default_rng(1)).binarize()
    search = RegionSearch(start, graph.csr, np.ones(900))
    search.search([Phase(100), Phase(900)], Reach(max_size=16), Run())
    unrepaired = search.tree()
    assert unrelated_joins(unrepaired, graph).sum() > 0
    search.relate(Run())
    repaired = search.tree()
    assert not unrelated_joins(repaired, graph).any()
    costs = [ab.metrics.dasgupta_cost(tree, graph) for tree in (repaired, unrepaired)]
    assert costs[0] < costs[1]


def test_regions_of_a_graph_without_weights_have_nothing_to_repair():
    start = random_tree(8, np.random.default_rng(0)).binarize()
    search = RegionSearch(start, sp.csr_array((8, 8)), np.ones(8))
    before = search.tree()
    search.relate(Run())
    assert search.tree() == before


def test_a_search_whose_time_is_up_leaves_none():
    graph = ab.similarity.knn(points(), 6)
    found = ab.refine(random_tree(900, np.random.default_rng(1)), graph, max_seconds=0.0)
    assert not unrelated_joins(found, graph).any()


def test_components_are_joined_above_what_is_related():
    rows, columns = np.array([0, 1, 3, 4]), np.array([1, 2, 4, 5])
    graph = ab.similarity.graph((rows, columns, np.ones(4)), n_points=7)
    mixed = ab.Tree.from_merges([(0, 3), (1, 4), (2, 5), (7, 8), (10, 9), (11, 6)])
    repaired = join_related(GraphEngine(graph), mixed, Run())
    assert not unrelated_joins(repaired, graph).any()
    assert {0, 1, 2} in leaf_sets(repaired) and {3, 4, 5} in leaf_sets(repaired)


def test_a_graph_without_edges_has_nothing_to_repair():
    empty = ab.similarity.graph(sp.csr_array((5, 5)))
    tree = random_tree(5, np.random.default_rng(0))
    assert join_related(GraphEngine(empty), tree, Run()) is tree
