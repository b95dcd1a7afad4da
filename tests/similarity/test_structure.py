"""How much structure a way of comparing rows finds."""

import numpy as np
import pytest

import arbora as ab
from arbora.similarity import structure as module
from arbora.similarity.structure import structure


def groups(n_columns=6, n_rows=200, apart=5.0, seed=0):
    rng = np.random.default_rng(seed)
    return (
        rng.normal(size=(n_rows, n_columns))
        + apart * rng.normal(size=(6, n_columns))[rng.integers(6, size=n_rows)]
    )


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
@pytest.mark.parametrize("n_columns", [3, 30, 500])
def test_correlated_normal_noise_has_no_structure(metric, n_columns):
    rng = np.random.default_rng(1)
    noise = rng.normal(size=(300, n_columns)) @ rng.normal(size=(n_columns, n_columns)) + 2
    assert abs(structure(noise, metric).gain) < 0.15


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_the_farther_apart_groups_are_the_more_structure_there_is(metric):
    found = [structure(groups(apart=apart), metric).gain for apart in (0.0, 2.0, 5.0)]
    assert found == sorted(found) and found[0] < 0.15 and found[2] > 0.6


def test_structure_depends_on_neither_unit_nor_rotation_nor_more_columns_than_rows():
    rows = groups(n_columns=8)
    turned = rows @ np.linalg.qr(np.random.default_rng(0).normal(size=(8, 8)))[0]
    wide = np.hstack([rows, np.zeros((200, 300))])
    for other in (rows * 1e-3, turned, wide):
        assert structure(other, "euclidean") == pytest.approx(structure(rows, "euclidean"), abs=1e-3)


def leak_by_definition(tree, graph):
    """Weight that leaves a branch, relative to all weight at it or at the rest; the least over large branches."""
    weights, n = graph.csr.toarray(), graph.n_points
    shares = []
    for node in range(n, tree.n_nodes - 1):
        is_below = np.isin(np.arange(n), tree.leaves(node))
        if 0.1 * n <= is_below.sum() <= 0.9 * n:
            crossing = weights[is_below][:, ~is_below].sum()
            shares.append(crossing / min(weights[is_below].sum(), weights[~is_below].sum()))
    return min(shares)


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_cost_and_leak_are_those_of_average_linkage_on_the_graph_of_neighbors(metric):
    rows = groups(n_rows=90, apart=2.0)
    graph = ab.similarity.knn(rows, module.N_NEIGHBORS, metric)
    tree = ab.linkage(graph, "average")
    expected = ab.metrics.dasgupta_cost(tree, graph) / (graph.csr.sum() / 2) / len(rows)
    found = module._Linked.of(rows, metric)
    # equal joins may be taken in another order
    assert np.exp(found.log_cost()) == pytest.approx(expected, rel=0.02)
    assert found.leak() == pytest.approx(leak_by_definition(tree, graph), abs=0.01)


def test_two_groups_far_apart_do_not_leak():
    rng = np.random.default_rng(0)
    near = rng.normal(size=(200, 6))
    assert structure(near, "euclidean").leak > 0.05
    assert structure(near + np.repeat([0, 20], 100)[:, None], "euclidean").leak == 0
