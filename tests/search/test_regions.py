"""Search by regions: exact places, exact sums, nothing touched outside, the same tree on any number of threads."""

import sys
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import random_tree, steepest_rise_by_definition

import arbora as ab
from arbora.search import regions
from arbora.search._region_kernels import Reach
from arbora.search.engines import GraphEngine
from arbora.search.multilevel import Levels, improve_by_levels
from arbora.search.refine import Effort, Task, improved
from arbora.search.regions import Phase, RegionSearch
from arbora.search.run import Run
from arbora.similarity import GraphSimilarity

SMALL_LEVELS = Levels(large=100, block=40, pieces=(32, 8), growth=4)
# everything by regions, nothing by levels
ONLY_REGIONS = Levels(regions=10, block=240, growth=6)


def random_graph(n, rng, degree=5.0):
    W = np.triu(rng.random((n, n)) * (rng.random((n, n)) < degree / n), 1)
    return sp.csr_array(W + W.T)


def clustered_graph(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n // 25, 5))[rng.integers(0, n // 25, n)] + 0.6 * rng.normal(size=(n, 5))
    return ab.similarity.knn(X, 6)


def best_cost_of_moving(tree, node, graph):
    """Least cost among all trees in which the subtree at `node` is put elsewhere, by trying every edge."""
    parent, n = tree.parent.copy(), tree.n_leaves
    home = parent[node]
    sibling = next(child for child in tree.children(home) if child != node)
    below = {node, home}
    for v in range(node - 1, -1, -1):
        if parent[v] in below - {home}:
            below.add(v)
    parent[sibling] = parent[home]
    costs = []
    for target in set(range(tree.n_nodes)) - below:
        moved = parent.copy()
        moved[home], moved[target], moved[node] = moved[target], home, home
        costs.append(ab.metrics.dasgupta_cost(ab.Tree.from_parents(moved, n, sort=True), graph))
    return min(costs)


@given(st.integers(2, 60), st.integers(0, 10**6), st.integers(1, 3), st.sampled_from([2, 8, 64]))
def test_the_rise_of_each_node_equals_its_definition_in_any_number_of_threads(n, seed, n_threads, n_parts):
    rng = np.random.default_rng(seed)
    csr, tree = random_graph(n, rng), random_tree(n, rng).binarize()
    search = RegionSearch(tree, csr, np.ones(n), n_threads)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(regions, "_SHARED_FROM_NODES", 0)
        patch.setattr(regions, "_SMALL_SUBTREES", n_parts)
        search._set_rise()
    found = search.nodes["rise"][[search.number_of(node) for node in range(tree.n_nodes)]]
    expected = steepest_rise_by_definition(tree, GraphSimilarity(csr).cross(tree))
    np.testing.assert_allclose(found, expected, atol=1e-12)


@settings(max_examples=60)
@given(st.integers(3, 14), st.integers(0, 10**6), st.sampled_from([0, 5, 1000]))
def test_a_subtree_goes_to_the_best_of_all_places(n, seed, max_walked):
    rng = np.random.default_rng(seed)
    csr, tree = random_graph(n, rng), random_tree(n, rng).binarize()
    graph = GraphSimilarity(csr)
    node = int(rng.integers(0, tree.n_nodes - 1))
    search = RegionSearch(tree, csr, np.ones(n))
    search.flags.dirty[:] = False
    search.flags.dirty[search.number_of(node)] = True
    search.search([Phase(n)], Reach(max_walked=max_walked), Run())
    expected = min(best_cost_of_moving(tree, node, graph), ab.metrics.dasgupta_cost(tree, graph))
    assert ab.metrics.dasgupta_cost(search.tree(), graph) == pytest.approx(expected)


@settings(max_examples=30)
@given(st.integers(3, 60), st.integers(0, 10**6), st.sampled_from([0, 12, 1000]))
def test_sizes_and_crosses_stay_those_of_the_tree(n, seed, max_walked):
    rng = np.random.default_rng(seed)
    csr, tree = random_graph(n, rng), random_tree(n, rng).binarize()
    weights = rng.random(n) + 0.1
    search = RegionSearch(tree, csr, weights)
    search.search([Phase(max(3, n // 4), 2), Phase(n, 2)], Reach(max_walked=max_walked), Run())
    nodes, found = search.nodes, search.tree()
    cost = ab.metrics.dasgupta_cost(found, GraphSimilarity(csr), sample_weight=weights)
    assert (nodes["size"] * nodes["cross"]).sum() == pytest.approx(cost)
    before = ab.metrics.dasgupta_cost(tree, GraphSimilarity(csr), sample_weight=weights)
    assert cost <= before * (1 + 1e-12)


def test_a_search_of_regions_changes_nothing_above_them():
    csr = clustered_graph(300).csr
    tree = random_tree(300, np.random.default_rng(0)).binarize()
    search = RegionSearch(tree, csr, np.ones(300))
    search.search([Phase(50, 3)], Reach(), Run())
    found = search.tree()
    assert not found.same_topology(tree)
    tops = tree.cut_nodes(max_size=50)
    for top in tops:
        leaves = tree.leaves(int(top))
        together = found.lca(np.full(len(leaves), leaves[0]), leaves).max()
        assert np.array_equal(np.sort(found.leaves(int(together))), np.sort(leaves))


def test_what_may_leave_its_region_is_tried_in_the_larger_one():
    csr = clustered_graph(300).csr
    tree = random_tree(300, np.random.default_rng(0)).binarize()
    graph = GraphSimilarity(csr)
    costs = []
    for phases in ([Phase(50)], [Phase(50), Phase(300)]):
        search = RegionSearch(tree, csr, np.ones(300))
        search.search(phases, Reach(), Run())
        costs.append(ab.metrics.dasgupta_cost(search.tree(), graph))
    assert costs[1] < 0.9 * costs[0]


def test_a_search_until_still_leaves_no_better_place():
    graph = clustered_graph(200)
    tree = ab.linkage(graph)
    search = RegionSearch(tree.binarize(), graph.csr, np.ones(200))
    search.search([Phase(40, 100), Phase(200, 100)], Reach(), Run())
    found = search.tree()
    exact = GraphEngine(graph).improve(found, Run())
    assert ab.metrics.dasgupta_cost(exact, graph) == pytest.approx(ab.metrics.dasgupta_cost(found, graph))


def test_walking_all_paths_finds_what_climbing_by_size_finds():
    graph = clustered_graph(300)
    tree = random_tree(300, np.random.default_rng(2)).binarize()
    costs = []
    for max_walked in (0, 40, 1000):
        search = RegionSearch(tree, graph.csr, np.ones(300))
        search.search([Phase(60), Phase(300)], Reach(max_walked=max_walked), Run())
        costs.append(ab.metrics.dasgupta_cost(search.tree(), graph))
    assert costs == pytest.approx([costs[0]] * 3, rel=1e-3)


def test_regions_until_still_leave_no_better_place():
    graph = clustered_graph(400)
    found = improved(
        random_tree(400, np.random.default_rng(1)), graph, Task(), Effort(), 0, levels=ONLY_REGIONS
    )
    exact = GraphEngine(graph).improve(found.tree, Run())
    assert np.array_equal(exact.parent, found.tree.parent)


def test_perturbations_by_regions_gain_and_do_not_depend_on_threads():
    graph = clustered_graph(1000)
    tree = ab.linkage(graph)
    still = improved(tree, graph, Task(), Effort(), 0, levels=ONLY_REGIONS)
    found = [
        improved(tree, graph, Task(n_perturbations=3), Effort(n_threads=n), 0, levels=ONLY_REGIONS)
        for n in (1, 2, 3)
    ]
    assert all(np.array_equal(found[0].tree.parent, other.tree.parent) for other in found)
    assert found[0].cost_after < still.cost_after


def test_only_the_nodes_asked_for_are_tried_at_first():
    graph = clustered_graph(300)
    tree = ab.refine(ab.linkage(graph), graph, random_state=0).binarize()
    search = RegionSearch(tree, graph.csr, np.ones(300))
    search.try_only(np.array([3, 7, tree.root]))
    wanted = {3, 7, tree.root, int(tree.parent[3]), int(tree.parent[7])}
    assert set(np.flatnonzero(search.flags.dirty)) == {search.number_of(node) for node in wanted}


def test_a_search_goes_on_when_its_clock_is_full(monkeypatch):
    graph = clustered_graph(200)
    trees = []
    for last in (2**31 - 1, 900):
        monkeypatch.setattr("arbora.search.regions._LAST_CLOCK", last)
        search = RegionSearch(random_tree(200, np.random.default_rng(1)).binarize(), graph.csr, np.ones(200))
        search.search([Phase(40, 9), Phase(200, 9)], Reach(), Run())
        trees.append(search.tree())
    assert np.array_equal(trees[0].parent, trees[1].parent)


def test_levels_give_the_same_tree_on_any_number_of_threads():
    graph = clustered_graph(1000)
    tree = ab.linkage(graph)
    found = [
        improve_by_levels(
            GraphEngine(graph),
            tree,
            Run(),
            np.random.default_rng(0),
            levels=SMALL_LEVELS,
            n_threads=n_threads,
        )
        for n_threads in (1, 2, 3)
    ]
    assert all(np.array_equal(found[0].parent, other.parent) for other in found)
    costs = [ab.metrics.dasgupta_cost(t, graph) for t in (found[0], ab.refine(tree, graph, random_state=0))]
    assert costs[0] < 1.02 * costs[1]


@pytest.fixture
def everything_is_large(monkeypatch):
    """Small data take the ways of large ones."""
    monkeypatch.setattr("arbora.similarity._neighbors.EXACT_UP_TO", 300)
    monkeypatch.setattr("arbora.linkages.graph.LARGE", 100)
    monkeypatch.setattr(
        sys.modules["arbora.search.refine"], "improved", partial(improved, levels=SMALL_LEVELS)
    )
    monkeypatch.setattr(sys.modules["arbora.search.cluster"], "LEVELS", SMALL_LEVELS)


@pytest.mark.usefixtures("everything_is_large")
def test_the_same_seed_gives_the_same_tree_on_any_number_of_threads():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 6))[rng.integers(0, 40, 1200)] + 0.3 * rng.normal(size=(1200, 6))
    graphs = [ab.similarity.knn(X, random_state=0, n_jobs=n_jobs) for n_jobs in (1, 2, 3)]
    assert all((graphs[0].csr != other.csr).nnz == 0 for other in graphs)
    for call in (
        lambda n_jobs: ab.linkage(graphs[0], n_jobs=n_jobs),
        lambda n_jobs: ab.refine(ab.linkage(graphs[0]), graphs[0], n_jobs=n_jobs, random_state=0),
        lambda n_jobs: ab.cluster(X, n_jobs=n_jobs, random_state=0),
    ):
        trees = [call(n_jobs) for n_jobs in (1, 2, 3)]
        assert all(np.array_equal(trees[0].parent, tree.parent) for tree in trees)
        assert all(np.array_equal(trees[0].height, tree.height) for tree in trees)


def test_an_engine_in_another_order_costs_the_same():
    graph = ab.similarity.graph(random_graph(60, np.random.default_rng(0)))
    tree, order = random_tree(60, np.random.default_rng(1)), np.random.default_rng(2).permutation(60)
    for objective in ("dasgupta", "tsd"):
        engine = GraphEngine(graph, objective)
        moved = engine.in_order(order)
        np.testing.assert_array_equal(moved.graph.csr.toarray(), graph.csr.toarray()[np.ix_(order, order)])
        assert moved.costs(tree.restrict(order)).sum() == pytest.approx(engine.costs(tree).sum())


def test_blocks_grow_with_trees_that_would_have_very_many_of_them():
    levels = Levels(block=100, most_blocks=8)
    assert [levels.block_of(n) for n in (50, 800, 8000)] == [100, 100, 1000]
    assert [phase.region for phase in levels.phases(8000, levels.block_of(8000), 2, 1)] == [1000, 8000]
